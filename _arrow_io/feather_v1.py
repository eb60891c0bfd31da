"""Feather V1, the format of 2016: each column's buffers one after another, and metadata about them at the end.

pyarrow's reader of it follows every offset that a file claims, out of the file and out of the process's memory. This
one checks first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from _arrow_io.errors import UnreadableError
from _arrow_io.opening import InputFile

__all__ = ["read_feather_v1"]

_MAGIC = b"FEA1"
_VERSION = 2  # before it buffers were not padded

_UNITS = ("s", "ms", "us", "ns")

# By their numbers in the metadata. 13 to 16 name what a column means, which is told apart from how it is stored.
_TYPES = {
    0: pa.bool_(),
    1: pa.int8(),
    2: pa.int16(),
    3: pa.int32(),
    4: pa.int64(),
    5: pa.uint8(),
    6: pa.uint16(),
    7: pa.uint32(),
    8: pa.uint64(),
    9: pa.float32(),
    10: pa.float64(),
    11: pa.string(),
    12: pa.binary(),
    17: pa.large_string(),
    18: pa.large_binary(),
}
_OFFSET_BYTES = {11: 4, 12: 4, 17: 8, 18: 8}

_CATEGORY, _TIMESTAMP, _DATE, _TIME = 1, 2, 3, 4


def read_feather_v1(file: InputFile) -> Any:
    """Return the file's records as a `pyarrow.Table`. All of it is read.

    Raises:
        UnreadableError: It is older than version 2.
        ValueError: Something in it points outside the file, or means nothing.
    """
    assert file.seekable_size is not None
    tail = file.read_end(8)
    if tail[4:] != _MAGIC:
        raise UnreadableError(file.name, "truncated", f"cut short: Feather V1 ends with {_MAGIC!r}, found {tail[4:]!r}")
    end = file.seekable_size - 8
    start = end - int.from_bytes(tail[:4], "little")
    if start < len(_MAGIC):
        raise ValueError(f"its metadata would be {end - start} bytes long, in a file of {file.seekable_size}")
    metadata = _read_at(file, start, end - start, file.seekable_size)
    root = _Table(metadata, _number(metadata, "<I", 0))
    version = root.number(3, "<i")
    if version < _VERSION:
        raise UnreadableError(
            file.name, "version", f"Feather of version {version}; the oldest that is read is {_VERSION}"
        )
    rows = root.number(1, "<q")
    names, columns = [], []
    for column in root.tables(2):
        array = _column(file, column, start)
        if len(array) != rows:
            raise ValueError(f"a column of {len(array)} rows among {rows}")
        names.append(column.text(0))
        columns.append(array)
    return pa.Table.from_arrays(columns, names=names)


def _column(file: InputFile, column: _Table, limit: int) -> Any:
    stored = _array(file, column.table(1), limit)
    meaning = column.number(2, "<B")
    if meaning == 0:
        return stored
    if meaning == _CATEGORY:
        details = column.table(3)
        levels = _array(file, details.table(0), limit)
        return pa.DictionaryArray.from_arrays(stored, levels, ordered=bool(details.number(1, "<B")))
    return stored.view(_meant_type(meaning, column))


def _meant_type(meaning: int, column: _Table) -> Any:
    if meaning == _DATE:
        return pa.date32()
    unit = _look_up(dict(enumerate(_UNITS)), column.table(3).number(0, "<b"), "unit")
    if meaning == _TIMESTAMP:
        zone = column.table(3).text(1)
        return pa.timestamp(unit, zone or None)
    if meaning == _TIME:
        return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    raise ValueError(f"unknown meaning of a column: {meaning}")


def _array(file: InputFile, described: _Table, limit: int) -> Any:
    type_number = described.number(0, "<b")
    data_type = _look_up(_TYPES, type_number, "type")
    if described.number(1, "<b") != 0:
        raise ValueError("an array that is not stored plainly")
    offset, length, null_count, size = (described.number(slot, "<q") for slot in (2, 3, 4, 5))
    if not 0 <= null_count <= length:
        raise ValueError(f"an array of {length} values, {null_count} of them null")
    left = memoryview(_read_at(file, offset, size, limit))
    sizes = [-(-length // 64) * 8 if null_count else 0]
    if type_number in _OFFSET_BYTES:
        sizes.append(-(-(length + 1) * _OFFSET_BYTES[type_number] // 8) * 8)
    buffers: list[Any] = []
    for buffer_size in sizes:
        buffers.append(pa.py_buffer(left[:buffer_size]) if buffer_size else None)
        left = left[buffer_size:]
    return pa.Array.from_buffers(data_type, length, [*buffers, pa.py_buffer(left)])


def _look_up(table: dict[int, Any], number: int, what: str) -> Any:
    if number not in table:
        raise ValueError(f"unknown {what} {number}")
    return table[number]


def _read_at(file: InputFile, offset: int, size: int, limit: int) -> bytes:
    if offset < 0 or size < 0 or offset + size > limit:
        raise ValueError(f"{size} bytes at byte {offset} reach outside the file's {limit}")
    file.seek(offset)
    return file.read(size)


class _Table:
    """A table of a FlatBuffer: numbers, texts and tables in numbered slots, each of which may be missing."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at
        self._slots = at - _number(data, "<i", at)
        self._slots_size = _number(data, "<H", self._slots)

    def number(self, slot: int, layout: str) -> int:
        at = self._place(slot)
        return 0 if at is None else _number(self._data, layout, at)

    def text(self, slot: int) -> str:
        at = self._target(slot)
        if at is None:
            return ""
        length = _number(self._data, "<I", at)
        if at + 4 + length > len(self._data):
            raise ValueError("a text reaches outside the metadata")
        return self._data[at + 4 : at + 4 + length].decode("utf-8")

    def table(self, slot: int) -> _Table:
        at = self._target(slot)
        if at is None:
            raise ValueError(f"nothing in slot {slot} of the metadata")
        return _Table(self._data, at)

    def tables(self, slot: int) -> Iterator[_Table]:
        at = self._target(slot)
        count = 0 if at is None else _number(self._data, "<I", at)
        for index in range(count):
            place = (at or 0) + 4 + 4 * index
            yield _Table(self._data, place + _number(self._data, "<I", place))

    def _place(self, slot: int) -> int | None:
        where = 4 + 2 * slot
        if where + 2 > self._slots_size:
            return None
        offset = _number(self._data, "<H", self._slots + where)
        return self._at + offset if offset else None

    def _target(self, slot: int) -> int | None:
        at = self._place(slot)
        return None if at is None else at + _number(self._data, "<I", at)


def _number(data: bytes, layout: str, at: int) -> int:
    if not 0 <= at <= len(data) - struct.calcsize(layout):
        raise ValueError(f"byte {at} of {len(data)} bytes of metadata")
    number: int = struct.unpack_from(layout, data, at)[0]
    return number
