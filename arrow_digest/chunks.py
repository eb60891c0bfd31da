"""Tables and batches as record batches of a size that is worth a turn.

A batch costs the same work for each column however few rows it has. Tiny chunks are joined first, by pyarrow, so that a
table in one-row chunks costs about what the same table costs in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from arrow_digest.errors import InvalidArrayError
from arrow_digest.schema import Leaf
from arrow_digest.structure import describe_leaf, follows_values

__all__ = ["joined"]

# Chunks with fewer rows are joined, to pieces of up to so many rows and bytes.
_SMALL_ROWS = 4096
_PIECE_ROWS = 1 << 16
_PIECE_BYTES = 1 << 24
# A batch whose buffers are no larger is not worth measuring.
_SMALL_BYTES = 1 << 18
_SAMPLE_ROWS = 32


def joined(batches: Iterable[Any], leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    """Yield the same rows in order as record batches, with tiny ones joined.

    Args:
        batches: `pyarrow.RecordBatch` and `pyarrow.Table` objects of one schema.
        leaves: The leaf columns of each of them.

    Raises:
        InvalidArrayError: An array points outside its buffers, where joining would have followed it.
    """
    small: list[Any] = []
    rows = size = 0
    for batch in batches:
        if isinstance(batch, pa.RecordBatch) and batch.num_rows < _SMALL_ROWS and batch.num_columns:
            small.append(batch)
            rows, size = rows + batch.num_rows, size + _size(batch)
            if rows < _PIECE_ROWS and size < _PIECE_BYTES:
                continue
        yield from _flush(small, leaves)
        rows = size = 0
        if isinstance(batch, pa.Table):
            yield from _table_batches(batch, leaves)
        elif batch.num_rows >= _SMALL_ROWS or not batch.num_columns:
            yield batch
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
        yield from table.to_batches()
    else:
        yield from _joined_pieces(table, leaves)


def _joined_pieces(table: Any, leaves: tuple[Leaf, ...]) -> Iterator[Any]:
    _require_valid(table)
    _require_joinable(table, leaves)
    step = min(max(_PIECE_BYTES // _row_size(table), 1), _PIECE_ROWS)
    for start in range(0, table.num_rows, step):
        piece = table if step >= table.num_rows else table.slice(start, step)
        with suppress(pa.ArrowException):  # pyarrow cannot join every type: such chunks are taken one by one
            piece = piece.combine_chunks()
        yield from piece.to_batches()


def _size(batch: Any) -> int:
    """Return at least the bytes of a batch's rows, and not much more: what pyarrow says exactly takes it long."""
    bound = int(batch.get_total_buffer_size())
    if bound <= _SMALL_BYTES:
        return bound
    _require_valid(batch)
    return int(batch.nbytes)


def _row_size(table: Any) -> int:
    """Return about how many bytes a row of a table takes, from a sample: asking every chunk takes too long."""
    rows = table.num_rows
    sample = range(0, rows, max(rows // _SAMPLE_ROWS, 1))
    return int(sum(table.slice(row, 1).nbytes for row in sample) // max(len(sample), 1)) or 1


def _require_valid(data: Any) -> None:
    try:
        data.validate()
    except pa.ArrowInvalid as error:
        raise InvalidArrayError((), "buffer", str(error)) from error


def _require_joinable(table: Any, leaves: tuple[Leaf, ...]) -> None:
    for leaf in leaves:
        column = table.column(leaf.indices[0])
        if not follows_values(column.type):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            # Full validation also looks at what values mean. Only a broken structure is refused.
            for chunk in column.iterchunks():
                describe_leaf(chunk, leaf.indices, leaf.path)
