"""What tree0 and bag0 share: bytes of numbers and text, types, and records as plain Python values.

The page follows docs/spec/tree0.md up to "Values". A value is

    None                  a null, of whatever kind
    bytes                 a value of fixed width, binary or text
    bool                  a bool
    a sequence            the items of a list; of a map, pairs of a key and a value
    a tuple               the fields of a struct
    (child, value)        a union's child number and the value in this child

so that what hashes values need not know how Arrow lays them out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import blake3
import pyarrow as pa
import pyarrow.types as pt

Value = Any
Digest = Callable[[bytes], bytes]
Path = tuple[str, ...]

# H, the digest function: 32 bytes out. The first one is the standard one.
FUNCTIONS: dict[str, Digest] = {
    "blake3": lambda data: blake3.blake3(data).digest(),
    "sha3-256": lambda data: hashlib.sha3_256(data).digest(),
    "sha2-256": lambda data: hashlib.sha256(data).digest(),
}

DEEPEST = 128  # levels of types; a column is one
MOST_ENCODINGS = 128  # around one type


class RefusedError(Exception):
    """Records that have no hash: by which rule, and in which field.

    The path has the names of the column and of the fields of structs and unions below it; the item of a list, and the
    key and the value of a map, have no names.
    """

    def __init__(self, rule: str, path: Path, message: str) -> None:
        super().__init__(f"{'.'.join(path)}: {message} ({rule})")
        self.rule = rule
        self.path = path


# --- Notation ---------------------------------------------------------------------------------------------------------


def u16(number: int) -> bytes:
    return number.to_bytes(2, "little")


def u64(number: int) -> bytes:
    return number.to_bytes(8, "little")


def text(string: str) -> bytes:
    data = string.encode()
    return u64(len(data)) + data


def length(number: int) -> bytes:
    """A short number for nearly all lengths; the one that no short number has says that a long one follows."""
    return number.to_bytes(4, "little") if number < 2**32 - 1 else b"\xff\xff\xff\xff" + u64(number)


# --- Types ------------------------------------------------------------------------------------------------------------


class Type(NamedTuple):
    """A type without its encodings and layouts.

    `layout` says how its values are hashed: null, bool, fixed, bytes, list, struct, union or map. `head` is what its
    bytes begin with. A list has one child, a map two, its key and its value, and their names are empty.
    """

    layout: str
    head: bytes
    children: tuple[Field, ...] = ()


class Field(NamedTuple):
    name: str
    type: Type


def type_bytes(t: Type) -> bytes:
    """The bytes of a type: the table of the section "Types"."""
    if t.layout in ("struct", "union"):
        fields = b"".join(text(field.name) + type_bytes(field.type) for field in t.children)
        return t.head + u64(len(t.children)) + fields
    return t.head + b"".join(type_bytes(child.type) for child in t.children)


UNITS = {"s": u16(0), "ms": u16(1), "us": u16(2), "ns": u16(3)}
INTERVALS = {  # pyarrow has a test for the last of them only
    pa.lib.Type_INTERVAL_MONTHS: u16(0),
    pa.lib.Type_INTERVAL_DAY_TIME: u16(1),
    pa.lib.Type_INTERVAL_MONTH_DAY_NANO: u16(2),
}


def decoded(t: pa.DataType, path: Path = ()) -> pa.DataType:
    """What a type stands for: dictionary and run-end encoding are encodings, an extension is its storage."""
    encodings = 0
    while isinstance(t, pa.BaseExtensionType) or pt.is_dictionary(t) or pt.is_run_end_encoded(t):
        t = t.storage_type if isinstance(t, pa.BaseExtensionType) else t.value_type
        encodings += 1
        if encodings > MOST_ENCODINGS:
            raise RefusedError(
                "encodings", path, f"more than {MOST_ENCODINGS} encodings and extensions around one type"
            )
    return t


def is_list(t: pa.DataType) -> bool:
    layouts = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view, pt.is_large_list_view)
    return any(test(t) for test in layouts)


def is_bytes(t: pa.DataType) -> bool:
    return any(test(t) for test in (pt.is_binary, pt.is_large_binary, pt.is_binary_view, pt.is_fixed_size_binary))


def is_text(t: pa.DataType) -> bool:
    return any(test(t) for test in (pt.is_string, pt.is_large_string, pt.is_string_view))


def type_of(t: pa.DataType, path: Path = (), depth: int = 1) -> Type:
    """An Arrow type as the rule sets see it, at some depth below the table."""
    if depth > DEEPEST:
        raise RefusedError("depth", path, f"types nested deeper than {DEEPEST} levels")
    t = decoded(t, path)
    if pt.is_null(t):
        return Type("null", u16(0))
    if pt.is_integer(t):
        return Type("fixed", u16(1) + bytes([pt.is_signed_integer(t)]) + u16(t.bit_width))
    if pt.is_floating(t):
        return Type("fixed", u16(2) + u16(t.bit_width))
    if is_bytes(t):
        return Type("bytes", u16(3))
    if is_text(t):
        return Type("bytes", u16(4))
    if pt.is_boolean(t):
        return Type("bool", u16(5))
    if pt.is_decimal(t):
        if not -(2**15) <= t.scale < 2**15:
            raise RefusedError("scale", path, f"a scale of {t.scale} does not fit 16 bits")
        return Type("fixed", u16(6) + u16(t.precision) + t.scale.to_bytes(2, "little", signed=True))
    if pt.is_date(t):
        return Type("fixed", u16(7) + u16(1 if pt.is_date64(t) else 0))
    if pt.is_time(t):
        return Type("fixed", u16(8) + UNITS[t.unit])
    if pt.is_timestamp(t):
        return Type("fixed", u16(9) + UNITS[t.unit] + text(_zone(t, path)))
    if t.id in INTERVALS:
        return Type("fixed", u16(10) + INTERVALS[t.id])
    if is_list(t):
        return Type("list", u16(11), (Field("", type_of(t.value_type, path, depth + 1)),))
    if pt.is_struct(t):
        return Type("struct", u16(12), _fields(t, path, depth + 1))
    if pt.is_union(t):
        return Type("union", u16(13), _fields(t, path, depth + 1))
    if pt.is_map(t):
        key, value = type_of(t.key_type, path, depth + 1), type_of(t.item_type, path, depth + 1)
        return Type("map", u16(16), (Field("", key), Field("", value)))
    if pt.is_duration(t):
        return Type("fixed", u16(17) + UNITS[t.unit])
    raise RefusedError("type", path, f"{t} is no type of the specification")


def _fields(t: pa.DataType, path: Path, depth: int) -> tuple[Field, ...]:
    return tuple(field_of(t.field(i), path, depth) for i in range(t.num_fields))


def field_of(field: pa.Field, above: Path = (), depth: int = 1) -> Field:
    try:
        name = field.name
    except UnicodeDecodeError:
        raise RefusedError("name", above, "a field's name is not UTF-8") from None
    return Field(name, type_of(field.type, (*above, name), depth))


def _zone(t: pa.DataType, path: Path) -> str:
    try:
        return t.tz or ""
    except UnicodeDecodeError:
        raise RefusedError("time_zone", path, "a time zone is not UTF-8") from None


# --- Records ----------------------------------------------------------------------------------------------------------


class Records(NamedTuple):
    """A table: its columns' names and types, how many rows it has, and the values of each column."""

    fields: tuple[Field, ...]
    row_count: int
    columns: tuple[Sequence[Value], ...]


class Nulls(Sequence[None]):
    """So many nulls, which take no memory: a list of null-type items can be longer than any memory."""

    def __init__(self, length: int) -> None:
        self._places = range(length)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: Any) -> Any:
        places = self._places[index]  # IndexError at the end, where iterating stops
        return Nulls(len(places)) if isinstance(places, range) else None
