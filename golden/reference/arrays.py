"""The values of Arrow arrays, read one at a time from their memory.

pyarrow says of what type an array is, and exports it through Arrow's C data interface: a length, an offset, buffers,
children and a dictionary, the same for every layout. Every value is read from there, since pyarrow's own accessors
forget slices of unions and of maps, and convert values.

What is not valid, not inside a slice or not selected is never looked at. Indices, offsets and child numbers are
compared with the lengths of what they point into. The interface does not say how long buffers are, so buffers have to
be as long as their arrays need.
"""

from __future__ import annotations

import ctypes
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import pyarrow as pa
import pyarrow.types as pt

from reference.records import Nulls, Path, Records, RefusedError, Value, decoded, field_of, is_bytes, is_list, is_text

Reader = Callable[[int], Value]  # from a place in an array, counted from its first slot, to the value there


def records(table: pa.Table, schema: pa.Schema | None = None) -> Records:
    """The records of a table, whatever its chunks and layouts.

    With a schema the same memory is read as of other types of the same layout, such as those that pyarrow has no
    arrays of.
    """
    types = table.schema if schema is None else schema
    fields = tuple(field_of(field) for field in types)
    columns: tuple[list[Value], ...] = tuple([] for _ in fields)
    for batch in table.to_batches():
        with exported(batch) as rows:  # a struct of the columns; this reads types too for which pyarrow has no arrays
            for i, (field, column) in enumerate(zip(fields, columns, strict=True)):
                read = reader(types.field(i).type, rows.children[i].contents, (field.name,))
                column += [read(row) for row in range(batch.num_rows)]
    return Records(fields, table.num_rows, columns)


# --- The C data interface ---------------------------------------------------------------------------------------------


class ArrowArray(ctypes.Structure):
    """One array in memory, as the interface describes it."""


ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))),
    ("private_data", ctypes.c_void_p),
]


@contextmanager
def exported(batch: pa.RecordBatch) -> Iterator[ArrowArray]:
    memory = ArrowArray()
    batch._export_to_c(ctypes.addressof(memory))
    try:
        yield memory
    finally:
        memory.release(ctypes.byref(memory))


def bytes_at(address: int | None, start: int, size: int) -> bytes:
    return ctypes.string_at(address + start, size) if size and address else b""


def fixed(array: ArrowArray, buffer: int, width: int) -> Callable[[int], bytes]:
    """Slots of so many bytes in a buffer; the array's offset comes first."""
    address, offset = array.buffers[buffer], array.offset
    return lambda i: bytes_at(address, (offset + i) * width, width)


def integers(array: ArrowArray, buffer: int, width: int, signed: bool = True) -> Callable[[int], int]:
    slot = fixed(array, buffer, width)
    return lambda i: int.from_bytes(slot(i), "little", signed=signed)


