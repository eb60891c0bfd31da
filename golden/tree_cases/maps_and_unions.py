"""Cases of maps and unions."""

from __future__ import annotations

import pyarrow as pa
from arrow0_cases.case import bits, col, column, dictionary, fields, i32, raw, runs

from tree_cases.case import TreeCase, dense, listed, mapped, sparse
from tree_cases.nested import PAIR, PAIRS


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
