"""Foreign Arrow arrays read by code that looks before it follows: no kernel of pyarrow's is asked.

An array from a file may have offsets, views, indices and run ends that lead outside its buffers, under nulls even where
pyarrow calls it valid. pyarrow's casts, `take`, `nbytes` and others follow them and end the process. What stands here
reads each number once, into memory of its own, and compares it with what is there before it is used.

Where a function takes `at`, it says which slots of the array count, in the order wanted: -1 is a slot that is null
above, None stands for every slot in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import lib

from kiln_arrow.errors import KilnError
from kiln_arrow.limits import SLOT_BYTES, Budget

__all__ = [
    "INLINE_VIEW",
    "Slots",
    "all_slots",
    "bits_of",
    "bounded",
    "bytes_places",
    "children_of",
    "has_items",
    "is_encoded",
    "item_slots",
    "list_places",
    "looked_up",
    "measured",
    "offsets_of",
    "picked",
    "refused",
    "require_depth",
    "require_lengths",
    "without_nulls",
]

Slots = NDArray[np.int64] | None
"""Which slots count; see above."""

_MAX_DEPTH = 128

_OFFSETS = {
    lib.Type_BINARY: "<i4",
    lib.Type_STRING: "<i4",
    lib.Type_LIST: "<i4",
    lib.Type_MAP: "<i4",
    lib.Type_LIST_VIEW: "<i4",
    lib.Type_LARGE_BINARY: "<i8",
    lib.Type_LARGE_STRING: "<i8",
    lib.Type_LARGE_LIST: "<i8",
    lib.Type_LARGE_LIST_VIEW: "<i8",
}
_BYTES = (lib.Type_BINARY, lib.Type_STRING, lib.Type_LARGE_BINARY, lib.Type_LARGE_STRING)
_VIEWS = (lib.Type_BINARY_VIEW, lib.Type_STRING_VIEW)
_LIST_VIEWS = (lib.Type_LIST_VIEW, lib.Type_LARGE_LIST_VIEW)
_LISTS = (lib.Type_LIST, lib.Type_LARGE_LIST, lib.Type_MAP, lib.Type_FIXED_SIZE_LIST, *_LIST_VIEWS)
_ENCODED = (lib.Type_DICTIONARY, lib.Type_RUN_END_ENCODED)
_UNIONS = (lib.Type_SPARSE_UNION, lib.Type_DENSE_UNION)
_WITHOUT_BITMAP = (lib.Type_RUN_END_ENCODED, *_UNIONS)

INLINE_VIEW = 12
"""A view of up to this many bytes holds them itself, after its length."""


def refused(sentence: str) -> KilnError:
    """Return the error for an array that points outside its buffers."""
    return KilnError("arrow", f"expected a sound Arrow array, found {sentence}")


def is_encoded(data_type: pa.DataType) -> bool:
    """Return whether an array of the type has its values elsewhere: in a dictionary, or one for a run of slots."""
    return data_type.id in _ENCODED


def children_of(data_type: pa.DataType) -> Iterator[pa.DataType]:
    """Yield the types that a type is made of: of fields, items, values, or the storage of an extension."""
    if isinstance(data_type, pa.BaseExtensionType):
        yield data_type.storage_type
    elif is_encoded(data_type):
        yield data_type.value_type
    else:
        for index in range(data_type.num_fields):
            yield data_type.field(index).type


def require_depth(data_type: pa.DataType, levels: int = _MAX_DEPTH) -> None:
    """Refuse a type whose levels no recursion should follow.

    Raises:
        KilnError: More than 128 levels; rule `depth`.
    """
    if levels == 0:
        raise KilnError("depth", f"expected a type of at most {_MAX_DEPTH} levels, found one more")
    for child in children_of(data_type):
        require_depth(child, levels - 1)


def require_lengths(array: pa.Array) -> None:
    """Refuse an array with a part that is too short; only then may pyarrow be asked for its parts.

    pyarrow's accessors abort the process where a child is shorter than its parent says. Its check that is not `full`
    compares lengths and sizes of buffers at every level, and follows nothing.

    Raises:
        KilnError: With rule `arrow`.
    """
    if not array.is_cpu:
        raise KilnError("arrow", f"expected an array in the CPU's memory, found one on {array.device_type}")
    require_depth(array.type)
    try:
        array.validate()
    except (pa.ArrowInvalid, pa.ArrowIndexError, pa.ArrowNotImplementedError) as error:
        raise refused(f"this: {error}") from error


def bounded(buffer: Any, dtype: str, first: int, count: int) -> NDArray[Any]:
    """Return a copy of `count` numbers of a buffer, from one of them on."""
    if count == 0:
        return np.empty(0, dtype)
    size = 0 if buffer is None else buffer.size
    end = (first + count) * np.dtype(dtype).itemsize
    if first < 0 or end > size:
        raise refused(f"a buffer of {size} bytes where {end} are needed")
    numbers = np.frombuffer(buffer, dtype, count, first * np.dtype(dtype).itemsize)
    return np.array(numbers)


def picked(values: NDArray[Any], at: Slots) -> NDArray[Any]:
    """Return the values of the slots that count, anything where there is none."""
    if at is None:
        return values
    return values[at] if len(values) else np.zeros((len(at), *values.shape[1:]), values.dtype)


def bits_of(buffer: Any, first: int, count: int) -> NDArray[np.bool_]:
    """Return `count` bits of a buffer, from one of them on."""
    start = first // 8
    data = bounded(buffer, "u1", start, (first + count + 7) // 8 - start)
    bits = np.unpackbits(data, count=first % 8 + count, bitorder="little")[first % 8 :]
    return bits.view(np.bool_)


def without_nulls(array: pa.Array, at: Slots) -> Slots:
    """Return the slots with those at -1 that are null in this array."""
    if array.type.id == lib.Type_NA:
        return np.full(len(array) if at is None else len(at), -1, np.int64)
    # Neither runs nor unions have a bitmap. A count of 0 is believed, as pyarrow believes it.
    if array.type.id in _WITHOUT_BITMAP or not len(array):
        return at
    bitmap = array.buffers()[0]
    if bitmap is None or array.null_count == 0:
        return at
    valid = bits_of(bitmap, array.offset, len(array))
    if at is None:
        return np.where(valid, np.arange(len(array)), -1)
    return np.where(picked(valid, at), at, -1)


def looked_up(array: pa.Array, at: Slots) -> tuple[pa.Array, Slots]:
    """Return the values of a dictionary or run-end encoded array, and the slot in them of each that counts."""
    return _values_of_runs(array, at) if array.type.id == lib.Type_RUN_END_ENCODED else _values_of_indices(array, at)


def _values_of_indices(array: pa.Array, at: Slots) -> tuple[pa.Array, Slots]:
    index_type, values = array.type.index_type, array.dictionary
    kind = "i" if pa.types.is_signed_integer(index_type) else "u"
    at = without_nulls(array, at)
    # The largest unsigned numbers become negative ones, which are no indices either.
    indices = picked(
        bounded(array.buffers()[1], f"<{kind}{index_type.bit_width // 8}", array.offset, len(array)), at
    ).astype(np.int64)
    wrong = (indices < 0) | (indices >= len(values))
    if at is not None:
        wrong &= at >= 0
    if wrong.any():
        raise refused(f"an index {indices[wrong][0]} into a dictionary of {len(values)} values")
    return values, indices if at is None else np.where(at < 0, -1, indices)


def _values_of_runs(array: pa.Array, at: Slots) -> tuple[pa.Array, Slots]:
    ends = _run_ends(array)
    slots = np.arange(len(array)) if at is None else at
    runs = np.searchsorted(ends, slots + array.offset, side="right").astype(np.int64)
    return array.values, runs if at is None else np.where(at < 0, -1, runs)


def _run_ends(array: pa.Array) -> NDArray[np.int64]:
    """Return the ends of runs: rising, as many as values, the last no sooner than the array ends."""
    runs, count = array.run_ends, len(array.values)
    require_lengths(runs)
    if runs.null_count or len(runs) != count:
        raise refused(f"{len(runs)} run ends, {runs.null_count} of them null, for {count} values")
    ends = bounded(runs.buffers()[1], f"<i{runs.type.bit_width // 8}", runs.offset, len(runs)).astype(np.int64)
    if (ends < 1).any() or (ends[1:] <= ends[:-1]).any():
        raise refused("run ends that do not rise from 1")
    if len(array) and (not count or ends[-1] < array.offset + len(array)):
        raise refused(f"runs that end before slot {array.offset + len(array)}")
    return ends


def offsets_of(array: pa.Array, end: int) -> NDArray[np.int64]:
    """Return the offsets of an array's slots and of its end: rising, from 0 to `end`; in the array's own width."""
    if not len(array):
        return np.zeros(1, np.int64)
    offsets = bounded(array.buffers()[1], _OFFSETS[array.type.id], array.offset, len(array) + 1)
    if offsets[0] < 0 or offsets[-1] > end or (offsets[1:] < offsets[:-1]).any():
        raise refused(f"offsets that do not rise from 0 to {end}")
    return offsets


def _ranges(offsets: NDArray[Any], at: Slots) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the range of each slot that counts begins, and how long it is."""
    offsets = offsets.astype(np.int64)
    return picked(offsets[:-1], at), picked(np.diff(offsets), at)


