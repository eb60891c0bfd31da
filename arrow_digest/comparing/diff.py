"""Where two sets of records differ: schemas side by side, and in each differing column the first differing row."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import normalize

import pyarrow as pa
import pyarrow.types as pt

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from arrow_digest.arrays.schema import Struct
from arrow_digest.comparing.column_changes import keyed
from arrow_digest.comparing.first_rows import NO_ROW, Cell, ComparedSource, StructPair, first_differences
from arrow_digest.comparing.telling_apart import Place, names_apart
from arrow_digest.errors import format_path, naming
from arrow_digest.public import public
from arrow_digest.reading.sources import open_source
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.records import digest_source
from arrow_digest.rules.rule import ColumnDigest, Plan, Rule
from arrow_digest.typing import RecordSource
from arrow_digest.workers import thread_count

__all__ = ["NO_ROW", "ColumnDifference", "Difference", "diff"]


@public
@dataclass(frozen=True)
class ColumnDifference:
    """A leaf column that both sides have, with other values; in another type, with one that is no equal value in it.

    Or a struct that is null on one side alone in some row where every column inside it is null on both.

    Attributes:
        path: Field names from the top-level column down.
        row: The first row that differs, counted from 0; None where it could not be looked for, as in a used-up stream.
        a: The value there on the first side, `NO_ROW` where its rows have ended.
        b: The value there on the second side.
        place: Where inside these two values they differ first, from outside in: `("item", 3)` of a list,
            `("character", 7)` of a text, `("byte", 7)` of binary, counted from 0. Empty where both are shown whole.
        a_text: What is at that place on the first side, as people see it: never the same on both sides.
        b_text: What is there on the second side.
        a_json: What is there on the first side, as `json.dumps` takes it; `NO_ROW` where its rows, or the items of the
            list, have ended.
        b_json: What is there on the second side.
        is_certain: False where the values may be equal: a stream is read once, and neither equal digests, in which
            nulls may look like values, nor those of two types tell.
    """

    path: tuple[str, ...]
    row: int | None
    a: Any = None
    b: Any = None
    place: Place = ()
    a_text: str = ""
    b_text: str = ""
    a_json: Any = None
    b_json: Any = None
    is_certain: bool = True

    def __str__(self) -> str:
        """Return the difference in words."""
        if not self.is_certain:
            return f"{format_path(self.path)}: may differ: a stream is read once, so its values were not compared"
        if self.row is None:
            return f"{format_path(self.path)}: differs"
        place = "".join(f", {unit} {number}" for unit, number in self.place)
        return f"{format_path(self.path)}: row {self.row}{place}: {self.a_text} became {self.b_text}"


@public
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
        columns: Columns that both have and that differ in their values, or may differ (`is_certain`).
    """

    a: str
    b: str
    row_counts: tuple[int, int]
    removed: tuple[tuple[tuple[str, ...], pa.DataType], ...] = ()
    added: tuple[tuple[tuple[str, ...], pa.DataType], ...] = ()
    renamed: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    retyped: tuple[tuple[tuple[str, ...], pa.DataType, pa.DataType], ...] = ()
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
            return f"{self.a} and {self.b}: the same records ({_rows(self.row_counts[0])})"
        lines = [f"--- {self.a}", f"+++ {self.b}"]
        if self.row_counts[0] != self.row_counts[1]:
            lines.append(f"row count: {self.row_counts[0]:,} became {self.row_counts[1]:,}")
        for sign, columns, others in (("-", self.removed, self.added), ("+", self.added, self.removed)):
            alike = {normalize("NFKC", format_path(path)) for path, _ in others}
            lines += [f"{sign} {_shown(format_path(path), alike)}: {data_type}" for path, data_type in columns]
        names = [names_apart(format_path(old), format_path(new)) for old, new in self.renamed]
        lines += [f"renamed: {old} became {new}" for old, new in names]
        lines += [f"retyped: {format_path(path)}: {old} became {new}" for path, old, new in self.retyped]
        if self.reordered:
            lines.append("reordered: " + ", ".join(format_path(path) for path in self.reordered))
        return "\n".join(lines + [str(column) for column in self.columns])


def _shown(name: str, alike: set[str]) -> str:
    """Return a name, with its code points where the other side has one that looks the same."""
    return f"{name} ({name!a})" if not name.isascii() and normalize("NFKC", name) in alike else name


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


