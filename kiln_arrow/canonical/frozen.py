"""Frozen values: positional bytes without tags, one encoding per value (spec: frozen values, profile 0)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from kiln_arrow.canonical.buffers import readable_bytes
from kiln_arrow.canonical.decoder import read_directory
from kiln_arrow.canonical.directory import Directory, plan_of
from kiln_arrow.canonical.encoder import parts_of
from kiln_arrow.canonical.layout import HEADER_SIZE
from kiln_arrow.canonical.typetext import Dict, Leaf, List, Option, Type, parse_type, remembered
from kiln_arrow.errors import KilnError, Rule, end_of_buffer, shown
from kiln_arrow.limits import CONTAINER_BYTES, Budget

__all__ = [
    "Codec",
    "Made",
    "Parts",
    "check_value",
    "codec_of",
    "freeze",
    "read_value",
    "thaw",
]

Parts = list["bytes | memoryview"]


class Codec(NamedTuple):
    """Both directions of one type.

    `write` appends a value's bytes to a list; `read` takes a view and where the value begins, and returns it with
    where it ends. Without a count of what is made, the bytes are checked all the same, but nothing is made of them, and
    what comes for the value says nothing. No value of the type is shorter than `smallest` bytes. `structs` is how many
    structs every value has, those in options, lists and dicts left out.
    """

    smallest: int
    write: Callable[[Any, Parts], None]
    read: Callable[[memoryview, int, Made | None], tuple[Any, int]]
    structs: int = 0


class Made:
    """Counts the dicts made for structs, of which one byte may need as many as a type has levels."""

    def __init__(self, size: int) -> None:
        self._left = _ORDINARY_STRUCTS * size
        self._budget: Budget | None = None  # of the first struct beyond them

    def struct(self) -> None:
        """Count one more.

        Raises:
            KilnError: More than the bytes and the limit allow; rule `expansion`.
        """
        self._left -= 1
        if self._left < 0:
            self._budget = self._budget or Budget()
            self._budget.spend(CONTAINER_BYTES, "structs in structs")


# So many structs for each byte of a value count as ordinary.
_ORDINARY_STRUCTS = 8


def freeze(type_text: str, value: object) -> bytes:
    """Return the one encoding of `value` as the type says.

    Args:
        type_text: Canonical type text.
        value: bool; int or a NumPy integer; float or a NumPy float (for `f32` rounded to nearest, except that a
            float32 keeps its bits); str; bytes, bytearray or memoryview; list or tuple; a mapping for `dict` and for
            `struct`; None where there is an option; for `tensors` what `encode` takes.

    Raises:
        KilnError: The type text or the value is refused; `path` says which part of the value.

    >>> import kiln_arrow
    >>> kiln_arrow.freeze("struct{id:u16,tag:option{str,},}", {"id": 7, "tag": "a"}).hex()
    '070001010000000000000061'
    """
    parts: Parts = []
    codec_of(type_text).write(value, parts)
    return b"".join(parts)


def thaw(type_text: str, buffer: Any) -> Any:
    r"""Return the value of a buffer that holds exactly one encoding of the type.

    Integers come as int, `f32` as numpy.float32 with its bits, `f64` as float, a struct as a dict in field order,
    `tensors` as a `Directory` of read-only views of the buffer, copied where an address does not suit a dtype.
    For every accepted buffer `freeze(type_text, thaw(type_text, buffer)) == buffer`.

    Raises:
        KilnError: The type text or the bytes are refused; `path` and `offset` say where.
        KilnEOFError: The buffer ends too soon; it is an EOFError too.

    >>> import kiln_arrow
    >>> kiln_arrow.thaw("list{i8,}", b"\x02\0\0\0\0\0\0\0\x01\xff")
    [1, -1]
    """
    return read_value(codec_of(type_text), readable_bytes(buffer), 0)


def read_value(codec: Codec, view: memoryview, at: int) -> Any:
    """Return the value that begins at `at` and ends where the view does."""
    value, end = codec.read(view, at, Made(len(view) - at))
    _require_end(view, end)
    return value


def check_value(codec: Codec, view: memoryview, at: int) -> None:
    """Check what `read_value` checks, and make no values."""
    _, end = codec.read(view, at, None)
    _require_end(view, end)


def _require_end(view: memoryview, end: int) -> None:
    if end != len(view):
        raise KilnError("trailing", f"expected nothing after the value, found {len(view) - end} bytes", offset=end)


@remembered
def codec_of(type_text: str) -> Codec:
    """Return the codec of a canonical type text."""
    return _codec(parse_type(type_text))


def _codec(kind: Type) -> Codec:
    if isinstance(kind, Leaf):
        return _LEAVES[kind.word]
    if isinstance(kind, List):
        return _list(_codec(kind.item))
    if isinstance(kind, Dict):
        return _dict(_codec(kind.value))
    if isinstance(kind, Option):
        return _option(_codec(kind.value))
    return _struct([(name, _codec(field)) for name, field in kind.fields])


def _field_step(key: object) -> str:
    """Return the step to a field the type does not have, whose key may be anything."""
    return key if isinstance(key, str) and len(key) <= 80 and key.isidentifier() else f"[{shown(key)}]"


def _refused_value(expected: str, value: object) -> KilnError:
    return KilnError("value", f"expected {expected}, found {type(value).__name__} {shown(value)}")


def _fixed(size: int, what: str, view: memoryview, at: int) -> int:
    """Return where a field of `size` bytes ends, once they are known to be there."""
    end = at + size
    if end > len(view):
        raise end_of_buffer(size, at, len(view), what)
    return end


def _flag(rule: Rule, view: memoryview, at: int) -> tuple[bool, int]:
    end = _fixed(1, rule, view, at)
    if view[at] > 1:
        raise KilnError(rule, f"expected a {rule} byte of 0 or 1, found {view[at]:#04x}", offset=at)
    return view[at] == 1, end


def _write_bool(value: Any, parts: Parts) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise _refused_value("a bool", value)
    parts.append(b"\1" if value else b"\0")


def _read_bool(view: memoryview, at: int, _: Made | None) -> tuple[bool, int]:
    return _flag("bool", view, at)


def _integer(word: str, size: int) -> Codec:
    signed = word[0] == "i"
    low = -(1 << (8 * size - 1)) if signed else 0
    high = low + (1 << 8 * size) - 1

    def write(value: Any, parts: Parts) -> None:
        # NumPy counts a timedelta64 among its integers, Python a bool.
        if not isinstance(value, (int, np.integer)) or isinstance(value, (bool, np.timedelta64)):
            raise _refused_value(f"an integer for {word}", value)
        number = int(value)
        if not low <= number <= high:
            raise KilnError("range", f"expected {word} from {low} to {high}, found {shown(value)}")
        parts.append(number.to_bytes(size, "little", signed=signed))

    def read(view: memoryview, at: int, _: Made | None) -> tuple[int, int]:
        end = _fixed(size, word, view, at)
        return int.from_bytes(view[at:end], "little", signed=signed), end

    return Codec(size, write, read)


_F32 = np.dtype("<f4")
_F64 = struct.Struct("<d")


def _write_f32(value: Any, parts: Parts) -> None:
    if isinstance(value, (np.float32, np.float16)):
        parts.append(value.astype(_F32).tobytes())
    elif isinstance(value, float):
        parts.append(_rounded_f32(value))
    else:
        raise _refused_value("a float for f32", value)


def _rounded_f32(value: float) -> bytes:
    if value != value:  # made quiet by hand, as processors and Pythons differ in what they keep of a NaN
        bits = int.from_bytes(_F64.pack(value), "little")
        return ((bits >> 63) << 31 | 0x7FC00000 | (bits >> 29) & 0x3FFFFF).to_bytes(4, "little")
    try:
        return struct.pack("<f", value)
    except OverflowError:
        raise KilnError("range", f"expected a float within f32, found {value!r}") from None


def _read_f32(view: memoryview, at: int, _: Made | None) -> tuple[np.float32, int]:
    end = _fixed(4, "f32", view, at)
    return np.ndarray((), _F32, view, at)[()], end


def _write_f64(value: Any, parts: Parts) -> None:
    if not isinstance(value, (float, np.float32, np.float16)):
        raise _refused_value("a float for f64", value)
    parts.append(_F64.pack(value))


def _read_f64(view: memoryview, at: int, _: Made | None) -> tuple[float, int]:
    end = _fixed(8, "f64", view, at)
    return _F64.unpack_from(view, at)[0], end


def _read_count(view: memoryview, at: int, smallest: int, what: str) -> tuple[int, int]:
    """Return a count and where its items begin, once the rest could hold that many at their smallest."""
    start = _fixed(8, f"{what} count", view, at)
    count = int.from_bytes(view[at:start], "little")
    if count * smallest > len(view) - start:
        raise end_of_buffer(count * smallest, start, len(view), what)
    return count, start


def _write_bytes(value: Any, parts: Parts) -> None:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _refused_value("bytes", value)
    raw = bytes(value)
    parts += [len(raw).to_bytes(8, "little"), raw]


def _read_bytes(view: memoryview, at: int, made: Made | None) -> tuple[bytes, int]:
    length, start = _read_count(view, at, 1, "bytes")
    return b"" if made is None else bytes(view[start : start + length]), start + length


def _text_bytes(value: Any, what: str) -> bytes:
    if not isinstance(value, str):
        raise _refused_value(what, value)
    try:
        return str.encode(value)  # a subclass may encode itself to anything
    except UnicodeEncodeError as error:
        raise KilnError("utf8", f"expected text without surrogates, found {shown(value)}") from error


def _write_str(value: Any, parts: Parts) -> None:
    raw = _text_bytes(value, "a string")
    parts += [len(raw).to_bytes(8, "little"), raw]


def _read_str(view: memoryview, at: int, _: Made | None) -> tuple[str, int]:
    length, start = _read_count(view, at, 1, "text")
    end = start + length
    try:
        return str(view[start:end], "utf-8"), end
    except UnicodeDecodeError as error:
        found = shown(bytes(view[start + error.start : start + error.end]))
        raise KilnError("utf8", f"expected UTF-8, found {found}: {error.reason}", offset=start) from error


def _write_tensors(value: Any, parts: Parts) -> None:
    parts += parts_of(plan_of(value))


def _read_tensors(view: memoryview, at: int, _: Made | None) -> tuple[Directory, int]:
    front = read_directory(view, at)
    return Directory.from_bytes(front, view, at), at + front.length


def _list(item: Codec) -> Codec:
    def write(value: Any, parts: Parts) -> None:
        if not isinstance(value, (list, tuple)):
            raise _refused_value("a list", value)
        count_at = len(parts)
        parts.append(b"")
        index = 0
        try:
            for entry in value:
                item.write(entry, parts)
                index += 1  # needed after the loop breaks off
        except KilnError as error:
            raise error.placed(f"[{index}]") from error.__cause__
        parts[count_at] = index.to_bytes(8, "little")  # what was written, whatever a subclass says of its length

    def read(view: memoryview, at: int, made: Made | None) -> tuple[list[Any], int]:
        count, at = _read_count(view, at, item.smallest, "list items")
        items: list[Any] = []
        index = 0
        try:
            for _ in range(count):
                value, at = item.read(view, at, made)
                if made is not None:
                    items.append(value)
                index += 1  # needed after the loop breaks off
        except KilnError as error:
            raise error.placed(f"[{index}]") from error.__cause__
        return items, at

    return Codec(8, write, read)


def _dict(item: Codec) -> Codec:
    def write(value: Any, parts: Parts) -> None:
        if not isinstance(value, Mapping):
            raise _refused_value("a mapping", value)
        entries = sorted([(_text_bytes(key, "a string as a key"), key) for key in value], key=itemgetter(0))
        parts.append(len(entries).to_bytes(8, "little"))
        last: bytes | None = None
        for raw, key in entries:
            if raw == last:  # a mapping of its own kind may have keys that differ and are the same text
                raise KilnError("key_order", f"expected every key once, found {shown(key)} again")
            last = raw
            parts += [len(raw).to_bytes(8, "little"), raw]
            try:
                item.write(value[key], parts)
            except KilnError as error:
                raise error.placed(f"[{shown(key)}]") from error.__cause__

    def read(view: memoryview, at: int, made: Made | None) -> tuple[dict[str, Any], int]:
        count, at = _read_count(view, at, 8 + item.smallest, "dict entries")
        entries: dict[str, Any] = {}
        last: str | None = None
        for _ in range(count):
            key, end = _read_str(view, at, made)
            if last is not None and key <= last:  # strings compare by code point, which is UTF-8's byte order
                sentence = f"expected a key after {shown(last)} in byte order, found {shown(key)}"
                raise KilnError("key_order", sentence, offset=at + 8)
            last = key
            try:
                value, at = item.read(view, end, made)
            except KilnError as error:
                raise error.placed(f"[{shown(key)}]") from error.__cause__
            if made is not None:
                entries[key] = value
        return entries, at

    return Codec(8, write, read)


def _option(inner: Codec) -> Codec:
    def write(value: Any, parts: Parts) -> None:
        parts.append(b"\0" if value is None else b"\1")
        if value is not None:
            inner.write(value, parts)

    def read(view: memoryview, at: int, made: Made | None) -> tuple[Any, int]:
        present, at = _flag("option", view, at)
        return inner.read(view, at, made) if present else (None, at)

    return Codec(1, write, read)


def _struct(fields: list[tuple[str, Codec]]) -> Codec:
    names = {name for name, _ in fields}
    smallest = sum(codec.smallest for _, codec in fields)
    structs = 1 + sum(codec.structs for _, codec in fields)
    # Of a type that has bytes enough for its structs, no value has too many.
    is_ordinary = structs <= _ORDINARY_STRUCTS * smallest

    def write(value: Any, parts: Parts) -> None:
        if not isinstance(value, Mapping):
            raise _refused_value("a mapping of fields", value)
        for key in value:
            if key not in names:
                raise KilnError("field", f"expected only fields of the type, found {shown(key)}", path=_field_step(key))
        for name, codec in fields:
            if name not in value:
                raise KilnError("field", f"expected a value for field {name}, found none", path=name)
            try:
                codec.write(value[name], parts)
            except KilnError as error:
                raise error.placed(name) from error.__cause__

    def read(view: memoryview, at: int, made: Made | None) -> tuple[dict[str, Any], int]:
        values: dict[str, Any] = {}
        if made is not None and not is_ordinary:
            made.struct()
        name = ""
        try:
            for name, codec in fields:
                value, at = codec.read(view, at, made)
                if made is not None:
                    values[name] = value
        except KilnError as error:
            raise error.placed(name) from error.__cause__
        return values, at

    return Codec(smallest, write, read, structs)


_LEAVES: dict[str, Codec] = {
    "bool": Codec(1, _write_bool, _read_bool),
    **{f"{sign}{8 * size}": _integer(f"{sign}{8 * size}", size) for size in (1, 2, 4, 8) for sign in "iu"},
    "f32": Codec(4, _write_f32, _read_f32),
    "f64": Codec(8, _write_f64, _read_f64),
    "str": Codec(8, _write_str, _read_str),
    "bytes": Codec(8, _write_bytes, _read_bytes),
    "tensors": Codec(HEADER_SIZE, _write_tensors, _read_tensors),
}
