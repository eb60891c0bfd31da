"""arrow0, one value after the other, from the specification alone.

It never asks pyarrow for a value, and converts nothing: pyarrow's objects say what type an array has and where its
buffers, children and dictionary are, and every bit of data is read from those buffers here. So it is blind to what
values mean: text need not be UTF-8, a date need not be a whole day, a NaN keeps its payload.

The arrays must have a sound structure; nothing here checks a length or an offset.

The page follows the specification: type encoding, encodings of one type, value encoding, record batches.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

FUNCTIONS: dict[str, Callable[[bytes], Any]] = {"sha3-256": hashlib.sha3_256, "sha2-256": hashlib.sha256}
try:
    import blake3 as _blake3

    FUNCTIONS["blake3"] = _blake3.blake3
except ImportError:  # the model is of use without it
    pass

HASH_CODES = {"sha3-256": 0x300016, "sha2-256": 0x300012, "blake3": 0x30001E}

Leaf = tuple[tuple[str, ...], bytes, list[bool]]


class RefusedError(Exception):
    """A leaf column whose type has no arrow0 encoding: where it is, its whole type, and the reserved type in it."""

    def __init__(self, path: tuple[str, ...], data_type: pa.DataType, reserved: str) -> None:
        super().__init__(f"column {path}: {data_type} has no arrow0 encoding ({reserved})")
        self.path = path
        self.data_type = data_type
        self.reserved = reserved


def u16(number: int) -> bytes:
    return struct.pack("<H", number)


def u64(number: int) -> bytes:
    return struct.pack("<Q", number)


def i64(number: int) -> bytes:
    return struct.pack("<q", number)


# --- Type encoding ----------------------------------------------------------------------------------------------------

TIME_UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}


class _ReservedError(Exception):
    """The name of a reserved type met on the way down; the caller knows the path."""


def decoded_type(data_type: pa.DataType) -> pa.DataType:
    """What an extension, dictionary or run-end encoded type encodes; other types as they are."""
    while True:
        if isinstance(data_type, pa.BaseExtensionType):
            data_type = data_type.storage_type
        elif pt.is_dictionary(data_type) or pt.is_run_end_encoded(data_type):
            data_type = data_type.value_type
        else:
            return data_type


def is_list(t: pa.DataType) -> bool:
    return (
        pt.is_list(t)
        or pt.is_large_list(t)
        or pt.is_fixed_size_list(t)
        or pt.is_list_view(t)
        or pt.is_large_list_view(t)
    )


def is_text(t: pa.DataType) -> bool:
    return pt.is_string(t) or pt.is_large_string(t) or pt.is_string_view(t)


def is_binary(t: pa.DataType) -> bool:
    return pt.is_binary(t) or pt.is_large_binary(t) or pt.is_binary_view(t) or pt.is_fixed_size_binary(t)


def _type_bytes(data_type: pa.DataType) -> bytes:
    t = decoded_type(data_type)
    if pt.is_null(t):
        return u16(0)
    if pt.is_boolean(t):
        return u16(5)
    if pt.is_integer(t):
        return u16(1) + bytes([pt.is_signed_integer(t)]) + u64(t.bit_width)
    if pt.is_floating(t):
        return u16(2) + u64(t.bit_width)
    if pt.is_decimal(t):
        return u16(6) + u64(t.bit_width) + u64(t.precision) + i64(t.scale)
    if is_binary(t):
        return u16(3)
    if is_text(t):
        return u16(4)
    if pt.is_date(t):
        return u16(7) + u64(t.bit_width) + u16({32: 0, 64: 1}[t.bit_width])
    if pt.is_time(t):
        return u16(8) + u64(t.bit_width) + u16(TIME_UNITS[t.unit])
    if pt.is_timestamp(t):
        zone = b"\0" if t.tz is None else u64(len(t.tz.encode())) + t.tz.encode()
        return u16(9) + u16(TIME_UNITS[t.unit]) + zone
    if is_list(t):
        return u16(11) + _type_bytes(t.value_type)
    for name, test in (
        ("struct", pt.is_struct),
        ("map", pt.is_map),
        ("union", pt.is_union),
        ("duration", pt.is_duration),
        ("interval", lambda t: str(t).endswith("_interval")),  # pyarrow's own test knows one kind of three
    ):
        if test(t):
            raise _ReservedError(name)
    raise _ReservedError(str(t))


def type_bytes(data_type: pa.DataType, path: tuple[str, ...] = ()) -> bytes:
    """The type encoding of a leaf column, or `RefusedError`."""
    try:
        return _type_bytes(data_type)
    except _ReservedError as reserved:
        raise RefusedError(path, data_type, str(reserved)) from None


# --- Arrow's columnar layout ------------------------------------------------------------------------------------------


class Node:
    """One array: offset, buffer addresses, children, dictionary. Indices are logical: index 0 is at `offset`."""

    def __init__(self, array: pa.Array) -> None:
        while isinstance(array, pa.ExtensionArray):
            array = array.storage
        t = array.type
        self.offset: int = array.offset
        self.owner = array.buffers()  # the children's follow the array's own; they keep the memory alive
        self.buffers = [0 if buffer is None else buffer.address for buffer in self.owner]
        self.dictionary = Node(array.dictionary) if pt.is_dictionary(t) else None
        self.children: list[Node] = []
        if pt.is_struct(t):  # these are cut to the struct's rows; a list's values are not cut at all
            self.children = [Node(array.field(i)) for i in range(t.num_fields)]
        elif pt.is_run_end_encoded(t):
            self.children = [Node(array.run_ends), Node(array.values)]
        elif is_list(t):
            self.children = [Node(array.values)]

    def bytes_at(self, buffer: int, start: int, size: int) -> bytes:
        return ctypes.string_at(self.buffers[buffer] + start, size) if size else b""

    def bit(self, buffer: int, index: int) -> bool:
        at = self.offset + index
        return bool(self.bytes_at(buffer, at // 8, 1)[0] >> (at % 8) & 1)

    def fixed(self, buffer: int, index: int, width: int) -> bytes:
        return self.bytes_at(buffer, (self.offset + index) * width, width)

    def integer(self, buffer: int, index: int, width: int, signed: bool = True) -> int:
        return int.from_bytes(self.fixed(buffer, index, width), "little", signed=signed)

    def valid(self, index: int) -> bool:
        return not self.buffers[0] or self.bit(0, index)


# --- Encodings of one type hash alike ---------------------------------------------------------------------------------


def plain(node: Node, data_type: pa.DataType) -> tuple[Node, pa.DataType]:
    """The array that holds a column's values once extension, dictionary and run ends are taken away, and its type."""
    while True:
        if isinstance(data_type, pa.BaseExtensionType):
            data_type = data_type.storage_type
        elif pt.is_dictionary(data_type):
            node, data_type = node.dictionary, data_type.value_type
        elif pt.is_run_end_encoded(data_type):
            node, data_type = node.children[1], data_type.value_type
        else:
            return node, data_type


