"""Cases of flat columns: numbers, times, bitmaps, slices, garbage, text."""

from __future__ import annotations

import struct
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa

from arrow0_cases.case import (
    Case,
    X,
    bits,
    col,
    column,
    dictionary,
    fields,
    i32,
    i64,
    long_view,
    raw,
    runs,
    short_view,
    u64,
)

INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
DECIMALS = ((pa.decimal32, 4, 9), (pa.decimal64, 8, 18), (pa.decimal128, 16, 38), (pa.decimal256, 32, 76))


def numbers() -> list[Case]:
    cases = []
    for t in INTEGERS:
        signed = str(t).startswith("int")
        low, high = (-(1 << t.bit_width - 1), (1 << t.bit_width - 1) - 1) if signed else (0, (1 << t.bit_width) - 1)
        cases.append(
            Case(f"{t}_extremes", "Least, greatest, one, null.", ("IntegerWidth",), col([low, high, 1, None], t))
        )
    f32 = struct.pack("<7I", 0, 1 << 31, 0x7F800000, 0x7FC00000, 0xFFC00000, 0x7FC00001, 0x7F800001)
    f64 = u64(0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1, (0x7FF0 << 48) + 1, 1)
    f16 = struct.pack("<6H", 0, 0x8000, 0x7C00, 0x7E00, 0x7E01, 0x7C01)
    cases += [
        Case(
            "float16_bits",
            "Zeros, infinity, quiet and signalling NaNs.",
            ("FloatBits",),
            column(raw(pa.float16(), 6, None, f16)),
        ),
        Case(
            "float32_bits",
            "Zeros, infinity, NaNs of both signs, payloads, a signalling NaN.",
            ("FloatBits",),
            column(raw(pa.float32(), 7, None, f32)),
        ),
        Case(
            "float64_nan_payloads",
            "Four NaNs and the least subnormal, all different bits.",
            ("FloatBits",),
            column(raw(pa.float64(), 5, None, f64)),
        ),
        Case("float64_positive_zero", "Differs from the negative zero.", ("FloatBits",), col([0.0], pa.float64())),
        Case("float64_negative_zero", "Differs from the positive zero.", ("FloatBits",), col([-0.0], pa.float64())),
    ]
    for make, width, digits in DECIMALS:
        bit_width = width * 8
        lowest = (-(10**digits) + 1).to_bytes(width, "little", signed=True)
        beyond = ((1 << bit_width - 1) - 1).to_bytes(width, "little")
        cases += [
            Case(
                f"decimal{bit_width}_widest",
                "The least value of the greatest precision.",
                ("TypeParameters",),
                column(raw(make(digits, 0), 2, bits("10"), lowest + X * width)),
            ),
            Case(
                f"decimal{bit_width}_beyond_precision",
                "More digits than the precision allows, hashed as stored.",
                ("ValueBlind",),
                column(raw(make(3, 1), 1, None, beyond)),
            ),
        ]
        if bit_width != 128:
            cases.append(
                Case(
                    f"decimal{bit_width}_neg_scale",
                    "A negative scale is sign-extended to 64 bits.",
                    ("TypeParameters",),
                    col([Decimal(1200), None], make(5, -2)),
                )
            )
    cases += [
        Case(
            "decimal128_6_2",
            "Another precision is another type.",
            ("TypeParameters",),
            col([Decimal("1.23"), None, Decimal("-4.50")], pa.decimal128(6, 2)),
        ),
        Case(
            "decimal128_5_1",
            "Another scale over the same integers is another type.",
            ("TypeParameters",),
            col([Decimal("12.3"), None, Decimal("-45.0")], pa.decimal128(5, 1)),
        ),
    ]
    return cases


