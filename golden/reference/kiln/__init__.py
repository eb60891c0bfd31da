"""Kiln read a second time, byte after byte, from the specification alone.

This is the slow second opinion that the package is tested against: it imports neither package and no NumPy, and makes
the specification's checks in their order, so that of several faults it finds the one that comes first. It only reads.
"""

from .directory import Entry, check_directory
from .refusal import RefusedError
from .typetext import parse_type, schema_hash
from .values import Float, thaw, unframe

__all__ = [
    "Entry",
    "Float",
    "RefusedError",
    "check_directory",
    "parse_type",
    "schema_hash",
    "thaw",
    "unframe",
]
