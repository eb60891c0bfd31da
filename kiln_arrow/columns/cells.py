"""The cells of a column: where the bytes of each lie, once all of them are known to be there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.columns.arrow_types import buffer_view
from kiln_arrow.errors import below
from kiln_arrow.foreign.structure import (
    Slots,
    bytes_places,
)
from kiln_arrow.limits import Budget

__all__ = [
    "CellArray",
    "Cells",
    "cells_of",
    "require_room",
]


@dataclass(frozen=True)
class Cells:
    """Where the bytes of each cell of a storage array lie.

    Attributes:
        buffers: Read-only views of what holds bytes.
        which: Index in `buffers` of each cell's, or None where there is one buffer.
        starts: int64[n], where each cell begins in its buffer.
        lengths: int64[n], how many bytes it has.
        valid: bool[n], or None where no cell is null. Lengths and starts of nulls say nothing.
        may_repeat: Whether several cells may be the same bytes.
    """

    buffers: list[memoryview]
    which: NDArray[np.int64] | None
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    valid: NDArray[np.bool_] | None
    may_repeat: bool = False

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def null_count(self) -> int:
        """How many cells are null."""
        return 0 if self.valid is None else len(self) - int(np.count_nonzero(self.valid))

    def sizes(self) -> NDArray[np.int64]:
        """Return the bytes of each cell, 0 for a null."""
        return self.lengths if self.valid is None else np.where(self.valid, self.lengths, 0)

    def __iter__(self) -> Iterator[memoryview | None]:
        """Yield the bytes of each cell, None for a null."""
        if self.which is None and self.valid is None:  # the common case, and the quick one
            (buffer,) = self.buffers
            ends = self.starts + self.lengths
            for start, end in zip(self.starts.tolist(), ends.tolist(), strict=True):
                yield buffer[start:end]
            return
        for place in self.places():
            if place is None:
                yield None
            else:
                index, start, length = place
                yield self.buffers[index][start : start + length]

    def values(self) -> list[bytes]:
        """Return a copy of the bytes of each cell, nothing for a null."""
        sizes = self.sizes()
        if self.which is None and len(self):
            (buffer,) = self.buffers
            first, end = int(self.starts.min()), int((self.starts + sizes).max())
            # Slices of bytes take half the time of slices of a view, and the copy pays unless most of it is not wanted.
            if first >= 0 and end - first <= 2 * int(sizes.sum(dtype=np.float64)):
                data = bytes(buffer[first:end])
                starts = self.starts - first
                return [data[a:b] for a, b in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]
        return [b"" if data is None else bytes(data) for data in self]

    def places(self) -> Iterator[tuple[int, int, int] | None]:
        """Yield buffer, start and length of each cell, None for a null: equal where two cells are the same bytes."""
        which = np.zeros(len(self), np.int64) if self.which is None else self.which
        valid = np.ones(len(self), np.bool_) if self.valid is None else self.valid
        rows = (which.tolist(), self.starts.tolist(), self.lengths.tolist(), valid.tolist())
        for index, start, length, present in zip(*rows, strict=True):
            yield (index, start, length) if present else None

    def side_by_side(self, budget: Budget) -> Cells:
        """Return the same cells copied to one buffer, one after another, nulls without bytes."""
        sizes = self.sizes()
        require_room(self, budget)
        data = b"".join([data for data in self if data is not None])
        return Cells([memoryview(data)], None, np.cumsum(sizes) - sizes, sizes, self.valid)


def require_room(cells: Cells, budget: Budget) -> None:
    """Count the bytes that cells take when each is written out, beyond those of the buffers that they share.

    Raises:
        KilnError: More than the limit; rule `expansion`.
    """
    # As a float, which does not wrap.
    total = int(cells.sizes().sum(dtype=np.float64)) if len(cells) else 0
    budget.spend(total - sum(map(len, cells.buffers)), f"{len(cells)} cells, some of them repeated,")


def cells_of(storage: pa.Array, at: Slots = None, *, may_repeat: bool = False) -> Cells:
    """Return the cells of a binary, large_binary or binary_view array, or of some of its slots.

    Raises:
        KilnError: One that is not null lies outside the buffers; rule `arrow`.
    """
    buffers, which, starts, lengths, valid = bytes_places(storage, at)
    return Cells(list(map(buffer_view, buffers)), which, starts, lengths, valid, may_repeat or which is not None)


class CellArray(NamedTuple):
    """One array of cells below a column.

    `rows` has the column's row of each cell, None where it is the cell's own index. Cells below a null list are left
    out, those below a null struct are null. Runs and dictionaries are looked up, so that a cell may be there twice.
    """

    path: str
    type: pa.DataType
    cells: Cells
    rows: NDArray[np.int64] | None

    def row(self, cell: int) -> int:
        """Return the column's row that a cell belongs to."""
        return cell if self.rows is None else int(self.rows[cell])

    def path_in(self, column: str) -> str:
        """Return the path down to these cells that begins with the name of their column."""
        return below(column, self.path) if self.path else column
