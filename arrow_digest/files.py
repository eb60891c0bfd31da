"""Files: the hash of their bytes, and of the records in them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import IO, Any

from arrow_digest.arrow0 import ColumnDigest, RecordDigest, digest_source
from arrow_digest.columns import thread_count
from arrow_digest.errors import UnreadableError
from arrow_digest.functions import DEFAULT_FUNCTION, Hasher, digest_function
from arrow_digest.inputs import InputFile, guarding, open_path, unreadable
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
    with open_path(path) as file:
        if file.seekable_size is None:
            message = "a pipe can be read once only: ask for the physical or the logical hash"
            raise UnreadableError(file.name, "unseekable", message)
        meter = _Meter(progress, file, passes=2)
        physical, byte_length = _digest_bytes(file, file.name, chosen.new(count), meter.tell)
        file.require_unchanged()
        file.seek(0)
        meter.finish_pass()
        digest = _digest_records(file, function, count, validity, meter)
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
    with open_path(path) as file:
        return _digest_records(file, function, count, validity, _Meter(progress, file, passes=1))


def digest_stream(
    file: IO[bytes], name: str, *, function: str = DEFAULT_FUNCTION, threads: int | None = None
) -> RecordDigest:
    """Return the record digest of an open binary file, which is named `name` in errors.

    A file that cannot be moved about in must be an Arrow IPC stream; what follows its end is left unread.
    """
    count = thread_count(threads)
    opened = InputFile(file, name)
    with guarding(opened):
        return _digest_records(opened, function, count, False, _Meter(None, opened, passes=1))


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
    if isinstance(source, (str, os.PathLike)):
        with open_path(source) as file:
            meter = _Meter(progress, file, passes=1)
            return Multihash(chosen.code, _digest_bytes(file, file.name, hasher, meter.tell)[0])
    if not hasattr(source, "read"):
        raise TypeError(f"expected a path or a binary file object, found {type(source).__name__}")
    if isinstance(source, io.TextIOBase):
        raise TypeError(f"expected a binary file object, found one that gives text: {type(source).__name__}")
    name = getattr(source, "name", None)
    return Multihash(chosen.code, _digest_bytes(source, name if isinstance(name, str) else "file object", hasher)[0])


def _digest_bytes(file: Any, name: str, hasher: Hasher, tell: Callable[[], None] | None = None) -> tuple[bytes, int]:
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


def _digest_records(file: InputFile, function: str, threads: int, validity: bool, meter: _Meter) -> RecordDigest:
    source = read_file(file, threads=threads)
    followed = replace(source, batches=meter.following(source.batches))
    digest = digest_source(followed, function=function, threads=threads, validity=validity)
    meter.finish_pass()
    return digest


class _Meter:
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
