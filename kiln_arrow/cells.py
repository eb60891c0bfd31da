"""The cells of a column: where the bytes of each lie, once all of them are known to be there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.decoder import Front
from kiln_arrow.directory import read_whole
from kiln_arrow.errors import KilnError
from kiln_arrow.extension import FRAME, TENSORS, buffer_view, check_structure, is_kiln, name_of, without_text
from kiln_arrow.frame import unframe

# A binary view of up to this many bytes holds them itself, after its length.
_INLINE_VIEW, _INLINE_AT, _VIEW_SIZE = 12, 4, 16


@dataclass(frozen=True)
class Cells:
    """Where the bytes of each cell of a storage array lie.

    Attributes:
        buffers: Read-only views of what holds bytes.
        which: Index in `buffers` of each cell's, or None where there is one buffer.
        starts: int64[n], where each cell begins in its buffer.
        lengths: int64[n], how many bytes it has.
        valid: bool[n], or None where no cell is null. Lengths and starts of nulls say nothing.
    """

    buffers: list[memoryview]
    which: NDArray[np.int64] | None
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    valid: NDArray[np.bool_] | None

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[memoryview | None]:
        """Yields the bytes of each cell, None for a null."""
        if self.which is None and self.valid is None:  # the common case, and the quick one
            (buffer,) = self.buffers
            ends = self.starts + self.lengths
            for start, end in zip(self.starts.tolist(), ends.tolist(), strict=True):
                yield buffer[start:end]
            return
        which = np.zeros(len(self), np.int64) if self.which is None else self.which
        valid = np.ones(len(self), np.bool_) if self.valid is None else self.valid
        rows = (which.tolist(), self.starts.tolist(), self.lengths.tolist(), valid.tolist())
        for index, start, length, present in zip(*rows, strict=True):
            yield self.buffers[index][start : start + length] if present else None


def cells_of(storage: pa.Array) -> Cells:
    """Returns the cells of a binary, large_binary or binary_view array whose structure was checked."""
    valid = None if storage.null_count == 0 else storage.is_valid().to_numpy(zero_copy_only=False)
    buffers, count, first = storage.buffers(), len(storage), storage.offset
    if count == 0:
        nothing: NDArray[np.int64] = np.zeros(0, np.int64)
        return Cells([memoryview(b"")], None, nothing, nothing, None)
    if storage.type == pa.binary_view():
        return _view_cells(buffers, count, first, valid)
    dtype: np.dtype[Any] = np.dtype("<i4" if storage.type == pa.binary() else "<i8")
    offsets: NDArray[Any] = np.frombuffer(buffer_view(buffers[1]), dtype, count + 1, first * dtype.itemsize)
    starts = offsets[:-1].astype(np.int64)
    return Cells([buffer_view(buffers[2])], None, starts, offsets[1:] - starts, valid)


def _view_cells(buffers: list[Any], count: int, first: int, valid: NDArray[np.bool_] | None) -> Cells:
    inline = buffer_view(buffers[1])
    views: NDArray[np.int32] = np.frombuffer(inline, "<i4", count * 4, first * _VIEW_SIZE).reshape(count, 4)
    lengths, which, starts = (views[:, column].astype(np.int64) for column in (0, 2, 3))
    short = lengths <= _INLINE_VIEW
    which += 1  # the views themselves are the first buffer, for what they hold
    which[short] = 0
    starts[short] = (np.arange(first, first + count) * _VIEW_SIZE + _INLINE_AT)[short]
    return Cells([inline, *map(buffer_view, buffers[2:])], which, starts, lengths, valid)


class Leaf(NamedTuple):
    """One array of cells below a column.

    `rows` has the column's row of each cell, None where it is the cell's own index. Cells below a null list are left
    out, those below a null struct are null.
    """

    path: str
    type: pa.DataType
    storage: pa.Array
    rows: NDArray[np.int64] | None

    def row(self, cell: int) -> int:
        """Returns the column's row that a cell belongs to."""
        return cell if self.rows is None else int(self.rows[cell])


def leaves(array: pa.Array) -> list[Leaf]:
    """Returns every array of Kiln cells in a column, however deep it lies, with its structure checked.

    Raises:
        KilnError: The array points outside its buffers; rule `arrow`.
    """
    if not has_kiln(array.type):
        return []
    check_structure(array)
    return list(_leaves(array, "", None))


