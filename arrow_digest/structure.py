"""Arrays as plain checked descriptions: where each buffer lies, and that nothing points outside.

Implements "Sound structure is required, sound values are not" of the arrow0 specification. Arrow arrays from a
file or another library may claim offsets, view lengths, dictionary indices or run ends that reach
outside their buffers. `describe` reads no byte before it knows that the byte is there, and returns a
`Node` that the encoders follow without another check. What the values mean is nobody's business here:
text need not be UTF-8, a date need not be a whole day.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import lib

from arrow_digest.errors import InvalidArrayError
from arrow_digest.lengths import require_lengths
from arrow_digest.views import wrong_views

__all__ = ["Bitmap", "Column", "Kind", "Node", "describe", "describe_leaf", "struct_validity"]


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


_UNSIGNED = {width: np.dtype(f"<u{width}") for width in (1, 2, 4, 8)}
_NOTHING = np.empty(0, np.uint8)
_NO_SIZES = np.empty(0, np.int64)
_NO_ROWS = np.empty(0, np.bool_)


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


_FIXED_TYPES = frozenset(
    (
        *(lib.Type_INT8, lib.Type_INT16, lib.Type_INT32, lib.Type_INT64),
        *(lib.Type_UINT8, lib.Type_UINT16, lib.Type_UINT32, lib.Type_UINT64),
        *(lib.Type_HALF_FLOAT, lib.Type_FLOAT, lib.Type_DOUBLE),
        *(lib.Type_DECIMAL32, lib.Type_DECIMAL64, lib.Type_DECIMAL128, lib.Type_DECIMAL256),
        *(lib.Type_DATE32, lib.Type_DATE64, lib.Type_TIME32, lib.Type_TIME64, lib.Type_TIMESTAMP),
    )
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
    require_lengths(column, path[:1])
    rows = _Rows(len(column))
    for index in indices[1:]:
        column = rows.follow(column, path)
        rows.require_valid(_validity(column, column.buffers()[0], path))
        column = column.field(index)
    return rows.column(_describe(column, path))


def struct_validity(column: Any, indices: tuple[int, ...], path: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return which rows have a struct that is not null, nor under a null one.

    Args:
        column: The top-level column's `pyarrow.Array`.
        indices: Field indices from the top-level column down to the struct.
        path: The struct's path, for errors.

    Raises:
        InvalidArrayError: The array points outside its buffers.
    """
    require_lengths(column, path[:1])
    rows = _Rows(len(column))
    for index in (*indices[1:], None):
        column = rows.follow(column, path)
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
        """Return the struct array under extension, dictionary and run-end encodings."""
        while not pa.types.is_struct(array.type):
            if isinstance(array.type, pa.BaseExtensionType):
                array = array.storage
                continue
            node = _describe(array, path, follow=False)
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
            valid &= _unpack(bitmap, self._count)
        return valid

    def column(self, leaf: Node) -> Column:
        """Return the rows of the leaf that was reached."""
        if self._slots is not None:
            bits = Bitmap(np.packbits(self._valid, bitorder="little"), 0)
            leaf = Node(Kind.DICTIONARY, self._count, leaf.array, bits, values=self._slots, child=leaf)
        return Column(leaf, tuple(self._parents))


def describe(array: Any, path: tuple[str, ...] = ()) -> Node:
    """Return the checked description of an array that is no struct.

    Args:
        array: A `pyarrow.Array` of a type that arrow0 encodes.
        path: Where it stands, for errors.

    Raises:
        InvalidArrayError: It points outside its buffers, or lies in a device's memory.
    """
    require_lengths(array, path)
    return _describe(array, path)


def _describe(array: Any, path: tuple[str, ...], *, follow: bool = True) -> Node:
    """Describe an array; the indices of a dictionary or the runs without the values under them if not to `follow`."""
    if not array.is_cpu:
        raise InvalidArrayError(path, "device", f"expected CPU memory, found {array.device_type}")
    data_type = array.type
    if isinstance(data_type, pa.BaseExtensionType):
        return _describe(array.storage, path, follow=follow)
    type_id = data_type.id
    if type_id in _FIXED_TYPES:
        return _fixed(array, path, Kind.FIXED)
    if type_id in (lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED):
        return (_dictionary if type_id == lib.Type_DICTIONARY else _run_end)(array, path, follow)
    return _DESCRIBERS[type_id](array, path)


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
    if buffer is None or length == 0:
        return None
    bitmap = _bitmap(buffer, array.offset, length, path, "validity")
    # Only now: where the count is not known, pyarrow counts the bits, and trusts that they are there.
    null_count = array.null_count
    if null_count > length:
        raise InvalidArrayError(path, "nulls", f"expected at most {length} nulls, found a count of {null_count}")
    return bitmap if null_count else None


