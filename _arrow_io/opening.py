"""Files opened once: how they open, what was read of them, and whether they changed meanwhile."""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from _arrow_io.errors import ArrowDigestError, UnreadableError
from _arrow_io.faults import first_line, reading, unreadable
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit, require_int96_unit
from _arrow_io.leaving import wait_at_exit
from _arrow_io.remote import RemoteFile, is_uri, open_uri, path_text

__all__ = ["InputFile", "arrow_file", "guarding", "open_path"]

_PIPE_PATIENCE = 5.0  # seconds that a named pipe may take to get a writer

# What is read at once where nobody knows how much is left, so that no memory is taken on a claim.
_STEP_BYTES = 1 << 20


def arrow_file(file: Any) -> Any:
    """Return a file as pyarrow reads it."""
    wait_at_exit()
    return pa.PythonFile(file, mode="r")


class InputFile:
    """A binary file as pyarrow reads it, with a record of what was read.

    Attributes:
        name: How errors name it.
        seekable_size: Its length in bytes if it can be read at any place; None for a pipe, for a file that does not
            stand at its start, and for one on a server that gives no ranges, until `make_seekable`.
        tail: The last eight bytes that were read.
        hit_end: True if the last read got less than it asked for.
        bytes_read: How many bytes were read in all.
        state: What changes when the file does, such as length and modification time; None where nothing tells.
        stop_reading: What `guarding` calls at its end: threads that read the file must not outlive it.
        int96_unit: The unit in which its INT96 timestamps are read, if it is Parquet.
    """

    mode = "rb"

    def __init__(
        self,
        file: IO[bytes] | RemoteFile,
        name: str,
        *,
        pushed_back: bytes = b"",
        int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
    ) -> None:
        require_int96_unit(int96_unit)
        self.name = name
        self.int96_unit = int96_unit
        self.tail = b""
        self.hit_end = False
        self.bytes_read = 0
        self.closed = False
        self.stop_reading: list[Callable[[], None]] = []
        self._file = file
        self._origin = file
        self._copy: IO[bytes] | None = None
        self._pushed_back = pushed_back
        self.seekable_size = _seekable_size(file)
        self.state = _state(file)

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, or all for a negative size; fewer only at the end."""
        data = self._take(size if size >= 0 else sys.maxsize)
        self.hit_end = len(data) < size or size < 0
        self.tail = (self.tail + data[-8:])[-8:]
        self.bytes_read += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """Return up to `size` bytes from the start without consuming them. Only before the first read."""
        with reading(self.name, "file"):
            data = self._take(size)
            if self.seekable_size is None:
                self._pushed_back = data
            else:
                self._file.seek(0)
        return data

    def make_seekable(self) -> bool:
        """Return whether the file can be read at any place; only before the first read.

        What a server gives without ranges is copied to a temporary file for that. A pipe is left as it is.

        Raises:
            UnreadableError: It cannot be read, or there is no room for the copy.
        """
        if self.seekable_size is None and isinstance(self._origin, RemoteFile) and not self.bytes_read:
            self._copy = copy = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by `discard_copy`
            while True:
                with reading(self.name, "file"):
                    data = self._take(_STEP_BYTES)
                if not data:
                    break
                try:
                    copy.write(data)
                except OSError as error:
                    message = f"no temporary copy in {tempfile.gettempdir()}, which it takes: {error.strerror}"
                    raise UnreadableError(self.name, "io", message) from error
            copy.seek(0)
            self._file = copy
            self.seekable_size = _seekable_size(copy)
        return self.seekable_size is not None

    def discard_copy(self) -> None:
        """Remove the temporary copy, if there is one."""
        if self._copy is not None:
            self._copy.close()

    def read_end(self, size: int) -> bytes:
        """Return the last `size` bytes of a file that can be read at any place, and go back to its start."""
        assert self.seekable_size is not None
        with reading(self.name, "file"):
            self._file.seek(max(0, self.seekable_size - size))
            data = self._take(size)
            self._file.seek(0)
        return data

    def _take(self, size: int) -> bytes:
        """Return `size` bytes, fewer only at the end: a pipe gives what it has, which need not be all."""
        parts, found = [], 0
        if self._pushed_back:
            parts.append(self._pushed_back[:size])
            found = len(parts[0])
            self._pushed_back = self._pushed_back[size:]
        while found < size:
            part = self._file.read(min(size - found, self._step()))
            if part is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            if not part:
                break
            parts.append(part)
            found += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _step(self) -> int:
        left = 0 if self.seekable_size is None else self.seekable_size - self._file.tell()
        return max(left, _STEP_BYTES)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a place in the file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place in the file."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Return whether the file can be read at any place."""
        return self.seekable_size is not None

    def readable(self) -> bool:
        """Return True."""
        return True

    def writable(self) -> bool:
        """Return False."""
        return False

    def flush(self) -> None:
        """Do nothing: there is nothing to write."""

    def close(self) -> None:
        """Do nothing: whoever opened the file closes it, also when pyarrow thinks it is done with it."""

    def changed_at(self) -> int | None:
        """Return when a local file changed last, in nanoseconds; None where nothing tells.

        That is the system's own time, which nobody can put back. More than the content changes it: links and rights.
        """
        if isinstance(self._file, RemoteFile) or os.name == "nt":  # there it is the time of creation
            return None
        try:
            status = os.fstat(self._file.fileno())
        except (OSError, AttributeError):  # a file object without a descriptor
            return None
        return status.st_ctime_ns if stat.S_ISREG(status.st_mode) else None

    def require_unchanged(self) -> None:
        """Refuse a file whose length or modification time is not what it was when it was opened.

        Raises:
            UnreadableError: It changed.
        """
        try:
            now = _state(self._origin)
        except OSError as error:
            raise UnreadableError(self.name, "changed", "it was there, and is not any more") from error
        if now != self.state:
            sizes = [dict(state).get("size") for state in (self.state, now) if isinstance(state, tuple)]
            change = f"from {sizes[0]} to {sizes[1]} bytes" if len(set(sizes)) == 2 else "in place"
            raise UnreadableError(self.name, "changed", f"it changed {change} while it was read")


