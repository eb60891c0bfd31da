"""The same buffers under another type of the same layout, one level at a time.

pyarrow's `view` refuses types whose fields hold no nulls and follows what it has not checked.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import lib

from kiln_arrow.columns.arrow_types import with_children
from kiln_arrow.columns.extension_types import is_kiln
from kiln_arrow.errors import KilnError
from kiln_arrow.foreign.structure import measured, refused

__all__ = [
    "measured_for_pyarrow",
    "retyped",
    "without_text",
]

_LAYOUT_BUFFERS = {lib.Type_FIXED_SIZE_LIST: 1, lib.Type_LIST_VIEW: 3, lib.Type_LARGE_LIST_VIEW: 3}


def retyped(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Return an array whose structure was checked as one of another type; no values are copied.

    Raises:
        KilnError: The layouts differ, or there is a union in between (rule `arrow_type`); or a part that a null hides
            makes pyarrow refuse the array (rule `arrow`).
    """
    try:
        return _retyped(array, data_type)
    except (pa.ArrowInvalid, pa.ArrowIndexError) as error:
        raise refused(f"this: {error}") from error


def _retyped(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    if array.type == data_type:
        return array
    if isinstance(array.type, pa.BaseExtensionType):
        return _retyped(array.storage, data_type)
    if is_kiln(data_type):
        return data_type.wrap_array(_retyped(array, data_type.storage_type))
    if _BYTES_OF_TEXT.get(array.type) == data_type:
        return array.view(data_type)
    if array.type.id != data_type.id or pa.types.is_union(data_type) or array.type.num_fields != data_type.num_fields:
        raise KilnError("arrow_type", f"expected a type stored as {array.type!s:.200}, found {data_type!s:.200}")
    if pa.types.is_dictionary(data_type):
        values = _retyped(array.dictionary, data_type.value_type)
        return pa.DictionaryArray.from_arrays(array.indices, values, ordered=data_type.ordered, safe=False)
    if pa.types.is_struct(data_type):
        fields = [data_type.field(index) for index in range(data_type.num_fields)]
        parts = [_retyped(array.field(index), field.type) for index, field in enumerate(fields)]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(parts, fields=fields, mask=mask)
    if pa.types.is_run_end_encoded(data_type):
        children = [array.run_ends, _retyped(array.values, data_type.value_type)]
        return _rebuilt(array, data_type, [None], children)
    if not data_type.num_fields:
        raise KilnError("arrow_type", f"expected a type stored as {array.type!s:.200}, found {data_type!s:.200}")
    buffers = array.buffers()[: _LAYOUT_BUFFERS.get(data_type.id, 2)]
    return _rebuilt(array, data_type, buffers, [_retyped(array.values, data_type.field(0).type)])


_BYTES_OF_TEXT = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def without_text(data_type: pa.DataType) -> pa.DataType:
    """Return the type with the same layout that has no extensions and no text in it."""
    if isinstance(data_type, pa.BaseExtensionType):
        return without_text(data_type.storage_type)
    return _BYTES_OF_TEXT.get(data_type) or with_children(data_type, without_text)


def measured_for_pyarrow(array: pa.Array) -> int:
    """Return about how many bytes an array has, with all of it checked that pyarrow's own code may follow.

    That is more than a null does not hide. Text need not be UTF-8.

    pyarrow looks at the items of lists and the fields of structs whether or not what is above them is null.

    Raises:
        KilnError: With rule `arrow`.
    """
    size = measured(array)
    try:
        array.validate(full=True)
    except (pa.ArrowInvalid, pa.ArrowIndexError):  # perhaps only for text
        try:
            retyped(array, without_text(array.type)).validate(full=True)
        except (pa.ArrowInvalid, pa.ArrowIndexError, KilnError) as error:
            raise refused(f"this: {error}") from error
    return size


def _rebuilt(array: pa.Array, data_type: pa.DataType, buffers: list[Any], children: list[pa.Array]) -> pa.Array:
    return pa.Array.from_buffers(data_type, len(array), buffers, offset=array.offset, children=children)
