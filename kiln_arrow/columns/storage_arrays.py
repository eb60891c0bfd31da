"""Storage arrays filled in place: offsets, one buffer of cells, as many chunks as the storage needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.errors import KilnError

__all__ = [
    "LIMIT",
    "build",
    "runs_within",
]

LIMIT = (1 << 31) - 1
"""Bytes that one chunk of binary, or one buffer of binary_view, can hold; also what Parquet can hold in a value."""


def build(
    data_type: Any,
    lengths: NDArray[np.int64],
    valid: NDArray[np.bool_] | None,
    write: Callable[[NDArray[np.uint8], int, int], None],
) -> Any:
    """Return an array of the extension type, or a chunked array where one chunk cannot hold all.

    Args:
        data_type: `TensorsType` or `FrameType`.
        lengths: Bytes of each cell, 0 for a null.
        valid: Which cells are not null, None for all.
        write: Called with the memory, first and last of the cells (the last not included) that are to be written there,
            one after another. Nulls among them take no bytes.

    Raises:
        KilnError: A cell of 2 GiB or more for a storage that cannot hold it; rule `size`, with the row.
    """
    storage = data_type.storage_type
    limit = None if storage == pa.large_binary() else LIMIT
    if limit is not None and lengths.max(initial=0) > limit:
        row = int((lengths > limit).argmax())
        sentence = f"expected a cell below 2 GiB for {storage}, found {lengths[row]} bytes; large_binary can hold it"
        raise KilnError("size", sentence, row=row)
    runs = list(runs_within(lengths, limit))
    if storage == pa.binary_view():
        return data_type.wrap_array(_views(lengths, valid, runs, write))
    arrays = [_plain(storage, lengths, valid, run, write) for run in runs]
    chunks = [data_type.wrap_array(array) for array in arrays]
    return chunks[0] if len(chunks) == 1 else pa.chunked_array(chunks, data_type)


def runs_within(lengths: NDArray[np.int64], limit: int | None) -> Iterator[tuple[int, int]]:
    """Yield first and last of the cells that go together, as many as the limit allows."""
    if limit is None or lengths.sum() <= limit:
        yield 0, len(lengths)
        return
    ends = np.cumsum(lengths)
    first = before = 0
    while first < len(lengths):
        last = int(np.searchsorted(ends, before + limit, side="right"))
        yield first, last
        first, before = last, int(ends[last - 1])


def _filled(size: int, first: int, last: int, write: Callable[[NDArray[np.uint8], int, int], None]) -> pa.Buffer:
    memory = pa.allocate_buffer(size)  # begins at a whole line, so that payloads lie at whole lines too
    write(np.frombuffer(memory, np.uint8), first, last)
    return pa.foreign_buffer(memory.address, size, memory)  # the same, but nobody writes to it any more


def _bitmap(valid: NDArray[np.bool_] | None) -> pa.Buffer | None:
    return None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


def _plain(storage: pa.DataType, lengths: Any, valid: Any, run: tuple[int, int], write: Any) -> pa.Array:
    first, last = run
    offsets = np.zeros(last - first + 1, np.int32 if storage == pa.binary() else np.int64)
    np.cumsum(lengths[first:last], out=offsets[1:])
    data = _filled(int(offsets[-1]), first, last, write)
    bitmap = _bitmap(None if valid is None else valid[first:last])
    return pa.Array.from_buffers(storage, last - first, [bitmap, pa.py_buffer(offsets), data])


def _views(lengths: Any, valid: Any, runs: list[tuple[int, int]], write: Any) -> pa.Array:
    # A cell is longer than what a view holds itself; nulls are views of nothing.
    views = np.zeros(len(lengths), [("length", "<i4"), ("prefix", "S4"), ("buffer", "<i4"), ("offset", "<i4")])
    buffers = []
    for index, (first, last) in enumerate(runs):
        size = int(lengths[first:last].sum())
        data = _filled(size, first, last, write)
        offsets = np.cumsum(lengths[first:last]) - lengths[first:last]
        present = lengths[first:last] > 0
        run = views[first:last]
        run["length"] = lengths[first:last]
        run["buffer"][present], run["offset"][present] = index, offsets[present]
        prefixes: NDArray[Any] = np.frombuffer(data, np.uint8)[offsets[present, None] + np.arange(4)]
        run["prefix"][present] = prefixes.reshape(-1).view("S4") if len(prefixes) else b""
        buffers.append(data)
    return pa.Array.from_buffers(pa.binary_view(), len(lengths), [_bitmap(valid), pa.py_buffer(views), *buffers])
