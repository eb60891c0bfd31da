"""The bytes of an Arrow IPC stream, to be damaged on purpose.

A record batch's message says of every array how many slots it has, and of every buffer where it lies and how long it
is. `Stream` finds these numbers and the buffers themselves, so that a test can put any lie in their place.
"""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa

_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def write(batches: Any) -> bytes:
    """A stream of record batches of one schema, or of a table."""
    sink = pa.BufferOutputStream()
    batches = batches.to_batches() if isinstance(batches, pa.Table) else batches
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


class _Table:
    """A flatbuffers table inside the bytes of a stream."""

    def __init__(self, data: bytearray, at: int) -> None:
        self.data, self.at = data, at

    def field(self, index: int) -> int | None:
        """The place of a field; None if it is not there."""
        vtable = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        (size,) = struct.unpack_from("<H", self.data, vtable)
        if 4 + 2 * index >= size:
            return None
        (offset,) = struct.unpack_from("<H", self.data, vtable + 4 + 2 * index)
        return self.at + offset if offset else None

    def table(self, index: int) -> _Table:
        at = self.field(index)
        assert at is not None
        return _Table(self.data, at + struct.unpack_from("<I", self.data, at)[0])

    def number(self, index: int, form: str) -> int:
        at = self.field(index)
        return 0 if at is None else struct.unpack_from(form, self.data, at)[0]

    def pairs(self, index: int) -> list[int]:
        """The places of a vector of structs of two int64."""
        at = self.field(index)
        if at is None:
            return []
        at += struct.unpack_from("<I", self.data, at)[0]
        (count,) = struct.unpack_from("<I", self.data, at)
        return [at + 4 + 16 * i for i in range(count)]


class Stream:
    """One batch in the bytes of a stream: the first record batch, or on request the first dictionary batch."""

    def __init__(self, data: bytes, *, dictionary: bool = False) -> None:
        self.data = bytearray(data)
        wanted = _DICTIONARY_BATCH if dictionary else _RECORD_BATCH
        at = 0
        while True:
            marker, length = struct.unpack_from("<Ii", self.data, at)
            assert marker == 0xFFFFFFFF
            assert length > 0, "no such batch"
            message = _Table(self.data, at + 8 + struct.unpack_from("<I", self.data, at + 8)[0])
            self._body = at + 8 + length
            if message.number(1, "<B") == wanted:
                break
            at = self._body + message.number(3, "<q")
        batch = message.table(2).table(1) if dictionary else message.table(2)
        self._nodes, self._buffers, self._length = batch.pairs(1), batch.pairs(2), batch.field(0)
        self.node_count, self.buffer_count = len(self._nodes), len(self._buffers)

    def node(self, index: int, *, length: int | None = None, null_count: int | None = None) -> Stream:
        """Set what is said of an array; arrays are numbered depth first."""
        return self._set(self._nodes[index], length, null_count)

    def buffer(self, index: int, *, offset: int | None = None, length: int | None = None) -> Stream:
        """Set where a buffer lies; buffers are numbered over all arrays."""
        return self._set(self._buffers[index], offset, length)

    def rows(self, count: int) -> Stream:
        """Set how many rows the batch says it has."""
        assert self._length is not None
        struct.pack_into("<q", self.data, self._length, count)
        return self

    def put(self, index: int, form: str, *values: int, at: int = 0) -> Stream:
        """Write numbers into a buffer, `at` bytes from its start."""
        (offset,) = struct.unpack_from("<q", self.data, self._buffers[index])
        struct.pack_into("<" + form, self.data, self._body + offset + at, *values)
        return self

    def _set(self, place: int, first: int | None, second: int | None) -> Stream:
        for at, value in ((place, first), (place + 8, second)):
            if value is not None:
                struct.pack_into("<q", self.data, at, value)
        return self

    def __bytes__(self) -> bytes:
        return bytes(self.data)
