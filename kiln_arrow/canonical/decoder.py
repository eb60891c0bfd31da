"""Reading a tensor directory. Nothing is repaired: what is not canonical is refused.

The checks stand in the order the specification gives them, one function per region, each guarding the next.
"""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kiln_arrow.canonical.arrays import Opaque, Tensor
from kiln_arrow.canonical.dtypes import BOOL, BY_CODE
from kiln_arrow.canonical.layout import (
    AT_BYTE_LENGTH,
    AT_BYTE_OFFSET,
    AT_DESCRIPTOR_RESERVED,
    AT_DIMS,
    AT_DTYPE,
    AT_FLAGS,
    AT_NAME_BYTES,
    AT_PAYLOAD_BYTES,
    AT_RANK,
    AT_RESERVED,
    AT_TENSOR_COUNT,
    AT_VERSION,
    COUNTS,
    DESCRIPTOR,
    DESCRIPTOR_RESERVED,
    DESCRIPTOR_SIZE,
    FLAG_LITTLE_ENDIAN,
    FLAG_NAMES,
    HEADER,
    HEADER_SIZE,
    MAGIC,
    MAX_RANK,
    RESERVED,
    U64_END,
    VERSION,
    ZEROS,
    align64,
    dense_byte_length,
    first_nonzero,
    overflowing_dim,
)
from kiln_arrow.errors import KilnDtypeError, KilnError, Rule, end_of_buffer, shown

__all__ = [
    "Front",
    "PlacedTensor",
    "Region",
    "read_directory",
    "tensors_of",
]


class PlacedTensor(NamedTuple):
    """A tensor of a directory, and where its payload starts and stops."""

    name: str | None
    dtype: np.dtype[Any]
    dims: tuple[int, ...]
    layout: str | None
    start: int
    stop: int


class Region(NamedTuple):
    """Bytes of the payload region that follow a rule: those of bools, or zeros that no tensor covers.

    `tensor` is the one that they belong to or lie before, None for the tail.
    """

    is_bool: bool
    start: int
    stop: int
    tensor: int | None


class Front(NamedTuple):
    """What header, descriptors and names of an accepted directory say; offsets count from its first byte."""

    tensors: tuple[PlacedTensor, ...]
    regions: tuple[Region, ...]
    length: int


# Cells of a column mostly share their layout, and header, descriptors and names say everything but the payloads. So
# accepted ones are remembered by their bytes. Both bounds keep foreign bytes from growing this without end.
_REMEMBERED: dict[bytes, Front] = {}
_REMEMBERED_COUNT = 512
_REMEMBERED_SIZE = 2048


def read_directory(data: bytes | memoryview, base: int) -> Front:
    """Return the front of the directory that begins at `base`, with every byte of the directory checked.

    Bytes after it are not looked at: `base + front.length` is where they begin.
    """
    if len(data) - base < HEADER_SIZE:
        raise end_of_buffer(HEADER_SIZE, base, len(data), "directory header")
    tensor_count, name_bytes, _ = COUNTS.unpack_from(data, base)
    size = align64(HEADER_SIZE + DESCRIPTOR_SIZE * tensor_count + name_bytes)
    if size > _REMEMBERED_SIZE:
        front = _read_front(memoryview(data)[base : base + size], base, len(data))
    else:
        # What is remembered is read from the very bytes it is remembered by, lest a buffer that changes belie them.
        head = bytes(data[base : base + size])
        remembered = _REMEMBERED.get(head)
        if remembered is None:
            front = _read_front(head, base, len(data))
            if len(_REMEMBERED) >= _REMEMBERED_COUNT:
                _REMEMBERED.clear()
            _REMEMBERED[head] = front
        else:
            front = remembered
            if len(data) - base < front.length:
                raise end_of_buffer(front.length, base, len(data), "directory")
    for region in front.regions:
        is_bool, start, stop, _ = region
        if is_bool:
            _check_bools(data, base, front, region)
        elif data[base + start : base + stop] != ZEROS[stop - start]:
            bad = first_nonzero(data[base + start : base + stop])
            found = data[base + start + bad]
            raise _region_error("padding", f"expected 0 between payloads, found {found:#04x}", base, front, region, bad)
    return front


