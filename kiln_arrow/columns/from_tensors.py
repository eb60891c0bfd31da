"""Columns made from cells, and from arrays whose first axis is the row (spec: in Arrow)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.canonical.arrays import as_numpy
from kiln_arrow.canonical.buffers import readable_bytes
from kiln_arrow.canonical.directory import Directory, plan_of, read_whole
from kiln_arrow.canonical.encoder import Plan, Tensors, ordered, write
from kiln_arrow.canonical.frame import form_of, frame
from kiln_arrow.columns.cells import cells_of, require_room
from kiln_arrow.columns.extension_types import FRAME, STORAGES, TENSORS, TensorsType, is_kiln
from kiln_arrow.columns.producers import chunks_of
from kiln_arrow.columns.storage_arrays import build
from kiln_arrow.columns.uniform import dense_strides
from kiln_arrow.errors import KilnError, shown
from kiln_arrow.foreign.structure import all_slots, is_encoded, looked_up, require_lengths
from kiln_arrow.limits import Budget

__all__ = [
    "array",
    "from_numpy",
]

# Cells are filled about this many bytes at a time, so that what is written together is in the processor's cache.
_BLOCK = 1 << 19


def array(cells: Iterable[Any], *, type: Any = None) -> Any:  # noqa: A002  # pyarrow.array calls it so
    """Return a column of one cell for each item, every one of them checked.

    Args:
        cells: For each row what `encode` takes, a `Directory` among it; or the bytes of a directory; or None for a
            null. With a `FrameType`, a value of the type or the bytes of a frame. An Arrow array of binary will do.
        type: `TensorsType`, the default, or `FrameType`, over any storage.

    Returns:
        A `TensorsArray` or `FrameArray`; a `pyarrow.ChunkedArray` where one chunk of the storage cannot hold all.

    Raises:
        KilnError: A cell is refused; `row` says which.

    >>> import numpy, kiln_arrow
    >>> column = kiln_arrow.array([{"x": numpy.arange(3), "label": numpy.int64(7)}, None, {}])
    >>> column.to_pylist()
    [Directory('label': i64[], 'x': i64[3]), None, Directory()]
    """
    data_type = _checked_type(type, (TENSORS, FRAME))
    if isinstance(cells, (pa.Array, pa.ChunkedArray)):
        cells = _cells_of_arrow(cells)
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


def _cells_of_arrow(column: Any) -> Iterator[memoryview | None]:
    """Yield the bytes of each cell of a column of bytes or of cells, dictionaries and runs looked up."""
    budget = Budget()
    for chunk in chunks_of(column)[1]:
        require_lengths(chunk)
        all_slots(chunk, budget)
        array, at = chunk, None
        while is_encoded(array.type):
            array, at = looked_up(array, at)
        storage = array.storage if is_kiln(array.type) else array
        if storage.type not in STORAGES:
            raise KilnError("arrow_type", f"expected a column of bytes, found {column.type!s:.200}")
        cells = cells_of(storage, at)
        require_room(cells, budget)
        yield from cells


def _checked_type(data_type: Any, names: tuple[str, ...]) -> Any:
    if data_type is None:
        return TensorsType()
    if not is_kiln(data_type) or data_type.extension_name not in names:
        raise KilnError("arrow_type", f"expected {' or '.join(names)}, found {data_type!s:.200}")
    return data_type


def _encoded(cell: Any) -> memoryview | bytes | None:
    """Return the bytes of a cell that comes encoded, else None."""
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, (bytearray, memoryview, pa.Buffer)):
        return readable_bytes(cell)
    if isinstance(cell, pa.Scalar):
        storage = cell.value if isinstance(cell, pa.ExtensionScalar) else cell
        if storage.type not in STORAGES:
            raise KilnError("entry", f"expected a scalar of bytes, found one of {cell.type!s:.80}")
        return readable_bytes(storage.as_buffer())
    return None


def _plan_of_cell(cell: Any, data_type: Any, row: int) -> Plan | memoryview | bytes | None:
    """Return a checked cell ready to be written: as bytes where it comes as bytes or is a frame."""
    if cell is None or (isinstance(cell, pa.Scalar) and not cell.is_valid):
        return None
    is_frame = data_type.extension_name == FRAME
    try:
        data = _encoded(cell)
        if data is None:
            return frame(data_type.type_text, cell) if is_frame else plan_of(cell)
        if is_frame:
            form_of(data_type.type_text).check(readable_bytes(data))
        else:
            read_whole(data)
    except KilnError as error:
        raise error.placed(row=row) from error.__cause__
    return data


def _length(plan: Plan | memoryview | bytes | None) -> int:
    if plan is None:
        return 0
    return plan[0].length if isinstance(plan, tuple) else len(plan)


def from_numpy(arrays: Tensors, *, mask: Any = None, type: Any = None) -> Any:  # noqa: A002  # pyarrow.array calls it so
    """Return a column of one cell a row, made of arrays whose first axis is the row, with one copy of the data.

    Args:
        arrays: Name to array (n, …), or pairs of them, as for `encode`; row i of each goes into cell i.
        mask: bool[n], True for a row that is null, as `pyarrow.array` has it.
        type: `TensorsType` over any storage; the default is over binary.

    Returns:
        A `TensorsArray`; a `pyarrow.ChunkedArray` where one chunk of the storage cannot hold all.

    Raises:
        KilnError: As `encode`; rule `dims` when an array has no rows or another number of them.

    >>> import numpy, kiln_arrow
    >>> column = kiln_arrow.from_numpy({"x": numpy.zeros((3, 224, 224)), "label": numpy.arange(3)})
    >>> column[2].as_py()
    Directory('label': i64[], 'x': f64[224, 224])
    """
    data_type = _checked_type(type, (TENSORS,))
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
    """Return how many rows all arrays and the mask have, and which rows are not null."""
    nulls = None if mask is None else as_numpy(mask if hasattr(mask, "__array__") else np.asarray(mask), 0, "mask")
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
            raise KilnError("dims", f"expected {expected}, found {found} in {shown(name)}", tensor=index, name=name)
    assert count is not None
    return count, None if nulls is None or not nulls.any() else ~nulls


def _check_bools(source: NDArray[Any], valid: NDArray[np.bool_] | None, index: int, name: str | None) -> None:
    bad = (source.view(np.uint8) > 1).any(axis=tuple(range(1, source.ndim)))
    if valid is not None:
        bad &= valid
    if bad.any():
        raise KilnError(
            "bool", "expected bool bytes 0 or 1, found another", tensor=index, name=name, row=int(bad.argmax())
        )
