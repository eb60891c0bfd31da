"""Anything that holds records, as a schema and batches in order.

Files are recognised by their content, never by their suffix, and are never held whole: Parquet is read page by page,
IPC batch by batch. A file that ends early, or goes on after its end, is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from arrow_digest.errors import InvalidArrayError, UnreadableError, UnsupportedTypeError
from arrow_digest.feather_v1 import read_feather_v1
from arrow_digest.inputs import InputFile, arrow_file, open_path, reading
from arrow_digest.threads import read_ahead

__all__ = ["Source", "count_rows", "is_parquet", "open_source", "read_file", "read_producer"]

# A group of the logical type Variant, as pyarrow prints a Parquet schema; it gives no other access to it.
_VARIANT = re.compile(r"^ *(?:optional|required|repeated) group field_id=-?\d+ (?P<name>.*) \(Variant\(", re.MULTILINE)

_FILE_MARK = b"ARROW1"
_STREAM_END = b"\xff\xff\xff\xff\0\0\0\0"
_STREAM_END_OLD = b"\0\0\0\0"

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
# No schema message of a stream that cannot be measured is longer.
_METADATA_LIMIT = 1 << 28
# A column chunk with a dictionary that takes less per value holds indices all through.
_INDEX_BYTES = 4
# All column readers together buffer about this much.
_READ_BYTES = 32 << 20


@dataclass
class Source:
    """Records: their schema, and batches in order.

    Attributes:
        name: How errors name the source.
        schema: The `pyarrow.Schema`.
        batches: Record batches or tables; reading on may raise `UnreadableError`.
    """

    name: str
    schema: Any
    batches: Iterator[Any]


@contextmanager
def open_source(data: Any, *, threads: int = 1) -> Iterator[Source]:
    """Open a path, or anything that exports Arrow data.

    Args:
        data: A path to a Parquet, Arrow IPC or Feather file, or an object with `__arrow_c_stream__` or
            `__arrow_c_array__`.
        threads: More than one allows the Parquet reader to decode columns side by side.

    Raises:
        UnreadableError: The file cannot be opened, or is no Arrow data.
        UnsupportedTypeError: The object exports something other than records.
        TypeError: It is neither a path nor an exporter.
    """
    if isinstance(data, (str, os.PathLike)):
        with open_path(data) as file:
            yield read_file(file, threads=threads)
    else:
        yield read_producer(data)


def read_producer(data: Any) -> Source:
    """Return the records that an object exports through the Arrow C interface.

    Raises:
        UnsupportedTypeError: It exports something other than records.
        TypeError: It exports nothing.
    """
    name = type(data).__name__
    if isinstance(data, pa.Table):
        return Source(name, data.schema, iter((data,)))
    if isinstance(data, pa.RecordBatch):
        return Source(name, data.schema, iter((data,)))
    if isinstance(data, pa.ChunkedArray):
        _require_records(data.type)
        return Source(name, pa.schema(list(data.type)), (_record_batch(chunk) for chunk in data.chunks))
    if hasattr(data, "__arrow_c_stream__"):
        with reading(name, "stream of records"):
            # Export and import would lose the sizes of buffers, so that nothing could be checked any more.
            reader = data if isinstance(data, pa.RecordBatchReader) else _open_stream(data)
        return Source(name, reader.schema, _batches(reader, name, "stream of records"))
    if hasattr(data, "__arrow_c_array__"):
        with reading(name, "record batch"):
            array = data if isinstance(data, pa.Array) else pa.array(data)
            batch = _record_batch(array)
        return Source(name, batch.schema, iter((batch,)))
    raise TypeError(f"expected a path or an object that exports Arrow records, found {name}")


def _open_stream(data: Any) -> Any:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid as error:
        if "non-struct type" not in str(error):
            raise
        raise _not_records(str(error).rpartition(" ")[2]) from error


def _require_records(data_type: Any) -> None:
    if not pa.types.is_struct(data_type):
        raise _not_records(data_type)


def _not_records(data_type: Any) -> UnsupportedTypeError:
    return UnsupportedTypeError((), data_type, "records", "expected records, found one array: ArrayDigest takes those")


def _record_batch(array: Any) -> Any:
    """Return a struct array, sliced or not, as the records it is."""
    _require_records(array.type)
    if array.null_count:
        raise InvalidArrayError((), "nulls", f"expected records, found structs of which {array.null_count} are null")
    return pa.RecordBatch.from_struct_array(array)


def _batches(reader: Any, name: str, what: str) -> Iterator[Any]:
    while True:
        with reading(name, what):
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
        if not batch.schema.equals(reader.schema):
            raise UnreadableError(name, "corrupt", f"broken {what}: a batch has another schema than the stream")
        yield batch


def read_file(file: InputFile, *, threads: int = 1, leaves: Sequence[int] | None = None) -> Source:
    """Return the records of an open file, whose format is told by its first bytes.

    Args:
        file: The file, at its start.
        threads: More than one allows the Parquet reader to decode columns side by side.
        leaves: Which Parquet columns to read, by number in rising order; the bytes of others are not touched. Only for
            a file that `is_parquet`.

    Raises:
        UnreadableError: It is no Arrow data, cut short, of a newer version, or encrypted.
    """
    start = file.peek(8)
    if start.startswith(b"PAR1"):
        return _parquet(_require_seekable(file, "Parquet"), threads, leaves)
    assert leaves is None
    if start.startswith(b"PARE"):
        raise UnreadableError(file.name, "encrypted", "encrypted Parquet, and no key")
    if start.startswith(_FILE_MARK):
        return _ipc_file(_require_seekable(file, "an Arrow IPC file"))
    if start.startswith(b"FEA1"):
        return _feather_v1(_require_seekable(file, "Feather"))
    return _ipc_stream(file, start)


def is_parquet(file: InputFile) -> bool:
    """Return whether a file that can be read at any place begins as Parquet does, and go back to its start."""
    if file.seekable_size is None:
        return False
    file.seek(0)
    return file.peek(4) == b"PAR1"


def count_rows(file: InputFile) -> int:
    """Return how many rows a file holds, from its footer where it has one, without a look at the values.

    Raises:
        UnreadableError: It is no Arrow data, cut short, of a newer version, or encrypted.
    """
    if is_parquet(file):
        with reading(file.name, "Parquet"):
            return int(pq.read_metadata(arrow_file(file)).num_rows)
    return sum(batch.num_rows for batch in read_file(file).batches)


def _require_seekable(file: InputFile, what: str) -> InputFile:
    if file.seekable_size is None:
        message = f"{what} has to be read from its end, which a pipe does not allow; save it to a file first"
        raise UnreadableError(file.name, "unseekable", message)
    return file


def _parquet(file: InputFile, threads: int, leaves: Sequence[int] | None) -> Source:
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
            page_checksum_verification=True,
        )
        schema = parquet.schema_arrow
        if leaves is not None:
            schema = parquet.reader.read_row_groups([], column_indices=list(leaves)).schema
        variant = _VARIANT.search(str(parquet.schema))
    if variant:
        # pyarrow shows it as a struct of two binaries, but the same value may be cut up into them in many ways.
        reason = "one Parquet variant may be stored in many ways"
        raise UnsupportedTypeError((variant["name"],), "variant", "variant", reason)
    batch_rows = _batch_rows(metadata, frozenset(as_indices))
    batches = _parquet_batches(parquet, metadata, file.name, threads, leaves, batch_rows)
    if threads > 1 and metadata.num_rows > batch_rows:
        batches = read_ahead(batches, _BATCHES_AHEAD)
        file.stop_reading.append(batches.close)
    return Source(file.name, schema, batches)


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


def _ipc_file(file: InputFile) -> Source:
    end = file.read_end(len(_FILE_MARK))
    if end != _FILE_MARK:
        message = f"cut short: an Arrow IPC file ends with {_FILE_MARK!r}, found {end!r}"
        raise UnreadableError(file.name, "truncated", message)
    with reading(file.name, "Arrow IPC file"):
        reader = pa.ipc.open_file(arrow_file(file))
    return Source(file.name, reader.schema, _ipc_file_batches(reader, file.name))


def _ipc_file_batches(reader: Any, name: str) -> Iterator[Any]:
    for index in range(reader.num_record_batches):
        with reading(name, "Arrow IPC file"):
            batch = reader.get_batch(index)
        yield batch


def _feather_v1(file: InputFile) -> Source:
    with reading(file.name, "Feather V1"):
        table = read_feather_v1(file)
    return Source(file.name, table.schema, iter((table,)))


def _ipc_stream(file: InputFile, start: bytes) -> Source:
    _require_stream_start(file, start)
    with _blaming_the_end(file), reading(file.name, "Arrow IPC stream"):
        reader = pa.ipc.open_stream(arrow_file(file))
    return Source(file.name, reader.schema, _ipc_stream_batches(reader, file))


def _require_stream_start(file: InputFile, start: bytes) -> None:
    """Refuse what cannot be a stream, so that no length is taken from something else."""
    formats = "Parquet, Arrow IPC file, Arrow IPC stream, Feather"
    if not start:
        raise UnreadableError(file.name, "format", f"empty; expected one of {formats}")
    marked = start[:4] == _STREAM_END[:4]
    length = int.from_bytes(start[4:8] if marked else start[:4], "little")
    limit = file.seekable_size if file.seekable_size is not None else _METADATA_LIMIT
    if marked and length > limit:
        message = f"cut short: the stream's first message is {length} bytes long, the file {limit}"
        raise UnreadableError(file.name, "truncated", message)
    if len(start) < 8 or not 0 < length <= limit:
        raise UnreadableError(file.name, "format", f"no Arrow data (tried {formats}): it begins with {start!r}")


def _ipc_stream_batches(reader: Any, file: InputFile) -> Iterator[Any]:
    with _blaming_the_end(file):
        yield from _batches(reader, file.name, "Arrow IPC stream")
    if file.hit_end or not (file.tail == _STREAM_END or file.tail.endswith(_STREAM_END_OLD)):
        raise UnreadableError(file.name, "truncated", "cut short: the stream has no end-of-stream marker")
    if file.seekable_size is not None and file.tell() != file.seekable_size:
        message = f"{file.seekable_size - file.tell()} bytes after the end of the stream"
        raise UnreadableError(file.name, "trailing", message)


@contextmanager
def _blaming_the_end(file: InputFile) -> Iterator[None]:
    try:
        yield
    except UnreadableError as error:
        if error.rule != "corrupt" or not file.hit_end:
            raise
        reason = str(error).removeprefix(f"{file.name}: ")
        raise UnreadableError(file.name, "truncated", f"cut short inside a message ({reason})") from error
