"""Single values as Python objects, as text for people, and as JSON, from the hash's own description of arrays."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.nodes import Node
from arrow_digest.arrays.types import unwrap
from arrow_digest.comparing.conversion import integers, nesting
from arrow_digest.comparing.leaf_values import Cells, block, only_value
from arrow_digest.comparing.spelling import UNIT_DIGITS, iso_date, iso_time, iso_timestamp
from arrow_digest.rules.arrow0.leaf_columns import leaf_column, struct_validity
from arrow_digest.rules.arrow0.portable import Level, value_bytes
from arrow_digest.rules.arrow0.types import logical_type

__all__ = ["StructValue", "joined_text", "json_value", "python_value", "struct_value", "text"]

# So many items are read at once.
_BLOCK = 1 << 14
# What makes something of the values of one level.
_Make = Callable[[Level, pa.DataType], list[Any]]

_UTC = datetime.timezone.utc
_MICROSECOND = datetime.timedelta(microseconds=1)


def python_value(cells: Cells) -> Any:
    """Return the value of a single slot as a Python object.

    Text that is not UTF-8 is bytes. Points in time are in UTC where the type has a zone. What Python's dates and times
    cannot hold, before the year 1, after 9999 or finer than microseconds, is a NumPy `datetime64`, or the stored
    integer where it is a time of day or NumPy takes it for none.
    """
    return _read(cells, _objects)[0]


def text(cells: Cells) -> str:
    """Return the value of a single slot for people."""
    return joined_text(_read(cells, _texts)[0])


def json_value(cells: Cells) -> Any:
    """Return the value of a single slot as JSON has it: dates and times by ISO 8601, decimals as text, bytes in hex."""
    return _read(cells, _natives)[0]


def joined_text(value: Any) -> str:
    """Return a value that is null, a text, a list of such or a dict of such as one text."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {joined_text(inner)}" for name, inner in value.items()) + "}"
    return value if isinstance(value, str) else "[" + ", ".join(map(joined_text, value)) + "]"


class StructValue(NamedTuple):
    """One struct, as a dict of its fields or None: as Python objects, as texts and for JSON."""

    value: Any
    text: Any
    json: Any


def struct_value(row: pa.RecordBatch, indices: tuple[int, ...], path: tuple[str, ...]) -> StructValue:
    """Return the value of a struct.

    Args:
        row: A record batch of one row.
        indices: Field indices from the top-level column down to the struct.
        path: Its path, for errors.
    """
    column = row.column(indices[0])
    data_type = unwrap(column.type)
    for index in indices[1:]:
        data_type = unwrap(data_type.field(index).type)
    return _struct_value(describe(column, path[:1]), indices, data_type)


def _struct_value(column: Node, indices: tuple[int, ...], data_type: pa.StructType) -> StructValue:
    if not struct_validity(column, indices)[0]:
        return StructValue(None, None, None)
    found = StructValue({}, {}, {})
    for index in range(data_type.num_fields):
        field = data_type.field(index)
        inner, inner_type = (*indices, index), unwrap(field.type)
        if inner_type.id == data_type.id:
            value = _struct_value(column, inner, inner_type)
        else:
            cells = Cells.of(leaf_column(column, inner), logical_type(field.type))
            value = StructValue(python_value(cells), text(cells), json_value(cells))
        for fields, part in zip(found, value, strict=True):
            fields[field.name] = part
    return found


def _read(cells: Cells, make: _Make) -> list[Any]:
    levels = block(cells)
    if levels is not None:
        return _nested(levels, make(levels[-1], nesting(cells.data_type)[1]))
    if cells.size > 1:
        middle = cells.size // 2
        return _read(cells.part(0, middle), make) + _read(cells.part(middle, cells.size), make)
    value = only_value(cells)
    if value is None:
        return [None]
    if value.items is None:
        data = value_bytes(value.node, value.slots)
        return make(Level(1, None, np.array([len(data)]), payload=data), cells.data_type)
    items = value.items
    starts = range(0, items.size, _BLOCK)
    return [[item for start in starts for item in _read(items.part(start, start + _BLOCK), make)]]


def _nested(levels: list[Level], values: list[Any]) -> list[Any]:
    """Return the slots of the outermost level, made of the values of the innermost."""
    values = _with_nulls(levels[-1], values)
    for level in reversed(levels[:-1]):
        assert level.counts is not None
        lists, start = [], 0
        for count in level.counts.tolist():
            lists.append(values[start : start + count])
            start += count
        values = _with_nulls(level, lists)
    return values


