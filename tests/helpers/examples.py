"""How many examples a property test draws: all of them, or a quarter where a quick answer is wanted."""

from __future__ import annotations

import os

__all__ = ["examples"]

_SHARE = 4 if os.environ.get("KILN_TEST_EXAMPLES") == "few" else 1


def examples(count: int) -> int:
    """Return how many examples to draw in place of `count`. `make test` asks for few, `make test-all` for all."""
    return count // _SHARE
