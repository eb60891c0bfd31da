"""Kiln's types and cells wherever they lie in a column: in lists, maps, structs, dictionaries and runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.columns.arrow_types import name_of
from kiln_arrow.columns.cells import CellArray, cells_of
from kiln_arrow.columns.extension_types import TENSORS, is_kiln
from kiln_arrow.columns.producers import chunks_of
from kiln_arrow.errors import KilnError, below
from kiln_arrow.foreign.structure import (
    Slots,
    all_slots,
    children_of,
    has_items,
    is_encoded,
    item_slots,
    list_places,
    looked_up,
    refused,
    require_depth,
    require_lengths,
    without_nulls,
)
from kiln_arrow.limits import Budget

__all__ = [
    "cell_arrays",
    "entries_of",
    "has_kiln",
    "hint_of_storage",
    "kiln_types",
    "tensor_cell_arrays",
]


def cell_arrays(array: pa.Array, budget: Budget | None = None) -> list[CellArray]:
    """Return every array of Kiln cells in a column, however deep it lies, with its structure checked.

    Args:
        array: The column, or a chunk of it.
        budget: What the whole column may spend; a new one if this is all of it.

    Raises:
        KilnError: The array points outside its buffers (rule `arrow`); or runs and lists that share items would make
            too many cells (rule `expansion`).
    """
    if not has_kiln(array.type):
        return []
    require_lengths(array)
    return list(_Walk(budget or Budget()).column(array))


def has_kiln(data_type: pa.DataType) -> bool:
    """Return whether a type is one of Kiln's or has one in it."""
    return next(kiln_types(data_type), None) is not None


def kiln_types(data_type: pa.DataType) -> Iterator[pa.DataType]:
    """Yield each of Kiln's types that a type is or has in it, in order.

    Raises:
        KilnError: The type has more levels than any recursion should follow; rule `depth`.
    """
    if is_kiln(data_type):
        return iter((data_type,))
    require_depth(data_type)
    return _kiln_types(data_type)


def _kiln_types(data_type: pa.DataType) -> Iterator[pa.DataType]:
    if is_kiln(data_type):
        yield data_type
    else:
        for child in children_of(data_type):
            yield from _kiln_types(child)


class _Walk:
    """The way from a column down to its cells."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def column(self, array: pa.Array) -> Iterator[CellArray]:
        all_slots(array, self._budget)
        return self._below(array, "", None, None, may_repeat=False)

    def _below(
        self, array: pa.Array, path: str, at: Slots, rows: NDArray[np.int64] | None, *, may_repeat: bool
    ) -> Iterator[CellArray]:
        kind = array.type
        if is_kiln(kind):
            yield CellArray(path, kind, cells_of(array.storage, at, may_repeat=may_repeat), rows)
        elif next(_kiln_types(kind), None) is None:
            return
        elif isinstance(kind, pa.BaseExtensionType):
            yield from self._below(array.storage, path, at, rows, may_repeat=may_repeat)
        elif pa.types.is_struct(kind):
            at = without_nulls(array, at)
            for index in range(kind.num_fields):
                name = below(path, name_of(kind.field(index)))
                yield from self._below(array.field(index), name, at, rows, may_repeat=may_repeat)
        elif is_encoded(kind):
            values, at = looked_up(array, at)
            yield from self._below(values, path, at, rows, may_repeat=True)
        elif has_items(kind):
            yield from self._items(array, path, at, rows, may_repeat)
        else:
            sentence = f"expected cells in lists, maps, structs, dictionaries or runs, found {kind!s:.200}"
            raise KilnError("arrow_type", sentence, path=path)

    def _items(
        self, array: pa.Array, path: str, at: Slots, rows: NDArray[np.int64] | None, may_repeat: bool
    ) -> Iterator[CellArray]:
        starts, counts = list_places(array, at)
        slots = item_slots(array.values, starts, counts, self._budget)
        rows = np.repeat(np.arange(len(counts)) if rows is None else rows, counts)
        # Only the lists of views may share items.
        may_repeat |= pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type)
        if pa.types.is_map(array.type):
            for name, part in zip(("key", "value"), entries_of(array, slots), strict=True):
                yield from self._below(part, below(path, name), slots, rows, may_repeat=may_repeat)
        else:
            yield from self._below(array.values, below(path, "element"), slots, rows, may_repeat=may_repeat)


def entries_of(array: pa.Array, slots: NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
    """Return the keys and the values of a map array, none of whose entries is null among those that count."""
    entries = array.values
    found = without_nulls(entries, slots)
    if found is not None and found is not slots and bool((found < 0).any()):
        raise refused("a map with an entry that is null")
    return entries.field(0), entries.field(1)


def tensor_cell_arrays(column: Any, budget: Budget) -> list[CellArray]:
    """Return the one array of directories in each chunk of a column, its rows counted through the whole column.

    Raises:
        KilnError: The column has no `kiln.tensors` in it, or several; or it points outside its buffers.
    """
    found: list[CellArray] = []
    base = 0
    data_type, chunks = chunks_of(column)
    _require_one(data_type)
    for array in chunks:
        (leaf,) = [leaf for leaf in cell_arrays(array, budget) if leaf.type.extension_name == TENSORS]
        rows = np.arange(len(leaf.cells)) if leaf.rows is None else leaf.rows
        found.append(leaf if base == 0 else leaf._replace(rows=rows + base))
        base += len(array)
    return found


def _require_one(data_type: pa.DataType) -> None:
    count = sum(kind.extension_name == TENSORS for kind in kiln_types(data_type))
    if count != 1:
        sentence = f"expected a column with one kiln.tensors in it, found {count} in {data_type!s:.200}"
        raise KilnError("arrow_type", sentence + (hint_of_storage(data_type) if count == 0 else ""))


def hint_of_storage(data_type: pa.DataType) -> str:
    """Return what to add to a refusal of a type that may hold cells as plain bytes."""
    return "; from_storage turns plain bytes into tensors" if "binary" in str(data_type) else ""
