"""arrow0's encoding of types.

Implements the sections "Type encoding" and "Encodings of one type hash alike" of the arrow0 specification.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import pyarrow as pa
from pyarrow import lib

from arrow_digest.arrays.types import BINARIES, LISTS, MAX_NESTING, STRINGS, peel, too_deep, unwrap
from arrow_digest.errors import UnsupportedTypeError

__all__ = ["RULE_SET", "encode_type", "is_flat", "logical_type"]

RULE_SET = "arrow0"
"""The name of the rule set."""

_NULL, _INT, _FLOAT, _BINARY, _STRING, _BOOL, _DECIMAL, _DATE, _TIME, _TIMESTAMP = range(10)
_LIST = 11

_UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}

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


def _constant(encoded: bytes) -> Callable[[pa.DataType], bytes]:
    return lambda _: encoded


def _decimal(data_type: pa.DataType) -> bytes:
    return struct.pack("<HQQq", _DECIMAL, data_type.bit_width, data_type.precision, data_type.scale)


def _timestamp(data_type: pa.DataType) -> bytes:
    head = struct.pack("<HH", _TIMESTAMP, _UNITS[data_type.unit])
    if data_type.tz is None:
        return head + b"\0"
    zone: bytes = data_type.tz.encode("utf-8")
    return head + struct.pack("<Q", len(zone)) + zone


# What a leaf's digest is fed before its values, by type.
_ENCODERS: dict[int, Callable[[pa.DataType], bytes]] = {
    lib.Type_NA: _constant(struct.pack("<H", _NULL)),
    lib.Type_BOOL: _constant(struct.pack("<H", _BOOL)),
    **{type_id: lambda t: struct.pack("<HBQ", _INT, 1, t.bit_width) for type_id in _SIGNED},
    **{type_id: lambda t: struct.pack("<HBQ", _INT, 0, t.bit_width) for type_id in _UNSIGNED},
    **{type_id: lambda t: struct.pack("<HQ", _FLOAT, t.bit_width) for type_id in _FLOATS},
    **dict.fromkeys(BINARIES, _constant(struct.pack("<H", _BINARY))),
    **dict.fromkeys(STRINGS, _constant(struct.pack("<H", _STRING))),
    **dict.fromkeys(_DECIMALS, _decimal),
    lib.Type_DATE32: _constant(struct.pack("<HQH", _DATE, 32, 0)),
    lib.Type_DATE64: _constant(struct.pack("<HQH", _DATE, 64, 1)),
    lib.Type_TIME32: lambda t: struct.pack("<HQH", _TIME, 32, _UNITS[t.unit]),
    lib.Type_TIME64: lambda t: struct.pack("<HQH", _TIME, 64, _UNITS[t.unit]),
    lib.Type_TIMESTAMP: _timestamp,
}


def is_flat(data_type: pa.DataType) -> bool:
    """Return whether a type has a line of its own in the table: no list, extension or encoding of another type."""
    return data_type.id in _ENCODERS


def encode_type(data_type: pa.DataType, path: tuple[str, ...] = (), above: int = 0) -> bytes:
    """Return the bytes that a leaf's digest is fed before its values.

    Args:
        data_type: The leaf column's type.
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
        peeled = peel(inner)
        if peeled is not None:
            inner = peeled
        elif inner.id in LISTS:
            encoded += struct.pack("<H", _LIST)
            inner = inner.value_type
        else:
            return encoded + _encode_values(inner, data_type, path)
    raise too_deep(path, data_type)


def _encode_values(values_type: pa.DataType, data_type: pa.DataType, path: tuple[str, ...]) -> bytes:
    if values_type.id not in _ENCODERS:
        reserved, reason = _RESERVED.get(values_type.id, (None, "the specification does not know it"))
        raise UnsupportedTypeError(path, data_type, "reserved" if reserved else "unknown", reason, reserved, RULE_SET)
    try:
        return _ENCODERS[values_type.id](values_type)
    except UnicodeDecodeError as error:
        reason = f"its time zone is not UTF-8 ({error.reason})"
        raise UnsupportedTypeError(path, data_type, "time_zone", reason) from None


def logical_type(data_type: pa.DataType) -> pa.DataType:
    """Return the plainest Arrow type that has the same arrow0 encoding.

    Two leaf columns can be the same records exactly when their logical types are equal.

    >>> logical_type(pa.large_list(pa.dictionary(pa.int8(), pa.string_view())))
    ListType(list<item: string>)
    """
    data_type = unwrap(data_type)
    if data_type.id in LISTS:
        return pa.list_(logical_type(data_type.value_type))
    if data_type.id in STRINGS:
        return pa.string()
    if data_type.id in BINARIES:
        return pa.binary()
    return data_type
