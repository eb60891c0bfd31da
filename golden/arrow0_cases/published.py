"""The published known answers of arrow0-sha3-256.

The digests are facts from outside, kept apart from the cases so that no generator can move them.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa

from arrow0_cases.case import Case, bits, col, column, dictionary, fields, i64, raw

PUBLISHED = {
    "int32_utf8": "5684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a",
    "int32_nulls": "d7451a9c019df5692635225e3de39dea58b4f3f41578799e537e45ae1102d730",
    "int8_zero": "217946329e60a3a73a831c3e6f00d7b0e726553c874fc95d6e4eaf3296c52232",
    "int8_null": "217946329e60a3a73a831c3e6f00d7b0e726553c874fc95d6e4eaf3296c52232",
    "int32_256_null": "a6c5b26ce9eb41e0b33025db8ccb7365453d7007e810d8985aee5501c8988c9c",
    "int32_null_1": "a6c5b26ce9eb41e0b33025db8ccb7365453d7007e810d8985aee5501c8988c9c",
    "bool": "783cdb9eedef8aa4c1c60699cac682baa10a73fc90b005646086200a59eb38c2",
    "bool_sliced": "783cdb9eedef8aa4c1c60699cac682baa10a73fc90b005646086200a59eb38c2",
    "float64_special": "8ffb223c6279f41e0fd4062d783a7905debf833df42f98ebd81a508652a8e9e6",
    "float16": "dca867bf82010458c3bb4a7a38607c774ce5c1b6c483894503eb9b163ea0fa8e",
    "decimal32_5_2": "bfda60fccde755246b444dff523c30a07bd59d1b40a9e2ca914fd64f1fa907ba",
    "decimal64_5_2": "c11f6a72787d65fc7a191af9e2fecfa3eb88941f778ffdf302f805e51587440f",
    "decimal128_5_2": "e1272945da5888a0d3618f0198a47bcaf1ce67b25acfcfb6c8ddfa263b0542d8",
    "decimal256_5_2": "4a7b73ff35afd74d8214c709aec09aea2dca3c8d55a476daf2f436c912b8a073",
    "decimal128_neg_scale": "e5ec69d4b694c898c71ad007e36b4d94d8d28af6a1b65d1a5ebb29e4c13bddf4",
    "date32": "8cb79ffedfe7c37b6a1ccc63b9cd7d6a3426a0e968f80f4f1265506c6208a122",
    "date64": "601886882d20574647cfdbf1c0b4a5fe8d33dc8007b7d70da76c28502f956e23",
    "ts_s": "723c4ce28f401f8b81264342aa7c2cfb01fa06633cf3df6ae832402d9cc8e7c2",
    "ts_s_utc": "ad92236b22c3d0f6e5bf2674b18a571913a2f0e05e184eb8a4bd1d11691c688f",
    "ts_ms": "38068f9998ab73883362c50a99f36755e44e664a15dffa19b333aadfb55e64cf",
    "ts_ms_utc": "193f3b416dcfb80b74eb7e701c3d2f41184cd8b0b91fbad125370899a43dcc34",
    "ts_us": "366f7e9824811c9e3893e3d7508776ebd518d94b89deeb2193e00df185c3671e",
    "ts_us_utc": "6de380185dc9b3e2b39a22a0efe63396809968f469986d967d105dd8f31d1869",
    "ts_ns": "c2b7f0296cc357abbca4c230b70f2c4962762de0c87f4f379caef80e26182c13",
    "ts_ns_utc": "c71018a1bd1f1083bb50e97605a6444337436cbb285cb38d64f32f68d7c23f7a",
    "ts_us_plus0000": "957fc644b572d8f17a1e8de05bba4eded7d7ba8237cfae663e22ae7ad756b2c3",
    "time32_s": "a9f5264e2813d386444685a78f3e8d26a4c6c8786abfad1d8a297074f70d9675",
    "time32_ms": "1cf1f0d7b96140878d8ad4508ec0995f242883f8a64ccacddda8127ca8367b47",
    "time64_us": "4a0e153a79e8fb8f7ae1d171ea291ad4f54ca1cc207ec12ea22b1cd8e6265d23",
    "time64_ns": "d2a11949ff2e77077a3156e4552a989cd42f59e9fdb4bf26b037b4212863c288",
    "string": "d50dfd206e03b9dde7a1d9c18b0a8fb875140a1ed4aa1b853a0f569c1bdcb052",
    "large_string": "d50dfd206e03b9dde7a1d9c18b0a8fb875140a1ed4aa1b853a0f569c1bdcb052",
    "string_view": "d50dfd206e03b9dde7a1d9c18b0a8fb875140a1ed4aa1b853a0f569c1bdcb052",
    "binary": "be3a13ddd8b3930204e9ffd70bdccfe40bc7a9c8f968be21c88345b874bc841d",
    "large_binary": "be3a13ddd8b3930204e9ffd70bdccfe40bc7a9c8f968be21c88345b874bc841d",
    "binary_view": "be3a13ddd8b3930204e9ffd70bdccfe40bc7a9c8f968be21c88345b874bc841d",
    "fsb2": "be3a13ddd8b3930204e9ffd70bdccfe40bc7a9c8f968be21c88345b874bc841d",
    "fsb0": "70a78617659d6028dd9dbee140a492046c8ae883f72361b1e2fb73e067a317e6",
    "list_item_int32": "0f2aa247570383ad78500967da5621ead59a6e26e1511c7166b76ce14df77cd2",
    "large_list_item_int32": "0f2aa247570383ad78500967da5621ead59a6e26e1511c7166b76ce14df77cd2",
    "fsl2": "9e947370de71f8b51c2114283530e647cdd80024bd8938e8b735a0cdd1839253",
    "list_eq_fsl2": "9e947370de71f8b51c2114283530e647cdd80024bd8938e8b735a0cdd1839253",
    "fsl0": "aa06e70d1d636eb8bccd8feb794f0f2fe4183e505dee6aa262c7814131244640",
    "list_list_utf8": "4c54aa651e750d19c55e11c74dc5fb832c1dd05d819d6a6860a6eda239daf150",
    "list_bool": "ef1a3076c49df0fc69ca9f9fa6637b1ea74ae455f44a55692aedf013416346c6",
    "empty_rows": "0e59c92db90f24c092941723fe2ad022174c1303e00816b3c4c97a51fee600f1",
    "no_columns": "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
    "nested_struct_no_nulls": "63891b9e91da94a628aee73736c8d49c6e212c8f3c93fd06ce358957ea0f3514",
    "struct_nulls_child_without_nulls": "427fcee12ad5c7daaa52f9ba743adf66c7a8ecb5907a6390278d633ce620fc78",
    "struct_nulls_child_nulls_disjoint": "b90b910680d18c3bc616205d7941788d81d8dfeeb0775005318578110532d21d",
    "struct_nulls_min": "31aa0014bbecece8e20fcb86ee211539d055d577adcdd11bd2d1ff1e3955e8b8",
    "null_type": "4ea5be3892ad764a2867b43ea55232ba828b590085c3049d4c57226048124e3c",
    "dictionary_utf8": "622fa13e6edb52edd209fc860cdcc8f017debbdac05409a87240d93dbc225869",
    "plain_for_dictionary": "622fa13e6edb52edd209fc860cdcc8f017debbdac05409a87240d93dbc225869",
}

# What the compiled reference returns instead where it ORs a struct's validity with its child's.
REFERENCE_DEPARTS = {
    "struct_nulls_child_nulls_disjoint": "3d8d8e0fca41e90afe01f65ae65ad2587cc84c92f513ba66912fe3486b88159e",
    "struct_nulls_min": "73450e5f79ea78f1c6def99c666e703a818f60382744489bd439dd0712c2972b",
}

TEXTS = ["a", None, "", "0123456789abcdef", "é中文"]
NESTED = pa.struct([("x", pa.int32()), ("t", pa.struct([("y", pa.string())]))])


def published() -> list[Case]:
    cases = [
        Case(
            "int32_utf8",
            "Two columns, no nulls.",
            (),
            pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["a", "b", "c"]}),
        ),
        Case("int32_nulls", "A null is one zero byte, not four.", (), col([1, None, 3], pa.int32())),
        Case(
            "int8_zero",
            "One byte 0 that is a value.",
            ("Collision",),
            col([0], pa.int8()),
            collides_with=("int8_null",),
        ),
        Case(
            "int8_null",
            "One byte 0 that is a null.",
            ("Collision",),
            col([None], pa.int8()),
            collides_with=("int8_zero",),
        ),
        Case(
            "int32_256_null",
            "The bytes 00 01 00 00, then 00.",
            ("Collision",),
            col([256, None], pa.int32()),
            collides_with=("int32_null_1",),
        ),
        Case(
            "int32_null_1",
            "The byte 00, then 01 00 00 00.",
            ("Collision",),
            col([None, 1], pa.int32()),
            collides_with=("int32_256_null",),
        ),
        Case("bool", "True is 2, false is 1, null is 0.", (), col([True, None, False], pa.bool_())),
        Case(
            "bool_sliced",
            "The same written from a slice whose bits begin inside a byte.",
            ("SliceOffset",),
            column(pa.array([False, True, None, False, True]).slice(1, 3)),
            same_records_as=("bool",),
        ),
        Case(
            "float64_special",
            "Both zeros, both infinities, a NaN, a null.",
            ("FloatBits",),
            col([0.0, -0.0, float("inf"), float("-inf"), float("nan"), None], pa.float64()),
        ),
        Case("float16", "Two bytes a value.", ("FloatBits",), col([1.5, None], pa.float16())),
        Case(
            "decimal128_neg_scale",
            "A negative scale is sign-extended to 64 bits.",
            ("TypeParameters",),
            col([Decimal("1200"), None], pa.decimal128(10, -2)),
        ),
        Case("date32", "Days, unit 0.", ("TimeUnit",), col([18262, None], pa.date32())),
        Case(
            "date64",
            "Milliseconds, unit 1.",
            ("TimeUnit",),
            column(raw(pa.date64(), 2, bits("10"), i64(18262 * 86_400_000, 0))),
        ),
        Case(
            "ts_us_plus0000",
            "A zone is its text: +00:00 is not UTC.",
            ("TimeUnit",),
            col([1, None], pa.timestamp("us", "+00:00")),
        ),
        Case("time32_s", "Four bytes, unit 0.", ("TimeUnit",), col([1], pa.time32("s"))),
        Case("time32_ms", "Four bytes, unit 1.", ("TimeUnit",), col([1], pa.time32("ms"))),
        Case("time64_us", "Eight bytes, unit 2.", ("TimeUnit",), col([1], pa.time64("us"))),
        Case("time64_ns", "Eight bytes, unit 3.", ("TimeUnit",), col([1], pa.time64("ns"))),
        Case(
            "string",
            "Short, null, empty, longer than a view holds, more bytes than letters.",
            ("VariableBinary",),
            col(TEXTS, pa.string()),
        ),
        Case(
            "large_string",
            "64-bit offsets.",
            ("VariableBinary",),
            col(TEXTS, pa.large_string()),
            same_records_as=("string",),
        ),
        Case(
            "string_view",
            "Views, short ones inline.",
            ("VariableBinary",),
            col(TEXTS, pa.string_view()),
            same_records_as=("string",),
        ),
        Case("binary", "Binary is another type than text.", ("VariableBinary",), col([b"ab", None], pa.binary())),
        Case(
            "large_binary",
            "64-bit offsets.",
            ("VariableBinary",),
            col([b"ab", None], pa.large_binary()),
            same_records_as=("binary",),
        ),
        Case(
            "binary_view",
            "Views.",
            ("VariableBinary",),
            col([b"ab", None], pa.binary_view()),
            same_records_as=("binary",),
        ),
        Case(
            "fsb2",
            "A fixed width is no part of the type; each value still carries its length.",
            ("VariableBinary",),
            col([b"ab", None], pa.binary(2)),
            same_records_as=("binary",),
        ),
        Case(
            "fsb0", "Width 0: a value is eight zero bytes, a null one.", ("ZeroWidth",), col([b"", None], pa.binary(0))
        ),
        Case(
            "list_item_int32",
            "A null item, a null list, an empty list.",
            ("ListLayout",),
            col([[1, None], None, []], pa.list_(pa.int32())),
        ),
        Case(
            "large_list_item_int32",
            "64-bit offsets.",
            ("ListLayout",),
            col([[1, None], None, []], pa.large_list(pa.int32())),
            same_records_as=("list_item_int32",),
        ),
        Case(
            "fsl2",
            "A null row owns two items that are not read.",
            ("ListLayout",),
            col([[1, 2], None, [3, None]], pa.list_(pa.int32(), 2)),
        ),
        Case(
            "list_eq_fsl2",
            "The same records with offsets.",
            ("ListLayout",),
            col([[1, 2], None, [3, None]], pa.list_(pa.int32())),
            same_records_as=("fsl2",),
        ),
        Case("fsl0", "Lists of size 0.", ("ListLayout", "ZeroWidth"), col([[], None], pa.list_(pa.int32(), 0))),
        Case(
            "list_list_utf8",
            "Lists of lists: the item type nests in the type encoding.",
            ("ListLayout",),
            col([[["a"], None, []], None, []], pa.list_(pa.list_(pa.string()))),
        ),
        Case(
            "list_bool",
            "Booleans inside a list are bytes 1 and 2 as well.",
            ("ListLayout",),
            col([[True, False, None], [], None], pa.list_(pa.bool_())),
        ),
        Case(
            "empty_rows",
            "Two columns and no rows.",
            ("NoRows",),
            pa.schema([("a", pa.int32()), ("s", pa.string())]).empty_table(),
        ),
        Case("no_columns", "Nothing at all: the digest of no bytes.", ("NoRows",), pa.table({})),
        Case(
            "nested_struct_no_nulls",
            "A struct in a struct.",
            ("StructNesting",),
            pa.table(
                {
                    "a": pa.array([1, 2], pa.int32()),
                    "s": pa.array([{"x": 1, "t": {"y": "p"}}, {"x": 2, "t": {"y": "q"}}], NESTED),
                }
            ),
        ),
        Case(
            "struct_nulls_child_without_nulls",
            "The struct has nulls, its child has no bitmap.",
            ("AndedValidity",),
            column(fields(("a", pa.array([1, 2, 3], pa.int32())), validity="101"), "s"),
        ),
        Case(
            "struct_nulls_child_nulls_disjoint",
            "Struct and child are null in different rows.",
            ("AndedValidity",),
            column(fields(("a", pa.array([None, 2, 3], pa.int32())), validity="101"), "s"),
        ),
        Case(
            "struct_nulls_min",
            "Two rows null for different reasons, one valid.",
            ("AndedValidity",),
            column(fields(("x", pa.array([5, None, 7], pa.int32())), validity="011"), "s"),
        ),
        Case("null_type", "Type id 0, one zero byte a row.", ("ReferenceRefuses",), column(pa.nulls(2))),
        Case(
            "dictionary_utf8",
            "A null index.",
            ("DictionaryEncoding", "ReferenceRefuses"),
            column(dictionary(pa.array([0, None, 1, 0], pa.int32()), pa.array(["a", "b"]))),
        ),
        Case(
            "plain_for_dictionary",
            "The same records without a dictionary.",
            ("DictionaryEncoding",),
            col(["a", None, "b", "a"], pa.string()),
            same_records_as=("dictionary_utf8",),
        ),
    ]
    for width, make in ((32, pa.decimal32), (64, pa.decimal64), (128, pa.decimal128), (256, pa.decimal256)):
        values = [Decimal("1.23"), None, Decimal("-4.50")]
        cases.append(
            Case(
                f"decimal{width}_5_2",
                f"{width} bits a value; the width is part of the type.",
                ("TypeParameters",),
                col(values, make(5, 2)),
            )
        )
    for unit in ("s", "ms", "us", "ns"):
        cases.append(
            Case(f"ts_{unit}", "No zone: one zero byte in the type.", ("TimeUnit",), col([1, None], pa.timestamp(unit)))
        )
        cases.append(
            Case(
                f"ts_{unit}_utc",
                "A zone: its length and text in the type.",
                ("TimeUnit",),
                col([1, None], pa.timestamp(unit, "UTC")),
            )
        )
    departs = {case.id: ("ReferenceDeparts",) if case.id in REFERENCE_DEPARTS else () for case in cases}
    return [replace(case, flags=("Published", *departs[case.id], *case.flags)) for case in cases]