def times() -> list[Case]:
    day = 86_400
    cases = [
        Case("date32_before_1970", "Negative days.", ("TimeUnit",), col([-1, -719_162, None], pa.date32())),
        Case(
            "date64_inside_a_day",
            "Not a whole day; hashed as its eight bytes.",
            ("ValueBlind",),
            column(raw(pa.date64(), 1, None, i64(213_620_221_665_533))),
        ),
        Case(
            "time32_past_midnight",
            "More seconds than a day has, and fewer than none.",
            ("ValueBlind",),
            column(raw(pa.time32("s"), 2, None, i32(day + 1, -1))),
        ),
        Case(
            "time64_past_midnight",
            "More nanoseconds than a day has.",
            ("ValueBlind",),
            column(raw(pa.time64("ns"), 1, None, i64(day * 10**9 + 1))),
        ),
        Case(
            "ts_ns_extremes",
            "The least and the greatest 64-bit integer.",
            ("TimeUnit",),
            col([-(2**63), 2**63 - 1], pa.timestamp("ns")),
        ),
    ]
    for slug, zone, why in (
        ("named_zone", "Europe/Berlin", "A named zone is its text."),
        ("lower_case_utc", "utc", "Zone text is not folded."),
        ("unknown_zone", "Nowhere/At_All", "A zone need not exist."),
    ):
        cases.append(Case(f"ts_us_{slug}", why, ("TimeUnit",), col([1, None], pa.timestamp("us", zone))))
    return cases


def bitmaps() -> list[Case]:
    """Row counts around the bytes and words of a bitmap."""
    cases = []
    for rows in (7, 8, 9, 63, 64, 65):
        values = [None if i % 3 == 1 else i for i in range(rows)]
        cases.append(Case(f"int8_{rows}_rows", f"Every third of {rows} rows null.", (), col(values, pa.int8())))
        flags = [None if i % 5 == 4 else i % 2 == 0 for i in range(rows)]
        cases.append(
            Case(f"bool_{rows}_rows", f"Value bits and validity bits over {rows} rows.", (), col(flags, pa.bool_()))
        )
    return cases


def slices() -> list[Case]:
    """Rows from the middle of an array, in every layout, with the same rows built afresh."""
    t, pair = pa.list_(pa.int64()), pa.struct([("x", pa.int64()), ("y", pa.bool_())])
    bools = [True, False, None, True, True, False, True, None, False, True, True]
    words = ["junk", "a", None, "b" * 13, "", "junk"]
    items = [[1], None, [2, 3], [], [4]]
    pairs = [{"x": 1, "y": True}, None, {"x": None, "y": False}, {"x": 3, "y": None}, None]
    parent = raw(
        pair, 5, bits("10110"), children=[pa.array([1, 2, None, 3, 5]), pa.array([True, True, False, None, True])]
    )
    two = [[9, 9], None, [1, 2], None, [7, 8]]
    fixed = raw(
        pa.list_(pa.int64(), 2),
        5,
        bits("10101"),
        children=[raw(pa.int64(), 10, None, i64(9, 9) + X * 16 + i64(1, 2) + X * 16 + i64(7, 8))],
    )
    coded = dictionary(pa.array([1, 0, None, 1, 2], pa.int8()), pa.array(["a", None, "c"]))
    some: list[tuple[str, pa.Array, tuple[int, int], pa.Array | str]] = [
        ("int16", pa.array([9, None, 3, 4, None, 6], pa.int16()), (1, 4), pa.array([None, 3, 4, None], pa.int16())),
        *((f"bool_{i}", pa.array(bools), (i, 3), pa.array(bools[i : i + 3], pa.bool_())) for i in (1, 7, 8)),
        ("string", pa.array(words), (1, 4), pa.array(words[1:5])),
        ("string_view", pa.array(words, pa.string_view()), (1, 4), "string"),
        ("fsb", pa.array([b"aa", b"bb", None, b"cc"], pa.binary(2)), (1, 3), pa.array([b"bb", None, b"cc"])),
        (
            "decimal256",
            pa.array([Decimal(1), Decimal(2), None], pa.decimal256(40, 0)),
            (1, 2),
            pa.array([Decimal(2), None], pa.decimal256(40, 0)),
        ),
        ("list", pa.array(items, t), (2, 3), pa.array(items[2:], t)),
        ("list_view", pa.array(items, pa.list_view(pa.int64())), (2, 3), "list"),
        ("fsl", fixed, (1, 3), pa.array(two[1:4], t)),
        ("struct", parent, (1, 3), pa.array(pairs[1:4], pair)),
        ("dictionary", coded, (1, 4), pa.array(["a", None, None, "c"])),
        (
            "run_ends",
            runs([2, 3, 7], pa.array([5, None, 6], pa.int16())),
            (1, 4),
            pa.array([5, None, 6, 6], pa.int16()),
        ),
    ]
    refused_by_reference = {"list_view", "dictionary", "run_ends"}
    cases = []
    for slug, array, rows, fresh in some:
        flags = ("SliceOffset", *(("AndedValidity", "ReferenceDeparts") if slug == "struct" else ()))
        case = Case(f"slice_{slug}", f"{rows[1]} rows from row {rows[0]} on.", flags, column(array), slice=rows)
        if slug in refused_by_reference:
            case = replace(case, flags=(*flags, "ReferenceRefuses"))
        if isinstance(fresh, str):
            cases.append(replace(case, same_records_as=(f"slice_{fresh}",)))
            continue
        again = Case(f"slice_{slug}_fresh", "The same records, built afresh.", flags, column(fresh))
        cases += [case, replace(again, same_records_as=(case.id,))]
    return cases


