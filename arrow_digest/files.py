"""Files: the hash of their bytes, and of the records in them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from arrow_digest.arrow0 import ColumnDigest, RecordDigest, digest_source
from arrow_digest.columns import thread_count
from arrow_digest.errors import UnreadableError
from arrow_digest.functions import DEFAULT_FUNCTION, Hasher, digest_function
from arrow_digest.inputs import InputFile, open_path, reading
from arrow_digest.multihash import Multihash
from arrow_digest.sources import read_file

__all__ = ["FileHash", "Progress", "digest_file", "digest_stream", "hash_file", "physical_hash"]

Progress = Callable[[int, int], None]
"""Called now and then with the bytes done so far and the bytes to do in all."""

_READ_BYTES = 1 << 20


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


def hash_file(
    path: str | os.PathLike[str],
    *,
    function: str = DEFAULT_FUNCTION,
    threads: int | None = None,
    validity: bool = False,
    progress: Progress | None = None,
) -> FileHash:
    """Return physical and logical hash of one file, which is opened once.

    Args:
        path: A Parquet, Arrow IPC or Feather file, recognised by its content.
        function: Digest function of both hashes: `sha3-256` (the standard), `sha2-256` or `blake3`.
        threads: How many threads to use; None for every core.
        validity: True to add each leaf's validity digest to `columns`.
        progress: Called with the bytes done and the bytes to do; the file's length counts twice, once for each hash.

    Raises:
        UnreadableError: It cannot be opened, is no Arrow data, is broken or cut short, or changed while it was read.
        UnsupportedTypeError: A column's type has no arrow0 encoding.
        InvalidArrayError: An array in it points outside its own buffers.
        UnknownFunctionError: No such digest function.

    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"a": [1, 2, 3]}), "numbers.parquet")
    >>> hash_file("numbers.parquet").row_count
    3
    """
    count = thread_count(threads)
    chosen = digest_function(function)
    meter = _Meter(progress, passes=2)
    with open_path(path, meter.add) as file:
        if file.seekable_size is None:
            message = "a pipe can be read once only: ask for the physical or the logical hash"
            raise UnreadableError(file.name, "unseekable", message)
        meter.size = file.seekable_size
        physical, byte_length = _digest_bytes(file, chosen.new(count))
        file.seek(0)
        meter.next_pass()
        digest = _digest_records(file, function, count, validity)
        meter.next_pass()
        return FileHash(
            path=file.name,
            byte_length=byte_length,
            row_count=digest.row_count,
            physical=Multihash(chosen.code, physical),
            logical=digest.multihash(),
            columns=digest.columns(),
        )


def digest_file(
    path: str | os.PathLike[str],
    *,
    function: str = DEFAULT_FUNCTION,
    threads: int | None = None,
    validity: bool = False,
    progress: Progress | None = None,
) -> RecordDigest:
    """Return the record digest of one file, or of an IPC stream that comes through a pipe.

    Arguments and errors are those of `hash_file`; the file's bytes are not hashed.
    """
    count = thread_count(threads)
    meter = _Meter(progress, passes=1)
    with open_path(path, meter.add) as file:
        meter.size = file.seekable_size or 0
        digest = _digest_records(file, function, count, validity)
        meter.next_pass()
        return digest


def digest_stream(
    file: IO[bytes], name: str, *, function: str = DEFAULT_FUNCTION, threads: int | None = None
) -> RecordDigest:
    """Return the record digest of an open binary file, which is named `name` in errors.

    A file that cannot be moved about in must be an Arrow IPC stream; what follows its end is left unread.
    """
    return _digest_records(InputFile(file, name), function, thread_count(threads), validity=False)


def physical_hash(
    source: str | os.PathLike[str] | IO[bytes],
    *,
    function: str = DEFAULT_FUNCTION,
    progress: Progress | None = None,
) -> Multihash:
    """Return the hash of a file's bytes, whatever they are.

    Args:
        source: A path, or a binary file object, which is read from where it stands to its end.
        function: Digest function: `sha3-256` (the standard), `sha2-256` or `blake3` (which uses every core).
        progress: Called with the bytes done and the bytes to do; for a path only.

    Raises:
        UnreadableError: It cannot be opened or read, or changed while it was read.
        UnknownFunctionError: No such digest function.
        TypeError: A file object that gives text.

    >>> import io
    >>> str(physical_hash(io.BytesIO(b"")))[:16]
    'f1620a7ffc6f8bf1'
    """
    chosen = digest_function(function)
    hasher = chosen.new(thread_count(None))
    if not isinstance(source, (str, os.PathLike)):
        name = str(getattr(source, "name", type(source).__name__))
        return Multihash(chosen.code, _digest_read(source, name, hasher)[0])
    meter = _Meter(progress, passes=1)
    with open_path(source, meter.add) as file:
        meter.size = file.seekable_size or 0
        return Multihash(chosen.code, _digest_bytes(file, hasher)[0])


def _digest_bytes(file: InputFile, hasher: Hasher) -> tuple[bytes, int]:
    result = _digest_read(file, file.name, hasher)
    file.require_unchanged()
    return result


def _digest_read(file: Any, name: str, hasher: Hasher) -> tuple[bytes, int]:
    """Return the digest of what a file object gives, and how many bytes that was."""
    length = 0
    while True:
        with reading(name, "file"):
            data = file.read(_READ_BYTES)
        if not data:
            return hasher.digest(), length
        if isinstance(data, str):
            raise TypeError(f"expected a binary file object, found one that gives text: {name}")
        hasher.update(data)
        length += len(data)


def _digest_records(file: InputFile, function: str, threads: int, validity: bool) -> RecordDigest:
    digest = digest_source(read_file(file, threads=threads), function=function, threads=threads, validity=validity)
    file.require_unchanged()
    return digest


class _Meter:
    """Counts the bytes that were read, over one or more passes of a file, and tells how far they are."""

    def __init__(self, progress: Progress | None, passes: int) -> None:
        self.size = 0
        self._progress = progress
        self._passes = passes
        self._finished = 0
        self._read = 0

    def add(self, length: int) -> None:
        self._read += length
        self._tell()

    def next_pass(self) -> None:
        """A pass counts as the whole file, though a Parquet reader need not read all of it, nor only once."""
        self._finished += 1
        self._read = 0
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None and self.size:
            done = self.size * self._finished + min(self._read, self.size if self._finished < self._passes else 0)
            self._progress(done, self.size * self._passes)