def _with_nulls(level: Level, values: list[Any]) -> list[Any]:
    if level.kept is None:
        return values
    slots: list[Any] = [None] * level.slot_count
    for slot, value in zip(level.kept.tolist(), values, strict=True):
        slots[slot] = value
    return slots


def _pieces(level: Level) -> Iterator[bytes]:
    assert level.counts is not None
    assert level.payload is not None
    start = 0
    for count in level.counts.tolist():
        yield level.payload[start : start + count].tobytes()
        start += count


def _decoded(data: bytes, data_type: pa.DataType) -> str | bytes:
    if pt.is_string(data_type):
        try:
            return data.decode()
        except UnicodeDecodeError:
            pass
    return data


def _plain(level: Level, data_type: pa.DataType) -> list[Any]:
    """Return values as Python has them, dates, times, timestamps and decimals as the stored integers."""
    if level.values is None and level.counts is None:  # every slot is null, or there is none
        return []
    if level.values is None:
        return [_decoded(piece, data_type) for piece in _pieces(level)]
    if pt.is_floating(data_type):
        return list(level.values.view(f"<f{level.values.dtype.itemsize}").tolist())
    numbers = integers(level.values, data_type).tolist()
    return [bool(number) for number in numbers] if pt.is_boolean(data_type) else list(numbers)


def _objects(level: Level, data_type: pa.DataType) -> list[Any]:
    return [_object(value, data_type) for value in _plain(level, data_type)]


def _texts(level: Level, data_type: pa.DataType) -> list[Any]:
    values = _plain(level, data_type)
    if pt.is_boolean(data_type):
        return ["true" if value else "false" for value in values]
    return [_spelled(value, data_type) or repr(value) for value in values]


def _natives(level: Level, data_type: pa.DataType) -> list[Any]:
    return [_native(value, data_type) for value in _plain(level, data_type)]


def _native(value: Any, data_type: pa.DataType) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)
    return _spelled(value, data_type) or value


def _spelled(number: Any, data_type: pa.DataType) -> str | None:
    """Return how a stored integer is written where it stands for something else, None where it does not."""
    if pt.is_decimal(data_type):
        return str(_decimal(number, data_type))
    if pt.is_date32(data_type):
        return iso_date(number)
    if pt.is_date64(data_type):
        days, rest = divmod(number, 86_400_000)
        return iso_timestamp(number, 3) if rest else iso_date(days)
    if pt.is_time(data_type):
        return iso_time(number, UNIT_DIGITS[data_type.unit])
    if pt.is_timestamp(data_type):
        return iso_timestamp(number, UNIT_DIGITS[data_type.unit]) + ("Z" if data_type.tz is not None else "")
    return None


def _decimal(number: int, data_type: pa.DataType) -> Decimal:
    # From digits: arithmetic would round, and refuse what its context cannot hold.
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -data_type.scale))


def _object(value: Any, data_type: pa.DataType) -> Any:
    if pt.is_decimal(data_type):
        return _decimal(value, data_type)
    if pt.is_time(data_type):
        return _time(value, UNIT_DIGITS[data_type.unit])
    if pt.is_date32(data_type):
        moment = _datetime(value, "D")
        return moment.date() if isinstance(moment, datetime.datetime) else moment
    if pt.is_date64(data_type):
        moment = _datetime(value, "ms")
        return moment.date() if isinstance(moment, datetime.datetime) and value % 86_400_000 == 0 else moment
    if pt.is_timestamp(data_type):
        moment = _datetime(value, data_type.unit)
        zoned = isinstance(moment, datetime.datetime) and data_type.tz is not None
        return moment.replace(tzinfo=_UTC) if zoned else moment
    return value


_PER_UNIT = {"D": (86_400 * 10**6, 1), "s": (10**6, 1), "ms": (10**3, 1), "us": (1, 1), "ns": (1, 1000)}


def _datetime(number: int, unit: str) -> Any:
    times, parts = _PER_UNIT[unit]
    microseconds, rest = divmod(number * times, parts)
    try:
        if not rest:
            return datetime.datetime(1970, 1, 1) + microseconds * _MICROSECOND
    except OverflowError:
        pass
    return number if number == -(2**63) else np.datetime64(number, unit)  # type: ignore[call-overload]


def _time(number: int, digits: int) -> Any:
    microseconds, rest = divmod(number * 10**6, 10**digits)
    if rest or not 0 <= microseconds < 86_400 * 10**6:
        return number
    return (datetime.datetime.min + microseconds * _MICROSECOND).time()
