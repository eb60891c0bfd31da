"""Placing tensors: the checks on an encoder's input, and the one layout of what passes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kiln_arrow.canonical.arrays import Payload, apart_from, as_payload, check_bools, row_major, utf8, write_row_major
from kiln_arrow.canonical.dtypes import BOOL
from kiln_arrow.canonical.layout import (
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
)
from kiln_arrow.errors import KilnError, shown

__all__ = [
    "EncodedFront",
    "Plan",
    "Tensors",
    "ordered",
    "parts_of",
    "plan",
    "write",
]

_NO_DIMS = (0,) * MAX_RANK

Tensors = Mapping[Any, Any] | Iterable[tuple[str | None, Any]]
"""What `encode` takes: a mapping, or pairs of name and tensor."""


class EncodedFront(NamedTuple):
    """The bytes before the payload region, and where each payload lies in it."""

    data: bytes
    byte_offsets: tuple[int, ...]
    length: int  # of the whole directory


Plan = tuple[EncodedFront, list[Payload]]
"""A directory about to be written."""


def parts_of(plan: Plan) -> list[bytes | memoryview]:
    """Return a directory in pieces, each payload as it lies where it can."""
    (front, byte_offsets, _), payloads = plan
    parts: list[bytes | memoryview] = [front]
    end = 0
    for index, payload in enumerate(payloads):
        start = byte_offsets[index]
        if start != end:
            parts.append(ZEROS[start - end])
        end = start + payload[3]
        if start != end:
            parts.append(row_major(payload))
    if end % 64:
        parts.append(ZEROS[-end % 64])
    return parts


def write(plan: Plan, target: memoryview) -> None:
    """Write a directory to a target of its length, each payload in one pass."""
    (front, byte_offsets, _), payloads = plan
    memory: NDArray[np.uint8] = np.frombuffer(target, np.uint8)
    payloads = [apart_from(payload, memory) for payload in payloads]
    region = end = len(front)
    target[:end] = front
    for index, payload in enumerate(payloads):
        start = region + byte_offsets[index]
        if start != end:
            target[end:start] = ZEROS[start - end]
        end = start + payload[3]
        if start != end:
            write_row_major(payload, target[start:end])
    if end % 64:
        target[end:] = ZEROS[-end % 64]


def plan(tensors: Tensors, *, check_contents: bool = True) -> Plan:
    """Return where everything goes, with the whole input checked, bool bytes included unless told otherwise."""
    payloads: list[Payload] = []
    facts: list[_Facts] = []
    for name_bytes, name, tensor in ordered(tensors):
        payload = as_payload(tensor, len(payloads), name or None)
        dtype, dims, layout, byte_length, _ = payload
        if check_contents and dtype is BOOL and not layout:
            check_bools(payload, len(payloads), name or None)
        payloads.append(payload)
        facts.append((name_bytes, layout, dtype.code, dims, byte_length))
    front = _front if len(facts) <= _REMEMBERED_TENSORS else _front.__wrapped__
    return front(tuple(facts)), payloads


_Facts = tuple[bytes, bytes, int, tuple[int, ...], int]
"""Name, layout, dtype code, dims and byte length of a tensor."""

# As in decoding, the cells of a column mostly share their fronts, so short ones are remembered.
_REMEMBERED_TENSORS = 16


@lru_cache(maxsize=512)
def _front(tensors: tuple[_Facts, ...]) -> EncodedFront:
    descriptors: list[bytes] = []
    byte_offsets: list[int] = []
    seen: set[bytes] = set()
    end = 0
    for index, (name, layout, code, dims, byte_length) in enumerate(tensors):
        if name in seen:
            text = name.decode()
            sentence = f"expected a name no earlier tensor has, found {shown(text)}"
            raise KilnError("duplicate_name", sentence, tensor=index, name=text)
        if name:
            seen.add(name)
        start = align64(end)
        end = start + byte_length
        if end >= U64_END:
            raise KilnError(
                "overflow", f"expected payloads below 2^64 bytes, found {end}", tensor=index, name=name.decode() or None
            )
        fields = (start, byte_length, len(name), len(layout), code, len(dims), DESCRIPTOR_RESERVED)
        descriptors.append(DESCRIPTOR.pack(*fields, *dims, *_NO_DIMS[len(dims) :]))
        byte_offsets.append(start)
    heap = b"".join([facts[0] for facts in tensors]) + b"".join([facts[1] for facts in tensors])
    flags = FLAG_LITTLE_ENDIAN | FLAG_NAMES if seen else FLAG_LITTLE_ENDIAN
    header = HEADER.pack(MAGIC, VERSION, flags, len(tensors), len(heap), end, RESERVED)
    unpadded = HEADER_SIZE + DESCRIPTOR_SIZE * len(tensors) + len(heap)
    data = b"".join([header, *descriptors, heap, ZEROS[-unpadded % 64]])
    length = len(data) + align64(end)
    if length >= U64_END:
        raise KilnError("overflow", f"expected a directory below 2^64 bytes, found {length}")
    return EncodedFront(data, tuple(byte_offsets), length)


def ordered(tensors: Tensors) -> list[tuple[bytes, str | None, Any]]:
    """Return name bytes, name and tensor of each entry, those of a mapping sorted by name bytes; tensors unchecked."""
    if type(tensors) is dict or isinstance(tensors, Mapping):  # the first alone is quick
        entries = [(_name_bytes(name, index), name, tensor) for index, (name, tensor) in enumerate(tensors.items())]
        if len(entries) > 1:
            entries.sort(key=_by_name)
        return entries
    if isinstance(tensors, (str, bytes)) or not isinstance(tensors, Iterable):
        raise KilnError("entry", f"expected a mapping or pairs of name and tensor, found {type(tensors).__name__}")
    entries = []
    for entry in tensors:
        if not isinstance(entry, (tuple, list)) or len(entry) != 2:
            sentence = f"expected a pair of name and tensor, found {type(entry).__name__}"
            raise KilnError("entry", sentence, tensor=len(entries))
        entries.append((_name_bytes(entry[0], len(entries)), entry[0], entry[1]))
    return entries


def _by_name(entry: tuple[bytes, str | None, Any]) -> tuple[bytes, bool]:
    return entry[0], entry[1] is not None  # a mapping can have both keys that mean unnamed: None goes first


def _name_bytes(name: object, index: int) -> bytes:
    if isinstance(name, str):
        return utf8(name, index, name)
    if name is not None:
        raise KilnError("name", f"expected a string or None as a name, found {shown(name)}", tensor=index)
    return b""
