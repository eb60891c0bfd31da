"""Tables and batches as record batches of a size that is worth a turn.

A batch costs the same work for each column however few rows it has. Tiny chunks are joined first, by pyarrow, so that a
table in one-row chunks costs about what the same table costs in one piece; huge batches are cut, so that memory does
not depend on how the rows come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from arrow_digest.errors import InvalidArrayError
from arrow_digest.schema import Leaf
from arrow_digest.structure import describe_leaf

__all__ = ["joined"]

# Chunks with fewer rows are joined, to pieces of about so many rows and bytes.
_SMALL_ROWS = 4096
_PIECE_ROWS = 1 << 16
_PIECE_BYTES = 1 << 24
# A batch whose buffers are no larger is not worth measuring.
_SMALL_BYTES = 1 << 18
_SAMPLE_ROWS = 32
# Batches of more rows are cut.
_MOST_ROWS = 1 << 20


def joined(batches: Iterable[Any], leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    """Yield the same rows in order as record batches, with tiny ones joined and huge ones cut.

    Args:
        batches: `pyarrow.RecordBatch` and `pyarrow.Table` objects of one schema.
        leaves: The leaf columns of each of them.

    Raises:
        InvalidArrayError: An array points outside its buffers, where joining or cutting would have followed it.
    """
    small: list[Any] = []
    rows = size = 0
    for batch in batches:
        if isinstance(batch, pa.RecordBatch) and batch.num_rows < _SMALL_ROWS and batch.num_columns:
            small.append(batch)
            rows, size = rows + batch.num_rows, size + _batch_size(batch, leaves)
            if rows < _PIECE_ROWS and size < _PIECE_BYTES:
                continue
        yield from _flush(small, leaves)
        rows = size = 0
        if isinstance(batch, pa.Table):
            yield from _table_batches(batch, leaves)
        elif batch.num_rows >= _SMALL_ROWS or not batch.num_columns:
            yield from _cut(batch, leaves)
    yield from _flush(small, leaves)


def _flush(small: list[Any], leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    batches = small.copy()
    small.clear()
    if len(batches) == 1:
        yield batches[0]
    elif batches:
        yield from _joined_pieces(pa.Table.from_batches(batches), leaves)


def _table_batches(table: Any, leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    if table.num_columns == 0:
        yield table  # its rows count, and there is nothing else in it
        return
    chunks = max(column.num_chunks for column in table.itercolumns())
    if table.num_rows >= chunks * _SMALL_ROWS or chunks <= 1:
        for batch in table.to_batches():
            yield from _cut(batch, leaves)
    else:
        yield from _joined_pieces(table, leaves)


def _cut(batch: Any, leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    if batch.num_rows <= _MOST_ROWS or not batch.num_columns:
        yield batch
        return
    _require_valid(batch, leaves)
    for start in range(0, batch.num_rows, _MOST_ROWS):
        yield batch.slice(start, _MOST_ROWS)


def _joined_pieces(table: Any, leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    _require_valid(table, leaves)
    _require_joinable(table, leaves)
    for piece in _pieces(table):
        joined_piece = piece
        with suppress(pa.ArrowException):  # pyarrow cannot join every type: such chunks are taken one by one
            joined_piece = piece.combine_chunks()
        yield from joined_piece.to_batches()


def _pieces(table: Any) -> Iterator[Any]:
    """Cut a table, first by the average size of its rows, then those pieces whose rows are much larger."""
    step = min(max(_PIECE_BYTES // _row_size(table), 1), _PIECE_ROWS)
    if step >= table.num_rows:
        yield table
        return
    for start in range(0, table.num_rows, step):
        piece = table.slice(start, step)
        if piece.num_rows > 1 and _row_size(piece) * piece.num_rows > 2 * _PIECE_BYTES:
            yield from _pieces(piece)
        else:
            yield piece


def _row_size(table: Any) -> int:
    """Return about how many bytes a row takes, from a sample: pyarrow takes long to say it of many chunks."""
    rows = range(0, table.num_rows, max(table.num_rows // _SAMPLE_ROWS, 1))
    return sum(_byte_size(table.slice(row, 1)) for row in rows) // max(len(rows), 1) or 1


def _batch_size(batch: Any, leaves: tuple[Leaf, ...]) -> int:
    """Return at least the bytes of a batch's rows, and no more than that where it matters."""
    bound = int(batch.get_total_buffer_size())
    if bound <= _SMALL_BYTES:
        return bound
    _require_valid(batch, leaves)
    return _byte_size(batch)


def _byte_size(data: Any) -> int:
    try:
        return int(data.nbytes)
    except pa.ArrowException:  # the oldest pyarrow cannot tell for views; whole buffers are more than enough
        return int(data.get_total_buffer_size())


def _require_valid(data: Any, leaves: tuple[Leaf, ...]) -> None:
    for index in range(data.num_columns):
        column = data.column(index)
        try:
            column.validate()
        except pa.ArrowInvalid as error:
            for leaf in leaves:  # which says more
                if leaf.indices[0] == index:
                    _describe_chunks(column, leaf)
            raise InvalidArrayError((data.schema.field(index).name,), "buffer", str(error)) from error


def _require_joinable(table: Any, leaves: tuple[Leaf, ...]) -> None:
    for leaf in leaves:
        column = table.column(leaf.indices[0])
        # Full validation also looks at what values mean. Only a broken structure is refused.
        if _follows(column.type) and not (_is_valid(column) or _is_valid(_blind(column))):
            _describe_chunks(column, leaf)


def _follows(data_type: Any) -> bool:
    """Return whether copying a part of such an array follows offsets, views, indices or run ends.

    pyarrow copies them without looking: a broken one reaches into foreign memory, or becomes one that looks sound.
    """
    if isinstance(data_type, pa.BaseExtensionType):
        return _follows(data_type.storage_type)
    if pt.is_struct(data_type):
        return any(_follows(data_type.field(index).type) for index in range(data_type.num_fields))
    has_fixed_width = pt.is_primitive(data_type) or pt.is_decimal(data_type) or pt.is_fixed_size_binary(data_type)
    return not (has_fixed_width or pt.is_null(data_type))


def _is_valid(column: Any) -> bool:
    try:
        column.validate(full=True)
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
