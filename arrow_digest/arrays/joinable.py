"""Which chunks pyarrow may join, and how many bytes that copies.

pyarrow joins arrays, and counts the bytes that they refer to, without a look at what they say. It would follow what is
broken into foreign memory, or make of it something that looks sound. It also counts bytes by offsets that no slot has.
So only chunks that were looked at are joined, and bytes are counted here.

Whether a chunk is refused does not depend on joining. A chunk that pyarrow finds sound is judged again once it is
joined; where that would be another judgement (of runs), it is judged before. All other chunks are taken one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from pyarrow import lib

from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.types import (
    ENCODINGS,
    LARGE,
    LIST_OFFSETS,
    LIST_VIEWS,
    VIEWS,
    any_part,
    as_binary,
    has_offsets,
    looks_up,
    storage_type,
)

__all__ = ["buffer_size", "copied_size", "is_joinable", "is_valid"]

# An index, a view, or where a list lies takes about so much, if not less.
_POINTER_BYTES = 16
# So many entries of dictionaries are looked at again and again before it is asked whether they are one dictionary.
_MANY_ENTRIES = 1 << 22


def is_joinable(column: pa.ChunkedArray, path: tuple[str, ...]) -> bool:
    """Return whether pyarrow may join the chunks of a column.

    Args:
        column: The chunks of a top-level column.
        path: Its path, for errors.

    Raises:
        InvalidArrayError: A chunk points outside its buffers.
    """
    data_type = column.type
    if not is_valid(column, full=False):
        sound = False
    elif any(any_part(data_type, test) for test in (_is_joined_wrongly, _ends_validation, _has_runs_as_items)):
        return False
    elif any_part(data_type, looks_up):
        # Full validation also looks at what values mean. Only a broken structure is refused.
        sound = _is_sound(column) or ((blind := _blind(column)) is not column and is_valid(blind))
    else:
        # pyarrow looks at the first and last offset of each chunk, and joining only shifts those between.
        sound = not _has_inner_offsets(data_type) or all(is_valid(chunk) for chunk in _distinct(column))
    if not sound:
        _describe_chunks(column.chunks, path)
    elif any_part(data_type, pt.is_run_end_encoded):  # whose values pyarrow takes for sound also where they are more
        _describe_chunks(_distinct(column), path)
    return sound


def _describe_chunks(chunks: Iterable[pa.Array], path: tuple[str, ...]) -> None:
    """Refuse chunks that point outside their buffers."""
    for chunk in chunks:
        describe(chunk, path)


def is_valid(data: pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table, *, full: bool = True) -> bool:
    """Return whether pyarrow finds an array, a chunked array or a batch sound."""
    try:
        data.validate(full=full)
    except pa.ArrowInvalid:
        return False
    return True


def buffer_size(data: pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table) -> int:
    """Return how many bytes the buffers of some data have, each counted once."""
    return int(data.get_total_buffer_size())


def copied_size(column: pa.ChunkedArray) -> int:
    """Return about how many bytes joining the chunks of a column copies: not what they share and only point into."""
    data_type = storage_type(column.type)
    if data_type.id == lib.Type_DICTIONARY and column.num_chunks:
        # Of dictionaries, only what others add to the first.
        return _POINTER_BYTES * len(column) + buffer_size(column) - buffer_size(column.chunk(0))
    counted: set[int] = set()
    return sum(_array_size(chunk, counted) for chunk in column.iterchunks())


def _array_size(array: pa.Array, counted: set[int]) -> int:
    length, data_type = len(array), array.type
    if length == 0:
        return 0  # even its one offset may be anything
    if isinstance(data_type, pa.BaseExtensionType):
        return _array_size(array.storage, counted)
    if data_type.id in VIEWS:
        return _POINTER_BYTES * length
    if data_type.id in ENCODINGS or data_type.id in LIST_VIEWS:
        values = array.dictionary if data_type.id == lib.Type_DICTIONARY else array.values
        return _POINTER_BYTES * length + _shared_size(values, counted)
    if has_offsets(data_type):
        width = 8 if data_type.id in LARGE else 4
        offsets = np.frombuffer(array.buffers()[1], f"<i{width}", length + 1, array.offset * width)
        first = int(offsets[0])
        count = int(offsets[-1]) - first
        if data_type.id in LIST_OFFSETS:
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


def _bits_size(array: pa.Array) -> int:
    return 0 if array.buffers()[0] is None else (len(array) + 7) // 8


def _shared_size(values: pa.Array, counted: set[int]) -> int:
    """Return the bytes of values that many slots point into, once for all that have the same."""
    buffers = [buffer.address for buffer in values.buffers() if buffer is not None]
    known = not counted.isdisjoint(buffers)
    counted.update(buffers)
    return 0 if known else buffer_size(values)


def _is_joined_wrongly(data_type: pa.DataType) -> bool:
    # pyarrow makes one dictionary of several, and takes the bits of half floats for integers while it does.
    is_dictionary = data_type.id == lib.Type_DICTIONARY
    return is_dictionary and any_part(data_type.value_type, lambda part: part.id == lib.Type_HALF_FLOAT)


def _ends_validation(data_type: pa.DataType) -> bool:
    # pyarrow's full validation ends the process at text in an extension of an extension.
    return isinstance(data_type, pa.BaseExtensionType) and isinstance(data_type.storage_type, pa.BaseExtensionType)


def _has_runs_as_items(data_type: pa.DataType) -> bool:
    # A slice of lists may have no item, and then says nothing of the runs that another slice has.
    is_list = data_type.num_fields == 1 and data_type.id not in (lib.Type_STRUCT, lib.Type_RUN_END_ENCODED)
    return is_list and any_part(data_type.field(0).type, pt.is_run_end_encoded)


def _has_inner_offsets(data_type: pa.DataType) -> bool:
    storage = storage_type(data_type)
    inner = (storage.field(index).type for index in range(storage.num_fields))
    return any(any_part(part, has_offsets) for part in inner)


def _distinct(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """Yield one of the chunks that are slices of the same array: validating one looks at all that is inside them.

    Only chunks with an offset count as slices. What a file holds begins at 0, and two of its batches can be made to
    lie over each other and still differ in their lengths.
    """
    if not column.num_chunks:
        return
    one_memory = buffer_size(column) == buffer_size(column.chunk(0))
    has_dictionary = any_part(column.type, pt.is_dictionary)  # whose memory `buffers` leaves out
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


def _address(buffer: pa.Buffer | None) -> int | None:
    """Return where a buffer lies; one of no bytes is false and lies somewhere all the same."""
    return None if buffer is None else int(buffer.address)


def _extents(array: pa.Array) -> tuple[int, ...]:
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


def _is_sound(column: pa.ChunkedArray) -> bool:
    """Return whether a column that looks things up passes full validation, looking at what chunks share only once.

    pyarrow looks at the whole of a dictionary, and of a child, for every chunk that has it.
    """
    if column.type.id == lib.Type_DICTIONARY:
        entries = column.num_chunks and column.num_chunks * len(column.chunk(0).dictionary)
        if entries > _MANY_ENTRIES and (dictionary := _one_dictionary(column)) is not None:
            # Joining shifts no index then, and indices are looked at when they are followed.
            return is_valid(column, full=False) and is_valid(dictionary)
    elif (storage := storage_type(column.type)).num_fields and storage.id not in LIST_VIEWS:
        return is_valid(column, full=False) and all(is_valid(chunk) for chunk in _distinct(column))
    return is_valid(column)


def _one_dictionary(column: pa.ChunkedArray) -> pa.Array | None:
    """Return the dictionary that all chunks have, if its values lie flat and every chunk says the same of them."""
    first = column.chunk(0).dictionary
    if first.type.num_fields or first.type.id == lib.Type_DICTIONARY:
        return None
    same = all(_memory(chunk.dictionary) == _memory(first) for chunk in _distinct(column))
    return first if same else None


def _memory(array: pa.Array) -> tuple[Any, ...]:
    buffers = tuple(None if buffer is None else (buffer.address, buffer.size) for buffer in array.buffers())
    return len(array), array.offset, buffers


def _blind(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return text as binary, for validation that does not care about characters."""
    chunks = [as_binary(chunk) for chunk in column.iterchunks()]
    return pa.chunked_array(chunks) if chunks and chunks[0].type != column.type else column
