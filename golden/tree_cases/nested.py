"""Cases of lists and structs."""

from __future__ import annotations

import pyarrow as pa
from arrow0_cases.case import bits, col, column, fields, i32, i64, raw

from tree_cases.case import TreeCase, listed

PAIR = pa.struct([("x", pa.int8()), ("y", pa.string())])
PAIRS = [{"x": 1, "y": "a"}, None, {"x": None, "y": None}]


def lists() -> list[TreeCase]:
    shorts = [[1, None], [], None, [3]]
    ints = pa.array([1, None, 99, 98, 3], pa.int16())
    apart = raw(pa.list_view(pa.int16()), 4, bits("1101"), i32(0, 2, -7, 4), i32(2, 0, 99, 1), children=[ints])
    overlapping = raw(
        pa.large_list_view(pa.int8()), 3, None, i64(0, 1, 0), i64(2, 2, 3), children=[pa.array([1, 2, 3], pa.int8())]
    )
    fixed = raw(pa.list_(pa.int16(), 2), 3, bits("101"), children=[pa.array([1, 2, 99, 98, 5, 6], pa.int16())])
    return [
        TreeCase(
            "list",
            "A null item, no item, a null, one item.",
            ("ListSlots", "NullLevel"),
            col(shorts, pa.list_(pa.int16())),
        ),
        TreeCase(
            "large_list",
            "64-bit offsets.",
            ("Layout",),
            col(shorts, pa.large_list(pa.int16())),
            same_records_as=("list",),
        ),
        TreeCase(
            "list_view_apart",
            "Views out of reach under the null, and items that no list holds.",
            ("Layout", "GarbageUnderNulls"),
            column(apart),
            same_records_as=("list",),
        ),
        TreeCase(
            "list_null_owns_items",
            "The null list owns two items, and one item lies before the first list and one behind the last.",
            ("ListSlots", "GarbageUnderNulls"),
            column(listed([1, 3, 3, 5, 6], pa.array([97, 1, None, 99, 98, 3, 96], pa.int16()), bits("1101"))),
            same_records_as=("list",),
        ),
        TreeCase(
            "fixed_size_list",
            "Two items a list; a null list has none.",
            ("Layout", "ListSlots"),
            col([[1, 2], None, [5, 6]], pa.list_(pa.int16(), 2)),
        ),
        TreeCase(
            "fixed_size_list_garbage",
            "Items under the null.",
            ("Layout", "GarbageUnderNulls"),
            column(fixed),
            same_records_as=("fixed_size_list",),
        ),
        TreeCase(
            "list_of_one_size",
            "The same with offsets.",
            ("Layout",),
            col([[1, 2], None, [5, 6]], pa.list_(pa.int16())),
            same_records_as=("fixed_size_list",),
        ),
        TreeCase(
            "list_view",
            "Views that go backwards.",
            ("Layout",),
            column(
                raw(pa.list_view(pa.int16()), 2, None, i32(2, 0), i32(1, 2), children=[pa.array([7, 8, 9], pa.int16())])
            ),
        ),
        TreeCase(
            "list_for_list_view",
            "The same with offsets.",
            ("Layout",),
            col([[9], [7, 8]], pa.list_(pa.int16())),
            same_records_as=("list_view",),
        ),
        TreeCase("list_view_overlapping", "Views that share items.", ("Layout",), column(overlapping)),
        TreeCase(
            "list_for_overlapping",
            "The same with offsets.",
            ("Layout",),
            col([[1, 2], [2, 3], [1, 2, 3]], pa.list_(pa.int8())),
            same_records_as=("list_view_overlapping",),
        ),
        TreeCase(
            "list_of_list",
            "Lengths on two levels, nulls on three.",
            ("ListSlots", "NullLevel"),
            col([[["a"], [], None], None, [["b", None]]], pa.list_(pa.list_(pa.string()))),
        ),
        TreeCase(
            "lists_of_size_0",
            "No item in any list, and a null.",
            ("Layout", "NullLevel"),
            col([[], None, []], pa.list_(pa.int8(), 0)),
        ),
        TreeCase(
            "list_of_null",
            "Lengths, and items without streams.",
            ("NullType", "ListSlots"),
            col([[None, None], [], None], pa.list_(pa.null())),
        ),
        TreeCase("list_of_zero", "To arrow0 list_of_a_null.", ("Arrow0Collision",), col([[0]], pa.list_(pa.int8()))),
        TreeCase(
            "list_of_a_null",
            "Differs from list_of_zero.",
            ("Arrow0Collision", "NullLevel"),
            col([[None]], pa.list_(pa.int8())),
        ),
        TreeCase(
            "list_nulls_eight",
            "Eight null lists: to arrow0 list_empty.",
            ("Arrow0Collision",),
            col([None] * 8, pa.list_(pa.int8())),
        ),
        TreeCase("list_empty", "One list without items.", ("Arrow0Collision",), col([[]], pa.list_(pa.int8()))),
        TreeCase("list_border", "Where a list ends counts.", ("ListSlots",), col([[1], [2, 3]], pa.list_(pa.int8()))),
        TreeCase(
            "list_border_moved", "Differs from list_border.", ("ListSlots",), col([[1, 2], [3]], pa.list_(pa.int8()))
        ),
        TreeCase(
            "list_of_bool",
            "Bits are packed over the items of all lists.",
            ("BitPacking", "ListSlots"),
            col([[True] * 5, None, [False, None, True] * 3], pa.list_(pa.bool_())),
        ),
    ]


