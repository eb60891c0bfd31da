"""The dtype table of Kiln directories: codes, names, and the NumPy dtypes that carry them."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

__all__ = [
    "BOOL",
    "BY_CODE",
    "DTYPES",
    "DType",
    "from_numpy",
]


class DType(NamedTuple):
    """One row of the table.

    Attributes:
        code: The number in a descriptor.
        name: The word in the specification.
        item_size: Bytes of one element.
        numpy: The little-endian NumPy dtype.
        is_numpys_own: False for a dtype of `ml_dtypes`.

    >>> import kiln_arrow
    >>> row = kiln_arrow.DTYPES[10]
    >>> row.code, row.name, row.item_size, row.numpy
    (11, 'bf16', 2, dtype(bfloat16))
    """

    code: int
    name: str
    item_size: int
    numpy: np.dtype[Any]
    is_numpys_own: bool


def _row(code: int, name: str, numpy: Any) -> DType:
    dtype: np.dtype[Any] = np.dtype(numpy)
    return DType(code, name, dtype.itemsize, dtype, dtype.isbuiltin != 2)


DTYPES: tuple[DType, ...] = (
    _row(1, "bool", "?"),
    _row(2, "i8", "<i1"),
    _row(3, "i16", "<i2"),
    _row(4, "i32", "<i4"),
    _row(5, "i64", "<i8"),
    _row(6, "u8", "<u1"),
    _row(7, "u16", "<u2"),
    _row(8, "u32", "<u4"),
    _row(9, "u64", "<u8"),
    _row(10, "f16", "<f2"),
    _row(11, "bf16", ml_dtypes.bfloat16),
    _row(12, "f32", "<f4"),
    _row(13, "f64", "<f8"),
    _row(14, "f8e4m3", ml_dtypes.float8_e4m3fn),
    _row(15, "f8e5m2", ml_dtypes.float8_e5m2),
    _row(16, "c64", "<c8"),
    _row(17, "c128", "<c16"),
)
"""The table, in order of the codes 1 to 17."""

BOOL = DTYPES[0]

BY_CODE: dict[int, DType] = {row.code: row for row in DTYPES}
"""Rows by their code in a descriptor."""

_BY_NUMPY: dict[np.dtype[Any], DType] = {
    **{row.numpy.newbyteorder(">"): row for row in DTYPES},
    **{row.numpy: row for row in DTYPES},
}

# Where long double is as wide as double the two compare equal, yet they are not the same everywhere.
_LONG_DOUBLES = "gG"


def from_numpy(dtype: np.dtype[Any]) -> DType | None:
    """Return the row that carries `dtype` in either byte order, or None for a dtype outside the table."""
    return None if dtype.char in _LONG_DOUBLES else _BY_NUMPY.get(dtype)
