"""Parquet as a schema and batches of moderate size, read page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow.parquet as pq

from _arrow_io.errors import UnreadableError
from _arrow_io.faults import reading
from _arrow_io.opening import InputFile, arrow_file
from _arrow_io.source import Source
from _arrow_io.threads import read_ahead

__all__ = ["read_parquet"]

# A group of the logical type Variant, as pyarrow prints a Parquet schema; it gives no other access to it.
_VARIANT = re.compile(r"^ *(?:optional|required|repeated) group field_id=-?\d+ (?P<name>.*) \(Variant\(", re.MULTILINE)

# Parquet is decoded in batches of about this many bytes, whatever the row groups are: of up to so many rows where the
# size of each is known, of fewer where values may be far larger decoded than they are in the file.
_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 18
_BATCH_ROWS_OF_ANY_SIZE = 1 << 14
_LEAST_BATCH_ROWS = 16
# What a value of a physical type takes once it is decoded; text, where it is read as indices; decimals, however stored.
_DECODED_BYTES = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 8, "BYTE_ARRAY": 4}
_DECIMAL_BYTES = 16
# With threads, so many are decoded while one is used: decoding and hashing each leave cores idle at their ends.
_BATCHES_AHEAD = 2
# A column chunk with a dictionary that takes less per value holds indices all through.
_INDEX_BYTES = 4
# All column readers together buffer about this much.
_READ_BYTES = 32 << 20


def read_parquet(file: InputFile, threads: int, leaves: Sequence[int] | None) -> Source:
    end = file.read_end(4)
    if end == b"PARE":
        raise UnreadableError(file.name, "encrypted", "encrypted Parquet, and no key")
    if end != b"PAR1":
        raise UnreadableError(file.name, "truncated", f"cut short: Parquet ends with b'PAR1', found {end!r}")
    with reading(file.name, "Parquet"):
        handle = arrow_file(file)
        metadata = pq.read_metadata(handle)
        buffer_size = min(max(_READ_BYTES // max(metadata.num_columns, 1), 1 << 14), 1 << 20)
        as_indices = _dictionary_columns(metadata)
        parquet = pq.ParquetFile(
            handle,
            metadata=metadata,
            read_dictionary=as_indices,
            pre_buffer=False,
            buffer_size=buffer_size,
            coerce_int96_timestamp_unit=file.int96_unit,
            page_checksum_verification=True,
        )
        schema = parquet.schema_arrow
        if leaves is not None:
            schema = parquet.reader.read_row_groups([], column_indices=list(leaves)).schema
        variants = tuple(found["name"] for found in _VARIANT.finditer(str(parquet.schema)))
    batch_rows = _batch_rows(metadata, frozenset(as_indices))
    batches = _parquet_batches(parquet, metadata, file.name, threads, leaves, batch_rows)
    if threads > 1 and metadata.num_rows > batch_rows:
        batches = read_ahead(batches, _BATCHES_AHEAD)
        file.stop_reading.append(batches.close)
    return Source(file.name, schema, batches, variants)


def _dictionary_columns(metadata: Any) -> list[str]:
    """Return the text and binary columns that are best read as they lie there: as indices into a dictionary.

    They hash as their values all the same, and take less time and memory. A column whose dictionary became too large
    while it was written holds its values plainly from there on; making indices for those would cost more than it saves.
    """
    chunks = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    names = []
    for index in range(metadata.num_columns):
        column = metadata.schema.column(index)
        if column.physical_type == "BYTE_ARRAY" and column.max_repetition_level == 0 and "." not in column.path:
            parts = [chunk.column(index) for chunk in chunks]
            if parts and all(p.has_dictionary_page and _holds_indices(p) for p in parts):
                names.append(column.path)
    return names


def _holds_indices(chunk: Any) -> bool:
    # A plain value takes four bytes and its own; an index takes up to four, and mostly two.
    return bool(chunk.total_uncompressed_size < _INDEX_BYTES * chunk.num_values)


def _batch_rows(metadata: Any, as_indices: frozenset[str]) -> int:
    """Return how many rows at a time take about `_BATCH_BYTES`, in the file or decoded, whichever is more."""
    rows: int = max(metadata.num_rows, 1)
    chunks = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    encoded: int = sum(chunk.total_byte_size for chunk in chunks)
    decoded, most = 0, _BATCH_ROWS
    for index in range(metadata.num_columns):
        column = metadata.schema.column(index)
        size = _decoded_bytes(column)
        if column.max_repetition_level:
            size *= max(sum(chunk.column(index).num_values for chunk in chunks) // rows, 1)
        decoded += size
        if column.max_repetition_level or (column.physical_type == "BYTE_ARRAY" and column.path not in as_indices):
            most = _BATCH_ROWS_OF_ANY_SIZE
    return min(max(_BATCH_BYTES // max(encoded // rows, decoded, 1), _LEAST_BATCH_ROWS), most)


def _decoded_bytes(column: Any) -> int:
    """Return what one value of a Parquet column takes once it is decoded, of text and binary an index alone."""
    if column.logical_type.type == "DECIMAL":
        return max(int(column.length), _DECIMAL_BYTES)
    return _DECODED_BYTES.get(column.physical_type) or max(int(column.length), 1)


def _parquet_batches(
    parquet: Any, metadata: Any, name: str, threads: int, leaves: Sequence[int] | None, batch_rows: int
) -> Iterator[Any]:
    rows, seen = metadata.num_rows, 0
    with reading(name, "Parquet"):
        if leaves is None:
            batches = parquet.iter_batches(batch_size=batch_rows, use_threads=threads > 1)
        else:  # by number: names may be double, and dots in them mean something else
            groups = list(range(metadata.num_row_groups))
            batches = parquet.reader.iter_batches(
                batch_rows, row_groups=groups, column_indices=list(leaves), use_threads=threads > 1
            )
    while True:
        with reading(name, "Parquet"):
            batch = next(batches, None)
        if batch is None:
            break
        seen += batch.num_rows
        yield batch
    if metadata.num_columns and seen != rows:
        raise UnreadableError(name, "row_count", f"broken Parquet: its footer says {rows} rows, its pages hold {seen}")
