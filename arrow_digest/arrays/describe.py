"""Arrays as plain checked descriptions: where each buffer lies, and that nothing points outside.

Implements "Sound structure is required, sound values are not" of the arrow0 specification. Arrow arrays from a
file or another library may claim offsets, view lengths, dictionary indices or run ends that reach
outside their buffers. `describe` reads no byte before it knows that the byte is there, and returns a
`Node` that the encoders follow without another check. What the values mean is nobody's business here:
text need not be UTF-8, a date need not be a whole day.

Of views, indices and list views only those are judged that some row comes to. The others become nulls of the
description, because a null is never followed. Of an array without slots nothing is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import lib

from arrow_digest.arrays.lengths import length_of, require_lengths, require_offset
from arrow_digest.arrays.nodes import Bitmap, Column, Kind, Node
from arrow_digest.arrays.reach import Mask, Reach, every_slot, held, inside, unpack
from arrow_digest.arrays.views import wrong_views
from arrow_digest.errors import InvalidArrayError

__all__ = ["describe", "describe_leaf", "struct_validity"]

_UNSIGNED = {width: np.dtype(f"<u{width}") for width in (1, 2, 4, 8)}
_NO_ROWS = np.empty(0, np.bool_)

_FIXED_TYPES = (
    *(lib.Type_INT8, lib.Type_INT16, lib.Type_INT32, lib.Type_INT64),
    *(lib.Type_UINT8, lib.Type_UINT16, lib.Type_UINT32, lib.Type_UINT64),
    *(lib.Type_HALF_FLOAT, lib.Type_FLOAT, lib.Type_DOUBLE),
    *(lib.Type_DECIMAL32, lib.Type_DECIMAL64, lib.Type_DECIMAL128, lib.Type_DECIMAL256),
    *(lib.Type_DATE32, lib.Type_DATE64, lib.Type_TIME32, lib.Type_TIME64, lib.Type_TIMESTAMP),
)


def describe_leaf(column: Any, indices: tuple[int, ...], path: tuple[str, ...]) -> Column:
    """Return the checked description of one leaf under a top-level column.

    Args:
        column: The top-level column's `pyarrow.Array`.
        indices: Field indices from the top-level column down to the leaf, as `schema.Leaf` has them.
        path: The leaf's path, for errors.

    Raises:
        InvalidArrayError: The array points outside its buffers.
    """
    count = length_of(column, path[:1])
    if count == 0:
        return Column(Node(Kind.NULL, 0, column))
    require_lengths(column, path[:1])
    rows = _Rows(count)
    for index in indices[1:]:
        column = rows.follow(column, path)
        if len(column) == 0:  # whatever should lead here is null, so every row is
            return Column(Node(Kind.NULL, count, column))
        require_offset(column, path)
        rows.require_valid(_validity(column, column.buffers()[0], path))
        column = column.field(index)
    return rows.column(column, path)


def struct_validity(column: Any, indices: tuple[int, ...], path: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return which rows have a struct that is not null, nor under a null one.

    Args:
        column: The top-level column's `pyarrow.Array`.
        indices: Field indices from the top-level column down to the struct.
        path: The struct's path, for errors.

    Raises:
        InvalidArrayError: The array points outside its buffers.
    """
    count = length_of(column, path[:1])
    if count == 0:
        return _NO_ROWS
    require_lengths(column, path[:1])
    rows = _Rows(count)
    for index in (*indices[1:], None):
        column = rows.follow(column, path)
        if len(column) == 0:  # whatever should lead here is null
            return np.zeros(count, np.bool_)
        require_offset(column, path)
        rows.require_valid(_validity(column, column.buffers()[0], path))
        if index is not None:
            column = column.field(index)
    return rows.validity()


