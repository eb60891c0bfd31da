"""Small tables, and what comes back of them from a Parquet file in memory."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def column(array: Any) -> pa.Table:
    """A table of one column, `c`."""
    return pa.table({"c": array})


def through_parquet(table: pa.Table, **options: Any) -> pa.Table:
    """The table that is read of what is written of a table."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return pq.ParquetFile(sink).read()


def parquet_takes(table: pa.Table) -> bool:
    """Whether this pyarrow can write the table; the oldest cannot write null lists of a fixed size."""
    try:
        pq.write_table(table, io.BytesIO())
    except pa.ArrowNotImplementedError:
        return False
    return True
