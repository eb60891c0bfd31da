"""Many leaf digests advanced together over the same rows, on as many threads as there are cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from arrow_digest.arrays.nodes import Node
from arrow_digest.arrays.schema import nullability
from arrow_digest.functions import DigestFunction, Hasher
from arrow_digest.native.choice import native
from arrow_digest.rules.arrow0.leaf_columns import Column, leaf_column
from arrow_digest.rules.arrow0.portable import encode, row_validity
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
        byte_count: How many bytes it was fed, where it is not in lanes; pieces are cut by it.
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

    def feed(self, parts: Iterable[npt.NDArray[np.uint8]]) -> None:
        """Feed encoded values, each part before the next is made."""
        for part in parts:
            self.values.update(part)
            self.byte_count += len(part)

    def feed_validity(self, parts: Iterable[npt.NDArray[np.uint8]]) -> None:
        """Feed one byte a row to the digest of the row validity."""
        for part in parts:
            self.validity.update(part)

    def count_nulls(self, count: int) -> None:
        """Count null rows of what was fed."""
        self.null_count += count

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


@cache
def _binding() -> ModuleType:
    """Return what binds the C library, which is imported only where it is used."""
    from arrow_digest.rules.arrow0 import native as binding

    return binding


def _lane_hasher(function: DigestFunction, *, alone: bool) -> Callable[[], Hasher] | None:
    """Return what starts a hasher that advances in a SIMD lane, or None where another is faster."""
    library = native()
    # One lane without the instructions that came with AVX2 is slower than OpenSSL.
    if library is None or function.name != "sha3-256" or (alone and library.lanes < 4):
        return None
    hasher: Callable[[], Hasher] = _binding().Sha3
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
        rows = (_PortableRows if native() is None else _NativeRows)(digests, columns)
        pool.share(rows.feed, rows.shares(pool.threads))


class _PortableRows:
    """The same rows of some columns, on their way to their digests through NumPy."""

    def __init__(self, digests: Sequence[LeafDigest], columns: Sequence[Column]) -> None:
        self._digests = digests
        self._columns = columns

    def feed(self, share: Sequence[int]) -> None:
        """Feed some of the digests, by number."""
        for index in share:
            digest, column = self._digests[index], self._columns[index]
            digest.feed(encode(column))
            valid = row_validity(column)
            if valid is not None:
                digest.count_nulls(len(valid) - int(np.count_nonzero(valid)))
            if digest.validity is not None:
                rows = np.ones(column.node.length, np.bool_) if valid is None else valid
                digest.feed_validity([rows.view(np.uint8)])

    def shares(self, threads: int) -> Sequence[Sequence[int]]:
        """Return what each thread feeds."""
        everything = range(len(self._digests))
        if threads == 1 or self._columns[0].node.length < _PARALLEL_ROWS:
            return [everything]
        return [[index] for index in everything]


class _NativeRows:
    """The same rows of some columns, on their way to their digests through the C library."""

    def __init__(self, digests: Sequence[LeafDigest], columns: Sequence[Column]) -> None:
        library = native()
        assert library is not None
        self._digests = digests
        self._rows = _binding().Rows(columns, library.lanes)

    def feed(self, share: Sequence[int]) -> None:
        """Feed some of the digests, by number: several side by side where they advance in lanes."""
        digests, rows = self._digests, self._rows
        in_lanes = [index for index in share if digests[index].in_lanes]
        rows.feed([digests[index].values for index in in_lanes], in_lanes)
        checked = [index for index in in_lanes if digests[index].validity is not None]
        if checked:
            rows.feed([digests[index].validity for index in checked], checked, validity=True)
        for index in share:
            digest = digests[index]
            if not digest.in_lanes:
                digest.feed(rows.encode(index, before=digest.byte_count))
                if digest.validity is not None:
                    digest.feed_validity(rows.encode(index, validity=True))
            digest.count_nulls(rows.null_count(index))

    def shares(self, threads: int) -> Sequence[Sequence[int]]:
        """Return what each thread feeds."""
        everything = range(len(self._digests))
        if threads == 1 or len(everything) == 1:
            return [everything]
        sizes = [self._rows.size(index) for index in everything]
        if sum(sizes) < _PARALLEL_BYTES:
            return [everything]
        together = _COLUMNS_PER_THREAD if all(digest.in_lanes for digest in self._digests) else 1
        return even_shares(sizes, min(threads, -(-len(sizes) // together)))
