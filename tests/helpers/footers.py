"""Parquet files whose footers say something else than pyarrow would write: the bytes of a footer, changed by hand."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# What a leaf of the schema is written as by Thrift's compact protocol: type, repetition and name, then annotations.
_I32, _BINARY, _STRUCT = 5, 8, 12

INT_8 = {6: 15}
UINT_8 = {6: 11}
INT_16 = {6: 16}
UINT_16 = {6: 12}
UNKNOWN = {10: b"\xbc\x00\x00"}  # the union's member 11, a structure without fields
DECIMAL = {6: 5, 7: 2, 8: 5}  # of scale 2 and precision 5


def parquet(table: Any, **options: Any) -> bytes:
    """A file without the Arrow schema, statistics or dictionaries, unless they are asked for."""
    sink = io.BytesIO()
    plain = {"store_schema": False, "write_statistics": False, "use_dictionary": False, "compression": "none"}
    pq.write_table(table, sink, **{**plain, **options})
    return sink.getvalue()


def footer_place(content: bytes) -> int:
    """Where the footer begins."""
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def with_footer(content: bytes, footer: bytes) -> bytes:
    """The file with another footer."""
    return content[: footer_place(content)] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def annotated(content: bytes, name: str, physical_type: int, annotation: dict[int, Any], length: int = 0) -> bytes:
    """The file with an annotation put on an optional leaf that has none."""
    footer = content[footer_place(content) : -8]
    fields: dict[int, Any] = {1: physical_type, 3: 1, 4: name.encode()} | ({2: length} if length else {})
    old = _element(fields)
    assert footer.count(old) == 1
    return with_footer(content, footer.replace(old, _element(fields | annotation)))


def _element(fields: dict[int, Any]) -> bytes:
    out, last = b"", 0
    for number, value in sorted(fields.items()):
        kind = _STRUCT if number == 10 else _BINARY if isinstance(value, bytes) else _I32
        out += bytes([(number - last) << 4 | kind])
        last = number
        if kind == _BINARY:
            out += bytes([len(value)]) + value
        elif kind == _STRUCT:
            out += value
        else:
            out += bytes([value << 1])
    return out + b"\0"


def stand_in(number: int) -> int:
    """Nanoseconds after 1970, of a value that another one takes the place of."""
    return 77_777 * 10**9 + 1000 * number


def int96(values: list[tuple[int, int] | None], **options: Any) -> bytes:
    """A file of one column `t` of INT96: pairs of nanoseconds and Julian days, or null, however far out they are."""
    stand_ins = [None if value is None else stand_in(number) for number, value in enumerate(values)]
    table = pa.table({"t": pa.array(stand_ins, pa.timestamp("ns"))})
    return replaced(parquet(table, use_deprecated_int96_timestamps=True, **options), values)


def replaced(content: bytes, values: list[tuple[int, int] | None]) -> bytes:
    """The file with INT96 values in place of the stand-ins, which are told apart by their numbers."""
    for number, value in enumerate(values):
        if value is not None:
            nanoseconds, day = value
            old = stand_in(number).to_bytes(8, "little") + (2440588).to_bytes(4, "little")
            assert content.count(old) == 1
            new = nanoseconds.to_bytes(8, "little", signed=True) + day.to_bytes(4, "little", signed=True)
            content = content.replace(old, new)
    return content
