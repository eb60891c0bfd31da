"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "whole_file",
]


@contextmanager
def whole_file(path: str | os.PathLike[str], *, replace: bool) -> Iterator[Path]:
    """Yield the name of an empty file beside `path`, which gets that name in the end, and is removed on any failure.

    Args:
        path: A name in a folder that is there.
        replace: Whether a file that has the name already is replaced.

    Raises:
        FileExistsError: There is one, and it is not to be replaced; it stays as it is.
        OSError: It cannot be written; `filename` is `path`.
    """
    target = Path(os.path.realpath(path)) if replace else Path(path)
    temporary = target.with_name(f".kiln-arrow-{secrets.token_hex(8)}")
    try:
        if not replace and os.path.lexists(target):
            raise FileExistsError
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as error:
        raise _of(error, path) from None
    try:
        yield temporary
        _name(temporary, target, replace=replace)
    except OSError as error:
        raise (_of(error, path) if error.filename in (None, str(temporary)) else error) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def _name(temporary: Path, target: Path, *, replace: bool) -> None:
    if replace:
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
        return
    try:
        os.link(temporary, target)  # which replaces nothing, even what came to be meanwhile
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError from None
        temporary.rename(target)


def _of(error: OSError, path: str | os.PathLike[str]) -> OSError:
    if isinstance(error, FileExistsError):
        return FileExistsError(errno.EEXIST, "it is there already", os.fspath(path))
    return OSError(error.errno, error.strerror or str(error), os.fspath(path))
