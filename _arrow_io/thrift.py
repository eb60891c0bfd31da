"""Thrift's compact protocol, as far as a Parquet footer needs it: read once, front to back, within the bytes there are.

Nothing is kept that was not asked for, so that a footer takes no more memory than what is wanted of it, and a count
that a footer claims is never believed beyond the bytes that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = [
    "BINARY",
    "BYTE",
    "I32",
    "I64",
    "LIST",
    "STRUCT",
    "CompactReader",
    "encode_struct",
    "encode_varint",
    "zigzag",
]

_TRUE, _FALSE, BYTE, _I16, I32, I64, _DOUBLE, BINARY, LIST, _SET, _MAP, STRUCT = range(1, 13)

_VARINTS = (I32, I64, _I16)

# Parquet's own structures are seven deep; what is unknown may be a little deeper.
_MOST_DEPTH = 32
_MOST_VARINT_BYTES = 10

Handlers = Mapping[int, tuple[int, Callable[[], Any]]]
"""By the number of a field that is wanted: its type, and what reads its value."""


class CompactReader:
    """Reads one value after another.

    Attributes:
        place: Where the next byte is.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._depth = 0
        self.place = 0

    def struct(self, handlers: Handlers) -> dict[int, Any]:
        """Return the wanted fields of a structure by number.

        Raises:
            ValueError: It is nested too deeply, or a wanted field is there twice or in another type.
            IndexError: It is cut short.
        """
        found: dict[int, Any] = {}
        number = 0
        self._enter()
        while header := self.byte():
            number = number + (header >> 4) if header >> 4 else self.integer()
            wanted = handlers.get(number)
            if wanted is None:
                self._skip(header & 15)
                continue
            if header & 15 != wanted[0]:
                raise ValueError(f"field {number} of a structure in its footer is of Thrift type {header & 15}")
            if number in found:
                raise ValueError(f"a structure in its footer has field {number} twice")
            found[number] = wanted[1]()
        self._depth -= 1
        return found

    def list_of(self, kind: int, read: Callable[[], Any]) -> list[Any]:
        """Return a list, whose items are of one type, each read by a function.

        Raises:
            ValueError: It is of another type, or claims more items than there are bytes.
            IndexError: It is cut short.
        """
        count, found = self._list_header()
        if count and found != kind:
            raise ValueError(f"a list in its footer is of Thrift type {found}, expected {kind}")
        return [read() for _ in range(count)]

    def byte(self) -> int:
        """Return a whole number of eight bits."""
        value = self._data[self.place]
        self.place += 1
        return value

    def integer(self) -> int:
        """Return a whole number of up to 64 bits."""
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def integer_and_place(self) -> tuple[int, int, int]:
        """Return a whole number, and where it begins and ends."""
        start = self.place
        return self.integer(), start, self.place

    def binary(self) -> bytes:
        """Return bytes, or the bytes of a text."""
        length = self._varint()
        start = self.place
        self.place = start + length
        if self.place > len(self._data):
            raise IndexError
        return self._data[start : self.place]

    def presence(self) -> bool:
        """Return True for a structure, whatever is in it."""
        self._skip_struct()
        return True

    def _skip(self, kind: int) -> None:
        if kind in _VARINTS:
            while self._data[self.place] > 127:
                self.place += 1
            self.place += 1
        elif kind == BINARY:
            length = self._varint()
            self.place += length
        elif kind == STRUCT:
            self._skip_struct()
        elif kind in (LIST, _SET):
            count, item = self._list_header()
            self._skip_items(count, (item,))
        elif kind == _MAP:
            count = self._varint()
            kinds = self.byte() if count else 0
            self._skip_items(count, (kinds >> 4, kinds & 15))
        elif kind == _DOUBLE:
            self.place += 8
        elif kind == BYTE:
            self.place += 1
        elif kind not in (_TRUE, _FALSE):
            raise ValueError(f"its footer has a value of the unknown Thrift type {kind}")

    def _skip_struct(self) -> None:
        # Most of a footer is statistics that are skipped, so that this loop does by itself what is frequent.
        self._enter()
        data, place = self._data, self.place
        while header := data[place]:
            place += 1
            kind = header & 15
            if header >> 4 and kind in _VARINTS:
                while data[place] > 127:
                    place += 1
                place += 1
            elif header >> 4 and kind == BINARY and data[place] <= 127:
                place += data[place] + 1
            else:
                self.place = place
                if not header >> 4:
                    self._varint()
                self._skip(kind)
                place = self.place
        self.place = place + 1
        self._depth -= 1

    def _skip_items(self, count: int, kinds: tuple[int, ...]) -> None:
        self._enter()
        for _ in range(count):
            for kind in kinds:
                # A truth value is in a field's header, and a byte of its own in a list.
                self._skip(BYTE if kind in (_TRUE, _FALSE) else kind)
            if self.place > len(self._data):
                raise IndexError
        self._depth -= 1

    def _list_header(self) -> tuple[int, int]:
        header = self.byte()
        count = header >> 4 if header >> 4 != 15 else self._varint()
        left = len(self._data) - self.place
        if count > left:
            raise ValueError(f"its footer claims a list of {count} items {left} bytes before its end")
        return count, header & 15

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise ValueError(f"its footer is nested more than {_MOST_DEPTH} deep")

    def _varint(self) -> int:
        value = self.byte()
        if value < 128:
            return value
        value &= 127
        for shift in range(7, 7 * _MOST_VARINT_BYTES, 7):
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                if value >> 64:
                    break
                return value
        raise ValueError("a number in its footer has more than 64 bits")


def zigzag(value: int) -> int:
    """Return a whole number with its sign in the lowest bit, as the protocol writes it.

    >>> zigzag(-1), zigzag(1)
    (1, 2)
    """
    return value << 1 if value >= 0 else (-value << 1) - 1


def encode_varint(value: int) -> bytes:
    """Return a number of at least 0 as bytes, seven bits in each.

    >>> encode_varint(300).hex()
    'ac02'
    """
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_struct(fields: Mapping[int, int | bytes]) -> bytes:
    """Return a structure with numbers of 32 bits and texts alone, by rising number.

    >>> encode_struct({1: 3, 4: b"name"}).hex()
    '150638046e616d6500'
    """
    out, last = b"", 0
    for number, value in sorted(fields.items()):
        kind = BINARY if isinstance(value, bytes) else I32
        out += bytes([(number - last) << 4 | kind])
        out += encode_varint(len(value)) + value if isinstance(value, bytes) else encode_varint(zigzag(value))
        last = number
    return out + b"\0"
