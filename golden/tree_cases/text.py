"""Cases of text and bytes."""

from __future__ import annotations

import pyarrow as pa
from arrow0_cases.case import X, bits, col, column, i32, long_view, raw, short_view

from tree_cases.case import TreeCase

TEXTS = ["", "a", "é", "🙂", None]


def text() -> list[TreeCase]:
    long = ["x" * 12, "y" * 13, None, "z" * 300, ""]
    views = [short_view(b"x" * 12), long_view(b"y" * 13, 1, 2), X * 16, long_view(b"z" * 300, 0, 0), short_view(b"")]
    wild = raw(pa.string_view(), 5, bits("11011"), b"".join(views), b"z" * 300, b"--" + b"y" * 13)
    return [
        TreeCase(
            "string", "No byte, one, two and four for a letter, and a null.", ("Lengths",), col(TEXTS, pa.string())
        ),
        TreeCase("string_view", "Views.", ("Layout",), col(TEXTS, pa.string_view()), same_records_as=("string",)),
        TreeCase(
            "large_string", "64-bit offsets.", ("Layout",), col(TEXTS, pa.large_string()), same_records_as=("string",)
        ),
        TreeCase(
            "binary",
            "Bytes are another type than text.",
            ("TypeBytes",),
            col([b"", b"a", b"\xff\0", None], pa.binary()),
        ),
        TreeCase(
            "large_binary",
            "64-bit offsets.",
            ("Layout",),
            col([b"", b"a", b"\xff\0", None], pa.large_binary()),
            same_records_as=("binary",),
        ),
        TreeCase(
            "binary_view",
            "Views.",
            ("Layout",),
            col([b"", b"a", b"\xff\0", None], pa.binary_view()),
            same_records_as=("binary",),
        ),
        TreeCase(
            "binary_as_text",
            "The bytes of string as binary: differs from it.",
            ("TypeBytes",),
            col([s if s is None else s.encode() for s in TEXTS], pa.binary()),
        ),
        TreeCase(
            "fixed_size_binary",
            "Values of one size have lengths like others.",
            ("Layout",),
            col([b"abcd", None, b"efgh"], pa.binary(4)),
        ),
        TreeCase(
            "binary_of_one_size",
            "The same with offsets.",
            ("Layout",),
            col([b"abcd", None, b"efgh"], pa.binary()),
            same_records_as=("fixed_size_binary",),
        ),
        TreeCase(
            "fixed_size_binary_0",
            "Two values of no bytes and a null.",
            ("Layout", "Lengths"),
            col([b"", None, b""], pa.binary(0)),
        ),
        TreeCase(
            "binary_empty_values",
            "The same with offsets.",
            ("Layout", "Lengths"),
            col([b"", None, b""], pa.binary()),
            same_records_as=("fixed_size_binary_0",),
        ),
        TreeCase("string_long", "Around the twelve bytes that a view holds.", ("Layout",), col(long, pa.string())),
        TreeCase(
            "string_view_long",
            "Two buffers in another order, and a view under the null that points nowhere.",
            ("Layout", "GarbageUnderNulls"),
            column(wild),
            same_records_as=("string_long",),
        ),
        TreeCase(
            "string_null_owns_bytes",
            "The null owns two bytes of the data, and there are bytes before the first value.",
            ("GarbageUnderNulls",),
            column(raw(pa.string(), 3, bits("101"), i32(1, 2, 4, 5), b"-a--b")),
        ),
        TreeCase(
            "string_null_owns_nothing",
            "The same without bytes that belong to no value.",
            ("GarbageUnderNulls",),
            col(["a", None, "b"], pa.string()),
            same_records_as=("string_null_owns_bytes",),
        ),
        TreeCase("string_ab_c", "Where a value ends counts.", ("Lengths",), col(["ab", "c"], pa.string())),
        TreeCase("string_a_bc", "Differs from string_ab_c.", ("Lengths",), col(["a", "bc"], pa.string())),
        TreeCase(
            "string_nulls_empty",
            "Eight nulls and an empty text: to arrow0 string_empty_nulls.",
            ("Arrow0Collision",),
            col([*[None] * 8, ""], pa.string()),
        ),
        TreeCase(
            "string_empty_nulls",
            "An empty text and eight nulls: the same rows as string_nulls_empty in another order.",
            ("Arrow0Collision", "Order"),
            col(["", *[None] * 8], pa.string()),
            same_bag_as=("string_nulls_empty",),
        ),
        TreeCase(
            "string_not_utf8",
            "Bytes that are no UTF-8.",
            ("ValueBlind",),
            column(raw(pa.string(), 1, None, i32(0, 2), b"\xff\xfe")),
        ),
    ]