def _null(array: Any, path: tuple[str, ...]) -> Node:
    return Node(Kind.NULL, len(array), array)


def _bool(array: Any, path: tuple[str, ...]) -> Node:
    validity, data = array.buffers()
    bits = _bitmap(data, array.offset, len(array), path, "bits")
    return Node(Kind.BOOL, len(array), array, _validity(array, validity, path), bits=bits)


def _fixed(array: Any, path: tuple[str, ...], kind: Kind = Kind.FIXED_BINARY) -> Node:
    length = len(array)
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
    length = len(array)
    if length == 0:
        return np.zeros(1, dtype)
    offsets = _view(buffer, dtype, array.offset, length + 1, path, "offsets")
    falls = offsets[1:] < offsets[:-1]
    if np.count_nonzero(falls):
        slot = int(np.argmax(falls))
        message = f"expected increasing offsets, found {offsets[slot]} then {offsets[slot + 1]}"
        raise InvalidArrayError(path, "offsets", message, slot)
    if offsets[0] < 0 or offsets[-1] > limit:
        message = f"expected offsets from 0 to {limit}, found {offsets[0]} to {offsets[-1]}"
        raise InvalidArrayError(path, "offsets", message)
    return offsets


def _binary(array: Any, path: tuple[str, ...], dtype: str) -> Node:
    validity, ends, buffer = array.buffers()
    size = 0 if buffer is None else buffer.size
    offsets = _offsets(array, ends, dtype, path, size)
    data = _view(buffer, np.uint8, 0, size, path, "data")
    return Node(Kind.BINARY, len(array), array, _validity(array, validity, path), values=offsets, data=data)


def _binary_view(array: Any, path: tuple[str, ...]) -> Node:
    buffers = array.buffers()
    views = _view(buffers[1], "<i4", array.offset, len(array), path, "views", columns=4)
    node = Node(Kind.VIEW, len(array), array, _validity(array, buffers[0], path), values=views)
    wrong = wrong_views(views, [0 if buffer is None else buffer.size for buffer in buffers[2:]])
    if wrong is not None:
        _refuse_where(wrong, node, path, "views", "a view reaches outside its buffers")
    return node


def _refuse_where(wrong: npt.NDArray[np.bool_], node: Node, path: tuple[str, ...], rule: str, message: str) -> None:
    """Refuse the first wrong slot that holds a value: what lies under a null is never followed."""
    if np.count_nonzero(wrong):
        if node.validity is not None:
            wrong = wrong & _unpack(node.validity, node.length)
        if wrong.any():
            raise InvalidArrayError(path, rule, message, int(np.argmax(wrong)))


def _unpack(bitmap: Bitmap, length: int) -> npt.NDArray[np.bool_]:
    bits = np.unpackbits(bitmap.data, count=bitmap.offset + length, bitorder="little")
    return bits[bitmap.offset :].view(np.bool_)


def _list(array: Any, path: tuple[str, ...], dtype: str) -> Node:
    items, buffers = array.values, array.buffers()
    offsets = _offsets(array, buffers[1], dtype, path, len(items))
    first, last = int(offsets[0]), int(offsets[-1])
    child = _describe(items.slice(first, last - first), path)
    validity = _validity(array, buffers[0], path)
    return Node(Kind.LIST, len(array), array, validity, values=offsets, origin=first, child=child)


def _fixed_size_list(array: Any, path: tuple[str, ...]) -> Node:
    width, length, items = array.type.list_size, len(array), array.values
    first, count = array.offset * width, length * width
    if first + count > len(items):
        message = f"expected {first + count} items, found {len(items)}"
        raise InvalidArrayError(path, "child_length", message)
    child = _describe(items.slice(first, count), path)
    return Node(Kind.FIXED_LIST, length, array, _validity(array, array.buffers()[0], path), width=width, child=child)


