"""Whole columns of tensors to NumPy, and the check of whole columns (spec: in Arrow)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kiln_arrow.canonical.decoder import Front, tensors_of
from kiln_arrow.canonical.directory import Directory
from kiln_arrow.columns.cells import CellArray, require_room
from kiln_arrow.columns.checked_cells import bad_cells, fronts
from kiln_arrow.columns.extension_types import FRAME
from kiln_arrow.columns.nested import cell_arrays, has_kiln, hint_of_storage, tensor_cell_arrays
from kiln_arrow.columns.producers import chunks_of
from kiln_arrow.columns.uniform import Uniform, stacked, uniform
from kiln_arrow.errors import KilnError, shown
from kiln_arrow.limits import Budget

__all__ = [
    "column_errors",
    "iter_tensors",
    "to_numpy",
    "validate_column",
]


def to_numpy(
    column: Any, *, nulls: Literal["raise", "mask"] = "raise", ragged: Literal["raise", "object"] = "raise"
) -> dict[Any, NDArray[Any]]:
    """Return each tensor of a column as one array with the rows first, every cell checked.

    Where all cells have one form (the same names, dtypes and shapes), the arrays are read-only views of the column's
    buffer, with a stride of one cell. They are copied, and read-only all the same, where the column has several chunks,
    nulls, or bytes at addresses that do not suit the dtype.

    Args:
        column: A `kiln.tensors` Array or ChunkedArray, or a column of lists, maps or structs with one `kiln.tensors` in
            it. Then there is a row for each cell, in order: items of null lists are left out, and where a struct is
            null, so is what is in it. Whatever exports such a column by the Arrow C interface will do.
        nulls: `"raise"` refuses a column with nulls. `"mask"` returns arrays of `numpy.ma.MaskedArray` whose null
            rows are masked, and zero underneath.
        ragged: `"raise"` refuses cells of several forms. `"object"` returns for such columns arrays of objects, each
            item the array of that row, or None where the row has no such tensor or is null.

    Returns:
        Name to array; the name of an unnamed tensor is None. Without a cell that is not null nothing is known of
        tensors, and the dict is empty.

    Raises:
        KilnError: A cell is malformed; a null (rule `null`) or a cell of another form (rule `ragged`) where they are
            refused; two unnamed tensors (rule `name`); an opaque tensor (rule `layout`). `row` says which row.

    >>> import numpy, kiln_arrow
    >>> column = kiln_arrow.from_numpy({"x": numpy.arange(6).reshape(3, 2)})
    >>> kiln_arrow.to_numpy(column.slice(1))
    {'x': array([[2, 3],
           [4, 5]])}
    """
    if nulls not in ("raise", "mask") or ragged not in ("raise", "object"):
        raise ValueError(f"expected nulls 'raise' or 'mask', ragged 'raise' or 'object'; found {nulls!r}, {ragged!r}")
    budget = Budget()
    found = tensor_cell_arrays(column, budget)
    mask = _mask(found)
    if nulls == "raise" and mask is not None:
        cell = int(mask.argmax())
        raise KilnError("null", "expected no nulls, found one; nulls='mask' takes them", row=_row_of(found, cell))
    blocks = [_block(leaf, budget) for leaf in found if leaf.cells.null_count < len(leaf.cells)]
    if not blocks:
        return {}
    forms = {block.front.tensors for block in blocks if block is not None}
    if None not in blocks and len(forms) == 1:
        arrays = _joined([block for block in blocks if block is not None], mask)
    else:
        arrays = _objects(found, ragged, budget)
    if nulls == "mask":
        return {name: _masked(array, mask) for name, array in arrays.items()}
    return arrays


def _mask(found: list[CellArray]) -> NDArray[np.bool_] | None:
    if not any(leaf.cells.null_count for leaf in found):
        return None
    parts = [np.zeros(len(leaf.cells), np.bool_) if leaf.cells.valid is None else ~leaf.cells.valid for leaf in found]
    mask: NDArray[np.bool_] = np.concatenate(parts)
    return mask


def _row_of(found: list[CellArray], cell: int) -> int:
    for leaf in found:
        if cell < len(leaf.cells):
            return leaf.row(cell)
        cell -= len(leaf.cells)
    raise IndexError(cell)


def _block(leaf: CellArray, budget: Budget) -> Uniform | None:
    block = uniform(leaf.cells)
    if block is None and leaf.cells.may_repeat:
        # Cells may lie anywhere; side by side they are compared at once. That costs a copy, which raggedness may waste.
        lengths = leaf.cells.lengths if leaf.cells.valid is None else leaf.cells.lengths[leaf.cells.valid]
        if (lengths == lengths[0]).all():
            return uniform(leaf.cells.side_by_side(budget))
    return block


def _joined(blocks: list[Uniform], mask: NDArray[np.bool_] | None) -> dict[Any, NDArray[Any]]:
    """Return the arrays of blocks of one form, nulls as rows of zeros between them."""
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


def _objects(found: list[CellArray], ragged: str, budget: Budget) -> dict[Any, NDArray[Any]]:
    count = sum(len(leaf.cells) for leaf in found)
    arrays: dict[Any, NDArray[Any]] = {}
    first: Front | None = None
    is_ragged = False
    at = 0
    for leaf in found:
        for cell, entry in enumerate(fronts(leaf)):
            if entry is not None:
                front, data = entry
                row = leaf.row(cell)
                first = first or front
                is_ragged |= front.tensors != first.tensors
                if is_ragged and ragged == "raise":
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
        at += len(leaf.cells)
    if not is_ragged:
        for leaf in found:
            require_room(leaf.cells, budget)
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
    """Refuse what a dict of arrays cannot hold."""
    unnamed = False
    for index, (name, _, _, layout, _, _) in enumerate(front.tensors):
        if layout is not None:
            sentence = f"expected plain arrays, found layout {shown(layout)}; iter_tensors gives it"
            raise KilnError("layout", sentence, tensor=index, name=name, row=row)
        if name is None and unnamed:
            sentence = "expected at most one unnamed tensor in a cell, found another; iter_tensors gives them"
            raise KilnError("name", sentence, tensor=index, row=row)
        unnamed |= name is None


def iter_tensors(column: Any) -> Iterator[Directory | None]:
    """Yield the tensors of each cell as read-only views, None for a null; each cell is checked when its turn comes.

    Args:
        column: As for `to_numpy`.

    Raises:
        KilnError: A cell is malformed; or the Arrow array points outside its buffers (rule `arrow`).

    >>> import numpy, kiln_arrow
    >>> column = kiln_arrow.array([{"x": numpy.arange(3)}, {"y": numpy.zeros((2, 2))}])
    >>> [list(directory) for directory in kiln_arrow.iter_tensors(column)]
    [['x'], ['y']]
    """
    for leaf in tensor_cell_arrays(column, Budget()):
        for entry in fronts(leaf):
            yield None if entry is None else Directory.from_bytes(*entry, 0)


def validate_column(column: Any) -> None:
    """Check every Kiln cell of a column, directories and frames at any depth; returns nothing.

    Args:
        column: An Array or ChunkedArray with `kiln.tensors` or `kiln.frame` in it at any depth, or whatever exports
            one by the Arrow C interface.

    Raises:
        KilnError: The first malformed cell, with its `row`; the column has no Kiln cells in it, so that nothing could
            be checked (rule `arrow_type`); or the Arrow array points outside its buffers (rule `arrow`).

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
    """Yield the error of each malformed cell of a column, as `validate_column` would raise it."""
    data_type, chunks = chunks_of(column)
    if not has_kiln(data_type):
        sentence = f"expected a column with Kiln cells in it, found {data_type!s:.200}{hint_of_storage(data_type)}"
        raise KilnError("arrow_type", sentence)
    budget = Budget()
    base = 0
    for chunk in chunks:
        for leaf in cell_arrays(chunk, budget):
            if leaf.type.extension_name != FRAME and uniform(leaf.cells) is not None:
                continue
            for error in bad_cells(leaf):
                assert error.row is not None
                yield error.placed(row=error.row + base) if base else error
        base += len(chunk)
