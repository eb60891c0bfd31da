"""One file hashed by many workers: its bytes by one, some of its leaf columns by each of the others.

The digests of the leaves combine to the hash, see "Record batches" of the arrow0 specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from _arrow_io.faults import reading
from _arrow_io.formats import is_parquet
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from _arrow_io.opening import InputFile, open_path
from _arrow_io.parquet import leaf_sizes, read_footer
from arrow_digest.errors import ArrowDigestError, UnreadableError
from arrow_digest.files.passes import FileHash, Meter, Progress, digest_bytes, digest_records, require_two_passes
from arrow_digest.files.rereading import merge_marks, read_marked
from arrow_digest.functions import digest_function
from arrow_digest.multihash import Multihash
from arrow_digest.reading.sources import read_records
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.rule import ColumnDigest, Plan, Rule
from arrow_digest.workers import run_each

__all__ = ["hash_shared"]

# Every part reads the footer again, so there are not many more of them than workers.
_MOST_PARTS = 64


@dataclass(frozen=True)
class _Task:
    """What one worker does: hash a file's bytes, or some of its leaf columns; all of them for None."""

    path: str
    function: str
    threads: int = 1
    validity: bool = False
    is_physical: bool = False
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT
    leaves: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _Done:
    """What came of a task; the state of the file that it read, and what tells the bytes that were read."""

    state: object
    marks: Mapping[int, bytes]
    digest: bytes
    length: int
    columns: tuple[ColumnDigest, ...] = ()


def hash_shared(
    path: str,
    executor: Executor,
    function: str,
    threads: int,
    validity: bool,
    progress: Progress | None,
    int96_unit: Int96Unit,
) -> FileHash:
    """Return the hashes of one file, for which the workers of an executor share the work.

    Arguments and errors are those of `files.hash_file`.
    """
    rule = chosen_rule(function)
    with open_path(path, int96_unit=int96_unit) as file:
        require_two_passes(file)
        (parts, plan), marks = read_marked(file, partial(_parts, rule))
        tasks = [_Task(path, function, is_physical=True)]
        tasks += [_Task(path, function, threads, validity, int96_unit=int96_unit, leaves=leaves) for leaves in parts]
        physical, *logical = _results(tasks, executor, file, dict(marks), progress)
        columns = _in_order(parts, logical)
        digest = logical[0].digest
        if plan is not None:
            digest = rule.combine(plan, [column.digest for column in columns], logical[0].length)
        return FileHash(
            path=file.name,
            byte_length=physical.length,
            row_count=logical[0].length,
            physical=Multihash(rule.function.code, physical.digest),
            logical=Multihash(rule.code, digest),
            columns=columns,
        )


def _parts(rule: Rule, file: InputFile) -> tuple[list[tuple[int, ...] | None], Plan | None]:
    """Return the leaves of each part, and the plan that their digests combine under; one part where none do."""
    if not is_parquet(file):
        return [None], None
    plan = rule.plan(read_records(file).schema)
    with reading(file.name, "Parquet"):
        sizes = leaf_sizes(read_footer(file))
    if len(sizes) != len(plan.leaves) or not sizes:
        return [None], None
    return list(_balanced(sizes)), plan


def _balanced(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the numbers of all sizes in parts of about one size, the largest first."""
    parts: list[list[int]] = [[] for _ in range(min(len(sizes), _MOST_PARTS))]
    totals = [0] * len(parts)
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        least = min(range(len(parts)), key=lambda part: (totals[part], len(parts[part])))
        parts[least].append(number)
        totals[least] += sizes[number]
    return [tuple(sorted(part)) for part in parts if part]


def _results(
    tasks: list[_Task], executor: Executor, file: InputFile, marks: dict[int, bytes], progress: Progress | None
) -> list[_Done]:
    results = []
    size = file.seekable_size or 0
    for task, result in run_each(_perform, tasks, executor, lambda task: task.path):
        if isinstance(result, ArrowDigestError):
            raise result
        if result.state != file.state or not merge_marks(marks, result.marks):
            raise UnreadableError(task.path, "changed", "it is not the same file for every worker")
        results.append(result)
        if progress is not None:
            progress(2 * size * len(results) // len(tasks), 2 * size)
    return results


def _perform(task: _Task) -> _Done | ArrowDigestError:
    try:
        with open_path(task.path, int96_unit=task.int96_unit) as file:
            (digest, length, columns), marks = read_marked(file, partial(_digest, task))
            return _Done(file.state, marks, digest, length, columns)
    except ArrowDigestError as error:
        return error


def _digest(task: _Task, file: InputFile) -> tuple[bytes, int, tuple[ColumnDigest, ...]]:
    if task.is_physical:
        hasher = digest_function(task.function).new(task.threads)
        return (*digest_bytes(file, file.name, hasher), ())
    meter = Meter(None, file, passes=1)
    digest = digest_records(file, task.function, task.threads, task.validity, meter, task.leaves)
    return digest.digest(), digest.row_count, digest.columns()


def _in_order(parts: list[tuple[int, ...] | None], results: list[_Done]) -> tuple[ColumnDigest, ...]:
    found: dict[int, Any] = {}
    for leaves, result in zip(parts, results, strict=True):
        found.update(zip(range(len(result.columns)) if leaves is None else leaves, result.columns, strict=True))
    return tuple(column for _, column in sorted(found.items()))