def structs() -> list[TreeCase]:
    garbage = fields(("x", pa.array([1, 99, None], pa.int8())), ("y", pa.array(["a", "zz", None])), validity="101")
    three = pa.struct([("p", pa.struct([("q", pa.struct([("r", pa.int32())]))]))])
    deep = [{"p": {"q": {"r": 1}}}, {"p": {"q": None}}, {"p": None}, None]
    listed_pairs = [[{"x": 1, "y": "a"}], [None, {"x": None, "y": "b"}], None, []]
    return [
        TreeCase("struct", "A null struct, and a struct of nulls.", ("StructSlots", "NullLevel"), col(PAIRS, PAIR)),
        TreeCase(
            "struct_garbage",
            "Values under the null struct.",
            ("StructSlots", "GarbageUnderNulls"),
            column(garbage),
            same_records_as=("struct",),
        ),
        TreeCase("struct_empty", "No fields, one null.", ("StructSlots",), col([{}, None], pa.struct([]))),
        TreeCase("struct_deep", "A null on each of three levels.", ("StructSlots", "NullLevel"), col(deep, three)),
        TreeCase(
            "list_of_struct",
            "Nulls of lists, structs, fields.",
            ("ListSlots", "StructSlots"),
            col(listed_pairs, pa.list_(PAIR)),
        ),
        TreeCase(
            "struct_null",
            "Differs from struct_of_null.",
            ("Arrow0Collision", "NullLevel"),
            col([None], pa.struct([("x", pa.int8())])),
        ),
        TreeCase(
            "struct_of_null",
            "Differs from struct_null.",
            ("Arrow0Collision", "NullLevel"),
            col([{"x": None}], pa.struct([("x", pa.int8())])),
        ),
        TreeCase(
            "struct_names",
            "Names of fields are part of the type: differs from struct_names_swapped.",
            ("NameBytes",),
            column(fields(("a", pa.array([1])), ("b", pa.array([1])))),
        ),
        TreeCase(
            "struct_names_swapped",
            "Differs from struct_names.",
            ("NameBytes",),
            column(fields(("b", pa.array([1])), ("a", pa.array([1])))),
        ),
        TreeCase(
            "struct_names_repeated",
            "Empty and repeated names inside a struct.",
            ("NameBytes",),
            column(fields(("", pa.array([1])), ("a", pa.array([2])), ("a", pa.array([3])))),
        ),
        TreeCase(
            "struct_of_struct_empty",
            "A struct that holds a struct without fields, null in one row.",
            ("StructSlots", "NullLevel"),
            column(fields(("e", pa.array([{}, None], pa.struct([]))))),
        ),
        TreeCase(
            "list_of_struct_empty",
            "Structs without fields in lists.",
            ("ListSlots", "StructSlots"),
            col([[{}, None], [], None], pa.list_(pa.struct([]))),
        ),
        TreeCase(
            "struct_of_list",
            "A list in a struct, under a null struct.",
            ("StructSlots", "ListSlots"),
            col([{"l": [1]}, None, {"l": None}, {"l": []}], pa.struct([("l", pa.list_(pa.int8()))])),
        ),
        TreeCase(
            "fixed_size_list_of_struct",
            "Structs in lists of a fixed size.",
            ("Layout", "StructSlots"),
            col([[{"x": 1, "y": "a"}], None, [None]], pa.list_(PAIR, 1)),
        ),
        TreeCase(
            "list_of_struct_of_one_size",
            "The same with offsets.",
            ("Layout",),
            col([[{"x": 1, "y": "a"}], None, [None]], pa.list_(PAIR)),
            same_records_as=("fixed_size_list_of_struct",),
        ),
        TreeCase("slice_of_struct", "Rows 1 and 2 of four.", ("SliceOffset",), col(deep, three), slice=(1, 2)),
        TreeCase(
            "sliced_struct",
            "These rows alone.",
            ("SliceOffset",),
            col(deep[1:3], three),
            same_records_as=("slice_of_struct",),
        ),
        TreeCase(
            "slice_of_list_of_struct",
            "Rows 1 and 2 of four.",
            ("SliceOffset",),
            col(listed_pairs, pa.list_(PAIR)),
            slice=(1, 2),
        ),
        TreeCase(
            "sliced_list_of_struct",
            "These rows alone.",
            ("SliceOffset",),
            col(listed_pairs[1:3], pa.list_(PAIR)),
            same_records_as=("slice_of_list_of_struct",),
        ),
        TreeCase(
            "slice_of_fixed_size_list",
            "Rows 1 and 2 of three.",
            ("SliceOffset",),
            col([[1, 2], None, [5, 6]], pa.list_(pa.int16(), 2)),
            slice=(1, 2),
        ),
        TreeCase(
            "sliced_fixed_size_list",
            "These rows alone.",
            ("SliceOffset",),
            col([None, [5, 6]], pa.list_(pa.int16())),
            same_records_as=("slice_of_fixed_size_list",),
        ),
    ]
