"""How many rows of a Parquet file are decoded at once, so that they take a bounded amount of memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from _arrow_io.footer import BYTE_ARRAY, Chunk, Footer, Leaf
from _arrow_io.opening import InputFile, arrow_file
from _arrow_io.page_sizes import PageSizes

__all__ = ["BatchRows"]

# Parquet is decoded in batches of about this many bytes, and of no more than so many rows; of fewer rows where values
# may be far larger decoded than they are in the file.
_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 18
_BATCH_ROWS_OF_ANY_SIZE = 1 << 14
# What values take is known only once some are decoded. The first batch has this many rows, and fewer where so many of
# the largest value that a chunk may hold would be too much; then batches grow by this factor.
_FIRST_ROWS = 64
_MOST_FIRST_BYTES = 64 << 20
_GROWTH = 16
# No later batch takes more than the first may, whatever came before it. Of many columns each may take this much.
_LEAST_COLUMN_BYTES = 16 << 20
# What a value of a physical type takes once it is decoded; text, where it is read as indices; decimals, however stored.
_DECODED_BYTES = (1, 4, 8, 12, 4, 8, 4)
_DECIMAL_BYTES = 16


class BatchRows:
    """How many rows are decoded at once, so that they take about `_BATCH_BYTES`.

    Attributes:
        now: How many in the next batch, unless `fitting` says that what comes is larger than what came.
        most: The most there will be.
    """

    def __init__(
        self,
        file: InputFile,
        metadata: pq.FileMetaData,
        footer: Footer,
        chosen: Sequence[int],
        as_indices: frozenset[int],
    ) -> None:
        self._file = file
        self._metadata = metadata
        self._footer = footer
        self._unknown = [n for n in chosen if n not in as_indices and _may_be_of_any_size(footer.leaves[n])]
        self._budget = max(_MOST_FIRST_BYTES // max(len(self._unknown), 1), _LEAST_COLUMN_BYTES)
        self._watched: list[tuple[int, Chunk, PageSizes | None]] = []
        width = sum(_decoded_bytes(footer.leaves[number]) for number in chosen)
        self.most = max(
            min(_BATCH_BYTES // max(width, 1), _BATCH_ROWS_OF_ANY_SIZE if self._unknown else _BATCH_ROWS), 1
        )
        self.now = self.most
        if self._unknown:
            largest = max(
                (sum(group.chunks[n].uncompressed_size for n in self._unknown) for group in footer.row_groups),
                default=0,
            )
            self.now = max(min(self.most, _FIRST_ROWS, _MOST_FIRST_BYTES // max(largest, 1)), 1)

    def enter(self, number: int) -> None:
        """Begin with a row group, whose chunks are watched where the values of a batch may take too much."""
        self._watched = []
        entries = _LargestEntries(self._file, self._metadata, number)
        for leaf in self._unknown:
            chunk = self._footer.row_groups[number].chunks[leaf]
            is_text = self._footer.leaves[leaf].physical_type == BYTE_ARRAY
            largest = chunk.uncompressed_size if is_text else _decoded_bytes(self._footer.leaves[leaf])
            if largest * chunk.value_count > self._budget:
                if is_text:
                    entries.expect(leaf, is_flat=len(self._footer.leaves[leaf].path) == 1)
                    pages = PageSizes(self._file, chunk, self._budget, partial(entries.of, leaf))
                self._watched.append((leaf, chunk, pages if is_text else None))

    def fitting(self, row: int, rows_left: int, values_before: dict[int, int]) -> int:
        """Return how many rows of the group to decode from a row on.

        Args:
            row: The row.
            rows_left: How many there are from there on.
            values_before: How many values came before it, of each leaf that has lists.
        """
        rows = self.now
        for leaf, chunk, pages in self._watched:
            start = values_before.get(leaf, row)
            if pages is None:
                values = self._budget // _decoded_bytes(self._footer.leaves[leaf])
            else:
                values = pages.most_values(start)
            if self._footer.leaves[leaf].is_repeated:
                # How long each list is nobody knows yet: as long as those before, or as those that are left.
                values = min(
                    values * row // max(start, 1) if row else values,
                    values * rows_left // max(chunk.value_count - start, 1),
                )
            rows = min(rows, values)
        return max(rows, 1)

    def learn(self, batch: pa.RecordBatch) -> None:
        """Take into account what a batch took."""
        if self._unknown:
            fitting = _BATCH_BYTES * batch.num_rows // max(sum(map(_decoded_size, batch.columns)), 1)
            self.now = max(min(fitting, batch.num_rows * _GROWTH, self.most), 1)

    def shrink(self) -> None:
        """Decode fewer rows from here on."""
        self.most = self.now = max(self.now // _GROWTH, 1)


def _may_be_of_any_size(leaf: Leaf) -> bool:
    return leaf.is_repeated or leaf.physical_type == BYTE_ARRAY


def _decoded_bytes(leaf: Leaf) -> int:
    """Return what one value of a Parquet column takes once it is decoded, of text and binary an index alone."""
    if leaf.is_decimal:
        return max(leaf.length, _DECIMAL_BYTES)
    return _DECODED_BYTES[leaf.physical_type] if leaf.physical_type < len(_DECODED_BYTES) else max(leaf.length, 1)


def _decoded_size(array: Any) -> int:
    """Return what an array takes, without dictionaries: those are as large for fewer rows."""
    if pt.is_dictionary(array.type):
        return int(array.indices.get_total_buffer_size())
    return int(array.get_total_buffer_size())  # pyarrow 22 knows no `nbytes` of views


class _LargestEntries:
    """How long the largest values in the dictionaries of a row group are.

    They are asked of pyarrow when the first is wanted, and then of all columns that are no part of others together:
    each reader that is opened takes a look at all columns of the file.
    """

    def __init__(self, file: InputFile, metadata: pq.FileMetaData, row_group: int) -> None:
        self._file = file
        self._metadata = metadata
        self._row_group = row_group
        self._flat: list[int] = []
        self._found: dict[int, int | None] = {}

    def expect(self, leaf: int, *, is_flat: bool) -> None:
        """Say which leaf may be asked for, in rising order."""
        if is_flat:
            self._flat.append(leaf)

    def of(self, leaf: int) -> int | None:
        """Return the length in bytes of the largest value of a leaf; None where pyarrow does not say."""
        if leaf not in self._found:
            together = self._flat if leaf in self._flat else [leaf]
            self._found.update(dict.fromkeys(together))
            self._found.update(zip(together, self._ask(together), strict=False))
        return self._found[leaf]

    def _ask(self, leaves: list[int]) -> list[int | None]:
        try:
            handle = arrow_file(self._file)
            parquet = pq.ParquetFile(handle, metadata=self._metadata, read_dictionary=leaves, pre_buffer=False)
            rows = parquet.reader.iter_batches(_FIRST_ROWS, row_groups=[self._row_group], column_indices=leaves)
            batch = next(rows, None)
            return [] if batch is None else [_largest_entry(column) for column in batch.columns]
        except (pa.ArrowException, OSError):  # reading it in earnest says what is wrong
            return []


def _largest_entry(array: Any) -> int | None:
    while array is not None and not pt.is_dictionary(array.type):
        array = array.field(0) if pt.is_struct(array.type) else getattr(array, "values", None)
    return None if array is None else pc.max(pc.binary_length(array.dictionary)).as_py()
