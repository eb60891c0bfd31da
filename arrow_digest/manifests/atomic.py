"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that its name leads to all of the content, or to what was there before.

    Raises:
        OSError: It cannot be written. Nothing is left behind.
    """
    target = Path(os.path.realpath(path))
    descriptor, name = tempfile.mkstemp(prefix=".arrow-digest-", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _mode(target: Path) -> int:
    """Return the mode that the file has, or that a new one would get."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
