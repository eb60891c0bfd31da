"""Cases of encodings of one type, of whole records, and of what arrow0 cannot tell apart."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from arrow0_cases.case import (
    Case,
    batches,
    col,
    column,
    columns,
    dictionary,
    empty,
    extension,
    fields,
    opaque,
    runs,
)
from arrow0_cases.flat import INTEGERS


def encodings() -> list[Case]:
    coded, run = ("DictionaryEncoding", "ReferenceRefuses"), ("RunEndEncoding", "ReferenceRefuses")
    plain = ("dictionary_utf8",)
    cases = []
    for t in INTEGERS:
        table = column(dictionary(pa.array([0, None, 1, 0], t), pa.array(["a", "b"])))
        cases.append(Case(f"dictionary_{t}_index", "Any index type.", coded, table, same_records_as=plain))
    messy = dictionary(pa.array([3, 1, 2, 0], pa.int8()), pa.array(["a", None, "b", "a", "unused"]))
    nested = dictionary(pa.array([1, 0, None, 1], pa.int8()), pa.array([["x", None], []], pa.list_(pa.string())))
    decimals = dictionary(pa.array([1, 0], pa.int8()), pa.array([Decimal("1.0"), Decimal("2.5")], pa.decimal64(9, 1)))
    for t in (pa.int16(), pa.int32(), pa.int64()):
        table = column(runs([2, 3, 7], pa.array([5, None, 6], pa.int16()), t))
        same = () if t == pa.int16() else ("run_ends_int16",)
        cases.append(Case(f"run_ends_{t}", "Any type of run ends.", run, table, same_records_as=same))
    dict_runs = runs([1, 2, 3, 4], dictionary(pa.array([0, None, 1, 0], pa.int8()), pa.array(["a", "b"])))
    tensor = extension(pa.fixed_shape_tensor(pa.int8(), [2]), pa.array([[1, 2], None], pa.list_(pa.int8(), 2)))
    unknown = {"ARROW:extension:name": "nobody.knows", "ARROW:extension:metadata": "x"}
    deltas = (
        dictionary(pa.array([0, 1], pa.int8()), pa.array(["a", "b"])),
        dictionary(pa.array([2, 0], pa.int8()), pa.array(["a", "b", "c"])),
    )
    replaced = (
        dictionary(pa.array([0, 1], pa.int8()), pa.array(["a", "b"])),
        dictionary(pa.array([0, 1], pa.int8()), pa.array(["c", "a"])),
    )
    cases += [
        Case(
            "dictionary_null_entry",
            "A null entry, a repeated entry, an unused entry.",
            coded,
            column(messy),
            same_records_as=plain,
        ),
        Case(
            "dictionary_ordered",
            "The ordered flag is not hashed.",
            coded,
            column(
                pa.DictionaryArray.from_arrays(
                    pa.array([0, None, 1, 0], pa.int32()), pa.array(["a", "b"]), ordered=True
                )
            ),
            same_records_as=plain,
        ),
        Case(
            "dictionary_replaced", "Each batch brings its own dictionary.", (*coded, "BatchBorders"), batches(*replaced)
        ),
        Case(
            "dictionary_delta",
            "The second batch adds to the dictionary.",
            (*coded, "BatchBorders"),
            batches(*deltas),
            same_records_as=("dictionary_replaced",),
            dictionary_deltas=True,
        ),
        Case(
            "plain_for_batches",
            "The same records without a dictionary.",
            ("DictionaryEncoding",),
            col(["a", "b", "c", "a"], pa.string()),
            same_records_as=("dictionary_replaced",),
        ),
        Case("dictionary_list", "Lists as dictionary entries.", (*coded, "ListLayout"), column(nested)),
        Case(
            "plain_for_dictionary_list",
            "The same records without a dictionary.",
            ("ListLayout",),
            col([[], ["x", None], None, []], pa.list_(pa.string())),
            same_records_as=("dictionary_list",),
        ),
        Case(
            "dictionary_decimal64",
            "The entry's type parameters are hashed.",
            (*coded, "TypeParameters"),
            column(decimals),
        ),
        Case(
            "dictionary_null",
            "A dictionary of type null.",
            coded,
            column(dictionary(pa.array([0, None], pa.int8()), pa.nulls(1))),
            same_records_as=("null_type",),
        ),
        Case(
            "dictionary_no_rows",
            "A dictionary column without rows has the type of its values.",
            (*coded, "NoRows"),
            empty(pa.dictionary(pa.int8(), pa.string())),
        ),
        Case(
            "string_no_rows",
            "The same without a dictionary.",
            ("NoRows",),
            empty(pa.string()),
            same_records_as=("dictionary_no_rows",),
        ),
        Case(
            "plain_for_run_ends",
            "The same records without runs.",
            ("RunEndEncoding",),
            col([5, 5, None, 6, 6, 6, 6], pa.int16()),
            same_records_as=("run_ends_int16",),
        ),
        Case(
            "run_ends_split",
            "Runs of equal values that could be one.",
            run,
            column(runs([1, 2, 3, 5, 7], pa.array([5, 5, None, 6, 6], pa.int16()))),
            same_records_as=("run_ends_int16",),
        ),
        Case("run_ends_bool", "Runs of bits.", run, column(runs([2, 3, 9], pa.array([True, None, False])))),
        Case(
            "run_ends_dictionary",
            "A dictionary inside runs.",
            (*run, "DictionaryEncoding"),
            column(dict_runs),
            same_records_as=plain,
        ),
        Case(
            "extension_uuid",
            "arrow.uuid hashes as the binary it stores.",
            ("ExtensionType",),
            column(extension(pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16)))),
        ),
        Case(
            "binary_for_uuid",
            "The same bytes as binary.",
            ("ExtensionType",),
            col([b"0123456789abcdef", None], pa.binary()),
            same_records_as=("extension_uuid",),
        ),
        Case(
            "extension_bool8",
            "arrow.bool8 hashes as int8, not as bool.",
            ("ExtensionType",),
            column(extension(pa.bool8(), pa.array([1, None, 0], pa.int8()))),
        ),
        Case(
            "int8_for_bool8",
            "The same as int8.",
            ("ExtensionType",),
            col([1, None, 0], pa.int8()),
            same_records_as=("extension_bool8",),
        ),
        Case(
            "extension_tensor",
            "arrow.fixed_shape_tensor hashes as a list.",
            ("ExtensionType", "ListLayout"),
            column(tensor),
        ),
        Case(
            "list_for_tensor",
            "The same as a list.",
            ("ExtensionType", "ListLayout"),
            col([[1, 2], None], pa.list_(pa.int8())),
            same_records_as=("extension_tensor",),
        ),
        Case(
            "extension_unknown",
            "An extension that no reader knows is its storage.",
            ("ExtensionType",),
            column(pa.array([1, None, 0], pa.int8()), metadata=unknown),
            same_records_as=("extension_bool8",),
        ),
        Case(
            "extension_dictionary",
            "An extension over a dictionary.",
            (*coded, "ExtensionType"),
            column(opaque(dictionary(pa.array([0, None, 1, 0], pa.int32()), pa.array(["a", "b"])))),
            same_records_as=plain,
        ),
    ]
    return cases


def records() -> list[Case]:
    one = pa.array([1], pa.int64())
    ab, ba = pa.array([1, 2], pa.int64()), pa.array([2, 1], pa.int64())
    ints = [pa.array(part, pa.int32()) for part in ([1], [], [None, 3])]
    text = lambda *values: pa.array(values, pa.string())  # noqa: E731  (four short tables in a row)
    metadata = pa.Table.from_arrays(
        [one], schema=pa.schema([pa.field("a", pa.int64(), metadata={"PARQUET:field_id": "7"})], {"pandas": "{}"})
    )
    return [
        Case(
            "batches_uneven",
            "The records of int32_nulls in batches of one, none and two rows.",
            ("BatchBorders",),
            batches(*ints),
            same_records_as=("int32_nulls",),
        ),
        Case(
            "batches_bool",
            "The records of bool, a batch a row.",
            ("BatchBorders",),
            batches(*(pa.array([v], pa.bool_()) for v in (True, None, False))),
            same_records_as=("bool",),
        ),
        Case(
            "batch_without_rows",
            "An empty batch is as good as none.",
            ("BatchBorders", "NoRows"),
            pa.Table.from_batches(
                [pa.record_batch([pa.array([], pa.int32()), pa.array([], pa.string())], names=["a", "s"])]
            ),
            same_records_as=("empty_rows",),
            empty_batch=True,
        ),
        Case("rows_1_2", "Row order counts: differs from rows_2_1.", ("Order",), columns(("a", ab))),
        Case("rows_2_1", "Row order counts: differs from rows_1_2.", ("Order",), columns(("a", ba))),
        Case(
            "columns_a_b", "Column order counts: differs from columns_b_a.", ("Order",), columns(("a", ab), ("b", ba))
        ),
        Case(
            "columns_b_a", "Column order counts: differs from columns_a_b.", ("Order",), columns(("b", ba), ("a", ab))
        ),
        Case(
            "duplicate_names",
            "Two columns of one name, told apart by position.",
            ("NameBytes", "Order"),
            columns(("v", ab), ("v", ba)),
        ),
        Case(
            "duplicate_names_swapped",
            "Differs from duplicate_names.",
            ("NameBytes", "Order"),
            columns(("v", ba), ("v", ab)),
        ),
        Case("name_empty", "An empty name: eight zero bytes of length.", ("NameBytes",), columns(("", one))),
        Case("name_composed", "One letter é; differs from name_decomposed.", ("NameBytes",), columns(("é", one))),
        Case(
            "name_decomposed",
            "The letter e and an accent; nothing is normalised.",
            ("NameBytes",),
            columns(("e\u0301", one)),
        ),
        Case(
            "name_dotted",
            "A dot in a name is no nesting; differs from name_nested.",
            ("NameBytes",),
            columns(("a.b", one)),
        ),
        Case("name_nested", "Field b of struct a.", ("NameBytes", "StructNesting"), columns(("a", fields(("b", one))))),
        Case(
            "name_with_nul",
            "NUL is a byte like any other. The C data interface ends names at it.",
            ("NameBytes",),
            columns(("a\0b", one)),
        ),
        Case(
            "border_ab_c",
            "Values never run into the next column; differs from border_a_bc.",
            ("Order",),
            columns(("a", text("ab")), ("b", text("c"))),
        ),
        Case("border_a_bc", "Differs from border_ab_c.", ("Order",), columns(("a", text("a")), ("b", text("bc")))),
        Case("metadata", "Schema and field metadata are not hashed.", ("NotHashed",), metadata),
        Case(
            "metadata_none",
            "The same without metadata.",
            ("NotHashed",),
            columns(("a", one)),
            same_records_as=("metadata",),
        ),
        Case(
            "not_nullable",
            "A field's nullability is not hashed.",
            ("NotHashed",),
            column(one, "a", nullable=False),
            same_records_as=("metadata",),
        ),
        Case("int64_no_rows", "Same name as empty int32, another type.", ("NoRows",), empty(pa.int64())),
        Case("int32_no_rows", "Differs from int64_no_rows.", ("NoRows",), empty(pa.int32())),
        Case("null_no_rows", "A null column without rows.", ("NoRows", "ReferenceRefuses"), empty(pa.null())),
    ]


def collisions() -> list[Case]:
    pairs: list[tuple[str, pa.Table, str, pa.Table, str]] = [
        (
            "int32_four_nulls",
            col([None] * 4, pa.int32()),
            "int32_zero",
            col([0], pa.int32()),
            "Four nulls are the four bytes of one 0.",
        ),
        (
            "uint8_null_one",
            col([None, 1], pa.uint8()),
            "uint8_zero_one",
            col([0, 1], pa.uint8()),
            "In one byte a null is a 0, with equal row counts.",
        ),
        (
            "string_eight_nulls",
            col([None] * 8, pa.string()),
            "string_empty",
            col([""], pa.string()),
            "Eight nulls are the length of one empty text.",
        ),
        (
            "string_nulls_then_empty",
            col([*[None] * 8, ""], pa.string()),
            "string_empty_then_nulls",
            col(["", *[None] * 8], pa.string()),
            "With equal row counts too.",
        ),
        (
            "list_of_zero",
            col([[0]], pa.list_(pa.int8())),
            "list_of_null",
            col([[None]], pa.list_(pa.int8())),
            "Inside a list as well.",
        ),
        (
            "struct_null",
            column(fields(("x", pa.array([None], pa.int8())), validity="0")),
            "struct_of_null",
            column(fields(("x", pa.array([None], pa.int8())))),
            "A null struct and a struct of nulls.",
        ),
    ]
    cases = []
    for first, a, second, b, why in pairs:
        cases += [
            Case(first, why, ("Collision",), a, collides_with=(second,)),
            Case(second, why, ("Collision",), b, collides_with=(first,)),
        ]
    cases += [
        Case(
            "bool_null_false",
            "Bool columns are safe: differs from bool_false_null.",
            (),
            col([None, False], pa.bool_()),
        ),
        Case("bool_false_null", "Differs from bool_null_false.", (), col([False, None], pa.bool_())),
    ]
    return cases
