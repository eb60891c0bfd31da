"""Columns that are read as they are stored, made into what they are annotated as: exactly, or not at all.

pyarrow drops what does not fit: it wraps INT96 timestamps around, cuts integers down to the bits they are annotated
with, and takes any value of a column of nulls for a null. So such columns are read without their annotations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from _arrow_io.errors import UnreadableError, format_path
from _arrow_io.int96 import INT96_BYTES, int96_to_timestamps

__all__ = ["as_annotated"]

_RowOf = Callable[[int], int]


def as_annotated(batch: Any, schema: Any, name: str, first_row: int) -> Any:
    """Return a record batch in the schema that its file describes.

    Args:
        batch: What was read, in which some leaves are as they are stored.
        schema: The schema with all annotations.
        name: The file, for errors.
        first_row: The batch's first row in the file.

    Raises:
        UnreadableError: A value does not fit; the error names its column and row.
    """
    try:
        columns = [_restored(batch.column(n), field.type, (field.name,), int) for n, field in enumerate(schema)]
    except _Misfit as misfit:
        row = first_row + misfit.row
        message = f"column {format_path(misfit.path)}, row {row}: {misfit.reason}"
        raise UnreadableError(name, misfit.rule, message, column=misfit.path, row=row) from misfit
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class _Misfit(Exception):  # noqa: N818 -- it never leaves this module
    def __init__(self, path: tuple[str, ...], row: int, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.row = row
        self.rule = rule
        self.reason = reason


def _restored(array: Any, target: Any, path: tuple[str, ...], row_of: _RowOf) -> Any:
    if array.type == target:
        return array
    if isinstance(target, pa.BaseExtensionType):
        storage = array.storage if isinstance(array, pa.ExtensionArray) else array
        return pa.ExtensionArray.from_storage(target, _restored(storage, target.storage_type, path, row_of))
    if pt.is_struct(target):
        array = _compact(array)
        children = [
            _restored(array.field(number), field.type, (*path, field.name), row_of)
            for number, field in enumerate(target)
        ]
        return pa.Array.from_buffers(target, len(array), array.buffers()[:1], array.null_count, 0, children)
    if target.num_fields == 1:  # a list of any kind, or a map
        array = _compact(array)
        items = _restored(array.values, target.field(0).type, path, lambda item: row_of(_row_of_item(array, item)))
        own = array.buffers()[: _LIST_BUFFERS.get(target.id, 2)]
        return pa.Array.from_buffers(target, len(array), own, array.null_count, 0, [items])
    return _restored_leaf(array, target, path, row_of)


_LIST_BUFFERS = {pa.list_(pa.null(), 1).id: 1, pa.list_view(pa.null()).id: 3, pa.large_list_view(pa.null()).id: 3}


def _compact(array: Any) -> Any:
    """Return an array that is no slice of another, so that its children are its own alone."""
    return pa.concat_arrays([array.slice(0, 0), array]) if array.offset else array


def _row_of_item(array: Any, item: int) -> int:
    """Return in which slot of a list array an item of its values is."""
    if pt.is_fixed_size_list(array.type):
        return item // int(array.type.list_size)
    return int(np.searchsorted(array.offsets.to_numpy()[: len(array)], item, side="right")) - 1


def _restored_leaf(array: Any, target: Any, path: tuple[str, ...], row_of: _RowOf) -> Any:
    if pt.is_timestamp(target) and pt.is_fixed_size_binary(array.type) and array.type.byte_width == INT96_BYTES:
        values, misfit = int96_to_timestamps(array, target.unit)
        if misfit is not None:
            raise _Misfit(path, row_of(misfit[0]), "int96", misfit[1])
        return _with_nulls_of(array, target, values)
    if pt.is_null(target):
        if array.null_count < len(array):
            row = row_of(int(np.argmax(array.is_valid().to_numpy(zero_copy_only=False))))
            raise _Misfit(path, row, "corrupt", "broken Parquet: a value in a column that is to hold nulls alone")
        return pa.nulls(len(array))
    if pt.is_integer(target) and pt.is_int32(array.type):
        try:
            return array.cast(target)
        except pa.ArrowInvalid:
            slot, value = _first_outside(array, target)
        reason = f"broken Parquet: {value} in a column that is annotated as {target}"
        raise _Misfit(path, row_of(slot), "corrupt", reason)
    raise _Misfit(path, row_of(0), "corrupt", f"broken Parquet: {array.type} is stored where {target} is described")


def _first_outside(array: Any, target: Any) -> tuple[int, int]:
    limits = np.iinfo(f"{'i' if pt.is_signed_integer(target) else 'u'}{target.bit_width // 8}")
    stored = array.fill_null(0).to_numpy(zero_copy_only=False)
    slot = int(np.argmax((stored < limits.min) | (stored > limits.max)))
    return slot, int(stored[slot])


def _with_nulls_of(array: Any, target: Any, values: Any) -> Any:
    validity = array.is_valid().buffers()[1] if array.null_count else None
    return pa.Array.from_buffers(target, len(array), [validity, pa.py_buffer(values)], array.null_count)
