"""arrow0's leaf columns, taken from the descriptions of top-level columns.

A leaf's rows are null where the leaf is, or a struct above it. Structs that lie flat have a bit a row, which is kept as
it is. Under an encoding (a dictionary of structs, runs of structs) each row has its slot, and so the leaf becomes a
dictionary of its values. What is taken is a chain of nodes, as the kernels follow it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arrow_digest.arrays.nodes import Bitmap, Kind, Node, unpack

__all__ = ["Column", "leaf_column", "struct_validity"]

_NO_ROWS = np.empty(0, np.bool_)


class Column(NamedTuple):
    """The rows of one leaf column: its node, and the validity of the structs above it."""

    node: Node
    parents: tuple[Bitmap, ...] = ()


def leaf_column(described: Node, indices: tuple[int, ...]) -> Column:
    """Return one leaf under a top-level column.

    Args:
        described: The description of the top-level column.
        indices: Field indices from the top-level column down to the leaf, as a plan's leaf has them.

    >>> import pyarrow as pa
    >>> from arrow_digest.arrays.describe import describe
    >>> column = leaf_column(describe(pa.array([{"x": 1}, None])), (0, 0))
    >>> column.node.kind.name, len(column.parents)
    ('FIXED', 1)
    """
    if len(indices) == 1 or described.length == 0:
        return Column(described)
    rows, node = _Rows(described.length), described
    for index in indices[1:]:
        node = rows.enter(node)
        if node.length == 0:  # whatever should lead here is null, so every row is
            return Column(Node(Kind.NULL, described.length, node.array))
        node = node.children[index]
    return rows.column(node)


def struct_validity(described: Node, indices: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return which rows have a struct that is not null, nor under a null one.

    Args:
        described: The description of the top-level column.
        indices: Field indices from the top-level column down to the struct.
    """
    if described.length == 0:
        return _NO_ROWS
    rows, node = _Rows(described.length), described
    for index in (*indices[1:], None):
        node = rows.enter(node)
        if node.length == 0:
            return np.zeros(described.length, np.bool_)
        if index is not None:
            node = node.children[index]
    return rows.validity()


class _Rows:
    """The rows of a column on the way down to a leaf: which slot each is in, and the validity of what was passed."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._parents: list[Bitmap] = []
        # Where an encoding was passed: the slot of every row, and which rows have one.
        self._slots: npt.NDArray[np.int64] | None = None
        self._valid = _NO_ROWS

    def enter(self, node: Node) -> Node:
        """Return the struct under the encodings of a node, or a node without slots on the way."""
        while node.kind in (Kind.DICTIONARY, Kind.RUN_END):
            if self._slots is None:
                self._slots, self._valid = np.arange(self._count), np.ones(self._count, np.bool_)
            self._require_valid(node.validity)
            if node.kind is Kind.DICTIONARY:
                inner = np.zeros(self._count, np.int64)
                inner[self._valid] = node.values[self._slots[self._valid]]
                self._slots = inner
            else:
                self._slots = np.searchsorted(node.values, self._slots + node.origin, side="right").astype(np.int64)
            node = node.children[0]
        self._require_valid(node.validity)
        return node

    def _require_valid(self, validity: Bitmap | None) -> None:
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
            valid &= unpack(bitmap, self._count)
        return valid

    def column(self, leaf: Node) -> Column:
        """Return the rows of a leaf."""
        if self._slots is not None:
            bits = Bitmap(np.packbits(self._valid, bitorder="little"), 0)
            leaf = Node(Kind.DICTIONARY, self._count, leaf.array, bits, values=self._slots, children=(leaf,))
        return Column(leaf, tuple(self._parents))
