"""INT96, Parquet's old type of timestamps: nanoseconds of a day, and the day's Julian number."""

from __future__ import annotations

from typing import Literal, get_args

from _arrow_io.errors import UnknownUnitError

__all__ = ["DEFAULT_INT96_UNIT", "Int96Unit", "require_int96_unit"]

Int96Unit = Literal["ns", "us"]
"""The unit of the Arrow timestamps that INT96 is read as: 64 bits of nanoseconds hold the days from 1677 to 2262."""

DEFAULT_INT96_UNIT: Int96Unit = "ns"


def require_int96_unit(unit: str) -> None:
    """Refuse any other unit.

    Raises:
        UnknownUnitError: It is neither `ns` nor `us`.
    """
    if unit not in get_args(Int96Unit):
        raise UnknownUnitError(unit, get_args(Int96Unit))
