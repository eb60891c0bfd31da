"""Numbers, dates and times as text: ISO 8601 written for any range, and read.

Python's own dates end at the year 9999, have no nanoseconds, and need a database of zones.
"""

from __future__ import annotations

import re

__all__ = ["MOST_DIGITS", "UNIT_DIGITS", "iso_date", "iso_time", "iso_timestamp", "parse_number", "parse_point"]

UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""How many digits of a second each unit of Arrow counts."""

MOST_DIGITS = 80
"""More digits than the widest decimal has."""

_DAY = 86_400
_EPOCH = 719_468  # days from 0000-03-01 to 1970-01-01
_ERA = 146_097  # days in 400 years

_NUMBER = re.compile(rb"([+-]?)(\d{1,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,3}))?")
_DATE = rb"([+-]?\d{4,12})-(\d\d)-(\d\d)"
_TIME = rb"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
_INSTANT = re.compile(_DATE + rb"(?:[T ]" + _TIME + rb"(?:Z|\+00:00)?)?")
_TIME_OF_DAY = re.compile(_TIME)


def iso_date(days: int) -> str:
    """Return the date that is so many days after 1970-01-01, in the Gregorian calendar as it is, years of any length.

    >>> iso_date(0), iso_date(-719_529), iso_date(2**31 - 1)
    ('1970-01-01', '-0001-12-31', '+5881580-07-11')
    """
    era, day = divmod(days + _EPOCH, _ERA)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    shifted = (5 * day + 2) // 153  # months from March
    month = shifted + 3 if shifted < 10 else shifted - 9
    year += 400 * era + (month <= 2)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04}-{month:02}-{day - (153 * shifted + 2) // 5 + 1:02}"


def iso_time(number: int, digits: int) -> str:
    """Return a time of day, given in units of a second with so many digits; what is no time of day is still told apart.

    >>> iso_time(3_661_000_000_001, 9)
    '01:01:01.000000001'
    """
    sign = "-" if number < 0 else ""
    seconds, part = divmod(abs(number), 10**digits)
    minutes, second = divmod(seconds, 60)
    fraction = f".{part:0{digits}}" if part else ""
    return f"{sign}{minutes // 60:02}:{minutes % 60:02}:{second:02}{fraction}"


def iso_timestamp(number: int, digits: int) -> str:
    """Return a point in time, given in units since 1970.

    >>> iso_timestamp(1, 9)
    '1970-01-01T00:00:00.000000001'
    """
    days, rest = divmod(number, _DAY * 10**digits)
    return f"{iso_date(days)}T{iso_time(rest, digits)}"


def parse_number(text: bytes) -> tuple[int, int] | None:
    """Return the number that a text spells, as a whole number and how many of its digits are behind the point.

    >>> parse_number(b"-1.50"), parse_number(b"2e3"), parse_number(b"1_0")
    ((-150, 2), (2, -3), None)
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups()
    digits = (whole + (fraction or b"")).decode("ascii")
    number = int(digits)
    return (-number if sign == b"-" else number), len(fraction or b"") - int(exponent or 0)


def parse_point(text: bytes, family: str) -> tuple[int, int] | None:
    """Return the time of day (`time`) or point in time (`instant`) that a text spells, in units of a second.

    >>> parse_point(b"1970-01-01 00:00:01.5", "instant"), parse_point(b"24:00", "time")
    ((15, 1), None)
    """
    match = (_TIME_OF_DAY if family == "time" else _INSTANT).fullmatch(text)
    if match is None:
        return None
    *date, hour, minute, second, fraction = match.groups()
    hours, minutes, seconds = (int(part or 0) for part in (hour, minute, second))
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    total = 3600 * hours + 60 * minutes + seconds
    if date:
        year, month, day = (int(part) for part in date)
        days = _days(year, month, day)
        if iso_date(days)[-6:] != f"-{month:02}-{day:02}"[-6:]:  # there is no such day
            return None
        total += _DAY * days
    digits = len(fraction or b"")
    return total * 10**digits + int(fraction or 0), digits


def _days(year: int, month: int, day: int) -> int:
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * _ERA + 365 * of_era + of_era // 4 - of_era // 100 + of_year - _EPOCH
