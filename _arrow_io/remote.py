"""Files that are no local paths: anything that fsspec opens by its URI, read a range at a time."""

from __future__ import annotations

import errno
import importlib
import inspect
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from _arrow_io.errors import UnreadableError

__all__ = ["RemoteFile", "child_uri", "is_uri", "open_uri", "path_names", "path_text"]

# A protocol and `://`, or a chain of protocols that ends so, such as `simplecache::http://`. One letter is a drive.
_URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")
_WEB = re.compile(r"https?://", re.IGNORECASE)

# What file systems say of a file that changes when the file does; each has some of them.
_STATE_KEYS = (
    *("size", "ETag", "etag", "mtime", "Last-Modified", "LastModified", "last_modified"),
    *("updated", "created", "md5Hash", "Content-MD5"),
)

# Stands for `::` in a path while fsspec, which takes that for a chain, looks at it.
_COLONS = "\ufdd0\ufdd1"


def is_uri(path: str) -> bool:
    """Return whether a path is a URI, such as `s3://bucket/key`, and no path of a local file.

    >>> is_uri("memory://orders.parquet"), is_uri("data/orders.parquet"), is_uri("run::1.parquet")
    (True, False, False)
    """
    return _URI.match(path) is not None


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text. A path object means a local file, so its text is made to be no URI.

    >>> from pathlib import PurePosixPath
    >>> path_text("memory://orders.parquet"), path_text(PurePosixPath("orders.parquet"))
    ('memory://orders.parquet', 'orders.parquet')
    """
    text = os.fsdecode(path)
    return text if isinstance(path, str) or not is_uri(text) else os.path.join(os.curdir, text)  # noqa: PTH118


def path_names(paths: Iterable[str | os.PathLike[str]], what: str) -> list[str]:
    """Return several paths as texts.

    Raises:
        TypeError: It is one path, whose characters would be taken for paths.
    """
    if isinstance(paths, (str, bytes, bytearray, os.PathLike)):
        raise TypeError(f"{what}: expected several paths, found one {type(paths).__name__}: put it into a list")
    return [path_text(path) for path in paths]


def child_uri(root: str, name: str) -> str:
    """Return the URI of a file in a folder that is given by its URI.

    A web address is made as RFC 3986 says: every character of the name with a meaning of its own there, such as `#`,
    `?`, `%` or `:`, is written in percent. Other file systems of fsspec take names as they are.

    Args:
        root: The folder.
        name: The file's path in it, with `/` between names; a name that is no UTF-8 has surrogates for its bytes.

    >>> child_uri("https://example.org/data", "day=1/50 %.parquet")
    'https://example.org/data/day=1/50%20%25.parquet'
    >>> child_uri("s3://bucket/data/", "day=1/50 %.parquet")
    's3://bucket/data/day=1/50 %.parquet'
    """
    is_web = _WEB.match(root.rpartition("::")[2]) is not None
    return f"{root.rstrip('/')}/{quote(os.fsencode(name), safe='/=') if is_web else name}"


class RemoteFile(io.RawIOBase):
    """A file that fsspec opened. Whatever its file system raises comes out as an `OSError`."""

    def __init__(self, file_system: Any, path: str, file: Any) -> None:
        super().__init__()
        self._file_system = file_system
        self._path = path
        self._file = file

    def state(self) -> object:
        """Return what the file system says of the file now, in a form that can be compared."""
        with _as_os_error():
            self._file_system.invalidate_cache()
            info = self._file_system.info(self._path)
        return tuple((key, str(info[key])) for key in _STATE_KEYS if info.get(key) is not None)

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes."""
        with _as_os_error():
            data: bytes = self._file.read(size)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a place in the file."""
        with _as_os_error():
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        """Return the place in the file."""
        return int(self._file.tell())

    def seekable(self) -> bool:
        """Return whether the server gives ranges of the file."""
        return bool(self._file.seekable())

    def readable(self) -> bool:
        """Return True."""
        return True


@contextmanager
def open_uri(uri: str) -> Iterator[RemoteFile]:
    """Open a file by its URI, and close it afterwards.

    Only the ranges that are read are fetched; nothing is fetched ahead. A web server that gives no ranges gives a file
    that can be read from front to back alone.

    Raises:
        UnreadableError: fsspec, or what it needs for the protocol, is not installed, or nobody knows the protocol.
        OSError: The file system refused.
    """
    if "#" in uri and _WEB.match(uri):
        message = "a # begins what no server is asked for: write %23 for one in a name"
        raise UnreadableError(uri, "protocol", message)
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError as error:
        message = "a URI needs fsspec: pip install 'kiln-arrow[remote]'"
        raise UnreadableError(uri, "protocol", message) from error
    try:
        file_system, path = _file_system(core, uri)
    except (ValueError, ImportError) as error:
        raise UnreadableError(uri, "protocol", f"cannot be opened: {error}") from error
    with _as_os_error():
        # On the web every address is a file; to ask for a folder would fetch it.
        if not _WEB.match(path) and file_system.isdir(path) and not file_system.isfile(path):
            raise IsADirectoryError(errno.EISDIR, uri)
        file = _opened(file_system, path)
    try:
        yield RemoteFile(file_system, path, file)
    finally:
        file.close()


def _file_system(core: Any, uri: str) -> tuple[Any, str]:
    """Return the file system of a URI, and the path in it."""
    head, colons, tail = uri.partition("::")
    if not colons or "://" not in head or _takes_chains(core, head):
        found: tuple[Any, str] = core.url_to_fs(uri)
        return found
    if _WEB.match(uri):
        return _file_system(core, f"{head}%3A%3A{tail}")
    file_system, path = core.url_to_fs(uri.replace("::", _COLONS))
    return file_system, path.replace(_COLONS, "::")


def _takes_chains(core: Any, uri: str) -> bool:
    """Return whether a file system lies in another one, as that of a ZIP archive does."""
    kind = core.get_filesystem_class(core.split_protocol(uri)[0])
    return any("target_protocol" in inspect.signature(base.__init__).parameters for base in kind.__mro__)


def _opened(file_system: Any, path: str) -> Any:
    """Return an open file, to be read from front to back where the server gives no ranges."""
    file = file_system.open(path, "rb", cache_type="none")
    size = getattr(file, "size", None)
    if _WEB.match(path) and size is not None and size > 1 and not _gives_ranges(file, size):
        file.close()
        file = file_system.open(path, "rb", block_size=0)
    return file


def _gives_ranges(file: Any, size: int) -> bool:
    # fsspec believes in ranges unless the server denies them, which few do. Without them, the answer would be the whole
    # file, and fsspec reads no more of it than the head.
    try:
        file.seek(size - 1)
        file.read(1)
        file.seek(0)
    except ValueError:
        return False
    return True


# Few file systems give numbers to their errors.
_KINDS = (
    (FileNotFoundError, errno.ENOENT),
    (NotADirectoryError, errno.ENOTDIR),
    (IsADirectoryError, errno.EISDIR),
    (PermissionError, errno.EACCES),
)
_HTTP_STATUSES = {401: errno.EACCES, 403: errno.EACCES, 404: errno.ENOENT, 410: errno.ENOENT}


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # every file system has its own
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise OSError(_number(error), f"{type(error).__name__}: {error}") from error


def _number(error: BaseException) -> int:
    """Return the operating system's number of an error."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and type(cause).__module__.startswith("aiohttp"):
        # fsspec says so of any failure, though the file may be there.
        return _HTTP_STATUSES.get(getattr(cause, "status", 0), errno.EIO)
    found = next((code for kind, code in _KINDS if isinstance(error, kind)), None)
    return found or _HTTP_STATUSES.get(getattr(error, "status", 0), errno.EIO)
