"""Time and memory as the data grow in one direction."""

from __future__ import annotations

import sys
from typing import Any

from measuring import run_child

SIZES: dict[str, list[int]] = {
    "rows": [10**4, 10**5, 10**6, 10**7, 10**8],
    "columns": [1, 3, 10, 30, 100, 300, 1000],
    "chunks": [1, 10, 100, 1000, 10**4, 10**5],
    "lists": list(range(1, 9)),
    "structs": list(range(1, 9)),
}


def growth(rounds: int, most_rows: int) -> dict[str, Any]:
    """Return the points of every curve, each measured in a process of its own."""
    found: dict[str, Any] = {}
    for what, sizes in SIZES.items():
        points = []
        for size in sizes:
            if what == "rows" and size > most_rows:
                continue
            lines, status = run_child(sys.executable, "growing.py", what, str(size), str(rounds))
            if status:
                raise RuntimeError(f"growing.py {what} {size} ended with status {status}")
            points += lines
        found[what] = points
    return found