def _list_view(array: Any, path: tuple[str, ...], dtype: str) -> Node:
    length, items, buffers = len(array), array.values, array.buffers()
    starts = _view(buffers[1], dtype, array.offset, length, path, "offsets")
    sizes = _view(buffers[2], dtype, array.offset, length, path, "sizes")
    validity = _validity(array, buffers[0], path)
    starts, sizes = starts.astype(np.int64, copy=False), sizes.astype(np.int64, copy=False)
    node = Node(Kind.LIST_VIEW, length, array, validity, values=starts, sizes=sizes)
    # Compared without adding, so that nothing wraps.
    wrong = (starts < 0) | (sizes < 0) | (sizes > len(items)) | (starts > len(items) - sizes)
    _refuse_where(wrong, node, path, "sizes", f"a list reaches outside its {len(items)} items")
    used = sizes > 0 if validity is None else (sizes > 0) & _unpack(validity, length)
    first = int(starts[used].min()) if used.any() else 0
    last = int((starts[used] + sizes[used]).max()) if used.any() else 0
    child = _describe(items.slice(first, last - first), path)
    return replace(node, origin=first, child=child)


def _dictionary(array: Any, path: tuple[str, ...], follow: bool) -> Node:
    index_type, length = array.type.index_type, len(array)
    dtype = f"<{'i' if pa.types.is_signed_integer(index_type) else 'u'}{index_type.bit_width // 8}"
    buffers = array.buffers()
    indices = _view(buffers[1], dtype, array.offset, length, path, "indices")
    dictionary = array.dictionary
    node = Node(Kind.DICTIONARY, length, array, _validity(array, buffers[0], path), values=indices)
    # As unsigned numbers the negative ones are too large as well, and one look is enough where none is wrong.
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))
    if length and unsigned.max() >= len(dictionary):
        message = f"an index reaches outside the {len(dictionary)} dictionary values"
        _refuse_where(unsigned >= len(dictionary), node, path, "indices", message)
    return replace(node, child=_describe(dictionary, path)) if follow else node


def _run_end(array: Any, path: tuple[str, ...], follow: bool) -> Node:
    length, offset, runs, items = len(array), array.offset, array.run_ends, array.values
    ends = _describe(runs, path)
    run_ends = ends.values.view(f"<i{ends.width}")
    if ends.validity is not None or len(runs) != len(items):
        message = f"expected as many run ends as values and no null, found {len(runs)} for {len(items)} values"
        raise InvalidArrayError(path, "run_ends", message)
    falls = run_ends <= np.concatenate((np.zeros(1, run_ends.dtype), run_ends[:-1]))
    if falls.any():
        raise InvalidArrayError(path, "run_ends", "expected run ends that rise from 1", int(np.argmax(falls)))
    if length and (len(run_ends) == 0 or run_ends[-1] < offset + length):
        last = run_ends[-1] if len(run_ends) else 0
        raise InvalidArrayError(path, "run_ends", f"expected runs up to row {offset + length}, found {last}")
    child = _describe(items, path) if follow else None
    return Node(Kind.RUN_END, length, array, values=run_ends, origin=offset, child=child)


_DESCRIBERS: dict[int, Callable[[Any, tuple[str, ...]], Node]] = {
    lib.Type_NA: _null,
    lib.Type_BOOL: _bool,
    lib.Type_FIXED_SIZE_BINARY: _fixed,
    lib.Type_BINARY: lambda array, path: _binary(array, path, "<i4"),
    lib.Type_STRING: lambda array, path: _binary(array, path, "<i4"),
    lib.Type_LARGE_BINARY: lambda array, path: _binary(array, path, "<i8"),
    lib.Type_LARGE_STRING: lambda array, path: _binary(array, path, "<i8"),
    lib.Type_BINARY_VIEW: _binary_view,
    lib.Type_STRING_VIEW: _binary_view,
    lib.Type_LIST: lambda array, path: _list(array, path, "<i4"),
    lib.Type_LARGE_LIST: lambda array, path: _list(array, path, "<i8"),
    lib.Type_FIXED_SIZE_LIST: _fixed_size_list,
    lib.Type_LIST_VIEW: lambda array, path: _list_view(array, path, "<i4"),
    lib.Type_LARGE_LIST_VIEW: lambda array, path: _list_view(array, path, "<i8"),
}
