"""Arrays as plain descriptions: where each buffer lies. `structure` makes them, the encoders follow them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Bitmap", "Column", "Kind", "Node"]


class Kind(IntEnum):
    """The layouts that the encoders tell apart."""

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


class Bitmap(NamedTuple):
    """Bits, least significant first: the bit of slot i is bit `offset + i` of `data`."""

    data: npt.NDArray[np.uint8]
    offset: int


_NOTHING = np.empty(0, np.uint8)
_NO_SIZES = np.empty(0, np.int64)


@dataclass(slots=True)
class Node:
    """One level of an array: its visible slots, and where their values lie. Nobody changes it.

    Attributes:
        kind: The layout.
        length: Number of slots.
        array: The `pyarrow.Array` described; it keeps the memory alive.
        validity: One bit a slot, 1 where it holds a value; None where all do.
        width: Bytes of one value of FIXED and FIXED_BINARY, or items of one FIXED_LIST slot.
        values: By kind: FIXED and FIXED_BINARY the values, as unsigned integers of the width where there is
            such a type, else as rows of bytes; BINARY and LIST `length + 1` offsets; LIST_VIEW the first items;
            VIEW `length` rows of four int32; DICTIONARY the indices; RUN_END the run ends.
        bits: BOOL: one bit a slot.
        data: BINARY: what the offsets count from.
        sizes: LIST_VIEW: item counts.
        origin: LIST and LIST_VIEW: the offset that is the child's slot 0; RUN_END: the row that is slot 0.
        child: Items of a list, values of a dictionary or of runs.
    """

    kind: Kind
    length: int
    array: Any
    validity: Bitmap | None = None
    width: int = 0
    values: npt.NDArray[Any] = field(default_factory=lambda: _NOTHING)
    bits: Bitmap | None = None
    data: npt.NDArray[np.uint8] = field(default_factory=lambda: _NOTHING)
    sizes: npt.NDArray[np.int64] = field(default_factory=lambda: _NO_SIZES)
    origin: int = 0
    child: Node | None = None


class Column(NamedTuple):
    """The rows of one leaf column: its node, and the validity of the structs above it."""

    node: Node
    parents: tuple[Bitmap, ...] = ()
