"""Folders that are given by a URI: which of them can be listed, and what is in them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from _arrow_io.remote import is_uri
from arrow_digest.errors import UnreadableError

__all__ = ["can_be_listed", "local_root", "remote_names"]

# A web server has no way to list a folder: a page with links is all that some of them give.
_WEB = ("http://", "https://")
_FILE = "file://"


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
