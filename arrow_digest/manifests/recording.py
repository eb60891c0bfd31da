"""What is recorded of one file: its hashes, or where it has no records, the hash of its bytes and a note why."""

from __future__ import annotations

from dataclasses import dataclass

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from _arrow_io.opening import InputFile, open_path
from arrow_digest.comparing.verify import FileFacts
from arrow_digest.errors import ArrowDigestError, InvalidArrayError, UnreadableError, UnsupportedTypeError
from arrow_digest.files.hashing import hash_file
from arrow_digest.files.passes import digest_bytes
from arrow_digest.functions import digest_function
from arrow_digest.manifests.folder import join
from arrow_digest.manifests.formats import is_manifest
from arrow_digest.multihash import Multihash
from arrow_digest.reading.soundness import MESSAGE_START_BYTES, begins_with_schema, is_sound_or_foreign

__all__ = ["Recorded", "Recording", "is_manifest_file", "record"]

# No manifest is longer; a claim on memory ends here.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True)
class Recording:
    """How files are recorded: the folder they are in, digest function, and what else is asked for."""

    root: str
    function: str
    validity: bool = True
    allow_pointers: bool = False
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT


@dataclass(frozen=True)
class Recorded:
    """What is recorded of a file, and why it has no logical hash. A manifest of this package has no facts."""

    facts: FileFacts | None
    note: str | None = None


def record(name: str, recording: Recording) -> Recorded | ArrowDigestError:
    """Return what is to be recorded of a file, or why it cannot be."""
    path = join(recording.root, name)
    try:
        found = hash_file(
            path,
            function=recording.function,
            validity=recording.validity,
            threads=1,
            int96_unit=recording.int96_unit,
        )
    except (UnreadableError, UnsupportedTypeError, InvalidArrayError) as error:
        return _record_bytes(path, recording, error)
    return Recorded(FileFacts(found.physical, found.logical, found.row_count, found.byte_length, found.columns))


def _record_bytes(path: str, recording: Recording, error: ArrowDigestError) -> Recorded | ArrowDigestError:
    """Record a file without records by its bytes; a broken or vanished file is an error, and so is a pointer."""
    is_pointer = isinstance(error, UnreadableError) and error.rule == "lfs_pointer"
    if is_pointer and not recording.allow_pointers:
        return error
    chosen = digest_function(recording.function)
    try:
        with open_path(path) as file:
            start = file.peek(MESSAGE_START_BYTES)
            if not is_sound_or_foreign(error, start):
                is_cut = isinstance(error, UnreadableError) and error.rule == "format" and begins_with_schema(start)
                message = "cut short inside the schema of an Arrow IPC stream of the old form"
                return UnreadableError(path, "truncated", message) if is_cut else error
            if _holds_manifest(file):
                return Recorded(None)
            digest, length = digest_bytes(file, path, chosen.new())
    except ArrowDigestError as second:
        return second
    facts = FileFacts(physical=Multihash(chosen.code, digest), byte_length=length)
    return Recorded(facts, note=str(error).removeprefix(f"{path}: "))


def is_manifest_file(path: str) -> bool:
    """Return whether a file is a manifest, by its content; False for one that cannot be read.

    Args:
        path: A path or URI.
    """
    try:
        with open_path(path) as file:
            return _holds_manifest(file)
    except ArrowDigestError:
        return False


def _holds_manifest(file: InputFile) -> bool:
    if file.seekable_size is None or not file.peek(1 << 10).lstrip().startswith(b"{"):
        return False
    content = file.read(_MOST_BYTES)
    file.seek(0)
    return is_manifest(content)
