"""Arrow types rebuilt with other parts, and what a field and a buffer say of themselves."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from kiln_arrow.canonical.buffers import readable_bytes
from kiln_arrow.errors import KilnError

__all__ = [
    "buffer_view",
    "name_of",
    "with_children",
    "with_fields",
]


def with_children(data_type: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return a nested type with each child's type changed, field names, flags and metadata kept."""
    return with_fields(data_type, lambda child: child.with_type(change(child.type)))


def with_fields(data_type: pa.DataType, field: Callable[[pa.Field], pa.Field]) -> pa.DataType:
    """Return a nested type with each child's field changed.

    Raises:
        KilnError: A foreign fixed-size list of negative size, which pyarrow takes for another type, or for none; rule
            `arrow_type`.
    """
    types = pa.types
    if types.is_struct(data_type):
        return pa.struct([field(data_type.field(index)) for index in range(data_type.num_fields)])
    if types.is_map(data_type):
        return pa.map_(field(data_type.key_field), field(data_type.item_field), data_type.keys_sorted)
    if types.is_fixed_size_list(data_type):
        if data_type.list_size < 0:
            raise KilnError("arrow_type", f"expected lists of a size of at least 0, found {data_type.list_size}")
        return pa.list_(field(data_type.value_field), data_type.list_size)
    for is_kind, make in _LISTS:
        if is_kind(data_type):
            return make(field(data_type.value_field))
    if types.is_dictionary(data_type):
        return pa.dictionary(data_type.index_type, field(pa.field("", data_type.value_type)).type, data_type.ordered)
    if types.is_run_end_encoded(data_type):
        return pa.run_end_encoded(data_type.run_end_type, field(pa.field("", data_type.value_type)).type)
    return data_type


_LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


def name_of(field: pa.Field) -> str:
    """Return a field's name.

    Raises:
        KilnError: A foreign name that is not UTF-8; rule `utf8`.
    """
    try:
        name: str = field.name
    except UnicodeDecodeError as error:
        raise KilnError("utf8", f"expected a field's name in UTF-8, found {error.object!r:.80}") from None
    return name


def buffer_view(buffer: pa.Buffer | None) -> memoryview:
    """Return a read-only view of an Arrow buffer's bytes; nothing where there is no buffer."""
    return memoryview(b"") if buffer is None else readable_bytes(buffer)
