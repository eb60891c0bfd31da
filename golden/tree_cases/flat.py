"""Cases of columns without children: integers, floats, bools, decimals, times."""

from __future__ import annotations

import struct
from decimal import Decimal

import pyarrow as pa
from arrow0_cases.case import X, bits, col, column, columns, dictionary, i32, raw

from tree_cases.case import TreeCase, old_intervals

SPECIAL = [0.0, -0.0, float("inf"), float("nan"), 1.5]
INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
DECIMALS = (pa.decimal32, pa.decimal64, pa.decimal128, pa.decimal256)
UNITS = ("s", "ms", "us", "ns")


def numbers() -> list[TreeCase]:
    cases = [
        TreeCase("int32", "Three values, no null.", ("TypeBytes",), col([1, 2, 3], pa.int32())),
        TreeCase("int32_null", "A null between two values.", ("NullLevel",), col([1, None, 3], pa.int32())),
        TreeCase("nulls_first", "256 and a null, in this order.", ("Arrow0Collision",), col([256, None], pa.int32())),
        TreeCase(
            "nulls_last", "A null and 1: to arrow0 nulls_first.", ("Arrow0Collision",), col([None, 1], pa.int32())
        ),
        TreeCase(
            "only_nulls", "Nine nulls: two bytes of validity, no value.", ("BitPacking",), col([None] * 9, pa.int32())
        ),
        TreeCase("null_type", "Five rows of a type without streams.", ("NullType",), col([None] * 5, pa.null())),
        TreeCase("uint8", "Least and greatest.", ("TypeBytes",), col([0, 255], pa.uint8())),
        TreeCase("uint16", "Least and greatest.", ("TypeBytes",), col([0, 65535], pa.uint16())),
        TreeCase("uint64", "Least and greatest.", ("TypeBytes",), col([0, 2**64 - 1], pa.uint64())),
        *(
            TreeCase(f"float{bits_}", "Both zeros, infinity, NaN, 1.5.", ("FloatBits",), col(SPECIAL, t))
            for bits_, t in ((16, pa.float16()), (32, pa.float32()), (64, pa.float64()))
        ),
    ]
    for t in INTEGERS:
        signed = str(t).startswith("int")
        low, high = (-(1 << t.bit_width - 1), (1 << t.bit_width - 1) - 1) if signed else (0, (1 << t.bit_width) - 1)
        cases.append(
            TreeCase(f"{t}_extremes", "Least, greatest, 1 and a null.", ("TypeBytes",), col([low, high, 1, None], t))
        )
    f16 = struct.pack("<5H", 0x7E00, 0x7E01, 0x7C01, 0xFE00, 1)
    f32 = struct.pack("<5I", 0x7FC00000, 0x7FC00001, 0x7F800001, 0xFFC00000, 1)
    f64 = struct.pack("<5Q", 0x7FF8 << 48, (0x7FF8 << 48) + 1, (0x7FF0 << 48) + 1, 0xFFF8 << 48, 1)
    cases += [
        TreeCase(
            f"{t}_payloads", "NaNs of four kinds and the least subnormal.", ("FloatBits",), column(raw(t, 5, None, b))
        )
        for t, b in ((pa.float16(), f16), (pa.float32(), f32), (pa.float64(), f64))
    ]
    return [
        *cases,
        TreeCase(
            "int32_nulls_four", "Four nulls: to arrow0 int32_zero.", ("Arrow0Collision",), col([None] * 4, pa.int32())
        ),
        TreeCase("int32_zero", "One 0.", ("Arrow0Collision",), col([0], pa.int32())),
        TreeCase(
            "int8_null_zero", "A null before a 0: to arrow0 two zeros.", ("Arrow0Collision",), col([None, 0], pa.int8())
        ),
        TreeCase("int8_zeros", "Two zeros.", ("Arrow0Collision",), col([0, 0], pa.int8())),
        TreeCase(
            "int32_garbage",
            "Garbage under the null, and ones after the last bit.",
            ("GarbageUnderNulls",),
            column(raw(pa.int32(), 3, bits("101"), i32(1) + X * 4 + i32(3))),
            same_records_as=("int32_null",),
        ),
        TreeCase(
            "int32_all_valid",
            "A bitmap that says of every row that it is valid.",
            ("BitPacking",),
            column(raw(pa.int32(), 3, bits("111"), i32(1, 2, 3))),
            same_records_as=("int32",),
        ),
        TreeCase(
            "null_type_other_count",
            "Four rows: the number of rows is all that differs from null_type.",
            ("NullType",),
            col([None] * 4, pa.null()),
        ),
    ]


