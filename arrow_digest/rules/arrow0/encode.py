"""One leaf column's values as arrow0's byte stream."""

from __future__ import annotations

from types import ModuleType

from arrow_digest.native.choice import library
from arrow_digest.rules.arrow0.portable import encode, row_validity

# The encoder in C, where it is installed.
native: ModuleType | None
if library is None:
    native = None
else:
    from arrow_digest.rules.arrow0 import native

__all__ = ["encode", "native", "row_validity"]
