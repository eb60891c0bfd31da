"""Columns whose cells all have one form: found and validated with whole-column comparisons, read as strided views.

Cells have one form when header, descriptors and names are equal byte for byte. Where that holds, what was found out
about the first cell holds for all, and what is left to check are the bytes between payloads and those of bools.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kiln_arrow.canonical.decoder import Front
from kiln_arrow.canonical.directory import read_whole
from kiln_arrow.canonical.layout import ZEROS
from kiln_arrow.columns.cells import Cells
from kiln_arrow.errors import KilnError

__all__ = [
    "Uniform",
    "dense_strides",
    "stacked",
    "uniform",
]

# How many bytes are compared at once: what is in between stays in the processor's cache.
_BLOCK = 1 << 18


class Uniform(NamedTuple):
    """Accepted cells of one form that lie evenly spaced in one buffer, nulls left out."""

    front: Front
    memory: NDArray[np.uint8]  # read-only
    start: int
    stride: int
    rows: int


def uniform(cells: Cells) -> Uniform | None:
    """Return the cells that are not null as one block with every byte checked.

    None where they are not evenly spaced or not of one form, or where one is malformed: then somebody has to look at
    each of them.
    """
    placed = _evenly_spaced(cells)
    if placed is None:
        return None
    buffer, start, stride, length, count = placed
    try:
        front = read_whole(buffer[start : start + length])
    except KilnError:
        return None
    block = Uniform(front, np.frombuffer(buffer, np.uint8), start, stride, count)
    end = front.tensors[0].start if front.tensors else length
    head = bytes(buffer[start : start + end])
    # Up to the first payload there are header, descriptors and names; the gaps after it are among the regions.
    return block if _all_equal(block, 0, head) and _regions_hold(block) else None


def _evenly_spaced(cells: Cells) -> tuple[memoryview, int, int, int, int] | None:
    """Return buffer, start, stride, length and count of the cells that are not null, if they have one of each."""
    which, starts, lengths = cells.which, cells.starts, cells.lengths
    if cells.valid is not None:
        starts, lengths = starts[cells.valid], lengths[cells.valid]
        which = None if which is None else which[cells.valid]
    if len(starts) == 0:
        return None
    index, start, length = 0 if which is None else int(which[0]), int(starts[0]), int(lengths[0])
    stride = int(starts[1]) - start if len(starts) > 1 else length
    if stride < length or length == 0 or not (lengths == length).all():
        return None
    if not (starts == np.arange(len(starts)) * stride + start).all():
        return None
    if which is not None and not (which == index).all():
        return None
    return cells.buffers[index], start, stride, length, len(starts)


def _regions_hold(block: Uniform) -> bool:
    for is_bool, start, stop, _ in block.front.regions:
        if not is_bool:
            if not _all_equal(block, start, ZEROS[stop - start]):
                return False
        elif any((values > 1).any() for values in _blocks(block, start, stop - start, 1)):
            return False
    return True


def _all_equal(block: Uniform, offset: int, expected: bytes) -> bool:
    """Return whether every cell has these bytes at an offset."""
    if not expected:
        return True
    width = math.gcd(len(expected), 8)
    words: NDArray[Any] = np.frombuffer(expected, f"<u{width}")
    return not any((values != words).any() for values in _blocks(block, offset, len(expected), width))


def _blocks(block: Uniform, offset: int, length: int, width: int) -> Iterator[NDArray[Any]]:
    """Yield the bytes at an offset of many cells at a time, as words[cells, length / width]."""
    at, count = block.start + offset, max(_BLOCK // length, 1)
    shape, strides = (block.rows, length // width), (block.stride, width)
    words: NDArray[Any] = np.ndarray(shape, f"<u{width}", block.memory, at, strides)
    for first in range(0, block.rows, count):
        yield words[first : first + count]


def stacked(block: Uniform) -> list[NDArray[Any]]:
    """Return each tensor of all cells as one array with the cells first: read-only views where addresses suit.

    Raises:
        KilnError: A tensor without elements whose other dims are too large for NumPy once there are several of it.
    """
    arrays: list[NDArray[Any]] = []
    for index, (name, dtype, dims, _, start, stop) in enumerate(block.front.tensors):
        # Without bytes there is nothing to stride over, and the dims beside a 0 may be too large to multiply.
        strides = (block.stride, *dense_strides(dims, dtype.itemsize)) if stop > start else (0,) * (len(dims) + 1)
        try:
            array: NDArray[Any] = np.ndarray((block.rows, *dims), dtype, block.memory, block.start + start, strides)
        except ValueError as error:
            sentence = f"expected dims that fit one array, found {block.rows} times {dims}"
            raise KilnError("overflow", sentence, tensor=index, name=name) from error
        if not array.flags.aligned:
            array = array.copy()
            array.flags.writeable = False
        arrays.append(array)
    return arrays


def dense_strides(dims: tuple[int, ...], item_size: int) -> list[int]:
    """Return the strides of row-major memory."""
    strides: list[int] = []
    for dim in reversed(dims):
        strides.insert(0, item_size)
        item_size *= dim
    return strides
