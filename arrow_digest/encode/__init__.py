"""One leaf column's values as arrow0's byte stream."""

from __future__ import annotations

from arrow_digest.encode.active import Kernels, kernels, library
from arrow_digest.encode.portable import encode, row_validity

__all__ = ["Kernels", "encode", "kernels", "library", "row_validity"]
