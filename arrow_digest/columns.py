"""Many leaf digests advanced together over the same rows, on as many threads as there are cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from arrow_digest.encode import encode, row_validity
from arrow_digest.functions import DigestFunction
from arrow_digest.structure import Column

__all__ = ["LeafDigest", "LeafPool", "thread_count"]

# Below this many rows a batch is done before another thread has woken up.
_PARALLEL_ROWS = 2048


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

    Attributes:
        null_count: Number of null rows so far; nulls of structs above the leaf count.
    """

    def __init__(
        self, encoded_type: bytes, function: DigestFunction, *, threads: int = 1, validity: bool = False
    ) -> None:
        self._values = function.new(threads)
        self._values.update(encoded_type)
        self._validity = function.new() if validity else None
        self.null_count = 0

    def update(self, column: Column) -> None:
        """Feed the rows of a checked column."""
        for part in encode(column):
            self._values.update(part)
        valid = row_validity(column)
        if valid is not None:
            self.null_count += len(valid) - int(np.count_nonzero(valid))
        if self._validity is not None:
            rows = np.ones(column.node.length, np.bool_) if valid is None else valid
            self._validity.update(rows.view(np.uint8))

    def digest(self) -> bytes:
        """Return the digest of type and values."""
        return self._values.digest()

    def validity_digest(self) -> bytes | None:
        """Return the digest of one byte a row, 1 for a value and 0 for a null; None if it was not asked for."""
        return None if self._validity is None else self._validity.digest()

    def copy(self) -> LeafDigest:
        """Return an independent digest in the same state."""
        other = object.__new__(LeafDigest)
        other._values = self._values.copy()
        other._validity = None if self._validity is None else self._validity.copy()
        other.null_count = self.null_count
        return other


class LeafPool:
    """Threads that advance leaf digests; started when first needed, and anew in a forked process."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    def update(self, digests: Sequence[LeafDigest], columns: Sequence[Column]) -> None:
        """Feed every digest its column. All are done on return, also when one of them raises."""
        pairs = list(zip(digests, columns, strict=True))
        if self.threads == 1 or len(pairs) < 2 or pairs[0][1].node.length < _PARALLEL_ROWS:
            for digest, column in pairs:
                digest.update(column)
            return
        executor = self._started()
        futures = [executor.submit(digest.update, column) for digest, column in pairs]
        errors: list[BaseException | None] = [future.exception() for future in futures]
        for error in errors:
            if error is not None:
                raise error

    def _started(self) -> ThreadPoolExecutor:
        if self._executor is None or self._process != os.getpid():
            self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix="arrow-digest")
            self._process = os.getpid()
        return self._executor

    def __getstate__(self) -> Any:
        """Refuse: hashers cannot go to another process."""
        raise TypeError("a digest in progress cannot be pickled")
