"""What an array of another library says of itself before NumPy makes something else of it.

NumPy has no nulls. What has some becomes floats with NaN, in which integers above 2^53 lose digits, or loses its mask.
So whoever stands for a tensor is asked first whether it has nulls, and in which dtype its elements are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from kiln_arrow.errors import KilnDtypeError, KilnError, shown
from kiln_arrow.foreign.structure import (
    Slots,
    all_slots,
    has_items,
    is_encoded,
    item_slots,
    list_places,
    looked_up,
    measured,
    without_nulls,
)
from kiln_arrow.limits import Budget

__all__ = [
    "Stated",
    "require_stated",
    "stated_dtypes",
]

Stated = frozenset[np.dtype[Any]]
"""The dtypes that an object states, empty where it states none that NumPy knows by a name of its own."""

_NOTHING: Stated = frozenset()

_NO_DTYPE = np.dtype(object)
"""Stands for an Arrow type whose elements NumPy can hold in no dtype of the table."""


def stated_dtypes(tensor: Any, index: int, name: str | None) -> Stated:
    """Return the dtypes that an object with `__array__` states, and refuse one that has nulls or a mask.

    Raises:
        KilnError: With rule `masked`; or rule `arrow` for a foreign Arrow array that points outside its buffers.
        KilnDtypeError: An Arrow type without numbers in it, which pyarrow is better not asked to turn into objects.
    """
    if _is_masked(tensor):
        raise KilnError("masked", "expected an array without a mask, found a masked array", tensor=index, name=name)
    dtypes: set[np.dtype[Any]] = set()
    for part in _parts(tensor):
        if isinstance(part, (pa.Array, pa.ChunkedArray)):
            try:
                has_nulls = _any_chunk_has_nulls(part)
            except KilnError as error:
                raise error.placed(tensor=index, name=name) from None
            if has_nulls:
                raise _nulls(type(tensor), index, name)
            found = _dtypes_of_arrow(part.type)
            if part is tensor and (_NO_DTYPE in found or pa.types.is_struct(part.type)):
                sentence = f"expected an array of numbers, found one of {part.type!s:.80}"
                raise KilnDtypeError("dtype", sentence, tensor=index, name=name)
            dtypes |= found
        else:
            if _has_nulls(part):
                raise _nulls(type(tensor), index, name)
            dtypes |= _dtypes_of(getattr(part, "dtype", None))
    return frozenset(dtypes)


def require_stated(array: np.ndarray[Any, Any], stated: Stated, tensor: Any, index: int, name: str | None) -> None:
    """Refuse what NumPy made of an object where that is in another dtype than the object states.

    Raises:
        KilnDtypeError: With rule `dtype`.
    """
    if any(dtype != array.dtype for dtype in stated):
        found = ", ".join(sorted(str(dtype) for dtype in stated))
        sentence = (
            f"expected NumPy to give the dtype that the {type(tensor).__name__} states, {found}, found {array.dtype}"
        )
        raise KilnDtypeError("dtype", sentence, tensor=index, name=name)


def _nulls(kind: type, index: int, name: str | None) -> KilnError:
    sentence = f"expected a tensor without nulls, found a {kind.__name__} that has some; fill or drop them first"
    return KilnError("masked", sentence, tensor=index, name=name)


def _is_masked(tensor: Any) -> bool:
    if isinstance(tensor, np.ma.MaskedArray):
        return True
    mask = getattr(tensor, "mask", None)  # a method in pandas
    return mask is not None and not callable(mask) and bool(np.asarray(mask).any())


def _parts(tensor: Any) -> Iterator[Any]:
    """Yield what an object is made of: Arrow arrays where it has Arrow's validity, columns of a table, or itself."""
    if isinstance(tensor, (pa.Array, pa.ChunkedArray)):
        yield tensor
    elif isinstance(tensor, (pa.Table, pa.RecordBatch)):
        yield from tensor.columns
    elif isinstance(tensor, np.ndarray) or isinstance(getattr(tensor, "dtype", None), np.dtype):
        yield tensor  # NumPy's own memory, in which NaN is a value, though an export to Arrow may call it null
    elif _is_pandas(tensor):
        yield from _parts_of_pandas(tensor)
    elif hasattr(tensor, "__arrow_c_stream__"):
        yield pa.chunked_array(tensor)
    elif hasattr(tensor, "__arrow_c_array__"):
        yield pa.array(tensor)
    else:
        yield tensor


