"""One open file in passes: one over its bytes, one over the records in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa

from _arrow_io.faults import unreadable
from _arrow_io.opening import InputFile
from arrow_digest.errors import UnreadableError
from arrow_digest.files.facts import FileFacts
from arrow_digest.files.options import HashOptions
from arrow_digest.functions import DigestFunction
from arrow_digest.multihash import Multihash
from arrow_digest.reading.sources import read_records
from arrow_digest.rules.records import RecordDigest, digest_source
from arrow_digest.typing import BinaryFile

__all__ = ["Meter", "Progress", "digest_bytes", "digest_records", "require_two_passes"]

Progress = Callable[[int, int], None]
"""Called now and then with the bytes done so far and the bytes to do in all."""

_READ_BYTES = 1 << 20


def require_two_passes(file: InputFile) -> None:
    """Refuse what cannot be read twice.

    Raises:
        UnreadableError: It is a pipe.
    """
    if not file.make_seekable():
        message = "a pipe can be read once only: ask for the physical or the logical hash"
        raise UnreadableError(file.name, "unseekable", message)


def digest_bytes(
    file: BinaryFile, name: str, function: DigestFunction, threads: int = 1, tell: Callable[[], None] | None = None
) -> FileFacts:
    """Return the hash of the bytes that a file object gives, and how many there are.

    Args:
        file: It is read from where it stands to its end.
        name: How errors name it.
        function: The digest function.
        threads: How many threads it may use.
        tell: Called after each piece.

    Raises:
        UnreadableError: It cannot be read, or does not wait for its data.
        TypeError: It gives text.
    """
    hasher = function.new(threads)
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
            return FileFacts(physical=Multihash(function.code, hasher.digest()), byte_length=length)
        hasher.update(data)
        length += len(data)
        if tell is not None:
            tell()


def digest_records(
    file: InputFile, options: HashOptions, meter: Meter, leaves: tuple[int, ...] | None = None
) -> RecordDigest:
    """Return the record digest of an open file, or, for `leaves` of a Parquet file, that of these leaf columns."""
    source = read_records(file, threads=options.threads, leaves=leaves)
    followed = replace(source, batches=meter.following(source.batches))
    digest = digest_source(followed, options.rule, threads=options.threads, validity=options.validity)
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

    def following(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches, and tell after each how far the file was read."""
        for batch in batches:
            yield batch
            self.tell()

    def finish_pass(self) -> None:
        """Count a pass as the whole file, though a Parquet reader need not read all of it, nor only once."""
        self._finished += 1
        self._read_before = self._file.bytes_read
        self.tell()

    def tell(self) -> None:
        """Say how far the file was read by now."""
        size = self._file.seekable_size
        if self._progress is not None and size:
            read = min(self._file.bytes_read - self._read_before, size)
            self._progress(min(size * self._finished + read, size * self._passes), size * self._passes)
