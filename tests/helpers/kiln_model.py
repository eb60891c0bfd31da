"""Kiln read a second time, byte after byte, from the specification alone.

This is the slow second opinion that the package is tested against: it imports neither package and no NumPy, and makes
the specification's checks in their order, so that of several faults it finds the one that comes first. It only reads.

Sections as in the specification: tensor directory, type text and schema hash, frozen values, frame.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn


class Refusal(Exception):
    """Where and why bytes or text are not Kiln.

    Attributes:
        code: "EOF", "TYPE" or "SCHEMA".
        rule: the slug of the violated rule.
        offset: in the caller's buffer or text.
        tensor: the index of the tensor concerned, if there is one.
    """

    def __init__(self, code: str, rule: str, offset: int, tensor: int | None = None) -> None:
        super().__init__(f"{code} {rule} at {offset}" + ("" if tensor is None else f", tensor {tensor}"))
        self.code, self.rule, self.offset, self.tensor = code, rule, offset, tensor


def refuse(rule: str, offset: int, tensor: int | None = None) -> NoReturn:
    raise Refusal("TYPE", rule, offset, tensor)


def require(data: bytes, end: int) -> None:
    """The buffer must reach to `end`."""
    if end > len(data):
        raise Refusal("EOF", "truncated", len(data))


def unsigned(data: bytes, at: int, width: int) -> int:
    return sum(data[at + i] << 8 * i for i in range(width))


def zeros(data: bytes, start: int, end: int, rule: str, tensor: int | None = None) -> None:
    for at in range(start, end):
        if data[at] != 0:
            refuse(rule, at, tensor)


def utf8(data: bytes, start: int, end: int, tensor: int | None = None) -> str:
    try:
        return data[start:end].decode("utf-8", "strict")
    except UnicodeDecodeError:
        refuse("utf8", start, tensor)


# --- 1. Tensor directory ----------------------------------------------------------------------------------------------

DTYPES = {
    1: ("bool", 1),
    2: ("i8", 1),
    3: ("i16", 2),
    4: ("i32", 4),
    5: ("i64", 8),
    6: ("u8", 1),
    7: ("u16", 2),
    8: ("u32", 4),
    9: ("u64", 8),
    10: ("f16", 2),
    11: ("bf16", 2),
    12: ("f32", 4),
    13: ("f64", 8),
    14: ("f8e4m3", 1),
    15: ("f8e5m2", 1),
    16: ("c64", 8),
    17: ("c128", 16),
}


class Entry(NamedTuple):
    """One tensor. `name` and `layout` are "" where there is none; with a layout the payload is opaque."""

    name: str
    layout: str
    dtype: str
    dims: tuple[int, ...]
    payload: bytes


class Descriptor(NamedTuple):
    dtype: str
    dims: tuple[int, ...]
    byte_offset: int
    byte_length: int
    name_length: int
    layout_length: int


def align64(x: int) -> int:
    return -(-x // 64) * 64


def read_directory(data: bytes, at: int = 0) -> tuple[list[Entry], int]:
    """The tensors of the directory that starts at `at`, and where it ends."""
    require(data, at + 64)
    count, name_bytes, payload_bytes, named = _header(data, at)
    heap = at + 64 + 128 * count
    payload = at + _size_up_to_payload(at, count, name_bytes, payload_bytes)
    end = payload + align64(payload_bytes)
    require(data, end)
    descriptors: list[Descriptor] = []
    running_end = 0
    for i in range(count):
        descriptors.append(_descriptor(data, at + 64 + 128 * i, i, running_end))
        running_end = descriptors[-1].byte_offset + descriptors[-1].byte_length
    if name_bytes != sum(d.name_length + d.layout_length for d in descriptors):
        refuse("name_bytes", at + 16)
    if payload_bytes != running_end:
        refuse("payload_bytes", at + 24)
    if named != any(d.name_length for d in descriptors):
        refuse("flags", at + 6)
    names, layouts = _names(data, heap, descriptors)
    zeros(data, heap + name_bytes, payload, "padding")
    covered = payload
    for i, d in enumerate(descriptors):
        start = payload + d.byte_offset
        zeros(data, covered, start, "padding", i)
        covered = start + d.byte_length
        if d.dtype == "bool" and not d.layout_length:
            for where in range(start, covered):
                if data[where] > 1:
                    refuse("bool", where, i)
    zeros(data, covered, end, "padding")
    starts = [payload + d.byte_offset for d in descriptors]
    payloads = [data[start : start + d.byte_length] for start, d in zip(starts, descriptors, strict=True)]
    parts = zip(names, layouts, descriptors, payloads, strict=True)
    return [Entry(name, layout, d.dtype, d.dims, content) for name, layout, d, content in parts], end


def _header(data: bytes, at: int) -> tuple[int, int, int, bool]:
    if data[at : at + 4] != b"KLNT":
        refuse("magic", at)
    if unsigned(data, at + 4, 2) != 2:
        refuse("version", at + 4)
    flags = unsigned(data, at + 6, 2)
    if not flags & 1 or flags & ~3:
        refuse("flags", at + 6)
    count, name_bytes, payload_bytes = (unsigned(data, at + offset, 8) for offset in (8, 16, 24))
    zeros(data, at + 32, at + 64, "reserved")
    if count == 0:
        if name_bytes != 0:
            refuse("name_bytes", at + 16)
        if payload_bytes != 0:
            refuse("payload_bytes", at + 24)
        if flags & 2:
            refuse("flags", at + 6)
    return count, name_bytes, payload_bytes, bool(flags & 2)


def _size_up_to_payload(at: int, count: int, name_bytes: int, payload_bytes: int) -> int:
    """The length of all that precedes the payload region; the field that makes the total 2^64 or more is refused."""
    size = align64(64 + 128 * count + name_bytes)
    if 64 + 128 * count >= 1 << 64:
        refuse("overflow", at + 8)
    if size >= 1 << 64:
        refuse("overflow", at + 16)
    if size + align64(payload_bytes) >= 1 << 64:
        refuse("overflow", at + 24)
    return size


def _descriptor(data: bytes, at: int, tensor: int, running_end: int) -> Descriptor:
    byte_offset, byte_length = unsigned(data, at, 8), unsigned(data, at + 8, 8)
    name_length, layout_length = unsigned(data, at + 16, 4), unsigned(data, at + 20, 4)
    code, rank = unsigned(data, at + 24, 2), data[at + 26]
    if code not in DTYPES:
        refuse("dtype", at + 24, tensor)
    if rank > 8:
        refuse("rank", at + 26, tensor)
    zeros(data, at + 27, at + 64, "reserved", tensor)
    dims = [unsigned(data, at + 64 + 8 * i, 8) for i in range(8)]
    for i in range(rank, 8):
        if dims[i] != 0:
            refuse("dims", at + 64 + 8 * i, tensor)
    name, item_bytes = DTYPES[code]
    if layout_length == 0:
        size_without_zeros = size = item_bytes
        for dim in dims[:rank]:
            size *= dim
            size_without_zeros *= dim or 1
        if size_without_zeros >= 1 << 63:
            refuse("overflow", at + 64, tensor)
        if byte_length != size:
            refuse("byte_length", at + 8, tensor)
    if byte_offset != align64(running_end):
        refuse("byte_offset", at, tensor)
    return Descriptor(name, tuple(dims[:rank]), byte_offset, byte_length, name_length, layout_length)


def _names(data: bytes, heap: int, descriptors: list[Descriptor]) -> tuple[list[str], list[str]]:
    names: list[str] = []
    layouts: list[str] = []
    for i, d in enumerate(descriptors):
        name = utf8(data, heap, heap + d.name_length, i)
        if name and name in names:
            refuse("duplicate_name", heap, i)
        names.append(name)
        heap += d.name_length
    for i, d in enumerate(descriptors):
        layouts.append(utf8(data, heap, heap + d.layout_length, i))
        heap += d.layout_length
    return names, layouts


def check_directory(data: bytes) -> list[Entry]:
    """The tensors of a directory with nothing after it, or a `Refusal`."""
    entries, end = read_directory(data)
    if end != len(data):
        refuse("trailing", end)
    return entries


# --- 2. Type text and schema hash -------------------------------------------------------------------------------------

INTEGERS = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8}
FLOATS = {"f32": 4, "f64": 8}
LEAVES = {"bool", *INTEGERS, *FLOATS, "str", "bytes", "tensors"}


class Type(NamedTuple):
    """A parsed type: `kind` is a leaf's word or struct, list, dict, option; `fields` are a struct's names and types."""

    kind: str
    item: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.open = text, 0, 0
        self.tokens: list[str] = []

    def word(self) -> str:
        """The run of word characters here; nothing is taken."""
        match = re.compile(r"[A-Za-z0-9_]*").match(self.text, self.at)
        return match.group() if match else ""

    def take(self, token: str) -> None:
        if not self.text.startswith(token, self.at):
            refuse("type_text", self.at)
        self.tokens.append(token)
        self.at += len(token)

    def type(self, inside: str = "") -> Type:
        start, word = self.at, self.word()
        if word in LEAVES:
            self.take(word)
            return Type(word)
        if word not in ("struct", "list", "dict", "option"):
            refuse("type_text", start)
        if not self.text.startswith("{", start + len(word)):
            refuse("type_text", start + len(word))
        if self.open == 64 or word == inside == "option":
            refuse("type_text", start)
        self.take(word + "{")
        self.open += 1
        result = self.struct() if word == "struct" else Type(word, self.one(word))
        self.take("}")
        self.open -= 1
        return result

    def one(self, inside: str) -> Type:
        item = self.type(inside)
        self.take(",")
        return item

    def struct(self) -> Type:
        fields: list[tuple[str, Type]] = []
        while not fields or not self.text.startswith("}", self.at):
            name = self.word()
            if not name or name[0].isdigit() or any(name == other for other, _ in fields):
                refuse("type_text", self.at)
            self.take(name)
            self.take(":")
            fields.append((name, self.one("struct")))
        return Type("struct", fields=tuple(fields))


def _parse(text: str) -> tuple[Type, list[str]]:
    parser = _Parser(text)
    result = parser.type()
    if parser.at != len(text):
        refuse("type_text", parser.at)
    return result, parser.tokens


def parse_type(text: str) -> Type:
    """The type a canonical text names, or a `Refusal` with the offset in the text."""
    return _parse(text)[0]


def schema_hash(text: str) -> int:
    """FNV-1a 64 over the tokens of a type text, each followed by a zero byte.

    >>> hex(schema_hash("struct{id:i64,batch:tensors,}"))
    '0xe58aadc7552f0d82'
    """
    state = 14695981039346656037
    for token in _parse(text)[1]:
        for byte in (*token.encode("ascii"), 0):
            state = (state ^ byte) * 1099511628211 % (1 << 64)
    return state


# --- 3. Frozen values -------------------------------------------------------------------------------------------------


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


# --- 4. Frame ---------------------------------------------------------------------------------------------------------


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
        raise Refusal("SCHEMA", "schema_hash", 8)
    return _whole(t, data, 16)
