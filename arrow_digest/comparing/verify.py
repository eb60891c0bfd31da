"""Verification: is this the file, byte for byte; if not, are these the records?

The physical hash is compared first. Where it differs, the logical hash and the row count decide whether the same
records were written in another way.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

import pyarrow as pa

from _arrow_io.formats import count_rows
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit, require_int96_unit
from _arrow_io.opening import InputFile, guarding, open_path
from _arrow_io.remote import path_text
from arrow_digest.comparing.column_changes import ColumnChange, column_changes, describe_changes, has_other_nulls
from arrow_digest.comparing.round_trips import is_earlier_type, retyped_leaves, was_only_retyped
from arrow_digest.errors import (
    ArrowDigestError,
    ExpectationError,
    InvalidArrayError,
    UnreadableError,
    UnsupportedTypeError,
    format_path,
)
from arrow_digest.files.facts import FileFacts, expected_hash, facts_of
from arrow_digest.files.options import HashOptions
from arrow_digest.files.passes import Meter, Progress, digest_bytes, digest_records, require_two_passes
from arrow_digest.files.rereading import read_twice
from arrow_digest.multihash import Multihash
from arrow_digest.public import public
from arrow_digest.reading.soundness import is_about_the_content
from arrow_digest.reading.sources import read_producer
from arrow_digest.rules.chosen import rule_of
from arrow_digest.rules.records import digest_source
from arrow_digest.rules.rule import ColumnDigest
from arrow_digest.typing import RecordExporter, RecordSource
from arrow_digest.workers import thread_count

__all__ = ["Status", "Verification", "VerifyOptions", "failed", "verify", "verify_file"]


@public
class Status(str, Enum):
    """What came of a verification."""

    IDENTICAL = "identical"
    """The same bytes."""
    EQUIVALENT = "equivalent"
    """Other bytes, or bytes that were not compared, and the same records as far as arrow0 can tell."""
    DIFFERENT = "different"
    """Something that was expected is otherwise."""
    MISSING = "missing"
    """There is no such file."""
    EXTRA = "extra"
    """A file that was not expected."""
    UNREADABLE = "unreadable"
    """It could not be read, so nothing is known."""
    UNSUPPORTED = "unsupported"
    """Its records have no logical hash, so nothing is known about them."""


@public
@dataclass(frozen=True)
class Verification:
    """What came of comparing a source with what was expected of it.

    It has no truth value: ask for `status` or `passed`. `str` gives the sentence that a person should see.

    Attributes:
        path: The source, as text.
        status: What came of it.
        expected: What was recorded.
        found: What was found, as far as it was looked at.
        reason: Why, in words.
        changes: Leaf columns that differ, where they were recorded one by one.
        weak_columns: Where a match rests on the logical hash alone, paths of the leaves in which some nulls and values
            hash alike: see "What arrow0 cannot tell apart".
        error: What stood in the way, or None.

    >>> expected = "f9680c001205684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a"
    >>> result = verify("missing", logical=expected)
    >>> result.passed, result.status.value, str(result)
    (False, 'missing', 'missing: missing: no such file')
    """

    path: str
    status: Status
    expected: FileFacts
    found: FileFacts
    reason: str
    changes: tuple[ColumnChange, ...] = ()
    weak_columns: tuple[tuple[str, ...], ...] = ()
    error: ArrowDigestError | None = field(default=None, compare=False)

    @property
    def passed(self) -> bool:
        """True if the source is `IDENTICAL` or `EQUIVALENT`."""
        return self.status in (Status.IDENTICAL, Status.EQUIVALENT)

    def __bool__(self) -> bool:
        """Refuse: "not checked" must never read as "ok"."""
        raise TypeError("a verification has no truth value: ask for its status, or whether it passed")

    def __str__(self) -> str:
        """Return what a person should read."""
        return f"{self.path}: {self.status.value}: {self.reason}"


@public
def verify(
    source: RecordSource,
    *,
    physical: Multihash | str | bytes | None = None,
    logical: Multihash | str | bytes | None = None,
    row_count: int | None = None,
    byte_length: int | None = None,
    every_claim: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
) -> Verification:
    """Return whether a source is what it is expected to be.

    The physical hash is compared first. If it is equal, the file is `IDENTICAL`, and its records are not hashed; a row
    count or a length that contradicts it makes it `DIFFERENT`. Otherwise the logical hash and the row count are
    compared. A file whose bytes differ, and that holds no sound records, is `DIFFERENT` too.

    Args:
        source: A path, a URI that fsspec opens, or anything that exports Arrow records, which has a logical hash only.
        physical: The expected hash of the bytes.
        logical: The expected arrow0 hash of the records.
        row_count: The expected number of rows.
        byte_length: The expected length. Where it differs, the bytes differ; without a logical hash they are not read
            to know that.
        every_claim: True to compare the logical hash even where the bytes are identical. One that contradicts them
            makes the file `DIFFERENT`.
        threads: How many threads to use; None for every core.
        progress: Called with the bytes done and the bytes to do.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read: `ns`, or `us` where days before
            1677 or after 2262 are among them. A value that does not fit is an error.

    Raises:
        ExpectationError: Neither hash is given, one is given in the place of the other, or a physical hash is given for
            what has no bytes.
        MultihashError: A hash is no multihash.
        TypeError: `source` is neither a path nor an exporter.

    >>> import pyarrow as pa
    >>> table = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["a", "b", "c"]})
    >>> expected = "f9680c001205684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a"
    >>> verify(table, logical=expected).status.name
    'EQUIVALENT'
    """
    require_int96_unit(int96_unit)
    expected = FileFacts(
        physical=expected_hash(physical, is_logical=False),
        logical=expected_hash(logical, is_logical=True),
        row_count=_expected_count("row_count", row_count),
        byte_length=_expected_count("byte_length", byte_length),
    )
    if expected.physical is None and expected.logical is None:
        raise ExpectationError("nothing", "nothing to verify: expected a physical or a logical hash to compare with")
    if isinstance(source, (str, os.PathLike)):
        return verify_file(source, expected, VerifyOptions(thread_count(threads), every_claim, int96_unit), progress)
    if expected.physical is not None or expected.byte_length is not None:
        message = f"a {type(source).__name__} has no bytes of a file: expected a path, or a logical hash only"
        raise ExpectationError("source", message)
    return _verify_producer(source, expected, thread_count(threads))


def _expected_count(name: str, value: int | None) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ExpectationError("count", f"{name}: expected a whole number of at least 0, found {value!r}")
    return value


@dataclass(frozen=True)
class VerifyOptions:
    """How a file is verified.

    Attributes:
        threads: How many threads to use.
        every_claim: True to compare the logical hash even where the bytes are identical.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read.
    """

    threads: int = 1
    every_claim: bool = False
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT


def verify_file(
    path: str | os.PathLike[str],
    expected: FileFacts,
    options: VerifyOptions | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Return whether a file is what is recorded of it, its leaf columns included where they are recorded.

    Whatever is wrong with the file is a result, and no error.

    Args:
        path: A path or URI.
        expected: What is recorded; at least one of the hashes.
        options: How it is verified; by default on one thread.
        progress: Called with the bytes done and the bytes to do.
    """
    name = path_text(path)
    options = options or VerifyOptions()
    try:
        with open_path(path, int96_unit=options.int96_unit) as opened:
            if expected.physical is None or (expected.logical is None and expected.row_count is None):
                return _Verifier(opened, expected, options, progress).verify()
            require_two_passes(opened)
            return read_twice(opened, lambda file: _Verifier(file, expected, options, progress).verify())
    except ArrowDigestError as error:
        return failed(name, expected, error)


