"""What digests in progress have in common: one call at a time feeds them, and no hash of a part comes out.

If threads took turns, the hash would depend on which of them came first. So the call that came first goes on, and one
that would get in its way is refused before it takes anything. Calls that only read do not get in each other's way.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from arrow_digest.errors import DigestStateError

__all__ = ["ExclusiveDigest"]

# Held for a moment while a call begins or ends, and never while values are fed. It is held over a fork too, so that the
# child process gets it in a state that is known.
_turn = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_turn.acquire, after_in_parent=_turn.release, after_in_child=_turn.release)


class ExclusiveDigest:
    """The base of digests in progress.

    Attributes:
        _spoiled: True from when a part of some data was fed until all of it was.
    """

    def __init__(self) -> None:
        self._spoiled = False
        self._process = os.getpid()
        self._feeding_call: object | None = None
        self._reading_calls = 0

    @contextmanager
    def _feeding(self) -> Iterator[None]:
        """Refuse all other calls while values are fed."""
        call = object()
        try:
            with _turn:
                self._require_ready(alone=True)
                self._feeding_call = call
            yield
        finally:
            if self._feeding_call is call:  # not where the call was refused; but where it was interrupted at any point
                self._feeding_call = None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Refuse calls that feed while something is read."""
        with _turn:
            self._require_ready(alone=False)
            self._reading_calls += 1
        try:
            yield
        finally:
            with _turn:
                self._reading_calls -= 1

    def _require_ready(self, *, alone: bool) -> None:
        if self._process != os.getpid():
            # The threads of the calls at work did not come along in a fork. What they had begun stays half done.
            self._process, self._feeding_call, self._reading_calls = os.getpid(), None, 0
        if self._feeding_call is not None or (alone and self._reading_calls > 0):
            message = (
                "another call is at work on this digest, which takes one at a time; copy() gives one for each thread"
            )
            raise DigestStateError("concurrent", message)
        if self._spoiled:
            message = "an earlier update failed half-way, so this digest holds a part of the data"
            raise DigestStateError("half_way", message)

    def __reduce__(self) -> NoReturn:
        """Refuse: the state of a hasher cannot go to another process."""
        raise TypeError("a digest in progress cannot be pickled or deep-copied; copy() gives an independent one")
