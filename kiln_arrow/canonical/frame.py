"""The frame: sixteen bytes before one Frozen value that say which type it has (spec: frame)."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from kiln_arrow.canonical.buffers import readable_bytes
from kiln_arrow.canonical.frozen import Codec, Parts, check_value, codec_of, read_value
from kiln_arrow.canonical.typetext import remembered, schema_hash
from kiln_arrow.errors import KilnError, KilnSchemaError, end_of_buffer, shown

__all__ = [
    "MAGIC",
    "PREFIX",
    "Form",
    "form_of",
    "frame",
    "prefix_of",
    "unframe",
]

MAGIC = b"KLN0"

PREFIX = struct.Struct("<4sBHBQ")
"""magic, profile, flags, reserved, schema hash."""

_AT_PROFILE, _AT_FLAGS, _AT_RESERVED, _AT_HASH = 4, 5, 7, 8


def frame(type_text: str, value: object) -> bytes:
    """Return sixteen bytes that name the type, and the frozen value after them.

    Raises:
        KilnError: As `freeze`.

    >>> import kiln_arrow
    >>> framed = kiln_arrow.frame("struct{id:i64,batch:tensors,}", {"id": 7, "batch": {}})
    >>> framed[:16].hex(" "), len(framed)
    ('4b 4c 4e 30 00 00 00 00 82 0d 2f 55 c7 ad 8a e5', 88)
    """
    parts: Parts = [prefix_of(type_text)]
    codec_of(type_text).write(value, parts)
    return b"".join(parts)


def prefix_of(type_text: str) -> bytes:
    """Return the sixteen bytes before every value of a type."""
    return PREFIX.pack(MAGIC, 0, 0, 0, schema_hash(type_text))


class Form(NamedTuple):
    """What the frames of one type have in common, worked out once for all of them."""

    type_text: str
    schema_hash: int
    codec: Codec

    def read(self, view: memoryview) -> Any:
        """Return the value of a buffer that holds exactly one frame."""
        self._check_prefix(view)
        return read_value(self.codec, view, PREFIX.size)

    def check(self, view: memoryview) -> None:
        """Check what `read` checks, and make no values: they may take much more memory than their bytes."""
        self._check_prefix(view)
        check_value(self.codec, view, PREFIX.size)

    def _check_prefix(self, view: memoryview) -> None:
        if len(view) < PREFIX.size:
            raise end_of_buffer(PREFIX.size, 0, len(view), "frame prefix")
        magic, profile, flags, reserved, found = PREFIX.unpack_from(view)
        if magic != MAGIC:
            raise KilnError("magic", f"expected magic {MAGIC!r}, found {magic!r}", offset=0)
        if profile:
            raise KilnError("profile", f"expected profile 0, found {profile}", offset=_AT_PROFILE)
        if flags:
            raise KilnError("flags", f"expected flags 0, found {flags:#x}", offset=_AT_FLAGS)
        if reserved:
            raise KilnError("reserved", f"expected 0, found {reserved:#04x}", offset=_AT_RESERVED)
        if found != self.schema_hash:
            sentence = f"expected schema hash {self.schema_hash:#018x} of {shown(self.type_text)}, found {found:#018x}"
            raise KilnSchemaError("schema_hash", sentence, offset=_AT_HASH)


@remembered
def form_of(type_text: str) -> Form:
    """Return the form of the frames of a type.

    Raises:
        KilnError: The type text is not canonical.
    """
    return Form(type_text, schema_hash(type_text), codec_of(type_text))


def unframe(type_text: str, buffer: Any) -> Any:
    """Return the value of a buffer that holds exactly one frame of the type, as `thaw` gives it.

    Raises:
        KilnError: The type text, the prefix or the value is refused.
        KilnSchemaError: The frame names another type; no field was read.
        KilnEOFError: The buffer ends too soon; it is an EOFError too.

    >>> import kiln_arrow
    >>> kiln_arrow.unframe("list{str,}", kiln_arrow.frame("list{str,}", ["a", "b"]))
    ['a', 'b']
    """
    form = form_of(type_text)
    return form.read(readable_bytes(buffer))
