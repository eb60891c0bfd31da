"""The border of the package: what is public says that it is in `arrow_digest`, whatever module defines it."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["public"]

_Named = TypeVar("_Named")


def public(thing: _Named) -> _Named:
    """Return a class or function under the name of the package.

    Users see that name in tracebacks and in the documentation, and pickles hold it. If it were the name of the
    defining module, no module could ever move, because results that were stored or are on their way between two
    processes would not load any more.

    >>> from arrow_digest import FileHash
    >>> FileHash.__module__
    'arrow_digest'
    """
    thing.__module__ = "arrow_digest"
    return thing
