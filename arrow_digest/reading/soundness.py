"""What an error of reading says of a file: that it is broken, that it is something else, or nothing."""

from __future__ import annotations

import struct

from arrow_digest.errors import ArrowDigestError, InvalidArrayError, UnreadableError, UnsupportedTypeError

__all__ = ["MESSAGE_START_BYTES", "begins_with_schema", "is_about_the_content", "is_sound_or_foreign"]

# The file was read, and what was read is wrong.
_BROKEN = frozenset({"truncated", "trailing", "corrupt", "row_count"})
# The file was read, and is no Arrow data.
_FOREIGN = frozenset({"format", "lfs_pointer"})

# How Arrow data begin, so that a broken file of it is not taken for something else.
_MAGIC = (b"PAR1", b"PARE", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")

MESSAGE_START_BYTES = 256
"""How much of a file's start tells whether it begins as Arrow data do."""

_SCHEMA_HEADER = 1


def is_about_the_content(error: ArrowDigestError) -> bool:
    """Return whether an error says that a file was read and holds no sound records.

    False where reading failed, and where the file is sound and cannot be read here: its records are not known then.
    """
    if isinstance(error, UnreadableError):
        return error.rule in _BROKEN | _FOREIGN
    return isinstance(error, InvalidArrayError)


def is_sound_or_foreign(error: ArrowDigestError, start: bytes) -> bool:
    """Return whether an error says nothing against a file as such, so that it can be recorded by its bytes.

    Args:
        error: What came of reading its records.
        start: Its first `MESSAGE_START_BYTES`.
    """
    if isinstance(error, UnsupportedTypeError):
        return True
    if not isinstance(error, UnreadableError):
        return False
    if error.is_sound:
        return True
    # What begins in no known way was tried as an IPC stream of the old form, and failed as one.
    return error.rule in _BROKEN | _FOREIGN and not start.startswith(_MAGIC) and not begins_with_schema(start)


def begins_with_schema(start: bytes) -> bool:
    """Return whether a file begins with the schema message of an IPC stream of the old form.

    That form has no mark: a length stands first, and then a table of Flatbuffers, whose second field says of what kind
    the message is.
    """
    message = start[4:]
    try:
        (root,) = struct.unpack_from("<I", message)
        (back,) = struct.unpack_from("<i", message, root)
        fields, _, _, kind = struct.unpack_from("<4H", message, root - back)
        return bool(fields >= 8 and kind > 0 and message[root + kind] == _SCHEMA_HEADER)
    except (struct.error, IndexError):
        return False
