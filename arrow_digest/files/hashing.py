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
from arrow_digest.files.facts import FileFacts, FileHash
from arrow_digest.files.options import HashOptions
from arrow_digest.files.parts import hash_in_parts
from arrow_digest.files.passes import Meter, Progress, digest_bytes, digest_records, require_two_passes
from arrow_digest.files.rereading import read_twice
from arrow_digest.functions import DEFAULT_FUNCTION, digest_function
from arrow_digest.multihash import Multihash
from arrow_digest.public import public
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.records import RecordDigest
from arrow_digest.typing import BinaryFile
from arrow_digest.workers import run_each, started, thread_count

__all__ = [
    "FileFailure",
    "digest_file",
    "digest_stream",
    "each_file",
    "hash_alone",
    "hash_file",
    "hash_files",
    "hash_or_failure",
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
    rule = chosen_rule(function)
    if executor is None:
        return hash_alone(path, HashOptions(rule, thread_count(threads), validity, int96_unit), progress)
    # The workers run side by side, so one thread of each is enough unless more are asked for.
    options = HashOptions(rule, thread_count(threads or 1), validity, int96_unit)
    return hash_in_parts(path_text(path), options, executor, progress)


def hash_alone(path: str | os.PathLike[str], options: HashOptions, progress: Progress | None) -> FileHash:
    """Return the hashes of one file, which is read twice in this process."""
    with open_path(path, int96_unit=options.int96_unit) as opened:
        require_two_passes(opened)
        return read_twice(opened, lambda file: _hash_twice(file, options, progress))


def _hash_twice(file: InputFile, options: HashOptions, progress: Progress | None) -> FileHash:
    meter = Meter(progress, file, passes=2)
    content = digest_bytes(file, file.name, options.rule.function, options.threads, meter.tell)
    assert content.physical is not None
    assert content.byte_length is not None
    file.seek(0)
    meter.finish_pass()
    records = digest_records(file, options, meter)
    return FileHash(
        path=file.name,
        byte_length=content.byte_length,
        row_count=records.row_count,
        physical=content.physical,
        logical=records.multihash(),
        columns=records.columns(),
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
    require_int96_unit(int96_unit)
    options = HashOptions(chosen_rule(function), 1, validity, int96_unit)
    found = each_file(partial(hash_or_failure, options=options), path_names(paths, "paths"), executor, progress)
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


def hash_or_failure(path: str, options: HashOptions) -> FileHash | FileFailure:
    """Return the hashes of one file, or why it has none."""
    try:
        return hash_alone(path, options, None)
    except ArrowDigestError as error:
        return FileFailure(path, error)


def digest_file(
    path: str | os.PathLike[str], options: HashOptions | None = None, progress: Progress | None = None
) -> RecordDigest:
    """Return the record digest of one file, or of an IPC stream that comes through a pipe; its bytes are not hashed.

    Errors are those of `hash_file`.
    """
    options = options or HashOptions(chosen_rule(), thread_count(None))
    with open_path(path, int96_unit=options.int96_unit) as file:
        return digest_records(file, options, Meter(progress, file, passes=1))


def digest_stream(file: IO[bytes], name: str, options: HashOptions | None = None) -> RecordDigest:
    """Return the record digest of an open binary file, which is named `name` in errors.

    A file that cannot be moved about in must be an Arrow IPC stream; what follows its end is left unread.
    """
    options = options or HashOptions(chosen_rule(), thread_count(None))
    opened = InputFile(file, name, int96_unit=options.int96_unit)
    with guarding(opened):
        return digest_records(opened, options, Meter(None, opened, passes=1))


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
    chosen, threads = digest_function(function), thread_count(None)
    if isinstance(source, (str, os.PathLike)):
        with open_path(source) as file:
            return _physical(digest_bytes(file, file.name, chosen, threads, Meter(progress, file, passes=1).tell))
    if not hasattr(source, "read"):
        raise TypeError(f"expected a path or a binary file object, found {type(source).__name__}")
    if isinstance(source, io.TextIOBase):
        raise TypeError(f"expected a binary file object, found one that gives text: {type(source).__name__}")
    name = getattr(source, "name", None)
    return _physical(digest_bytes(source, name if isinstance(name, str) else "file object", chosen, threads))


def _physical(content: FileFacts) -> Multihash:
    assert content.physical is not None
    return content.physical
