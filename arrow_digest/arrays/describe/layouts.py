"""One array of any type described: a tree of nodes that say where each buffer lies, and that nothing points outside.

Arrow arrays from a file or another library may claim offsets, view lengths, dictionary indices, run ends or union
children that reach outside their buffers. `describe` reads no byte before it knows that the byte is there, and returns
a `Node` that rules follow without another check. What the values mean is not judged here: text need not be UTF-8, a
date need not be a whole day.

Of views, indices and list views only those are judged that some row comes to. The others become nulls of the
description, because a null is never followed. Of an array without slots nothing is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import lib

from arrow_digest.arrays.describe.lengths import length_of, require_lengths, require_offset
from arrow_digest.arrays.describe.reach import Mask, Reach, every_slot, held, inside, selected
from arrow_digest.arrays.describe.views import wrong_views
from arrow_digest.arrays.nodes import Bitmap, Kind, Node, unpack
from arrow_digest.arrays.types import BINARY_OFFSETS, FIXED_WIDTH, LARGE, LIST_OFFSETS, LIST_VIEWS, UNIONS, VIEWS
from arrow_digest.errors import InvalidArrayError

__all__ = ["describe"]

# A number that no child has: a union has up to 128 children.
_NO_CHILD = 255
_UNSIGNED = {width: np.dtype(f"<u{width}") for width in (1, 2, 4, 8)}


def describe(array: pa.Array, path: tuple[str, ...] = ()) -> Node:
    """Return the checked description of an array of any type, with everything inside it.

    Args:
        array: The array, such as a top-level column.
        path: Where it stands, for errors; names of fields inside it are added.

    Raises:
        InvalidArrayError: It points outside its buffers, or lies in a device's memory.

    >>> node = describe(pa.array([{"x": 1}, None]))
    >>> node.kind.name, node.children[0].kind.name, node.children[0].length
    ('STRUCT', 'FIXED', 2)
    """
    if length_of(array, path):
        require_lengths(array, path)
    return _describe(array, path)


def _describe(array: pa.Array, path: tuple[str, ...], reach: Reach = every_slot) -> Node:
    if len(array) == 0:
        return Node(Kind.NULL, 0, array)
    if not array.is_cpu:
        raise InvalidArrayError(path, "device", f"expected CPU memory, found {array.device_type}")
    require_offset(array, path)
    data_type = array.type
    if isinstance(data_type, pa.BaseExtensionType):
        return _describe(array.storage, path, reach)
    return _DESCRIBERS[data_type.id](array, path, reach)


def _view(
    buffer: pa.Buffer | None, dtype: Any, start: int, count: int, path: tuple[str, ...], what: str, columns: int = 0
) -> npt.NDArray[Any]:
    """Return `count` items of a buffer from item `start` on, refusing a buffer that does not hold them."""
    shape: tuple[int, ...] = (count, columns) if columns else (count,)
    if count == 0:
        return np.empty(shape, dtype)
    item = np.dtype(dtype).itemsize * (columns or 1)
    size = 0 if buffer is None else buffer.size
    if buffer is None or start < 0 or (start + count) * item > size:
        raise InvalidArrayError(path, "buffer", f"expected {(start + count) * item} bytes of {what}, found {size}")
    flat = np.frombuffer(buffer, dtype, count=count * (columns or 1), offset=start * item)
    return flat.reshape(shape) if columns else flat


def _bitmap(buffer: pa.Buffer | None, offset: int, length: int, path: tuple[str, ...], what: str) -> Bitmap:
    first = offset // 8
    data = _view(buffer, np.uint8, first, (offset + length + 7) // 8 - first, path, what)
    return Bitmap(data, offset % 8)


def _validity(array: pa.Array, buffer: pa.Buffer | None, path: tuple[str, ...]) -> Bitmap | None:
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


def _null(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    return Node(Kind.NULL, len(array), array)


def _bool(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    validity, data = array.buffers()
    bits = _bitmap(data, array.offset, len(array), path, "bits")
    return Node(Kind.BOOL, len(array), array, _validity(array, validity, path), bits=bits)


def _fixed(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
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


def _offsets(
    array: pa.Array, buffer: pa.Buffer | None, dtype: str, path: tuple[str, ...], limit: int
) -> npt.NDArray[Any]:
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


def _binary(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    validity, ends, buffer = array.buffers()
    size = 0 if buffer is None else buffer.size
    offsets = _offsets(array, ends, _offset_dtype(array.type), path, size)
    data = _view(buffer, np.uint8, 0, size, path, "data")
    return Node(Kind.BINARY, len(array), array, _validity(array, validity, path), values=offsets, data=data)


def _binary_view(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
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


def _struct(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    length = len(array)
    node = Node(Kind.STRUCT, length, array, _validity(array, array.buffers()[0], path))
    rows = inside(node, reach, length)
    node.children = tuple(_child(array, index, path, rows, length) for index in range(array.type.num_fields))
    return node


def _child(array: pa.Array, index: int, path: tuple[str, ...], reach: Reach, count: int | None = None) -> Node:
    """Describe a child of a struct or union, which has to have `count` slots where that is known."""
    child, name = array.field(index), _field_name(array.type, index)
    if count is not None and len(child) != count:
        message = f"expected {count} values of field {name}, found {len(child)}"
        raise InvalidArrayError(path, "child_length", message)
    return _describe(child, (*path, name), reach)


def _field_name(data_type: pa.DataType, index: int) -> str:
    try:
        name: str = data_type.field(index).name
    except UnicodeDecodeError:  # a name is judged by the rules, and only shown here
        return f"#{index}"
    return name


def _union(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    # Read from the buffers, because pyarrow's `type_codes` and `offsets` are those of the whole array for a slice, too.
    length, data_type, buffers = len(array), array.type, array.buffers()
    is_dense = data_type.id == lib.Type_DENSE_UNION
    codes = _view(buffers[1], np.uint8, array.offset, length, path, "type codes")
    numbers = np.full(256, _NO_CHILD, np.uint8)
    numbers[data_type.type_codes] = np.arange(data_type.num_fields)
    node = Node(Kind.DENSE_UNION if is_dense else Kind.SPARSE_UNION, length, array, values=numbers[codes])
    wrong = node.values == _NO_CHILD
    if wrong.any():
        _settle(node, wrong, reach, path, "type_codes", f"a type code is none of {data_type.type_codes}")
    if is_dense:
        node.sizes = _view(buffers[2], "<i4", array.offset, length, path, "offsets")
        ends = np.array([len(array.field(index)) for index in range(data_type.num_fields)] + [0] * 256)[node.values]
        wrong = (node.sizes < 0) | (node.sizes >= ends)
        if wrong.any():
            _settle(node, wrong, reach, path, "offsets", "an offset reaches outside the values of its child")
    count = None if is_dense else length
    node.children = tuple(
        _child(array, index, path, selected(node, reach, index, len(array.field(index))), count)
        for index in range(data_type.num_fields)
    )
    return node


def _list(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    items, buffers = array.values, array.buffers()
    offsets = _offsets(array, buffers[1], _offset_dtype(array.type), path, len(items))
    first = int(offsets[0])
    count = int(offsets[-1]) - first
    validity = _validity(array, buffers[0], path)
    kind = Kind.MAP if array.type.id == lib.Type_MAP else Kind.LIST
    node = Node(kind, len(array), array, validity, values=offsets, origin=first)
    node.children = (_describe(items.slice(first, count), path, inside(node, reach, count)),)
    return node


def _fixed_size_list(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    width, length, items = array.type.list_size, len(array), array.values
    first, count = array.offset * width, length * width
    if first + count > len(items):
        message = f"expected {first + count} items, found {len(items)}"
        raise InvalidArrayError(path, "child_length", message)
    node = Node(Kind.FIXED_LIST, length, array, _validity(array, array.buffers()[0], path), width=width)
    node.children = (_describe(items.slice(first, count), path, inside(node, reach, count)),)
    return node


def _list_view(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
    length, items, buffers, dtype = len(array), array.values, array.buffers(), _offset_dtype(array.type)
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
    node.children = (_describe(items.slice(first, count), path, inside(node, reach, count)),)
    return node


def _dictionary(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
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
    node.children = (_describe(dictionary, path, inside(node, reach, len(dictionary))),)
    return node


def _run_end(array: pa.Array, path: tuple[str, ...], reach: Reach) -> Node:
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
    node.children = (_describe(items, path, inside(node, reach, len(items))),)
    return node


def _offset_dtype(data_type: pa.DataType) -> str:
    return "<i8" if data_type.id in LARGE else "<i4"


_DESCRIBERS: dict[int, Callable[[pa.Array, tuple[str, ...], Reach], Node]] = {
    lib.Type_NA: _null,
    lib.Type_BOOL: _bool,
    **dict.fromkeys((*FIXED_WIDTH, lib.Type_FIXED_SIZE_BINARY), _fixed),
    **dict.fromkeys(BINARY_OFFSETS, _binary),
    **dict.fromkeys(VIEWS, _binary_view),
    **dict.fromkeys(LIST_OFFSETS, _list),
    lib.Type_FIXED_SIZE_LIST: _fixed_size_list,
    **dict.fromkeys(LIST_VIEWS, _list_view),
    lib.Type_DICTIONARY: _dictionary,
    lib.Type_RUN_END_ENCODED: _run_end,
    lib.Type_STRUCT: _struct,
    **dict.fromkeys(UNIONS, _union),
}