def garbage() -> list[Case]:
    null_owns = raw(pa.string(), 3, bits("101"), i32(0, 1, 4, 5), b"axyzb")
    flagged = ("GarbageUnderNulls",)
    all_valid = (  # pyarrow writes no bitmap without nulls: take one with a null and make it valid
        (i64(2, 1), i64(2, 0)),
        (bits("10") + bytes(7) + i32(1, 2), bits("11") + bytes(7) + i32(1, 2)),
    )
    return [
        Case(
            "int32_nulls_over_garbage",
            "Under the null lies 0xEEEEEEEE, and the bitmap's padding is ones.",
            flagged,
            column(raw(pa.int32(), 3, bits("101"), i32(1) + X * 4 + i32(3))),
            same_records_as=("int32_nulls",),
        ),
        Case(
            "bool_null_over_true",
            "Under the null lies a set bit.",
            flagged,
            column(raw(pa.bool_(), 3, bits("101"), bits("110"))),
            same_records_as=("bool",),
        ),
        Case(
            "int32_all_valid_bitmap",
            "A bitmap that says nothing.",
            ("GarbageUnderNulls",),
            column(raw(pa.int32(), 2, bits("10"), i32(1, 2))),
            patches=all_valid,
        ),
        Case(
            "int32_no_bitmap",
            "The same without a bitmap.",
            ("GarbageUnderNulls",),
            column(raw(pa.int32(), 2, None, i32(1, 2))),
            same_records_as=("int32_all_valid_bitmap",),
        ),
        Case("string_null_owns_bytes", "The null's offsets enclose three bytes.", flagged, column(null_owns)),
        Case(
            "string_null_owns_nothing",
            "The same records in their clean form.",
            flagged,
            col(["a", None, "b"], pa.string()),
            same_records_as=("string_null_owns_bytes",),
        ),
        Case(
            "string_view_null_over_garbage",
            "The null's view claims a long text in a buffer that is there.",
            flagged,
            column(
                raw(
                    pa.string_view(),
                    3,
                    bits("101"),
                    short_view(b"a") + long_view(X * 20, 0, 0) + short_view(b"b"),
                    X * 20,
                )
            ),
            same_records_as=("string_null_owns_bytes",),
        ),
        Case(
            "fsb2_null_over_garbage",
            "Two bytes under the null.",
            flagged,
            column(raw(pa.binary(2), 2, bits("10"), b"ab" + X * 2)),
            same_records_as=("binary",),
        ),
        Case(
            "list_null_owns_items",
            "The null's offsets enclose two items.",
            flagged,
            column(raw(pa.list_(pa.int64()), 3, bits("101"), i32(0, 1, 3, 4), children=[pa.array([1, 2, 3, 4])])),
        ),
        Case(
            "list_null_owns_nothing",
            "The same records in their clean form.",
            flagged,
            col([[1], None, [4]], pa.list_(pa.int64())),
            same_records_as=("list_null_owns_items",),
        ),
        Case(
            "list_empty_is_not_null",
            "An empty list in the same place: eight zero bytes instead of one.",
            (),
            col([[1], [], [4]], pa.list_(pa.int64())),
        ),
        Case(
            "fsl2_nulls_over_garbage",
            "Null rows own items; the rows after them are read from the right place.",
            flagged,
            column(
                raw(
                    pa.list_(pa.int64(), 2),
                    4,
                    bits("0101"),
                    children=[raw(pa.int64(), 8, None, X * 16 + i64(1, 2) + X * 16 + i64(7, 8))],
                )
            ),
        ),
        Case(
            "list_for_fsl2_nulls_over_garbage",
            "The same records with offsets.",
            ("ListLayout",),
            col([None, [1, 2], None, [7, 8]], pa.list_(pa.int64())),
            same_records_as=("fsl2_nulls_over_garbage",),
        ),
        Case(
            "dictionary_null_over_garbage",
            "The null index is out of bounds; it is never looked up.",
            (*flagged, "DictionaryEncoding", "ReferenceRefuses"),
            column(dictionary(raw(pa.int32(), 4, bits("1011"), i32(0) + X * 4 + i32(1, 0)), pa.array(["a", "b"]))),
            same_records_as=("dictionary_utf8",),
        ),
        Case(
            "decimal128_null_over_garbage",
            "Sixteen bytes under the null.",
            flagged,
            column(raw(pa.decimal128(5, 2), 3, bits("101"), i64(123, 0) + X * 16 + i64(-450, -1))),
            same_records_as=("decimal128_5_2",),
        ),
        Case(
            "struct_null_over_garbage",
            "Under the null struct the child is valid and not zero.",
            (*flagged, "AndedValidity"),
            column(fields(("a", raw(pa.int32(), 3, bits("111"), i32(1) + X * 4 + i32(3))), validity="101"), "s"),
            same_records_as=("struct_nulls_child_without_nulls",),
        ),
    ]


