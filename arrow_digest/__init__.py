"""The Open Data Fabric logical hash (arrow0) of Arrow and Parquet data.

What is public is imported when it is first asked for: pytest imports this package for its plugin at every start, also
where nobody hashes anything.
"""

from __future__ import annotations

# It asks to be called when Python ends, which is refused once the main thread has ended; another thread may hash then.
import concurrent.futures.thread  # noqa: F401
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if sys.byteorder != "little":
    # arrow0 hashes little-endian bytes, and every encoder takes them from memory as they lie there.
    from arrow_digest.errors import PlatformError

    raise PlatformError("byte_order", "arrow_digest runs on little-endian machines, and this one is big-endian")

if TYPE_CHECKING:
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
        PlatformError,
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
    "NO_ROW": "diff",
    "ArrayDigest": "arrow0",
    "ArrowDigestError": "errors",
    "ColumnChange": "differences",
    "ColumnDifference": "diff",
    "ColumnDigest": "arrow0",
    "ColumnExplanation": "explain",
    "Difference": "diff",
    "DigestStateError": "errors",
    "ExpectationError": "errors",
    "Explanation": "explain",
    "FileFacts": "verify",
    "FileFailure": "files",
    "FileHash": "files",
    "InvalidArrayError": "errors",
    "Kernels": "active",
    "Manifest": "manifest",
    "ManifestEntry": "manifest",
    "ManifestError": "errors",
    "Multihash": "multihash",
    "MultihashError": "errors",
    "PlatformError": "errors",
    "RecordDigest": "arrow0",
    "SchemaMismatchError": "errors",
    "Status": "verify",
    "UnknownFunctionError": "errors",
    "UnknownUnitError": "errors",
    "UnreadableError": "errors",
    "UnsupportedTypeError": "errors",
    "Verification": "verify",
    "WorkerError": "errors",
    "diff": "diff",
    "explain": "explain",
    "hash_file": "files",
    "hash_files": "files",
    "kernels": "active",
    "logical_hash": "arrow0",
    "physical_hash": "files",
    "verify": "verify",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package: functions are not hidden by the modules of their names, which Python would set in their place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
