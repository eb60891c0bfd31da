"""How much memory may be made of what takes few bytes itself: runs, shared lists, repeated cells, nested structs.

Most of what is read is no larger than the bytes it is read from. The exceptions grow with a number that a foreign file
may claim at no cost, so that all of them are counted against one limit.
"""

from __future__ import annotations

import os

from kiln_arrow.errors import KilnError

__all__ = [
    "CONTAINER_BYTES",
    "SLOT_BYTES",
    "VARIABLE",
    "Budget",
    "limit",
]

VARIABLE = "KILN_ARROW_MAX_EXPANSION"
"""The environment variable that sets the limit, in bytes."""

_DEFAULT = 512 << 20

SLOT_BYTES = 64
"""About what is kept for each slot of an array while it is walked: its place, its row, where its bytes lie."""

CONTAINER_BYTES = 256
"""About what Python needs for an empty dict, list or `Directory`."""


def limit() -> int:
    """Return the limit in bytes: what the environment says, or 512 MiB.

    Raises:
        ValueError: The variable holds something else than a number of bytes.
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        return _DEFAULT
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"expected a number of bytes in {VARIABLE}, found {text!r:.80}")
    return int(text)


class Budget:
    """What is left of the limit for one column, or for one value."""

    def __init__(self) -> None:
        self._most: int | None = None  # asked for by the first that spends, as most columns and values never do
        self._spent = 0

    def spend(self, size: int, what: str) -> None:
        """Count bytes that nothing stands behind; a size below 0 counts nothing.

        Raises:
            KilnError: More than the limit; rule `expansion`.
        """
        if size <= 0:
            return
        if self._most is None:
            self._most = limit()
        self._spent += size
        if self._spent > self._most:
            sentence = (
                f"expected at most {self._most} bytes of memory beyond what the data take, found {what} that need "
                f"{self._spent}; the environment variable {VARIABLE} sets another limit"
            )
            raise KilnError("expansion", sentence)
