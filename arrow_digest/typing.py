"""Types of what the functions of this package take, for annotations of your own.

>>> from arrow_digest import logical_hash
>>> def is_known(source: RecordSource, known: set[str]) -> bool:
...     return str(logical_hash(source)) in known
>>> is_known("orders.parquet", set())
False
"""

from __future__ import annotations

import os
from typing import Protocol, TypeAlias

from _arrow_io.exporters import ArrowArrayExportable, ArrowSchemaExportable, ArrowStreamExportable

__all__ = [
    "ArrayExporter",
    "ArrowArrayExportable",
    "ArrowSchemaExportable",
    "ArrowStreamExportable",
    "BinaryFile",
    "RecordExporter",
    "RecordSource",
]

ArrayExporter: TypeAlias = ArrowArrayExportable | ArrowStreamExportable
"""What `ArrayDigest` takes: an array, or arrays one after another."""

RecordExporter: TypeAlias = ArrowStreamExportable | ArrowArrayExportable
"""What `RecordDigest` takes: tables, record batches, data frames."""

RecordSource: TypeAlias = str | os.PathLike[str] | ArrowStreamExportable | ArrowArrayExportable
"""What holds records: a path, a URI as text, or what exports them."""


class BinaryFile(Protocol):
    """What `physical_hash` reads: a file opened for reading bytes, or anything else that gives bytes piece by piece."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` bytes, and none at the end."""
