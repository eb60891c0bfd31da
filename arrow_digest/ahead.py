"""Reading ahead: the next items of an iterator are made while the last one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_T = TypeVar("_T")

__all__ = ["read_ahead"]

_END: Any = object()


def read_ahead(items: Iterator[_T], depth: int) -> Generator[_T, None, None]:
    """Yield the items of an iterator in order, of which a thread asks for up to `depth` before they are wanted.

    An exception comes where the iterator raises it. When the generator is closed, the thread ends after the item at
    hand.

    >>> list(read_ahead(iter("abc"), 2))
    ['a', 'b', 'c']
    """
    with ThreadPoolExecutor(1, thread_name_prefix="arrow-digest-ahead") as pool:
        coming = deque(pool.submit(next, items, _END) for _ in range(depth))
        try:
            while (item := coming.popleft().result()) is not _END:
                coming.append(pool.submit(next, items, _END))
                yield item
                del item  # before the wait for the next one
        finally:
            for future in coming:
                future.cancel()
