"""Framed cells to Arrow struct columns (spec: in Arrow, mapping)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.canonical.frame import PREFIX, form_of
from kiln_arrow.canonical.layout import COUNTS, DESCRIPTOR_SIZE, HEADER_SIZE, align64
from kiln_arrow.canonical.typetext import Dict, Leaf, List, Option, Struct, Type, parse_type
from kiln_arrow.columns.cells import CellArray, require_room
from kiln_arrow.columns.checked_cells import at_row
from kiln_arrow.columns.extension_types import FRAME, is_kiln
from kiln_arrow.columns.nested import cell_arrays
from kiln_arrow.columns.producers import chunks_of
from kiln_arrow.columns.storage_arrays import LIMIT, runs_within
from kiln_arrow.columns.type_mapping import ARROW_OF_WORD, arrow_of
from kiln_arrow.errors import KilnError
from kiln_arrow.limits import Budget

__all__ = [
    "to_structs",
]


def to_structs(frame_column: Any) -> Any:
    """Return a column of frames as a struct column, every cell checked.

    An option becomes a field, item or value that may be null, anything else one that may not. A null cell becomes a
    null struct.

    Args:
        frame_column: An Array or ChunkedArray of `kiln.frame`, or whatever exports one by the Arrow C interface.

    Returns:
        A `pyarrow.StructArray`; a `pyarrow.ChunkedArray` for a chunked column, and where one chunk cannot hold all.

    Raises:
        KilnError: A cell is malformed, with its `row`; the column holds no frames (rule `arrow_type`); or the Arrow
            array points outside its buffers (rule `arrow`).

    >>> import kiln_arrow
    >>> frames = kiln_arrow.array([{"id": 7}, None], type=kiln_arrow.FrameType("struct{id:i64,}"))
    >>> kiln_arrow.to_structs(frames).to_pylist()
    [{'id': 7}, None]
    """
    data_type, chunks = chunks_of(frame_column)
    is_chunked = not (isinstance(frame_column, pa.Array) and len(chunks) == 1)
    if not is_kiln(data_type) or data_type.extension_name != FRAME:
        raise KilnError("arrow_type", f"expected a column of kiln.frame, found {data_type!s:.200}")
    kind = parse_type(data_type.type_text)
    budget = Budget()
    structs: list[pa.Array] = []
    base = 0
    for chunk in chunks:
        (leaf,) = cell_arrays(chunk, budget)
        structs += _unframed(leaf._replace(rows=np.arange(base, base + len(chunk))), kind, budget)
        base += len(chunk)
    return structs[0] if len(structs) == 1 and not is_chunked else pa.chunked_array(structs, arrow_of(kind))


def _unframed(leaf: CellArray, kind: Type, budget: Budget) -> list[pa.Array]:
    lengths = leaf.cells.sizes()
    if lengths.max(initial=0) > LIMIT:
        row = int((lengths > LIMIT).argmax())
        sentence = f"expected a cell below 2 GiB, as one struct cannot hold more, found {lengths[row]} bytes"
        raise KilnError("size", sentence, row=leaf.row(row))
    require_room(leaf.cells, budget)
    skipped = leaf.cells.null_count * (_builder(kind, budget).width - _SKIPPED_BYTES)
    budget.spend(skipped, f"{leaf.cells.null_count} null rows of {leaf.type.type_text:.80}")
    structs: list[pa.Array] = []
    slots = iter(leaf.cells)
    form = form_of(leaf.type.type_text)
    # No part of a struct takes more bytes than its frame, so that offsets fit where the frames' would.
    for first, last in runs_within(lengths, LIMIT):
        column = _builder(kind, budget)
        valid: NDArray[np.bool_] = np.ones(last - first, np.bool_)
        for index in range(first, last):
            data = next(slots)
            if data is None:
                valid[index - first] = False
                column.skip()
                continue
            # What is read is what was checked, though somebody else may write to the column's memory.
            whole = memoryview(bytes(data))
            try:
                form.check(whole)
                column.read(whole, PREFIX.size)
            except KilnError as error:
                raise at_row(error, leaf, index) from None
        structs.append(column.finish(valid))
    return structs


# A slot without a value needs as much memory as one that has one, so a wide type makes much of few bytes. Up to this
# many bytes of a slot count as ordinary.
_SKIPPED_BYTES = 64


class _Builder:
    """One part of a struct column; it reads bytes that were checked, and checks nothing itself.

    `read` takes in the value that begins at a place and returns where it ends; `skip` leaves a slot that does not
    count, as a null is above it; `finish` returns the array, null where `valid` is False. A slot that does not count
    takes `width` bytes.
    """

    width = 8

    def read(self, view: memoryview, at: int) -> int:
        raise NotImplementedError

    def skip(self) -> None:
        raise NotImplementedError

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        raise NotImplementedError


def _builder(kind: Type, budget: Budget) -> _Builder:
    if isinstance(kind, Option):
        return _Option(_builder(kind.value, budget), budget)
    if isinstance(kind, Struct):
        return _Struct(kind, budget)
    if isinstance(kind, List):
        return _List(kind, budget)
    if isinstance(kind, Dict):
        return _Map(kind, budget)
    if kind.word == "tensors":
        return _Tensors()
    if kind.word in ("str", "bytes"):
        return _Bytes(ARROW_OF_WORD[kind.word])
    return _Bool() if kind.word == "bool" else _Fixed(ARROW_OF_WORD[kind.word])


def _bitmap(valid: NDArray[np.bool_] | None) -> pa.Buffer | None:
    return None if valid is None or valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))


class _Fixed(_Builder):
    def __init__(self, data_type: pa.DataType) -> None:
        self._type, self._width = data_type, data_type.bit_width // 8
        self._data = bytearray()

    def read(self, view: memoryview, at: int) -> int:
        end: int = at + self._width
        self._data += view[at:end]
        return end

    def skip(self) -> None:
        self._data += bytes(self._width)

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        count = len(self._data) // self._width
        return pa.Array.from_buffers(self._type, count, [_bitmap(valid), pa.py_buffer(self._data)])


class _Bool(_Builder):
    def __init__(self) -> None:
        self._data = bytearray()

    def read(self, view: memoryview, at: int) -> int:
        self._data.append(view[at])
        return at + 1

    def skip(self) -> None:
        self._data.append(0)

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        bits = np.packbits(np.frombuffer(self._data, np.uint8), bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(self._data), [_bitmap(valid), pa.py_buffer(bits)])


class _Bytes(_Builder):
    def __init__(self, data_type: pa.DataType) -> None:
        self._type = data_type
        self._ends = [0]
        self._data = bytearray()

    def read(self, view: memoryview, at: int) -> int:
        start = at + 8
        end = start + int.from_bytes(view[at:start], "little")
        self._take(view[start:end])
        return end

    def _take(self, data: memoryview) -> None:
        self._data += data
        self._ends.append(len(self._data))

    def skip(self) -> None:
        self._ends.append(len(self._data))

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        offsets = pa.py_buffer(np.array(self._ends, np.int32))
        return pa.Array.from_buffers(
            self._type, len(self._ends) - 1, [_bitmap(valid), offsets, pa.py_buffer(self._data)]
        )


class _Tensors(_Bytes):
    def __init__(self) -> None:
        super().__init__(arrow_of(Leaf("tensors")).storage_type)

    def read(self, view: memoryview, at: int) -> int:
        tensor_count, name_bytes, payload_bytes = COUNTS.unpack_from(view, at)
        end = at + align64(HEADER_SIZE + DESCRIPTOR_SIZE * tensor_count + name_bytes) + align64(payload_bytes)
        self._take(view[at:end])
        return end

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        return arrow_of(Leaf("tensors")).wrap_array(super().finish(valid))


class _Option(_Builder):
    def __init__(self, inner: _Builder, budget: Budget) -> None:
        self._inner, self._budget = inner, budget
        self.width = inner.width
        self._valid: list[bool] = []

    def read(self, view: memoryview, at: int) -> int:
        there = view[at] == 1
        self._valid.append(there)
        if there:
            return self._inner.read(view, at + 1)
        if self.width > _SKIPPED_BYTES:
            self._budget.spend(self.width - _SKIPPED_BYTES, "options without a value")
        self._inner.skip()
        return at + 1

    def skip(self) -> None:
        self._valid.append(False)
        self._inner.skip()

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        return self._inner.finish(np.array(self._valid, np.bool_))


class _List(_Builder):
    def __init__(self, kind: List, budget: Budget) -> None:
        self._type = arrow_of(kind)
        self._item = _builder(kind.item, budget)
        self._ends = [0]

    def read(self, view: memoryview, at: int) -> int:
        count = int.from_bytes(view[at : at + 8], "little")
        at += 8
        for _ in range(count):
            at = self._item.read(view, at)
        self._ends.append(self._ends[-1] + count)
        return at

    def skip(self) -> None:
        self._ends.append(self._ends[-1])

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        buffers = [_bitmap(valid), pa.py_buffer(np.array(self._ends, np.int32))]
        return pa.Array.from_buffers(self._type, len(self._ends) - 1, buffers, children=[self._item.finish(None)])


class _Map(_Builder):
    def __init__(self, kind: Dict, budget: Budget) -> None:
        self._type = arrow_of(kind)
        self._key, self._value = _Bytes(pa.string()), _builder(kind.value, budget)
        self._ends = [0]

    def read(self, view: memoryview, at: int) -> int:
        count = int.from_bytes(view[at : at + 8], "little")
        at += 8
        for _ in range(count):
            at = self._value.read(view, self._key.read(view, at))
        self._ends.append(self._ends[-1] + count)
        return at

    def skip(self) -> None:
        self._ends.append(self._ends[-1])

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        fields = [self._type.key_field, self._type.item_field]
        entries = pa.StructArray.from_arrays([self._key.finish(None), self._value.finish(None)], fields=fields)
        buffers = [_bitmap(valid), pa.py_buffer(np.array(self._ends, np.int32))]
        return pa.Array.from_buffers(self._type, len(self._ends) - 1, buffers, children=[entries])


class _Struct(_Builder):
    def __init__(self, kind: Struct, budget: Budget) -> None:
        self._type = arrow_of(kind)
        self._fields = [_builder(field, budget) for _, field in kind.fields]
        self.width = sum(field.width for field in self._fields)
        self._count = 0

    def read(self, view: memoryview, at: int) -> int:
        for field in self._fields:
            at = field.read(view, at)
        self._count += 1
        return at

    def skip(self) -> None:
        for field in self._fields:
            field.skip()
        self._count += 1

    def finish(self, valid: NDArray[np.bool_] | None) -> pa.Array:
        children = [field.finish(None) for field in self._fields]
        return pa.Array.from_buffers(self._type, self._count, [_bitmap(valid)], children=children)
