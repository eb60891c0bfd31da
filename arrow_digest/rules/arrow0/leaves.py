"""Many leaf digests advanced together over the same rows, on as many threads as there are cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrow_digest.arrays.nodes import Node
from arrow_digest.arrays.schema import nullability
from arrow_digest.functions import DigestFunction, Hasher
from arrow_digest.native.choice import kernels
from arrow_digest.rules.arrow0.encode import encode, native, row_validity
from arrow_digest.rules.arrow0.leaf_columns import Column, leaf_column
from arrow_digest.rules.arrow0.types import logical_type
from arrow_digest.rules.rule import ColumnDigest, Leaf, Plan
from arrow_digest.workers import Pool, even_shares

__all__ = ["Arrow0Leaves", "LeafDigest", "update_each"]

# Below this many encoded bytes, or rows, a batch is done before another thread has woken up.
_PARALLEL_BYTES = 1 << 18
_PARALLEL_ROWS = 2048
# Two SIMD lanes cost about what one costs, so a thread gets two columns at least where there are lanes.
_COLUMNS_PER_THREAD = 2


class LeafDigest:
    """The digest of one leaf column.

    Args:
        encoded_type: The leaf's arrow0 type encoding.
        function: The digest function.
        threads: How many threads one leaf's hasher may use.
        validity: True to digest the row validity too.
        alone: True where no other leaf is advanced with it, so that lanes may not pay.

    Attributes:
        values: The hasher that is fed type and values.
        validity: The hasher that is fed one byte a row, or None.
        in_lanes: Whether they are hashers that advance in SIMD lanes.
        byte_count: How many bytes it was fed by the native encoder, where it is not in lanes; a hint.
        null_count: Number of null rows so far; nulls of structs above the leaf count.
    """

    def __init__(
        self,
        encoded_type: bytes,
        function: DigestFunction,
        *,
        threads: int = 1,
        validity: bool = False,
        alone: bool = False,
    ) -> None:
        start = _lane_hasher(function, alone=alone)
        self.values: Any = start() if start else function.new(threads)
        self.validity: Any = (start() if start else function.new()) if validity else None
        self.in_lanes = start is not None
        self.values.update(encoded_type)
        self.byte_count = len(encoded_type)
        self.null_count = 0

    def update(self, column: Column) -> None:
        """Feed the rows of a checked column."""
        update_each([self], [column], Pool(1))

    def digest(self) -> bytes:
        """Return the digest of type and values."""
        digest: bytes = self.values.digest()
        return digest

    def validity_digest(self) -> bytes | None:
        """Return the digest of one byte a row, 1 for a value and 0 for a null; None if it was not asked for."""
        return None if self.validity is None else self.validity.digest()

    def copy(self) -> LeafDigest:
        """Return an independent digest in the same state."""
        other = object.__new__(LeafDigest)
        other.values = self.values.copy()
        other.validity = None if self.validity is None else self.validity.copy()
        other.in_lanes = self.in_lanes
        other.byte_count = self.byte_count
        other.null_count = self.null_count
        return other


def _lane_hasher(function: DigestFunction, *, alone: bool) -> Callable[[], Hasher] | None:
    """Return what starts a hasher that advances in a SIMD lane, or None where another is faster."""
    active = kernels()
    # One lane without the instructions that came with AVX2 is slower than OpenSSL.
    if native is None or active.name != "native" or function.name != "sha3-256" or (alone and active.lanes < 4):
        return None
    hasher: Callable[[], Hasher] = native.Sha3
    return hasher


class Arrow0Leaves:
    """The digests of a plan's leaves in progress, which advance together over the same rows.

    Args:
        plan: What is hashed.
        function: The digest function.
        pool: The threads that may work on them.
        validity: True to digest each leaf's row validity too.
    """

    def __init__(self, plan: Plan, function: DigestFunction, pool: Pool, *, validity: bool = False) -> None:
        self._plan = plan
        self._pool = pool
        count = len(plan.leaves)
        spare = max(pool.threads // max(count, 1), 1)
        self._digests = [
            LeafDigest(leaf.encoded_type, function, threads=spare, validity=validity, alone=count == 1)
            for leaf in plan.leaves
        ]

    def update(self, columns: Sequence[Node]) -> None:
        """Feed the same rows of every column. All leaves are done on return, also when one of them raises."""
        found = [leaf_column(columns[leaf.indices[0]], leaf.indices) for leaf in self._plan.leaves]
        update_each(self._digests, found, self._pool)

    def digests(self) -> tuple[bytes, ...]:
        """Return the digest of every leaf, in the order of the plan."""
        return tuple(digest.digest() for digest in self._digests)

    def columns(self) -> tuple[ColumnDigest, ...]:
        """Return what each leaf adds to the hash, in the order of the plan."""
        return tuple(map(self._column, self._plan.leaves, self._digests))

    def _column(self, leaf: Leaf, digest: LeafDigest) -> ColumnDigest:
        nulls = nullability(self._plan.schema, leaf.indices)
        return ColumnDigest(
            leaf.path,
            logical_type(leaf.data_type),
            digest.null_count,
            digest.digest(),
            validity_digest=digest.validity_digest(),
            nullable=nulls.rows,
            nullable_items=nulls.items,
            nullable_structs=nulls.structs,
        )

    def copy(self) -> Arrow0Leaves:
        """Return independent digests in the same state."""
        other = Arrow0Leaves.__new__(Arrow0Leaves)
        other._plan, other._pool = self._plan, self._pool
        other._digests = [digest.copy() for digest in self._digests]
        return other


def update_each(digests: Sequence[LeafDigest], columns: Sequence[Column], pool: Pool) -> None:
    """Feed every digest its column. All are done on return, also when one of them raises."""
    if digests:
        feed, shares = (_native if kernels().name == "native" else _portable)(digests, columns, pool.threads)
        pool.share(feed, shares)


# What one thread does with its share: the indices of some columns.
_Feed = Callable[[Sequence[int]], None]
_Shares = Sequence[Sequence[int]]


def _portable(digests: Sequence[LeafDigest], columns: Sequence[Column], threads: int) -> tuple[_Feed, _Shares]:
    def feed(share: Sequence[int]) -> None:
        for index in share:
            digest, column = digests[index], columns[index]
            for part in encode(column):
                digest.values.update(part)
            valid = row_validity(column)
            if valid is not None:
                digest.null_count += len(valid) - int(np.count_nonzero(valid))
            if digest.validity is not None:
                rows = np.ones(column.node.length, np.bool_) if valid is None else valid
                digest.validity.update(rows.view(np.uint8))

    everything = range(len(digests))
    if threads == 1 or columns[0].node.length < _PARALLEL_ROWS:
        return feed, [everything]
    return feed, [[index] for index in everything]


def _native(digests: Sequence[LeafDigest], columns: Sequence[Column], threads: int) -> tuple[_Feed, _Shares]:
    assert native is not None
    rows = native.Rows(columns, kernels().lanes)

    def feed(share: Sequence[int]) -> None:
        in_lanes = [index for index in share if digests[index].in_lanes]
        rows.feed([digests[index].values for index in in_lanes], in_lanes)
        checked = [index for index in in_lanes if digests[index].validity is not None]
        if checked:
            rows.feed([digests[index].validity for index in checked], checked, validity=True)
        for index in share:
            digest = digests[index]
            if not digest.in_lanes:
                for part in rows.encode(index, before=digest.byte_count):
                    digest.values.update(part)
                    digest.byte_count += len(part)
                if digest.validity is not None:
                    for part in rows.encode(index, validity=True):
                        digest.validity.update(part)
            digest.null_count += rows.null_count(index)

    everything = range(len(digests))
    if threads == 1 or len(digests) == 1:
        return feed, [everything]
    sizes = [rows.size(index) for index in everything]
    if sum(sizes) < _PARALLEL_BYTES:
        return feed, [everything]
    together = _COLUMNS_PER_THREAD if all(digest.in_lanes for digest in digests) else 1
    return feed, even_shares(sizes, min(threads, -(-len(sizes) // together)))
