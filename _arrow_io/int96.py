"""INT96, Parquet's old type of timestamps: nanoseconds of a day, and the day's Julian number."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from _arrow_io.errors import UnknownUnitError

__all__ = ["DEFAULT_INT96_UNIT", "INT96_BYTES", "Int96Unit", "int96_to_timestamps", "require_int96_unit"]

Int96Unit = Literal["ns", "us"]
"""The unit of the Arrow timestamps that INT96 is read as: 64 bits of nanoseconds hold the days from 1677 to 2262."""

DEFAULT_INT96_UNIT: Int96Unit = "ns"

INT96_BYTES = 12

_LAYOUT = np.dtype([("nanoseconds", "<i8"), ("day", "<i4")])
_EPOCH = 2_440_588  # the Julian number of 1970-01-01
_DAY_NANOSECONDS = 86_400 * 10**9
_NANOSECONDS = {"ns": 1, "us": 1000}


def require_int96_unit(unit: str) -> None:
    """Refuse any other unit.

    Raises:
        UnknownUnitError: It is neither `ns` nor `us`.
    """
    if unit not in get_args(Int96Unit):
        raise UnknownUnitError(unit, get_args(Int96Unit))


def int96_to_timestamps(array: Any, unit: str) -> tuple[Any, tuple[int, str] | None]:
    """Return INT96 values as 64-bit counts of a unit since 1970, and the first of them that has no exact count.

    Nanoseconds may be more than a day's, or negative: what counts is the sum.

    Args:
        array: A `pyarrow.FixedSizeBinaryArray` of the twelve bytes of each.
        unit: `ns` or `us`.

    Returns:
        The counts as NumPy's int64, which mean nothing for nulls; and None, or the slot that does not fit, and why.
    """
    stored = np.frombuffer(array.buffers()[1] or b"", _LAYOUT, len(array), array.offset * INT96_BYTES)
    day = stored["day"].astype(np.int64) - _EPOCH + stored["nanoseconds"] // _DAY_NANOSECONDS
    rest = stored["nanoseconds"] % _DAY_NANOSECONDS
    size = _NANOSECONDS[unit]
    day_size = _DAY_NANOSECONDS // size
    first_day, first_rest = divmod(-(2**63), day_size)
    last_day, last_rest = divmod(2**63 - 1, day_size)
    count = rest // size
    outside = (day < first_day) | (day > last_day)
    outside |= (day == first_day) & (count < first_rest)
    outside |= (day == last_day) & (count > last_rest)
    inexact = rest % size != 0
    misfits = outside | inexact
    if array.null_count:
        misfits &= array.is_valid().to_numpy(zero_copy_only=False)
    misfit = None
    if misfits.any():
        slot = int(np.argmax(misfits))
        misfit = slot, _why(unit, int(day[slot]), int(rest[slot]), is_outside=bool(outside[slot]))
    # On the first day of all the product is less than 64 bits hold, and the sum is not: both wrap around.
    return day * day_size + count, misfit


def _why(unit: str, day: int, rest: int, *, is_outside: bool) -> str:
    other = {"ns": "us", "us": "ns"}[unit]
    way_out = f'; int96_unit="{other}" (--int96 {other}) reads it'
    when = f"the INT96 timestamp {rest} nanoseconds after day {day} of 1970"
    if not is_outside:
        return f"{when} has digits below a microsecond{way_out}"
    limits = "nanoseconds (1677 to 2262)" if unit == "ns" else "microseconds"
    return f"{when} is outside what 64 bits of {limits} hold{way_out if unit == 'ns' else ''}"
