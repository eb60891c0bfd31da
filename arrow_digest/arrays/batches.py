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

from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.joinable import buffer_size, copied_size, is_joinable, is_valid
from arrow_digest.errors import InvalidArrayError

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


def joined(batches: Iterable[pa.RecordBatch | pa.Table], each: Each) -> Iterator[pa.RecordBatch]:
    """Yield the same rows in order as record batches, with tiny ones joined and huge ones cut.

    Nothing is looked at of a batch, or of a chunk, that has no rows.

    Args:
        batches: `pyarrow.RecordBatch` and `pyarrow.Table` objects of one schema.
        each: Calls a function for each column, on the threads at hand.

    Raises:
        InvalidArrayError: An array points outside its buffers, where joining or cutting would have followed it.
    """
    small: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        if isinstance(batch, pa.RecordBatch) and batch.num_rows < _SMALL_ROWS and batch.num_columns:
            _require_whole(batch)
            small.append(batch)
            rows, size = rows + batch.num_rows, size + _size(batch)
            if rows < _PIECE_ROWS and size < _PIECE_BYTES:
                continue
        yield from _flush(small, each)
        rows = size = 0
        if isinstance(batch, pa.Table):
            yield from _table_batches(batch, each)
        elif batch.num_rows >= _SMALL_ROWS or not batch.num_columns:
            yield from _cut(batch)
    yield from _flush(small, each)


def _flush(small: list[pa.RecordBatch], each: Each) -> Iterator[pa.RecordBatch]:
    batches = small.copy()
    small.clear()
    if len(batches) == 1:
        yield batches[0]
    elif batches:
        yield from _joined_pieces(pa.Table.from_batches(batches), each)


def _table_batches(table: pa.Table, each: Each) -> Iterator[pa.RecordBatch]:
    if table.num_columns == 0:
        yield table  # its rows count, and there is nothing else in it
        return
    chunks = max(column.num_chunks for column in table.itercolumns())
    if table.num_rows >= chunks * _SMALL_ROWS or chunks <= 1:
        yield from _one_by_one(table)
    else:
        yield from _joined_pieces(table, each)


def _one_by_one(table: pa.Table) -> Iterator[pa.RecordBatch]:
    for batch in table.to_batches():
        if batch.num_rows:
            yield from _cut(batch)


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    _require_whole(batch)
    if batch.num_rows <= _MOST_ROWS or not batch.num_columns:
        yield batch
        return
    for start in range(0, batch.num_rows, _MOST_ROWS):
        yield batch.slice(start, _MOST_ROWS)


def _require_whole(batch: pa.RecordBatch) -> None:
    """Refuse a batch in which pyarrow finds an array of the wrong length, or buffers shorter than their array."""
    if is_valid(batch, full=False):
        return
    if batch.num_rows < 0:
        raise InvalidArrayError((), "length", f"expected a number of rows, found {batch.num_rows}")
    # Described, which names the field and the rule that pyarrow's refusal does not name.
    for index, column in enumerate(batch.columns):
        describe(column, (batch.schema.field(index).name,))
    try:
        batch.validate()
    except pa.ArrowInvalid as error:
        raise InvalidArrayError((), "buffer", str(error)) from error


def _joined_pieces(table: pa.Table, each: Each) -> Iterator[pa.RecordBatch]:
    def may_join(index: int) -> bool:
        return is_joinable(table.column(index), (table.schema.field(index).name,))

    if not all(each(may_join, table.num_columns)):
        yield from _one_by_one(table)
        return
    step = min(max(_PIECE_BYTES // _row_size(table), 1), _PIECE_ROWS)
    for piece in _pieces(table, step, each):
        if piece is not table and not is_valid(piece, full=False):  # where a chunk was cut
            yield from _one_by_one(piece)
            continue
        joined_piece = piece
        with suppress(pa.ArrowException):  # pyarrow cannot join every type: such chunks are taken one by one
            joined_piece = _combined(piece, each)
        yield from joined_piece.to_batches()


def _combined(table: pa.Table, each: Each) -> pa.Table:
    # Of one column, as a table: a chunked array by itself would be joined in Python.
    columns = each(lambda index: table.select([index]).combine_chunks().column(0), table.num_columns)
    return pa.Table.from_arrays(columns, schema=table.schema)


def _pieces(table: pa.Table, step: int, each: Each) -> Iterator[pa.Table]:
    """Cut a table every `step` rows, and again where some of its rows are much larger than the others."""
    for start in range(0, table.num_rows, step):
        piece = table if step >= table.num_rows else table.slice(start, step)
        if piece.num_rows > 1 and _is_huge(piece, each):
            yield from _pieces(piece, (piece.num_rows + 1) // 2, each)
        else:
            yield piece


def _is_huge(table: pa.Table, each: Each) -> bool:
    def total(size: Callable[[pa.ChunkedArray], int]) -> int:
        return sum(each(lambda index: size(table.column(index)), table.num_columns))

    # What the buffers have is found soon, what the rows have of it takes long.
    return total(buffer_size) > 4 * _PIECE_BYTES and total(copied_size) > 4 * _PIECE_BYTES


def _size(batch: pa.RecordBatch) -> int:
    """Return at least the bytes of some rows, or what joining them copies where they have many: that takes long."""
    bound = buffer_size(batch)
    return bound if bound <= _SMALL_BYTES else sum(copied_size(pa.chunked_array([column])) for column in batch.columns)


def _row_size(table: pa.Table) -> int:
    """Return about how many bytes of a row joining copies, from a sample: asking every chunk takes too long."""
    rows = table.num_rows
    if not rows:
        return 1
    sample = pa.concat_tables([table.slice(row, 1) for row in range(0, rows, max(rows // _SAMPLE_ROWS, 1))])
    return sum(copied_size(column) for column in sample.columns) // sample.num_rows or 1