def bits(array: ArrowArray, buffer: int) -> Callable[[int], bool]:
    address, offset = array.buffers[buffer], array.offset
    return lambda i: bool(bytes_at(address, (offset + i) // 8, 1)[0] >> (offset + i) % 8 & 1)


def validity(array: ArrowArray) -> Callable[[int], bool]:
    """No bitmap says that all is valid, and so does a null count of 0, whatever the bitmap says."""
    if array.null_count == 0 or not array.buffers[0]:
        return lambda _: True
    return bits(array, 0)


# --- Values -----------------------------------------------------------------------------------------------------------


def broken(path: Path, message: str) -> RefusedError:
    return RefusedError("broken_structure", path, message)


def reader(t: pa.DataType, array: ArrowArray, path: Path, pointing: Path | None = None) -> Reader:
    """What reads the values of an array, nulls among them; nothing outside of it is read.

    A place outside is the fault of what points there, which is at `pointing` unless that has the same path.
    """
    read = _reader(t, array, path)

    def inside(i: int) -> Value:
        if not 0 <= i < array.length:
            raise broken(path if pointing is None else pointing, f"slot {i} of an array of {array.length}")
        return read(i)

    return inside


def _reader(t: pa.DataType, array: ArrowArray, path: Path) -> Reader:
    if isinstance(t, pa.BaseExtensionType):
        return _reader(t.storage_type, array, path)
    if pt.is_null(t):
        return lambda _: None
    if pt.is_run_end_encoded(t):
        return _runs(t, array, path)
    if pt.is_union(t):
        return _union(t, array, path)
    valid, present = validity(array), _present(t, array, path)
    return lambda i: present(i) if valid(i) else None


def _present(t: pa.DataType, array: ArrowArray, path: Path) -> Reader:
    """What reads the values of slots that are valid in this array itself."""
    if pt.is_dictionary(t):
        index = integers(array, 1, t.index_type.bit_width // 8, pt.is_signed_integer(t.index_type))
        entry = reader(t.value_type, array.dictionary.contents, path)
        return lambda i: entry(index(i))
    if pt.is_boolean(t):
        return bits(array, 1)
    if is_bytes(t) or is_text(t):
        return _bytes(t, array, path)
    if is_list(t):
        item, places = reader(t.value_type, array.children[0].contents, path), _items(t, array, path)
        if pt.is_null(decoded(t.value_type)):
            return lambda i: Nulls(len(places(i)))
        return lambda i: [item(place) for place in places(i)]
    if pt.is_map(t):
        entry, places = _entries(t, array.children[0].contents, path), _items(t, array, path)
        return lambda i: [entry(place) for place in places(i)]
    if pt.is_struct(t):
        fields = [_child(t, array, child, path) for child in range(t.num_fields)]
        return lambda i: tuple(field(array.offset + i) for field in fields)
    if pt.is_decimal(t):
        return _decimal(t, array, path)
    return fixed(array, 1, t.bit_width // 8)


def _child(t: pa.DataType, array: ArrowArray, child: int, path: Path) -> Reader:
    """What reads a field of a struct or of a union."""
    field = t.field(child)
    return reader(field.type, array.children[child].contents, (*path, field.name), pointing=path)


def _decimal(t: pa.DataType, array: ArrowArray, path: Path) -> Reader:
    """Two's complement in 16 bytes, or in 32 where the precision asks for it, however wide the array's values are."""
    number, width = integers(array, 1, t.bit_width // 8), 16 if t.precision <= 38 else 32

    def present(i: int) -> bytes:
        try:
            return number(i).to_bytes(width, "little", signed=True)
        except OverflowError:
            raise RefusedError("decimal", path, f"slot {i} does not fit {width} bytes") from None

    return present


def _bytes(t: pa.DataType, array: ArrowArray, path: Path) -> Reader:
    if pt.is_fixed_size_binary(t):
        return fixed(array, 1, t.byte_width)
    if pt.is_binary_view(t) or pt.is_string_view(t):
        return _view(array, path)
    places, data = _between_offsets(array, pt.is_large_binary(t) or pt.is_large_string(t), path), array.buffers[2]
    return lambda i: bytes_at(data, places(i).start, len(places(i)))


def _view(array: ArrowArray, path: Path) -> Reader:
    view, last = fixed(array, 1, 16), array.n_buffers - 1  # the last buffer holds the lengths of those with long values

    def present(i: int) -> bytes:
        size, short = struct.unpack("<i12s", view(i))
        if 0 <= size <= 12:
            return bytes(short[:size])
        buffer, start = struct.unpack("<4xii", short)
        if size < 0 or start < 0 or not 0 <= buffer < last - 2:
            raise broken(path, f"the view in slot {i} points nowhere")
        held = int.from_bytes(bytes_at(array.buffers[last], buffer * 8, 8), "little")
        if start + size > held:
            raise broken(path, f"the view in slot {i} leaves its buffer of {held} bytes")
        return bytes_at(array.buffers[2 + buffer], start, size)

    return present


def _between_offsets(array: ArrowArray, large: bool, path: Path, limit: int | None = None) -> Callable[[int], range]:
    """Offsets are checked everywhere, under nulls too, since neighbours share them."""
    offset = integers(array, 1, 8 if large else 4)
    offsets = [offset(i) for i in range(array.length + 1)] if array.length else [0]
    if offsets[0] < 0 or any(start > end for start, end in pairwise(offsets)):
        raise broken(path, "offsets fall")
    if limit is not None and offsets[-1] > limit:
        raise broken(path, f"offsets go to {offsets[-1]} of {limit} items")
    return lambda i: range(offsets[i], offsets[i + 1])


def _items(t: pa.DataType, array: ArrowArray, path: Path) -> Callable[[int], range]:
    """Which slots of its child a list has, or which entries a map."""
    limit = array.children[0].contents.length
    start: Callable[[int], int]
    size: Callable[[int], int]
    if pt.is_fixed_size_list(t):
        count: int = t.list_size
        start, size = (lambda i: (array.offset + i) * count), (lambda _: count)
    elif pt.is_list_view(t) or pt.is_large_list_view(t):
        width = 8 if pt.is_large_list_view(t) else 4
        start, size = integers(array, 1, width), integers(array, 2, width)
    else:
        return _between_offsets(array, pt.is_large_list(t), path, limit)

    def places(i: int) -> range:
        first, count = start(i), size(i)
        if first < 0 or count < 0 or first + count > limit:
            raise broken(path, f"the list in slot {i} leaves its {limit} items")
        return range(first, first + count)

    return places


def _entries(t: pa.DataType, entries: ArrowArray, path: Path) -> Reader:
    """A map's entries are structs of a key and a value, which are not null; a null key is one that hashes as a null."""
    valid = validity(entries)
    key = reader(t.key_type, entries.children[0].contents, path)
    value = reader(t.item_type, entries.children[1].contents, path)

    def entry(i: int) -> Value:
        if not valid(i):
            raise RefusedError("map_entry", path, f"entry {i} is null")
        return key(entries.offset + i), value(entries.offset + i)

    return entry


def _union(t: pa.DataType, array: ArrowArray, path: Path) -> Reader:
    """A union has no validity. Its buffers are counted from the last: an extension's export has one before them."""
    dense, codes = t.mode == "dense", list(t.type_codes)
    code = integers(array, array.n_buffers - (2 if dense else 1), 1)
    offset = integers(array, array.n_buffers - 1, 4) if dense else None
    children = [_child(t, array, child, path) for child in range(t.num_fields)]

    def present(i: int) -> Value:
        if code(i) not in codes:
            raise broken(path, f"slot {i} has the type code {code(i)}, which no child has")
        child = codes.index(code(i))  # the number of a child in order; a code is how this array names it
        return child, children[child](offset(i) if offset else array.offset + i)

    return present


def _runs(t: pa.DataType, array: ArrowArray, path: Path) -> Reader:
    ends_array, runs = array.children[0].contents, array.children[1].contents
    end, value = integers(ends_array, 1, t.run_end_type.bit_width // 8), reader(t.value_type, runs, path)
    ends = [end(i) for i in range(ends_array.length)]
    if ends_array.null_count or ends_array.length != runs.length:
        raise broken(path, "each run has one end, which is not null, and one value")
    if any(start >= end for start, end in pairwise([0, *ends])) or (
        array.length and ends[-1:] < [array.offset + array.length]
    ):
        raise broken(path, "run ends do not rise from above 0 up to the last slot")
    return lambda i: value(bisect_right(ends, array.offset + i))
