"""Work for other threads, and reading ahead: the next items of an iterator are made while the last one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

_T = TypeVar("_T")

__all__ = ["read_ahead", "submit"]

_END: Any = object()


def submit(pool: ThreadPoolExecutor, call: Callable[..., _T], *arguments: Any) -> Future[_T]:
    """Return the future of a call: on a thread of the pool, or done already where Python ends and starts no more.

    >>> with ThreadPoolExecutor(1) as pool:
    ...     submit(pool, max, 1, 2).result()
    2
    """
    try:
        return pool.submit(call, *arguments)
    except RuntimeError as error:
        # Anything else may be raised when the call is in the pool's queue already, and would then be done twice.
        if "after interpreter shutdown" not in str(error):
            raise
    future: Future[_T] = Future()
    try:
        future.set_result(call(*arguments))
    except BaseException as error:
        future.set_exception(error)
    return future


def read_ahead(items: Iterator[_T], depth: int) -> Generator[_T, None, None]:
    """Yield the items of an iterator in order, of which a thread asks for up to `depth` before they are wanted.

    An exception comes where the iterator raises it. When the generator is closed, the thread ends after the item at
    hand.

    >>> list(read_ahead(iter("abc"), 2))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1, thread_name_prefix="arrow-digest-ahead") as pool:
        coming = deque(submit(pool, next, items, _END) for _ in range(depth))
        try:
            while (item := coming.popleft().result()) is not _END:
                coming.append(submit(pool, next, items, _END))
                yield item
                del item  # before the wait for the next one
        finally:
            for future in coming:
                future.cancel()