def bools() -> list[TreeCase]:
    eleven = [True, None, False, None, True, True, None, True, False, True, True]
    lengths = (1, 7, 8, 9, 15, 16, 17, 63, 64, 65)
    return [
        TreeCase(
            "bool",
            "Nine bools: a byte of eight and one of one.",
            ("BitPacking",),
            col([True, False, True, True, False, False, True, False, True], pa.bool_()),
        ),
        TreeCase(
            "bool_null", "Only valid slots are packed: eight of eleven.", ("BitPacking",), col(eleven, pa.bool_())
        ),
        *(
            TreeCase(
                f"bool_{n}_rows",
                "Every third row is null; the packing of values and of validity ends at other places.",
                ("BitPacking",),
                col([None if i % 3 == 2 else i % 2 == 0 for i in range(n)], pa.bool_()),
            )
            for n in lengths
        ),
        TreeCase(
            "bool_garbage",
            "True lies under each null.",
            ("BitPacking", "GarbageUnderNulls"),
            column(raw(pa.bool_(), 11, bits("10101101111"), bits("11011111011"))),
            same_records_as=("bool_null",),
        ),
        TreeCase("bool_null_false", "Differs from bool_false_null.", ("NullLevel",), col([None, False], pa.bool_())),
        TreeCase(
            "bool_false_null",
            "Differs from bool_null_false.",
            ("NullLevel", "Order"),
            col([False, None], pa.bool_()),
            same_bag_as=("bool_null_false",),
        ),
    ]


def decimals() -> list[TreeCase]:
    some = [Decimal("1.25"), None, Decimal("-3.50")]
    widths = [(make(7, 2).bit_width, make) for make in DECIMALS]
    first = f"decimal{widths[0][0]}"
    greatest = (2**127 - 1).to_bytes(32, "little") + (-(2**127)).to_bytes(32, "little", signed=True)
    return [
        *(
            TreeCase(
                f"decimal{width}",
                "Precision 7, scale 2, in an array of this width.",
                ("DecimalWidth",),
                col(some, make(7, 2)),
                same_records_as=() if f"decimal{width}" == first else (first,),
            )
            for width, make in widths
        ),
        TreeCase(
            "decimal256_wide",
            "Precision 60: 32 bytes a value.",
            ("DecimalWidth",),
            col([Decimal(-1), Decimal(10) ** 50], pa.decimal256(60, 0)),
        ),
        TreeCase(
            "decimal_negative_scale",
            "Scale -3, a signed number.",
            ("TypeBytes",),
            col([Decimal(1000)], pa.decimal128(5, -3)),
        ),
        TreeCase(
            "decimal_precision_38",
            "The last precision with 16 bytes, in an array of 32.",
            ("DecimalWidth",),
            col([Decimal(10**37), None, Decimal(-1)], pa.decimal256(38, 0)),
        ),
        TreeCase(
            "decimal128_precision_38",
            "The same in an array of 16.",
            ("DecimalWidth",),
            col([Decimal(10**37), None, Decimal(-1)], pa.decimal128(38, 0)),
            same_records_as=("decimal_precision_38",),
        ),
        TreeCase(
            "decimal_precision_39",
            "The first precision with 32 bytes.",
            ("DecimalWidth",),
            col([Decimal(10**37), None, Decimal(-1)], pa.decimal256(39, 0)),
        ),
        TreeCase(
            "decimal_other_precision",
            "Precision 8: differs from decimal32.",
            ("TypeBytes",),
            col(some, pa.decimal32(8, 2)),
        ),
        TreeCase(
            "decimal_beyond_precision",
            "Five digits with a precision of 2, hashed as they are.",
            ("ValueBlind",),
            column(raw(pa.decimal32(2, 0), 2, None, i32(12345, -12345))),
        ),
        TreeCase(
            "decimal256_in_16_bytes",
            "The greatest and the least number of 16 bytes, beyond their precision, in an array of 32.",
            ("DecimalWidth", "ValueBlind"),
            column(raw(pa.decimal256(38, 0), 2, None, greatest)),
        ),
        TreeCase(
            "decimal_garbage",
            "A number that does not fit 16 bytes, under a null.",
            ("DecimalWidth", "GarbageUnderNulls"),
            column(
                raw(
                    pa.decimal256(7, 2),
                    3,
                    bits("101"),
                    (125).to_bytes(32, "little") + b"\x7f" * 32 + (-350).to_bytes(32, "little", signed=True),
                )
            ),
            same_records_as=("decimal32",),
        ),
        TreeCase(
            "decimal_scale_least",
            "The least scale of 16 bits.",
            ("TypeBytes",),
            column(raw(pa.decimal128(5, -(2**15)), 1, None, bytes(16))),
        ),
        TreeCase(
            "decimal_scale_greatest",
            "The greatest scale of 16 bits.",
            ("TypeBytes",),
            column(raw(pa.decimal128(5, 2**15 - 1), 1, None, bytes(16))),
        ),
    ]


