"""One leaf column's values as arrow0's byte stream."""

from __future__ import annotations

from arrow_digest.encode.portable import encode, row_validity

__all__ = ["encode", "row_validity"]
