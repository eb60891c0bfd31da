"""Cases of lists, structs, maps and unions."""

from __future__ import annotations

import pyarrow as pa
from arrow0_cases.case import X, bits, col, column, dictionary, fields, i32, i64, opaque, raw, runs

from tree_cases.case import TreeCase, dense, listed, mapped, sparse

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


def maps() -> list[TreeCase]:
    t = pa.map_(pa.string(), pa.int64())
    rows = [[("k", 1), ("j", None)], None, []]
    numbers = pa.array([1, 2, 3], pa.int64())
    coded = dictionary(pa.array([0, 1, 0], pa.int8()), pa.array(["k", None]))
    kv = pa.struct([pa.field("k", pa.string(), nullable=False), ("v", pa.int64())])
    named = raw(kv, 2, None, children=[pa.array(["k", "j"]), pa.array([1, None], pa.int64())])
    entries = pa.map_(pa.field("k", pa.string(), nullable=False), pa.field("v", pa.int64()), keys_sorted=True)
    return [
        TreeCase("map", "Two entries, a null, no entry.", ("MapEntry", "NullLevel"), col(rows, t)),
        TreeCase(
            "map_sorted",
            "A sorted flag and other names of the entries' fields.",
            ("NotHashed", "MapEntry"),
            column(raw(entries, 3, bits("101"), i32(0, 2, 2, 2), children=[named])),
            same_records_as=("map",),
        ),
        TreeCase(
            "map_other_order",
            "Entries in another order: differs from map.",
            ("MapEntry",),
            col([[("j", None), ("k", 1)], None, []], t),
        ),
        TreeCase("map_repeated_key", "Nothing is asked of keys.", ("MapEntry",), col([[("k", 1), ("k", 1)]], t)),
        TreeCase(
            "map_null_key_in_dictionary",
            "A null key, which a dictionary holds, and a key that occurs twice.",
            ("MapEntry", "Dictionary", "NullLevel"),
            column(mapped([0, 2, 3], coded, numbers)),
        ),
        TreeCase(
            "map_null_key_in_runs",
            "The same keys as runs.",
            ("MapEntry", "RunEnds", "NullLevel"),
            column(mapped([0, 2, 3], runs([1, 2, 3], pa.array(["k", None, "k"])), numbers)),
            same_records_as=("map_null_key_in_dictionary",),
        ),
        TreeCase(
            "map_null_owns_entries",
            "The null owns an entry.",
            ("MapEntry", "GarbageUnderNulls"),
            column(mapped([0, 2, 3, 3], pa.array(["k", "j", "x"]), pa.array([1, None, 9], pa.int64()), bits("101"))),
            same_records_as=("map",),
        ),
        TreeCase(
            "list_of_pairs",
            "A list of structs with the map's entries is another type.",
            ("TypeBytes",),
            col(
                [[{"key": "k", "value": 1}, {"key": "j", "value": None}], None, []],
                pa.list_(pa.struct([("key", pa.string()), ("value", pa.int64())])),
            ),
        ),
        TreeCase(
            "map_of_map",
            "Maps as values of a map.",
            ("MapEntry",),
            col([[("a", [("b", 1)]), ("c", None)], []], pa.map_(pa.string(), pa.map_(pa.string(), pa.int8()))),
        ),
        TreeCase(
            "slice_of_map",
            "Row 1 and 2 of four.",
            ("SliceOffset", "MapEntry"),
            col([[("a", 1)], [("b", 2), ("c", 3)], None, [("d", 4)]], t),
            slice=(1, 2),
        ),
        TreeCase(
            "sliced_map",
            "These rows alone.",
            ("SliceOffset", "MapEntry"),
            col([[("b", 2), ("c", 3)], None], t),
            same_records_as=("slice_of_map",),
        ),
    ]