class _Rows:
    """The rows of a column on the way down to a leaf: which slot each is in, and the validity of what was passed."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._parents: list[Bitmap] = []
        # Where an encoding was passed: the slot of every row, and which rows have one.
        self._slots: npt.NDArray[np.int64] | None = None
        self._valid = _NO_ROWS

    def follow(self, array: Any, path: tuple[str, ...]) -> Any:
        """Return the struct array under extension, dictionary and run-end encodings, or an empty one on the way."""
        while not pa.types.is_struct(array.type) and len(array):
            if isinstance(array.type, pa.BaseExtensionType):
                array = array.storage
                continue
            node = _describe(array, path, self._reach(array), follow=False)
            if self._slots is None:
                self._slots, self._valid = np.arange(self._count), np.ones(self._count, np.bool_)
            self.require_valid(node.validity)
            if node.kind is Kind.DICTIONARY:
                inner = np.zeros(self._count, np.int64)
                inner[self._valid] = node.values[self._slots[self._valid]]
                self._slots, array = inner, array.dictionary
            else:
                self._slots = np.searchsorted(node.values, self._slots + node.origin, side="right").astype(np.int64)
                array = array.values
        return array

    def require_valid(self, validity: Bitmap | None) -> None:
        """Make the rows null whose slot is."""
        if validity is None:
            return
        if self._slots is None:
            self._parents.append(validity)
        else:
            positions = self._slots[self._valid] + validity.offset
            self._valid[self._valid] = validity.data[positions >> 3] >> (positions & 7).astype(np.uint8) & 1

    def validity(self) -> npt.NDArray[np.bool_]:
        """Return which rows hold a value of all that was passed."""
        valid = np.ones(self._count, np.bool_) if self._slots is None else self._valid.copy()
        for bitmap in self._parents:
            valid &= unpack(bitmap, self._count)
        return valid

    def column(self, array: Any, path: tuple[str, ...]) -> Column:
        """Return the rows of a leaf's array."""
        leaf = _describe(array, path, self._reach(array))
        if self._slots is not None:
            bits = Bitmap(np.packbits(self._valid, bitorder="little"), 0)
            leaf = Node(Kind.DICTIONARY, self._count, leaf.array, bits, values=self._slots, child=leaf)
        return Column(leaf, tuple(self._parents))

    def _reach(self, array: Any) -> Reach:
        return partial(self._slots_of_rows, len(array)) if self._parents or self._slots is not None else every_slot

    def _slots_of_rows(self, length: int) -> Mask:
        valid = self.validity()
        if self._slots is None:
            return valid
        seen = np.zeros(length, np.bool_)
        seen[self._slots[valid]] = True
        return seen


def describe(array: Any, path: tuple[str, ...] = ()) -> Node:
    """Return the checked description of an array that is no struct.

    Args:
        array: A `pyarrow.Array` of a type that arrow0 encodes.
        path: Where it stands, for errors.

    Raises:
        InvalidArrayError: It points outside its buffers, or lies in a device's memory.
    """
    if length_of(array, path):
        require_lengths(array, path)
    return _describe(array, path)


def _describe(array: Any, path: tuple[str, ...], reach: Reach = every_slot, *, follow: bool = True) -> Node:
    """Describe an array; the indices of a dictionary or the runs without the values under them if not to `follow`."""
    if len(array) == 0:
        return Node(Kind.NULL, 0, array)
    if not array.is_cpu:
        raise InvalidArrayError(path, "device", f"expected CPU memory, found {array.device_type}")
    require_offset(array, path)
    data_type = array.type
    if isinstance(data_type, pa.BaseExtensionType):
        return _describe(array.storage, path, reach, follow=follow)
    if data_type.id in (lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED):
        return (_dictionary if data_type.id == lib.Type_DICTIONARY else _run_end)(array, path, reach, follow)
    return _DESCRIBERS[data_type.id](array, path, reach)


def _view(
    buffer: Any, dtype: Any, start: int, count: int, path: tuple[str, ...], what: str, columns: int = 0
) -> npt.NDArray[Any]:
    """Return `count` items of a buffer from item `start` on, refusing a buffer that does not hold them."""
    shape: tuple[int, ...] = (count, columns) if columns else (count,)
    if count == 0:
        return np.empty(shape, dtype)
    item = np.dtype(dtype).itemsize * (columns or 1)
    size = 0 if buffer is None else buffer.size
    if start < 0 or (start + count) * item > size:
        raise InvalidArrayError(path, "buffer", f"expected {(start + count) * item} bytes of {what}, found {size}")
    flat = np.frombuffer(buffer, dtype, count=count * (columns or 1), offset=start * item)
    return flat.reshape(shape) if columns else flat


