"""Arrow struct columns to framed cells, a whole column at a time (spec: in Arrow, mapping)."""

from __future__ import annotations

from itertools import compress, pairwise
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.canonical.frame import prefix_of
from kiln_arrow.columns.cells import CellArray, Cells, cells_of, require_room
from kiln_arrow.columns.checked_cells import fronts
from kiln_arrow.columns.extension_types import FrameType, is_kiln
from kiln_arrow.columns.nested import entries_of
from kiln_arrow.columns.producers import chunks_of
from kiln_arrow.columns.storage_arrays import build
from kiln_arrow.columns.type_mapping import text_of_struct
from kiln_arrow.columns.uniform import uniform
from kiln_arrow.errors import KilnError, below, shown
from kiln_arrow.foreign.structure import (
    all_slots,
    bits_of,
    bounded,
    children_of,
    has_items,
    is_encoded,
    item_slots,
    list_places,
    looked_up,
    picked,
    require_lengths,
    without_nulls,
)
from kiln_arrow.limits import SLOT_BYTES, Budget

__all__ = [
    "from_structs",
]

_Parts = list[Any]
"""The bytes of each slot; those of slots that do not count may be anything."""


def from_structs(struct_column: Any) -> Any:
    """Return a struct column as a column of frames.

    A field, list item or map value that may be null becomes an option. Where a whole struct is null, so is the cell.

    Args:
        struct_column: An Array or ChunkedArray of structs, or whatever exports one by the Arrow C interface.

    Returns:
        A `FrameArray` over binary; a `pyarrow.ChunkedArray` for a chunked column, and where one chunk cannot hold all.

    Raises:
        KilnError: A type that frames do not have (rule `arrow_type`, with its `path`); a null where the field says
            there is none (rule `null`), a key twice in a map (rule `key_order`), text that is not UTF-8, malformed
            tensors, with `row` and `path`; or the Arrow array points outside its buffers (rule `arrow`).

    >>> import pyarrow, kiln_arrow
    >>> structs = pyarrow.array([{"id": 1, "tags": ["a"]}, None])
    >>> frames = kiln_arrow.from_structs(structs)
    >>> frames.type.type_text
    'struct{id:option{i64,},tags:option{list{option{str,},},},}'
    >>> kiln_arrow.to_structs(frames).equals(structs)
    True
    """
    kind, chunks = chunks_of(struct_column)
    is_chunked = not (isinstance(struct_column, pa.Array) and len(chunks) == 1)
    data_type = FrameType(text_of_struct(kind))
    budget = Budget()
    framed: list[pa.Array] = []
    base = 0
    for chunk in chunks:
        found = _framed(chunk, data_type, base, budget)
        base += len(chunk)
        framed += found.chunks if isinstance(found, pa.ChunkedArray) else [found]
    return framed[0] if len(framed) == 1 and not is_chunked else pa.chunked_array(framed, data_type)


def _framed(structs: pa.Array, data_type: FrameType, base: int, budget: Budget) -> Any:
    require_lengths(structs)
    all_slots(structs, budget)
    at = _present(structs, np.arange(len(structs)))
    parts = _structs(structs, "", at, np.arange(base, base + len(structs)), budget)
    prefix = prefix_of(data_type.type_text)
    valid = at >= 0
    lengths: NDArray[np.int64] = np.fromiter(map(len, parts), np.int64, len(parts)) + len(prefix)
    lengths[~valid] = 0

    def fill(memory: NDArray[np.uint8], first: int, last: int) -> None:
        cells = list(compress(parts[first:last], valid[first:last].tolist()))
        memory[:] = np.frombuffer(prefix.join([b"", *cells]), np.uint8)

    return build(data_type, lengths, valid, fill)