def failed(name: str, expected: FileFacts, error: ArrowDigestError, found: FileFacts | None = None) -> Verification:
    """Return the result for a source that could not be compared."""
    status = Status.UNREADABLE
    if isinstance(error, UnsupportedTypeError):
        status = Status.UNSUPPORTED
    elif isinstance(error, UnreadableError) and error.rule == "missing":
        status = Status.MISSING
    reason = str(error).removeprefix(f"{name}: ")
    return Verification(name, status, expected, found or FileFacts(), reason, error=error)


def _verify_producer(source: RecordExporter, expected: FileFacts, threads: int) -> Verification:
    name = type(source).__name__
    assert expected.logical is not None
    try:
        digest = digest_source(read_producer(source), rule_of(expected.logical), threads=threads)
    except (UnreadableError, UnsupportedTypeError, InvalidArrayError) as error:
        return failed(name, expected, error)
    return _compare_records(name, expected, facts_of(digest), {})


class _Verifier:
    """One open file, compared with what is recorded of it."""

    def __init__(self, file: InputFile, expected: FileFacts, options: VerifyOptions, progress: Progress | None) -> None:
        self._file = file
        self._expected = expected
        self._options = options
        self._found = FileFacts(byte_length=file.seekable_size)
        passes = (expected.physical is not None) + (expected.logical is not None)
        self._meter = Meter(progress, file, passes)

    def verify(self) -> Verification:
        """Return the result; errors of reading are raised unless they come after a hash that settles the matter."""
        expected, file = self._expected, self._file
        if expected.physical is None:
            return self._guarded(self._verify_records)
        if expected.logical is None and expected.byte_length not in (None, file.seekable_size or expected.byte_length):
            return self._result(Status.DIFFERENT, self._how_bytes_differ())
        if self._bytes_are_equal(expected.physical):
            return self._verify_other_claims()
        if expected.logical is None:
            return self._result(Status.DIFFERENT, self._how_bytes_differ())
        result = self._guarded(self._verify_records)
        if result.error is None:
            return result
        if is_about_the_content(result.error):
            reason = f"{self._how_bytes_differ()}, and these hold no sound records: {result.reason}"
            return replace(result, status=Status.DIFFERENT, reason=reason)
        return replace(result, reason=f"{self._how_bytes_differ()}, and of the records: {result.reason}")

    def _guarded(self, step: Callable[[], Verification]) -> Verification:
        """Return the result of a step, or what came in its way."""
        try:
            with guarding(self._file):
                return step()
        except ArrowDigestError as error:
            return failed(self._file.name, self._expected, error, self._found)

    def _bytes_are_equal(self, physical: Multihash) -> bool:
        found = digest_bytes(self._file, self._file.name, physical.function, self._options.threads, self._meter.tell)
        self._file.require_unchanged()
        self._meter.finish_pass()
        self._found = replace(self._found, physical=found.physical, byte_length=found.byte_length)
        return found.physical == physical

    def _verify_other_claims(self) -> Verification:
        """Return what came of a file with the expected bytes: a claim that contradicts them is no match."""
        expected, found = self._expected, self._found
        if expected.byte_length not in (None, found.byte_length):
            return self._inconsistent(f"are {found.byte_length:,} instead of {expected.byte_length:,}")
        for is_claimed, step in (
            (expected.row_count is not None, self._verify_row_count),
            (expected.logical is not None and self._options.every_claim, self._verify_logical_claim),
        ):
            result = self._guarded(step) if is_claimed else None
            if result is not None and result.error is not None:
                reason = f"the bytes are identical, but not all that is expected can be compared: {result.reason}"
                return replace(result, reason=reason)
            if result is not None and not result.passed:
                return result
        return self._result(Status.IDENTICAL, "the same bytes")

    def _verify_row_count(self) -> Verification:
        self._file.seek(0)
        rows = count_rows(self._file)
        self._found = replace(self._found, row_count=rows)
        if rows != self._expected.row_count:
            return self._inconsistent(f"hold {rows:,} rows instead of {self._expected.row_count:,}")
        return self._result(Status.IDENTICAL, "the same bytes")

    def _verify_logical_claim(self) -> Verification:
        self._verify_records()
        if self._found.logical != self._expected.logical:
            hashes = f"expected {self._expected.logical}, found {self._found.logical}"
            return self._inconsistent(f"hold records with another logical hash ({hashes})")
        return self._result(Status.IDENTICAL, "the same bytes")

    def _inconsistent(self, contradiction: str) -> Verification:
        reason = f"inconsistent record: the bytes are identical, and {contradiction}"
        return self._result(Status.DIFFERENT, reason)

    def _how_bytes_differ(self) -> str:
        expected, found = self._expected, self._found
        if found.byte_length is not None and expected.byte_length not in (None, found.byte_length):
            return f"the bytes differ (expected {expected.byte_length:,} bytes, found {found.byte_length:,})"
        return f"the bytes differ (expected {expected.physical}, found {found.physical})"

    def _verify_records(self) -> Verification:
        expected, file = self._expected, self._file
        assert expected.logical is not None
        if file.seekable_size is not None:
            file.seek(0)
        recorded = expected.columns or ()
        validity = any(column.validity_digest is not None for column in recorded)
        options = HashOptions(rule_of(expected.logical), self._options.threads, validity)
        found = facts_of(digest_records(file, options, self._meter))
        self._found = replace(self._found, logical=found.logical, row_count=found.row_count, columns=found.columns)
        retyped = {} if self._found.logical == expected.logical else self._retyped(expected.logical)
        return _compare_records(file.name, expected, self._found, retyped)

    def _retyped(self, logical: Multihash) -> dict[int, pa.DataType]:
        """Return the recorded types of leaves, by number, if the records differ by a change of types alone."""
        columns = self._found.columns or ()
        if self._expected.row_count not in (None, self._found.row_count):
            return {}
        if self._expected.columns is None:
            return was_only_retyped(self._file, self._found, logical)
        changes = column_changes(self._expected.columns, columns)
        if self._file.seekable_size is None or not all(change.may_be_retyped for change in changes):
            return {}
        numbers = {change.found_number: change for change in changes if change.found_number is not None}
        # Types alone changed, so the columns are in the recorded order.
        if any(has_other_nulls(self._expected.columns[number], columns[number]) for number in numbers):
            return {}
        wanted = {number: [change.expected_type] for number, change in numbers.items()}
        digests = retyped_leaves(self._file, wanted, rule_of(logical))
        recorded = {number: change.expected_digest for number, change in numbers.items()}
        if any(digests.get((number, wanted[number][0])) != digest for number, digest in recorded.items()):
            return {}
        return {number: types[0] for number, types in wanted.items()}

    def _result(self, status: Status, reason: str) -> Verification:
        return Verification(self._file.name, status, self._expected, self._found, reason)


