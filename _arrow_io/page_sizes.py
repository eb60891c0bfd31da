"""How many values of a Parquet column may be decoded at once, from the headers of its pages.

What values take is known only once they are decoded, and that may be far more than memory holds: small values may come
first and very large ones later, and a page of a few bytes may name the largest value of its dictionary over and over.
The header of a page says how many values it has and how many bytes, before any of it is decompressed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from _arrow_io.footer import Chunk
from _arrow_io.opening import InputFile
from _arrow_io.thrift import I32, STRUCT, CompactReader

__all__ = ["PageSizes"]

_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_PLAIN_DICTIONARY, _DELTA_BYTE_ARRAY, _RLE_DICTIONARY = 2, 7, 8
_LENGTH_BYTES = 4

# Most headers are shorter than the first of these; statistics of long values make longer ones.
_HEADER_BYTES = (128, 1 << 14, 1 << 20)
# Values of a page that alone is over the budget are in memory anyway. So many times its mean is expected of each.
_SKEW = 16
# Where a value may be as large as its page, and nearly never is, so many times the budget are risked.
_RISK = 2


class _Page(NamedTuple):
    """Some values in order: the number after the last, how many, and the bytes of them all.

    Each may take `largest` bytes, so that together they may take more than the page; None if they never do.
    """

    end: int
    value_count: int
    size: int
    largest: int | None


class PageSizes:
    """The pages of a column chunk, of which headers are read as far as they are asked for."""

    def __init__(self, file: InputFile, chunk: Chunk, budget: int, largest_entry: Callable[[], int | None]) -> None:
        """Start before the first page.

        Args:
            file: The Parquet file.
            chunk: Where the pages are.
            budget: How many bytes the values of a batch may take.
            largest_entry: Returns how long the largest value of the chunk's dictionary is; None if that is not known.
        """
        self._file = file
        self._chunk = chunk
        self._budget = budget
        self._largest_entry = largest_entry
        self._largest = chunk.uncompressed_size
        self._place = chunk.start
        self._seen = 0
        self._pages: list[_Page] = []
        self._is_done = False

    def most_values(self, start: int) -> int:
        """Return how many values from a place on take no more than the budget, and at least 1."""
        self._pages = [page for page in self._pages if page.end > start]
        at, left, number = start, self._budget, 0
        while page := self._page(number):
            number += 1
            fitting = _fitting(page, left, self._budget)
            if at + fitting < page.end:
                return max(at + fitting - start, 1)
            left -= page.size if page.largest is None else (page.end - at) * page.largest
            at = page.end
        return max(self._chunk.value_count - start, 1)

    def _page(self, number: int) -> _Page | None:
        while number >= len(self._pages) and not self._is_done:
            self._take_header()
        return self._pages[number] if number < len(self._pages) else None

    def _take_header(self) -> None:
        # What is no page ends them here, and is refused where it is read.
        end = min(self._chunk.start + self._chunk.compressed_size, self._file.seekable_size or 0)
        is_over = self._place >= end or self._seen >= self._chunk.value_count
        fields, length = ({}, 0) if is_over else self._header()
        size, compressed = fields.get(2, -1), fields.get(3, -1)
        if size < 0 or compressed < 0:
            self._is_done = True
            return
        self._place += length + compressed
        if fields.get(1) == _DICTIONARY:
            bound = max(size - _LENGTH_BYTES * fields.get(7, {}).get(1, 0), 0)
            if bound * self._chunk.value_count <= self._budget:
                self._largest = bound
            else:
                known = self._largest_entry()
                self._largest = bound // _RISK if known is None else known
        elif fields.get(1) in (_DATA, _DATA_V2):
            described = fields.get(5) or fields.get(8) or {}
            count, encoding = max(described.get(1, 0), 0), described.get(2, described.get(4))
            self._seen += count
            self._pages.append(_Page(self._seen, count, size, self._largest_of(size, encoding)))

    def _largest_of(self, size: int, encoding: int | None) -> int | None:
        if encoding in (_PLAIN_DICTIONARY, _RLE_DICTIONARY):
            return self._largest
        # Each value of this encoding may begin with all of the one before it.
        return size // _RISK if encoding == _DELTA_BYTE_ARRAY else None

    def _header(self) -> tuple[dict[int, Any], int]:
        """Return the fields of the header of the page that comes next, and how long it is; none if there is none."""
        for size in _HEADER_BYTES:
            self._file.seek(self._place)
            data = self._file.read(size)
            reader = CompactReader(data)
            integer = (I32, reader.integer)
            counts = (STRUCT, lambda r=reader, i=integer: r.struct({1: i, 2: i}))
            counts_v2 = (STRUCT, lambda r=reader, i=integer: r.struct({1: i, 4: i}))
            handlers = {1: integer, 2: integer, 3: integer, 5: counts, 7: counts, 8: counts_v2}
            try:
                return reader.struct(handlers), reader.place
            except IndexError:
                if len(data) < size:
                    break
            except ValueError:
                break
        return {}, 0


def _fitting(page: _Page, left: int, budget: int) -> int:
    """Return how many values of a page fit what is left of a budget."""
    if page.largest is not None:
        return max(left, 0) // max(page.largest, 1)
    if page.size <= left:
        return page.value_count
    return budget * page.value_count // (page.size * _SKEW) if page.size > budget else 0
