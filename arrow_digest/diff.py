"""Where two sets of records differ: schemas side by side, and in each differing column the first differing row."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from arrow_digest.arrow0 import ColumnDigest, RecordDigest, digest_source
from arrow_digest.columns import thread_count
from arrow_digest.differences import keyed, may_hide_a_difference
from arrow_digest.errors import format_path
from arrow_digest.functions import DEFAULT_FUNCTION
from arrow_digest.rows import NO_ROW, Cell, first_differences
from arrow_digest.sources import open_source

__all__ = ["NO_ROW", "ColumnDifference", "Difference", "diff"]


@dataclass(frozen=True)
class ColumnDifference:
    """A leaf column that both sides have, with other values; in another type, with one that is no equal value in it.

    Attributes:
        path: Field names from the top-level column down.
        row: The first row that differs, counted from 0; None where it could not be looked for, as in a used-up stream.
        a: The value there on the first side, `NO_ROW` where its rows have ended.
        b: The value there on the second side.
    """

    path: tuple[str, ...]
    row: int | None
    a: Any = None
    b: Any = None

    def __str__(self) -> str:
        """Return the difference in words."""
        if self.row is None:
            return f"{format_path(self.path)}: differs"
        return f"{format_path(self.path)}: row {self.row}: {shown(self.a)} became {shown(self.b)}"


@dataclass(frozen=True)
class Difference:
    """How two sets of records differ. It has no truth value: ask for `equal`.

    `str` gives a report for people.

    Attributes:
        a: The first side's name.
        b: The second side's name.
        row_counts: Number of rows of each.
        removed: Leaf columns that only the first side has, with their types.
        added: Leaf columns that only the second side has, with their types.
        renamed: Pairs of paths of one column, told by equal digests.
        retyped: Columns that both have, with the logical type of each.
        reordered: Columns that both have, in another order, as the second side has them; empty where the order is kept.
        columns: Columns that both have and that differ in their values.
    """

    a: str
    b: str
    row_counts: tuple[int, int]
    removed: tuple[tuple[tuple[str, ...], Any], ...] = ()
    added: tuple[tuple[tuple[str, ...], Any], ...] = ()
    renamed: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    retyped: tuple[tuple[tuple[str, ...], Any, Any], ...] = ()
    reordered: tuple[tuple[str, ...], ...] = ()
    columns: tuple[ColumnDifference, ...] = ()

    @property
    def equal(self) -> bool:
        """True if both sides hold the same records: every value, null, name and logical type."""
        return self == Difference(self.a, self.b, (self.row_counts[0], self.row_counts[0]))

    def __bool__(self) -> bool:
        """Refuse: it is not clear which answer true would be."""
        raise TypeError("a difference has no truth value: ask whether it is equal")

    def __str__(self) -> str:
        """Return a report, a fact a line."""
        if self.equal:
            return f"{self.a} and {self.b}: the same records ({self.row_counts[0]:,} rows)"
        lines = [f"--- {self.a}", f"+++ {self.b}"]
        if self.row_counts[0] != self.row_counts[1]:
            lines.append(f"row count: {self.row_counts[0]:,} became {self.row_counts[1]:,}")
        lines += [f"- {format_path(path)}: {data_type}" for path, data_type in self.removed]
        lines += [f"+ {format_path(path)}: {data_type}" for path, data_type in self.added]
        lines += [f"renamed: {format_path(old)} became {format_path(new)}" for old, new in self.renamed]
        lines += [f"retyped: {format_path(path)}: {old} became {new}" for path, old, new in self.retyped]
        if self.reordered:
            lines.append("reordered: " + ", ".join(format_path(path) for path in self.reordered))
        return "\n".join(lines + [str(column) for column in self.columns])


def shown(value: Any) -> str:
    """Return a value for people, cut where it is long."""
    if value is NO_ROW:
        return "no row"
    text = "null" if value is None else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def diff(a: Any, b: Any, *, threads: int | None = None, int96_unit: Int96Unit = DEFAULT_INT96_UNIT) -> Difference:
    """Return how two sets of records differ, in constant memory.

    Both are hashed first, column by column. Then those columns are read once more, side by side, that differ, or that
    hold nulls which the hash may take for values.

    Args:
        a: A path, a URI that fsspec opens, or anything that exports Arrow records.
        b: The other side. A `pyarrow.RecordBatchReader` or a pipe can be read once only, so the rows that differ cannot
            be found; then `row` is None, and what the hash cannot tell apart counts as different.
        threads: How many threads to use; None for every core.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read: `ns`, or `us` where days before
            1677 or after 2262 are among them. A value that does not fit is an error.

    Raises:
        UnreadableError: A file cannot be read.
        UnsupportedTypeError: A column's type has no arrow0 encoding.
        InvalidArrayError: An array points outside its own buffers.
        TypeError: A side is neither a path nor an exporter.

    >>> table = pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    >>> print(diff(table, table.set_column(0, "a", pa.array([1, 5, 3]))))
    --- Table
    +++ Table
    a: row 1: 2 became 5
    """
    count = thread_count(threads)
    first, second = _digest(a, count, int96_unit), _digest(b, count, int96_unit)
    before, after = keyed(first.columns()), keyed(second.columns())
    common = [key for key in before if key in after]
    pairs = {key: (before[key][1], after[key][1]) for key in common}
    removed, added, renamed = _names(
        [column for key, (_, column) in before.items() if key not in after],
        [column for key, (_, column) in after.items() if key not in before],
    )
    order = [key for key in after if key in before]
    schema = Difference(
        a=_name(a),
        b=_name(b),
        row_counts=(first.row_count, second.row_count),
        removed=_typed(removed),
        added=_typed(added),
        renamed=renamed,
        retyped=tuple(
            (old.path, old.data_type, new.data_type) for old, new in pairs.values() if old.data_type != new.data_type
        ),
        reordered=() if order == common else tuple(path for path, _ in order),
    )
    schema = _with_structs(schema, first, second)
    once = _is_used_up(a) or _is_used_up(b)
    suspects = {
        key: (before[key][0], after[key][0])
        for key, (old, new) in pairs.items()
        if (not once if old.data_type != new.data_type else _may_differ(old, new, schema.row_counts))
    }
    if not suspects:
        return schema
    if once:
        found: dict[int, Cell | None] = dict.fromkeys(range(len(suspects)))
    else:
        found = dict(first_differences(a, b, list(suspects.values()), count, int96_unit))
    paths = [path for path, _ in suspects]
    columns = []
    for number, cell in sorted(found.items()):
        columns.append(
            ColumnDifference(paths[number], None) if cell is None else ColumnDifference(paths[number], *cell)
        )
    return replace(schema, columns=tuple(columns))


def _may_differ(old: ColumnDigest, new: ColumnDigest, row_counts: tuple[int, int]) -> bool:
    return old.digest != new.digest or row_counts[0] != row_counts[1] or may_hide_a_difference(old, new)


def _digest(source: Any, threads: int, int96_unit: Int96Unit) -> RecordDigest:
    with open_source(source, threads=threads, int96_unit=int96_unit) as opened:
        # With validity, columns with nulls need not be read again where they are equal.
        return digest_source(opened, function=DEFAULT_FUNCTION, threads=threads, validity=True)


def _name(source: Any) -> str:
    return os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__


def _is_used_up(source: Any) -> bool:
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 -- a pipe
    return isinstance(source, pa.RecordBatchReader)


def _typed(columns: Iterable[ColumnDigest]) -> tuple[tuple[tuple[str, ...], Any], ...]:
    return tuple((column.path, column.data_type) for column in columns)


def _names(
    removed: list[ColumnDigest], added: list[ColumnDigest]
) -> tuple[list[ColumnDigest], list[ColumnDigest], tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    """Take pairs with equal type and digest out of what is removed and added: they are the same under another name."""
    renamed = []
    left = list(added)
    kept = []
    for old in removed:
        wanted = old.data_type, old.digest, old.validity_digest
        match = next(
            (new for new in left if (new.data_type, new.digest, new.validity_digest) == wanted),
            None,
        )
        if match is None:
            kept.append(old)
        else:
            left.remove(match)
            renamed.append((old.path, match.path))
    return kept, left, tuple(renamed)


def _with_structs(schema: Difference, first: RecordDigest, second: RecordDigest) -> Difference:
    """Add structs without leaves, which are in the hash by their names alone."""
    before, after = first.childless(), second.childless()
    return replace(
        schema,
        removed=(*schema.removed, *((path, pa.struct([])) for path in before if path not in after)),
        added=(*schema.added, *((path, pa.struct([])) for path in after if path not in before)),
    )
