"""Parquet and Arrow files, told apart by their first bytes, as batches of moderate size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from kiln_arrow.cells import has_kiln
from kiln_arrow.extension import STORAGES, TensorsType

# About as much is in memory at a time.
_BATCH_BYTES = 64 << 20
_BATCH_ROWS = 1024


class UnreadableError(ValueError):
    """A file that is neither Parquet nor Arrow, or not whole, or without the column that is asked for."""


class Source(NamedTuple):
    """An open file: its schema, how many rows it has if it says so, and its batches."""

    schema: pa.Schema
    row_count: int | None
    batches: Iterator[pa.RecordBatch]


@contextmanager
def opened(path: str, column: str | None) -> Iterator[Source]:
    """Opens a file for its Kiln columns; a column that is named may be plain bytes, which are taken for directories.

    Raises:
        UnreadableError: Here, or when the batches are read.
    """
    try:
        with pa.OSFile(str(path)) as file:
            magic = file.read(6)
            file.seek(0)
            schema, row_count, batches = _reader(file, magic)
            names = _names(schema, column)
            yield Source(schema, row_count, _chosen(batches(names), names))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:  # the last of names that are no text
        raise UnreadableError(f"{path}: {_first_line(error)}") from error
    except UnreadableError as error:
        raise UnreadableError(f"{path}: {error}") from error


def _first_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return str(error).partition("\n")[0] or type(error).__name__


def _reader(file: Any, magic: bytes) -> tuple[pa.Schema, int | None, Any]:
    if magic[:4] == b"PAR1":
        parquet = pq.ParquetFile(file)
        metadata = parquet.metadata
        width = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
        rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES * metadata.num_rows // max(width, 1)))
        return parquet.schema_arrow, metadata.num_rows, lambda names: parquet.iter_batches(rows, columns=names)
    if magic == b"ARROW1":
        reader = pa.ipc.open_file(file)
        batches = (reader.get_batch(index) for index in range(reader.num_record_batches))
        return reader.schema, None, lambda _: batches
    stream = pa.ipc.open_stream(file)
    return stream.schema, None, lambda _: iter(stream)


def _names(schema: pa.Schema, column: str | None) -> list[str]:
    """Returns the names of the Kiln columns, or the one that is asked for."""
    if column is None:
        names = [field.name for field in schema if has_kiln(field.type)]
        if not names:
            raise UnreadableError("no column of it is marked as Kiln's; --column takes one of plain bytes")
        return names
    places = schema.get_all_field_indices(column)
    if len(places) != 1:
        raise UnreadableError(f"expected one column {column!r}, found {len(places)}")
    data_type = schema.field(places[0]).type
    if not has_kiln(data_type) and data_type not in STORAGES:
        raise UnreadableError(f"column {column!r} holds {data_type}, neither Kiln cells nor bytes")
    return [column]


def _chosen(batches: Iterator[pa.RecordBatch], names: list[str]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = [
            TensorsType(column.type).wrap_array(column) if column.type in STORAGES else column
            for column in batch.select(names).columns
        ]
        yield pa.record_batch(columns, names)
