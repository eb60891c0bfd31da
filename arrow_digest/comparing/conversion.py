"""Values of one type as values of another, exactly: the one rule for columns whose type changed.

A value has an equal in another type, or it has none; nothing is rounded, cut off or wrapped:

- A number equals a number: integers, decimals of any scale and bools (0 and 1) by their value. A float equals the
  integer that it is, except for -0.0, and a decimal whose nearest float it is. Floats of two widths are equal where
  widening one gives the bits of the other.
- A point in time equals one in another unit, a date its midnight. Zones say how it is shown, and nothing more. Times of
  day are compared likewise. An integer equals a date, time or timestamp that is stored as it.
- Text equals binary of the same bytes, and what it spells: a number, `true` or `false`, a date or time as ISO 8601 has
  them.

Everything is done on integers and bytes. pyarrow's casts are not asked: they follow what lies under nulls, index a
table of powers without a bound, and wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from arrow_digest.comparing.spelling import MOST_DIGITS, UNIT_DIGITS, parse_number, parse_point
from arrow_digest.rules.arrow0.portable import Level

__all__ = ["NoEqualValueError", "convert", "integers", "is_convertible", "nesting"]

Values = npt.NDArray[Any]
# Whole numbers, each of which stands for itself divided by a power of ten.
Scaled = tuple[Values, int]

_DAY = 86_400
_INT64 = np.iinfo(np.int64)
# The floats of 64 bits hold every integer up to here, and every power of ten up to the 22nd.
_EXACT_INTEGER, _EXACT_POWER = 1 << 53, 22
_MOST_FLOAT_DIGITS = 400


class NoEqualValueError(ValueError):
    """Some value has no equal in the other type."""


def nesting(data_type: pa.DataType) -> tuple[int, pa.DataType]:
    """Return how many lists are around the values of a logical type, and the values' type.

    >>> import pyarrow as pa
    >>> nesting(pa.list_(pa.list_(pa.int8())))
    (2, DataType(int8))
    """
    depth = 0
    while pt.is_list(data_type):
        data_type = data_type.value_type
        depth += 1
    return depth, data_type


def is_convertible(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether values of one logical type can have equals in another, lists around them included.

    >>> import pyarrow as pa
    >>> is_convertible(pa.int8(), pa.decimal128(3, 1)), is_convertible(pa.int8(), pa.time32("s"))
    (True, True)
    >>> is_convertible(pa.string(), pa.list_(pa.string()))
    False
    """
    (depth, found), (wanted_depth, wanted) = nesting(found), nesting(wanted)
    return depth == wanted_depth and _converter(found, wanted) is not None


