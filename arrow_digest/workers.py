"""Work for others: the threads of this process, and any `concurrent.futures.Executor`, be it a cluster's."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from _arrow_io.threads import submit
from arrow_digest.errors import WorkerError

__all__ = ["Pool", "even_shares", "run_each", "started", "thread_count"]

Job = TypeVar("Job")
Result = TypeVar("Result")
Share = TypeVar("Share")

# So many jobs are handed out before their results are asked for: enough for a cluster, few enough to keep in memory.
_WINDOW = 1024


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


class Pool:
    """Threads of this process; started when first needed, and anew in a forked process.

    Args:
        threads: How many; with 1 everything is done on the thread that asks.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    def share(self, work: Callable[[Share], object], shares: Sequence[Share]) -> None:
        """Do the work of every share. All of it is done on return, also when some of it raises."""
        if len(shares) == 1:
            work(shares[0])
            return
        executor = self._started()
        futures = [submit(executor, work, share) for share in shares[1:]]
        try:
            work(shares[0])
        finally:
            wait(futures)
        for future in futures:
            future.result()

    def each(self, call: Callable[[int], Result], count: int) -> list[Result]:
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


def even_shares(sizes: Sequence[float], count: int) -> list[list[int]]:
    """Return the indices of sizes in `count` shares of about the same total, the largest sizes placed first.

    >>> even_shares([1, 5, 2, 2], 2)
    [[1], [2, 3, 0]]
    """
    shares: list[list[int]] = [[] for _ in range(count)]
    totals = [0.0] * count
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        smallest = totals.index(min(totals))
        shares[smallest].append(index)
        totals[smallest] += sizes[index]
    return shares


@contextmanager
def started(executor: Executor | None, threads: int) -> Iterator[Executor]:
    """Give the executor, or where there is none a pool of so many threads for the time being."""
    if executor is not None:
        yield executor
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="arrow-digest-file")
    try:
        yield pool
    except BaseException:
        # An interrupt does not wait until a large file is done.
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def run_each(
    work: Callable[[Job], Result], jobs: Iterable[Job], executor: Executor, name: Callable[[Job], str]
) -> Iterator[tuple[Job, Result | WorkerError]]:
    """Yield each job with its result, in order and exactly once, whatever becomes of the workers.

    Args:
        work: Done in a worker. What it raises is taken for the worker's end.
        jobs: What it is given.
        executor: Where it is done.
        name: Names a job in an error.
    """
    waiting: deque[tuple[Job, Future[Any] | WorkerError]] = deque()
    try:
        for new in jobs:
            waiting.append((new, _submitted(executor, work, new, name)))
            if len(waiting) >= _WINDOW:
                job, future = waiting.popleft()
                yield job, _finished(job, future, name)
        while waiting:
            job, future = waiting.popleft()
            yield job, _finished(job, future, name)
    finally:
        for _, left in waiting:
            if not isinstance(left, WorkerError):
                left.cancel()


def _submitted(
    executor: Executor, work: Callable[[Job], Result], job: Job, name: Callable[[Job], str]
) -> Future[Result] | WorkerError:
    try:
        return executor.submit(work, job)
    except Exception as error:  # a pool that lost a worker takes no more, and every kind of pool says it in its own way
        return _lost(name(job), error)


def _finished(job: Job, future: Future[Any] | WorkerError, name: Callable[[Job], str]) -> Any:
    if isinstance(future, WorkerError):
        return future
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        return _lost(name(job), error)


def _lost(source: str, error: BaseException) -> WorkerError:
    lost = WorkerError(source, f"not done, its worker failed: {type(error).__name__}: {_first_line(error)}")
    lost.__cause__ = error
    return lost


def _first_line(error: Any) -> str:
    return next(iter(str(error).splitlines()), "")[:300]
