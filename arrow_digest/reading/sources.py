"""Anything that holds records, as a schema and batches in order: a file, or an object that exports Arrow data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from _arrow_io.faults import reading
from _arrow_io.formats import read_file
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit, require_int96_unit
from _arrow_io.ipc import read_batches
from _arrow_io.opening import InputFile, open_path
from _arrow_io.source import Source
from arrow_digest.errors import InvalidArrayError, UnsupportedTypeError
from arrow_digest.typing import RecordExporter, RecordSource

__all__ = ["open_source", "read_producer", "read_records"]


@contextmanager
def open_source(
    data: RecordSource, *, threads: int = 1, int96_unit: Int96Unit = DEFAULT_INT96_UNIT
) -> Iterator[Source]:
    """Open a path, or anything that exports Arrow data.

    Args:
        data: A path to a Parquet, Arrow IPC or Feather file, or an object with `__arrow_c_stream__` or
            `__arrow_c_array__`.
        threads: More than one allows the Parquet reader to decode columns side by side.
        int96_unit: The unit in which the INT96 timestamps of a Parquet file are read.

    Raises:
        UnreadableError: The file cannot be opened, or is no Arrow data.
        UnsupportedTypeError: The object exports something other than records.
        TypeError: It is neither a path nor an exporter.
    """
    if isinstance(data, (str, os.PathLike)):
        with open_path(data, int96_unit=int96_unit) as file:
            yield read_records(file, threads=threads)
    else:
        require_int96_unit(int96_unit)
        yield read_producer(data)


def read_producer(data: RecordExporter) -> Source:
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
        return Source(name, reader.schema, read_batches(reader, name, "stream of records"))
    if hasattr(data, "__arrow_c_array__"):
        with reading(name, "record batch"):
            array = data if isinstance(data, pa.Array) else pa.array(data)
            batch = _record_batch(array)
        return Source(name, batch.schema, iter((batch,)))
    raise no_records(data)


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
    reason = f"expected records, found one array of {data_type}: ArrayDigest takes those"
    return UnsupportedTypeError((), data_type, "records", reason)


# What objects of other libraries have, and how they lead to records: the first that an object has is named.
_WAYS = (
    ("scanner", "its scanner().to_reader()"),
    ("to_reader", "its to_reader()"),
    ("toArrow", "its toArrow()"),
    ("to_pyarrow_table", "its to_pyarrow_table()"),
    ("compute", "its compute()"),
    ("collect", "its collect()"),
    ("iter_batches", "its path, or its read()"),
    ("read_all", "its read_all()"),
    ("read", "its path, or what pyarrow.parquet.read_table or pyarrow.ipc.open_stream reads of it"),
    ("sql", "what its sql() gives"),
    ("decode", "a path as text, as os.fsdecode() makes it"),
    ("items", "pyarrow.table() of it"),
    ("__array__", "pyarrow.table() of it, with names for its columns"),
)
_WAY_OF_ITEMS = ("__iter__", "pyarrow.Table.from_batches() of the batches in it")


def no_records(data: object) -> TypeError:
    """Return the error for an object that exports no records, with the way to them where its kind is known.

    >>> str(no_records({}))
    'expected a path or an object that exports Arrow records, found dict: give pyarrow.table() of it'
    """
    kind = type(data)
    library = kind.__module__.partition(".")[0].lstrip("_")
    is_own = library == "builtins"
    name = kind.__name__ if is_own else f"{kind.__name__} of {library}"
    ways = (*_WAYS, _WAY_OF_ITEMS) if is_own else _WAYS
    way = next((f": give {way}" for attribute, way in ways if callable(getattr(kind, attribute, None))), "")
    return TypeError(f"expected a path or an object that exports Arrow records, found {name}{way}")


def _record_batch(array: Any) -> Any:
    """Return a struct array, sliced or not, as the records it is."""
    _require_records(array.type)
    if array.null_count:
        raise InvalidArrayError((), "nulls", f"expected records, found structs of which {array.null_count} are null")
    return pa.RecordBatch.from_struct_array(array)


def read_records(file: InputFile, *, threads: int = 1, leaves: Sequence[int] | None = None) -> Source:
    """Return the records of an open file, as `read_file` does, unless arrow0 has no hash for them.

    Raises:
        UnreadableError: It is no Arrow data, cut short, of a newer version, or encrypted.
        UnsupportedTypeError: It is Parquet with a Variant.
    """
    source = read_file(file, threads=threads, leaves=leaves)
    if source.variants:
        # pyarrow shows it as a struct of two binaries, but the same value may be cut up into them in many ways.
        reason = "one Parquet variant may be stored in many ways"
        raise UnsupportedTypeError((source.variants[0],), "variant", "variant", reason)
    return source