def _seekable_size(file: IO[bytes] | RemoteFile) -> int | None:
    try:
        if not file.seekable() or file.tell() != 0:
            return None
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
    except (AttributeError, OSError):  # a file object that knows no seeking; some files under /proc
        return None
    return size


def _state(file: Any) -> object:
    """Return what tells that a file changed; None for what is no regular file."""
    if isinstance(file, RemoteFile):
        return file.state()
    try:
        status = os.fstat(file.fileno())
    except (OSError, AttributeError):  # a file object without a descriptor
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return (("size", status.st_size), ("mtime", status.st_mtime_ns))


@contextmanager
def open_path(path: str | os.PathLike[str], *, int96_unit: Int96Unit = DEFAULT_INT96_UNIT) -> Iterator[InputFile]:
    """Open a file for reading, and close it afterwards.

    A named pipe that nobody writes to is refused after five seconds instead of hanging without a word.

    Args:
        path: Where it is, or, as a string, a URI that fsspec opens. A path object is a local file, whatever its name.
        int96_unit: The unit in which its INT96 timestamps are read, if it is Parquet.

    Raises:
        UnreadableError: It is missing, a directory, not permitted, or a pipe without a writer; or it changed while it
            was open.
    """
    name = path_text(path)
    if "\0" in name:
        raise UnreadableError(name, "missing", "no file has a name with a NUL in it")
    if is_uri(name):
        with _opened_uri(name, int96_unit) as file, guarding(file):
            yield file
        return
    try:
        descriptor, first = _open_descriptor(name)
        # Without a buffer nothing is taken from a pipe that is not asked for.
        raw = os.fdopen(descriptor, "rb", buffering=0)
    except OSError as error:
        raise unreadable(name, error) from error
    with raw:
        file = InputFile(raw, name, pushed_back=first, int96_unit=int96_unit)
        with guarding(file):
            yield file


@contextmanager
def _opened_uri(uri: str, int96_unit: Int96Unit) -> Iterator[InputFile]:
    with ExitStack() as stack:
        try:
            file = InputFile(stack.enter_context(open_uri(uri)), uri, int96_unit=int96_unit)
        except OSError as error:
            raise unreadable(uri, error) from error
        stack.callback(file.discard_copy)
        yield file


@contextmanager
def guarding(file: InputFile) -> Iterator[InputFile]:
    """Refuse what was read from a file if the file changed meanwhile.

    A change is also the better answer where reading failed.

    Raises:
        UnreadableError: It changed, or there was not enough memory.
    """
    try:
        yield file
    except MemoryError as error:
        raise UnreadableError(file.name, "memory", f"not enough memory: {first_line(error)}") from error
    except ArrowDigestError:
        file.require_unchanged()
        raise
    finally:
        while file.stop_reading:
            file.stop_reading.pop()()
    file.require_unchanged()


def _open_descriptor(name: str) -> tuple[int, bytes]:
    """Return an open descriptor, and what had to be read from it to know that it will give something."""
    # Opening a pipe that has no writer blocks unless asked not to.
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        return descriptor, _settle(descriptor, name)
    except BaseException:
        os.close(descriptor)
        raise


def _settle(descriptor: int, name: str) -> bytes:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise unreadable(name, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if not hasattr(os, "O_NONBLOCK"):
        return b""
    # Only a pipe in the file system can wait for its first writer; /dev/stdin and process substitution have theirs.
    is_named_pipe = stat.S_ISFIFO(mode) and Path(os.path.realpath(name)).exists()
    first = _wait_for_writer(descriptor, name) if is_named_pipe else b""
    os.set_blocking(descriptor, True)
    return first


def _wait_for_writer(descriptor: int, name: str) -> bytes:
    deadline = time.monotonic() + _PIPE_PATIENCE
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while not poll.poll(100):
        # No data and no hang-up: there never was a writer, or it takes its time. Only a read tells them apart.
        try:
            first = os.read(descriptor, 1)
        except BlockingIOError:
            return b""
        if first:
            return first
        if time.monotonic() > deadline:
            raise UnreadableError(
                name, "pipe", f"a pipe that nobody opened for writing in {_PIPE_PATIENCE:.0f} seconds"
            )
    return b""