def times() -> list[TreeCase]:
    one = lambda t: pa.array([1], pa.int64() if t.bit_width == 64 else pa.int32()).view(t)  # noqa: E731
    day = 86_400_000
    some = (
        ("d32", pa.date32(), 1),
        ("d64", pa.date64(), day),
        ("ts", pa.time32("s"), 1),
        ("tms", pa.time32("ms"), 1),
        ("tus", pa.time64("us"), 1),
        ("tns", pa.time64("ns"), 1),
    )
    dated = [(name, pa.array([v], pa.int64() if t.bit_width == 64 else pa.int32()).view(t)) for name, t, v in some]
    stamps = [("s", pa.timestamp("s")), ("utc", pa.timestamp("us", "UTC")), ("off", pa.timestamp("us", "+00:00"))]
    months, days = pa.array([1, None, -1], pa.int32()), pa.array([1, None, (1 << 32) - 1], pa.int64())
    return [
        TreeCase("dates_times", "Both dates and all four times.", ("TypeBytes",), columns(*dated)),
        TreeCase(
            "timestamps",
            "None, UTC and +00:00: three zones.",
            ("TypeBytes",),
            columns(*((n, one(t)) for n, t in stamps)),
        ),
        TreeCase(
            "durations",
            "All units.",
            ("TypeBytes",),
            columns(*((u, pa.array([1, None, -1], pa.duration(u))) for u in UNITS)),
        ),
        TreeCase(
            "month_day_nano",
            "Sixteen bytes: two numbers of four and one of eight.",
            ("Interval",),
            col([(1, 2, 3), None, (-1, 0, 1 << 40)], pa.month_day_nano_interval()),
        ),
        TreeCase(
            "old_intervals",
            "Year and month in four bytes, days and milliseconds in eight.",
            ("Interval",),
            old_intervals(months, days),
        ),
        *(
            TreeCase(f"timestamp_{u}", "A unit is part of the type.", ("TypeBytes",), column(one(pa.timestamp(u))))
            for u in UNITS
        ),
        TreeCase(
            "timestamp_zone_any",
            "A zone is text, whether there is such a place or not.",
            ("TypeBytes",),
            column(one(pa.timestamp("s", "Nowhere/At_All"))),
        ),
        TreeCase("date64_in_a_day", "A millisecond past midnight.", ("ValueBlind",), column(one(pa.date64()))),
        TreeCase(
            "time_past_the_day",
            "A second too many for a day.",
            ("ValueBlind",),
            column(pa.array([86_400], pa.int32()).view(pa.time32("s"))),
        ),
        TreeCase(
            "int32_as_date32",
            "The number of date32 as a number: differs from it.",
            ("TypeBytes",),
            columns(("d32", pa.array([1], pa.int32()))),
        ),
    ]


def slices() -> list[TreeCase]:
    rows = [None if i % 5 == 0 else i for i in range(40)]
    coded = dictionary(pa.array([None if v is None else v % 3 for v in rows], pa.int8()), pa.array(["a", None, "b"]))
    words = [None if v is None else "x" * (v % 15) for v in rows]
    flags = [v and v % 2 == 0 for v in rows]
    cases = []
    for name, array in (
        ("int16", pa.array(rows, pa.int16())),
        ("bool", pa.array(flags, pa.bool_())),
        ("string", pa.array(words, pa.string())),
        ("string_view", pa.array(words, pa.string_view())),
        ("dictionary", coded),
    ):
        kept = pa.concat_arrays([array.slice(9, 17)]) if name != "dictionary" else array.slice(9, 17).cast(pa.string())
        cases += [
            TreeCase(
                f"slice_of_{name}",
                "Rows 9 to 25 of 40.",
                ("SliceOffset",),
                column(array),
                slice=(9, 17),
                same_records_as=("slice_of_string",) if name == "string_view" else (),
            ),
            TreeCase(
                f"sliced_{name}",
                f"These rows alone, of slice_of_{name}.",
                ("SliceOffset",),
                column(kept),
                same_records_as=(f"slice_of_{name}",),
            ),
        ]
    return cases