def text() -> list[Case]:
    a20, c40 = b"a" * 20, b"c" * 40
    edges = ["", "twelve bytes", "thirteen byte", "x"]
    views = (
        short_view(b"b") + long_view(b"c" * 40, 2, 3) + long_view(a20, 0, 0) + short_view(b"") + long_view(c40, 2, 3)
    )
    return [
        Case(
            "string_not_utf8",
            "Latin-1 bytes in a text column.",
            ("ValueBlind", "VariableBinary"),
            column(raw(pa.string(), 2, None, i32(0, 6, 8), b"he\xffllo\xc3\x28")),
        ),
        Case(
            "string_view_not_utf8",
            "The same in views.",
            ("ValueBlind", "VariableBinary"),
            column(raw(pa.string_view(), 2, None, short_view(b"he\xffllo") + short_view(b"\xc3\x28"))),
            same_records_as=("string_not_utf8",),
        ),
        Case("string_with_nul", "NUL is a byte like any other.", ("VariableBinary",), col(["a\0b", "\0"], pa.string())),
        Case("string_ab", "Text, to be compared with binary_ab.", ("VariableBinary",), col(["ab"], pa.string())),
        Case(
            "binary_ab",
            "The same bytes as binary: another type, another digest.",
            ("VariableBinary",),
            col([b"ab"], pa.binary()),
        ),
        Case(
            "string_view_edges",
            "Twelve bytes are inline, thirteen are not.",
            ("VariableBinary",),
            col(edges, pa.string_view()),
        ),
        Case(
            "string_edges",
            "The same with offsets.",
            ("VariableBinary",),
            col(edges, pa.string()),
            same_records_as=("string_view_edges",),
        ),
        Case(
            "string_view_several_buffers",
            "Three data buffers, one of them unused, one text shared by two views.",
            ("VariableBinary",),
            column(raw(pa.string_view(), 5, None, views, a20, X * 9, b"xyz" + c40)),
        ),
        Case(
            "string_for_several_buffers",
            "The same with offsets.",
            ("VariableBinary",),
            col(["b", "c" * 40, "a" * 20, "", "c" * 40], pa.string()),
            same_records_as=("string_view_several_buffers",),
        ),
        Case(
            "binary_empty_null",
            "The records of fsb0 with offsets.",
            ("ZeroWidth",),
            col([b"", None], pa.binary()),
            same_records_as=("fsb0",),
        ),
    ]
