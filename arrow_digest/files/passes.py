"""One open file in passes: one over its bytes, one over the records in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from _arrow_io.faults import unreadable
from _arrow_io.opening import InputFile
from arrow_digest.errors import UnreadableError
from arrow_digest.functions import Hasher
from arrow_digest.multihash import Multihash
from arrow_digest.public import public
from arrow_digest.reading.sources import read_records
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.records import RecordDigest, digest_source
from arrow_digest.rules.rule import ColumnDigest
from arrow_digest.typing import BinaryFile

__all__ = ["FileHash", "Meter", "Progress", "digest_bytes", "digest_records", "require_two_passes"]

Progress = Callable[[int, int], None]
"""Called now and then with the bytes done so far and the bytes to do in all."""

_READ_BYTES = 1 << 20


@public
@dataclass(frozen=True)
class FileHash:
    """What a file is, byte for byte and record for record.

    Attributes:
        path: The path as it was given.
        byte_length: The file's length in bytes.
        row_count: Number of rows.
        physical: The hash of the bytes.
        logical: The arrow0 hash of the records.
        columns: Each leaf column's path, type, null count and digest.
    """

    path: str
    byte_length: int
    row_count: int
    physical: Multihash
    logical: Multihash
    columns: tuple[ColumnDigest, ...]


def require_two_passes(file: InputFile) -> None:
    """Refuse what cannot be read twice.

    Raises:
        UnreadableError: It is a pipe.
    """
    if not file.make_seekable():
        message = "a pipe can be read once only: ask for the physical or the logical hash"
        raise UnreadableError(file.name, "unseekable", message)


def digest_bytes(
    file: BinaryFile, name: str, hasher: Hasher, tell: Callable[[], None] | None = None
) -> tuple[bytes, int]:
    """Return the digest of what a file object gives, and how many bytes that was."""
    length = 0
    while True:
        try:
            data = file.read(_READ_BYTES)
        except OSError as error:
            raise unreadable(name, error) from error
        if data is None:
            raise UnreadableError(name, "io", "it does not wait for its data (non-blocking), so its end is not known")
        if isinstance(data, str):
            raise TypeError(f"expected a binary file object, found one that gives text: {name}")
        if not data:
            return hasher.digest(), length
        hasher.update(data)
        length += len(data)
        if tell is not None:
            tell()


def digest_records(
    file: InputFile,
    function: str,
    threads: int,
    validity: bool,
    meter: Meter,
    leaves: tuple[int, ...] | None = None,
) -> RecordDigest:
    """Return the record digest of an open file, or, for `leaves` of a Parquet file, that of these leaf columns."""
    source = read_records(file, threads=threads, leaves=leaves)
    followed = replace(source, batches=meter.following(source.batches))
    digest = digest_source(followed, chosen_rule(function), threads=threads, validity=validity)
    meter.finish_pass()
    return digest


class Meter:
    """Tells how much of a file was read, in one or more passes.

    It speaks between two reads and in the caller's thread: an error of the caller's function comes out as it is, and
    not as an error of whatever was reading.
    """

    def __init__(self, progress: Progress | None, file: InputFile, passes: int) -> None:
        self._progress = progress
        self._file = file
        self._passes = passes
        self._finished = 0
        self._read_before = 0

    def following(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            self.tell()

    def finish_pass(self) -> None:
        """Count a pass as the whole file, though a Parquet reader need not read all of it, nor only once."""
        self._finished += 1
        self._read_before = self._file.bytes_read
        self.tell()

    def tell(self) -> None:
        size = self._file.seekable_size
        if self._progress is not None and size:
            read = min(self._file.bytes_read - self._read_before, size)
            self._progress(min(size * self._finished + read, size * self._passes), size * self._passes)
