"""Records as everything here reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Source"]


@dataclass
class Source:
    """Records: their schema, and batches in order.

    Attributes:
        name: How errors name the source.
        schema: The `pyarrow.Schema`.
        batches: Record batches or tables; reading on may raise `UnreadableError`.
        variants: Names of the groups of a Parquet file that are of its type Variant; pyarrow reads them as structs.
    """

    name: str
    schema: Any
    batches: Iterator[Any]
    variants: tuple[str, ...] = ()
