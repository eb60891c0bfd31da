"""Kiln: canonical tensor directories, frozen values and frames, and their Arrow columns."""

from __future__ import annotations

from kiln_arrow.arrays import Opaque, Tensor
from kiln_arrow.directory import Directory, decode, encode, encode_into, encoded_size, validate
from kiln_arrow.dtypes import DTYPES, DType
from kiln_arrow.errors import RULES, KilnDtypeError, KilnEOFError, KilnError, KilnSchemaError
from kiln_arrow.frame import frame, unframe
from kiln_arrow.frozen import freeze, thaw
from kiln_arrow.typetext import Dict, Leaf, List, Option, Struct, Type, format_type, parse_type, schema_hash

__all__ = [
    "DTYPES",
    "RULES",
    "DType",
    "Dict",
    "Directory",
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
    "Type",
    "decode",
    "encode",
    "encode_into",
    "encoded_size",
    "format_type",
    "frame",
    "freeze",
    "parse_type",
    "schema_hash",
    "thaw",
    "unframe",
    "validate",
]