def _read_front(head: bytes | memoryview, base: int, buffer_length: int) -> Front:
    """Read everything before the payload region; `head` is that much, or all the buffer has of it from `base` on."""
    tensor_count, flags, name_bytes, payload_bytes = _read_header(head, base)
    heap = HEADER_SIZE + DESCRIPTOR_SIZE * tensor_count
    payloads = align64(heap + name_bytes)
    length = payloads + align64(payload_bytes)
    _check_length(base, heap, payloads, length, buffer_length)
    descriptors, end = _read_descriptors(head, base, tensor_count)
    _check_sums(base, descriptors, flags, name_bytes, payload_bytes, end)
    names, layouts = _read_heap(head, base, heap, descriptors)
    padding = head[heap + name_bytes :]
    if padding != ZEROS[len(padding)]:
        bad = heap + name_bytes + first_nonzero(padding)
        raise KilnError("padding", f"expected 0 after the names, found {head[bad]:#04x}", offset=base + bad)
    return _placed(descriptors, names, layouts, payloads, length)


def _read_header(head: bytes | memoryview, base: int) -> tuple[int, int, int, int]:
    magic, version, flags, tensor_count, name_bytes, payload_bytes, reserved = HEADER.unpack_from(head)
    if magic != MAGIC:
        raise KilnError("magic", f"expected magic {MAGIC!r}, found {magic!r}", offset=base)
    if version != VERSION:
        raise KilnError("version", f"expected version {VERSION}, found {version}", offset=base + AT_VERSION)
    if flags & ~FLAG_NAMES != FLAG_LITTLE_ENDIAN:
        raise KilnError("flags", f"expected flags 1 or 3, found {flags:#x}", offset=base + AT_FLAGS)
    if reserved != RESERVED:
        bad = first_nonzero(reserved)
        raise KilnError("reserved", f"expected 0, found {reserved[bad]:#04x}", offset=base + AT_RESERVED + bad)
    if tensor_count == 0:
        _check_sums(base, [], flags, name_bytes, payload_bytes, 0)
    return tensor_count, flags, name_bytes, payload_bytes


def _check_length(base: int, heap: int, payloads: int, length: int, buffer_length: int) -> None:
    if length >= U64_END:
        at = AT_TENSOR_COUNT if heap >= U64_END else AT_NAME_BYTES if payloads >= U64_END else AT_PAYLOAD_BYTES
        raise KilnError("overflow", f"expected a directory below 2^64 bytes, found {length}", offset=base + at)
    if buffer_length - base < length:
        raise end_of_buffer(length, base, buffer_length, "directory")


