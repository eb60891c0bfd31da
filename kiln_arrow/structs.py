"""Arrow struct columns to framed cells, a whole column at a time (spec: in Arrow, mapping)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kiln_arrow.building import build
from kiln_arrow.cells import cells_of, chunks_of, decoded, flattened
from kiln_arrow.directory import validate
from kiln_arrow.errors import KilnError, shown
from kiln_arrow.extension import FrameType, buffer_view, check_structure, is_kiln
from kiln_arrow.frame import prefix_of
from kiln_arrow.mapping import below, text_of_struct
from kiln_arrow.uniform import uniform

#: The bytes of each slot; those of slots that do not count may be anything.
_Parts = list[Any]


def from_structs(struct_column: Any) -> Any:
    """Returns a struct column as a column of frames.

    A field, list item or map value that may be null becomes an option. Where a whole struct is null, so is the cell.

    Args:
        struct_column: An Array or ChunkedArray of structs, or whatever exports one by the Arrow C interface.

    Returns:
        A `FrameArray` over binary; a `pyarrow.ChunkedArray` for a chunked column, and where one chunk cannot hold all.

    Raises:
        KilnError: A type that frames do not have (rule `arrow_type`, with its `path`); a null where the field says
            there is none (rule `null`), a key twice in a map (rule `key_order`), text that is not UTF-8, malformed
            tensors, with `row` and `path`; or the Arrow array points outside its buffers (rule `arrow`).

    Example:
        >>> import pyarrow, kiln_arrow
        >>> structs = pyarrow.array([{"id": 1, "tags": ["a"]}, None])
        >>> frames = kiln_arrow.from_structs(structs)
        >>> frames.type.type_text
        'struct{id:option{i64,},tags:option{list{option{str,},},},}'
        >>> kiln_arrow.to_structs(frames).equals(structs)
        True
    """
    chunks = chunks_of(struct_column)
    is_chunked = not (isinstance(struct_column, pa.Array) and len(chunks) == 1)
    data_type = FrameType(text_of_struct(chunks[0].type if chunks else struct_column.type))
    framed: list[pa.Array] = []
    base = 0
    for chunk in chunks:
        found = _framed(chunk, data_type, base)
        base += len(chunk)
        framed += found.chunks if isinstance(found, pa.ChunkedArray) else [found]
    return framed[0] if len(framed) == 1 and not is_chunked else pa.chunked_array(framed, data_type)


def _framed(structs: pa.Array, data_type: FrameType, base: int) -> Any:
    check_structure(structs)
    valid = _valid(structs)
    parts = _structs(structs, "", valid, np.arange(base, base + len(structs)))
    prefix = prefix_of(data_type.type_text)
    lengths: NDArray[np.int64] = np.fromiter(map(len, parts), np.int64, len(parts)) + len(prefix)
    lengths[~valid] = 0

    def fill(memory: NDArray[np.uint8], first: int, last: int) -> None:
        joined = [part for cell in range(first, last) if valid[cell] for part in (prefix, parts[cell])]
        memory[:] = np.frombuffer(b"".join(joined), np.uint8)

    return build(data_type, lengths, valid, fill)


def _valid(array: pa.Array) -> NDArray[np.bool_]:
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    valid: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _field(array: pa.Array, nullable: bool, path: str, present: NDArray[np.bool_], rows: NDArray[np.int64]) -> _Parts:
    """Returns the bytes of a field, item or value, of the slots that are present: those no null lies above."""
    if pa.types.is_dictionary(array.type) or pa.types.is_run_end_encoded(array.type):
        return _field(decoded(array), nullable, path, present, rows)
    valid = _valid(array)
    if nullable:
        parts = _values(array, path, present & valid, rows)
        return [b"".join((b"\1", part)) if there else b"\0" for part, there in zip(parts, valid.tolist(), strict=True)]
    missing = present & ~valid
    if missing.any():
        raise KilnError("null", "expected a value, as the field says, found null", path=path, row=_row(rows, missing))
    return _values(array, path, present, rows)


def _row(rows: NDArray[np.int64], bad: NDArray[np.bool_]) -> int:
    return int(rows[bad.argmax()])


def _values(array: pa.Array, path: str, present: NDArray[np.bool_], rows: NDArray[np.int64]) -> _Parts:
    kind, types = array.type, pa.types
    if is_kiln(kind):
        return _tensors(array.storage, path, present, rows)
    if types.is_struct(kind):
        return _structs(array, path, present, rows)
    if types.is_map(kind):
        return _maps(array, path, present, rows)
    if types.is_boolean(kind):
        bits: NDArray[np.uint8] = np.frombuffer(buffer_view(array.buffers()[1]), np.uint8)
        values = np.unpackbits(bits, count=array.offset + len(array), bitorder="little")[array.offset :]
        return _split(values.tobytes(), 1)
    if types.is_primitive(kind):
        width = kind.bit_width // 8
        data = buffer_view(array.buffers()[1])[array.offset * width : (array.offset + len(array)) * width]
        return _split(bytes(data), width)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        _check_text(array, path, present, rows)
        return _bytes(array.view(_BYTES_LIKE[kind]))
    if kind in _BYTES_LIKE.values():
        return _bytes(array)
    return _lists(array, path, present, rows)


_BYTES_LIKE = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def _split(data: bytes, width: int) -> _Parts:
    return [data[at : at + width] for at in range(0, len(data), width)]


def _bytes(array: pa.Array) -> _Parts:
    return [b"" if data is None else len(data).to_bytes(8, "little") + bytes(data) for data in cells_of(array)]


def _check_text(array: pa.Array, path: str, present: NDArray[np.bool_], rows: NDArray[np.int64]) -> None:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:  # perhaps only where it does not count
        for index, data in enumerate(cells_of(array.view(_BYTES_LIKE[array.type]))):
            if data is None or not present[index]:
                continue
            try:
                str(data, "utf-8")
            except UnicodeDecodeError as error:
                found = shown(bytes(data[error.start : error.end]))
                sentence = f"expected UTF-8, found {found}: {error.reason}"
                raise KilnError("utf8", sentence, path=path, row=int(rows[index])) from None


def _tensors(storage: pa.Array, path: str, present: NDArray[np.bool_], rows: NDArray[np.int64]) -> _Parts:
    cells = cells_of(storage)
    parts: _Parts = [b"" if data is None else data for data in cells]
    if uniform(cells) is None:
        for index, data in enumerate(parts):
            if not present[index]:
                continue
            try:
                validate(data)
            except KilnError as error:
                error.path, error.row = path, int(rows[index])
                raise
    return parts


def _structs(array: pa.Array, path: str, present: NDArray[np.bool_], rows: NDArray[np.int64]) -> _Parts:
    fields = [array.type.field(index) for index in range(array.type.num_fields)]
    columns = [
        _field(array.field(index), field.nullable, below(path, field.name), present, rows)
        for index, field in enumerate(fields)
    ]
    return [b"".join(parts) for parts in zip(*columns, strict=True)]


def _lists(array: pa.Array, path: str, present: NDArray[np.bool_], rows: NDArray[np.int64]) -> _Parts:
    ((items, _),), counts = flattened(array)
    parts = _field(
        items,
        array.type.value_field.nullable,
        below(path, "[item]"),
        np.repeat(present, counts),
        np.repeat(rows, counts),
    )
    lists: _Parts = []
    at = 0
    for count in counts.tolist():
        lists.append(b"".join([count.to_bytes(8, "little"), *parts[at : at + count]]))
        at += count
    return lists


def _maps(array: pa.Array, path: str, present: NDArray[np.bool_], rows: NDArray[np.int64]) -> _Parts:
    ((keys, _), (values, _)), counts = flattened(array)
    inside, rows_inside = np.repeat(present, counts), np.repeat(rows, counts)
    names = _field(keys, False, below(path, "[key]"), inside, rows_inside)
    parts = _field(values, array.type.item_field.nullable, below(path, "[value]"), inside, rows_inside)
    maps: _Parts = []
    at = 0
    for index, count in enumerate(counts.tolist()):
        # Keys sort by their bytes, before which their parts have eight bytes of length.
        entries = sorted((names[entry][8:], entry) for entry in range(at, at + count))
        if present[index]:
            for (key, _), (following, _) in pairwise(entries):
                if key == following:
                    sentence = f"expected every key once in a map, found {shown(key)} twice"
                    raise KilnError("key_order", sentence, path=path, row=int(rows[index]))
        pieces = [count.to_bytes(8, "little")]
        for _, entry in entries:
            pieces += [names[entry], parts[entry]]
        maps.append(b"".join(pieces))
        at += count
    return maps