def has_items(data_type: pa.DataType) -> bool:
    """Return whether the slots of a type are lists of any layout, those of maps and of fixed size among them."""
    return data_type.id in _LISTS


def list_places(array: pa.Array, at: Slots) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the items of each list that counts begin in `array.values`, and how many: none where it is null."""
    kind, end = array.type.id, len(array.values)
    at = without_nulls(array, at)
    if kind == lib.Type_FIXED_SIZE_LIST:
        size = array.type.list_size
        if (array.offset + len(array)) * size > end:
            raise refused(f"{end} items where {(array.offset + len(array)) * size} are needed")
        starts = (np.arange(len(array)) if at is None else at) * size + array.offset * size
        counts = np.full(len(starts), size, np.int64)
    elif kind in _LIST_VIEWS:
        firsts, sizes = (
            bounded(array.buffers()[index], _OFFSETS[kind], array.offset, len(array)).astype(np.int64)
            for index in (1, 2)
        )
        starts, counts = picked(firsts, at), picked(sizes, at)
        wrong = (starts < 0) | (counts < 0) | (counts > end) | (starts > end - counts)
        if at is not None:
            wrong &= at >= 0
        if wrong.any():
            raise refused(f"a list view outside the {end} items")
    else:
        starts, counts = _ranges(offsets_of(array, end), at)
    if at is not None:
        counts = np.where(at < 0, 0, counts)
    return starts, counts


def all_slots(array: pa.Array, budget: Budget) -> None:
    """Count the slots of a whole column: one of runs or without bytes may claim any number of them."""
    _expand(len(array), array, budget)


def item_slots(
    items: pa.Array, starts: NDArray[np.int64], counts: NDArray[np.int64], budget: Budget
) -> NDArray[np.int64]:
    """Return the slots of the items of lists, one list after another."""
    # In Python's integers, as lists that share their items may have any number of them.
    total = int(counts.sum(dtype=np.float64)) if len(counts) else 0
    _expand(total, items, budget)
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))


def _expand(count: int, array: pa.Array, budget: Budget) -> None:
    # A slot that takes a bit is the smallest that has a byte of its own; lists may share items beyond that.
    backed = min(len(array), 8 * array.get_total_buffer_size())
    if count > backed:
        budget.spend(SLOT_BYTES * (count - backed), f"{count} slots of {array.type!s:.80}")


def bytes_places(
    array: pa.Array, at: Slots
) -> tuple[list[Any], NDArray[np.int64] | None, NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_] | None]:
    """Return where the bytes of text or binary lie: buffers, and which, starts, lengths and validity of each slot."""
    buffers = array.buffers()
    at = without_nulls(array, at)
    valid = None if at is None or (at >= 0).all() else at >= 0
    if array.type.id not in _VIEWS:
        starts, lengths = _ranges(offsets_of(array, _byte_count(array)), at)
        return buffers[2:], None, starts, lengths, valid
    views = picked(bounded(buffers[1], "<i4", array.offset * 4, len(array) * 4).reshape(-1, 4), at)
    lengths, which, starts = (views[:, column].astype(np.int64) for column in (0, 2, 3))
    sizes = np.array([0 if buffer is None else buffer.size for buffer in buffers[2:]] + [0], np.int64)
    short = (lengths >= 0) & (lengths <= INLINE_VIEW)
    inside = (lengths >= 0) & (which >= 0) & (which < len(sizes) - 1) & (starts >= 0)
    inside &= starts + lengths <= sizes[np.where(inside, which, -1)]
    wrong = ~(short | inside)
    if valid is not None:
        wrong &= valid
    if wrong.any():
        raise refused("a view that leads outside its buffers")
    # The views themselves are the first buffer, for what they hold.
    slots = np.arange(len(array)) if at is None else at
    which = np.where(short, 0, which + 1)
    starts = np.where(short, (slots + array.offset) * 16 + 4, starts)
    return buffers[1:], which, starts, lengths, valid


def _byte_count(array: pa.Array) -> int:
    data = array.buffers()[2]
    return 0 if data is None else int(data.size)


def measured(array: pa.Array) -> int:
    """Return about how many bytes a whole array has, with everything in it checked that a null does not hide.

    Raises:
        KilnError: It points outside its buffers; rule `arrow`.
    """
    require_lengths(array)
    return _measured(array, None, Budget())


def _measured(array: pa.Array, at: Slots, budget: Budget) -> int:
    kind = array.type
    count = len(array) if at is None else len(at)
    if isinstance(kind, pa.BaseExtensionType):
        return _measured(array.storage, at, budget)
    if kind.id in _ENCODED:
        if kind.id == lib.Type_RUN_END_ENCODED and at is None:
            at = np.searchsorted(_run_ends(array), [array.offset, array.offset + max(len(array), 1) - 1], side="right")
            values, slots = array.values, np.arange(at[0], at[1] + 1 if len(array) else at[0])
        else:
            values, found = looked_up(array, at)
            slots = np.unique(np.zeros(0, np.int64) if found is None else found)
        return count + _measured(values, slots[slots >= 0], budget)
    if kind.id == lib.Type_STRUCT:
        at = without_nulls(array, at)
        return sum(_measured(array.field(index), at, budget) for index in range(kind.num_fields))
    if kind.id in _LISTS:
        if at is None:
            all_slots(array, budget)
        starts, counts = _without_overlap(*list_places(array, at))
        if not len(starts) or (starts[1:] == starts[:-1] + counts[:-1]).all():
            first = int(starts[0]) if len(starts) else 0
            return count * 4 + _measured(array.values.slice(first, int(counts.sum())), None, budget)
        return count * 4 + _measured(array.values, item_slots(array.values, starts, counts, budget), budget)
    if kind.id in _BYTES and at is None and array.null_count == 0:
        offsets = offsets_of(array, _byte_count(array))
        return count * 4 + int(offsets[-1]) - int(offsets[0])
    if kind.id in _BYTES or kind.id in _VIEWS:
        *_, lengths, valid = bytes_places(array, at)
        return count * 4 + int((lengths if valid is None else lengths[valid]).sum())
    if kind.id in _UNIONS:
        _require_full(array)
        return count + sum(_measured(array.field(index), None, budget) for index in range(kind.num_fields))
    return count * (getattr(kind, "bit_width", 0) if kind.id != lib.Type_NA else 0) // 8


def _require_full(array: pa.Array) -> None:
    try:
        array.validate(full=True)
    except (pa.ArrowInvalid, pa.ArrowIndexError) as error:
        raise refused(f"this: {error}") from error


def _without_overlap(
    starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ranges that have the same items, each of them once."""
    if not counts.all():
        starts, counts = starts[counts > 0], counts[counts > 0]
    if (starts[1:] >= starts[:-1] + counts[:-1]).all():  # as those of every list with offsets do
        return starts, counts
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], (starts + counts)[order]
    reached = np.maximum.accumulate(ends) if len(ends) else ends
    before = np.concatenate((np.zeros(1, np.int64), reached[:-1])) if len(ends) else ends
    firsts = np.maximum(starts, before)
    sizes = np.maximum(ends - firsts, 0)
    return firsts[sizes > 0], sizes[sizes > 0]
