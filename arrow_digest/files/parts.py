"""One file hashed by many workers: its bytes by one, some of its leaf columns by each of the others.

The digests of the leaves combine to the hash, see "Record batches" of the arrow0 specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from _arrow_io.faults import reading
from _arrow_io.formats import is_parquet
from _arrow_io.opening import InputFile, open_path
from _arrow_io.parquet import leaf_sizes, read_footer
from arrow_digest.errors import ArrowDigestError, UnreadableError
from arrow_digest.files.facts import FileFacts, FileHash, facts_of
from arrow_digest.files.options import HashOptions
from arrow_digest.files.passes import Meter, Progress, digest_bytes, digest_records, require_two_passes
from arrow_digest.files.rereading import merge_marks, read_marked
from arrow_digest.multihash import Multihash
from arrow_digest.reading.sources import read_records
from arrow_digest.rules.rule import ColumnDigest, Plan, Rule
from arrow_digest.workers import run_each

__all__ = ["hash_in_parts"]

# Every part reads the footer again, so there are not many more of them than workers.
_MOST_PARTS = 64


@dataclass(frozen=True)
class _Task:
    """What one worker does: hash a file's bytes, or some of its leaf columns.

    Attributes:
        path: The file.
        options: How it is hashed.
        is_physical: True for the bytes.
        leaves: The numbers of the leaf columns, None for all of them.
    """

    path: str
    options: HashOptions
    is_physical: bool = False
    leaves: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _Done:
    """What came of a task.

    Attributes:
        state: The state of the file that was read.
        marks: What tells the bytes that were read.
        facts: What is known of the file now.
    """

    state: object
    marks: Mapping[int, bytes]
    facts: FileFacts


def hash_in_parts(path: str, options: HashOptions, executor: Executor, progress: Progress | None) -> FileHash:
    """Return the hashes of one file, for which the workers of an executor share the work.

    Arguments and errors are those of `files.hashing.hash_file`; `options.threads` are each worker's.
    """
    rule = options.rule
    with open_path(path, int96_unit=options.int96_unit) as file:
        require_two_passes(file)
        (parts, plan), marks = read_marked(file, partial(_parts, rule))
        tasks = [_Task(path, replace(options, threads=1), is_physical=True)]
        tasks += [_Task(path, options, leaves=leaves) for leaves in parts]
        content, *records = _results(tasks, executor, file, dict(marks), progress)
        assert content.physical is not None
        assert content.byte_length is not None
        logical, row_count = records[0].logical, records[0].row_count
        assert logical is not None
        assert row_count is not None
        columns = _in_order(parts, records)
        if plan is not None:
            digest = rule.combine(plan, [column.digest for column in columns], row_count)
            logical = Multihash(rule.code, digest)
        return FileHash(
            path=file.name,
            byte_length=content.byte_length,
            row_count=row_count,
            physical=content.physical,
            logical=logical,
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
) -> list[FileFacts]:
    results = []
    size = file.seekable_size or 0
    for task, result in run_each(_perform, tasks, executor, lambda task: task.path):
        if isinstance(result, ArrowDigestError):
            raise result
        if result.state != file.state or not merge_marks(marks, result.marks):
            raise UnreadableError(task.path, "changed", "it is not the same file for every worker")
        results.append(result.facts)
        if progress is not None:
            progress(2 * size * len(results) // len(tasks), 2 * size)
    return results


def _perform(task: _Task) -> _Done | ArrowDigestError:
    try:
        with open_path(task.path, int96_unit=task.options.int96_unit) as file:
            facts, marks = read_marked(file, partial(_found, task))
            return _Done(file.state, marks, facts)
    except ArrowDigestError as error:
        return error


def _found(task: _Task, file: InputFile) -> FileFacts:
    if task.is_physical:
        return digest_bytes(file, file.name, task.options.rule.function, task.options.threads)
    return facts_of(digest_records(file, task.options, Meter(None, file, passes=1), task.leaves))


def _in_order(parts: list[tuple[int, ...] | None], results: list[FileFacts]) -> tuple[ColumnDigest, ...]:
    found: dict[int, ColumnDigest] = {}
    for leaves, result in zip(parts, results, strict=True):
        columns = result.columns or ()
        found.update(zip(range(len(columns)) if leaves is None else leaves, columns, strict=True))
    return tuple(column for _, column in sorted(found.items()))
