"""Tables and batches as record batches of a size that is worth a turn.

A batch costs the same work for each column however few rows it has. Tiny chunks are joined first, by pyarrow, so that a
table in one-row chunks costs about what the same table costs in one piece; huge batches are cut, so that memory does
not depend on how the rows come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from pyarrow import lib

from arrow_digest.errors import InvalidArrayError
from arrow_digest.schema import Leaf
from arrow_digest.structure import describe_leaf

__all__ = ["joined"]

Each = Callable[[Callable[[int], Any], int], list[Any]]

# Chunks with fewer rows are joined, to pieces of about so many rows and bytes.
_SMALL_ROWS = 4096
_PIECE_ROWS = 1 << 16
_PIECE_BYTES = 1 << 24
# Batches of more rows are cut.
_MOST_ROWS = 1 << 20
# A batch whose buffers are no larger is not worth measuring.
_SMALL_BYTES = 1 << 18
_SAMPLE_ROWS = 8
# An index, a view, or where a list lies takes about so much, if not less.
_POINTER_BYTES = 16
# So many entries of dictionaries are looked at again and again before it is asked whether they are one dictionary.
_MANY_ENTRIES = 1 << 22


def joined(batches: Iterable[Any], leaves: tuple[Leaf, ...], each: Each) -> Iterator[Any]:
    """Yield the same rows in order as record batches, with tiny ones joined and huge ones cut.

    Args:
        batches: `pyarrow.RecordBatch` and `pyarrow.Table` objects of one schema.
        leaves: The leaf columns of each of them.
        each: Calls a function for each column, on the threads at hand.

    Raises:
        InvalidArrayError: An array points outside its buffers, where joining or cutting would have followed it.
    """
    small: list[Any] = []
    rows = size = 0
    for batch in batches:
        if isinstance(batch, pa.RecordBatch) and batch.num_rows < _SMALL_ROWS and batch.num_columns:
            _require_valid(batch, leaves)
            small.append(batch)
            rows, size = rows + batch.num_rows, size + _size(batch)
            if rows < _PIECE_ROWS and size < _PIECE_BYTES:
                continue
        yield from _flush(small, leaves, each)
        rows = size = 0
        if isinstance(batch, pa.Table):
            yield from _table_batches(batch, leaves, each)
        elif batch.num_rows >= _SMALL_ROWS or not batch.num_columns:
            yield from _cut(batch, leaves)
    yield from _flush(small, leaves, each)


def _flush(small: list[Any], leaves: tuple[Leaf, ...], each: Each) -> Iterator[Any]:
    batches = small.copy()
    small.clear()
    if len(batches) == 1:
        yield batches[0]
    elif batches:
        yield from _joined_pieces(pa.Table.from_batches(batches), leaves, each)


def _table_batches(table: Any, leaves: tuple[Leaf, ...], each: Each) -> Iterator[Any]:
    if table.num_columns == 0:
        yield table  # its rows count, and there is nothing else in it
        return
    chunks = max(column.num_chunks for column in table.itercolumns())
    if table.num_rows >= chunks * _SMALL_ROWS or chunks <= 1:
        for batch in table.to_batches():
            yield from _cut(batch, leaves)
    else:
        yield from _joined_pieces(table, leaves, each)


def _cut(batch: Any, leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    if batch.num_rows <= _MOST_ROWS or not batch.num_columns:
        yield batch
        return
    _require_valid(batch, leaves)
    for start in range(0, batch.num_rows, _MOST_ROWS):
        yield batch.slice(start, _MOST_ROWS)


def _joined_pieces(table: Any, leaves: tuple[Leaf, ...], each: Each) -> Iterator[Any]:
    each(lambda index: _require_joinable(table, index, leaves), table.num_columns)
    step = min(max(_PIECE_BYTES // _row_size(table), 1), _PIECE_ROWS)
    for piece in _pieces(table, step, each):
        if piece is not table:
            _require_valid(piece, leaves)  # where a chunk was cut
        joined_piece = piece
        with suppress(pa.ArrowException):  # pyarrow cannot join every type: such chunks are taken one by one
            joined_piece = _combined(piece, each)
        yield from joined_piece.to_batches()


def _combined(table: Any, each: Each) -> Any:
    if any(_any_part(field.type, _is_joined_wrongly) for field in table.schema):
        return table
    # Of one column, as a table: a chunked array by itself would be joined in Python.
    columns = each(lambda index: table.select([index]).combine_chunks().column(0), table.num_columns)
    return pa.Table.from_arrays(columns, schema=table.schema)


def _pieces(table: Any, step: int, each: Each) -> Iterator[Any]:
    """Cut a table every `step` rows, and again where some of its rows are much larger than the others."""
    for start in range(0, table.num_rows, step):
        piece = table if step >= table.num_rows else table.slice(start, step)
        if piece.num_rows > 1 and _is_huge(piece, each):
            yield from _pieces(piece, (piece.num_rows + 1) // 2, each)
        else:
            yield piece


def _is_huge(table: Any, each: Each) -> bool:
    def total(size: Callable[[Any], int]) -> int:
        return sum(each(lambda index: size(table.column(index)), table.num_columns))

    # What the buffers have is found soon, what the rows have of it takes long.
    return total(_buffer_size) > 4 * _PIECE_BYTES and total(_joined_size) > 4 * _PIECE_BYTES


def _size(batch: Any) -> int:
    """Return at least the bytes of some rows, or what joining them copies where they have many: that takes long."""
    bound = _buffer_size(batch)
    return bound if bound <= _SMALL_BYTES else sum(_joined_size(pa.chunked_array([column])) for column in batch.columns)


def _row_size(table: Any) -> int:
    """Return about how many bytes of a row joining copies, from a sample: asking every chunk takes too long."""
    rows = table.num_rows
    if not rows:
        return 1
    sample = pa.concat_tables([table.slice(row, 1) for row in range(0, rows, max(rows // _SAMPLE_ROWS, 1))])
    return sum(_joined_size(column) for column in sample.columns) // sample.num_rows or 1


def _joined_size(column: Any) -> int:
    """Return about how many bytes joining the chunks of a column copies: not what they share and only point into."""
    data_type = column.type
    if isinstance(data_type, pa.BaseExtensionType):
        # Casting to the storage breaks structs, which then end the process.
        parts = [chunk.storage for chunk in column.iterchunks()]
        return _joined_size(pa.chunked_array(parts, data_type.storage_type))
    if data_type.id in _VIEWS:
        return _POINTER_BYTES * len(column)
    if data_type.id == lib.Type_DICTIONARY and column.num_chunks:
        # Of dictionaries, only what others add to the first.
        return _POINTER_BYTES * len(column) + _buffer_size(column) - _buffer_size(column.chunk(0))
    if data_type.id == lib.Type_STRUCT and _looks_up(data_type):
        return sum(_joined_size(part) for part in column.flatten())
    try:
        return int(column.nbytes)
    except pa.ArrowException:  # the oldest pyarrow cannot tell where there are views inside
        return _POINTER_BYTES * len(column)


def _buffer_size(data: Any) -> int:
    """Return how many bytes the buffers of some data have, each counted once."""
    return int(data.get_total_buffer_size())


def _require_valid(data: Any, leaves: tuple[Leaf, ...]) -> None:
    for index in range(data.num_columns):
        _require_valid_column(data, index, leaves)


def _require_valid_column(data: Any, index: int, leaves: tuple[Leaf, ...]) -> None:
    column = data.column(index)
    try:
        column.validate()
    except pa.ArrowInvalid as error:
        for leaf in leaves:  # which says more
            if leaf.indices[0] == index:
                _describe_chunks(column, leaf)
        raise InvalidArrayError((data.schema.field(index).name,), "buffer", str(error)) from error


def _require_joinable(table: Any, index: int, leaves: tuple[Leaf, ...]) -> None:
    """Refuse chunks of a column where pyarrow, which joins them without looking, would follow what is broken.

    It is made sure that pyarrow has looked at the first and last offset of each chunk; the offsets between are only
    shifted. Everything else would reach into foreign memory, or become something that looks sound.
    """
    column = table.column(index)
    if _looks_up(column.type) and _is_sound(column):
        return
    _require_valid_column(table, index, leaves)
    # Full validation also looks at what values mean. Only a broken structure is refused.
    if _looks_up(column.type):
        sound = (blind := _blind(column)) is not column and _is_valid(blind)
    else:
        sound = not _has_inner_offsets(column.type) or all(_is_valid(chunk) for chunk in _distinct(column))
    if not sound:
        for leaf in leaves:
            if leaf.indices[0] == index:
                _describe_chunks(column, leaf)


def _any_part(data_type: Any, test: Callable[[Any], bool]) -> bool:
    """Return whether a test holds for a type or one inside it."""
    if isinstance(data_type, pa.BaseExtensionType):
        return _any_part(data_type.storage_type, test)
    if data_type.id == lib.Type_DICTIONARY:
        return test(data_type) or _any_part(data_type.value_type, test)
    return test(data_type) or any(_any_part(data_type.field(i).type, test) for i in range(data_type.num_fields))


_LIST_VIEWS = frozenset((lib.Type_LIST_VIEW, lib.Type_LARGE_LIST_VIEW))
_VIEWS = frozenset((lib.Type_STRING_VIEW, lib.Type_BINARY_VIEW))
_LOOKED_UP = _LIST_VIEWS | _VIEWS | {lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED}
_WITH_OFFSETS = frozenset(
    (
        *(lib.Type_BINARY, lib.Type_LARGE_BINARY, lib.Type_STRING, lib.Type_LARGE_STRING),
        *(lib.Type_LIST, lib.Type_LARGE_LIST),
    )
)


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


def _has_inner_offsets(data_type: Any) -> bool:
    storage = _storage(data_type)
    inner = (storage.field(index).type for index in range(storage.num_fields))
    return any(_any_part(part, lambda part: part.id in _WITH_OFFSETS) for part in inner)


def _distinct(column: Any) -> Iterator[Any]:
    """Yield one of the chunks that are slices of the same array: validating one looks at all that is inside them.

    Only chunks with an offset count as slices. What a file holds begins at 0, and two of its batches can be made to
    lie over each other and still differ in their lengths.
    """
    if not column.num_chunks:
        return
    one_memory = _buffer_size(column) == _buffer_size(column.chunk(0))
    has_dictionary = _any_part(column.type, pt.is_dictionary)  # whose memory `buffers` leaves out
    seen: set[tuple[int, ...]] = set()
    for chunk in column.iterchunks():
        if one_memory and chunk.offset and seen:
            continue
        memory = tuple(buffer.address for buffer in chunk.buffers()[1:] if buffer is not None)
        if memory not in seen or not chunk.offset or has_dictionary:
            seen.add(memory)
            yield chunk


def _is_sound(column: Any) -> bool:
    """Return whether a column that looks things up passes full validation, looking at what chunks share only once.

    pyarrow looks at the whole of a dictionary, and of a child, for every chunk that has it.
    """
    if column.type.id == lib.Type_DICTIONARY:
        entries = column.num_chunks and column.num_chunks * len(column.chunk(0).dictionary)
        if entries > _MANY_ENTRIES and (dictionary := _one_dictionary(column)) is not None:
            # Joining shifts no index then, and indices are looked at when they are followed.
            return _is_valid(column, full=False) and _is_valid(dictionary)
    elif (storage := _storage(column.type)).num_fields and storage.id not in _LIST_VIEWS:
        return _is_valid(column, full=False) and all(_is_valid(chunk) for chunk in _distinct(column))
    return _is_valid(column)


def _one_dictionary(column: Any) -> Any:
    """Return the dictionary that all chunks have, if its values lie flat and every chunk says the same of them."""
    first = column.chunk(0).dictionary
    if first.type.num_fields or first.type.id == lib.Type_DICTIONARY:
        return None
    same = all(_memory(chunk.dictionary) == _memory(first) for chunk in _distinct(column))
    return first if same else None


def _memory(array: Any) -> tuple[Any, ...]:
    buffers = tuple(buffer and (buffer.address, buffer.size) for buffer in array.buffers())
    return len(array), array.offset, buffers


def _is_valid(column: Any, *, full: bool = True) -> bool:
    try:
        column.validate(full=full)
    except pa.ArrowInvalid:
        return False
    return True


_BLIND = ((pt.is_string, pa.binary()), (pt.is_large_string, pa.large_binary()), (pt.is_string_view, pa.binary_view()))


def _blind(column: Any) -> Any:
    """Return text as binary, for validation that does not care about characters."""
    return next((column.cast(binary) for is_text, binary in _BLIND if is_text(column.type)), column)


def _describe_chunks(column: Any, leaf: Leaf) -> None:
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        describe_leaf(chunk, leaf.indices, leaf.path)
