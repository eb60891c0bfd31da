"""Files that are read twice: both readings have to give the same bytes.

Length and modification time do not prove that, because both can be put back after a change. The file system's own time
of the last change cannot, and tells that nothing happened. Where that time is of no use, a small file is kept in memory
and compared with what is there in the end, and of a large one digests of its blocks are compared.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

import blake3

from _arrow_io.faults import unreadable
from _arrow_io.opening import InputFile, guarding
from arrow_digest.errors import ArrowDigestError, UnreadableError

__all__ = ["merge_marks", "read_marked", "read_twice"]

Result = TypeVar("Result")

# A file of up to this length is kept in memory.
_MOST_KEPT = 16 << 20
# Blocks are no smaller, so that digests of them run at full speed, and no more, so that the digests take few megabytes.
_LEAST_BLOCK = 1 << 16
_MOST_BLOCKS = 1 << 16
# Blocks that were read in part are kept up to this many bytes: all readers of columns together are within theirs.
_RECENT_BYTES = 32 << 20
_MARK_BYTES = 16
_STEP_BYTES = 1 << 20
# Clocks of file systems tick every few milliseconds. Two changes within a tick have one time.
_TICK_NANOSECONDS = 100_000_000

_CHANGED = "it changed while it was read: two readings gave other bytes"


def read_twice(file: InputFile, step: Callable[[InputFile], Result]) -> Result:
    """Return what a step makes of a file that it reads more than once.

    Where the file system cannot rule out that the file changed meanwhile, the step is taken again, with digests of
    all blocks that it reads: new rights or links are no change of the content.

    Args:
        file: The file, at its start, which can be read at any place.
        step: Reads the file. It may be called twice, and has to come to an equal result then.

    Raises:
        UnreadableError: The file changed between the readings.
    """
    before = file.changed_at()
    is_settled = before is not None and before < time.time_ns() - _TICK_NANOSECONDS
    if not is_settled:
        return _read_surely(file, step)
    first: Result | None = None
    try:
        with guarding(file):
            first = step(file)
    except ArrowDigestError:
        if file.changed_at() == before:
            raise
    if first is not None and file.changed_at() == before:
        return first
    file.seek(0)
    second = _read_surely(file, step)
    if first != second:
        raise UnreadableError(file.name, "changed", _CHANGED)
    return second


def _read_surely(file: InputFile, step: Callable[[InputFile], Result]) -> Result:
    if file.seekable_size is not None and file.seekable_size <= _MOST_KEPT:
        return _read_with(_Kept(file), file, step)
    return read_marked(file, step)[0]


def read_marked(file: InputFile, step: Callable[[InputFile], Result]) -> tuple[Result, Mapping[int, bytes]]:
    """Return what a step makes of a file, and a digest of each block that it read, by number.

    Raises:
        UnreadableError: Two readings of a block gave other bytes.
    """
    blocks = _Marked(file)
    return _read_with(blocks, file, step), blocks.marks


def merge_marks(marks: dict[int, bytes], more: Mapping[int, bytes]) -> bool:
    """Add the digests of blocks that another reading found; return False if they contradict each other."""
    return all(marks.setdefault(number, mark) == mark for number, mark in more.items())


def _read_with(blocks: _Blocks, file: InputFile, step: Callable[[InputFile], Result]) -> Result:
    with guarding(_RereadFile(blocks, file)) as reread:
        return step(reread)


class _RereadFile(InputFile):
    """An open file whose readings are compared with each other."""

    def __init__(self, blocks: _Blocks, file: InputFile) -> None:
        self._blocks = blocks
        self._opened = file
        super().__init__(blocks, file.name, int96_unit=file.int96_unit)  # type: ignore[arg-type]

    def require_unchanged(self) -> None:
        """Refuse a file that was read in two states, or of which a reading failed.

        Raises:
            UnreadableError: It changed, or could not be read.
        """
        if self._blocks.fault is None:
            self._opened.require_unchanged()
            with suppress(OSError):  # it is the fault then
                self._blocks.compare()
        if self._blocks.fault is not None:
            raise self._blocks.fault


class _Blocks:
    """A binary file that remembers what was read of it."""

    def __init__(self, file: InputFile) -> None:
        self.fault: UnreadableError | None = None
        self._file = file
        self._size = file.seekable_size or 0
        self._at = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._at, self._size)[whence]
        if base + offset < 0:
            raise OSError(22, "a place before the start of the file")
        self._at = base + offset
        return self._at

    def read(self, size: int) -> bytes:
        end = min(self._at + size, self._size)
        if end <= self._at:
            return b""
        data = self._between(self._at, end)
        self._at = end
        return data

    def compare(self) -> None:
        """Note a fault if the file is not what was read any more."""

    def _between(self, start: int, end: int) -> bytes:
        raise NotImplementedError

    def _fetch(self, start: int, size: int) -> bytes:
        try:
            self._file.seek(start)
            return self._file.read(size)
        except OSError as error:
            # What reads through pyarrow would hear of it as of a broken file.
            self.fault = unreadable(self._file.name, error)
            raise

    def _changed(self) -> UnreadableError:
        self.fault = UnreadableError(self._file.name, "changed", _CHANGED)
        return self.fault


class _Kept(_Blocks):
    """A small file, which is read once, and compared with what is there in the end."""

    _content: bytes | None = None

    def _between(self, start: int, end: int) -> bytes:
        if self._content is None:
            self._content = self._fetch(0, self._size)
            if len(self._content) != self._size:
                raise self._changed()
        return self._content[start:end]

    def compare(self) -> None:
        for start in range(0, len(self._content or b""), _STEP_BYTES):
            part = self._fetch(start, min(_STEP_BYTES, self._size - start))
            if not part or not (self._content or b"").startswith(part, start):
                self._changed()
                return


class _Marked(_Blocks):
    """A large file of which whole blocks are read, each of which has to be the same every time."""

    def __init__(self, file: InputFile) -> None:
        super().__init__(file)
        self.marks: dict[int, bytes] = {}
        self._recent: OrderedDict[int, bytes] = OrderedDict()
        self._block_bytes = _LEAST_BLOCK
        while self._block_bytes * _MOST_BLOCKS < self._size:
            self._block_bytes *= 2

    def _between(self, start: int, end: int) -> bytes:
        first, last = start // self._block_bytes, (end - 1) // self._block_bytes
        if first == last and first in self._recent:
            self._recent.move_to_end(first)
            data = self._recent[first]
        else:
            data = self._read_blocks(first, last)
        begin = first * self._block_bytes
        return data[start - begin : end - begin]

    def _read_blocks(self, first: int, last: int) -> bytes:
        start, stop = first * self._block_bytes, min((last + 1) * self._block_bytes, self._size)
        data = self._fetch(start, stop - start)
        if len(data) != stop - start:
            raise self._changed()
        for number in range(first, last + 1):
            at = number * self._block_bytes - start
            block = memoryview(data)[at : at + self._block_bytes]
            mark = blake3.blake3(block).digest(length=_MARK_BYTES)
            if self.marks.setdefault(number, mark) != mark:
                raise self._changed()
            if number in (first, last):  # a part of it may be asked for next
                self._recent[number] = bytes(block)
        while len(self._recent) > max(_RECENT_BYTES // self._block_bytes, 2):
            self._recent.popitem(last=False)
        return data
