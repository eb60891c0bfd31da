"""What exports Arrow data, as types: the Arrow PyCapsule interface.

pyarrow, polars, DuckDB, pandas and others implement it. https://arrow.apache.org/docs/format/CDataInterface.html
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["ArrowArrayExportable", "ArrowSchemaExportable", "ArrowStreamExportable"]


class ArrowSchemaExportable(Protocol):
    """Exports a schema or a data type, as `pyarrow.Schema` and `pyarrow.DataType` do."""

    def __arrow_c_schema__(self) -> object:
        """Return a capsule that holds the schema."""


class ArrowArrayExportable(Protocol):
    """Exports one array or record batch, as `pyarrow.RecordBatch` does."""

    def __arrow_c_array__(self, requested_schema: object | None = None, /) -> tuple[object, object]:
        """Return two capsules, which hold the schema and the array."""


class ArrowStreamExportable(Protocol):
    """Exports arrays or record batches one after another, as tables and data frames do."""

    def __arrow_c_stream__(self, requested_schema: object | None = None, /) -> object:
        """Return a capsule that holds the stream."""
