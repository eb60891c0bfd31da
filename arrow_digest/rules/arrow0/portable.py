"""arrow0's byte stream with NumPy and pyarrow alone.

Implements "Value encoding" of the arrow0 specification. A leaf is a chain of lists around values, so
its stream is made of few things: eight-byte counts and lengths ("headers"), single zero bytes for
nulls, and the values' own bytes. For a block of rows, the encoder walks the chain inwards to learn how
many bytes each slot takes, outwards to learn where each starts, and then writes whole levels at a
time into a zeroed buffer. No value is touched by a Python loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrow_digest.arrays.nodes import Bitmap, Kind, Node
from arrow_digest.arrays.types import as_binary
from arrow_digest.rules.arrow0.leaf_columns import Column

__all__ = [
    "LISTS",
    "Level",
    "all_valid",
    "encode",
    "extents",
    "plan",
    "resolve",
    "row_validity",
    "value_bytes",
]

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
# Which slots of a node: a run of them, or each by number.
Slots = range | Ints

# Blocks of this many rows keep every intermediate in the CPU's cache.
_BLOCK_ROWS = 16384
# Blocks of more list items or value bytes than this are halved, so that memory stays flat.
_BLOCK_ITEMS = 1 << 18
_BLOCK_BYTES = 1 << 22

# Where at least one in so many slots is asked for, unpacking all bits between them beats picking theirs.
_DENSE = 16

LISTS = (Kind.LIST, Kind.FIXED_LIST, Kind.LIST_VIEW)
_HEADER = 8


def encode(column: Column, change: Callable[[Level], Level] | None = None) -> Iterator[Bytes]:
    r"""Yield the column's rows as arrow0 encodes them, as buffers of bytes in order.

    The type encoding is not part of it. Buffers may be views into the column's own memory.

    Args:
        column: The leaf column.
        change: What is to be made of the values, block by block, before they are encoded; the nulls and lists around
            them stay.

    >>> from arrow_digest.arrays.describe import describe
    >>> b"".join(bytes(part) for part in encode(Column(describe(pa.array([True, None])))))
    b'\x02\x00'
    """
    node = column.node
    if change is None and node.kind is Kind.FIXED and node.validity is None and not column.parents:
        yield node.values.reshape(-1).view(np.uint8)
        return
    one_byte = change is None and (node.kind is Kind.BOOL or (node.kind is Kind.FIXED and node.width == 1))
    for start in range(0, node.length, _BLOCK_ROWS):
        rows = range(start, min(start + _BLOCK_ROWS, node.length))
        if one_byte:
            yield _one_byte_values(column, rows)
        else:
            yield from _encode_slots(node, rows, column.parents, change)


def row_validity(column: Column) -> Mask | None:
    """Return which rows hold a value, one bool a row, or None where all do.

    A row is null where the leaf or a struct above it is, or where what it encodes is (a null dictionary value).
    """
    rows = range(column.node.length)
    if not len(rows):
        return None
    if column.node.kind in (Kind.NULL, Kind.DICTIONARY, Kind.RUN_END):
        return resolve(column.node, rows, all_valid(column.parents, rows))[2]
    return _own_validity(column, rows)


def _own_validity(column: Column, rows: range) -> Mask | None:
    bitmaps = column.parents if column.node.validity is None else (*column.parents, column.node.validity)
    return all_valid(bitmaps, rows)


def _one_byte_values(column: Column, rows: range) -> Bytes:
    """Return values that take as many bytes as a null, so that nulls move nothing."""
    values = _one_byte(column.node, rows)
    valid = _own_validity(column, rows)
    return values if valid is None else values * valid.view(np.uint8)


def _one_byte(node: Node, slots: Slots) -> Bytes:
    if node.bits is not None:
        return np.add(_bits(node.bits, slots).view(np.uint8), 1, dtype=np.uint8)
    picked: Bytes = _pick(node.values, slots).view(np.uint8)
    return picked


def _encode_slots(
    node: Node, slots: Slots, parents: tuple[Bitmap, ...], change: Callable[[Level], Level] | None
) -> Iterator[Bytes]:
    levels = plan(node, slots, parents)
    if levels is not None:
        if change is not None:
            levels[-1] = change(levels[-1])
        yield _assemble(levels)
    elif len(slots) > 1:
        middle = len(slots) // 2
        yield from _encode_slots(node, slots[:middle], parents, change)
        yield from _encode_slots(node, slots[middle:], parents, change)
    else:
        yield from _encode_large_value(node, slots, parents, change)


def _encode_large_value(
    node: Node, slots: Slots, parents: tuple[Bitmap, ...], change: Callable[[Level], Level] | None
) -> Iterator[Bytes]:
    """Yield one value that is too large to assemble: its header, then its content in parts."""
    base, base_slots, _ = resolve(node, slots, all_valid(parents, slots))
    if base.kind not in LISTS:
        data = value_bytes(base, base_slots)
        if change is not None:
            change(Level(1, None, np.array([len(data)]), payload=data))  # which refuses, or is the same
        yield np.array([len(data)], "<u8").view(np.uint8)
        yield data
        return
    starts, counts = extents(base, base_slots)
    start, count = int(starts[0]), int(counts[0])
    yield np.array([count], "<u8").view(np.uint8)
    assert base.child is not None
    for first in range(start, start + count, _BLOCK_ROWS):
        yield from _encode_slots(base.child, range(first, min(first + _BLOCK_ROWS, start + count)), (), change)


# Which slots hold values, and where: dictionaries and runs followed to what they encode.


def _bits(bitmap: Bitmap, slots: Slots) -> Mask:
    if isinstance(slots, range):
        first = bitmap.offset + slots.start
        data = bitmap.data[first // 8 : (first + len(slots) + 7) // 8]
        unpacked = np.unpackbits(data, count=first % 8 + len(slots), bitorder="little")
        return unpacked[first % 8 :].view(np.bool_)
    if len(slots) == 0:
        return np.zeros(0, np.bool_)
    first, last = int(slots.min()), int(slots.max())
    if last - first < _DENSE * len(slots):
        return _bits(bitmap, range(first, last + 1)).take(slots - first)
    positions = slots + bitmap.offset
    bits: Bytes = bitmap.data.take(positions >> 3) >> (positions & 7).astype(np.uint8) & np.uint8(1)
    return bits.view(np.bool_)


def all_valid(bitmaps: tuple[Bitmap, ...], rows: Slots) -> Mask | None:
    if not bitmaps:
        return None
    valid = _bits(bitmaps[0], rows)
    for bitmap in bitmaps[1:]:
        valid = valid & _bits(bitmap, rows)
    return valid


def _pick(values: npt.NDArray[Any], slots: Slots) -> npt.NDArray[Any]:
    if isinstance(slots, range):
        return values[slots.start : slots.stop]
    picked: npt.NDArray[Any] = values.take(slots, axis=0)
    return picked


def _keep(slots: Slots, valid: Mask | None) -> Slots:
    if valid is None:
        return slots
    kept = np.flatnonzero(valid)
    return kept + slots.start if isinstance(slots, range) else slots.take(kept)


def _narrow(slots: Slots, outer: Mask | None, inner: Mask | None) -> tuple[Slots, Mask | None]:
    """Return the slots that are still valid, and the validity over all rows.

    `slots` are those that `outer` left; `inner` says which of them hold a value.
    """
    if inner is None or inner.all():
        return slots, outer
    if outer is None:
        return _keep(slots, inner), inner
    combined = outer.copy()
    combined[outer] = inner
    return _keep(slots, inner), combined


def resolve(node: Node, slots: Slots, valid: Mask | None = None) -> tuple[Node, Slots, Mask | None]:
    """Return the node under all encodings, the slots there that hold a value, and the validity of `slots`.

    Args:
        node: Where to start.
        slots: Slots of `node`.
        valid: Which of them are valid as far as is known.
    """
    if valid is not None and valid.all():
        valid = None
    slots = _keep(slots, valid)
    while True:
        if node.validity is not None and len(slots):
            slots, valid = _narrow(slots, valid, _bits(node.validity, slots))
        if node.kind is Kind.NULL:
            slots, valid = _narrow(slots, valid, np.zeros(len(slots), np.bool_))
        elif node.kind is Kind.DICTIONARY:
            slots = _pick(node.values, slots).astype(np.int64)
        elif node.kind is Kind.RUN_END:
            rows = np.asarray(slots, np.int64) + node.origin
            slots = np.searchsorted(node.values, rows, side="right").astype(np.int64)
        if node.kind not in (Kind.DICTIONARY, Kind.RUN_END):
            return node, slots, valid
        assert node.child is not None
        node = node.child


def extents(node: Node, slots: Slots) -> tuple[Ints, Ints]:
    """Return where each slot of a list, binary or view node starts, and how many items or bytes it has."""
    if node.kind in (Kind.LIST, Kind.BINARY):
        if isinstance(slots, range):
            offsets = node.values[slots.start : slots.stop + 1].astype(np.int64)
            starts, ends = offsets[:-1], offsets[1:]
        else:
            starts, ends = node.values.take(slots).astype(np.int64), node.values.take(slots + 1).astype(np.int64)
        return starts - node.origin, ends - starts
    if node.kind is Kind.LIST_VIEW:
        return _pick(node.values, slots) - node.origin, _pick(node.sizes, slots)
    if node.kind is Kind.VIEW:
        lengths = _pick(node.values[:, 0], slots).astype(np.int64)
        return np.zeros(len(slots), np.int64), lengths
    counts = np.full(len(slots), node.width, np.int64)
    return np.asarray(slots, np.int64) * node.width, counts


def _items(starts: Ints, counts: Ints, total: int) -> Slots:
    """Return the item slots of lists one after another: a run where they lie that way, else each."""
    if len(starts) == 0:
        return range(0)
    before = np.cumsum(counts) - counts
    # Empty lists may start anywhere.
    shift = starts - before
    shift = shift if counts.all() else shift[counts > 0]
    if len(shift) == 0 or (shift == shift[0]).all():
        first = int(shift[0]) if len(shift) else 0
        return range(first, first + total)
    return np.repeat(starts - before, counts) + np.arange(total)


# The plan: what every level of a block holds.


@dataclass
class Level:
    """The slots of one list level of a block, or of its values.

    Attributes:
        slot_count: Number of slots.
        kept: Which of them hold a value, by number; None where all do.
        counts: Items of each list, or bytes of each binary value, that is there; None where values have no header.
        width: Bytes of each value where `counts` is None.
        values: The values that are there where `counts` is None.
        payload: The binary values that are there, one after another.
    """

    slot_count: int
    kept: Ints | None
    counts: Ints | None = None
    width: int = 1
    values: npt.NDArray[Any] | None = None
    payload: Bytes | None = None


def plan(node: Node, slots: Slots, parents: tuple[Bitmap, ...] = ()) -> list[Level] | None:
    """Return the levels of a block, outermost first; None if it is too large to assemble at once."""
    levels: list[Level] = []
    valid = all_valid(parents, slots)
    while True:
        base, base_slots, valid = resolve(node, slots, valid)
        level = Level(len(slots), None if valid is None else np.flatnonzero(valid))
        levels.append(level)
        if base.kind not in LISTS:
            return levels if _fill_values(level, base, base_slots) else None
        starts, level.counts = extents(base, base_slots)
        total = int(level.counts.sum())
        if total > _BLOCK_ITEMS:
            return None
        assert base.child is not None
        node, slots, valid = base.child, _items(starts, level.counts, total), None


def _fill_values(level: Level, node: Node, slots: Slots) -> bool:
    if node.kind is Kind.FIXED:
        level.width, level.values = node.width, _pick(node.values, slots)
    elif node.kind is Kind.BOOL:
        level.values = _one_byte(node, slots)
    elif node.kind is not Kind.NULL:
        level.counts = extents(node, slots)[1]
        if int(level.counts.sum()) > _BLOCK_BYTES:
            return False
        level.payload = value_bytes(node, slots)
    return True


def value_bytes(node: Node, slots: Slots) -> Bytes:
    """Return the bytes of binary values, one after another."""
    if node.kind is Kind.FIXED_BINARY:
        return np.ascontiguousarray(_pick(node.values, slots)).reshape(-1).view(np.uint8)
    if node.kind is Kind.BINARY:
        starts, lengths = extents(node, slots)
        span = _items(starts, lengths, int(lengths.sum())) if isinstance(slots, range) else None
        if isinstance(span, range):
            return node.data[span.start : span.stop]
    picked = _picked_views(node, slots) if node.kind is Kind.VIEW else as_binary(node.array).take(pa.array(slots))
    return _contiguous_data(picked.cast(pa.large_binary()))


def _picked_views(node: Node, slots: Slots) -> Any:
    views = np.ascontiguousarray(_pick(node.values, slots))
    return pa.Array.from_buffers(pa.binary_view(), len(slots), [None, pa.py_buffer(views), *node.array.buffers()[2:]])


def _contiguous_data(array: pa.Array) -> Bytes:
    """Return the data bytes of a large_binary array without nulls."""
    _, offsets, data = array.buffers()
    if len(array) == 0 or data is None or data.size == 0:
        return np.empty(0, np.uint8)
    ends = np.frombuffer(offsets, "<i8", count=len(array) + 1, offset=array.offset * 8)
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]


# Assembly: where every slot starts, and what is written there.


def _assemble(levels: list[Level]) -> Bytes:
    outer, inner = levels[0], levels[-1]
    if outer.kept is None and outer.values is not None:
        return outer.values.reshape(-1).view(np.uint8)
    edges = _all_edges(levels)
    total = int(edges[0][-1])
    # A header's width of slack at the end, so that every position can be written as eight bytes.
    out = np.zeros(total + _HEADER, np.uint8)
    body = None if inner.payload is None else np.ones(total + _HEADER, np.bool_)
    shift: Ints | int = 0
    for depth, level in enumerate(levels):
        starts = edges[depth][:-1] + shift
        if level.kept is not None:
            if body is not None:
                body[starts] = False  # the nulls for good, the rest until their headers are written below
            starts = starts.take(level.kept)
        if level.counts is not None:
            _unaligned(out, "<u8")[starts] = level.counts
            if body is not None:
                _unaligned(body, "<u8")[starts] = 0
        if level is not inner:
            assert level.counts is not None
            child = edges[depth + 1].take(_bounds(level.counts)[:-1])
            shift = np.repeat(starts + _HEADER - child, level.counts)
        elif level.values is not None:
            _scatter(out, starts, level.values)
    if body is not None and inner.payload is not None:
        out[:total][body[:total]] = inner.payload
    return out[:total]


def _all_edges(levels: list[Level]) -> list[Ints]:
    """Return for every level where its slots would start, and the end, if nothing stood between them."""
    edges: list[Ints] = []
    sizes: Ints | int = levels[-1].width
    for level in reversed(levels):
        if level.counts is not None:
            if edges:
                bounds = _bounds(level.counts)
                sizes = np.diff(edges[-1].take(bounds)) + _HEADER
            else:
                sizes = level.counts + _HEADER
        edges.append(_edges(level, sizes))
    return edges[::-1]


def _bounds(counts: Ints) -> Ints:
    bounds = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=bounds[1:])
    return bounds


def _edges(level: Level, sizes: Ints | int) -> Ints:
    if isinstance(sizes, int) and (level.kept is None or sizes == 1):
        return np.arange(0, level.slot_count * sizes + 1, sizes)
    dense = np.ones(level.slot_count, np.int64)
    dense[slice(None) if level.kept is None else level.kept] = sizes
    return _bounds(dense)


def _unaligned(buffer: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """Return a view in which item i is the item that starts at byte i."""
    view: npt.NDArray[Any] = np.ndarray((buffer.size - np.dtype(dtype).itemsize + 1,), dtype, buffer, strides=(1,))
    return view


def _scatter(out: Bytes, starts: Ints, values: npt.NDArray[Any]) -> None:
    if values.ndim == 1:
        _unaligned(out, values.dtype.str)[starts] = values
        return
    # Wider than the widest integer: decimals, eight bytes at a time.
    words = values.view("<u8")
    for column in range(words.shape[1]):
        _unaligned(out, "<u8")[starts + 8 * column] = words[:, column]
