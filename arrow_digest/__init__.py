"""The Open Data Fabric logical hash (arrow0) of Arrow and Parquet data."""

from __future__ import annotations

from arrow_digest.arrow0 import ArrayDigest, ColumnDigest, RecordDigest, logical_hash
from arrow_digest.encode import Kernels, kernels
from arrow_digest.errors import (
    ArrowDigestError,
    DigestStateError,
    InvalidArrayError,
    MultihashError,
    SchemaMismatchError,
    UnknownFunctionError,
    UnreadableError,
    UnsupportedTypeError,
)
from arrow_digest.files import FileHash, hash_file, physical_hash
from arrow_digest.multihash import Multihash

__all__ = [
    "ArrayDigest",
    "ArrowDigestError",
    "ColumnDigest",
    "DigestStateError",
    "FileHash",
    "InvalidArrayError",
    "Kernels",
    "Multihash",
    "MultihashError",
    "RecordDigest",
    "SchemaMismatchError",
    "UnknownFunctionError",
    "UnreadableError",
    "UnsupportedTypeError",
    "hash_file",
    "kernels",
    "logical_hash",
    "physical_hash",
]
