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
        if "decrypt" in text.lower() or "encrypted" in text.lower():
            raise UnreadableError(name, "encrypted", f"encrypted {what}, and no key: {text}") from error
        if "MetadataVersion" in text:
            raise UnreadableError(name, "version", f"{what} of an unsupported version: {text}") from error
        raise UnreadableError(name, "corrupt", f"broken {what}: {text}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, which may be long and hold anything."""
    lines = str(error).splitlines()
    line = lines[0] if lines else type(error).__name__
    return "".join(c if c.isprintable() else "\ufffd" for c in line)[:300]


def unreadable(name: str, error: OSError) -> UnreadableError:
    """Return this package's error for what the operating system, or a file system of fsspec's, says of a file."""
    rule, message = _RULES.get(error.errno or 0, ("io", error.strerror or first_line(error)))
    return UnreadableError(name, rule, message)
