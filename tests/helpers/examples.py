"""How many examples a property test draws: all of them, or a quarter where a quick answer is wanted."""

from __future__ import annotations

import os

__all__ = ["FEW", "examples"]

FEW = os.environ.get("KILN_TEST_EXAMPLES") == "few"
"""Whether a quick answer is wanted."""


def examples(count: int) -> int:
    """Return how many examples to draw in place of `count`. `make test` asks for few, `make test-all` for all."""
    return count // 4 if FEW else count
