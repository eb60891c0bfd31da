"""Which chunks pyarrow may join, and how many bytes that copies.

pyarrow joins arrays, and counts the bytes that they refer to, without a look at what they say. It would follow what is
broken into foreign memory, or make of it something that looks sound. It also counts bytes by offsets that no slot has.
So only chunks that were looked at are joined, and bytes are counted here.

Whether a chunk is refused does not depend on joining. A chunk that pyarrow finds sound is judged again once it is
joined; where that would be another judgement (of runs), it is judged before. All other chunks are taken one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from pyarrow import lib

from arrow_digest.arrays.describe import describe_leaf
from arrow_digest.arrays.schema import Place

__all__ = ["buffer_size", "copied_size", "describe_chunks", "is_joinable", "is_valid"]

# An index, a view, or where a list lies takes about so much, if not less.
_POINTER_BYTES = 16
# So many entries of dictionaries are looked at again and again before it is asked whether they are one dictionary.
_MANY_ENTRIES = 1 << 22

_LIST_VIEWS = frozenset((lib.Type_LIST_VIEW, lib.Type_LARGE_LIST_VIEW))
_VIEWS = frozenset((lib.Type_STRING_VIEW, lib.Type_BINARY_VIEW))
_SHARES = frozenset((lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED, *_LIST_VIEWS))
_LOOKED_UP = _SHARES | _VIEWS
_BINARIES = frozenset((lib.Type_BINARY, lib.Type_LARGE_BINARY, lib.Type_STRING, lib.Type_LARGE_STRING))
_LISTS = frozenset((lib.Type_LIST, lib.Type_LARGE_LIST))
_WIDE = frozenset((lib.Type_LARGE_BINARY, lib.Type_LARGE_STRING, lib.Type_LARGE_LIST))
_BLIND = ((pt.is_string, pa.binary()), (pt.is_large_string, pa.large_binary()), (pt.is_string_view, pa.binary_view()))


def is_joinable(column: Any, leaves: Sequence[Place]) -> bool:
    """Return whether pyarrow may join the chunks of a column.

    Args:
        column: A `pyarrow.ChunkedArray`.
        leaves: The leaf columns under it.

    Raises:
        InvalidArrayError: A chunk points outside its buffers.
    """
    data_type = column.type
    if not is_valid(column, full=False):
        sound = False
    elif any(_any_part(data_type, test) for test in (_is_joined_wrongly, _ends_validation, _has_runs_as_items)):
        return False
    elif _looks_up(data_type):
        # Full validation also looks at what values mean. Only a broken structure is refused.
        sound = _is_sound(column) or ((blind := _blind(column)) is not column and is_valid(blind))
    else:
        # pyarrow looks at the first and last offset of each chunk, and joining only shifts those between.
        sound = not _has_inner_offsets(data_type) or all(is_valid(chunk) for chunk in _distinct(column))
    if not sound:
        describe_chunks(column.chunks, leaves)
    elif _any_part(data_type, pt.is_run_end_encoded):  # whose values pyarrow takes for sound also where they are more
        describe_chunks(_distinct(column), leaves)
    return sound


def describe_chunks(chunks: Any, leaves: Sequence[Place]) -> None:
    """Refuse arrays of a top-level column that point outside their buffers.

    Raises:
        InvalidArrayError: One does.
    """
    for chunk in chunks:
        for leaf in leaves:
            describe_leaf(chunk, leaf.indices, leaf.path)


def is_valid(data: Any, *, full: bool = True) -> bool:
    """Return whether pyarrow finds an array, a chunked array or a batch sound."""
    try:
        data.validate(full=full)
    except pa.ArrowInvalid:
        return False
    return True


def buffer_size(data: Any) -> int:
    """Return how many bytes the buffers of some data have, each counted once."""
    return int(data.get_total_buffer_size())


def copied_size(column: Any) -> int:
    """Return about how many bytes joining the chunks of a column copies: not what they share and only point into."""
    data_type = _storage(column.type)
    if data_type.id == lib.Type_DICTIONARY and column.num_chunks:
        # Of dictionaries, only what others add to the first.
        return _POINTER_BYTES * len(column) + buffer_size(column) - buffer_size(column.chunk(0))
    counted: set[int] = set()
    return sum(_array_size(chunk, counted) for chunk in column.iterchunks())


def _array_size(array: Any, counted: set[int]) -> int:
    length, data_type = len(array), array.type
    if length == 0:
        return 0  # even its one offset may be anything
    if isinstance(data_type, pa.BaseExtensionType):
        return _array_size(array.storage, counted)
    if data_type.id in _VIEWS:
        return _POINTER_BYTES * length
    if data_type.id in _SHARES:
        values = array.dictionary if data_type.id == lib.Type_DICTIONARY else array.values
        return _POINTER_BYTES * length + _shared_size(values, counted)
    if data_type.id in _BINARIES or data_type.id in _LISTS:
        width = 8 if data_type.id in _WIDE else 4
        offsets = np.frombuffer(array.buffers()[1], f"<i{width}", length + 1, array.offset * width)
        first = int(offsets[0])
        count = int(offsets[-1]) - first
        if data_type.id in _LISTS:
            items = array.values
            count = _array_size(items.slice(first, count), counted) if 0 <= first <= first + count <= len(items) else 0
        return length * width + max(count, 0) + _bits_size(array)
    if data_type.id == lib.Type_FIXED_SIZE_LIST:
        size = data_type.list_size
        return _array_size(array.values.slice(array.offset * size, length * size), counted) + _bits_size(array)
    if data_type.id == lib.Type_STRUCT:
        fields = (array.field(index) for index in range(data_type.num_fields))
        return sum(_array_size(field, counted) for field in fields) + _bits_size(array)
    return 0 if data_type.id == lib.Type_NA else -(-length * data_type.bit_width // 8) + _bits_size(array)


def _bits_size(array: Any) -> int:
    return 0 if array.buffers()[0] is None else (len(array) + 7) // 8


def _shared_size(values: Any, counted: set[int]) -> int:
    """Return the bytes of values that many slots point into, once for all that have the same."""
    buffers = [buffer.address for buffer in values.buffers() if buffer is not None]
    known = not counted.isdisjoint(buffers)
    counted.update(buffers)
    return 0 if known else buffer_size(values)


def _any_part(data_type: Any, test: Callable[[Any], bool]) -> bool:
    """Return whether a test holds for a type or one inside it."""
    if isinstance(data_type, pa.BaseExtensionType):
        return test(data_type) or _any_part(data_type.storage_type, test)
    if data_type.id == lib.Type_DICTIONARY:
        return test(data_type) or _any_part(data_type.value_type, test)
    return test(data_type) or any(_any_part(data_type.field(i).type, test) for i in range(data_type.num_fields))


def _storage(data_type: Any) -> Any:
    while isinstance(data_type, pa.BaseExtensionType):
        data_type = data_type.storage_type
    return data_type


def _looks_up(data_type: Any) -> bool:
    return _any_part(data_type, lambda part: part.id in _LOOKED_UP)


def _is_joined_wrongly(data_type: Any) -> bool:
    # pyarrow makes one dictionary of several, and takes the bits of half floats for integers while it does.
    is_dictionary = data_type.id == lib.Type_DICTIONARY
    return is_dictionary and _any_part(data_type.value_type, lambda part: part.id == lib.Type_HALF_FLOAT)


def _ends_validation(data_type: Any) -> bool:
    # pyarrow's full validation ends the process at text in an extension of an extension.
    return isinstance(data_type, pa.BaseExtensionType) and isinstance(data_type.storage_type, pa.BaseExtensionType)


def _has_runs_as_items(data_type: Any) -> bool:
    # A slice of lists may have no item, and then says nothing of the runs that another slice has.
    is_list = data_type.num_fields == 1 and data_type.id not in (lib.Type_STRUCT, lib.Type_RUN_END_ENCODED)
    return is_list and _any_part(data_type.field(0).type, pt.is_run_end_encoded)


def _has_inner_offsets(data_type: Any) -> bool:
    storage = _storage(data_type)
    inner = (storage.field(index).type for index in range(storage.num_fields))
    return any(_any_part(part, lambda part: part.id in _BINARIES | _LISTS) for part in inner)


def _distinct(column: Any) -> Iterator[Any]:
    """Yield one of the chunks that are slices of the same array: validating one looks at all that is inside them.

    Only chunks with an offset count as slices. What a file holds begins at 0, and two of its batches can be made to
    lie over each other and still differ in their lengths.
    """
    if not column.num_chunks:
        return
    one_memory = buffer_size(column) == buffer_size(column.chunk(0))
    has_dictionary = _any_part(column.type, pt.is_dictionary)  # whose memory `buffers` leaves out
    seen: set[tuple[Any, ...]] = set()
    for chunk in column.iterchunks():
        if len(chunk) == 0:
            continue
        known = one_memory or not has_dictionary
        memory = () if one_memory else tuple(_address(buffer) for buffer in chunk.buffers()[1:])
        inside = memory, _extents(chunk)
        if not chunk.offset or not known or inside not in seen:
            seen.add(inside)
            yield chunk


def _address(buffer: Any) -> int | None:
    """Return where a buffer lies; one of no bytes is false and lies somewhere all the same."""
    return None if buffer is None else int(buffer.address)


def _extents(array: Any) -> tuple[int, ...]:
    """Return how long the arrays inside an array are, and where in their buffers they begin."""
    if isinstance(array, pa.ExtensionArray):
        return _extents(array.storage)
    data_type = array.type
    if data_type.id == lib.Type_STRUCT:  # whose fields come as slices of as many rows
        fields = [array.field(index) for index in range(data_type.num_fields)]
        return tuple(number for field in fields for number in (field.offset - array.offset, *_extents(field)))
    inner = []
    if data_type.id == lib.Type_DICTIONARY:
        inner = [array.dictionary]
    elif data_type.num_fields:
        inner = [array.values]
    if data_type.id == lib.Type_RUN_END_ENCODED:
        inner.append(array.run_ends)
    return tuple(number for part in inner for number in (len(part), part.offset, *_extents(part)))


def _is_sound(column: Any) -> bool:
    """Return whether a column that looks things up passes full validation, looking at what chunks share only once.

    pyarrow looks at the whole of a dictionary, and of a child, for every chunk that has it.
    """
    if column.type.id == lib.Type_DICTIONARY:
        entries = column.num_chunks and column.num_chunks * len(column.chunk(0).dictionary)
        if entries > _MANY_ENTRIES and (dictionary := _one_dictionary(column)) is not None:
            # Joining shifts no index then, and indices are looked at when they are followed.
            return is_valid(column, full=False) and is_valid(dictionary)
    elif (storage := _storage(column.type)).num_fields and storage.id not in _LIST_VIEWS:
        return is_valid(column, full=False) and all(is_valid(chunk) for chunk in _distinct(column))
    return is_valid(column)


def _one_dictionary(column: Any) -> Any:
    """Return the dictionary that all chunks have, if its values lie flat and every chunk says the same of them."""
    first = column.chunk(0).dictionary
    if first.type.num_fields or first.type.id == lib.Type_DICTIONARY:
        return None
    same = all(_memory(chunk.dictionary) == _memory(first) for chunk in _distinct(column))
    return first if same else None


def _memory(array: Any) -> tuple[Any, ...]:
    buffers = tuple(None if buffer is None else (buffer.address, buffer.size) for buffer in array.buffers())
    return len(array), array.offset, buffers


def _blind(column: Any) -> Any:
    """Return text as binary, for validation that does not care about characters."""
    for is_text, binary in _BLIND:
        if is_text(column.type):  # a view of the same buffers: nothing of them is followed, as a cast may do
            return pa.chunked_array([chunk.view(binary) for chunk in column.iterchunks()], binary)
    return column
