"""What a type checker says of calls of the public functions: nobody runs this, and `make lint` checks it.

mypy reports a comment that ignores nothing, so each call with such a comment has to be refused.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from arrow_digest import (
    ArrayDigest,
    Difference,
    FileHash,
    Manifest,
    Multihash,
    RecordDigest,
    Verification,
    diff,
    explain,
    hash_file,
    logical_hash,
    physical_hash,
    verify,
)
from arrow_digest.typing import ArrayExporter, ArrowSchemaExportable, RecordExporter, RecordSource


class Stream:
    """What polars, pandas and DuckDB have."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self


def accepted(
    source: RecordSource, records: RecordExporter, arrays: ArrayExporter, schema: ArrowSchemaExportable
) -> None:
    """Paths, URIs and exporters."""
    hashes: list[Multihash] = [logical_hash(given) for given in (source, records, "a", Path("a"), Stream())]
    differences: list[Difference] = [diff("a", Path("b")), diff(Stream(), records)]
    verifications: list[Verification] = [verify(Stream(), logical=hashes[0]), verify("a", physical=b"")]
    files: list[FileHash] = [hash_file("a"), hash_file(Path("a"))]
    RecordDigest(schema).update(Stream())
    ArrayDigest(schema).update(arrays)
    explain(Stream())
    Manifest.create("folder", exclude=[Path("a")])
    physical_hash(os.fsdecode(files[0].path))
    physical_hash(io.BytesIO())
    with Path("a").open("rb") as file:
        physical_hash(file)
    both: bool = differences[0].equal and verifications[0].passed
    print(both)


def refused() -> None:
    """What has no records, and options without their names."""
    logical_hash(3)  # type: ignore[arg-type]
    logical_hash({"a": [1]})  # type: ignore[arg-type]
    logical_hash([Stream()])  # type: ignore[arg-type]
    logical_hash("a", "blake3")  # type: ignore[call-arg]
    logical_hash("a", int96_unit="s")  # type: ignore[arg-type]
    diff("a", None)  # type: ignore[arg-type]
    verify(3.5, logical=b"")  # type: ignore[arg-type]
    explain([])  # type: ignore[arg-type]
    hash_file(Stream())  # type: ignore[arg-type]
    RecordDigest("a")  # type: ignore[arg-type]
    RecordDigest(Stream())  # type: ignore[arg-type]
    physical_hash(io.StringIO())  # type: ignore[arg-type]
    ArrayDigest("int32")  # type: ignore[arg-type]
