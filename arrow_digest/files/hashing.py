"""Files: the hash of their bytes, and of the records in them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import IO, TypeVar

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit, require_int96_unit
from _arrow_io.opening import InputFile, guarding, open_path
from _arrow_io.remote import path_names, path_text
from arrow_digest.errors import ArrowDigestError, WorkerError
from arrow_digest.files.parts import hash_shared
from arrow_digest.files.passes import FileHash, Meter, Progress, digest_bytes, digest_records, require_two_passes
from arrow_digest.files.rereading import read_twice
from arrow_digest.functions import DEFAULT_FUNCTION, DigestFunction, digest_function
from arrow_digest.multihash import Multihash
from arrow_digest.public import public
from arrow_digest.rules.records import RecordDigest
from arrow_digest.typing import BinaryFile
from arrow_digest.workers import run_each, started, thread_count

__all__ = [
    "FileFailure",
    "FileHash",
    "Progress",
    "digest_file",
    "digest_stream",
    "each_file",
    "hash_file",
    "hash_files",
    "physical_hash",
]


Job = TypeVar("Job")
Result = TypeVar("Result")


@public
@dataclass(frozen=True)
class FileFailure:
    """A file that has no hash, and why.

    Attributes:
        path: The path as it was given.
        error: What hashing it alone would raise, or a `WorkerError` where its worker ended.

    >>> (result,) = hash_files(["missing"])
    >>> isinstance(result, FileFailure), result.error.rule
    (True, 'missing')
    """

    path: str
    error: ArrowDigestError


@public
def hash_file(
    path: str | os.PathLike[str],
    *,
    function: str = DEFAULT_FUNCTION,
    threads: int | None = None,
    validity: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
) -> FileHash:
    """Return physical and logical hash of one file, which is opened once.

    Args:
        path: A Parquet, Arrow IPC or Feather file, recognised by its content; or a URI that fsspec opens.
        function: Digest function of both hashes: `sha3-256` (the standard), `sha2-256` or `blake3`.
        threads: How many threads to use; None for every core.
        validity: True to add each leaf's validity digest to `columns`.
        progress: Called with the bytes done and the bytes to do; the file's length counts twice, once for each hash.
        executor: Workers that share the work, each with the file open for itself: one hashes the bytes, the others
            some of the leaf columns of a Parquet file each. `path` must mean the same file to all of them. `threads`
            are each worker's, 1 by default, and the steps of `progress` are larger.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read: `ns`, or `us` where days before
            1677 or after 2262 are among them. A value that does not fit is an error.

    Raises:
        WorkerError: A worker ended, or the executor takes no work.
        UnreadableError: It cannot be opened, is no Arrow data, is broken or cut short, or changed while it was read.
        UnsupportedTypeError: A column's type has no arrow0 encoding.
        InvalidArrayError: An array in it points outside its own buffers.
        UnknownFunctionError: No such digest function.

    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"a": [1, 2, 3]}), "numbers.parquet")
    >>> hash_file("numbers.parquet").row_count
    3
    """
    chosen = digest_function(function)
    if executor is not None:
        return hash_shared(
            path_text(path), executor, function, thread_count(threads or 1), validity, progress, int96_unit
        )
    count = thread_count(threads)
    with open_path(path, int96_unit=int96_unit) as opened:
        require_two_passes(opened)
        return read_twice(opened, lambda file: _hash_twice(file, chosen, count, validity, progress))


def _hash_twice(
    file: InputFile, chosen: DigestFunction, threads: int, validity: bool, progress: Progress | None
) -> FileHash:
    meter = Meter(progress, file, passes=2)
    physical, byte_length = digest_bytes(file, file.name, chosen.new(threads), meter.tell)
    file.seek(0)
    meter.finish_pass()
    digest = digest_records(file, chosen.name, threads, validity, meter)
    return FileHash(
        path=file.name,
        byte_length=byte_length,
        row_count=digest.row_count,
        physical=Multihash(chosen.code, physical),
        logical=digest.multihash(),
        columns=digest.columns(),
    )


@public
def hash_files(
    paths: Iterable[str | os.PathLike[str]],
    *,
    function: str = DEFAULT_FUNCTION,
    validity: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
) -> Iterator[FileHash | FileFailure]:
    """Yield the hashes of many files, in the order of `paths`, each exactly once.

    A file that cannot be hashed yields a `FileFailure`, and so does one whose worker ended; the rest go on.

    Args:
        paths: Paths or URIs.
        function: Digest function of both hashes: `sha3-256` (the standard), `sha2-256` or `blake3`.
        validity: True to add each leaf's validity digest.
        executor: Any `concurrent.futures.Executor`, such as a process pool or `client.get_executor()` of Dask;
            None for a thread for each core.
        progress: Called with the files done and the files to do.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read: `ns`, or `us` where days before
            1677 or after 2262 are among them. A value that does not fit is an error.

    Raises:
        UnknownFunctionError: No such digest function.
        TypeError: `paths` is one path.

    >>> [file.path for file in hash_files(["orders.parquet", "missing"])]
    ['orders.parquet', 'missing']
    """
    digest_function(function)
    require_int96_unit(int96_unit)
    names = path_names(paths, "paths")
    work = partial(_hash_or_failure, function=function, validity=validity, int96_unit=int96_unit)
    found = each_file(work, names, executor, progress)
    return (FileFailure(name, result) if isinstance(result, WorkerError) else result for name, result in found)


def each_file(
    work: Callable[[Job], Result],
    jobs: Sequence[Job],
    executor: Executor | None,
    progress: Progress | None,
    *,
    name: Callable[[Job], str] = str,
) -> Iterator[tuple[Job, Result | WorkerError]]:
    """Yield each file, in order and exactly once, with what was made of it.

    Args:
        work: Done in a worker.
        jobs: What it is given of each file.
        executor: Where it is done; None for a thread for each core.
        progress: Called with the files done and the files to do.
        name: Names a file in an error.
    """
    with started(executor, min(thread_count(None), len(jobs) or 1)) as workers:
        for done, found in enumerate(run_each(work, jobs, workers, name), 1):
            yield found
            if progress is not None:
                progress(done, len(jobs))


def _hash_or_failure(name: str, function: str, validity: bool, int96_unit: Int96Unit) -> FileHash | FileFailure:
    try:
        return hash_file(name, function=function, validity=validity, threads=1, int96_unit=int96_unit)
    except ArrowDigestError as error:
        return FileFailure(name, error)


def digest_file(
    path: str | os.PathLike[str],
    *,
    function: str = DEFAULT_FUNCTION,
    threads: int | None = None,
    validity: bool = False,
    progress: Progress | None = None,
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
) -> RecordDigest:
    """Return the record digest of one file, or of an IPC stream that comes through a pipe.

    Arguments and errors are those of `hash_file`; the file's bytes are not hashed.
    """
    count = thread_count(threads)
    with open_path(path, int96_unit=int96_unit) as file:
        return digest_records(file, function, count, validity, Meter(progress, file, passes=1))


def digest_stream(
    file: IO[bytes],
    name: str,
    *,
    function: str = DEFAULT_FUNCTION,
    threads: int | None = None,
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
) -> RecordDigest:
    """Return the record digest of an open binary file, which is named `name` in errors.

    A file that cannot be moved about in must be an Arrow IPC stream; what follows its end is left unread.
    """
    count = thread_count(threads)
    opened = InputFile(file, name, int96_unit=int96_unit)
    with guarding(opened):
        return digest_records(opened, function, count, False, Meter(None, opened, passes=1))


@public
def physical_hash(
    source: str | os.PathLike[str] | BinaryFile,
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
            meter = Meter(progress, file, passes=1)
            return Multihash(chosen.code, digest_bytes(file, file.name, hasher, meter.tell)[0])
    if not hasattr(source, "read"):
        raise TypeError(f"expected a path or a binary file object, found {type(source).__name__}")
    if isinstance(source, io.TextIOBase):
        raise TypeError(f"expected a binary file object, found one that gives text: {type(source).__name__}")
    name = getattr(source, "name", None)
    return Multihash(chosen.code, digest_bytes(source, name if isinstance(name, str) else "file object", hasher)[0])
