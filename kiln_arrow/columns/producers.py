"""Columns of any producer, as Arrow arrays."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

__all__ = [
    "chunks_of",
]


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
