"""Where the bytes of a tensor directory lie: header, descriptor, 64-byte lines, and the sizes they imply."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

__all__ = [
    "AT_BYTE_LENGTH",
    "AT_BYTE_OFFSET",
    "AT_DESCRIPTOR_RESERVED",
    "AT_DIMS",
    "AT_DTYPE",
    "AT_FLAGS",
    "AT_LAYOUT_LENGTH",
    "AT_NAME_BYTES",
    "AT_NAME_LENGTH",
    "AT_PAYLOAD_BYTES",
    "AT_RANK",
    "AT_RESERVED",
    "AT_TENSOR_COUNT",
    "AT_VERSION",
    "COUNTS",
    "DESCRIPTOR",
    "DESCRIPTOR_RESERVED",
    "DESCRIPTOR_SIZE",
    "FLAG_LITTLE_ENDIAN",
    "FLAG_NAMES",
    "HEADER",
    "HEADER_SIZE",
    "MAGIC",
    "MAX_RANK",
    "PRODUCT_END",
    "RESERVED",
    "U32_END",
    "U64_END",
    "VERSION",
    "ZEROS",
    "align64",
    "dense_byte_length",
    "first_nonzero",
    "overflowing_dim",
]

MAGIC = b"KLNT"
VERSION = 2

FLAG_LITTLE_ENDIAN = 1
FLAG_NAMES = 2

MAX_RANK = 8
U32_END = 1 << 32
U64_END = 1 << 64
PRODUCT_END = 1 << 63
"""Item size times the dims that are not 0 stays below this."""

HEADER = struct.Struct("<4sHHQQQ32s")
"""magic, version, flags, tensor_count, name_bytes, payload_bytes, reserved."""
DESCRIPTOR = struct.Struct("<QQIIHB37s8Q")
"""byte_offset, byte_length, name_length, layout_length, dtype, rank, reserved, eight dims."""
COUNTS = struct.Struct("<8xQQQ")
"""tensor_count, name_bytes, payload_bytes."""

HEADER_SIZE = HEADER.size
DESCRIPTOR_SIZE = DESCRIPTOR.size

# Field offsets, for errors: in the header, then in a descriptor.
AT_VERSION, AT_FLAGS, AT_TENSOR_COUNT, AT_NAME_BYTES, AT_PAYLOAD_BYTES, AT_RESERVED = 4, 6, 8, 16, 24, 32
AT_BYTE_OFFSET, AT_BYTE_LENGTH, AT_NAME_LENGTH, AT_LAYOUT_LENGTH = 0, 8, 16, 20
AT_DTYPE, AT_RANK, AT_DESCRIPTOR_RESERVED, AT_DIMS = 24, 26, 27, 64

ZEROS: tuple[bytes, ...] = tuple(bytes(k) for k in range(64))
"""`ZEROS[k]` is k zero bytes: no gap of a directory is longer than 63."""
RESERVED = bytes(32)
DESCRIPTOR_RESERVED = bytes(37)


def align64(size: int) -> int:
    """Return `size` rounded up to a multiple of 64."""
    return (size + 63) & -64


def dense_byte_length(item_size: int, dims: Sequence[int]) -> int | None:
    """Return the payload bytes of a dense tensor, or None when the dims that are not 0 reach 2^63 bytes."""
    length = math.prod(dims, start=item_size)
    if 0 < length < PRODUCT_END:
        return length
    return None if overflowing_dim(item_size, dims) < len(dims) else 0


def overflowing_dim(item_size: int, dims: Sequence[int]) -> int:
    """Return the index of the dim with which item size times dims reaches 2^63, zeros left out, or the rank."""
    product = item_size
    for index, dim in enumerate(dims):
        product *= dim or 1
        if product >= PRODUCT_END:
            return index
    return len(dims)


def first_nonzero(data: bytes | memoryview) -> int:
    """Return the index of the first byte that is not 0, or the length."""
    raw = bytes(data)
    return len(raw) - len(raw.lstrip(b"\0"))