@public
def diff(
    a: RecordSource, b: RecordSource, *, threads: int | None = None, int96_unit: Int96Unit = DEFAULT_INT96_UNIT
) -> Difference:
    """Return how two sets of records differ, in constant memory.

    Both are hashed first, column by column. Then those columns are read once more, side by side, that differ, or in
    which the hash takes some records for others: lists, types that changed, nulls in other rows, and structs that may
    be null.

    Args:
        a: A path, a URI that fsspec opens, or anything that exports Arrow records.
        b: The other side. A `pyarrow.RecordBatchReader` or a pipe can be read once only, so the rows that differ cannot
            be found; then `row` is None. What the hash cannot tell apart is no match then: it may differ, and so may
            the values of a column whose type changed (`is_certain`).
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
    named = zip(_error_names(a, b), (a, b), strict=True)
    sides = [ComparedSource(name, source, count, int96_unit) for name, source in named]
    return _Diff(sides).result()


_Key = tuple[tuple[str, ...], int]


class _Hashed(NamedTuple):
    """What is known of a side once it was hashed.

    Attributes:
        columns: Its leaf columns.
        row_count: Number of rows.
        plan: How its schema is hashed, with the structs that have no digest.
    """

    columns: tuple[ColumnDigest, ...]
    row_count: int
    plan: Plan


class _Diff:
    """Two sides, each hashed, and what is to be looked at again."""

    def __init__(self, sides: Sequence[ComparedSource]) -> None:
        self._sides = sides
        self._rule = chosen_rule()
        self._is_used_up = any(_is_used_up(side.source) for side in sides)
        self._hashed = [_hashed(side, self._rule) for side in sides]
        self._before, self._after = (keyed(side.columns) for side in self._hashed)
        self._row_counts = self._hashed[0].row_count, self._hashed[1].row_count

    def result(self) -> Difference:
        """Return how the sides differ."""
        before, after = self._before, self._after
        common = [key for key in before if key in after]
        order = [key for key in after if key in before]
        suspects = [key for key in common if self._may_differ(before[key][1], after[key][1])]
        renamed = self._renamed()
        doubtful = [pair for pair in renamed if self._may_differ(before[pair[0]][1], after[pair[1]][1])]
        structs = self._structs()
        found = self._compare([*((key, key) for key in suspects), *doubtful], [pair for _, pair in structs])
        refuted = [pair for number, pair in enumerate(doubtful, len(suspects)) if number in found]
        renamed = [pair for pair in renamed if pair not in refuted]
        paths = [path for path, _ in suspects] + [()] * len(doubtful) + [path for path, _ in structs]
        told = {n for n, key in enumerate(suspects) if self._is_told_by_digests(before[key][1], after[key][1])}
        columns = [
            _difference(paths[number], cell, is_told=number in told)
            for number, cell in sorted(found.items())
            if paths[number]
        ]
        empty = [side.plan.childless for side in self._hashed]
        gone, new = {old for old, _ in renamed}, {new for _, new in renamed}
        return Difference(
            a=_name(self._sides[0].source),
            b=_name(self._sides[1].source),
            row_counts=self._row_counts,
            removed=(
                *_only(before, after, gone),
                *((path, pa.struct([])) for path in empty[0] if path not in empty[1]),
            ),
            added=(*_only(after, before, new), *((path, pa.struct([])) for path in empty[1] if path not in empty[0])),
            renamed=tuple((old[0], new[0]) for old, new in renamed),
            retyped=tuple(
                (key[0], before[key][1].data_type, after[key][1].data_type)
                for key in common
                if before[key][1].data_type != after[key][1].data_type
            ),
            reordered=() if order == common else tuple(path for path, _ in order),
            columns=tuple(columns),
        )

    def _may_differ(self, old: ColumnDigest, new: ColumnDigest) -> bool:
        """Return whether two columns may hold other values, as far as their digests say."""
        if not any(self._row_counts):
            return False
        if old.data_type != new.data_type:
            return True
        if old.digest != new.digest or self._row_counts[0] != self._row_counts[1]:
            return True
        if pt.is_list(old.data_type) and not self._is_used_up:
            return True  # whose items may be null whatever the schema says
        return self._rule.may_hide(old, new)

    def _is_told_by_digests(self, old: ColumnDigest, new: ColumnDigest) -> bool:
        """Return whether the digests alone say that two columns of one type hold other values, or nulls elsewhere."""
        if self._row_counts[0] != self._row_counts[1]:
            return True
        told = (old.digest, old.null_count, old.validity_digest) != (new.digest, new.null_count, new.validity_digest)
        return old.data_type == new.data_type and told

    def _renamed(self) -> list[tuple[_Key, _Key]]:
        """Return pairs of columns that one side alone has, with equal types and digests: one with another name."""
        left = {key: column for key, (_, column) in self._after.items() if key not in self._before}
        pairs = []
        for key, (_, old) in self._before.items():
            if key in self._after:
                continue
            wanted = old.data_type, old.digest, old.validity_digest
            matches = (k for k, new in left.items() if (new.data_type, new.digest, new.validity_digest) == wanted)
            match = next(matches, None)
            if match is not None:
                del left[match]
                pairs.append((key, match))
        return pairs

    def _structs(self) -> list[tuple[tuple[str, ...], StructPair]]:
        """Return the structs that both sides have and that may be null where nothing inside them shows it."""
        first, second = (keyed(side.plan.structs) for side in self._hashed)
        others = {self._before[key][0]: self._after[key][0] for key in self._before if key in self._after}
        pairs = []
        for key, (_, struct) in first.items():
            if key not in second or not any(self._row_counts):
                continue
            sides = struct, second[key][1]
            if any(
                self._may_be_null(side, columns)
                for side, columns in zip(sides, (self._before, self._after), strict=True)
            ):
                leaves = tuple((n, others[n]) for n in struct.leaves if others.get(n) in sides[1].leaves)
                pairs.append((struct.path, StructPair(sides, leaves)))
        return pairs

    def _may_be_null(self, struct: Struct, columns: dict[_Key, tuple[int, ColumnDigest]]) -> bool:
        inside = set(struct.leaves)
        return all(column.null_count for number, column in columns.values() if number in inside)

    def _compare(self, leaves: list[tuple[_Key, _Key]], structs: list[StructPair]) -> dict[int, Cell | None]:
        """Return the first difference of each pair that differs, by number; None where it cannot be looked for."""
        if not leaves and not structs:
            return {}
        if self._is_used_up:
            return dict.fromkeys(range(len(leaves) + len(structs)))
        numbers = [(self._before[old][0], self._after[new][0]) for old, new in leaves]
        return dict(first_differences(self._sides, numbers, structs))


def _difference(path: tuple[str, ...], cell: Cell | None, *, is_told: bool) -> ColumnDifference:
    if cell is None:
        return ColumnDifference(path, None, is_certain=is_told)
    return ColumnDifference(path, cell.row, cell.a, cell.b, cell.place, *cell.texts, *cell.natives)


def _hashed(side: ComparedSource, rule: Rule) -> _Hashed:
    with (
        naming(side.name),
        open_source(side.source, threads=side.threads, int96_unit=side.int96_unit) as opened,
    ):
        # With validity, columns with nulls need not be read again where they are equal.
        digest = digest_source(opened, rule, threads=side.threads, validity=True)
        return _Hashed(digest.columns(), digest.row_count, rule.plan(opened.schema))


def _name(source: RecordSource) -> str:
    return os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__


def _error_names(a: RecordSource, b: RecordSource) -> tuple[str, ...]:
    return tuple(
        _name(source) if isinstance(source, (str, os.PathLike)) else f"the {place} side ({_name(source)})"
        for place, source in (("first", a), ("second", b))
    )


def _is_used_up(source: RecordSource) -> bool:
    if isinstance(source, (str, os.PathLike)):
        path = os.fsdecode(source)
        return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 -- a pipe
    return isinstance(source, pa.RecordBatchReader)


def _only(
    columns: dict[_Key, tuple[int, ColumnDigest]], others: dict[_Key, tuple[int, ColumnDigest]], but: set[_Key]
) -> Iterable[tuple[tuple[str, ...], pa.DataType]]:
    """Return path and type of the columns that one side alone has."""
    return [(c.path, c.data_type) for key, (_, c) in columns.items() if key not in others and key not in but]
