"""Cases of lists and structs."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from arrow0_cases.case import (
    Case,
    bits,
    col,
    column,
    columns,
    dictionary,
    empty,
    fields,
    i32,
    i64,
    opaque,
    raw,
    runs,
)


def lists() -> list[Case]:
    ints, big = pa.list_view(pa.int32()), pa.large_list_view(pa.int32())
    out_of_order = raw(
        ints, 4, bits("1101"), i32(3, 0, 1, 0), i32(1, 2, 2, 0), children=[pa.array([1, 2, 9, 4], pa.int32())]
    )
    overlap = raw(big, 3, None, i64(0, 1, 0), i64(2, 2, 3), children=[pa.array([1, 2, 3], pa.int32())])
    item = lambda name, **flags: pa.list_(pa.field(name, pa.int32(), **flags))  # noqa: E731  (three fields in a row)
    inner = pa.list_(pa.int8(), 2)
    words = pa.array(["a", None, "bc", "a"])
    coded = dictionary(pa.array([0, None, 1, 0], pa.int8()), pa.array(["a", "bc"]))
    in_runs = runs([1, 2, 3, 4], words)
    offsets = i32(0, 2, 2, 4)
    over = lambda child: column(raw(pa.list_(child.type), 3, bits("101"), offsets, children=[child]))  # noqa: E731
    return [
        Case(
            "list_view_out_of_order",
            "Views in any order with an item nobody refers to and garbage under the null.",
            ("ListLayout", "GarbageUnderNulls", "ReferenceRefuses"),
            column(out_of_order),
        ),
        Case(
            "list_for_view_out_of_order",
            "The same with offsets.",
            ("ListLayout",),
            col([[4], [1, 2], None, []], pa.list_(pa.int32())),
            same_records_as=("list_view_out_of_order",),
        ),
        Case(
            "large_list_view_overlapping",
            "Views that share items.",
            ("ListLayout", "ReferenceRefuses"),
            column(overlap),
        ),
        Case(
            "list_for_view_overlapping",
            "The same with offsets.",
            ("ListLayout",),
            col([[1, 2], [2, 3], [1, 2, 3]], pa.list_(pa.int32())),
            same_records_as=("large_list_view_overlapping",),
        ),
        Case(
            "list_item_called_element",
            "Item names are not hashed.",
            ("NotHashed",),
            col([[1, None], None, []], item("element")),
            same_records_as=("list_item_int32",),
        ),
        Case(
            "list_item_not_null",
            "The item's nullability is not hashed.",
            ("NotHashed",),
            col([[1, 2], []], item("item", nullable=False)),
        ),
        Case(
            "list_item_nullable",
            "The same with a nullable item.",
            ("NotHashed",),
            col([[1, 2], []], item("item")),
            same_records_as=("list_item_not_null",),
        ),
        Case(
            "list_of_fsl2",
            "Fixed-size lists inside lists, with nulls on each level.",
            ("ListLayout",),
            col([[[1, 2], None], None, [], [[None, 3]]], pa.list_(inner)),
        ),
        Case(
            "list_for_list_of_fsl2",
            "The same with offsets on both levels.",
            ("ListLayout",),
            col([[[1, 2], None], None, [], [[None, 3]]], pa.large_list(pa.list_(pa.int8()))),
            same_records_as=("list_of_fsl2",),
        ),
        Case(
            "fsl2_of_list",
            "Variable lists inside fixed-size ones.",
            ("ListLayout",),
            col([[["a"], []], None, [None, ["b", None]]], pa.list_(pa.list_(pa.string()), 2)),
        ),
        Case(
            "fsl0_records_in_list",
            "The records of fsl0 with offsets.",
            ("ListLayout", "ZeroWidth"),
            col([[], None], pa.list_(pa.int32())),
            same_records_as=("fsl0",),
        ),
        Case("list_string", "What the next three encode.", ("ListLayout",), over(words)),
        Case(
            "list_dictionary",
            "A dictionary inside a list.",
            ("ListLayout", "DictionaryEncoding", "ReferenceRefuses"),
            over(coded),
            same_records_as=("list_string",),
        ),
        Case(
            "list_run_ends",
            "Run ends inside a list.",
            ("ListLayout", "RunEndEncoding", "ReferenceRefuses"),
            over(in_runs),
            same_records_as=("list_string",),
        ),
        Case(
            "list_string_view",
            "Views inside a list.",
            ("ListLayout",),
            over(pa.array(["a", None, "bc", "a"], pa.string_view())),
            same_records_as=("list_string",),
        ),
        Case(
            "list_extension",
            "An extension inside a list.",
            ("ListLayout", "ExtensionType"),
            over(opaque(words)),
            same_records_as=("list_string",),
        ),
        Case(
            "list_null",
            "Lists of nulls: length, then a zero byte an item.",
            ("ListLayout", "ReferenceRefuses"),
            col([[], [None], None, [None, None]], pa.list_(pa.null())),
        ),
        Case(
            "list_timestamp",
            "The item's zone is in the type.",
            ("ListLayout", "TimeUnit"),
            col([[1, None], []], pa.list_(pa.timestamp("ms", "UTC"))),
        ),
        Case(
            "list_decimal256",
            "Item type with parameters.",
            ("ListLayout", "TypeParameters"),
            col([[Decimal("1.5"), None]], pa.list_(pa.decimal256(40, 1))),
        ),
        Case(
            "list_empty_rows",
            "A list column without rows.",
            ("NoRows", "ListLayout"),
            empty(pa.list_(pa.list_(pa.uint16()))),
        ),
    ]


def structs() -> list[Case]:
    leaf = raw(pa.int32(), 8, bits("11110000"), b"".join(i32(i) for i in range(8)))
    middle = fields(("leaf", leaf), validity="11001100")
    outer = fields(("middle", middle), validity="10101010")
    clean = pa.array([0] + [None] * 7, pa.int32())
    child = pa.array([1, None, 3], pa.int8())
    strings = pa.array([["a", None], ["b"], None], pa.list_(pa.string()))
    pair = pa.struct([("x", pa.int8()), ("y", pa.string())])
    pairs = pa.array([{"x": 1, "y": "p"}, None, {"x": None, "y": "q"}, {"x": 1, "y": "p"}], pair)
    entries = pa.array([{"x": 1, "y": "p"}, {"x": None, "y": "q"}, None], pair)
    no_fields = raw(pa.struct([]), 2, bits("10"), children=[])
    no_columns = pa.RecordBatch.from_struct_array(raw(pa.struct([]), 3, None, children=[]))
    by_dictionary = dictionary(pa.array([0, 2, 1, 0], pa.int8()), entries)
    mixed_case = ("StructNesting", "DictionaryEncoding", "ReferenceRefuses")
    return [
        Case(
            "struct_three_levels_anded",
            "All eight combinations of three validity bits; one row is valid.",
            ("AndedValidity", "ReferenceDeparts"),
            column(outer, "outer"),
        ),
        Case(
            "struct_three_levels_clean",
            "The same records; only the leaf has a bitmap.",
            ("AndedValidity",),
            column(fields(("middle", fields(("leaf", clean)))), "outer"),
            same_records_as=("struct_three_levels_anded",),
        ),
        Case(
            "struct_null_child_null",
            "Null struct over null child, null child in a valid struct.",
            ("AndedValidity", "ReferenceDeparts"),
            column(fields(("x", child), validity="110")),
        ),
        Case(
            "struct_list_under_null",
            "A list leaf; the struct's null hides a list with items.",
            ("AndedValidity", "ListLayout", "ReferenceDeparts"),
            column(fields(("items", strings), validity="101")),
        ),
        Case(
            "struct_empty",
            "A struct without fields adds a name and a level, and no leaf.",
            ("ZeroWidth", "StructNesting"),
            column(no_fields),
        ),
        Case(
            "struct_empty_no_rows",
            "Its rows leave no trace.",
            ("ZeroWidth", "Collision", "NoRows"),
            empty(pa.struct([])),
            collides_with=("struct_empty",),
        ),
        Case(
            "no_columns_three_rows",
            "Rows without columns leave no trace.",
            ("ZeroWidth", "Collision"),
            pa.Table.from_batches([no_columns]),
            collides_with=("no_columns",),
        ),
        Case(
            "struct_next_to_leaf",
            "Leaf digests are combined depth first, in field order.",
            ("StructNesting",),
            columns(
                ("a", pa.array([1], pa.int8())),
                ("s", pa.array([{"x": 1, "y": "p"}], pair)),
                ("b", pa.array([2], pa.int8())),
            ),
        ),
        Case(
            "struct_duplicate_fields",
            "Two fields of one name in one struct.",
            ("NameBytes", "StructNesting"),
            column(fields(("x", pa.array([1], pa.int8())), ("x", pa.array([2], pa.int8())))),
        ),
        Case("struct_plain", "What the next three encode.", ("StructNesting",), column(pairs)),
        Case(
            "struct_in_dictionary",
            "A dictionary of structs is a struct column; a null entry nulls every leaf.",
            mixed_case,
            column(by_dictionary),
            same_records_as=("struct_plain",),
        ),
        Case(
            "struct_in_run_ends",
            "Run-end encoded structs are a struct column.",
            ("StructNesting", "RunEndEncoding", "ReferenceRefuses"),
            column(runs([1, 2, 3, 4], pairs)),
            same_records_as=("struct_plain",),
        ),
        Case(
            "struct_in_extension",
            "An extension over a struct is a struct column.",
            ("StructNesting", "ExtensionType"),
            column(opaque(pairs)),
            same_records_as=("struct_plain",),
        ),
        Case(
            "struct_child_dictionary_under_null",
            "The child's index under the null struct is valid.",
            ("AndedValidity", "DictionaryEncoding", "ReferenceRefuses"),
            column(fields(("d", dictionary(pa.array([0, 1, None], pa.int8()), pa.array(["p", "q"]))), validity="101")),
        ),
        Case(
            "struct_not_nullable",
            "Nullability flags of struct and child are not hashed.",
            ("NotHashed",),
            column(
                raw(
                    pa.struct([pa.field("x", pa.int8(), nullable=False)]), 1, None, children=[pa.array([1], pa.int8())]
                ),
                nullable=False,
            ),
        ),
        Case(
            "struct_nullable",
            "The same with nullable fields.",
            ("NotHashed",),
            column(fields(("x", pa.array([1], pa.int8())))),
            same_records_as=("struct_not_nullable",),
        ),
    ]
