"""Arrays as plain descriptions: trees of nodes that say where each buffer lies.

`describe` makes them, and rules follow them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Bitmap", "Kind", "Node", "unpack"]


class Kind(IntEnum):
    """The layouts that are told apart. Up to RUN_END the numbers are those of `ad_kind` in `native/kernels.h`."""

    NULL = 0
    FIXED = 1
    BOOL = 2
    FIXED_BINARY = 3
    BINARY = 4
    VIEW = 5
    LIST = 6
    FIXED_LIST = 7
    LIST_VIEW = 8
    DICTIONARY = 9
    RUN_END = 10
    STRUCT = 11
    MAP = 12
    SPARSE_UNION = 13
    DENSE_UNION = 14


class Bitmap(NamedTuple):
    """Bits, least significant first: the bit of slot i is bit `offset + i` of `data`."""

    data: npt.NDArray[np.uint8]
    offset: int


_NOTHING = np.empty(0, np.uint8)
_NO_SIZES = np.empty(0, np.int64)


@dataclass(slots=True)
class Node:
    """One level of an array: its visible slots, and where their values lie. Nobody changes it once it is described.

    Attributes:
        kind: The layout.
        length: Number of slots.
        array: The `pyarrow.Array` described; it keeps the memory alive.
        validity: One bit a slot, 1 where it holds a value; None where all do.
        width: Bytes of one value of FIXED and FIXED_BINARY, or items of one FIXED_LIST slot.
        values: By kind: FIXED and FIXED_BINARY the values, as unsigned integers of the width where there is
            such a type, else as rows of bytes; BINARY, LIST and MAP `length + 1` offsets; LIST_VIEW the first items;
            VIEW `length` rows of four int32; DICTIONARY the indices; RUN_END the run ends; unions the number of the
            child that each slot selects.
        bits: BOOL: one bit a slot.
        data: BINARY: what the offsets count from.
        sizes: LIST_VIEW: item counts; DENSE_UNION: which slot of its child each slot is.
        origin: LIST, MAP and LIST_VIEW: the offset that is the child's slot 0; RUN_END: the row that is slot 0.
        children: Items of a list, entries of a map (a STRUCT), values of a dictionary or of runs: one. Of a struct or
            union all; those of a struct, and of a sparse union, have as many slots as it has.
    """

    kind: Kind
    length: int
    array: pa.Array
    validity: Bitmap | None = None
    width: int = 0
    values: npt.NDArray[Any] = field(default_factory=lambda: _NOTHING)
    bits: Bitmap | None = None
    data: npt.NDArray[np.uint8] = field(default_factory=lambda: _NOTHING)
    sizes: npt.NDArray[np.int64] = field(default_factory=lambda: _NO_SIZES)
    origin: int = 0
    children: tuple[Node, ...] = ()

    @property
    def child(self) -> Node | None:
        """The only child of a layout that has one."""
        return self.children[0] if self.children else None


def unpack(bitmap: Bitmap, length: int) -> npt.NDArray[np.bool_]:
    """Return the first bits of a bitmap as bools."""
    bits = np.unpackbits(bitmap.data, count=bitmap.offset + length, bitorder="little")
    return bits[bitmap.offset :].view(np.bool_)
