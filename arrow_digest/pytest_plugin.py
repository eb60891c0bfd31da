"""A pytest fixture that compares records and shows where they differ."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arrow_digest.typing import RecordSource

__all__ = ["assert_same_records"]


@pytest.fixture(scope="session")
def assert_same_records() -> Callable[[RecordSource, RecordSource], None]:
    """Give a function that fails the test unless two sides hold the same records, however they are written.

    Each side is a path, a URI, or anything that exports Arrow records. The failure shows what `arrow_digest.diff` says.
    """

    def check(a: RecordSource, b: RecordSource) -> None:
        __tracebackhide__ = True
        # Not before a test needs it: pytest imports this module at every start, in every project.
        from arrow_digest.comparing.diff import diff

        found = diff(a, b)
        if not found.equal:
            pytest.fail(f"the records differ\n{found}")

    return check