def unions() -> list[TreeCase]:
    i, s = ("i", pa.array([1, 99, None])), ("s", pa.array(["zz", "b", "zz"]))
    one = dense([0, 1, 0], [0, 0, 1], ("i", pa.array([1, None])), ("s", pa.array(["b"])))
    four_i, four_s = ("i", pa.array([10, 11, 12, 13])), ("s", pa.array(["a", "b", "c", "d"]))
    four_sparse = sparse([0, 1, 0, 1], four_i, four_s)
    four_dense = dense([0, 1, 0, 1], [0, 1, 2, 3], four_i, four_s)
    rows = sparse([1, 0], ("i", pa.array([99, 12])), ("s", pa.array(["b", "zz"])))
    inner = sparse([0, 1], ("a", pa.array([1, 2], pa.int8())), ("b", pa.array([True, None])))
    many = [(str(n), pa.array([n], pa.uint8())) for n in range(127)]
    return [
        TreeCase(
            "union_sparse",
            "Type codes 5 and 7 are children 0 and 1.",
            ("UnionSlots", "NotHashed"),
            column(sparse([5, 7, 5], i, s, type_codes=[5, 7])),
        ),
        TreeCase(
            "union_dense",
            "A child has the slots that select it only.",
            ("UnionSlots", "Layout"),
            column(one),
            same_records_as=("union_sparse",),
        ),
        TreeCase(
            "union_dense_gaps",
            "Values before and between those that a slot selects.",
            ("UnionSlots", "GarbageUnderNulls"),
            column(dense([0, 1, 0], [1, 1, 3], ("i", pa.array([98, 1, 99, None])), ("s", pa.array(["zz", "b"])))),
            same_records_as=("union_sparse",),
        ),
        TreeCase(
            "union_codes_backwards",
            "The first child has the higher code.",
            ("UnionSlots", "NotHashed"),
            column(sparse([9, 3, 9], i, s, type_codes=[9, 3])),
            same_records_as=("union_sparse",),
        ),
        TreeCase(
            "union_same_type",
            "Which of two children of one type holds a value counts.",
            ("UnionSlots",),
            column(sparse([0, 1], ("a", pa.array([1, 1])), ("b", pa.array([1, 1])))),
        ),
        TreeCase(
            "union_same_type_swapped",
            "The same rows as union_same_type in another order.",
            ("UnionSlots", "Order"),
            column(sparse([1, 0], ("a", pa.array([1, 1])), ("b", pa.array([1, 1])))),
            same_bag_as=("union_same_type",),
        ),
        TreeCase(
            "union_of_nothing",
            "No rows, and names that are part of the type.",
            ("UnionSlots", "NoRows"),
            pa.Table.from_batches(
                [], pa.schema([("c", pa.dense_union([pa.field("x", pa.int8()), pa.field("", pa.null())]))])
            ),
        ),
        TreeCase(
            "list_of_union",
            "Unions in lists, one of them with a null in a child.",
            ("UnionSlots", "ListSlots"),
            column(listed([0, 1, 1, 3], one)),
        ),
        TreeCase(
            "union_null",
            "A null index over a union: a null of the union, without a child.",
            ("UnionSlots", "Dictionary", "NullLevel"),
            column(
                dictionary(
                    pa.array([0, None, 1], pa.int8()),
                    dense([0, 1], [0, 0], ("i", pa.array([1])), ("s", pa.array(["b"]))),
                )
            ),
        ),
        TreeCase(
            "union_of_runs",
            "Runs of a union.",
            ("UnionSlots", "RunEnds"),
            column(runs([2, 3], dense([0, 1], [0, 0], ("i", pa.array([1])), ("s", pa.array(["b"]))))),
        ),
        TreeCase(
            "union_in_rows",
            "The same, a slot a row.",
            ("UnionSlots",),
            column(dense([0, 0, 1], [0, 0, 0], ("i", pa.array([1])), ("s", pa.array(["b"])))),
            same_records_as=("union_of_runs",),
        ),
        TreeCase(
            "slice_of_union_sparse",
            "Rows 1 and 2 of four.",
            ("UnionSlots", "SliceOffset"),
            column(four_sparse),
            slice=(1, 2),
        ),
        TreeCase(
            "slice_of_union_dense",
            "Rows 1 and 2 of four.",
            ("UnionSlots", "SliceOffset"),
            column(four_dense),
            slice=(1, 2),
            same_records_as=("slice_of_union_sparse",),
        ),
        TreeCase(
            "sliced_union",
            "These rows alone.",
            ("UnionSlots", "SliceOffset"),
            column(rows),
            same_records_as=("slice_of_union_sparse",),
        ),
        TreeCase(
            "struct_null_over_union",
            "A union has no nulls, the struct around it has one.",
            ("UnionSlots", "StructSlots"),
            column(fields(("u", four_sparse), validity="1011")),
        ),
        TreeCase(
            "union_of_union",
            "A union in a union.",
            ("UnionSlots",),
            column(sparse([0, 0, 1], ("u", pa.concat_arrays([inner, inner.slice(0, 1)])), ("n", pa.nulls(3)))),
        ),
        TreeCase(
            "union_of_null_type",
            "Children without streams.",
            ("UnionSlots", "NullType"),
            column(sparse([0, 1, 0], ("a", pa.nulls(3)), ("b", pa.nulls(3)))),
        ),
        TreeCase(
            "union_of_struct",
            "A null struct in a child is no null of the union.",
            ("UnionSlots", "StructSlots", "NullLevel"),
            column(
                sparse([0, 0, 1], ("s", pa.array(PAIRS, PAIR)), ("l", pa.array([[1], [2], [3]], pa.list_(pa.int8()))))
            ),
        ),
        TreeCase(
            "union_of_127",
            "As many children as type codes allow but one.",
            ("UnionSlots",),
            column(dense([126, 0], [0, 0], *many)),
        ),
    ]


