"""The one table of Arrow's types: which are text, binary or lists, what an encoding stands for, and types from text."""

from __future__ import annotations

import re

import pyarrow as pa
from pyarrow import lib

from arrow_digest.errors import UnsupportedTypeError

__all__ = ["BINARIES", "LISTS", "MAX_NESTING", "STRINGS", "parse_type", "peel", "too_deep", "unwrap", "unwrapped"]

MAX_NESTING = 128
"""How many levels a type may have: more than any data set and than Arrow's own readers of IPC allow, and few enough for
Python's stack."""

BINARIES = frozenset((lib.Type_BINARY, lib.Type_LARGE_BINARY, lib.Type_BINARY_VIEW, lib.Type_FIXED_SIZE_BINARY))
STRINGS = frozenset((lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_STRING_VIEW))
LISTS = frozenset(
    (lib.Type_LIST, lib.Type_LARGE_LIST, lib.Type_FIXED_SIZE_LIST, lib.Type_LIST_VIEW, lib.Type_LARGE_LIST_VIEW)
)


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
    return data_type.value_type if data_type.id in (lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED) else None


def too_deep(path: tuple[str, ...], data_type: pa.DataType) -> UnsupportedTypeError:
    """Return the error for a type of more levels than there may be."""
    return UnsupportedTypeError(path, data_type, "depth", f"nested deeper than {MAX_NESTING} levels")


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