def _is_pandas(tensor: Any) -> bool:
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return False
    kinds = (pandas.DataFrame, pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
    return isinstance(tensor, kinds)


def _parts_of_pandas(tensor: Any) -> Iterator[Any]:
    if hasattr(tensor, "dtypes") and hasattr(tensor, "columns"):
        for place in range(tensor.shape[1]):
            yield from _parts(tensor.iloc[:, place])
    elif hasattr(tensor, "array"):  # a Series or an Index, of an extension dtype
        yield from _parts_of_pandas(tensor.array)
    elif hasattr(tensor.dtype, "pyarrow_dtype"):
        yield tensor.__arrow_array__()
    else:
        yield tensor


def _has_nulls(part: Any) -> bool:
    count = getattr(part, "null_count", None)
    if callable(count):
        count = count()
    if count:
        return True
    if isinstance(getattr(part, "dtype", None), np.dtype) or not _is_pandas(part):
        return False
    return bool(np.asarray(part.isna()).any())


def _dtypes_of(dtype: Any) -> Stated:
    """Return what a dtype object says: NumPy's own, or that inside one of pandas."""
    for found in (
        dtype,
        getattr(dtype, "numpy_dtype", None),  # nullable numbers
        getattr(dtype, "subtype", None),  # sparse ones
        getattr(getattr(dtype, "categories", None), "dtype", None),
    ):
        if isinstance(found, np.dtype):
            return frozenset([found])
    return _NOTHING


def _dtypes_of_arrow(data_type: pa.DataType) -> Stated:
    if isinstance(data_type, pa.Bool8Type) or pa.types.is_boolean(data_type):
        return frozenset([np.dtype(np.bool_)])
    if pa.types.is_integer(data_type) or pa.types.is_floating(data_type):
        return frozenset([np.dtype(data_type.to_pandas_dtype())])
    if pa.types.is_dictionary(data_type) or pa.types.is_fixed_size_list(data_type):
        return _dtypes_of_arrow(data_type.value_type)
    if pa.types.is_struct(data_type):  # as which others export a frame
        fields = [data_type.field(place).type for place in range(data_type.num_fields)]
        return frozenset().union(*map(_dtypes_of_arrow, fields))
    return frozenset([_NO_DTYPE])


def _any_chunk_has_nulls(array: Any) -> bool:
    budget = Budget()
    for chunk in array.chunks if isinstance(array, pa.ChunkedArray) else [array]:
        measured(chunk)
        all_slots(chunk, budget)
        if _has_arrow_nulls(chunk, None, budget):
            return True
    return False


def _has_arrow_nulls(array: pa.Array, at: Slots, budget: Budget) -> bool:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _has_arrow_nulls(array.storage, at, budget)
    if is_encoded(kind):
        array, at = looked_up(array, at)
        return _any_null(at) or _has_arrow_nulls(array, at, budget)
    if pa.types.is_union(kind):
        raise KilnError("array", f"expected an array of numbers, found {shown(str(kind))}")
    at = without_nulls(array, at)
    if _any_null(at):
        return True
    if has_items(kind):
        items = item_slots(array.values, *list_places(array, at), budget)
        return _has_arrow_nulls(array.values, items, budget)
    return any(_has_arrow_nulls(array.field(place), at, budget) for place in range(kind.num_fields))


def _any_null(at: Slots) -> bool:
    return at is not None and bool((at < 0).any())