def _present(array: pa.Array, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the slots with those at -1 that are null."""
    found = without_nulls(array, at)
    assert found is not None
    return found


# A slot of a dictionary takes a byte, and stands for all the fields that its value has. So many count as ordinary.
_ORDINARY_LEAVES = 8


def _leaf_count(data_type: pa.DataType) -> int:
    return 1 if is_kiln(data_type) else sum(map(_leaf_count, children_of(data_type))) or 1


# In what follows, `at` has the slot of each part that is wanted: -1 where a null above it makes it count for nothing.


def _field(
    array: pa.Array, nullable: bool, path: str, at: NDArray[np.int64], rows: NDArray[np.int64], budget: Budget
) -> _Parts:
    """Return the bytes of a field, an item or a value in each slot."""
    wanted = at >= 0
    repeated = False
    while is_encoded(array.type):
        array, found = looked_up(array, at)
        assert found is not None
        at, repeated = found, True
        parts_each = _leaf_count(array.type) - _ORDINARY_LEAVES
        budget.spend(SLOT_BYTES * parts_each * (len(at) - len(array)), f"{len(at)} slots of {array.type!s:.80}")
    at = _present(array, at)
    parts = _values(array, path, at, rows, budget, repeated)
    there = at >= 0
    if nullable:
        return [b"\1" + part if valid else b"\0" for part, valid in zip(parts, there.tolist(), strict=True)]
    missing = wanted & ~there
    if missing.any():
        row = int(rows[missing.argmax()])
        raise KilnError("null", "expected a value, as the field says, found null", path=path, row=row)
    return parts


def _values(
    array: pa.Array, path: str, at: NDArray[np.int64], rows: NDArray[np.int64], budget: Budget, repeated: bool
) -> _Parts:
    kind, types = array.type, pa.types
    if is_kiln(kind):
        return _tensors(_bytes_at(array.storage, at, budget, repeated), kind, path, rows)
    if types.is_struct(kind):
        return _structs(array, path, at, rows, budget)
    if types.is_map(kind):
        return _maps(array, path, at, rows, budget)
    if types.is_boolean(kind):
        bits = picked(bits_of(array.buffers()[1], array.offset, len(array)), at)
        return _split(bits.tobytes(), 1)
    if types.is_primitive(kind):
        width = kind.bit_width // 8
        return _split(picked(bounded(array.buffers()[1], f"<u{width}", array.offset, len(array)), at).tobytes(), width)
    if has_items(kind):
        return _lists(array, path, at, rows, budget)
    cells = _bytes_at(array, at, budget, repeated)
    values = cells.values()
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        _check_text(values, path, rows)
    return list(map(add, _split(cells.sizes().astype("<u8").tobytes(), 8), values))


def _bytes_at(array: pa.Array, at: NDArray[np.int64], budget: Budget, repeated: bool) -> Cells:
    cells = cells_of(array, at, may_repeat=repeated)
    require_room(cells, budget)
    return cells


def _split(data: bytes, width: int) -> _Parts:
    return [data[at : at + width] for at in range(0, len(data), width)]


def _check_text(values: list[bytes], path: str, rows: NDArray[np.int64]) -> None:
    try:
        # All are checked at once: a zero byte is part of no other character, so that it tells them apart.
        str(b"\0".join(values), "utf-8")
    except UnicodeDecodeError as error:
        ends = np.cumsum([len(data) + 1 for data in values])
        index = int(np.searchsorted(ends, error.start, side="right"))
        _require_utf8(values[index], path, int(rows[index]))


def _require_utf8(data: bytes, path: str, row: int) -> None:
    try:
        str(data, "utf-8")
    except UnicodeDecodeError as error:
        found = shown(data[error.start : error.end])
        raise KilnError("utf8", f"expected UTF-8, found {found}: {error.reason}", path=path, row=row) from None


def _tensors(cells: Cells, kind: Any, path: str, rows: NDArray[np.int64]) -> _Parts:
    if uniform(cells) is None:
        for _ in fronts(CellArray(path, kind, cells, rows)):  # each is checked as it comes
            pass
    return [b"" if data is None else data for data in cells]


def _structs(array: pa.Array, path: str, at: NDArray[np.int64], rows: NDArray[np.int64], budget: Budget) -> _Parts:
    fields = [array.type.field(index) for index in range(array.type.num_fields)]
    columns = [
        _field(array.field(index), field.nullable, below(path, field.name), at, rows, budget)
        for index, field in enumerate(fields)
    ]
    return [b"".join(parts) for parts in zip(*columns, strict=True)]


def _lists(array: pa.Array, path: str, at: NDArray[np.int64], rows: NDArray[np.int64], budget: Budget) -> _Parts:
    starts, counts = list_places(array, at)
    slots = item_slots(array.values, starts, counts, budget)
    nullable = array.type.value_field.nullable
    parts = _field(array.values, nullable, below(path, "[item]"), slots, np.repeat(rows, counts), budget)
    lists: _Parts = []
    first = 0
    for count in counts.tolist():
        lists.append(b"".join([count.to_bytes(8, "little"), *parts[first : first + count]]))
        first += count
    return lists


def _maps(array: pa.Array, path: str, at: NDArray[np.int64], rows: NDArray[np.int64], budget: Budget) -> _Parts:
    starts, counts = list_places(array, at)
    slots = item_slots(array.values, starts, counts, budget)
    keys, values = entries_of(array, slots)
    inside = np.repeat(rows, counts)
    names = _field(keys, False, below(path, "[key]"), slots, inside, budget)
    parts = _field(values, array.type.item_field.nullable, below(path, "[value]"), slots, inside, budget)
    maps: _Parts = []
    first = 0
    for index, count in enumerate(counts.tolist()):
        # Keys sort by their bytes, before which their parts have eight bytes of length.
        entries = sorted((names[entry][8:], entry) for entry in range(first, first + count))
        for (key, _), (following, _) in pairwise(entries):
            if key == following:
                sentence = f"expected every key once in a map, found {shown(key)} twice"
                raise KilnError("key_order", sentence, path=path, row=int(rows[index]))
        pieces = [count.to_bytes(8, "little")]
        for _, entry in entries:
            pieces += [names[entry], parts[entry]]
        maps.append(b"".join(pieces))
        first += count
    return maps