def locate(node: Node, data_type: pa.DataType, index: int) -> int | None:
    """Where value `index` is in the array that `plain` gives; None where it is null on any level."""
    while True:
        if isinstance(data_type, pa.BaseExtensionType):
            data_type = data_type.storage_type
        elif pt.is_dictionary(data_type):
            if not node.valid(index):
                return None
            index_type = data_type.index_type
            index = node.integer(1, index, index_type.bit_width // 8, pt.is_signed_integer(index_type))
            node, data_type = node.dictionary, data_type.value_type
        elif pt.is_run_end_encoded(data_type):
            run_ends, values = node.children
            width = data_type.run_end_type.bit_width // 8
            at, index = node.offset + index, 0
            while run_ends.integer(1, index, width) <= at:
                index += 1
            node, data_type = values, data_type.value_type
        elif pt.is_null(data_type) or not node.valid(index):
            return None
        else:
            return index


# --- Value encoding ---------------------------------------------------------------------------------------------------


def _view(node: Node, index: int) -> bytes:
    view = node.fixed(1, index, 16)
    (size,) = struct.unpack_from("<i", view)
    if size <= 12:
        return view[4 : 4 + size]
    buffer, start = struct.unpack_from("<ii", view, 8)
    return node.bytes_at(2 + buffer, start, size)


def _blob(node: Node, t: pa.DataType, index: int) -> bytes:
    if pt.is_fixed_size_binary(t):
        return node.fixed(1, index, t.byte_width)
    if pt.is_binary_view(t) or pt.is_string_view(t):
        return _view(node, index)
    width = 8 if pt.is_large_binary(t) or pt.is_large_string(t) else 4
    start, end = node.integer(1, index, width), node.integer(1, index + 1, width)
    return node.bytes_at(2, start, end - start)


def _item_range(node: Node, t: pa.DataType, index: int) -> range:
    if pt.is_fixed_size_list(t):
        start = (node.offset + index) * t.list_size
        return range(start, start + t.list_size)
    width = 8 if pt.is_large_list(t) or pt.is_large_list_view(t) else 4
    start = node.integer(1, index, width)
    if pt.is_list_view(t) or pt.is_large_list_view(t):
        return range(start, start + node.integer(2, index, width))
    return range(start, node.integer(1, index + 1, width))


def _present(node: Node, t: pa.DataType, index: int) -> Iterator[bytes]:
    """The bytes of a value that is not null, in an array that `plain` gave."""
    if pt.is_boolean(t):
        yield b"\2" if node.bit(1, index) else b"\1"
    elif is_binary(t) or is_text(t):
        blob = _blob(node, t, index)
        yield u64(len(blob))
        yield blob
    elif is_list(t):
        items = _item_range(node, t, index)
        yield u64(len(items))
        for item in items:
            yield from _value(node.children[0], t.value_type, item)
    else:
        yield node.fixed(1, index, t.bit_width // 8)


def _value(node: Node, data_type: pa.DataType, index: int) -> Iterator[bytes]:
    at = locate(node, data_type, index)
    if at is None:
        yield b"\0"
    else:
        yield from _present(*plain(node, data_type), at)


# --- Record batches ---------------------------------------------------------------------------------------------------

Rows = list[int | None]  # a column's rows: where each is in its array, None where it or a struct above is null


def _fields(fields: list[pa.Field], level: int, path: tuple[str, ...]) -> Iterator[tuple[bytes, tuple[str, ...], Any]]:
    """Depth first, per field: its bytes in the schema preamble, its path, and its type, None for a struct."""
    for field in fields:
        name, here, t = field.name.encode(), (*path, field.name), decoded_type(field.type)
        preamble = u64(len(name)) + name + u64(level)
        if pt.is_struct(t):
            yield preamble, here, None
            yield from _fields([t.field(i) for i in range(t.num_fields)], level + 1, here)
        else:
            yield preamble, here, field.type


def _leaf_rows(node: Node, data_type: pa.DataType, rows: Rows) -> Iterator[tuple[Node, pa.DataType, Rows]]:
    """The leaves of one column, depth first, each with its rows under the ANDed validity."""
    rows = [None if row is None else locate(node, data_type, row) for row in rows]
    node, data_type = plain(node, data_type)
    if not pt.is_struct(data_type):
        yield node, data_type, rows
        return
    for i, child in enumerate(node.children):
        yield from _leaf_rows(child, data_type.field(i).type, rows)


def _stream(node: Node, data_type: pa.DataType, rows: Rows) -> bytes:
    return b"".join(b"\0" if row is None else b"".join(_present(node, data_type, row)) for row in rows)


def _chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def _columns(data: Any) -> tuple[pa.Schema, list[list[pa.Array]]]:
    """A schema, and for every column its arrays in row order."""
    batches = [data] if isinstance(data, pa.Table | pa.RecordBatch) else list(data)
    schema = batches[0].schema
    for batch in batches:
        if _schema_key(batch.schema) != _schema_key(schema):
            raise ValueError("batches of different schemas")
    return schema, [[chunk for b in batches for chunk in _chunks(b.column(i))] for i in range(len(schema))]


def _schema_key(schema: pa.Schema) -> list[Any]:
    return [(p, path, t and type_bytes(t, path)) for p, path, t in _fields(list(schema), 0, ())]


def preimages(data: Any) -> tuple[bytes, list[Leaf]]:
    """What goes into the digests of a table, a record batch or a list of these (with at least one in it).

    Returns the schema preamble that starts the combined digest, and for every leaf, depth first, its path, everything
    its own digest is fed (type encoding first), and which of its rows are valid.
    """
    schema, columns = _columns(data)
    fields = list(_fields(list(schema), 0, ()))
    leaves: list[Leaf] = [(path, type_bytes(t, path), []) for _, path, t in fields if t is not None]
    first = 0
    for field, chunks in zip(schema, columns, strict=True):
        count = sum(t is not None for _, _, t in _fields([field], 0, ()))
        for chunk in chunks:
            parts = list(_leaf_rows(Node(chunk), chunk.type, list(range(len(chunk)))))
            for i, (node, data_type, rows) in enumerate(parts, first):
                path, stream, validity = leaves[i]
                leaves[i] = path, stream + _stream(node, data_type, rows), validity + [row is not None for row in rows]
        first += count
    return b"".join(preamble for preamble, _, _ in fields), leaves


def record_digest(data: Any, function: str = "sha3-256") -> bytes:
    """The logical hash of a table, a record batch or a list of these."""
    digest = FUNCTIONS[function]
    preamble, leaves = preimages(data)
    return digest(preamble + b"".join(digest(stream).digest() for _, stream, _ in leaves)).digest()


def array_stream(array: pa.Array | pa.ChunkedArray, data_type: pa.DataType) -> bytes:
    """Everything the digest of one leaf is fed: the type encoding of `data_type`, then the values of `array`."""
    stream = type_bytes(data_type)
    if type_bytes(array.type) != stream:
        raise ValueError(f"{array.type} is not another encoding of {data_type}")
    for chunk in _chunks(array):
        node = Node(chunk)
        stream += b"".join(part for i in range(len(chunk)) for part in _value(node, chunk.type, i))
    return stream
