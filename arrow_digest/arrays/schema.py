"""arrow0's type encoding, and a schema flattened to its leaf columns.

Implements the sections "Type encoding", "Encodings of one type hash alike" and the first step of
"Record batches" of the arrow0 specification.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import lib

from arrow_digest.errors import SchemaMismatchError, UnsupportedTypeError, format_path

__all__ = [
    "Field",
    "FlatSchema",
    "Leaf",
    "Struct",
    "encode_type",
    "flatten",
    "logical_type",
    "nullability",
    "parse_type",
    "structs",
    "unwrap",
]

# Deeper than any data set and than Arrow's own IPC readers allow, shallower than Python's stack.
MAX_NESTING = 128

_NULL, _INT, _FLOAT, _BINARY, _STRING, _BOOL, _DECIMAL, _DATE, _TIME, _TIMESTAMP = range(10)
_LIST = 11

_UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}

_BINARIES = (lib.Type_BINARY, lib.Type_LARGE_BINARY, lib.Type_BINARY_VIEW, lib.Type_FIXED_SIZE_BINARY)
_STRINGS = (lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_STRING_VIEW)
_LISTS = (
    lib.Type_LIST,
    lib.Type_LARGE_LIST,
    lib.Type_FIXED_SIZE_LIST,
    lib.Type_LIST_VIEW,
    lib.Type_LARGE_LIST_VIEW,
)
_SIGNED = (lib.Type_INT8, lib.Type_INT16, lib.Type_INT32, lib.Type_INT64)
_UNSIGNED = (lib.Type_UINT8, lib.Type_UINT16, lib.Type_UINT32, lib.Type_UINT64)
_FLOATS = (lib.Type_HALF_FLOAT, lib.Type_FLOAT, lib.Type_DOUBLE)
_DECIMALS = (lib.Type_DECIMAL32, lib.Type_DECIMAL64, lib.Type_DECIMAL128, lib.Type_DECIMAL256)

_INTERVALS = (lib.Type_INTERVAL_MONTHS, lib.Type_INTERVAL_DAY_TIME, lib.Type_INTERVAL_MONTH_DAY_NANO)

_RESERVED = {
    **dict.fromkeys(_INTERVALS, ("interval", "intervals are reserved (type id 10)")),
    lib.Type_STRUCT: ("struct", "a struct inside a list is reserved (type id 12)"),
    lib.Type_SPARSE_UNION: ("union", "unions are reserved (type id 13)"),
    lib.Type_DENSE_UNION: ("union", "unions are reserved (type id 13)"),
    lib.Type_MAP: ("map", "maps are reserved (type id 16)"),
    lib.Type_DURATION: ("duration", "durations are reserved (type id 17)"),
}


def _constant(encoded: bytes) -> Callable[[Any], bytes]:
    return lambda _: encoded


def _decimal(data_type: Any) -> bytes:
    return struct.pack("<HQQq", _DECIMAL, data_type.bit_width, data_type.precision, data_type.scale)


def _timestamp(data_type: Any) -> bytes:
    head = struct.pack("<HH", _TIMESTAMP, _UNITS[data_type.unit])
    if data_type.tz is None:
        return head + b"\0"
    zone: bytes = data_type.tz.encode("utf-8")
    return head + struct.pack("<Q", len(zone)) + zone


# The one table of types: what a leaf's digest is fed before its values.
_ENCODERS: dict[int, Callable[[Any], bytes]] = {
    lib.Type_NA: _constant(struct.pack("<H", _NULL)),
    lib.Type_BOOL: _constant(struct.pack("<H", _BOOL)),
    **{type_id: lambda t: struct.pack("<HBQ", _INT, 1, t.bit_width) for type_id in _SIGNED},
    **{type_id: lambda t: struct.pack("<HBQ", _INT, 0, t.bit_width) for type_id in _UNSIGNED},
    **{type_id: lambda t: struct.pack("<HQ", _FLOAT, t.bit_width) for type_id in _FLOATS},
    **dict.fromkeys(_BINARIES, _constant(struct.pack("<H", _BINARY))),
    **dict.fromkeys(_STRINGS, _constant(struct.pack("<H", _STRING))),
    **dict.fromkeys(_DECIMALS, _decimal),
    lib.Type_DATE32: _constant(struct.pack("<HQH", _DATE, 32, 0)),
    lib.Type_DATE64: _constant(struct.pack("<HQH", _DATE, 64, 1)),
    lib.Type_TIME32: lambda t: struct.pack("<HQH", _TIME, 32, _UNITS[t.unit]),
    lib.Type_TIME64: lambda t: struct.pack("<HQH", _TIME, 64, _UNITS[t.unit]),
    lib.Type_TIMESTAMP: _timestamp,
}


def unwrap(data_type: Any, path: tuple[str, ...] = ()) -> Any:
    """Return what a type encodes: extension, dictionary and run-end encodings are peeled off.

    Args:
        data_type: Any `pyarrow.DataType`.
        path: Where it stands, for errors.

    Raises:
        UnsupportedTypeError: More encodings of encodings than there may be levels of nesting.

    >>> unwrap(pa.dictionary(pa.int8(), pa.string()))
    DataType(string)
    """
    return _unwrapped(data_type, path, 0)[0]


def _unwrapped(data_type: Any, path: tuple[str, ...], above: int) -> tuple[Any, int]:
    """Return what a type encodes, and at which level that is, where so many levels are above the type."""
    base = data_type
    for level in range(above + 1, MAX_NESTING + 1):
        inner = _peel(base)
        if inner is None:
            return base, level
        base = inner
    raise _too_deep(path, data_type)


def _peel(data_type: Any) -> Any | None:
    """Return the type that an extension or encoding stands for, None for a plain type."""
    if isinstance(data_type, pa.BaseExtensionType):
        return data_type.storage_type
    return data_type.value_type if data_type.id in (lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED) else None


def _too_deep(path: tuple[str, ...], data_type: Any) -> UnsupportedTypeError:
    return UnsupportedTypeError(path, data_type, "depth", f"nested deeper than {MAX_NESTING} levels")


def encode_type(data_type: Any, path: tuple[str, ...] = (), above: int = 0) -> bytes:
    """Return the bytes that a leaf's digest is fed before its values.

    Args:
        data_type: The leaf column's `pyarrow.DataType`.
        path: Where it stands, for errors.
        above: How many levels of nesting are above it: structs, and their encodings.

    Raises:
        UnsupportedTypeError: The type, or one inside it, is reserved by arrow0.

    >>> encode_type(pa.list_(pa.bool_())).hex()
    '0b000500'
    """
    encoded = b""
    inner = data_type
    for _ in range(above, MAX_NESTING):
        outer, inner = inner, _peel(inner)
        if inner is None and outer.id not in _LISTS:
            return encoded + _encode_values(outer, data_type, path)
        if inner is None:
            encoded += struct.pack("<H", _LIST)
            inner = outer.value_type
    raise _too_deep(path, data_type)


def _encode_values(values_type: Any, data_type: Any, path: tuple[str, ...]) -> bytes:
    if values_type.id not in _ENCODERS:
        reserved, reason = _RESERVED.get(values_type.id, (None, "the specification does not know it"))
        raise UnsupportedTypeError(path, data_type, "reserved" if reserved else "unknown", reason, reserved)
    try:
        return _ENCODERS[values_type.id](values_type)
    except UnicodeDecodeError as error:
        reason = f"its time zone is not UTF-8 ({error.reason})"
        raise UnsupportedTypeError(path, data_type, "time_zone", reason) from None


def logical_type(data_type: Any) -> Any:
    """Return the plainest Arrow type that has the same arrow0 encoding.

    Two leaf columns can be the same records exactly when their logical types are equal.

    >>> logical_type(pa.large_list(pa.dictionary(pa.int8(), pa.string_view())))
    ListType(list<item: string>)
    """
    data_type = unwrap(data_type)
    if data_type.id in _LISTS:
        return pa.list_(logical_type(data_type.value_type))
    if data_type.id in _STRINGS:
        return pa.string()
    if data_type.id in _BINARIES:
        return pa.binary()
    return data_type


class Field(NamedTuple):
    """One field of a schema at any depth.

    Attributes:
        path: Field names from the top-level column down; its length less one is the nesting level.
        encoded_type: The arrow0 type encoding of a leaf; None for a struct.
        data_type: The field's Arrow type.
        indices: Field indices from the top-level column down.
    """

    path: tuple[str, ...]
    encoded_type: bytes | None
    data_type: Any
    indices: tuple[int, ...]

    def describe(self) -> str:
        """Return name and logical type, as errors show them."""
        kind = "struct" if self.encoded_type is None else logical_type(self.data_type)
        return f"{format_path(self.path)}: {kind}"


class Leaf(NamedTuple):
    """A column that is not a struct.

    Attributes:
        path: Field names from the top-level column down.
        data_type: The leaf's Arrow type.
        encoded_type: Its arrow0 type encoding.
        indices: Field indices from the top-level column down.
    """

    path: tuple[str, ...]
    data_type: Any
    encoded_type: bytes
    indices: tuple[int, ...]


class Struct(NamedTuple):
    """A column that is a struct, at any depth but not in a list.

    Attributes:
        path: Field names from the top-level column down.
        indices: Field indices from the top-level column down.
        leaves: The numbers of the leaf columns inside it; none where it has no fields but such structs.
    """

    path: tuple[str, ...]
    indices: tuple[int, ...]
    leaves: tuple[int, ...]


@dataclass(frozen=True)
class FlatSchema:
    """A schema as arrow0 sees it.

    Attributes:
        fields: Every field, depth first.
        leaves: Every leaf column, depth first.
        preamble: What the combined digest is fed first: names and nesting levels.
    """

    fields: tuple[Field, ...]
    leaves: tuple[Leaf, ...]
    preamble: bytes

    def require_same(self, other: FlatSchema) -> None:
        """Refuse another schema unless it has the same fields: names, levels, order and logical types.

        Raises:
            SchemaMismatchError: The first field that differs.
        """
        if other is self:
            return
        for expected, found in zip(self.fields, other.fields, strict=False):
            if (expected.path, expected.encoded_type) != (found.path, found.encoded_type):
                raise SchemaMismatchError(expected.path, expected.describe(), found.describe())
        if len(self.fields) > len(other.fields):
            missing = self.fields[len(other.fields)]
            raise SchemaMismatchError(missing.path, missing.describe(), None)
        if len(self.fields) < len(other.fields):
            extra = other.fields[len(self.fields)]
            raise SchemaMismatchError(extra.path, None, extra.describe())


# The schema of flat types flattened last, and what came of it: small tables come many of a kind. Not of other types:
# pyarrow takes dictionaries of extensions for equal that are over different storage.
_latest: tuple[Any, FlatSchema] = (pa.schema([]), FlatSchema((), (), b""))


def flatten(schema: Any) -> FlatSchema:
    """Return the schema's fields and leaves, depth first.

    Raises:
        UnsupportedTypeError: A column's type, or one inside it, has no arrow0 encoding, or a name is not UTF-8.

    >>> [leaf.path for leaf in flatten(pa.schema([("a", pa.struct([("b", pa.int8())]))])).leaves]
    [('a', 'b')]
    """
    global _latest
    known, flat = _latest  # one look, so that threads do not see halves of two
    if not schema.equals(known):
        flat = _flatten(schema)
        if all(field.data_type.id in _ENCODERS for field in flat.fields):
            _latest = schema, flat
    return flat


def _flatten(schema: Any) -> FlatSchema:
    fields: list[Field] = []
    leaves: list[Leaf] = []
    preamble = bytearray()
    for path, indices, data_type, above in _walk(schema, (), (), 0):
        name = path[-1].encode("utf-8")
        preamble += struct.pack("<Q", len(name)) + name + struct.pack("<Q", len(path) - 1)
        if _unwrapped(data_type, path, above)[0].id == lib.Type_STRUCT:
            fields.append(Field(path, None, data_type, indices))
        else:
            encoded = encode_type(data_type, path, above)
            fields.append(Field(path, encoded, data_type, indices))
            leaves.append(Leaf(path, data_type, encoded, indices))
    return FlatSchema(tuple(fields), tuple(leaves), bytes(preamble))


def structs(flat: FlatSchema) -> tuple[Struct, ...]:
    """Return every struct of a schema, depth first.

    >>> structs(flatten(pa.schema([("a", pa.int8()), ("s", pa.struct([("b", pa.int8())]))])))
    (Struct(path=('s',), indices=(1,), leaves=(1,)),)
    """
    inside: dict[tuple[int, ...], list[int]] = {}
    for number, leaf in enumerate(flat.leaves):
        for depth in range(1, len(leaf.indices)):
            inside.setdefault(leaf.indices[:depth], []).append(number)
    return tuple(
        Struct(field.path, field.indices, tuple(inside.get(field.indices, ())))
        for field in flat.fields
        if field.encoded_type is None
    )


def _walk(
    parent: Any, path: tuple[str, ...], indices: tuple[int, ...], above: int
) -> Iterator[tuple[tuple[str, ...], tuple[int, ...], Any, int]]:
    """Yield every field under a schema or struct: path, indices, type, and how many levels are above the type."""
    count = len(parent) if isinstance(parent, pa.Schema) else parent.num_fields
    for index in range(count):
        field = parent.field(index)
        try:
            name = field.name
        except UnicodeDecodeError as error:
            here = (*path, f"#{index}")
            reason = f"its name is not UTF-8 ({error.reason})"
            raise UnsupportedTypeError(here, field.type, "name", reason) from None
        here = (*path, name)
        yield here, (*indices, index), field.type, above
        inner, level = _unwrapped(field.type, here, above)
        if inner.id == lib.Type_STRUCT:
            yield from _walk(inner, here, (*indices, index), level)


def nullability(schema: Any, indices: tuple[int, ...]) -> tuple[bool, bool, bool]:
    """Return whether rows of a leaf may be null, whether items of its lists may, and whether structs above it may.

    Args:
        schema: The `pyarrow.Schema`.
        indices: Field indices from the top-level column down to the leaf.

    >>> nullability(pa.schema([pa.field("a", pa.list_(pa.int8()), nullable=False)]), (0,))
    (False, True, False)
    """
    rows = structs = False
    parent = schema
    for index in indices:
        field = parent.field(index)
        structs, rows = rows, rows or field.nullable
        parent = unwrap(field.type)
    items = False
    inner = parent
    while inner.id in _LISTS:
        items = items or inner.value_field.nullable
        inner = unwrap(inner.value_type)
    return rows, items, structs


_PLAIN_TYPES = {
    str(data_type): data_type
    for data_type in (
        *(pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.string(), pa.binary()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
        *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    )
}
_TIMESTAMP_TEXT = re.compile(r"timestamp\[(s|ms|us|ns)(?:, tz=(.*))?\]", re.DOTALL)
_DECIMAL_TEXT = re.compile(r"decimal(32|64|128|256)\((\d{1,3}), (-?\d{1,3})\)")
_DECIMAL_TYPES = {"32": pa.decimal32, "64": pa.decimal64, "128": pa.decimal128, "256": pa.decimal256}


def parse_type(text: str) -> Any | None:
    """Return the logical type that a text stands for, as `str` writes it, or None where it is no such text.

    >>> parse_type("list<item: timestamp[ms, tz=UTC]>")
    ListType(list<item: timestamp[ms, tz=UTC]>)
    """
    depth = 0
    while text.startswith("list<item: ") and text.endswith(">") and depth < MAX_NESTING:
        text = text[len("list<item: ") : -1]
        depth += 1
    data_type = _PLAIN_TYPES.get(text)
    if match := _TIMESTAMP_TEXT.fullmatch(text):
        data_type = pa.timestamp(match[1], match[2])
    elif match := _DECIMAL_TEXT.fullmatch(text):
        try:
            data_type = _DECIMAL_TYPES[match[1]](int(match[2]), int(match[3]))
        except (ValueError, pa.ArrowException):
            return None
    if data_type is None:
        return None
    for _ in range(depth):
        data_type = pa.list_(data_type)
    return data_type
