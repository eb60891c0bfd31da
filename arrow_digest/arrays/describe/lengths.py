"""The lengths that arrays claim, checked before any of pyarrow's accessors trusts them.

pyarrow gives the parts of a nested array only as slices or as objects with a length: it aborts the process, or raises
whatever comes, where a length is negative or a child is shorter than its offset.
"""

from __future__ import annotations

import re

import pyarrow as pa
from pyarrow import lib

from arrow_digest.arrays.types import storage_type, unwrap
from arrow_digest.errors import InvalidArrayError

__all__ = ["length_of", "require_lengths", "require_offset"]

# pyarrow says in words alone what it refuses. Each word is taken for a rule of this project, and the first that is
# found counts, because a message about a buffer may also speak of an offset or a length.
_RULES = (
    (re.compile(r"buffer", re.IGNORECASE), "buffer"),
    (re.compile(r"run.?end", re.IGNORECASE), "run_ends"),
    (re.compile(r"null.count", re.IGNORECASE), "nulls"),
    (re.compile(r"offset", re.IGNORECASE), "offsets"),
    (re.compile(r"length", re.IGNORECASE), "child_length"),
)
_STRUCT_CHILD = re.compile(r"Struct child array #(\d+)")


def length_of(array: pa.Array, path: tuple[str, ...]) -> int:
    """Return how many slots an array has.

    Raises:
        InvalidArrayError: Fewer than none, as files and exporters may claim; then Python's `len` fails in itself.
    """
    try:
        return len(array)
    except (SystemError, ValueError) as error:
        raise InvalidArrayError(path, "length", "expected a length of 0 or more, found a negative one") from error


def require_offset(array: pa.Array, path: tuple[str, ...]) -> None:
    """Refuse an array that begins before its own buffers."""
    if array.offset < 0:
        raise InvalidArrayError(path, "length", f"expected an offset of 0 or more, found {array.offset}")


def require_lengths(array: pa.Array, path: tuple[str, ...]) -> None:
    """Refuse a nested array whose parts are shorter than it needs, or of negative length.

    Args:
        array: Any `pyarrow.Array`; one without other arrays inside has nothing to check here.
        path: Where it stands, for errors.

    Raises:
        InvalidArrayError: A part is too short. The path goes on to the struct child at fault.
    """
    data_type = storage_type(array.type)
    if data_type.num_fields == 0 and data_type.id != lib.Type_DICTIONARY:
        return
    try:
        array.validate()
    except pa.ArrowInvalid as error:
        message = str(error)
        for index in _STRUCT_CHILD.findall(message):
            field = unwrap(data_type).field(int(index))
            path, data_type = (*path, field.name), field.type
        rule = next((rule for pattern, rule in _RULES if pattern.search(message)), "buffer")
        raise InvalidArrayError(path, rule, message.rpartition("Invalid: ")[2]) from error