def _read_descriptors(head: bytes | memoryview, base: int, tensor_count: int) -> tuple[list[tuple[Any, ...]], int]:
    """Return the fields of the descriptors, each checked in turn, and the end of the last payload."""
    descriptors: list[tuple[Any, ...]] = []
    end = 0
    for fields in DESCRIPTOR.iter_unpack(head[HEADER_SIZE : HEADER_SIZE + DESCRIPTOR_SIZE * tensor_count]):
        byte_offset, byte_length, _, layout_length, code, rank, reserved = fields[:7]
        dtype = BY_CODE.get(code)
        if dtype is None:
            sentence = f"expected a dtype code from 1 to 17, found {code}"
            raise _descriptor_error("dtype", sentence, AT_DTYPE, head, base, len(descriptors))
        if rank > MAX_RANK:
            sentence = f"expected a rank from 0 to {MAX_RANK}, found {rank}"
            raise _descriptor_error("rank", sentence, AT_RANK, head, base, len(descriptors))
        if reserved != DESCRIPTOR_RESERVED:
            bad = first_nonzero(reserved)
            sentence, field = f"expected 0, found {reserved[bad]:#04x}", AT_DESCRIPTOR_RESERVED + bad
            raise _descriptor_error("reserved", sentence, field, head, base, len(descriptors))
        dims = fields[7 : 7 + rank]
        if any(fields[7 + rank :]):
            bad = next(index for index in range(rank, MAX_RANK) if fields[7 + index])
            sentence, field = f"expected 0 past rank {rank}, found {fields[7 + bad]}", AT_DIMS + 8 * bad
            raise _descriptor_error("dims", sentence, field, head, base, len(descriptors))
        if not layout_length:
            expected = dense_byte_length(dtype.item_size, dims)
            if expected is None:
                sentence = f"expected item size times dims below 2^63, found {dtype.name} {list(dims)}"
                field = AT_DIMS + 8 * overflowing_dim(dtype.item_size, dims)
                raise _descriptor_error("overflow", sentence, field, head, base, len(descriptors))
            if byte_length != expected:
                sentence = f"expected byte_length {expected}, found {byte_length}"
                raise _descriptor_error("byte_length", sentence, AT_BYTE_LENGTH, head, base, len(descriptors))
        start = align64(end)
        if byte_offset != start:
            sentence = f"expected byte_offset {start}, found {byte_offset}"
            raise _descriptor_error("byte_offset", sentence, AT_BYTE_OFFSET, head, base, len(descriptors))
        end = start + byte_length
        descriptors.append(fields)
    return descriptors, end


def _descriptor_error(
    rule: Rule, sentence: str, field: int, head: bytes | memoryview, base: int, tensor: int
) -> KilnError:
    """Return the error for a field of a descriptor, with the tensor's name where the unchecked heap can tell it."""
    tensor_count, name_bytes, _ = COUNTS.unpack_from(head)
    heap = HEADER_SIZE + DESCRIPTOR_SIZE * tensor_count
    at = HEADER_SIZE + DESCRIPTOR_SIZE * tensor
    start = stop = 0
    for fields in DESCRIPTOR.iter_unpack(head[HEADER_SIZE : at + DESCRIPTOR_SIZE]):
        start, stop = stop, stop + fields[2]
    name = None
    if start < stop <= name_bytes:
        with contextlib.suppress(UnicodeDecodeError):
            name = str(head[heap + start : heap + stop], "utf-8")
    kind = KilnDtypeError if rule == "dtype" else KilnError
    return kind(rule, sentence, offset=base + at + field, tensor=tensor, name=name)


def _check_sums(
    base: int, descriptors: list[tuple[Any, ...]], flags: int, name_bytes: int, payload_bytes: int, end: int
) -> None:
    """Check the header's sums over the descriptors; without descriptors all three are 0."""
    names_length = heap_length = 0
    for fields in descriptors:
        names_length += fields[2]
        heap_length += fields[3]
    heap_length += names_length
    if name_bytes != heap_length:
        raise KilnError(
            "name_bytes", f"expected name_bytes {heap_length}, found {name_bytes}", offset=base + AT_NAME_BYTES
        )
    if payload_bytes != end:
        raise KilnError(
            "payload_bytes", f"expected payload_bytes {end}, found {payload_bytes}", offset=base + AT_PAYLOAD_BYTES
        )
    if (flags & FLAG_NAMES != 0) != (names_length != 0):
        expected = "set, as a tensor has a name" if names_length else "clear, as no tensor has a name"
        raise KilnError("flags", f"expected the names flag {expected}, found {flags:#x}", offset=base + AT_FLAGS)


def _read_heap(
    head: bytes | memoryview, base: int, at: int, descriptors: list[tuple[Any, ...]]
) -> tuple[list[str | None], list[str | None]]:
    names: list[str | None] = []
    seen: set[str] = set()
    for tensor, fields in enumerate(descriptors):
        length = fields[2]
        name = _read_text(head, base, at, length, tensor, None) if length else None
        if name is not None:
            if name in seen:
                sentence = f"expected a name no earlier tensor has, found {shown(name)}"
                raise KilnError("duplicate_name", sentence, offset=base + at, tensor=tensor, name=name)
            seen.add(name)
        names.append(name)
        at += length
    layouts: list[str | None] = []
    for tensor, fields in enumerate(descriptors):
        length = fields[3]
        layouts.append(_read_text(head, base, at, length, tensor, names[tensor]) if length else None)
        at += length
    return names, layouts


