"""Kiln: canonical tensor directories, frozen values and frames, and their Arrow columns."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from kiln_arrow.canonical.arrays import Opaque, Tensor
from kiln_arrow.canonical.directory import Directory, decode, encode, encode_into, encoded_size, validate
from kiln_arrow.canonical.dtypes import DTYPES, DType
from kiln_arrow.canonical.frame import frame, unframe
from kiln_arrow.canonical.frozen import freeze, thaw
from kiln_arrow.canonical.typetext import Dict, Leaf, List, Option, Struct, Type, format_type, parse_type, schema_hash
from kiln_arrow.columns.extension_types import (
    FrameArray,
    FrameScalar,
    FrameType,
    TensorsArray,
    TensorsScalar,
    TensorsType,
)
from kiln_arrow.columns.from_structs import from_structs
from kiln_arrow.columns.from_tensors import array, from_numpy
from kiln_arrow.columns.plain_storage import from_storage, to_storage
from kiln_arrow.columns.registration import register, register_on_import, unregister
from kiln_arrow.columns.to_numpy import iter_tensors, to_numpy, validate_column
from kiln_arrow.columns.to_structs import to_structs
from kiln_arrow.errors import COLUMN_RULES, RULES, KilnDtypeError, KilnEOFError, KilnError, KilnSchemaError
from kiln_arrow.files.parquet import write_table

__all__ = [
    "COLUMN_RULES",
    "DTYPES",
    "RULES",
    "DType",
    "Dict",
    "Directory",
    "FrameArray",
    "FrameScalar",
    "FrameType",
    "KilnDtypeError",
    "KilnEOFError",
    "KilnError",
    "KilnSchemaError",
    "Leaf",
    "List",
    "Opaque",
    "Option",
    "Struct",
    "Tensor",
    "TensorsArray",
    "TensorsScalar",
    "TensorsType",
    "Type",
    "array",
    "decode",
    "encode",
    "encode_into",
    "encoded_size",
    "format_type",
    "frame",
    "freeze",
    "from_numpy",
    "from_storage",
    "from_structs",
    "iter_tensors",
    "parse_type",
    "register",
    "schema_hash",
    "thaw",
    "to_numpy",
    "to_storage",
    "to_structs",
    "unframe",
    "unregister",
    "validate",
    "validate_column",
    "write_table",
]

try:
    __version__: str = version("kiln-arrow")
except PackageNotFoundError:  # run from a source tree
    __version__ = "unknown"

# Where a public name is defined may change, so that messages, pickles and pages name the package alone.
for _name in __all__:
    if getattr(globals()[_name], "__module__", "").startswith("kiln_arrow."):
        globals()[_name].__module__ = "kiln_arrow"

register_on_import()
