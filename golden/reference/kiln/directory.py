"""Tensor directories, version 2."""

from __future__ import annotations

from typing import NamedTuple

from .refusal import RefusedError, refuse, require, unsigned, utf8, zeros

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
        try:
            descriptors.append(_descriptor(data, at + 64 + 128 * i, i, running_end))
        except RefusedError as refusal:
            refusal.name = _claimed_name(data, at, count, name_bytes, i)
            raise
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
        zeros(data, covered, start, "padding", i, names[i] or None)
        covered = start + d.byte_length
        if d.dtype == "bool" and not d.layout_length:
            for where in range(start, covered):
                if data[where] > 1:
                    refuse("bool", where, i, names[i] or None)
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
        for i, dim in enumerate(dims[:rank]):
            size *= dim
            size_without_zeros *= dim or 1
            if size_without_zeros >= 1 << 63:
                refuse("overflow", at + 64 + 8 * i, tensor)
        if byte_length != size:
            refuse("byte_length", at + 8, tensor)
    if byte_offset != align64(running_end):
        refuse("byte_offset", at, tensor)
    return Descriptor(name, tuple(dims[:rank]), byte_offset, byte_length, name_length, layout_length)


def _claimed_name(data: bytes, at: int, count: int, name_bytes: int, tensor: int) -> str | None:
    """The name of a tensor whose descriptor is refused: what its length and those before it cut out of the heap."""
    lengths = [unsigned(data, at + 64 + 128 * i + 16, 4) for i in range(tensor + 1)]
    start, end = sum(lengths[:-1]), sum(lengths)
    if start == end or end > name_bytes:
        return None
    heap = at + 64 + 128 * count
    try:
        return utf8(data, heap + start, heap + end)
    except RefusedError:
        return None


def _names(data: bytes, heap: int, descriptors: list[Descriptor]) -> tuple[list[str], list[str]]:
    names: list[str] = []
    layouts: list[str] = []
    for i, d in enumerate(descriptors):
        name = utf8(data, heap, heap + d.name_length, i)
        if name and name in names:
            refuse("duplicate_name", heap, i, name)
        names.append(name)
        heap += d.name_length
    for i, d in enumerate(descriptors):
        layouts.append(utf8(data, heap, heap + d.layout_length, i, names[i] or None))
        heap += d.layout_length
    return names, layouts


def check_directory(data: bytes) -> list[Entry]:
    """The tensors of a directory with nothing after it, or a `RefusedError`."""
    entries, end = read_directory(data)
    if end != len(data):
        refuse("trailing", end)
    return entries
