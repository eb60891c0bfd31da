"""Values compared and read: some slots of a leaf column, as the hash's own description of arrays has them.

Two columns are equal where nulls lie in the same slots at every level, and lists have the same lengths, and values the
same bytes; in another type, where every value has an equal one, see `conversion`. The blocks in which values are
encoded are compared before they become bytes, so nulls cannot be taken for values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from arrow_digest.arrays.nodes import Bitmap, Kind, Node
from arrow_digest.comparing.conversion import NoEqualValueError, convert, is_convertible, nesting
from arrow_digest.rules.arrow0.leaf_columns import Column
from arrow_digest.rules.arrow0.portable import LISTS, Level, Slots, all_valid, extents, plan, resolve, value_bytes

__all__ = ["Cells", "Value", "block", "first_difference", "only_value"]


# So many slots are compared at once.
_BLOCK = 1 << 14
# Values that have a length of their own.
_SIZED = (Kind.BINARY, Kind.VIEW, Kind.FIXED_BINARY)


class Cells(NamedTuple):
    """Some slots of a leaf column, or of the items of its lists.

    Attributes:
        node: The description.
        slots: Which of its slots.
        data_type: The logical type of a slot.
        parents: The validity of the structs above.
    """

    node: Node
    slots: Slots
    data_type: pa.DataType
    parents: tuple[Bitmap, ...] = ()

    @classmethod
    def of(cls, column: Column, data_type: pa.DataType) -> Cells:
        """Return all rows of a leaf column."""
        return cls(column.node, range(column.node.length), data_type, column.parents)

    def part(self, start: int, stop: int) -> Cells:
        """Return some of them."""
        return self._replace(slots=self.slots[start:stop])

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.slots)


class Value(NamedTuple):
    """What one slot holds that is no null: bytes and so on, or the items of a list.

    Attributes:
        node: The description of the values, under all encodings.
        slots: The slot there.
        items: The items of a list, None for other values.
    """

    node: Node
    slots: Slots
    items: Cells | None


def block(cells: Cells) -> list[Level] | None:
    """Return what some slots hold, level by level; None where that is too large to look at at once."""
    return plan(cells.node, cells.slots, cells.parents)


def only_value(cells: Cells) -> Value | None:
    """Return what a single slot holds, None for a null."""
    base, slots, valid = resolve(cells.node, cells.slots, all_valid(cells.parents, cells.slots))
    if valid is not None and not valid.all():
        return None
    if base.kind not in LISTS:
        return Value(base, slots, None)
    assert base.child is not None
    starts, counts = extents(base, slots)
    start = int(starts[0]) if counts[0] else 0
    return Value(base, slots, Cells(base.child, range(start, start + int(counts[0])), cells.data_type.value_type))


def first_difference(a: Cells, b: Cells) -> int | None:
    """Return the first place in which two runs of slots differ; None where they are equal as far as both go."""
    for start in range(0, min(a.size, b.size), _BLOCK):
        stop = min(start + _BLOCK, a.size, b.size)
        if not _equal(a.part(start, stop), b.part(start, stop)):
            return start + _first(a.part(start, stop), b.part(start, stop))
    return None


def _first(a: Cells, b: Cells) -> int:
    low, high = 0, a.size  # the first `low` slots are equal, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        if _equal(a.part(low, middle), b.part(low, middle)):
            low = middle
        else:
            high = middle
    return low


def _equal(a: Cells, b: Cells) -> bool:
    """Return whether as many slots on either side hold the same."""
    blocks = block(a), block(b)
    if blocks[0] is not None and blocks[1] is not None:
        return _same_levels(blocks[0], blocks[1], a.data_type, b.data_type)
    if a.size > 1:
        middle = a.size // 2
        return all(_equal(a.part(*half), b.part(*half)) for half in ((0, middle), (middle, a.size)))
    here, there = only_value(a), only_value(b)
    if here is None or there is None:
        return here is there
    if here.items is not None and there.items is not None:
        return here.items.size == there.items.size and first_difference(here.items, there.items) is None
    # One of them is too large to be assembled, so it is no number.
    if here.items is not None or there.items is not None or not is_convertible(a.data_type, b.data_type):
        return False
    if any(value.node.kind not in _SIZED for value in (here, there)):
        return False
    return np.array_equal(value_bytes(here.node, here.slots), value_bytes(there.node, there.slots))


def _same_levels(a: list[Level], b: list[Level], a_type: pa.DataType, b_type: pa.DataType) -> bool:
    if not all(_same_nulls(x, y) for x, y in zip(a, b, strict=False)):
        return False
    if len(a) != len(b):  # lists and what is none: equal where all is null
        return _value_count(a[min(len(a), len(b)) - 1]) == 0
    lists = zip(a[:-1], b[:-1], strict=True)
    if not all(np.array_equal(x.counts, y.counts) for x, y in lists):  # type: ignore[arg-type]
        return False
    return _same_values(a[-1], b[-1], nesting(a_type)[1], nesting(b_type)[1])


def _value_count(level: Level) -> int:
    return level.slot_count if level.kept is None else len(level.kept)


def _same_nulls(a: Level, b: Level) -> bool:
    if a.slot_count != b.slot_count or _value_count(a) != _value_count(b):
        return False
    return a.kept is None or b.kept is None or np.array_equal(a.kept, b.kept)


def _same_values(a: Level, b: Level, a_type: pa.DataType, b_type: pa.DataType) -> bool:
    if a_type != b_type:
        try:
            if is_convertible(b_type, a_type):
                b = convert(b, b_type, a_type)
            else:
                a = convert(a, a_type, b_type)
        except NoEqualValueError:
            return False
    if a.counts is not None and b.counts is not None:
        return np.array_equal(a.counts, b.counts) and np.array_equal(a.payload, b.payload)  # type: ignore[arg-type]
    if a.values is None or b.values is None:
        return _value_count(a) == 0
    return np.array_equal(a.values, b.values)
