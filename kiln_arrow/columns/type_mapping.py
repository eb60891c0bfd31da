"""Which Arrow type stands for which type text, both ways (spec: in Arrow, mapping)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kiln_arrow.canonical.typetext import Dict, Leaf, List, Option, Struct, Type, format_type, is_name
from kiln_arrow.columns.arrow_types import name_of
from kiln_arrow.columns.extension_types import TENSORS, TensorsType, is_kiln
from kiln_arrow.errors import KilnError, below, shown

__all__ = [
    "ARROW_OF_WORD",
    "arrow_of",
    "is_list",
    "text_of_struct",
]

ARROW_OF_WORD: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "u8": pa.uint8(),
    "u16": pa.uint16(),
    "u32": pa.uint32(),
    "u64": pa.uint64(),
    "f32": pa.float32(),
    "f64": pa.float64(),
    "str": pa.string(),
    "bytes": pa.binary(),
}
"""Arrow type of each leaf word but `tensors`, as it comes out."""

_WORD_OF_ARROW: dict[pa.DataType, str] = {
    **{data_type: word for word, data_type in ARROW_OF_WORD.items()},
    pa.large_string(): "str",
    pa.string_view(): "str",
    pa.large_binary(): "bytes",
    pa.binary_view(): "bytes",
}
"""The same the other way, with the other forms of text and bytes that are taken in."""


def text_of_struct(data_type: pa.DataType) -> str:
    """Return the type text of an Arrow struct type.

    Raises:
        KilnError: A part has no place in the mapping; `path` says which.
    """
    if not pa.types.is_struct(data_type):
        raise KilnError("arrow_type", f"expected a struct, found {data_type!s:.200}")
    return format_type(_kind(data_type, ""))


def _field_kind(field: pa.Field, path: str) -> Type:
    kind = _kind(field.type, path)
    return Option(kind) if field.nullable else kind


def _kind(data_type: pa.DataType, path: str) -> Type:
    types = pa.types
    word = _WORD_OF_ARROW.get(data_type)
    if word is not None:
        return Leaf(word)
    if is_kiln(data_type) and data_type.extension_name == TENSORS:
        return Leaf("tensors")
    if types.is_struct(data_type):
        return _struct_kind(data_type, path)
    if types.is_map(data_type):
        if _WORD_OF_ARROW.get(data_type.key_type) != "str":
            raise KilnError("arrow_type", f"expected a map with strings as keys, found {data_type!s:.200}", path=path)
        return Dict(_field_kind(data_type.item_field, below(path, "[value]")))
    if is_list(data_type):
        return List(_field_kind(data_type.value_field, below(path, "[item]")))
    if types.is_dictionary(data_type) or types.is_run_end_encoded(data_type):
        return _kind(data_type.value_type, path)
    sentence = f"expected a type that frames have, found {data_type!s:.200}"
    raise KilnError("arrow_type", sentence, path=path)


def is_list(data_type: pa.DataType) -> bool:
    """Return whether a type is a list that the mapping takes: of any size, with offsets of any width, or of views."""
    types = pa.types
    return bool(
        types.is_list(data_type)
        or types.is_large_list(data_type)
        or types.is_list_view(data_type)
        or types.is_large_list_view(data_type)
    )


def _struct_kind(data_type: pa.DataType, path: str) -> Struct:
    fields: dict[str, Type] = {}
    for index in range(data_type.num_fields):
        field = data_type.field(index)
        name = name_of(field)
        if not is_name(name):
            sentence = f"expected a field name [A-Za-z_][A-Za-z0-9_]*, found {shown(name)}"
            raise KilnError("syntax", sentence, path=path)
        if name in fields:
            raise KilnError("duplicate_field", f"expected field {name} once", path=path)
        fields[name] = _field_kind(field, below(path, name))
    if not fields:
        raise KilnError("empty_struct", "expected a struct with at least one field, found none", path=path)
    return Struct(tuple(fields.items()))


def arrow_of(kind: Type) -> pa.DataType:
    """Return the Arrow type of a type that is no option."""
    if isinstance(kind, Leaf):
        return TensorsType() if kind.word == "tensors" else ARROW_OF_WORD[kind.word]
    if isinstance(kind, Struct):
        return pa.struct([_arrow_field(name, field) for name, field in kind.fields])
    if isinstance(kind, List):
        return pa.list_(_arrow_field("item", kind.item))
    assert isinstance(kind, Dict)
    return pa.map_(pa.string(), _arrow_field("value", kind.value))


def _arrow_field(name: str, kind: Type) -> Any:
    inner = kind.value if isinstance(kind, Option) else kind
    return pa.field(name, arrow_of(inner), nullable=isinstance(kind, Option))
