"""What is recorded of one file: its hashes, or where it has no records, the hash of its bytes and a note why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from _arrow_io.opening import InputFile, open_path
from _arrow_io.remote import is_uri
from arrow_digest.errors import ArrowDigestError, InvalidArrayError, UnreadableError, UnsupportedTypeError
from arrow_digest.files.facts import FileFacts, FileHash
from arrow_digest.files.hashing import hash_or_failure
from arrow_digest.files.options import HashOptions
from arrow_digest.files.passes import digest_bytes
from arrow_digest.manifests.folder import join
from arrow_digest.manifests.formats import MOST_BYTES, is_manifest
from arrow_digest.reading.soundness import MESSAGE_START_BYTES, begins_with_schema, is_sound_or_foreign

__all__ = ["Recorded", "Recording", "is_manifest_file", "record"]


@dataclass(frozen=True)
class Recording:
    """How files are recorded.

    Attributes:
        root: The folder that they are in.
        options: How they are hashed.
        allow_pointers: True to record what Git LFS leaves in place of a file.
    """

    root: str
    options: HashOptions
    allow_pointers: bool = False


@dataclass(frozen=True)
class Recorded:
    """What is recorded of a file, and why it has no logical hash. A manifest of this package has no facts."""

    facts: FileFacts | None
    note: str | None = None


def record(name: str, recording: Recording) -> Recorded | ArrowDigestError:
    """Return what is to be recorded of a file, or why it cannot be."""
    path = join(recording.root, name)
    found = hash_or_failure(path, recording.options)
    if isinstance(found, FileHash):
        return Recorded(found.facts)
    if isinstance(found.error, (UnreadableError, UnsupportedTypeError, InvalidArrayError)):
        return _record_bytes(path, recording, found.error)
    raise found.error


def _record_bytes(path: str, recording: Recording, error: ArrowDigestError) -> Recorded | ArrowDigestError:
    """Record a file without records by its bytes; a broken or vanished file is an error, and so is a pointer."""
    is_pointer = isinstance(error, UnreadableError) and error.rule == "lfs_pointer"
    if is_pointer and not recording.allow_pointers:
        return error
    try:
        with open_path(path) as file:
            start = file.peek(MESSAGE_START_BYTES)
            if not is_sound_or_foreign(error, start):
                is_cut = isinstance(error, UnreadableError) and error.rule == "format" and begins_with_schema(start)
                message = "cut short inside the schema of an Arrow IPC stream of the old form"
                return UnreadableError(path, "truncated", message) if is_cut else error
            if _holds_manifest(file):
                return Recorded(None)
            facts = digest_bytes(file, path, recording.options.rule.function)
    except ArrowDigestError as second:
        return second
    return Recorded(facts, note=str(error).removeprefix(f"{path}: "))


def is_manifest_file(path: str) -> bool:
    """Return whether a file is a manifest, by its content; False for one that cannot be read.

    Args:
        path: A path or URI. A pipe is not opened, because that would wait for a writer, or take what it writes.
    """
    if not is_uri(path) and not Path(path).is_file():
        return False
    try:
        with open_path(path) as file:
            return _holds_manifest(file)
    except ArrowDigestError:
        return False


def _holds_manifest(file: InputFile) -> bool:
    if file.seekable_size is None or not file.peek(1 << 10).lstrip().startswith(b"{"):
        return False
    content = file.read(MOST_BYTES)
    file.seek(0)
    return is_manifest(content)
