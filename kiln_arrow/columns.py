"""Whole columns of tensors to and from NumPy (spec: in Arrow)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.arrays import as_numpy
from kiln_arrow.buffers import readable_bytes
from kiln_arrow.building import build
from kiln_arrow.cells import Leaf, bad_cells, cells_of, chunks_of, fronts, leaves, tensor_leaves
from kiln_arrow.decoder import Front, tensors_of
from kiln_arrow.directory import Directory, plan_of, read_whole
from kiln_arrow.encoder import Plan, Tensors, ordered, write
from kiln_arrow.errors import KilnError, shown
from kiln_arrow.extension import FRAME, TensorsType
from kiln_arrow.frame import frame, unframe
from kiln_arrow.uniform import Uniform, dense_strides, stacked, uniform

# Cells are filled about this many bytes at a time, so that what is written together is in the processor's cache.
_BLOCK = 1 << 19


def array(cells: Iterable[Any], *, type: Any = None) -> Any:  # noqa: A002  # pyarrow.array calls it so
    """Returns a column of one cell for each item, every one of them checked.

    Args:
        cells: For each row what `encode` takes, a `Directory` among it; or the bytes of a directory; or None for a
            null. With a `FrameType`, a value of the type or the bytes of a frame. An Arrow array of binary will do.
        type: `TensorsType`, the default, or `FrameType`, over any storage.

    Returns:
        A `TensorsArray` or `FrameArray`; a `pyarrow.ChunkedArray` where one chunk of the storage cannot hold all.

    Raises:
        KilnError: A cell is refused; `row` says which.

    Example:
        >>> import numpy, kiln_arrow
        >>> column = kiln_arrow.array([{"x": numpy.arange(3), "label": numpy.int64(7)}, None, {}])
        >>> column.to_pylist()
        [Directory('label': i64[], 'x': i64[3]), None, Directory()]
    """
    data_type = TensorsType() if type is None else type
    plans = [_plan_of_cell(cell, data_type, row) for row, cell in enumerate(cells)]
    lengths: NDArray[np.int64] = np.fromiter(map(_length, plans), np.int64, len(plans))

    def fill(memory: NDArray[np.uint8], first: int, last: int) -> None:
        target, at = memory.data, 0
        for plan in plans[first:last]:
            end = at + _length(plan)
            if isinstance(plan, tuple):
                write(plan, target[at:end])
            elif plan is not None:
                target[at:end] = plan
            at = end

    valid: NDArray[np.bool_] = np.fromiter((plan is not None for plan in plans), np.bool_, len(plans))
    return build(data_type, lengths, valid, fill)


def _encoded(cell: Any) -> memoryview | bytes | None:
    """Returns the bytes of a cell that comes encoded, else None."""
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, (bytearray, memoryview, pa.Buffer)):
        return readable_bytes(cell)
    if isinstance(cell, pa.Scalar):
        storage = cell.value if isinstance(cell, pa.ExtensionScalar) else cell
        return readable_bytes(storage.as_buffer())
    return None


def _plan_of_cell(cell: Any, data_type: Any, row: int) -> Plan | memoryview | bytes | None:
    """Returns a checked cell ready to be written: as bytes where it comes as bytes or is a frame."""
    if cell is None or (isinstance(cell, pa.Scalar) and not cell.is_valid):
        return None
    is_frame = data_type.extension_name == FRAME
    try:
        data = _encoded(cell)
        if data is None:
            return frame(data_type.type_text, cell) if is_frame else plan_of(cell)
        if is_frame:
            unframe(data_type.type_text, data)
        else:
            read_whole(data)
    except KilnError as error:
        error.row = row
        raise
    return data


def _length(plan: Plan | memoryview | bytes | None) -> int:
    if plan is None:
        return 0
    return plan[0].length if isinstance(plan, tuple) else len(plan)


def from_numpy(arrays: Tensors, *, mask: Any = None, type: Any = None) -> Any:  # noqa: A002  # pyarrow.array calls it so
    """Returns a column of one cell a row, made of arrays whose first axis is the row, with one copy of the data.

    Args:
        arrays: Name to array (n, …), or pairs of them, as for `encode`; row i of each goes into cell i.
        mask: bool[n], True for a row that is null, as `pyarrow.array` has it.
        type: `TensorsType` over any storage; the default is over binary.

    Returns:
        A `TensorsArray`; a `pyarrow.ChunkedArray` where one chunk of the storage cannot hold all.

    Raises:
        KilnError: As `encode`; rule `dims` when an array has no rows or another number of them.

    Example:
        >>> import numpy, kiln_arrow
        >>> column = kiln_arrow.from_numpy({"x": numpy.zeros((3, 224, 224)), "label": numpy.arange(3)})
        >>> column[2].as_py()
        Directory('label': i64[], 'x': f64[224, 224])
    """
    data_type = TensorsType() if type is None else type
    entries = ordered(arrays.tensors if isinstance(arrays, Directory) else arrays)
    sources = [(name, as_numpy(tensor, index, name)) for index, (_, name, tensor) in enumerate(entries)]
    count, valid = _rows_of(sources, mask)
    # What a row looks like, without one: there may be none, and no memory is spent on it.
    likeness = [(name, np.broadcast_to(np.zeros((), source.dtype), source.shape[1:])) for name, source in sources]
    (head, byte_offsets, length), payloads = plan_of(likeness, check_contents=False)
    for index, (name, source) in enumerate(sources):
        if source.dtype == np.bool_:
            _check_bools(source, valid, index, name)
    lengths = np.full(count, length, np.int64)
    if valid is not None:
        lengths[~valid] = 0

    def fill(memory: NDArray[np.uint8], first: int, last: int) -> None:
        picked = None if valid is None else np.flatnonzero(valid[first:last]) + first
        step = max(_BLOCK // length, 1)
        for at in range(0, len(memory) // length, step):
            block = memory[at * length : (at + step) * length].reshape(-1, length)
            rows = slice(first + at, first + at + len(block)) if picked is None else picked[at : at + step]
            block[:, : len(head)] = np.frombuffer(head, np.uint8)
            end = len(head)
            for (_, source), (dtype, dims, _, byte_length, _), byte_offset in zip(
                sources, payloads, byte_offsets, strict=True
            ):
                start = len(head) + byte_offset
                block[:, end:start] = 0
                end = start + byte_length
                if byte_length:
                    strides = (length, *dense_strides(dims, dtype.item_size))
                    target: NDArray[Any] = np.ndarray((len(block), *dims), dtype.numpy, block, start, strides)
                    target[...] = source[rows]
            block[:, end:] = 0

    return build(data_type, lengths, valid, fill)


def _rows_of(sources: list[tuple[Any, NDArray[Any]]], mask: Any) -> tuple[int, NDArray[np.bool_] | None]:
    """Returns how many rows all arrays and the mask have, and which rows are not null."""
    nulls = None if mask is None else np.asarray(mask)
    if nulls is not None and (nulls.dtype != np.bool_ or nulls.ndim != 1):
        raise KilnError("array", f"expected a mask bool[n], found {nulls.dtype} of shape {nulls.shape}")
    counts = [(name, source.shape[0] if source.ndim else None) for name, source in sources]
    if nulls is not None:
        counts.append(("mask", len(nulls)))
    if not counts:
        raise KilnError("entry", "expected at least one array, found none: how many rows there are is not known")
    count = counts[0][1]
    for index, (name, found) in enumerate(counts):
        if found is None or found != count:
            expected = f"{count} rows" if index and count is not None else "an array with rows"
            raise KilnError("dims", f"expected {expected}, found {found} in {shown(name)}", None, index, name)
    assert count is not None
    return count, None if nulls is None or not nulls.any() else ~nulls


def _check_bools(source: NDArray[Any], valid: NDArray[np.bool_] | None, index: int, name: str | None) -> None:
    bad = (source.view(np.uint8) > 1).any(axis=tuple(range(1, source.ndim)))
    if valid is not None:
        bad &= valid
    if bad.any():
        raise KilnError("bool", "expected bool bytes 0 or 1, found another", None, index, name, row=int(bad.argmax()))


def to_numpy(
    column: Any, *, nulls: Literal["raise", "mask"] = "raise", ragged: Literal["raise", "object"] = "raise"
) -> dict[Any, NDArray[Any]]:
    """Returns each tensor of a column as one array with the rows first, every cell checked.

    Where all cells have one form - the same names, dtypes and shapes - the arrays are read-only views of the column's
    buffer, with a stride of one cell. They are copied, and read-only all the same, where the column has several chunks,
    nulls, or bytes at addresses that do not suit the dtype.

    Args:
        column: A `kiln.tensors` Array or ChunkedArray, or a column of lists, maps or structs with one `kiln.tensors` in
            it. Then there is a row for each cell, in order: items of null lists are left out, and where a struct is
            null, so is what is in it. Whatever exports such a column by the Arrow C interface will do.
        nulls: `"raise"` refuses a column with nulls. `"mask"` returns `numpy.ma.MaskedArray`s whose null rows are
            masked, and zero underneath.
        ragged: `"raise"` refuses cells of several forms. `"object"` returns for such columns arrays of objects, each
            item the array of that row, or None where the row has no such tensor or is null.

    Returns:
        Name to array; the name of an unnamed tensor is None. Without a cell that is not null nothing is known of
        tensors, and the dict is empty.

    Raises:
        KilnError: A cell is malformed; a null (rule `null`) or a cell of another form (rule `ragged`) where they are
            refused; two unnamed tensors (rule `name`); an opaque tensor (rule `layout`). `row` says which row.

    Example:
        >>> import numpy, kiln_arrow
        >>> column = kiln_arrow.from_numpy({"x": numpy.arange(6).reshape(3, 2)})
        >>> kiln_arrow.to_numpy(column.slice(1))
        {'x': array([[2, 3],
               [4, 5]])}
    """
    if nulls not in ("raise", "mask") or ragged not in ("raise", "object"):
        raise ValueError(f"expected nulls 'raise' or 'mask', ragged 'raise' or 'object'; found {nulls!r}, {ragged!r}")
    found = tensor_leaves(column)
    mask = _mask(found)
    if nulls == "raise" and mask is not None:
        cell = int(mask.argmax())
        raise KilnError("null", "expected no nulls, found one; nulls='mask' takes them", row=_row_of(found, cell))
    blocks = [_block(leaf) for leaf in found if leaf.storage.null_count < len(leaf.storage)]
    if not blocks:
        return {}
    forms = {block.front.tensors for block in blocks if block is not None}
    if None not in blocks and len(forms) == 1:
        arrays = _joined([block for block in blocks if block is not None], mask)
    else:
        arrays = _objects(found, ragged)
    if nulls == "mask":
        return {name: _masked(array, mask) for name, array in arrays.items()}
    return arrays


def _mask(found: list[Leaf]) -> NDArray[np.bool_] | None:
    if not any(leaf.storage.null_count for leaf in found):
        return None
    parts = [leaf.storage.is_null().to_numpy(zero_copy_only=False) for leaf in found]
    mask: NDArray[np.bool_] = np.concatenate(parts)
    return mask


def _row_of(found: list[Leaf], cell: int) -> int:
    for leaf in found:
        if cell < len(leaf.storage):
            return leaf.row(cell)
        cell -= len(leaf.storage)
    raise IndexError(cell)


def _block(leaf: Leaf) -> Uniform | None:
    block = uniform(cells_of(leaf.storage))
    if block is None and leaf.storage.type == pa.binary_view():
        # Views may lie anywhere; side by side they are compared at once. That costs a copy, which raggedness may waste.
        lengths = cells_of(leaf.storage).lengths
        if len(lengths) and (lengths == lengths[0]).all():
            return uniform(cells_of(leaf.storage.cast(pa.large_binary())))
    return block


def _joined(blocks: list[Uniform], mask: NDArray[np.bool_] | None) -> dict[Any, NDArray[Any]]:
    """Returns the arrays of blocks of one form, nulls as rows of zeros between them."""
    _check_tensors(blocks[0].front, 0)
    parts = [stacked(block) for block in blocks]
    arrays: dict[Any, NDArray[Any]] = {}
    for index, (name, *_) in enumerate(blocks[0].front.tensors):
        pieces = [part[index] for part in parts]
        if mask is not None:
            array: NDArray[Any] = np.zeros((len(mask), *pieces[0].shape[1:]), pieces[0].dtype)
            array[~mask] = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        elif len(pieces) == 1:
            array = pieces[0]
        else:
            array = np.concatenate(pieces)
        array.flags.writeable = False
        arrays[name] = array
    return arrays


def _masked(array: NDArray[Any], mask: NDArray[np.bool_] | None) -> Any:
    rows = np.zeros(len(array), np.bool_) if mask is None else mask
    spread = np.broadcast_to(rows.reshape(-1, *[1] * (array.ndim - 1)), array.shape)
    return np.ma.MaskedArray(array, spread, copy=False)


def _objects(found: list[Leaf], ragged: str) -> dict[Any, NDArray[Any]]:
    count = sum(len(leaf.storage) for leaf in found)
    arrays: dict[Any, NDArray[Any]] = {}
    first: Front | None = None
    at = 0
    for leaf in found:
        for cell, entry in enumerate(fronts(leaf, cells_of(leaf.storage))):
            if entry is not None:
                front, data = entry
                row = leaf.row(cell)
                first = first or front
                if ragged == "raise" and front.tensors != first.tensors:
                    sentence = (
                        f"expected every cell like the first, {_form(first)}, found {_form(front)}; "
                        "ragged='object' takes them"
                    )
                    raise KilnError("ragged", sentence, row=row)
                _check_tensors(front, row)
                for name, tensor in tensors_of(front, data, 0, copy=None):
                    if name not in arrays:
                        arrays[name] = np.empty(count, object)
                    arrays[name][at + cell] = tensor
        at += len(leaf.storage)
    if first is not None and ragged == "raise":
        # One form after all, in places that do not lie evenly.
        return {name: _stack(objects) for name, objects in arrays.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


def _stack(objects: NDArray[Any]) -> NDArray[Any]:
    likeness = next(tensor for tensor in objects if tensor is not None)
    array: NDArray[Any] = np.zeros((len(objects), *likeness.shape), likeness.dtype)
    for index, tensor in enumerate(objects):
        if tensor is not None:
            array[index] = tensor
    array.flags.writeable = False
    return array


def _form(front: Front) -> str:
    tensors = ", ".join(f"{shown(name)}: {dtype}{list(dims)}" for name, dtype, dims, *_ in front.tensors[:8])
    return f"({tensors}{', …' if len(front.tensors) > 8 else ''})"


def _check_tensors(front: Front, row: int) -> None:
    """Refuses what a dict of arrays cannot hold."""
    unnamed = False
    for index, (name, _, _, layout, _, _) in enumerate(front.tensors):
        if layout is not None:
            sentence = f"expected plain arrays, found layout {shown(layout)}; iter_tensors gives it"
            raise KilnError("layout", sentence, None, index, name, row=row)
        if name is None and unnamed:
            sentence = "expected at most one unnamed tensor in a cell, found another; iter_tensors gives them"
            raise KilnError("name", sentence, None, index, row=row)
        unnamed |= name is None


def iter_tensors(column: Any) -> Iterator[Directory | None]:
    """Yields the tensors of each cell as read-only views, None for a null; each cell is checked when its turn comes.

    Args:
        column: As for `to_numpy`.

    Raises:
        KilnError: A cell is malformed; or the Arrow array points outside its buffers (rule `arrow`).

    Example:
        >>> import numpy, kiln_arrow
        >>> column = kiln_arrow.array([{"x": numpy.arange(3)}, {"y": numpy.zeros((2, 2))}])
        >>> [list(directory) for directory in kiln_arrow.iter_tensors(column)]
        [['x'], ['y']]
    """
    for leaf in tensor_leaves(column):
        for entry in fronts(leaf, cells_of(leaf.storage)):
            yield None if entry is None else Directory.from_bytes(*entry, 0)


def validate_column(column: Any) -> None:
    """Checks every Kiln cell of a column, directories and frames at any depth; returns nothing.

    Args:
        column: An Array or ChunkedArray of any type, or whatever exports one by the Arrow C interface.

    Raises:
        KilnError: The first malformed cell, with its `row`; or the Arrow array points outside its buffers (rule
            `arrow`).

    Example:
        >>> import pyarrow, kiln_arrow
        >>> column = kiln_arrow.TensorsType().wrap_array(pyarrow.array([kiln_arrow.encode({}), b"KLNT"]))
        >>> try:
        ...     kiln_arrow.validate_column(column)
        ... except kiln_arrow.KilnError as error:
        ...     print(error.row, error.rule)
        1 eof
    """
    for error in column_errors(column):
        raise error


def column_errors(column: Any) -> Iterator[KilnError]:
    """Yields the error of each malformed cell of a column, as `validate_column` would raise it."""
    base = 0
    for chunk in chunks_of(column):
        for leaf in leaves(chunk):
            if leaf.type.extension_name != FRAME and uniform(cells_of(leaf.storage)) is not None:
                continue
            for error in bad_cells(leaf):
                assert error.row is not None
                error.row += base
                yield error
        base += len(chunk)
