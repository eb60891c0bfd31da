"""Work handed to any `concurrent.futures.Executor`: threads, processes, or a cluster's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from arrow_digest.errors import WorkerError

__all__ = ["run_each", "started"]

Job = TypeVar("Job")
Result = TypeVar("Result")

# So many jobs are handed out before their results are asked for: enough for a cluster, few enough to keep in memory.
_WINDOW = 1024


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
