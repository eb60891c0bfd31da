"""What goes wrong while a file is read, as this project's error: what was read, what is wrong, by which rule."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from _arrow_io.errors import ArrowDigestError, UnreadableError

__all__ = ["first_line", "reading", "unreadable"]

_RULES = {
    errno.ENOENT: ("missing", "no such file"),
    errno.ENOTDIR: ("missing", "no such file"),
    errno.ELOOP: ("missing", "a link that leads nowhere"),
    errno.EISDIR: ("directory", "is a directory"),
    errno.EACCES: ("permission", "permission denied"),
    errno.EPERM: ("permission", "permission denied"),
}

_UNSUPPORTED = "{what} that pyarrow does not read: {text}"
# What pyarrow says of files in which nothing need be wrong: it has no types for that.
_SOUND = (
    (("decrypt", "Decrypt", "encrypted", "Encrypted"), "encrypted", "encrypted {what}, and no key: {text}"),
    (("MetadataVersion", "metadata version"), "version", "{what} of an unsupported version: {text}"),
    (
        (
            "Support for codec",
            "compression is supported by the Parquet format in general",
            "Unsupported compression codec",
            "Unsupported codec",
            "compression method",
        ),
        "codec",
        "{what} with a compression that pyarrow does not read: {text}",
    ),
    (("got tensor", "got sparse tensor"), "unsupported", "{what} of tensors, no records: {text}"),
    (("Unknown encoding type", "Not yet implemented"), "unsupported", _UNSUPPORTED),
)
# What is not implemented because no version of a format has it.
_IN_NO_FORMAT = ("Integers with",)


@contextmanager
def reading(name: str, what: str) -> Iterator[None]:
    """Turn what a reader raises on bad data into this package's error.

    Args:
        name: The source, for the error.
        what: What it was read as.

    Raises:
        UnreadableError: Reading failed.
    """
    try:
        yield
    except (ArrowDigestError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError, OverflowError, TypeError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # EINVAL: a seek to a broken offset
            raise unreadable(name, error) from error
        text = first_line(error)
        if isinstance(error, UnicodeDecodeError):
            text = f"expected names and descriptions in UTF-8, found {bytes(error.object)[:80]!r}"
        rule, message = _judged(error, text)
        raise UnreadableError(name, rule, message.format(what=what, text=text)) from error


def _judged(error: Exception, text: str) -> tuple[str, str]:
    """Return the rule that an error of pyarrow's falls under, and what is said of it."""
    for words, rule, message in _SOUND:
        if any(word in text for word in words):
            return rule, message
    if isinstance(error, pa.ArrowNotImplementedError) and not any(word in text for word in _IN_NO_FORMAT):
        return "unsupported", _UNSUPPORTED
    return "corrupt", "broken {what}: {text}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, which may be long and hold anything."""
    lines = str(error).splitlines()
    line = lines[0] if lines else type(error).__name__
    return "".join(c if c.isprintable() else "\ufffd" for c in line)[:300]


def unreadable(name: str, error: OSError) -> UnreadableError:
    """Return this package's error for what the operating system, or a file system of fsspec's, says of a file."""
    rule, message = _RULES.get(error.errno or 0, ("io", error.strerror or first_line(error)))
    return UnreadableError(name, rule, message)