def _read_text(head: bytes | memoryview, base: int, at: int, length: int, tensor: int, name: str | None) -> str:
    try:
        return str(head[at : at + length], "utf-8")
    except UnicodeDecodeError as error:
        found = shown(bytes(head[at + error.start : at + error.end]))
        sentence = f"expected UTF-8, found {found}: {error.reason}"
        raise KilnError("utf8", sentence, offset=base + at, tensor=tensor, name=name) from error


def _placed(
    descriptors: list[tuple[Any, ...]],
    names: list[str | None],
    layouts: list[str | None],
    payloads: int,
    length: int,
) -> Front:
    """Return where the tensors of checked descriptors lie, and which bytes of the payload region have a rule."""
    tensors: list[PlacedTensor] = []
    regions: list[Region] = []
    end = payloads
    for tensor, fields in enumerate(descriptors):
        byte_offset, byte_length, _, _, code, rank, _ = fields[:7]
        dtype = BY_CODE[code]
        layout = layouts[tensor]
        start = payloads + byte_offset
        if start != end:
            regions.append(Region(is_bool=False, start=end, stop=start, tensor=tensor))
        end = start + byte_length
        if dtype is BOOL and layout is None and byte_length:
            regions.append(Region(is_bool=True, start=start, stop=end, tensor=tensor))
        tensors.append(PlacedTensor(names[tensor], dtype.numpy, fields[7 : 7 + rank], layout, start, end))
    if end != length:
        regions.append(Region(is_bool=False, start=end, stop=length, tensor=None))
    return Front(tuple(tensors), tuple(regions), length)


def _check_bools(data: bytes | memoryview, base: int, front: Front, region: Region) -> None:
    _, start, stop, _ = region
    values: NDArray[np.uint8] = np.frombuffer(data, np.uint8, stop - start, base + start)
    if np.maximum.reduce(values) > 1:
        bad = int((values > 1).argmax())
        raise _region_error("bool", f"expected 0 or 1, found {values[bad]:#04x}", base, front, region, bad)


def _region_error(rule: Rule, sentence: str, base: int, front: Front, region: Region, bad: int) -> KilnError:
    _, start, _, tensor = region
    name = None if tensor is None else front.tensors[tensor].name
    return KilnError(rule, sentence, offset=base + start + bad, tensor=tensor, name=name)


def tensors_of(
    front: Front, view: memoryview, base: int, *, copy: bool | None
) -> tuple[tuple[str | None, Tensor], ...]:
    """Return name and tensor of each entry of an accepted directory, as `decode` promises for `copy`.

    `view` is read-only, and so are the views made of it.
    """
    # NumPy makes a memoryview's owner the base of an array over it, and lets the array be made writable where the owner
    # is. So where that might be, `view` gets an owner that is read-only whatever lies under it: an array of its own.
    memory = view if type(view.obj) is bytes else np.frombuffer(view, np.uint8).data
    tensors: list[tuple[str | None, Tensor]] = []
    for name, dtype, dims, layout, start, stop in front.tensors:
        if layout is not None:
            data = memory[base + start : base + stop]
            tensors.append((name, Opaque(dtype, dims, layout, bytes(data) if copy else data)))
            continue
        array: NDArray[Any] = np.ndarray(dims, dtype, memory, base + start)
        if copy:
            array = array.copy()
        elif not array.flags.aligned:
            if copy is not None:
                found = f"tensor {len(tensors)} {shown(name)}"
                raise ValueError(f"copy=False, but the address of {found} does not suit {dtype}: it must be copied")
            array = array.copy()
            array.flags.writeable = False
        tensors.append((name, array))
    return tuple(tensors)
