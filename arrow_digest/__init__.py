"""The Open Data Fabric logical hash (arrow0) of Arrow and Parquet data."""

from __future__ import annotations

from arrow_digest.active import Kernels, kernels
from arrow_digest.arrow0 import ArrayDigest, ColumnDigest, RecordDigest, logical_hash
from arrow_digest.diff import NO_ROW, ColumnDifference, Difference, diff
from arrow_digest.differences import ColumnChange
from arrow_digest.errors import (
    ArrowDigestError,
    DigestStateError,
    ExpectationError,
    InvalidArrayError,
    ManifestError,
    MultihashError,
    SchemaMismatchError,
    UnknownFunctionError,
    UnknownUnitError,
    UnreadableError,
    UnsupportedTypeError,
    WorkerError,
)
from arrow_digest.explain import ColumnExplanation, Explanation, explain
from arrow_digest.files import FileFailure, FileHash, hash_file, hash_files, physical_hash
from arrow_digest.manifest import Manifest, ManifestEntry
from arrow_digest.multihash import Multihash
from arrow_digest.verify import FileFacts, Status, Verification, verify

__all__ = [
    "NO_ROW",
    "ArrayDigest",
    "ArrowDigestError",
    "ColumnChange",
    "ColumnDifference",
    "ColumnDigest",
    "ColumnExplanation",
    "Difference",
    "DigestStateError",
    "ExpectationError",
    "Explanation",
    "FileFacts",
    "FileFailure",
    "FileHash",
    "InvalidArrayError",
    "Kernels",
    "Manifest",
    "ManifestEntry",
    "ManifestError",
    "Multihash",
    "MultihashError",
    "RecordDigest",
    "SchemaMismatchError",
    "Status",
    "UnknownFunctionError",
    "UnknownUnitError",
    "UnreadableError",
    "UnsupportedTypeError",
    "Verification",
    "WorkerError",
    "diff",
    "explain",
    "hash_file",
    "hash_files",
    "kernels",
    "logical_hash",
    "physical_hash",
    "verify",
]
