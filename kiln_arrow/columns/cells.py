"""The cells of a column: where the bytes of each lie, once all of them are known to be there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.canonical.decoder import Front
from kiln_arrow.canonical.directory import read_whole
from kiln_arrow.canonical.frame import Form, form_of
from kiln_arrow.columns.extension_types import FRAME, TENSORS, buffer_view, is_kiln, name_of
from kiln_arrow.errors import KilnError, below
from kiln_arrow.foreign.structure import (
    Slots,
    all_slots,
    bytes_places,
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
    "Cells",
    "Leaf",
    "at_row",
    "bad_cells",
    "cells_of",
    "chunks_of",
    "entries_of",
    "fronts",
    "has_kiln",
    "hint_of_storage",
    "kiln_types",
    "leaves",
    "require_room",
    "tensor_leaves",
]


@dataclass(frozen=True)
class Cells:
    """Where the bytes of each cell of a storage array lie.

    Attributes:
        buffers: Read-only views of what holds bytes.
        which: Index in `buffers` of each cell's, or None where there is one buffer.
        starts: int64[n], where each cell begins in its buffer.
        lengths: int64[n], how many bytes it has.
        valid: bool[n], or None where no cell is null. Lengths and starts of nulls say nothing.
        may_repeat: Whether several cells may be the same bytes.
    """

    buffers: list[memoryview]
    which: NDArray[np.int64] | None
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    valid: NDArray[np.bool_] | None
    may_repeat: bool = False

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def null_count(self) -> int:
        """How many cells are null."""
        return 0 if self.valid is None else len(self) - int(np.count_nonzero(self.valid))

    def sizes(self) -> NDArray[np.int64]:
        """Return the bytes of each cell, 0 for a null."""
        return self.lengths if self.valid is None else np.where(self.valid, self.lengths, 0)

    def __iter__(self) -> Iterator[memoryview | None]:
        """Yield the bytes of each cell, None for a null."""
        if self.which is None and self.valid is None:  # the common case, and the quick one
            (buffer,) = self.buffers
            ends = self.starts + self.lengths
            for start, end in zip(self.starts.tolist(), ends.tolist(), strict=True):
                yield buffer[start:end]
            return
        for place in self.places():
            if place is None:
                yield None
            else:
                index, start, length = place
                yield self.buffers[index][start : start + length]

    def values(self) -> list[bytes]:
        """Return a copy of the bytes of each cell, nothing for a null."""
        sizes = self.sizes()
        if self.which is None and len(self):
            (buffer,) = self.buffers
            first, end = int(self.starts.min()), int((self.starts + sizes).max())
            # Slices of bytes take half the time of slices of a view, and the copy pays unless most of it is not wanted.
            if first >= 0 and end - first <= 2 * int(sizes.sum(dtype=np.float64)):
                data = bytes(buffer[first:end])
                starts = self.starts - first
                return [data[a:b] for a, b in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]
        return [b"" if data is None else bytes(data) for data in self]

    def places(self) -> Iterator[tuple[int, int, int] | None]:
        """Yield buffer, start and length of each cell, None for a null: equal where two cells are the same bytes."""
        which = np.zeros(len(self), np.int64) if self.which is None else self.which
        valid = np.ones(len(self), np.bool_) if self.valid is None else self.valid
        rows = (which.tolist(), self.starts.tolist(), self.lengths.tolist(), valid.tolist())
        for index, start, length, present in zip(*rows, strict=True):
            yield (index, start, length) if present else None

    def side_by_side(self, budget: Budget) -> Cells:
        """Return the same cells copied to one buffer, one after another, nulls without bytes."""
        sizes = self.sizes()
        require_room(self, budget)
        data = b"".join([data for data in self if data is not None])
        return Cells([memoryview(data)], None, np.cumsum(sizes) - sizes, sizes, self.valid)


def require_room(cells: Cells, budget: Budget) -> None:
    """Count the bytes that cells take when each is written out, beyond those of the buffers that they share.

    Raises:
        KilnError: More than the limit; rule `expansion`.
    """
    # As a float, which does not wrap.
    total = int(cells.sizes().sum(dtype=np.float64)) if len(cells) else 0
    budget.spend(total - sum(map(len, cells.buffers)), f"{len(cells)} cells, some of them repeated,")


def cells_of(storage: pa.Array, at: Slots = None, *, may_repeat: bool = False) -> Cells:
    """Return the cells of a binary, large_binary or binary_view array, or of some of its slots.

    Raises:
        KilnError: One that is not null lies outside the buffers; rule `arrow`.
    """
    buffers, which, starts, lengths, valid = bytes_places(storage, at)
    return Cells(list(map(buffer_view, buffers)), which, starts, lengths, valid, may_repeat or which is not None)


class Leaf(NamedTuple):
    """One array of cells below a column.

    `rows` has the column's row of each cell, None where it is the cell's own index. Cells below a null list are left
    out, those below a null struct are null. Runs and dictionaries are looked up, so that a cell may be there twice.
    """

    path: str
    type: pa.DataType
    cells: Cells
    rows: NDArray[np.int64] | None

    def row(self, cell: int) -> int:
        """Return the column's row that a cell belongs to."""
        return cell if self.rows is None else int(self.rows[cell])

    def path_in(self, column: str) -> str:
        """Return the path down to these cells that begins with the name of their column."""
        return below(column, self.path) if self.path else column


