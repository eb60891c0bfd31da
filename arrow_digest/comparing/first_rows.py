"""Two sets of records read side by side, to find the first row in which a column differs.

Rows are compared as arrow0 describes arrays, so that nothing counts that the hash does not count, such as layouts, and
everything counts that it does, such as the bits of a NaN; and by the nulls of every level besides.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from _arrow_io.formats import is_parquet
from _arrow_io.int96 import Int96Unit
from _arrow_io.opening import InputFile, open_path
from _arrow_io.source import Source
from arrow_digest.arrays.batches import joined
from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.nodes import Node
from arrow_digest.arrays.schema import Struct
from arrow_digest.comparing.leaf_values import Cells, first_difference
from arrow_digest.comparing.shown_values import StructValue, joined_text, json_value, python_value, struct_value, text
from arrow_digest.comparing.telling_apart import NO_ROW, Place, cut, tell_apart
from arrow_digest.errors import naming
from arrow_digest.reading.sources import open_source, read_records
from arrow_digest.rules.arrow0.leaf_columns import Column, leaf_column, struct_validity
from arrow_digest.rules.arrow0.portable import row_validity
from arrow_digest.rules.arrow0.types import logical_type
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.rule import Leaf
from arrow_digest.typing import RecordSource
from arrow_digest.workers import Pool

__all__ = ["NO_ROW", "Cell", "ComparedSource", "StructPair", "first_differences"]


@dataclass(frozen=True)
class ComparedSource:
    """One of the two sides that are compared.

    Attributes:
        name: How errors name it.
        source: A path, URI or exporter, which is read twice.
        threads: How many threads to decode with.
        int96_unit: The unit in which its INT96 timestamps are read.
    """

    name: str
    source: RecordSource
    threads: int
    int96_unit: Int96Unit


class Cell(NamedTuple):
    """The first row in which a column differs, both values there, and what tells them apart.

    Attributes:
        row: The row, counted from 0.
        a: The value on the first side.
        b: The value on the second side.
        place: Where inside the values they differ, see `ColumnDifference`.
        texts: Both for people.
        natives: Both for JSON.
    """

    row: int
    a: Any
    b: Any
    place: Place
    texts: tuple[str, str]
    natives: tuple[Any, Any]


class StructPair(NamedTuple):
    """A struct that both sides have.

    Attributes:
        sides: The struct on either side.
        leaves: The numbers, on either side, of the leaf columns inside it that both have.
    """

    sides: tuple[Struct, Struct]
    leaves: tuple[tuple[int, int], ...]


def first_differences(
    sources: Sequence[ComparedSource], leaves: Sequence[tuple[int, int]], structs: Sequence[StructPair]
) -> Iterator[tuple[int, Cell]]:
    """Yield each pair of columns that differs, by number, with the first row in which it does.

    Args:
        sources: Both sides, which can be read again.
        leaves: The numbers of the leaf columns of each pair, on either side.
        structs: Pairs of structs, numbered after the leaf columns.
    """
    left = dict(enumerate(leaves))
    left_structs = dict(enumerate(structs, len(leaves)))
    with ExitStack() as stack:
        sides = [
            stack.enter_context(_Side(source, [pair[side] for pair in leaves], [pair.sides[side] for pair in structs]))
            for side, source in enumerate(sources)
        ]
        row = 0
        while (left or left_structs) and (count := min(sides[0].available(), sides[1].available())):
            pieces = [side.take(count) for side in sides]
            for number in list(left):
                cells = [piece.cells(leaf) for piece, leaf in zip(pieces, left[number], strict=True)]
                place = first_difference(*cells)
                if place is not None:
                    yield number, _cell(row + place, *(side.part(place, place + 1) for side in cells))
                    del left[number]
            for number, pair in list(left_structs.items()):
                place = _first_null(pieces, pair)
                if place is not None:
                    yield number, _struct_cell(row + place, place, pieces, pair)
                    del left_structs[number]
            row += count
        # What is left is equal as far as both go; if one side goes on, that is where they differ.
        rest = [side.take(1) if side.available() else None for side in sides]
        if rest != [None, None]:
            for number, numbers in left.items():
                last = [None if piece is None else piece.cells(leaf) for piece, leaf in zip(rest, numbers, strict=True)]
                yield number, _last_cell(row, last)


def _cell(row: int, a: Cells, b: Cells) -> Cell:
    return Cell(row, python_value(a), python_value(b), *tell_apart(a, b))


def _last_cell(row: int, sides: Sequence[Cells | None]) -> Cell:
    a, b = (NO_ROW if side is None else python_value(side) for side in sides)
    texts = ["no row" if side is None else cut(text(side)) for side in sides]
    natives = [NO_ROW if side is None else json_value(side) for side in sides]
    return Cell(row, a, b, (), (texts[0], texts[1]), (natives[0], natives[1]))


def _first_null(pieces: Sequence[_Piece], pair: StructPair) -> int | None:
    """Return the first row in which a struct is null on one side alone, and nothing above or inside it shows that."""
    differ = _differ([piece.has_struct(struct) for piece, struct in zip(pieces, pair.sides, strict=True)])
    if differ.any() and len(pair.sides[0].path) > 1:
        above = [piece.has_struct(struct, 1) for piece, struct in zip(pieces, pair.sides, strict=True)]
        differ &= ~_differ(above)
    for numbers in pair.leaves:
        if not differ.any():
            return None
        differ &= ~_differ([piece.has_value(leaf) for piece, leaf in zip(pieces, numbers, strict=True)])
    return int(np.argmax(differ)) if differ.any() else None


def _differ(valid: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    differ: npt.NDArray[np.bool_] = valid[0] != valid[1]
    return differ


def _struct_cell(row: int, place: int, pieces: Sequence[_Piece], pair: StructPair) -> Cell:
    a, b = (piece.struct_value(place, struct) for piece, struct in zip(pieces, pair.sides, strict=True))
    return Cell(row, a.value, b.value, (), (cut(joined_text(a.text)), cut(joined_text(b.text))), (a.json, b.json))


class _Piece:
    """Some rows of one side."""

    def __init__(
        self, name: str, batch: pa.RecordBatch, leaves: dict[int, Leaf], structs: dict[tuple[int, ...], tuple[int, ...]]
    ) -> None:
        self._batch = batch
        self._name = name
        self._leaves = leaves
        self._structs = structs
        self._columns: dict[int, Column] = {}
        self._described: dict[int, Node] = {}

    def column(self, number: int) -> Column:
        """Return a leaf column by its number."""
        if number not in self._columns:
            indices = self._leaves[number].indices
            self._columns[number] = leaf_column(self._described_column(indices[0]), indices)
        return self._columns[number]

    def _described_column(self, index: int) -> Node:
        if index not in self._described:
            path = (self._batch.schema.field(index).name,)
            with naming(self._name):
                self._described[index] = describe(self._batch.column(index), path)
        return self._described[index]

    def cells(self, number: int) -> Cells:
        """Return the values of a leaf column."""
        return Cells.of(self.column(number), logical_type(self._leaves[number].data_type))

    def has_value(self, number: int) -> npt.NDArray[np.bool_]:
        """Return in which rows a leaf column is not null."""
        valid = row_validity(self.column(number))
        return np.ones(self._batch.num_rows, np.bool_) if valid is None else valid

    def has_struct(self, struct: Struct, above: int = 0) -> npt.NDArray[np.bool_]:
        """Return in which rows a struct, or the one so many levels above it, is not null."""
        indices = self._structs[struct.indices]
        return struct_validity(self._described_column(indices[0]), indices[: len(indices) - above])

    def struct_value(self, row: int, struct: Struct) -> StructValue:
        """Return the value of a struct in one row."""
        with naming(self._name):
            return struct_value(self._batch.slice(row, 1), self._structs[struct.indices], struct.path)


class _Side:
    """One side's wanted columns, taken in pieces of any number of rows."""

    def __init__(self, source: ComparedSource, leaves: Sequence[int], structs: Sequence[Struct]) -> None:
        self._name = source.name
        self._source = source
        self._structs = structs
        self._wanted = sorted({*leaves, *(leaf for struct in structs for leaf in struct.leaves)})
        # By its leaves alone, a struct without any would not be read.
        self._projects = all(struct.leaves for struct in structs)
        self._stack = ExitStack()
        self._batch: pa.RecordBatch | None = None
        self._start = 0

    def __enter__(self) -> _Side:
        with naming(self._name):
            opened, self._leaves = self._open()
        self._indices = {
            struct.indices: self._leaves[struct.leaves[0]].indices[: len(struct.indices)]
            if struct.leaves
            else struct.indices
            for struct in self._structs
        }
        self._batches = joined(opened.batches, Pool(self._source.threads).each)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _open(self) -> tuple[Source, dict[int, Leaf]]:
        source, threads = self._source.source, self._source.threads
        if isinstance(source, (str, os.PathLike)):
            file: InputFile = self._stack.enter_context(open_path(source, int96_unit=self._source.int96_unit))
            if self._projects and is_parquet(file):
                opened = read_records(file, threads=self._source.threads, leaves=tuple(self._wanted))
                return opened, dict(zip(self._wanted, chosen_rule().plan(opened.schema).leaves, strict=True))
            opened = read_records(file, threads=threads)
        else:
            opened = self._stack.enter_context(open_source(source, threads=threads))
        leaves = chosen_rule().plan(opened.schema).leaves
        return opened, {number: leaves[number] for number in self._wanted}

    def available(self) -> int:
        """Return how many rows can be taken at once; 0 at the end."""
        while self._batch is None or self._start == self._batch.num_rows:
            with naming(self._name):
                self._batch = next(self._batches, None)
            self._start = 0
            if self._batch is None:
                return 0
        return int(self._batch.num_rows) - self._start

    def take(self, count: int) -> _Piece:
        """Return the next rows, and leave the one after them in place."""
        assert self._batch is not None
        batch = self._batch.slice(self._start, count)
        self._start += count
        return _Piece(self._name, batch, self._leaves, self._indices)
