"""What a case is, and how its arrays are made.

Arrays that pyarrow's builders cannot make are put together from buffers. `X` fills every place that no reader may look
at, so that one that does is found out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

X = b"\xee"  # what lies under nulls, in padding and in unused items


@dataclass(frozen=True)
class Case:
    """One case. Its stream is written from `table` and changed by `patches`, or it is `derived` from another's.

    With a `slice` (first row, row count) the hash is that of these rows. An `empty_batch` is written where a table of
    no rows would have no batch.
    """

    id: str
    comment: str
    flags: tuple[str, ...]
    table: pa.Table | None = None
    result: str = "valid"
    same_records_as: tuple[str, ...] = ()
    collides_with: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    derived: tuple[str, Callable[[bytes], bytes]] | None = None
    patches: tuple[tuple[bytes, bytes], ...] = ()
    slice: tuple[int, int] | None = None
    empty_batch: bool = False
    dictionary_deltas: bool = False


def column(array: pa.Array | pa.ChunkedArray, name: str = "c", **field: Any) -> pa.Table:
    return pa.Table.from_arrays([array], schema=pa.schema([pa.field(name, array.type, **field)]))


def col(values: Sequence[Any], t: pa.DataType, name: str = "c", **field: Any) -> pa.Table:
    return column(pa.array(values, t), name, **field)


def columns(*named: tuple[str, pa.Array]) -> pa.Table:
    return pa.Table.from_arrays([array for _, array in named], names=[name for name, _ in named])


def bits(validity: str, padding: str = "1") -> bytes:
    """A bitmap: "101" is valid, null, valid; the rest of the last byte is padding."""
    data = validity + padding * (-len(validity) % 8)
    return bytes(int(data[i : i + 8][::-1], 2) for i in range(0, len(data), 8))


def raw(t: pa.DataType, length: int, *buffers: bytes | None, children: list[pa.Array] | None = None) -> pa.Array:
    return pa.Array.from_buffers(t, length, [b if b is None else pa.py_buffer(b) for b in buffers], children=children)


def i32(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)


def i64(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}q", *numbers)


def u64(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def short_view(text: bytes) -> bytes:
    return struct.pack("<i12s", len(text), text)


def long_view(text: bytes, buffer: int, start: int) -> bytes:
    return struct.pack("<i4sii", len(text), text[:4], buffer, start)


def fields(*named: tuple[str, pa.Array], validity: str | None = None) -> pa.Array:
    """A struct array over children that know nothing of its nulls."""
    t = pa.struct([(name, array.type) for name, array in named])
    length = len(named[0][1])
    return raw(t, length, validity and bits(validity), children=[array for _, array in named])


def dictionary(indices: pa.Array, entries: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(indices, entries, safe=False)


def runs(ends: list[int], values: pa.Array, end_type: pa.DataType | None = None) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, end_type or pa.int32()), values)


def extension(t: pa.DataType, storage: pa.Array) -> pa.Array:
    return pa.ExtensionArray.from_storage(t, storage)


def opaque(storage: pa.Array) -> pa.Array:
    return extension(pa.opaque(storage.type, "kind", "vendor"), storage)


def empty(t: pa.DataType, name: str = "c") -> pa.Table:
    return pa.Table.from_batches([], schema=pa.schema([(name, t)]))


def batches(*arrays: pa.Array) -> pa.Table:
    return pa.Table.from_batches([pa.record_batch([array], names=["c"]) for array in arrays])
