"""Folders of a manifest: paths that have to stay in one, the files in one, and a file that is written whole.

A folder is local, or is given by a URI. Paths in it are relative to it, with `/` between names.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from _arrow_io.faults import unreadable
from _arrow_io.remote import child_uri, is_uri
from arrow_digest.errors import UnreadableError

__all__ = [
    "absolute",
    "can_be_listed",
    "escapes",
    "files_under",
    "join",
    "local_name",
    "local_root",
    "others_under",
    "parent",
    "recorded_name",
    "relative_path",
    "remote_names",
    "write_atomically",
]

# A web server has no way to list a folder: a page with links is all that some of them give.
_WEB = ("http://", "https://")
_FILE = "file://"


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return an absolute path without `.` and `..`; links are left as they are."""
    return Path(os.path.abspath(os.fsdecode(path)))  # noqa: PTH100 -- Path.absolute leaves the dots


def relative_path(path: Path, folder: Path) -> str:
    """Return a path relative to a folder, with `/` between names."""
    return os.path.relpath(path, folder).replace(os.sep, "/")


def recorded_name(path: str) -> str:
    """Return a path as it is written in JSON: its bytes as UTF-8, whatever the locale takes them for."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def local_name(text: str) -> str:
    """Return a path that was written as UTF-8 as the system here takes it.

    Raises:
        ValueError: It stands for no bytes.
    """
    try:
        return os.fsdecode(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError as error:
        raise ValueError(f"path: expected text, found a lone surrogate at {error.start}") from error


def join(folder: str, name: str) -> str:
    """Return a path under a folder or URI; an absolute path and a URI stay what they are."""
    if is_uri(name):
        return name
    return child_uri(folder, name) if is_uri(folder) else os.path.join(folder, name)  # noqa: PTH118


def parent(path: str) -> str:
    """Return the folder that a path or URI is in."""
    if not is_uri(path):
        return str(absolute(path).parent)
    return path.partition("?")[0].rpartition("/")[0] if path.startswith("http") else path.rpartition("/")[0]


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
            for inner in _walk(path, {os.path.realpath(path)}, follow=follow):
                if isinstance(inner, UnreadableError):
                    raise inner
                found[inner] = None
        else:
            folders.append(path.parent)
            found[path] = None
    base = Path(os.path.commonpath(folders)) if folders else absolute(os.curdir)
    files = [path for path in found if path not in exclude]
    for path in files:
        if not path.is_dir():  # a link that leads out stands for itself
            _require_file(path)
    return files, base


def others_under(folder: Path, recorded: set[str], *, follow: bool) -> Iterator[str | UnreadableError]:
    """Yield the relative paths of what is in a folder and not recorded, sorted, and what hinders a look into it.

    Args:
        folder: The folder.
        recorded: Normal relative paths that are known.
        follow: True to follow links to folders that lead out of it.
    """
    if not folder.is_dir():
        yield unreadable(str(folder), NotADirectoryError(errno.ENOENT, "no such folder"))
        return
    names = []
    for found in _walk(folder, {os.path.realpath(folder)}, follow=follow):
        if isinstance(found, UnreadableError):
            yield found
        else:
            names.append(relative_path(found, folder))
    yield from sorted(name for name in names if os.path.normpath(name) not in recorded)


def _walk(folder: Path, seen: set[str], *, follow: bool) -> Iterator[Path | UnreadableError]:
    hindrances: list[UnreadableError] = []

    def note(error: OSError) -> None:
        hindrances.append(unreadable(str(error.filename or folder), error))

    for where, folders, names in os.walk(folder, onerror=note):
        folders.sort()
        for name in folders:
            path = Path(where) / name
            if path.is_symlink():
                yield from _link(path, folder, seen, follow=follow)
        yield from (Path(where) / name for name in sorted(names))
    yield from hindrances


def _link(path: Path, folder: Path, seen: set[str], *, follow: bool) -> Iterator[Path | UnreadableError]:
    """Yield what a link to a folder adds: files behind it in another folder, or itself."""
    target = os.path.realpath(path)
    if not escapes(relative_path(path, folder), str(folder)) or target in seen:
        return
    if follow:
        seen.add(target)
        yield from _walk(path, seen, follow=follow)
    else:
        yield path


def _require_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise unreadable(str(path), error) from error
    if not stat.S_ISREG(mode):
        raise UnreadableError(str(path), "io", "neither a file nor a folder")


def local_root(root: str) -> str:
    """Return a folder as a local path if it is one by its URI, else as it is."""
    path = root.removeprefix(_FILE)
    return path if path.startswith("/") and "::" not in root else root


def can_be_listed(root: str) -> bool:
    """Return whether the files in a folder can be known."""
    return not is_uri(root) or not root.rpartition("::")[2].lower().startswith(_WEB)


def remote_names(root: str) -> Iterator[str]:
    """Yield the paths of all files in a folder that is given by its URI, relative to it, sorted.

    Raises:
        UnreadableError: It cannot be listed.
    """
    try:
        core = importlib.import_module("fsspec.core")
        file_system, path = core.url_to_fs(root)
        file_system.invalidate_cache()
        found = file_system.find(path)
    except Exception as error:  # every file system has its own
        raise UnreadableError(root, "io", f"cannot be listed: {type(error).__name__}: {error}") from error
    start = path.strip("/") + "/" if path.strip("/") else ""
    names = sorted(name.strip("/").removeprefix(start) for name in found if not name.endswith("/"))
    yield from (name for name in names if name)


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