def encodings() -> list[TreeCase]:
    texts = ["", "a", "é", "🙂", None]
    words = dictionary(pa.array([3, 0, 1, None, 2], pa.int8()), pa.array(["a", "é", None, ""]))
    same = dictionary(pa.array([3, 0, 1, 4, None], pa.int8()), pa.array(["a", "é", None, "", "🙂"]))
    pairs = dictionary(pa.array([0, 1, 2, 0], pa.int8()), pa.array(PAIRS, PAIR))
    lists_ = dictionary(pa.array([1, 0, None, 1], pa.int8()), pa.array([[1, None], []], pa.list_(pa.int8())))
    unused = dictionary(pa.array([2, 0, 4, 1, 5], pa.uint8()), pa.array(["a", "🙂", "", "unused", "é", None]))
    under = raw(pa.int8(), 5, bits("11110"), b"\0\1\2\3\x7f")
    ends = runs([3, 5, 6], pa.array([1, None, 2]))
    thousand = pa.array([i % 300 for i in range(600)], pa.int32())
    tensor = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int8(), [2]), pa.array([[1, 2], None], pa.list_(pa.int8(), 2))
    )
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16)))
    marked = pa.schema(
        [pa.field("c", pa.int8(), metadata={"ARROW:extension:name": "nobody.knows", "ARROW:extension:metadata": "x"})]
    )
    nested_runs = listed([0, 2, 5], runs([2, 4, 5], pa.array([1, None, 2])))
    return [
        TreeCase(
            "dictionary",
            "A null in the dictionary and a null index.",
            ("Dictionary",),
            column(same),
            same_records_as=("string",),
        ),
        TreeCase(
            "dictionary_null_value",
            "Text with a null value that an index points to, and a null index.",
            ("Dictionary", "NullLevel"),
            column(words),
        ),
        TreeCase(
            "dictionary_plain",
            "The same as text.",
            ("Dictionary",),
            col(["", "a", "é", None, None], pa.string()),
            same_records_as=("dictionary_null_value",),
        ),
        TreeCase(
            "dictionary_unused",
            "Other indices, unsigned, and an entry that no index names.",
            ("Dictionary", "GarbageUnderNulls"),
            column(unused),
            same_records_as=("string",),
        ),
        TreeCase(
            "dictionary_garbage",
            "An index past the end under a null.",
            ("Dictionary", "GarbageUnderNulls"),
            column(dictionary(under, pa.array(texts[:4]))),
            same_records_as=("string",),
        ),
        TreeCase(
            "dictionary_repeated",
            "Two entries with one value.",
            ("Dictionary",),
            column(dictionary(pa.array([0, 1, 1, 0], pa.int8()), pa.array([7, 7], pa.int8()))),
        ),
        TreeCase(
            "dictionary_repeated_plain",
            "The same without a dictionary.",
            ("Dictionary",),
            col([7] * 4, pa.int8()),
            same_records_as=("dictionary_repeated",),
        ),
        TreeCase(
            "dictionary_of_struct", "A null struct among the entries.", ("Dictionary", "StructSlots"), column(pairs)
        ),
        TreeCase(
            "struct_for_dictionary",
            "The same as structs.",
            ("Dictionary",),
            col([*PAIRS, PAIRS[0]], PAIR),
            same_records_as=("dictionary_of_struct",),
        ),
        TreeCase("dictionary_of_list", "Lists among the entries.", ("Dictionary", "ListSlots"), column(lists_)),
        TreeCase(
            "list_for_dictionary",
            "The same as lists.",
            ("Dictionary",),
            col([[], [1, None], None, []], pa.list_(pa.int8())),
            same_records_as=("dictionary_of_list",),
        ),
        TreeCase(
            "dictionary_uint16",
            "Indices above 127 and 255.",
            ("Dictionary",),
            column(dictionary(thousand.cast(pa.uint16()), thousand.slice(0, 300))),
        ),
        TreeCase(
            "int32_for_dictionary",
            "The same without a dictionary.",
            ("Dictionary",),
            column(thousand),
            same_records_as=("dictionary_uint16",),
        ),
        TreeCase(
            "list_of_dictionary",
            "A dictionary inside lists.",
            ("Dictionary", "ListSlots"),
            column(listed([0, 2, 5], words)),
        ),
        TreeCase(
            "list_for_list_of_dictionary",
            "The same as text.",
            ("Dictionary",),
            col([["", "a"], ["é", None, None]], pa.list_(pa.string())),
            same_records_as=("list_of_dictionary",),
        ),
        TreeCase("run_end", "Three runs, one of them null.", ("RunEnds",), column(ends)),
        TreeCase(
            "run_end_plain",
            "The same, a value a row.",
            ("RunEnds",),
            col([1, 1, 1, None, None, 2], pa.int64()),
            same_records_as=("run_end",),
        ),
        TreeCase(
            "run_end_int16",
            "16-bit run ends, and one run in two.",
            ("RunEnds",),
            column(runs([1, 3, 5, 6], pa.array([1, 1, None, 2]), pa.int16())),
            same_records_as=("run_end",),
        ),
        TreeCase(
            "list_of_runs",
            "Runs inside lists; a run ends inside of a list, and one at its end.",
            ("RunEnds", "ListSlots"),
            column(nested_runs),
        ),
        TreeCase(
            "list_for_list_of_runs",
            "The same, a value a slot.",
            ("RunEnds",),
            col([[1, 1], [None, None, 2]], pa.list_(pa.int64())),
            same_records_as=("list_of_runs",),
        ),
        TreeCase(
            "slice_of_runs",
            "Rows 2 to 4 of six: the first run began before.",
            ("RunEnds", "SliceOffset"),
            column(ends),
            slice=(2, 3),
        ),
        TreeCase(
            "sliced_runs",
            "These rows alone.",
            ("RunEnds", "SliceOffset"),
            col([1, None, None], pa.int64()),
            same_records_as=("slice_of_runs",),
        ),
        TreeCase(
            "runs_of_dictionary",
            "A dictionary inside runs.",
            ("RunEnds", "Dictionary"),
            column(runs([2, 3, 5], dictionary(pa.array([1, 0, None], pa.int8()), pa.array([None, "a"])))),
        ),
        TreeCase(
            "text_for_runs_of_dictionary",
            "The same as text.",
            ("RunEnds", "Dictionary"),
            col(["a", "a", None, None, None], pa.string()),
            same_records_as=("runs_of_dictionary",),
        ),
        TreeCase("extension_uuid", "Stored as binary of 16 bytes.", ("Extension",), column(uuids)),
        TreeCase(
            "binary_for_uuid",
            "The same as binary.",
            ("Extension",),
            col([b"0123456789abcdef", None], pa.binary()),
            same_records_as=("extension_uuid",),
        ),
        TreeCase("extension_tensor", "A tensor of a fixed shape is a list.", ("Extension",), column(tensor)),
        TreeCase(
            "list_for_tensor",
            "The same as a list.",
            ("Extension",),
            col([[1, 2], None], pa.list_(pa.int8())),
            same_records_as=("extension_tensor",),
        ),
        TreeCase(
            "extension_unknown",
            "One that no reader knows is its storage.",
            ("Extension",),
            pa.Table.from_arrays([pa.array([1, None], pa.int8())], schema=marked),
        ),
        TreeCase(
            "storage_of_unknown",
            "The storage alone.",
            ("Extension",),
            col([1, None], pa.int8()),
            same_records_as=("extension_unknown",),
        ),
        TreeCase(
            "extension_of_dictionary",
            "An extension over a dictionary.",
            ("Extension", "Dictionary"),
            column(opaque(same)),
            same_records_as=("string",),
        ),
        TreeCase(
            "list_of_extension",
            "An extension inside lists.",
            ("Extension", "ListSlots"),
            column(listed([0, 1, 2], opaque(pa.array(PAIRS[:2], PAIR)))),
        ),
        TreeCase(
            "list_for_list_of_extension",
            "The same as its storage.",
            ("Extension",),
            col([PAIRS[:1], PAIRS[1:2]], pa.list_(PAIR)),
            same_records_as=("list_of_extension",),
        ),
        TreeCase(
            "extension_of_union",
            "An extension over a union.",
            ("Extension", "UnionSlots"),
            column(opaque(dense([0, 1, 0], [0, 0, 1], ("i", pa.array([1, None])), ("s", pa.array(["b"]))))),
            same_records_as=("union_sparse",),
        ),
        TreeCase(
            "dictionary_of_garbage",
            "Garbage under a null of the dictionary.",
            ("Dictionary", "GarbageUnderNulls"),
            column(dictionary(pa.array([1, 0], pa.int8()), raw(pa.int8(), 2, bits("01"), X + b"\5"))),
        ),
        TreeCase(
            "dictionary_of_garbage_plain",
            "The same without a dictionary.",
            ("Dictionary",),
            col([5, None], pa.int8()),
            same_records_as=("dictionary_of_garbage",),
        ),
    ]
