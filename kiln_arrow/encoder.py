"""Placing tensors: the checks on an encoder's input, and the one layout of what passes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kiln_arrow.arrays import Payload, as_payload, check_bools, utf8
from kiln_arrow.errors import KilnError, shown
from kiln_arrow.layout import (
    DESCRIPTOR,
    DESCRIPTOR_RESERVED,
    FLAG_LITTLE_ENDIAN,
    FLAG_NAMES,
    HEADER,
    MAGIC,
    MAX_RANK,
    RESERVED,
    U64_END,
    VERSION,
    ZEROS,
    align64,
)

_NO_DIMS = (0,) * MAX_RANK

#: What `encode` takes: a mapping, or pairs of name and tensor.
Tensors = Mapping[Any, Any] | Iterable[tuple[str | None, Any]]


class Plan(NamedTuple):
    """A directory about to be written: its front, and each payload with its start."""

    front: bytes
    payloads: list[tuple[int, Payload]]
    length: int

    def parts(self) -> Iterator[bytes | memoryview]:
        """Yields the directory piece by piece, each payload as it lies where it can."""
        yield self.front
        end = len(self.front)
        for start, payload in self.payloads:
            yield ZEROS[start - end]
            yield payload.row_major()
            end = start + payload.byte_length
        yield ZEROS[self.length - end]

    def write(self, target: NDArray[np.uint8]) -> None:
        """Writes the directory to a target of its length, each payload in one pass."""
        apart = [(start, payload.apart_from(target)) for start, payload in self.payloads]
        end = len(self.front)
        target[:end] = np.frombuffer(self.front, np.uint8)
        for start, payload in apart:
            target[end:start] = 0
            end = start + payload.byte_length
            payload.write(target[start:end])
        target[end:] = 0


def plan(tensors: Tensors, *, check_contents: bool = True) -> Plan:
    """Returns where everything goes, with the whole input checked, bool bytes included unless told otherwise."""
    names: list[bytes] = []
    payloads: list[Payload] = []
    for index, (name, tensor) in enumerate(_ordered_pairs(tensors)):
        names.append(_name_bytes(name, index))
        payload = as_payload(tensor, index, name or None)
        if check_contents:
            check_bools(payload, index, name or None)
        payloads.append(payload)
    _check_distinct(names)
    heap = b"".join(names) + b"".join([payload.layout for payload in payloads])
    descriptors, starts, end = _descriptors(names, payloads)
    flags = FLAG_LITTLE_ENDIAN | (FLAG_NAMES if any(names) else 0)
    header = HEADER.pack(MAGIC, VERSION, flags, len(names), len(heap), end, RESERVED)
    front = b"".join([header, *descriptors, heap])
    front += ZEROS[align64(len(front)) - len(front)]
    length = len(front) + align64(end)
    if length >= U64_END:
        raise KilnError("overflow", f"expected a directory below 2^64 bytes, found {length}")
    return Plan(front, [(len(front) + start, payload) for start, payload in zip(starts, payloads, strict=True)], length)


def _ordered_pairs(tensors: Tensors) -> list[tuple[str | None, Any]]:
    if isinstance(tensors, Mapping):
        pairs = list(tensors.items())
        keys = [(_name_bytes(name, index), name is not None) for index, (name, _) in enumerate(pairs)]
        return [pairs[index] for index in sorted(range(len(pairs)), key=keys.__getitem__)]
    if isinstance(tensors, (str, bytes)) or not isinstance(tensors, Iterable):
        raise KilnError("entry", f"expected a mapping or pairs of name and tensor, found {type(tensors).__name__}")
    pairs = []
    for index, entry in enumerate(tensors):
        if not isinstance(entry, (tuple, list)) or len(entry) != 2:
            sentence = f"expected a pair of name and tensor, found {type(entry).__name__}"
            raise KilnError("entry", sentence, None, index)
        pairs.append((entry[0], entry[1]))
    return pairs


def _name_bytes(name: object, index: int) -> bytes:
    if name is None:
        return b""
    if not isinstance(name, str):
        raise KilnError("name", f"expected a string or None as a name, found {shown(name)}", None, index)
    return utf8(name, index, name)


def _check_distinct(names: list[bytes]) -> None:
    seen: set[bytes] = set()
    for index, name in enumerate(names):
        if name in seen:
            text = name.decode()
            sentence = f"expected a name no earlier tensor has, found {shown(text)}"
            raise KilnError("duplicate_name", sentence, None, index, text)
        if name:
            seen.add(name)


def _descriptors(names: list[bytes], payloads: list[Payload]) -> tuple[list[bytes], list[int], int]:
    """Returns descriptors, byte offsets and the last end of payloads placed one after another."""
    descriptors = []
    starts = []
    end = 0
    for name, payload in zip(names, payloads, strict=True):
        start = align64(end)
        end = start + payload.byte_length
        descriptors.append(
            DESCRIPTOR.pack(
                start,
                payload.byte_length,
                len(name),
                len(payload.layout),
                payload.dtype.code,
                len(payload.dims),
                DESCRIPTOR_RESERVED,
                *payload.dims,
                *_NO_DIMS[len(payload.dims) :],
            )
        )
        starts.append(start)
    return descriptors, starts, end
