"""Kiln columns as plain bytes, for tools that know no extension types, and back (spec: in Arrow)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from kiln_arrow.columns.arrow_types import with_children
from kiln_arrow.columns.extension_types import is_kiln
from kiln_arrow.columns.marks import marked_type, tensors_over, unmarked
from kiln_arrow.columns.nested import has_kiln
from kiln_arrow.columns.producers import chunks_of
from kiln_arrow.columns.retype import retyped
from kiln_arrow.columns.to_numpy import column_errors
from kiln_arrow.errors import KilnError
from kiln_arrow.foreign.structure import measured

__all__ = [
    "from_storage",
    "to_storage",
]


def to_storage(table: Any) -> Any:
    """Return a table with every Kiln column, at any depth, as the plain bytes it is stored as; nothing is copied.

    Functions that take no extension types take these: comparisons, grouping, and the joins that pyarrow 26 gets wrong
    over large_binary. `from_storage` leads back.

    Args:
        table: A `pyarrow.Table` or `pyarrow.RecordBatch`.

    >>> import numpy, pyarrow, kiln_arrow
    >>> table = pyarrow.table({"id": [1], "x": kiln_arrow.array([{"a": numpy.zeros(3)}])})
    >>> kiln_arrow.to_storage(table).schema.field("x").type
    DataType(binary)
    """
    fields = [field.with_type(_plain(field.type)) for field in table.schema]
    return _rebuilt(table, fields)


def from_storage(table: Any, columns: Iterable[str] | Mapping[str, Any]) -> Any:
    """Return a table with some of its columns as Kiln columns, every cell checked; no bytes are copied.

    Args:
        table: A `pyarrow.Table` or `pyarrow.RecordBatch`.
        columns: Name to type: a `TensorsType` or `FrameType` over the column's storage, or a nested type with such
            types in it. Or just names: then the type is what the field's metadata names, at any depth, as a reader
            without `kiln_arrow` leaves it there; without metadata, bytes become `kiln.tensors`, and so do the values of
            a dictionary or of runs, whose type no file keeps.

    Raises:
        KilnError: A cell is malformed, with its `row`, the column at the head of its `path`; or a column cannot have
            the type (rule `arrow_type`).
        KeyError: The table has no column of a name, or several.

    >>> import pyarrow, kiln_arrow
    >>> table = pyarrow.table({"x": [kiln_arrow.encode({}), None]})
    >>> kiln_arrow.from_storage(table, ["x"])["x"].to_pylist()
    [Directory(), None]
    """
    names = [columns] if isinstance(columns, str) else list(columns)
    wanted = columns if isinstance(columns, Mapping) else {}
    fields = list(table.schema)
    for name in names:
        places = table.schema.get_all_field_indices(name)
        if len(places) != 1:
            raise KeyError(f"expected one column {name!r}, found {len(places)}")
        (place,) = places
        fields[place] = _typed(fields[place], wanted.get(name))
    found = _rebuilt(table, fields)
    for name in names:
        for error in column_errors(found[name]):
            raise error.placed(name) from error.__cause__
    return found


def _plain(data_type: pa.DataType) -> pa.DataType:
    if is_kiln(data_type):
        return data_type.storage_type
    if isinstance(data_type, pa.BaseExtensionType):
        return _plain(data_type.storage_type) if has_kiln(data_type) else data_type
    return with_children(data_type, _plain)


def _typed(field: pa.Field, wanted: Any) -> pa.Field:
    """Return a field with the wanted type, or with what its own metadata says, and without that metadata."""
    if wanted is None:
        wanted = marked_type(field)
        if not has_kiln(wanted):
            try:
                wanted = tensors_over(wanted)
            except KilnError:
                raise KilnError("arrow_type", f"expected bytes, found {field.type!s:.200}", path=field.name) from None
    if _plain(wanted) != _plain(field.type):
        sentence = f"expected {_plain(wanted)!s:.200}, which {wanted!s:.200} is stored as, found {field.type!s:.200}"
        raise KilnError("arrow_type", sentence, path=field.name)
    return unmarked(field.with_type(wanted))


def _rebuilt(table: Any, fields: list[pa.Field]) -> Any:
    """Return the table with the same buffers under other types of the same layout."""
    columns = [_viewed(column, field.type) for column, field in zip(table.columns, fields, strict=True)]
    return type(table).from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))


def _viewed(column: Any, data_type: pa.DataType) -> Any:
    if column.type == data_type:
        return column
    chunks = chunks_of(column)[1]
    for chunk in chunks:
        measured(chunk)
    views = [retyped(chunk, data_type) for chunk in chunks]
    return pa.chunked_array(views, data_type) if isinstance(column, pa.ChunkedArray) else views[0]
