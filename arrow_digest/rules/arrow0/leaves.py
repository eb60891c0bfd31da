"""Many leaf digests advanced together over the same rows, on as many threads as there are cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np

from _arrow_io.threads import submit
from arrow_digest.arrays.nodes import Column
from arrow_digest.functions import DigestFunction, Hasher
from arrow_digest.native.choice import kernels
from arrow_digest.rules.arrow0.encode import encode, native, row_validity

_T = TypeVar("_T")

__all__ = ["LeafDigest", "LeafPool", "thread_count"]

# Below this many encoded bytes, or rows, a batch is done before another thread has woken up.
_PARALLEL_BYTES = 1 << 18
_PARALLEL_ROWS = 2048
# Two SIMD lanes cost about what one costs, so a thread gets two columns at least where there are lanes.
_COLUMNS_PER_THREAD = 2


def thread_count(threads: int | None) -> int:
    """Return how many threads to use: `threads`, or every core this process may run on.

    Raises:
        ValueError: `threads` is no positive whole number.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise ValueError(f"threads: expected a positive whole number or None, found {threads!r}")
    return threads


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
        start = _lane_hasher(function, alone)
        self.values: Any = start() if start else function.new(threads)
        self.validity: Any = (start() if start else function.new()) if validity else None
        self.in_lanes = start is not None
        self.values.update(encoded_type)
        self.byte_count = len(encoded_type)
        self.null_count = 0

    def update(self, column: Column) -> None:
        """Feed the rows of a checked column."""
        LeafPool(1).update([self], [column])

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


def _lane_hasher(function: DigestFunction, alone: bool) -> Callable[[], Hasher] | None:
    """Return what starts a hasher that advances in a SIMD lane, or None where another is faster."""
    active = kernels()
    # One lane without the instructions that came with AVX2 is slower than OpenSSL.
    if native is None or active.name != "native" or function.name != "sha3-256" or (alone and active.lanes < 4):
        return None
    hasher: Callable[[], Hasher] = native.Sha3
    return hasher


class LeafPool:
    """Threads that advance leaf digests; started when first needed, and anew in a forked process."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    def update(self, digests: Sequence[LeafDigest], columns: Sequence[Column]) -> None:
        """Feed every digest its column. All are done on return, also when one of them raises."""
        if not digests:
            return
        feed, shares = (_native if kernels().name == "native" else _portable)(digests, columns, self.threads)
        if len(shares) == 1:
            feed(shares[0])
            return
        executor = self._started()
        futures = [submit(executor, feed, share) for share in shares[1:]]
        try:
            feed(shares[0])
        finally:
            wait(futures)
        for future in futures:
            future.result()

    def each(self, call: Callable[[int], _T], count: int) -> list[_T]:
        """Return what `call` gives for 0 to `count - 1`, in order, having called it on the threads at hand."""
        if self.threads == 1 or count < 2:
            return [call(index) for index in range(count)]
        executor = self._started()
        futures = [submit(executor, call, index) for index in range(count)]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def _started(self) -> ThreadPoolExecutor:
        if self._executor is None or self._process != os.getpid():
            self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="arrow-digest")
            self._process = os.getpid()
        return self._executor


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
    return feed, _even_shares(sizes, min(threads, -(-len(sizes) // together)))


def _even_shares(sizes: Sequence[float], count: int) -> _Shares:
    """Return the indices in `count` shares of about the same size."""
    shares: list[list[int]] = [[] for _ in range(count)]
    totals = [0.0] * count
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        smallest = totals.index(min(totals))
        shares[smallest].append(index)
        totals[smallest] += sizes[index]
    return shares
