"""The Open Data Fabric logical hash (arrow0) of Arrow and Parquet data.

What is public is imported when it is first asked for: pytest imports this package for its plugin at every start, also
where nobody hashes anything.
"""

from __future__ import annotations

# It asks to be called when Python ends, which is refused once the main thread has ended; another thread may hash then.
import concurrent.futures.thread  # noqa: F401
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if sys.byteorder != "little":
    # arrow0 hashes little-endian bytes, and every encoder takes them from memory as they lie there.
    from arrow_digest.errors import PlatformError

    raise PlatformError("byte_order", "arrow_digest runs on little-endian machines, and this one is big-endian")

if TYPE_CHECKING:
    __version__: str
    from arrow_digest.comparing.column_changes import ColumnChange
    from arrow_digest.comparing.diff import NO_ROW, ColumnDifference, Difference, diff
    from arrow_digest.comparing.explain import ColumnExplanation, Explanation, explain
    from arrow_digest.comparing.verify import Status, Verification, verify
    from arrow_digest.errors import (
        ArrowDigestError,
        DigestStateError,
        ExpectationError,
        InvalidArrayError,
        ManifestError,
        MultihashError,
        PlatformError,
        SchemaMismatchError,
        UnknownFunctionError,
        UnknownUnitError,
        UnreadableError,
        UnsupportedTypeError,
        WorkerError,
    )
    from arrow_digest.files.facts import FileFacts, FileHash
    from arrow_digest.files.hashing import FileFailure, hash_file, hash_files, physical_hash
    from arrow_digest.manifests.formats import ManifestEntry
    from arrow_digest.manifests.manifest import Manifest
    from arrow_digest.multihash import Multihash
    from arrow_digest.native.choice import Kernels, kernels
    from arrow_digest.rules.records import ArrayDigest, RecordDigest, logical_hash
    from arrow_digest.rules.rule import ColumnDigest

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
    "PlatformError",
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

_MODULES = {
    "NO_ROW": "comparing.diff",
    "ArrayDigest": "rules.records",
    "ArrowDigestError": "errors",
    "ColumnChange": "comparing.column_changes",
    "ColumnDifference": "comparing.diff",
    "ColumnDigest": "rules.rule",
    "ColumnExplanation": "comparing.explain",
    "Difference": "comparing.diff",
    "DigestStateError": "errors",
    "ExpectationError": "errors",
    "Explanation": "comparing.explain",
    "FileFacts": "files.facts",
    "FileFailure": "files.hashing",
    "FileHash": "files.facts",
    "InvalidArrayError": "errors",
    "Kernels": "native.choice",
    "Manifest": "manifests.manifest",
    "ManifestEntry": "manifests.formats",
    "ManifestError": "errors",
    "Multihash": "multihash",
    "MultihashError": "errors",
    "PlatformError": "errors",
    "RecordDigest": "rules.records",
    "SchemaMismatchError": "errors",
    "Status": "comparing.verify",
    "UnknownFunctionError": "errors",
    "UnknownUnitError": "errors",
    "UnreadableError": "errors",
    "UnsupportedTypeError": "errors",
    "Verification": "comparing.verify",
    "WorkerError": "errors",
    "diff": "comparing.diff",
    "explain": "comparing.explain",
    "hash_file": "files.hashing",
    "hash_files": "files.hashing",
    "kernels": "native.choice",
    "logical_hash": "rules.records",
    "physical_hash": "files.hashing",
    "verify": "comparing.verify",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("kiln-arrow")
    elif name in _MODULES:
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
