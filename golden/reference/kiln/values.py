"""Frozen values, profile 0, and frames."""

from __future__ import annotations

from typing import Any, NamedTuple

from .directory import read_directory
from .refusal import RefusedError, refuse, require, unsigned, utf8
from .typetext import FLOATS, INTEGERS, Type, parse_type, schema_hash


class Float(NamedTuple):
    """A float as its bits, so that nothing rounds it."""

    width: int
    bits: int


def smallest(t: Type) -> int:
    """The fewest bytes a value of the type takes."""
    widths = {"bool": 1, **INTEGERS, **FLOATS, "str": 8, "bytes": 8, "list": 8, "dict": 8, "option": 1, "tensors": 64}
    return sum(smallest(field) for _, field in t.fields) if t.kind == "struct" else widths[t.kind]


def read_value(t: Type, data: bytes, at: int) -> tuple[Any, int]:
    """The value at `at`, and where it ends."""
    if t.kind in ("bool", "option"):
        require(data, at + 1)
        if data[at] > 1:
            refuse(t.kind, at)
        if t.kind == "bool":
            return bool(data[at]), at + 1
        return read_value(t.item, data, at + 1) if data[at] else (None, at + 1)
    if t.kind in INTEGERS or t.kind in FLOATS:
        width = {**INTEGERS, **FLOATS}[t.kind]
        require(data, at + width)
        number = unsigned(data, at, width)
        if t.kind in FLOATS:
            return Float(width, number), at + width
        negative = t.kind.startswith("i") and number >> 8 * width - 1
        return number - (1 << 8 * width if negative else 0), at + width
    if t.kind in ("str", "bytes"):
        start, end = _blob(data, at)
        return (utf8(data, start, end) if t.kind == "str" else data[start:end]), end
    if t.kind == "list":
        return _list(t, data, at)
    if t.kind == "dict":
        return _dict(t, data, at)
    if t.kind == "struct":
        values = {}
        for name, field in t.fields:
            values[name], at = read_value(field, data, at)
        return values, at
    return read_directory(data, at)


def _blob(data: bytes, at: int) -> tuple[int, int]:
    require(data, at + 8)
    end = at + 8 + unsigned(data, at, 8)
    require(data, end)
    return at + 8, end


def _count(data: bytes, at: int, item_bytes: int) -> tuple[int, int]:
    require(data, at + 8)
    count = unsigned(data, at, 8)
    require(data, at + 8 + count * item_bytes)
    return count, at + 8


def _list(t: Type, data: bytes, at: int) -> tuple[list[Any], int]:
    count, at = _count(data, at, smallest(t.item))
    values = []
    for _ in range(count):
        value, at = read_value(t.item, data, at)
        values.append(value)
    return values, at


def _dict(t: Type, data: bytes, at: int) -> tuple[dict[str, Any], int]:
    count, at = _count(data, at, 8 + smallest(t.item))
    values: dict[str, Any] = {}
    last: bytes | None = None
    for _ in range(count):
        start, at = _blob(data, at)
        key = utf8(data, start, at)
        if last is not None and data[start:at] <= last:
            refuse("key_order", start)
        last = data[start:at]
        values[key], at = read_value(t.item, data, at)
    return values, at


def _whole(t: Type, data: bytes, at: int) -> Any:
    value, end = read_value(t, data, at)
    if end != len(data):
        refuse("trailing", end)
    return value


def thaw(type_text: str, data: bytes) -> Any:
    """The value of a type that `data` holds, with nothing after it.

    A struct and a dict are dicts, floats are `Float`s, tensors a list of `Entry`s.
    """
    return _whole(parse_type(type_text), data, 0)


def unframe(type_text: str, data: bytes) -> Any:
    """The value behind a frame, with nothing after it."""
    t = parse_type(type_text)
    require(data, 16)
    if data[:4] != b"KLN0":
        refuse("magic", 0)
    for rule, at, width in (("profile", 4, 1), ("flags", 5, 2), ("reserved", 7, 1)):
        if unsigned(data, at, width) != 0:
            refuse(rule, at)
    if unsigned(data, 8, 8) != schema_hash(type_text):
        raise RefusedError("SCHEMA", "schema_hash", 8)
    return _whole(t, data, 16)
