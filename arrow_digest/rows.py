"""Two sets of records read side by side, to find the first row in which a column differs.

Rows are compared as arrow0 encodes them and by their nulls, so that nothing counts that the hash does not count, such
as layouts, and everything counts that it does, such as the bits of a NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from _arrow_io.formats import is_parquet
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from _arrow_io.opening import InputFile, open_path
from _arrow_io.source import Source
from arrow_digest.chunks import joined
from arrow_digest.columns import LeafPool
from arrow_digest.encode import encode, row_validity
from arrow_digest.retyping import leaf_array
from arrow_digest.schema import Leaf, flatten, logical_type
from arrow_digest.sources import open_source, read_records
from arrow_digest.structure import Column, describe

__all__ = ["NO_ROW", "Cell", "first_differences"]


class _NoRow(Enum):
    """Stands for the value of a row that is not there."""

    NO_ROW = "no row"

    def __repr__(self) -> str:
        return "NO_ROW"


NO_ROW = _NoRow.NO_ROW
"""Stands for the value of a row that is not there."""


class Cell(NamedTuple):
    """The first row in which a column differs, and both values there."""

    row: int
    a: Any
    b: Any


def first_differences(
    a: Any, b: Any, leaves: Sequence[tuple[int, int]], threads: int, int96_unit: Int96Unit = DEFAULT_INT96_UNIT
) -> Iterator[tuple[int, Cell]]:
    """Yield each pair of leaf columns that differs, by number, with the first row in which it does.

    Args:
        a: A path, URI or exporter that can be read again.
        b: The other side.
        leaves: The numbers of the columns of each pair, on either side.
        threads: How many threads to decode with.
        int96_unit: The unit in which INT96 timestamps are read.
    """
    left = dict(enumerate(leaves))
    with ExitStack() as stack:
        sides = [
            stack.enter_context(_Side(source, [pair[side] for pair in leaves], threads, int96_unit))
            for side, source in enumerate((a, b))
        ]
        row = 0
        while left and (count := min(sides[0].available(), sides[1].available())):
            pieces = [side.take(count) for side in sides]
            for number in list(left):
                here, there = (piece[leaf] for piece, leaf in zip(pieces, left[number], strict=True))
                place = _first_difference(here, there)
                if place is not None:
                    yield number, Cell(row + place, _value(here, place), _value(there, place))
                    del left[number]
            row += count
        # What is left is equal as far as both go; if one side goes on, that is where they differ.
        rest = [side.take(1) if side.available() else None for side in sides]
        if left and rest != [None, None]:
            for number, pair in left.items():
                values = (
                    NO_ROW if piece is None else _value(piece[leaf], 0) for piece, leaf in zip(rest, pair, strict=True)
                )
                yield number, Cell(row, *values)


class _Side:
    """One side's wanted leaf columns, taken in pieces of any number of rows."""

    def __init__(self, source: Any, leaves: Sequence[int], threads: int, int96_unit: Int96Unit) -> None:
        self._source = source
        self._int96_unit = int96_unit
        self._wanted = sorted(set(leaves))
        self._threads = threads
        self._stack = ExitStack()
        self._batch: Any = None
        self._start = 0

    def __enter__(self) -> _Side:
        opened, chosen = self._open()
        self._leaves: dict[int, Leaf] = chosen
        self._batches = joined(opened.batches, flatten(opened.schema).leaves, LeafPool(self._threads).each)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _open(self) -> tuple[Source, dict[int, Leaf]]:
        if isinstance(self._source, str) or hasattr(self._source, "__fspath__"):
            file: InputFile = self._stack.enter_context(open_path(self._source, int96_unit=self._int96_unit))
            if is_parquet(file):
                opened = read_records(file, threads=self._threads, leaves=tuple(self._wanted))
                return opened, dict(zip(self._wanted, flatten(opened.schema).leaves, strict=True))
            opened = read_records(file, threads=self._threads)
        else:
            opened = self._stack.enter_context(open_source(self._source, threads=self._threads))
        leaves = flatten(opened.schema).leaves
        return opened, {number: leaves[number] for number in self._wanted}

    def available(self) -> int:
        """Return how many rows can be taken at once; 0 at the end."""
        while self._batch is None or self._start == self._batch.num_rows:
            self._batch = next(self._batches, None)
            self._start = 0
            if self._batch is None:
                return 0
        return int(self._batch.num_rows) - self._start

    def take(self, count: int) -> dict[int, Any]:
        """Return the next rows of each leaf, and leave the last one's row in place."""
        piece = self._batch.slice(self._start, count)
        self._start += count
        return {number: leaf_array(piece, leaf) for number, leaf in self._leaves.items()}


def _first_difference(a: Any, b: Any) -> int | None:
    """Return the first slot in which two arrays of one length differ; in another type, where it is no equal value."""
    if _equal(a, b):
        return None
    low, high = 0, len(a)  # the first `low` slots are equal, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        if _equal(a.slice(low, middle - low), b.slice(low, middle - low)):
            low = middle
        else:
            high = middle
    return low


def _equal(a: Any, b: Any) -> bool:
    wanted, found = logical_type(a.type), logical_type(b.type)
    if wanted != found:
        try:
            b = b.cast(found).cast(wanted)
        except (pa.ArrowException, OverflowError):  # some value has no equal in the other type
            return False
    columns = [Column(describe(array)) for array in (a, b)]
    if not _same_validity(*(row_validity(column) for column in columns)):
        return False
    if not _same_bytes(encode(columns[0]), encode(columns[1])):
        return False
    return not pt.is_nested(a.type) or _same_items(a, b)


def _same_validity(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return all(valid is None or bool(valid.all()) for valid in (a, b))
    return bool(np.array_equal(a, b))


def _same_bytes(a: Iterator[Any], b: Iterator[Any]) -> bool:
    """Return whether two sequences of buffers hold the same bytes, however they are cut."""
    left = right = np.empty(0, np.uint8)
    while True:
        while not len(left) and (part := next(a, None)) is not None:
            left = part
        while not len(right) and (part := next(b, None)) is not None:
            right = part
        count = min(len(left), len(right))
        if not count:
            return len(left) == len(right)
        if not np.array_equal(left[:count], right[:count]):
            return False
        left, right = left[count:], right[count:]


def _same_items(a: Any, b: Any) -> bool:
    """Return whether the items of lists whose rows are nulls in the same places are, too."""
    items = [_items(array) for array in (a, b)]
    if len(items[0]) != len(items[1]):
        return False
    validities = [row_validity(Column(describe(array))) for array in items]
    return _same_validity(*validities) and (not pt.is_nested(items[0].type) or _same_items(*items))


def _items(array: Any) -> Any:
    flat = array.flatten()
    while pt.is_dictionary(flat.type):
        flat = flat.dictionary_decode()
    return flat.storage if isinstance(flat, pa.ExtensionArray) else flat


def _value(array: Any, place: int) -> Any:
    scalar = array[place]
    try:
        return scalar.as_py()
    except (ValueError, OverflowError, ImportError):  # no Python object for it, or it is no text
        pass
    try:
        blind = {pt.is_string: pa.binary(), pt.is_large_string: pa.large_binary(), pt.is_string_view: pa.binary_view()}
        for is_text, binary in blind.items():
            if is_text(array.type):
                return array.slice(place, 1).view(binary)[0].as_py()
        return scalar.value if isinstance(getattr(scalar, "value", None), int) else str(scalar)
    except (ValueError, OverflowError):
        return b"".join(bytes(part) for part in encode(Column(describe(array.slice(place, 1)))))