def convert(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    """Return the values of one level of one type as their equals in another.

    Args:
        level: The values, as `encode.portable.plan` gives them; the lists around them do not matter.
        found: Their logical type.
        wanted: The other.

    Raises:
        NoEqualValueError: Some value has none.
    """
    if found == wanted:
        return level
    count = level.slot_count if level.kept is None else len(level.kept)
    if not count:
        return _filled(level, wanted, np.empty(0, np.uint8))
    converter = _converter(found, wanted)
    if converter is None:
        raise NoEqualValueError(f"{found} and {wanted} have no values in common")
    return converter(level, found, wanted)


def _filled(level: Level, wanted: pa.DataType, values: Values) -> Level:
    if _family(wanted) == "bytes":
        return Level(level.slot_count, level.kept, np.empty(0, np.int64), payload=values.view(np.uint8))
    if pt.is_null(wanted):
        return Level(level.slot_count, level.kept)
    width = 1 if pt.is_boolean(wanted) else wanted.bit_width // 8
    if not len(values):
        values = np.empty((0, width), np.uint8) if width > 8 else np.empty(0, f"<u{width}")
    return Level(level.slot_count, level.kept, width=width, values=values)


def _family(data_type: pa.DataType) -> str:
    if pt.is_integer(data_type):
        return "integer"
    if pt.is_boolean(data_type) or pt.is_decimal(data_type):
        return "number"
    if pt.is_floating(data_type):
        return "float"
    if pt.is_timestamp(data_type) or pt.is_date(data_type):
        return "instant"
    if pt.is_time(data_type):
        return "time"
    return "null" if pt.is_null(data_type) else "bytes"


_Converter = Callable[[Level, pa.DataType, pa.DataType], Level]


def _converter(found: pa.DataType, wanted: pa.DataType) -> _Converter | None:
    pair = _family(found), _family(wanted)
    if "null" in pair:
        return _refuse
    if pt.is_string(found) and pair[1] != "bytes":
        return _spelled
    return _CONVERTERS.get(pair)


def _refuse(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    raise NoEqualValueError("null has no values")


def _same_bytes(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    return level


# Whole numbers: integers, bools, decimals, dates, times and timestamps.


def integers(values: Values, data_type: pa.DataType) -> Values:
    """Return the stored whole numbers of values: as int64, or as Python's where one does not fit.

    Args:
        values: As a `Level` has them: unsigned integers or rows of bytes; of bools 1 and 2.
        data_type: Their type; not a float's, and no text's.
    """
    if pt.is_boolean(data_type):
        return values.astype(np.int64) - 1
    if values.ndim == 2:
        words = values.view("<i8")
        if (words[:, 1:] == words[:, :1] >> 63).all():
            return np.ascontiguousarray(words[:, 0])
        return _objects(int.from_bytes(row.tobytes(), "little", signed=True) for row in values)
    if pt.is_unsigned_integer(data_type):
        return values.astype(object) if values.dtype.itemsize == 8 and (values >> 63).any() else values.astype(np.int64)
    return values.view(f"<i{values.dtype.itemsize}").astype(np.int64)


def _objects(numbers: Iterable[int | float]) -> Values:
    found = list(numbers)
    array = np.empty(len(found), object)
    array[:] = found
    return array


def _unit_digits(data_type: pa.DataType) -> int:
    """Return how many digits of a type's whole numbers are behind the point."""
    if pt.is_decimal(data_type):
        return int(data_type.scale)
    if pt.is_date64(data_type):
        return 3
    return UNIT_DIGITS[data_type.unit] if pt.is_timestamp(data_type) or pt.is_time(data_type) else 0


def _scaled(values: Values, data_type: pa.DataType) -> Scaled:
    numbers = integers(values, data_type)
    return (numbers * _DAY if pt.is_date32(data_type) else numbers), _unit_digits(data_type)


def _numbers(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    assert level.values is not None
    return _filled(level, wanted, _stored(_scaled(level.values, found), wanted))


def _raw(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    assert level.values is not None
    return _filled(level, wanted, _packed(integers(level.values, found), wanted))


def _stored(scaled: Scaled, wanted: pa.DataType) -> Values:
    numbers, digits = scaled
    numbers = _shifted(numbers, _unit_digits(wanted) - digits)
    if pt.is_date32(wanted):
        numbers = _divided(numbers, _DAY)
    return _packed(numbers, wanted)


def _shifted(numbers: Values, digits: int) -> Values:
    """Return numbers with so many more digits behind the point."""
    if digits == 0 or not numbers.any():
        return numbers
    if abs(digits) > MOST_DIGITS:
        raise NoEqualValueError("no number is that small or large")
    power = 10 ** abs(digits)
    if digits < 0:
        return _divided(numbers, power)
    limit = _INT64.max // power
    if numbers.dtype == object or numbers.max() > limit or numbers.min() < -limit:
        numbers = numbers.astype(object)
    shifted: Values = numbers * power
    return shifted


def _divided(numbers: Values, divisor: int) -> Values:
    if divisor > _INT64.max:
        numbers = numbers.astype(object)
    if (numbers % divisor).any():
        raise NoEqualValueError("digits would be lost")
    quotients: Values = numbers // divisor
    return quotients


def _packed(numbers: Values, wanted: pa.DataType) -> Values:
    """Return whole numbers as a type stores them."""
    if pt.is_boolean(wanted):
        if not np.isin(numbers, (0, 1)).all():
            raise NoEqualValueError("neither 0 nor 1")
        return (numbers + 1).astype(np.uint8)
    width = wanted.bit_width // 8
    low, high = (
        (0, (1 << 8 * width) - 1) if pt.is_unsigned_integer(wanted) else (-1 << 8 * width - 1, (1 << 8 * width - 1) - 1)
    )
    if numbers.min() < low or numbers.max() > high:
        raise NoEqualValueError("out of range")
    if width <= 8:
        return numbers.astype(f"<u{width}" if low == 0 else f"<i{width}").view(f"<u{width}")
    if numbers.dtype == object:
        data = b"".join(number.to_bytes(width, "little", signed=True) for number in numbers)
        return np.frombuffer(data, np.uint8).reshape(-1, width)
    words = np.empty((len(numbers), width // 8), "<i8")
    words[:, 0] = numbers
    words[:, 1:] = (numbers >> 63)[:, None]
    return words.view(np.uint8)


# Floats.


def _float_values(level: Level) -> Values:
    assert level.values is not None
    return level.values.view(f"<f{level.values.dtype.itemsize}")


def _bits(floats: Values) -> Values:
    return floats.view(f"<u{floats.dtype.itemsize}")


def _to_width(floats: Values, wanted: pa.DataType) -> Values:
    with np.errstate(all="ignore"):  # what overflows is told by its bits
        return floats.astype(f"<f{wanted.bit_width // 8}")


def _floats(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    floats = _float_values(level)
    other = _to_width(floats, wanted)
    if not np.array_equal(_bits(_to_width(other, found)), _bits(floats)):
        raise NoEqualValueError("digits would be lost")
    return _filled(level, wanted, _bits(other))


def _floats_to_integers(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    floats = _float_values(level).astype("<f8")
    if (
        not np.isfinite(floats).all()
        or (floats != np.trunc(floats)).any()
        or (np.signbit(floats) & (floats == 0)).any()
    ):
        raise NoEqualValueError("no whole number")
    fits = (np.abs(floats) < 2.0**63).all()
    return _filled(level, wanted, _packed(floats.astype(np.int64) if fits else _objects(map(int, floats)), wanted))


def _numbers_to_floats(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    assert level.values is not None
    numbers, digits = _scaled(level.values, found)
    small = numbers.dtype != object and max(numbers.max(), -numbers.min()) <= _EXACT_INTEGER
    if small and 0 <= digits <= _EXACT_POWER:
        floats = numbers.astype("<f8") / 10.0**digits  # of two exact floats the nearest to their quotient
    else:
        floats = np.array([_nearest_float(int(number), digits) for number in numbers], "<f8")
    other = _to_width(floats, wanted)
    if not np.isfinite(other).all():
        raise NoEqualValueError("too large")
    if not pt.is_decimal(found) and any(int(value) != number for value, number in zip(other, numbers, strict=True)):
        raise NoEqualValueError("digits would be lost")
    return _filled(level, wanted, _bits(other))


def _nearest_float(number: int, digits: int) -> float:
    if number == 0:
        return 0.0
    if abs(digits) > _MOST_FLOAT_DIGITS:
        raise NoEqualValueError("no float is that small or large")
    try:
        nearest = number / 10**digits if digits >= 0 else float(number * 10**-digits)
    except OverflowError:
        raise NoEqualValueError("too large") from None
    if nearest == 0:
        raise NoEqualValueError("too small")
    return nearest


# Text that spells something.


def _spelled(level: Level, found: pa.DataType, wanted: pa.DataType) -> Level:
    assert level.counts is not None
    assert level.payload is not None
    family = _family(wanted)
    stored = []
    start = 0
    for count in level.counts.tolist():
        text = bytes(level.payload[start : start + count]) if count <= _MOST_FLOAT_DIGITS else b""
        start += count
        stored.append(_spelled_value(text, family, wanted))
    return _filled(level, wanted, np.concatenate(stored))


def _spelled_value(text: bytes, family: str, wanted: pa.DataType) -> Values:
    if pt.is_boolean(wanted):
        if text not in (b"true", b"false"):
            raise NoEqualValueError("neither true nor false")
        return np.array([1 + (text == b"true")], np.uint8)
    if family == "float":
        if parse_number(text) is None and text.lower() not in (b"nan", b"inf", b"-inf"):
            raise NoEqualValueError("no number")
        return _bits(_to_width(np.array([float(text)], "<f8"), wanted))
    spelled = parse_point(text, family) if family in ("instant", "time") else parse_number(text)
    if spelled is None:
        raise NoEqualValueError("it spells no such value")
    number, digits = spelled
    small = _INT64.min <= number <= _INT64.max
    return _stored((np.array([number], np.int64) if small else _objects([number]), digits), wanted)


_CONVERTERS: dict[tuple[str, str], _Converter] = {
    ("bytes", "bytes"): _same_bytes,
    ("float", "float"): _floats,
    ("float", "integer"): _floats_to_integers,
    ("instant", "instant"): _numbers,
    ("time", "time"): _numbers,
    **{(found, "float"): _numbers_to_floats for found in ("integer", "number")},
    **{(a, b): _numbers for a in ("integer", "number") for b in ("integer", "number")},
    **{("integer", b): _raw for b in ("instant", "time")},
    **{(a, "integer"): _raw for a in ("instant", "time")},
}