def _bitmap(buffer: Any, offset: int, length: int, path: tuple[str, ...], what: str) -> Bitmap:
    first = offset // 8
    data = _view(buffer, np.uint8, first, (offset + length + 7) // 8 - first, path, what)
    return Bitmap(data, offset % 8)


def _validity(array: Any, buffer: Any, path: tuple[str, ...]) -> Bitmap | None:
    # As pyarrow reads it: a null count of 0 is believed, and without a bitmap there are no nulls.
    length = len(array)
    if buffer is None:
        return None
    bitmap = _bitmap(buffer, array.offset, length, path, "validity")
    # Only now: where the count is not known, pyarrow counts the bits, and trusts that they are there.
    null_count = array.null_count
    if null_count > length:
        raise InvalidArrayError(path, "nulls", f"expected at most {length} nulls, found a count of {null_count}")
    return bitmap if null_count else None


def _null(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    return Node(Kind.NULL, len(array), array)


def _bool(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    validity, data = array.buffers()
    bits = _bitmap(data, array.offset, len(array), path, "bits")
    return Node(Kind.BOOL, len(array), array, _validity(array, validity, path), bits=bits)


def _fixed(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    length = len(array)
    kind = Kind.FIXED_BINARY if array.type.id == lib.Type_FIXED_SIZE_BINARY else Kind.FIXED
    width = array.type.byte_width
    validity, data = array.buffers()
    if width in _UNSIGNED:
        values = _view(data, _UNSIGNED[width], array.offset, length, path, "values")
    elif width:
        values = _view(data, np.uint8, array.offset, length, path, "values", columns=width)
    else:
        values = np.empty((length, 0), np.uint8)
    return Node(kind, length, array, _validity(array, validity, path), width=width, values=values)


def _offsets(array: Any, buffer: Any, dtype: str, path: tuple[str, ...], limit: int) -> npt.NDArray[Any]:
    """Return `length + 1` offsets: increasing, and within `limit`."""
    offsets = _view(buffer, dtype, array.offset, len(array) + 1, path, "offsets")
    falls = offsets[1:] < offsets[:-1]
    if np.count_nonzero(falls):
        slot = int(np.argmax(falls))
        message = f"expected increasing offsets, found {offsets[slot]} then {offsets[slot + 1]}"
        raise InvalidArrayError(path, "offsets", message, slot)
    if offsets[0] < 0 or offsets[-1] > limit:
        message = f"expected offsets from 0 to {limit}, found {offsets[0]} to {offsets[-1]}"
        raise InvalidArrayError(path, "offsets", message)
    return offsets


def _binary(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    validity, ends, buffer = array.buffers()
    size = 0 if buffer is None else buffer.size
    offsets = _offsets(array, ends, _OFFSETS[array.type.id], path, size)
    data = _view(buffer, np.uint8, 0, size, path, "data")
    return Node(Kind.BINARY, len(array), array, _validity(array, validity, path), values=offsets, data=data)


def _binary_view(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    buffers = array.buffers()
    views = _view(buffers[1], "<i4", array.offset, len(array), path, "views", columns=4)
    node = Node(Kind.VIEW, len(array), array, _validity(array, buffers[0], path), values=views)
    wrong = wrong_views(views, [0 if buffer is None else buffer.size for buffer in buffers[2:]])
    if wrong is not None:
        _settle(node, wrong, reach, path, "views", "a view reaches outside its buffers")
    return node


def _settle(node: Node, wrong: Mask, reach: Reach, path: tuple[str, ...], rule: str, message: str) -> None:
    """Refuse the first wrong slot whose value a row comes to; make the other wrong ones null."""
    seen = held(node, reach)
    found = wrong if seen is None else wrong & seen
    if found.any():
        raise InvalidArrayError(path, rule, message, int(np.argmax(found)))
    sound = ~wrong if node.validity is None else ~wrong & unpack(node.validity, node.length)
    node.validity = Bitmap(np.packbits(sound, bitorder="little"), 0)


def _list(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    items, buffers = array.values, array.buffers()
    offsets = _offsets(array, buffers[1], _OFFSETS[array.type.id], path, len(items))
    first = int(offsets[0])
    count = int(offsets[-1]) - first
    validity = _validity(array, buffers[0], path)
    node = Node(Kind.LIST, len(array), array, validity, values=offsets, origin=first)
    node.child = _describe(items.slice(first, count), path, inside(node, reach, count))
    return node


def _fixed_size_list(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    width, length, items = array.type.list_size, len(array), array.values
    first, count = array.offset * width, length * width
    if first + count > len(items):
        message = f"expected {first + count} items, found {len(items)}"
        raise InvalidArrayError(path, "child_length", message)
    node = Node(Kind.FIXED_LIST, length, array, _validity(array, array.buffers()[0], path), width=width)
    node.child = _describe(items.slice(first, count), path, inside(node, reach, count))
    return node


def _list_view(array: Any, path: tuple[str, ...], reach: Reach) -> Node:
    length, items, buffers, dtype = len(array), array.values, array.buffers(), _OFFSETS[array.type.id]
    starts = _view(buffers[1], dtype, array.offset, length, path, "offsets").astype(np.int64, copy=False)
    sizes = _view(buffers[2], dtype, array.offset, length, path, "sizes").astype(np.int64, copy=False)
    node = Node(Kind.LIST_VIEW, length, array, _validity(array, buffers[0], path), values=starts, sizes=sizes)
    # Compared without adding, so that nothing wraps.
    wrong = (starts < 0) | (sizes < 0) | (sizes > len(items)) | (starts > len(items) - sizes)
    if np.count_nonzero(wrong):
        _settle(node, wrong, reach, path, "sizes", f"a list reaches outside its {len(items)} items")
    used = sizes > 0 if node.validity is None else (sizes > 0) & unpack(node.validity, length)
    first = int(starts[used].min()) if used.any() else 0
    count = int((starts[used] + sizes[used]).max()) - first if used.any() else 0
    node.origin = first
    node.child = _describe(items.slice(first, count), path, inside(node, reach, count))
    return node


def _dictionary(array: Any, path: tuple[str, ...], reach: Reach, follow: bool) -> Node:
    index_type, length = array.type.index_type, len(array)
    dtype = f"<{'i' if pa.types.is_signed_integer(index_type) else 'u'}{index_type.bit_width // 8}"
    buffers = array.buffers()
    indices = _view(buffers[1], dtype, array.offset, length, path, "indices")
    dictionary = array.dictionary
    node = Node(Kind.DICTIONARY, length, array, _validity(array, buffers[0], path), values=indices)
    # As unsigned numbers the negative ones are too large as well, and one look is enough where none is wrong.
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))
    if unsigned.max() >= len(dictionary):
        message = f"an index reaches outside the {len(dictionary)} dictionary values"
        _settle(node, unsigned >= len(dictionary), reach, path, "indices", message)
    if follow:
        node.child = _describe(dictionary, path, inside(node, reach, len(dictionary)))
    return node


def _run_end(array: Any, path: tuple[str, ...], reach: Reach, follow: bool) -> Node:
    length, offset, runs, items = len(array), array.offset, array.run_ends, array.values
    if len(runs) != len(items):
        message = f"expected as many run ends as values, found {len(runs)} for {len(items)} values"
        raise InvalidArrayError(path, "run_ends", message)
    if len(runs) == 0:
        raise InvalidArrayError(path, "run_ends", f"expected runs up to row {offset + length}, found no run")
    ends = _describe(runs, path)
    if ends.validity is not None:
        raise InvalidArrayError(path, "run_ends", "expected no null among the run ends, found some")
    run_ends = ends.values.view(f"<i{ends.width}")
    falls = run_ends <= np.concatenate((np.zeros(1, run_ends.dtype), run_ends[:-1]))
    if falls.any():
        raise InvalidArrayError(path, "run_ends", "expected run ends that rise from 1", int(np.argmax(falls)))
    if run_ends[-1] < offset + length:
        message = f"expected runs up to row {offset + length}, found {run_ends[-1]}"
        raise InvalidArrayError(path, "run_ends", message)
    node = Node(Kind.RUN_END, length, array, values=run_ends, origin=offset)
    if follow:
        node.child = _describe(items, path, inside(node, reach, len(items)))
    return node


# How wide the offsets of a layout are, and its sizes.
_OFFSETS = {
    **dict.fromkeys((lib.Type_BINARY, lib.Type_STRING, lib.Type_LIST, lib.Type_LIST_VIEW), "<i4"),
    **dict.fromkeys(
        (lib.Type_LARGE_BINARY, lib.Type_LARGE_STRING, lib.Type_LARGE_LIST, lib.Type_LARGE_LIST_VIEW), "<i8"
    ),
}

_DESCRIBERS: dict[int, Callable[[Any, tuple[str, ...], Reach], Node]] = {
    lib.Type_NA: _null,
    lib.Type_BOOL: _bool,
    **dict.fromkeys((*_FIXED_TYPES, lib.Type_FIXED_SIZE_BINARY), _fixed),
    **dict.fromkeys((lib.Type_BINARY, lib.Type_STRING, lib.Type_LARGE_BINARY, lib.Type_LARGE_STRING), _binary),
    **dict.fromkeys((lib.Type_BINARY_VIEW, lib.Type_STRING_VIEW), _binary_view),
    **dict.fromkeys((lib.Type_LIST, lib.Type_LARGE_LIST), _list),
    lib.Type_FIXED_SIZE_LIST: _fixed_size_list,
    **dict.fromkeys((lib.Type_LIST_VIEW, lib.Type_LARGE_LIST_VIEW), _list_view),
}