def leaves(array: pa.Array, budget: Budget | None = None) -> list[Leaf]:
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

    def column(self, array: pa.Array) -> Iterator[Leaf]:
        all_slots(array, self._budget)
        return self._below(array, "", None, None, may_repeat=False)

    def _below(
        self, array: pa.Array, path: str, at: Slots, rows: NDArray[np.int64] | None, *, may_repeat: bool
    ) -> Iterator[Leaf]:
        kind = array.type
        if is_kiln(kind):
            yield Leaf(path, kind, cells_of(array.storage, at, may_repeat=may_repeat), rows)
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
    ) -> Iterator[Leaf]:
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


def chunks_of(column: Any) -> tuple[pa.DataType, list[pa.Array]]:
    """Return type and arrays of a column: an Array, a ChunkedArray, or what any Arrow producer exports as one.

    Raises:
        TypeError: It is none of these.
    """
    # Exported by the C interface a column loses the sizes of its buffers, so that is for others' columns only.
    if not isinstance(column, (pa.Array, pa.ChunkedArray, pa.Table, pa.RecordBatch)):
        if hasattr(column, "__arrow_c_stream__"):
            column = pa.chunked_array(column)
        elif hasattr(column, "__arrow_c_array__"):
            column = pa.array(column)
    if isinstance(column, pa.Array):
        return column.type, [column]
    if isinstance(column, pa.ChunkedArray):
        return column.type, column.chunks
    raise TypeError(f"expected an Arrow array or chunked array, found {type(column).__name__}")


def tensor_leaves(column: Any, budget: Budget) -> list[Leaf]:
    """Return the one array of directories in each chunk of a column, its rows counted through the whole column.

    Raises:
        KilnError: The column has no `kiln.tensors` in it, or several; or it points outside its buffers.
    """
    found: list[Leaf] = []
    base = 0
    data_type, chunks = chunks_of(column)
    _require_one(data_type)
    for array in chunks:
        (leaf,) = [leaf for leaf in leaves(array, budget) if leaf.type.extension_name == TENSORS]
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


def fronts(leaf: Leaf) -> Iterator[tuple[Front, memoryview] | None]:
    """Yield what the front of each directory says, and its bytes, all of them checked; None for a null.

    Raises:
        KilnError: A cell is malformed, with its row.
    """
    cells = leaf.cells
    seen: dict[tuple[int, int, int], Front] = {}
    index = 0
    try:
        if not cells.may_repeat:
            for data in cells:
                yield None if data is None else (read_whole(data), data)
                index += 1  # needed after the loop breaks off
            return
        for place, data in zip(cells.places(), cells, strict=True):
            if place is None or data is None:
                yield None
            else:
                front = seen.get(place)
                if front is None:
                    front = seen[place] = read_whole(data)
                yield front, data
            index += 1
    except KilnError as error:
        raise at_row(error, leaf, index) from None


def at_row(error: KilnError, leaf: Leaf, cell: int) -> KilnError:
    """Return the error of a cell with the cell's place in its column."""
    return error.placed(leaf.path, row=leaf.row(cell))


def bad_cells(leaf: Leaf) -> Iterator[KilnError]:
    """Yield the error of each malformed cell, one for a cell, with its row."""
    form = form_of(leaf.type.type_text) if leaf.type.extension_name == FRAME else None
    # Of cells that may be there more than once, each is read once.
    known: dict[tuple[int, int, int] | None, KilnError | None] = {}
    places = leaf.cells.places() if leaf.cells.may_repeat else iter([None] * len(leaf.cells))
    for index, (place, data) in enumerate(zip(places, leaf.cells, strict=True)):
        if data is None:
            continue
        if place is None or place not in known:
            known[place] = _error_of(data, form)
        error = known[place]
        if error is not None:
            yield at_row(error, leaf, index)


def _error_of(data: memoryview, form: Form | None) -> KilnError | None:
    try:
        if form is None:
            read_whole(data)
        else:
            form.check(data)
    except KilnError as error:
        return error
    return None
