"""The same values in any physical layout Arrow allows, written buffer by buffer.

Values are neutral: None, a bool, bytes (everything of fixed width, text, binary), a list, a dict of a struct's
fields by position ("0", "1", …), a list of pairs for a map, or a union's child number and value. `write` lays them out
for a type and spends the freedom the columnar format leaves as `Noise` says; `read` gets them back through pyarrow.
Both work on the blind form of a type, in which nothing means anything (`blind`), so text need not be UTF-8 and a date
need not be a day. `recast` hangs another type on the same buffers.
"""

from __future__ import annotations

import random
import struct
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from hypothesis import reject

Value = Any


# --- Types ------------------------------------------------------------------------------------------------------------

LIST_LAYOUTS = (
    (pt.is_list, pa.list_),
    (pt.is_large_list, pa.large_list),
    (pt.is_list_view, pa.list_view),
    (pt.is_large_list_view, pa.large_list_view),
)


def is_list(t: pa.DataType) -> bool:
    return pt.is_fixed_size_list(t) or any(test(t) for test, _ in LIST_LAYOUTS)


def with_item(t: pa.DataType, item: pa.DataType) -> pa.DataType:
    """The list type `t` over another item type."""
    if pt.is_fixed_size_list(t):
        return pa.list_(item, t.list_size)
    return next(make(item) for test, make in LIST_LAYOUTS if test(t))


def union_type(mode: str, fields: list[tuple[str, pa.DataType]], codes: list[int]) -> pa.DataType:
    return pa.union([pa.field(name, t) for name, t in fields], mode, codes)


BLIND_TEXT = (
    (pt.is_string, pa.binary()),
    (pt.is_large_string, pa.large_binary()),
    (pt.is_string_view, pa.binary_view()),
)


