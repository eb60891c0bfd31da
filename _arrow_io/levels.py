"""How many values of its Parquet column each leaf of an array stands for: its own, and each null or empty list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

__all__ = ["value_counts"]


def value_counts(array: Any) -> list[int]:
    """Return the count of each leaf, depth first.

    >>> value_counts(pa.array([[1, 2], [], None]))
    [4]
    """
    if isinstance(array, pa.ExtensionArray):
        return value_counts(array.storage)
    if pt.is_struct(array.type):
        return [count for number in range(array.type.num_fields) for count in value_counts(array.field(number))]
    if pt.is_fixed_size_list(array.type):
        size = int(array.type.list_size)
        values = array.values.slice(array.offset * size, len(array) * size)
        # A null list has as many slots as any other, and is one value.
        own = array.null_count - array.null_count * size if size else len(array)
    elif pt.is_list_view(array.type) or pt.is_large_list_view(array.type):
        sizes = array.sizes.to_numpy()
        values = array.flatten()
        own = int(np.count_nonzero(sizes == 0)) if not array.null_count else len(array) - _count_filled(array, sizes)
    elif array.type.num_fields == 1:  # a list or a map
        offsets = array.offsets.to_numpy()
        values = array.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0])) if len(array) else array.values[:0]
        own = int(np.count_nonzero(offsets[1:] == offsets[:-1])) if len(array) else 0
    else:
        return [len(array)]
    return [own + count for count in value_counts(values)]


def _count_filled(array: Any, sizes: Any) -> int:
    return int(np.count_nonzero((sizes > 0) & array.is_valid().to_numpy(zero_copy_only=False)))
