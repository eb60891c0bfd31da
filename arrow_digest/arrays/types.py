"""The one table of Arrow's types: how each kind lies in memory, what an encoding stands for, and types from text.

No other module lists types by hand. Where a layout has a name here, the name is Arrow's.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
from pyarrow import lib

from arrow_digest.errors import UnsupportedTypeError

__all__ = [
    "BINARIES",
    "BINARY_OFFSETS",
    "ENCODINGS",
    "FIXED_WIDTH",
    "LARGE",
    "LISTS",
    "LIST_OFFSETS",
    "LIST_VIEWS",
    "MAX_NESTING",
    "STRINGS",
    "UNIONS",
    "VIEWS",
    "any_part",
    "as_binary",
    "has_offsets",
    "looks_up",
    "parse_type",
    "peel",
    "storage_type",
    "too_deep",
    "unwrap",
    "unwrapped",
]

MAX_NESTING = 128
"""How many levels a type may have: more than any data set and than Arrow's own readers of IPC allow, and few enough for
Python's stack."""

FIXED_WIDTH = frozenset(
    (
        *(lib.Type_INT8, lib.Type_INT16, lib.Type_INT32, lib.Type_INT64),
        *(lib.Type_UINT8, lib.Type_UINT16, lib.Type_UINT32, lib.Type_UINT64),
        *(lib.Type_HALF_FLOAT, lib.Type_FLOAT, lib.Type_DOUBLE),
        *(lib.Type_DECIMAL32, lib.Type_DECIMAL64, lib.Type_DECIMAL128, lib.Type_DECIMAL256),
        *(lib.Type_DATE32, lib.Type_DATE64, lib.Type_TIME32, lib.Type_TIME64, lib.Type_TIMESTAMP),
        *(lib.Type_DURATION, lib.Type_INTERVAL_MONTHS, lib.Type_INTERVAL_DAY_TIME, lib.Type_INTERVAL_MONTH_DAY_NANO),
    )
)
"""Values of one width, side by side, of whole bytes; a type's `byte_width` says how many."""

BINARY_OFFSETS = frozenset((lib.Type_BINARY, lib.Type_LARGE_BINARY, lib.Type_STRING, lib.Type_LARGE_STRING))
"""Bytes one after another, and offsets into them."""

VIEWS = frozenset((lib.Type_STRING_VIEW, lib.Type_BINARY_VIEW))
"""Bytes anywhere in some buffers, and where each value lies."""

LIST_OFFSETS = frozenset((lib.Type_LIST, lib.Type_LARGE_LIST, lib.Type_MAP))
"""Items one after another, and offsets into them; a map's items are its entries."""

LIST_VIEWS = frozenset((lib.Type_LIST_VIEW, lib.Type_LARGE_LIST_VIEW))
"""Items, and where those of each list lie, which may be the same."""

UNIONS = frozenset((lib.Type_SPARSE_UNION, lib.Type_DENSE_UNION))
"""Values of one of several children."""

ENCODINGS = frozenset((lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED))
"""Values of another type, looked up."""

LARGE = frozenset((lib.Type_LARGE_BINARY, lib.Type_LARGE_STRING, lib.Type_LARGE_LIST, lib.Type_LARGE_LIST_VIEW))
"""What has offsets, and sizes, of 64 bits; others have 32."""

BINARIES = frozenset((lib.Type_BINARY, lib.Type_LARGE_BINARY, lib.Type_BINARY_VIEW, lib.Type_FIXED_SIZE_BINARY))
"""Bytes of any kind."""

STRINGS = frozenset((lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_STRING_VIEW))
"""Text, which lies as bytes do."""

LISTS = frozenset(
    (lib.Type_LIST, lib.Type_LARGE_LIST, lib.Type_FIXED_SIZE_LIST, lib.Type_LIST_VIEW, lib.Type_LARGE_LIST_VIEW)
)
"""Lists in any layout; maps are no lists."""


def unwrap(data_type: pa.DataType, path: tuple[str, ...] = ()) -> pa.DataType:
    """Return what a type encodes: extension, dictionary and run-end encodings are peeled off.

    Args:
        data_type: Any type.
        path: Where it stands, for errors.

    Raises:
        UnsupportedTypeError: More encodings of encodings than there may be levels of nesting.

    >>> unwrap(pa.dictionary(pa.int8(), pa.string()))
    DataType(string)
    """
    return unwrapped(data_type, path, 0)[0]


def unwrapped(data_type: pa.DataType, path: tuple[str, ...], above: int) -> tuple[pa.DataType, int]:
    """Return what a type encodes, and at which level that is, where so many levels are above the type."""
    base = data_type
    for level in range(above + 1, MAX_NESTING + 1):
        inner = peel(base)
        if inner is None:
            return base, level
        base = inner
    raise too_deep(path, data_type)


def peel(data_type: pa.DataType) -> pa.DataType | None:
    """Return the type that an extension or encoding stands for, None for a plain type."""
    if isinstance(data_type, pa.BaseExtensionType):
        return data_type.storage_type
    return data_type.value_type if data_type.id in ENCODINGS else None


def too_deep(path: tuple[str, ...], data_type: pa.DataType) -> UnsupportedTypeError:
    """Return the error for a type of more levels than there may be."""
    return UnsupportedTypeError(path, data_type, "depth", f"nested deeper than {MAX_NESTING} levels")


def storage_type(data_type: pa.DataType) -> pa.DataType:
    """Return the type under extensions."""
    while isinstance(data_type, pa.BaseExtensionType):
        data_type = data_type.storage_type
    return data_type


def any_part(data_type: pa.DataType, test: Callable[[pa.DataType], bool]) -> bool:
    """Return whether a test holds for a type or one inside it.

    >>> any_part(pa.list_(pa.dictionary(pa.int8(), pa.string())), looks_up)
    True
    """
    if test(data_type):
        return True
    inner = peel(data_type)
    if inner is not None:
        return any_part(inner, test)
    return any(any_part(data_type.field(index).type, test) for index in range(data_type.num_fields))


def looks_up(data_type: pa.DataType) -> bool:
    """Return whether slots of a type say where their values lie, so that many may have the same."""
    return data_type.id in _LOOKED_UP


def has_offsets(data_type: pa.DataType) -> bool:
    """Return whether offsets say where the values of slots begin and end, one after another."""
    return data_type.id in BINARY_OFFSETS or data_type.id in LIST_OFFSETS


def as_binary(array: pa.Array) -> pa.Array:
    """Return text as binary over the same buffers, so that nothing looks at its characters; other arrays as they are.

    >>> as_binary(pa.array(["a"])).type
    DataType(binary)
    """
    binary = _BINARY_OF_TEXT.get(array.type.id)
    return array if binary is None else array.view(binary)


_LOOKED_UP = ENCODINGS | LIST_VIEWS | VIEWS
_BINARY_OF_TEXT = {
    lib.Type_STRING: pa.binary(),
    lib.Type_LARGE_STRING: pa.large_binary(),
    lib.Type_STRING_VIEW: pa.binary_view(),
}
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


def parse_type(text: str) -> pa.DataType | None:
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