def blind(t: pa.DataType) -> pa.DataType:
    """The type with the same buffers as `t` whose values mean nothing; the fields of structs are numbered."""
    if isinstance(t, pa.BaseExtensionType):
        return blind(t.storage_type)
    if pt.is_dictionary(t):
        return pa.dictionary(t.index_type, blind(t.value_type), t.ordered)
    if pt.is_run_end_encoded(t):
        return pa.run_end_encoded(t.run_end_type, blind(t.value_type))
    if is_list(t):
        return with_item(t, blind(t.value_type))
    if pt.is_struct(t):
        return pa.struct([(str(i), blind(t.field(i).type)) for i in range(t.num_fields)])
    if pt.is_map(t):
        return pa.map_(blind(t.key_type), blind(t.item_type))
    if pt.is_union(t):
        return union_type(t.mode, [(str(i), blind(t.field(i).type)) for i in range(t.num_fields)], t.type_codes)
    for test, binary in BLIND_TEXT:
        if test(t):
            return binary
    if pt.is_null(t) or pt.is_boolean(t) or pt.is_binary(t) or pt.is_large_binary(t) or pt.is_binary_view(t):
        return t
    return pa.binary(t.bit_width // 8)


class _Pair:
    """An array for pyarrow to import: the buffers of one array under another type."""

    def __init__(self, array: pa.Array, data_type: pa.DataType) -> None:
        self._array, self._type = array, data_type

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self._type.__arrow_c_schema__(), self._array.__arrow_c_array__()[1]


def recast(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    """The same buffers under a type of the same layout. Nothing is copied, nothing is checked."""
    result = pa.array(_Pair(array, data_type))
    if result.type != data_type:
        raise TypeError(f"{data_type} came back as {result.type}")
    return result


def read(array: pa.Array) -> list[Value]:
    """The neutral values of an array. Level by level: pyarrow's scalars do not know every nesting, and some abort."""
    t = array.type
    if isinstance(t, pa.BaseExtensionType):
        return read(array.storage)
    if pt.is_dictionary(t):
        entries = read(array.dictionary)
        return [None if i is None else entries[i] for i in array.indices.to_pylist()]
    if pt.is_run_end_encoded(t):
        runs, ends = read(array.values), array.run_ends.to_pylist()
        rows = [value for value, a, b in zip(runs, [0, *ends], ends, strict=False) for _ in range(a, b)]
        return rows[array.offset : array.offset + len(array)]
    if pt.is_struct(t):
        columns = {str(i): read(array.field(i)) for i in range(t.num_fields)}
        return [{n: c[i] for n, c in columns.items()} if ok else None for i, ok in enumerate(_is_valid(array))]
    if pt.is_union(t):
        return _read_union(array)
    if pt.is_map(t):
        pairs = list(zip(read(array.keys), read(array.items), strict=True))
        ranges = pairwise(array.offsets.to_pylist())
        return [pairs[start:end] if ok else None for ok, (start, end) in zip(_is_valid(array), ranges, strict=True)]
    if is_list(t):
        items = read(array.values)
        return [
            items[start:end] if ok else None for ok, (start, end) in zip(_is_valid(array), _ranges(array), strict=True)
        ]
    return recast(array, blind(t)).to_pylist()


def _read_union(array: pa.Array) -> list[Value]:
    """A union's slots. pyarrow's codes and offsets forget the slice, and its sparse children know of it."""
    t = array.type
    _, codes, *offsets = array.buffers()[: 3 if t.mode == "dense" else 2]
    numbers = [t.type_codes.index(code) for code in codes.to_pybytes()[array.offset :][: len(array)]]
    children = [read(array.field(i)) for i in range(t.num_fields)]
    places = range(len(array))
    if offsets:
        places = struct.unpack_from(f"<{len(array)}i", offsets[0].to_pybytes(), 4 * array.offset)
    return [(number, children[number][place]) for number, place in zip(numbers, places, strict=True)]


def _is_valid(array: pa.Array) -> list[bool]:
    return array.is_valid().to_pylist()


def _ranges(array: pa.Array) -> list[tuple[int, int]]:
    if pt.is_fixed_size_list(array.type):
        size = array.type.list_size
        return [(i * size, (i + 1) * size) for i in range(array.offset, array.offset + len(array))]
    starts = array.offsets.to_pylist()
    if pt.is_list_view(array.type) or pt.is_large_list_view(array.type):
        return [(start, start + size) for start, size in zip(starts, array.sizes.to_pylist(), strict=True)]
    return list(pairwise(starts))


# --- Noise ------------------------------------------------------------------------------------------------------------

PATTERNS = {  # zeros, ones, infinities, quiet and signalling NaNs of the IEEE formats, by width
    2: [0, 1, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7E01, 0x7C01, 0xFFFF, 0x0100],
    4: [0, 1, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00001, 0x7F800001, 256, 0xFFFFFFFF],
    8: [0, 1, 1 << 63, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, (0x7FF8 << 48) + 1, (0x7FF0 << 48) + 1, 256],
}
BLOBS = [
    b"",
    b"\0",
    b"a",
    b"ab",
    "é中文".encode(),
    b"\xff\xfe",
    b"twelve bytes",
    b"thirteen byte",
    b"x" * 70,
]


def random_value(t: pa.DataType, rng: random.Random, nulls: float = 0.25) -> Value:
    """A neutral value of a blind type; on every level a null with the given probability."""
    if pt.is_dictionary(t) or pt.is_run_end_encoded(t):
        return random_value(t.value_type, rng, nulls)
    if pt.is_null(t) or rng.random() < nulls:
        return None
    if pt.is_boolean(t):
        return rng.random() < 0.5
    if is_list(t):
        size = t.list_size if pt.is_fixed_size_list(t) else rng.choice([0, 0, 1, 1, 2, 3])
        return [random_value(t.value_type, rng, nulls) for _ in range(size)]
    if pt.is_struct(t):
        return {t.field(i).name: random_value(t.field(i).type, rng, nulls) for i in range(t.num_fields)}
    if pt.is_union(t):
        child = rng.randrange(t.num_fields)
        return child, random_value(t.field(child).type, rng, nulls)
    if pt.is_map(t):
        return _some_entries(t, rng, nulls)
    if not pt.is_fixed_size_binary(t):
        return rng.choice(BLOBS) if rng.random() < 0.7 else rng.randbytes(rng.randrange(20))
    width = t.byte_width
    if rng.random() < 0.5:
        return rng.choice(PATTERNS.get(width, [0, 1])).to_bytes(width, "little") if width else b""
    return rng.randbytes(width)


def _some_entries(t: pa.DataType, rng: random.Random, nulls: float = 0.25) -> list[Value]:
    """Entries of a map; pyarrow has no map of keys that are null themselves."""
    entries = []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        key = None
        while key is None:
            key = random_value(t.key_type, rng, min(nulls, 0.5))
        entries.append((key, random_value(t.item_type, rng, nulls)))
    return entries


class Noise:
    """The freedom of the columnar layout, spent at random.

    `slack`: rows before and after the slice, on every level, and unused bytes and items before the first.
    `garbage`: what lies where nobody may look: under nulls, in padding bits, in all-valid bitmaps, out of order,
    in dictionary entries that no index names.
    """

    def __init__(self, seed: int = 0, *, slack: bool = False, garbage: bool = False) -> None:
        self.rng = random.Random(seed)
        self.slack, self.garbage = slack, garbage

    def rows(self) -> int:
        return self.rng.choice([0, 0, 1, 3, 7, 8, 9]) if self.slack else 0

    def value(self, t: pa.DataType) -> Value:
        return random_value(t, self.rng)

    def under_null(self, t: pa.DataType) -> Value:
        return self.value(t) if self.garbage else None

    def filler(self, width: int) -> bytes:
        return self.rng.randbytes(width) if self.garbage else bytes(width)

    def often(self, of: str = "garbage") -> bool:
        return getattr(self, of) and self.rng.random() < 0.5


# --- Writing ----------------------------------------------------------------------------------------------------------


def write(values: list[Value], t: pa.DataType, noise: Noise | None = None) -> pa.Array:
    """`values` as an array of blind type `t`."""
    noise = noise or Noise()
    before, after = (
        (noise.rows(), noise.rows()) if values else (0, 0)
    )  # pyarrow drops the buffers of imported empty views
    slots = [*(noise.value(t) for _ in range(before)), *values, *(noise.value(t) for _ in range(after))]
    return _write(slots, t, noise).slice(before, len(values))


def build(values: list[Value], t: pa.DataType, noise: Noise | None = None) -> pa.Array:
    """`values` as an array of any type `t`."""
    return recast(write(values, blind(t), noise), t)


def _write(slots: list[Value], t: pa.DataType, noise: Noise) -> pa.Array:
    if pt.is_null(t):
        return pa.nulls(len(slots))
    if pt.is_dictionary(t):
        return _dictionary(slots, t, noise)
    if pt.is_run_end_encoded(t):
        return _run_ends(slots, t, noise)
    if pt.is_union(t):
        return _union(slots, t, noise)
    validity = _validity(slots, noise)
    if pt.is_boolean(t):
        return _array(t, len(slots), [validity, _bits([noise.often() if v is None else v for v in slots], noise)])
    if pt.is_fixed_size_binary(t):
        data = b"".join(noise.filler(t.byte_width) if v is None else v for v in slots)
        return _array(t, len(slots), [validity, data])
    if pt.is_binary_view(t):
        return _array(t, len(slots), [validity, *_views(slots, noise)])
    if pt.is_struct(t):
        return _struct(slots, t, validity, noise)
    if pt.is_fixed_size_list(t):
        return _fixed_size_lists(slots, t, validity, noise)
    if pt.is_list_view(t) or pt.is_large_list_view(t):
        return _list_views(slots, t, validity, noise)
    if is_list(t):
        return _lists(slots, t, validity, noise)
    if pt.is_map(t):
        return _maps(slots, t, validity, noise)
    return _blobs(slots, t, validity, noise)


def _array(t: pa.DataType, length: int, buffers: list[bytes | None], children: Any = None) -> pa.Array:
    foreign = [None if buffer is None else pa.py_buffer(buffer) for buffer in buffers]
    return pa.Array.from_buffers(t, length, foreign, children=children)


def _bits(bits: list[bool], noise: Noise) -> bytes:
    data = bytearray(noise.filler(len(bits) // 8 + 1))
    for i, bit in enumerate(bits):
        data[i // 8] = data[i // 8] & ~(1 << i % 8) | bit << i % 8
    return bytes(data)


def _validity(slots: list[Value], noise: Noise) -> bytes | None:
    if all(v is not None for v in slots) and not noise.often():
        return None
    return _bits([v is not None for v in slots], noise)


def _numbers(numbers: list[int], width: int, signed: bool = True) -> bytes:
    return b"".join(number.to_bytes(width, "little", signed=signed) for number in numbers)


def _blobs(slots: list[Value], t: pa.DataType, validity: bytes | None, noise: Noise) -> pa.Array:
    data = noise.rng.randbytes(5) if noise.often("slack") else b""
    offsets = [len(data)]
    for v in slots:
        data += (noise.filler(noise.rng.randrange(4)) if noise.garbage else b"") if v is None else v
        offsets.append(len(data))
    width = 8 if pt.is_large_binary(t) else 4
    return _array(
        t, len(slots), [validity, _numbers(offsets, width), data + (b"tail" if noise.often("slack") else b"")]
    )


def _views(slots: list[Value], noise: Noise) -> list[bytes]:
    heaps = [noise.filler(noise.rng.randrange(3)) for _ in range(noise.rng.randrange(1, 4) if noise.garbage else 1)]
    views = b""
    for v in slots:
        if v is None:
            v = noise.value(pa.binary()) if noise.often() else b""
            v = v or b""
        if len(v) <= 12:
            views += struct.pack("<i12s", len(v), v)
        else:
            at = noise.rng.randrange(len(heaps))
            views += struct.pack("<i4sii", len(v), v[:4], at, len(heaps[at]))
            heaps[at] += v
    return [views, *heaps]


def _struct(slots: list[Value], t: pa.DataType, validity: bytes | None, noise: Noise) -> pa.Array:
    children = []
    for i in range(t.num_fields):
        name, child = t.field(i).name, t.field(i).type
        children.append(write([noise.under_null(child) if v is None else v[name] for v in slots], child, noise))
    return _array(t, len(slots), [validity], children)


def _fixed_size_lists(slots: list[Value], t: pa.DataType, validity: bytes | None, noise: Noise) -> pa.Array:
    items = []
    for v in slots:
        items += [noise.under_null(t.value_type) for _ in range(t.list_size)] if v is None else v
    return _array(t, len(slots), [validity], [write(items, t.value_type, noise)])


def _some_items(t: pa.DataType, noise: Noise) -> list[Value]:
    return [noise.value(t) for _ in range(noise.rng.randrange(4))]


def _lists(slots: list[Value], t: pa.DataType, validity: bytes | None, noise: Noise) -> pa.Array:
    items = _some_items(t.value_type, noise) if noise.often("slack") else []
    offsets = [len(items)]
    for v in slots:
        items += (_some_items(t.value_type, noise) if noise.garbage else []) if v is None else v
        offsets.append(len(items))
    items += _some_items(t.value_type, noise) if noise.often("slack") else []
    width = 8 if pt.is_large_list(t) else 4
    return _array(t, len(slots), [validity, _numbers(offsets, width)], [write(items, t.value_type, noise)])


def _list_views(slots: list[Value], t: pa.DataType, validity: bytes | None, noise: Noise) -> pa.Array:
    order = list(range(len(slots)))
    if noise.garbage:
        noise.rng.shuffle(order)
    items: list[Value] = []
    places: dict[str, int] = {}  # where a list with these items is already
    offsets, sizes = [0] * len(slots), [0] * len(slots)
    for i in order:
        v = slots[i]
        if v is None:
            if noise.garbage:
                offsets[i] = noise.rng.randrange(len(items) + 1)
                sizes[i] = noise.rng.randrange(len(items) + 1 - offsets[i])
            continue
        if noise.often():
            items += _some_items(t.value_type, noise)
        sizes[i] = len(v)
        if noise.often() and repr(v) in places:
            offsets[i] = places[repr(v)]
        elif noise.often() and items[len(items) - 1 :] == v[:1] and v:  # begins inside the one before
            offsets[i] = len(items) - 1
            items += v[1:]
        else:
            offsets[i] = len(items)
            items += v
        places[repr(v)] = offsets[i]
    width = 8 if pt.is_large_list_view(t) else 4
    buffers = [validity, _numbers(offsets, width), _numbers(sizes, width)]
    return _array(t, len(slots), buffers, [write(items, t.value_type, noise)])


def _maps(slots: list[Value], t: pa.DataType, validity: bytes | None, noise: Noise) -> pa.Array:
    entries = _some_entries(t, noise.rng) if noise.often("slack") else []
    offsets = [len(entries)]
    for v in slots:
        entries += (_some_entries(t, noise.rng) if noise.garbage else []) if v is None else v
        offsets.append(len(entries))
    children = [
        write([entry[i] for entry in entries], child, noise) for i, child in ((0, t.key_type), (1, t.item_type))
    ]
    assert children[0].null_count == 0  # older versions of pyarrow end the process unless this was counted before
    pairs = _array(pa.struct([t.key_field, t.item_field]), len(entries), [None], children)
    return _array(t, len(slots), [validity, _numbers(offsets, 4)], [pairs])


def _union(slots: list[Value], t: pa.DataType, noise: Noise) -> pa.Array:
    """A union has no nulls: None is a slot that nobody looks at. Only an encoding around it can hold one."""
    slots = [(0, None) if v is None else v for v in slots]
    codes = bytes(t.type_codes[number] for number, _ in slots)
    types = [t.field(i).type for i in range(t.num_fields)]
    if t.mode == "sparse":
        rows = [[v if number == i else noise.under_null(each) for number, v in slots] for i, each in enumerate(types)]
        return _array(
            t, len(slots), [None, codes], [write(row, each, noise) for row, each in zip(rows, types, strict=True)]
        )
    held: list[list[Value]] = [[] for _ in types]
    offsets = []
    for number, v in slots:
        held[number] += _some_items(types[number], noise) if noise.often() else []
        offsets.append(len(held[number]))
        held[number].append(v)
    children = [write(values, each, noise) for values, each in zip(held, types, strict=True)]
    return _array(t, len(slots), [None, codes, _numbers(offsets, 4)], children)


def _dictionary(slots: list[Value], t: pa.DataType, noise: Noise) -> pa.Array:
    index_type, value_type = t.index_type, t.value_type
    signed, width = pt.is_signed_integer(index_type), index_type.bit_width // 8
    capacity = 1 << index_type.bit_width - signed
    entries = list({repr(v): v for v in slots if v is not None}.values())
    if noise.garbage:
        extra = [noise.rng.choice([*slots, None]) for _ in range(2)] + [noise.value(value_type) for _ in range(2)]
        if not _holds_nulls(value_type):
            extra = [v for v in extra if v is not None]
        entries += extra[: max(0, capacity - len(entries))]
        noise.rng.shuffle(entries)
    if len(entries) > capacity:
        reject()  # what lies under nulls took more entries than the index type has numbers: draw another layout
    places: dict[str, list[int]] = {}
    for i, v in enumerate(entries):
        places.setdefault(repr(v), []).append(i)
    indices: list[int | None] = []
    for v in slots:
        null_index = v is None and (repr(v) not in places or noise.rng.random() < 0.5)
        indices.append(None if null_index else noise.rng.choice(places[repr(v)]))
    junk = [int.from_bytes(noise.filler(width), "little", signed=signed) for _ in indices]  # mostly out of bounds
    numbers = _numbers([j if i is None else i for i, j in zip(indices, junk, strict=True)], width, signed)
    index_array = _array(index_type, len(slots), [_validity(indices, noise), numbers])
    return pa.DictionaryArray.from_arrays(index_array, write(entries, value_type, noise), ordered=t.ordered, safe=False)


def _holds_nulls(t: pa.DataType) -> bool:
    """Whether an array of a type can hold a null of it: a union cannot, nor can runs of one."""
    return _holds_nulls(t.value_type) if pt.is_run_end_encoded(t) else not pt.is_union(t)


def _run_ends(slots: list[Value], t: pa.DataType, noise: Noise) -> pa.Array:
    run_ends: list[int] = []
    values: list[Value] = []
    for i, v in enumerate(slots, 1):
        if values and repr(values[-1]) == repr(v) and not noise.often():
            run_ends[-1] = i
        else:
            run_ends.append(i)
            values.append(v)
    ends = write([_numbers([end], t.run_end_type.bit_width // 8) for end in run_ends], blind(t.run_end_type), None)
    return pa.RunEndEncodedArray.from_arrays(recast(ends, t.run_end_type), write(values, t.value_type, noise), type=t)
