"""The files of a folder, and paths that have to stay in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from _arrow_io.faults import unreadable
from _arrow_io.remote import is_uri
from arrow_digest.errors import UnreadableError

__all__ = ["absolute", "escapes", "files_under", "join", "parent", "path_names", "relative_path"]


def path_names(paths: Iterable[str | os.PathLike[str]], what: str) -> list[str]:
    """Return several paths as texts.

    Raises:
        TypeError: It is one path, whose characters would be taken for paths.
    """
    if isinstance(paths, (str, bytes, bytearray, os.PathLike)):
        raise TypeError(f"{what}: expected several paths, found one {type(paths).__name__}: put it into a list")
    return [os.fsdecode(path) for path in paths]


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return an absolute path without `.` and `..`; links are left as they are."""
    return Path(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 -- Path.absolute leaves the dots


def relative_path(path: Path, folder: Path) -> str:
    """Return a path relative to a folder, with `/` between names."""
    return os.path.relpath(path, folder).replace(os.sep, "/")


def join(folder: str, name: str) -> str:
    """Return a path under a folder or URI; an absolute path and a URI stay what they are."""
    if is_uri(name):
        return name
    return f"{folder.rstrip('/')}/{name}" if is_uri(folder) else os.path.join(folder, name)  # noqa: PTH118


def parent(path: str) -> str:
    """Return the folder that a path or URI is in."""
    return path.rpartition("/")[0] if is_uri(path) else str(absolute(path).parent)


def escapes(name: str, folder: str | None) -> bool:
    """Return whether a path, as it is written or through links, leads out of a folder; of None, only as written."""
    parts = name.replace(os.sep, "/").split("/")
    if os.path.isabs(name) or ".." in parts or "\0" in name or is_uri(name):  # noqa: PTH117
        return True
    if folder is None or is_uri(folder):
        return False
    real = os.path.realpath(folder)
    target = os.path.realpath(join(real, name))
    return os.path.commonpath([real, target]) != real


def files_under(paths: Iterable[Path], *, exclude: set[Path], follow: bool) -> tuple[list[Path], Path]:
    """Return all files that are given or lie in given folders, each once, and the deepest folder they are given in.

    Links to files count as files. Links to folders are followed only if that is asked for; else one that leads out of
    its folder stands for itself, so that nobody takes the files behind it for recorded.

    Raises:
        UnreadableError: A path is missing, a folder cannot be listed, or something is neither a file nor a folder.
    """
    found: dict[Path, None] = {}
    folders = []
    for path in paths:
        if path.is_dir():
            folders.append(path)
            found.update(dict.fromkeys(_walk(path, follow, {os.path.realpath(path)})))
        else:
            folders.append(path.parent)
            _require_file(path)
            found[path] = None
    base = Path(os.path.commonpath(folders)) if folders else absolute(os.curdir)
    return [path for path in found if path not in exclude], base


def _walk(folder: Path, follow: bool, seen: set[str]) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise unreadable(str(error.filename or folder), error) from error

    for where, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        for name in folders:
            path = Path(where) / name
            if path.is_symlink():
                yield from _link(path, folder, follow, seen)
        for name in sorted(names):
            path = Path(where) / name
            if not name.startswith(".arrow-digest-"):  # ours, half-written
                _require_file(path)
                yield path


def _link(path: Path, folder: Path, follow: bool, seen: set[str]) -> Iterator[Path]:
    """Yield what a link to a folder adds: files behind it in another folder, or itself."""
    target = os.path.realpath(path)
    if not escapes(relative_path(path, folder), str(folder)) or target in seen:
        return
    if follow:
        seen.add(target)
        yield from _walk(path, follow, seen)
    else:
        yield path


def _require_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise unreadable(str(path), error) from error
    if not stat.S_ISREG(mode):
        raise UnreadableError(str(path), "io", "neither a file nor a folder")