def _compare_records(name: str, expected: FileFacts, found: FileFacts, retyped: dict[int, pa.DataType]) -> Verification:
    columns = found.columns or ()
    if found.logical != expected.logical:
        changes = () if expected.columns is None else column_changes(expected.columns, columns)
        if retyped:
            reason = _retyping(columns, retyped)
        else:
            reason = f"the records differ (expected {expected.logical}, found {found.logical})"
            if changes:
                reason += f": {describe_changes(changes)}"
            reason += _row_count_words(expected, found)
        return Verification(name, Status.DIFFERENT, expected, found, reason, changes)
    if expected.row_count not in (None, found.row_count):
        reason = f"the logical hash is equal, the row count is not{_row_count_words(expected, found)}"
        return Verification(name, Status.DIFFERENT, expected, found, reason)
    nulls = () if expected.columns is None else column_changes(expected.columns, columns)
    if nulls:
        what = "there are nulls in other rows"
        if any(change.kind != "nulls" for change in nulls):
            what = "the recorded columns are others, so the record contradicts itself"
        reason = f"the logical hash is equal, but {what}: {describe_changes(nulls)}"
        return Verification(name, Status.DIFFERENT, expected, found, reason, nulls)
    assert expected.logical is not None
    weak = rule_of(expected.logical).hides(expected.columns, columns)
    other_bytes = expected.physical is not None or expected.byte_length not in (None, found.byte_length)
    reason = "the same records in other bytes" if other_bytes else "the same records (bytes were not compared)"
    if weak:
        names = ", ".join(format_path(path) for path in weak[:8]) + (", …" if len(weak) > 8 else "")
        reason += (
            "; this rests on the logical hash alone, which cannot tell some nulls from values in "
            f"{'column' if len(weak) == 1 else 'columns'} {names}"
        )
    return Verification(name, Status.EQUIVALENT, expected, found, reason, weak_columns=weak)


def _row_count_words(expected: FileFacts, found: FileFacts) -> str:
    if expected.row_count in (None, found.row_count):
        return ""
    return f"; expected {expected.row_count:,} rows, found {found.row_count:,}"


def _retyping(columns: tuple[ColumnDigest, ...], retyped: dict[int, pa.DataType]) -> str:
    is_known = all(is_earlier_type(earlier, columns[number].data_type) for number, earlier in retyped.items())
    changes = ", ".join(
        f"{format_path(columns[number].path)}: {earlier} became {columns[number].data_type}"
        for number, earlier in sorted(retyped.items())
    )
    return f"only types changed{', as they do on the way through Parquet' if is_known else ''}: {changes}"
