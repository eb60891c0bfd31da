"""Cases of dictionaries, runs and extensions."""

from __future__ import annotations

import pyarrow as pa
from arrow0_cases.case import X, bits, col, column, dictionary, opaque, raw, runs

from tree_cases.case import TreeCase, dense, listed
from tree_cases.nested import PAIR, PAIRS


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