def has_kiln(data_type: pa.DataType) -> bool:
    """Returns whether a type is one of Kiln's or has one in it."""
    if is_kiln(data_type):
        return True
    if isinstance(data_type, pa.BaseExtensionType):
        return has_kiln(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return has_kiln(data_type.value_type)
    return any(has_kiln(data_type.field(index).type) for index in range(data_type.num_fields))


def _leaves(array: pa.Array, path: str, rows: NDArray[np.int64] | None) -> Iterator[Leaf]:
    kind, types = array.type, pa.types
    if is_kiln(kind):
        yield Leaf(path, kind, array.storage, rows)
    elif not has_kiln(kind):
        return
    elif isinstance(kind, pa.BaseExtensionType):
        yield from _leaves(array.storage, path, rows)
    elif types.is_struct(kind):
        for index, child in enumerate(array.flatten()):
            yield from _leaves(child, _joined(path, name_of(kind.field(index))), rows)
    elif types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        yield from _leaves(decoded(array), path, rows)
    else:
        items, counts = flattened(array)
        above: NDArray[np.int64] = np.arange(len(array)) if rows is None else rows
        for child, name in items:
            yield from _leaves(child, _joined(path, name), np.repeat(above, counts))


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def flattened(array: pa.Array) -> tuple[list[tuple[pa.Array, str]], NDArray[np.int64]]:
    """Returns the items of all lists of a list array or map array, and how many each list has: none where it is null.

    The items come with the name that Parquet gives them; those of a map as two arrays, its keys and its values.
    """
    starts, counts = _list_places(array)
    # Cut out by hand, as pyarrow's kernel that flattens lists corrupts what lies over binary_view.
    there = np.flatnonzero(counts)
    starts_there, counts_there = starts[there], counts[there]
    breaks = np.flatnonzero(starts_there[1:] != starts_there[:-1] + counts_there[:-1]) + 1
    runs = [
        array.values.slice(int(firsts[0]), int(sizes.sum()))
        for firsts, sizes in zip(np.split(starts_there, breaks), np.split(counts_there, breaks), strict=True)
        if len(firsts)
    ]
    items = runs[0] if len(runs) == 1 else pa.concat_arrays(runs) if runs else array.values.slice(0, 0)
    if pa.types.is_map(array.type):
        return [(items.field(0), "key"), (items.field(1), "value")], counts
    return [(items, "element")], counts


def _list_places(array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns where the items of each list begin, and how many there are: none where it is null."""
    types = pa.types
    if types.is_fixed_size_list(array.type):
        size = array.type.list_size
        starts = np.arange(array.offset, array.offset + len(array), dtype=np.int64) * size
        counts = np.full(len(array), size, np.int64)
    elif types.is_list_view(array.type) or types.is_large_list_view(array.type):
        starts, counts = (part.to_numpy().astype(np.int64) for part in (array.offsets, array.sizes))
    else:
        offsets = array.offsets.to_numpy().astype(np.int64)
        starts, counts = offsets[:-1], np.diff(offsets)
    if array.null_count:
        counts[~array.is_valid().to_numpy(zero_copy_only=False)] = 0
    return starts, counts


def decoded(array: pa.Array) -> pa.Array:
    """Returns a dictionary or run-end encoded array as a plain array of its values."""
    if pa.types.is_dictionary(array.type):
        values, indices = array.dictionary, array.indices
    else:
        values = array.values
        ends = array.run_ends.to_numpy()
        indices = pa.array(np.searchsorted(ends, np.arange(array.offset, array.offset + len(array)), side="right"))
    if without_text(values.type) != pa.binary_view():
        return values.take(indices)
    # pyarrow cannot take from views.
    return values.view(pa.binary_view()).cast(pa.large_binary()).take(indices).cast(pa.binary_view()).view(values.type)


def chunks_of(column: Any) -> list[pa.Array]:
    """Returns the arrays of a column: an Array, a ChunkedArray, or what any Arrow producer exports as one.

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
        return [column]
    if isinstance(column, pa.ChunkedArray):
        chunks: list[pa.Array] = column.chunks
        return chunks
    raise TypeError(f"expected an Arrow array or chunked array, found {type(column).__name__}")


def tensor_leaves(column: Any) -> list[Leaf]:
    """Returns the one array of directories in each chunk of a column, its rows counted through the whole column.

    Raises:
        KilnError: The column has no `kiln.tensors` in it, or several; or it points outside its buffers.
    """
    found: list[Leaf] = []
    base = 0
    chunks = chunks_of(column)
    for array in chunks:
        _require_one(array.type)
        (leaf,) = [leaf for leaf in leaves(array) if leaf.type.extension_name == TENSORS]
        rows = np.arange(len(leaf.storage)) if leaf.rows is None else leaf.rows
        found.append(leaf if base == 0 else leaf._replace(rows=rows + base))
        base += len(array)
    if not chunks and isinstance(column, pa.ChunkedArray):
        _require_one(column.type)
    return found


def _require_one(data_type: pa.DataType) -> None:
    count = _count_tensors(data_type)
    if count != 1:
        sentence = f"expected a column with one kiln.tensors in it, found {count} in {data_type!s:.200}"
        if count == 0 and "binary" in str(data_type):
            sentence += "; from_storage turns plain bytes into tensors"
        raise KilnError("arrow_type", sentence)


def _count_tensors(data_type: pa.DataType) -> int:
    if is_kiln(data_type):
        return int(data_type.extension_name == TENSORS)
    if isinstance(data_type, pa.BaseExtensionType):
        return _count_tensors(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return _count_tensors(data_type.value_type)
    return sum(_count_tensors(data_type.field(index).type) for index in range(data_type.num_fields))


def fronts(leaf: Leaf, cells: Cells) -> Iterator[tuple[Front, memoryview] | None]:
    """Yields what the front of each directory says, and its bytes, all of them checked; None for a null.

    Raises:
        KilnError: A cell is malformed, with its row.
    """
    index = 0
    try:
        for data in cells:
            yield None if data is None else (read_whole(data), data)
            index += 1  # needed after the loop breaks off
    except KilnError as error:
        raise at_row(error, leaf, index) from None


def at_row(error: KilnError, leaf: Leaf, cell: int) -> KilnError:
    """Returns the error of a cell with the cell's place in its column."""
    error.row = leaf.row(cell)
    if leaf.path:
        error.path = leaf.path + (f".{error.path}" if error.path[:1] not in ("", "[") else error.path)
    return error


def bad_cells(leaf: Leaf) -> Iterator[KilnError]:
    """Yields the error of each malformed cell, one for a cell, with its row."""
    for index, data in enumerate(cells_of(leaf.storage)):
        if data is None:
            continue
        try:
            if leaf.type.extension_name == FRAME:
                unframe(leaf.type.type_text, data)
            else:
                read_whole(data)
        except KilnError as error:
            yield at_row(error, leaf, index)
