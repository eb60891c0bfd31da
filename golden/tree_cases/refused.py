"""Cases without a hash, and those that look like them and have one."""

from __future__ import annotations

import struct

import pyarrow as pa
from arrow0_cases import refused as arrow0_refused
from arrow0_cases.case import bits, column, dictionary, fields, i32, raw

from tree_cases.case import TreeCase, dense, listed, mapped, sparse

# Broken structure that only a reader sees who knows how long buffers are: the reference must not be run on it.
UNSEEN = {"broken_string_offset_past_end", "broken_large_binary_offset_past_end"}

TOO_MUCH = (2**127).to_bytes(32, "little")
TOO_LITTLE = (-(2**127) - 1).to_bytes(32, "little", signed=True)


def schemas() -> list[TreeCase]:
    column_of = lambda t: pa.Table.from_batches([], pa.schema([("c", t)]))  # noqa: E731
    cafe = pa.Table.from_batches([], pa.schema([("café", pa.int8())]))
    inside = pa.schema([("s", pa.list_(pa.struct([("café", pa.int8())])))]).empty_table()
    zone = pa.Table.from_batches([], pa.schema([("c", pa.list_(pa.timestamp("s", "Zürich")))]))
    no_utf8 = (("é".encode(), b"\xff\xfe"),)
    layers = [
        ("lists_128", "depth", "With the int8 inside them 129 levels.", [("list", 128)]),
        ("maps_128", "depth", "With the int8 inside them 129 levels.", [("map", 128)]),
        (
            "lists_around_encodings",
            "depth",
            "Encodings add no level, and take none away.",
            [("list", 64), ("dictionary", 1), ("list", 64)],
        ),
        ("dictionaries_129", "encodings", "One more than may be around one type.", [("dictionary", 129)]),
        ("extensions_129", "encodings", "One more than may be around one type.", [("extension", 129)]),
        (
            "encodings_of_both_kinds",
            "encodings",
            "Encodings and extensions are counted together.",
            [("dictionary", 64), ("extension", 65)],
        ),
    ]
    return [
        *(
            TreeCase(
                f"refused_{name}",
                comment,
                ("Depth", "Schema"),
                nested={"wrappings": [{"type": t, "times": n} for t, n in wrappings]},
                error={"kind": kind, "path": ["c"]},
            )
            for name, kind, comment, wrappings in layers
        ),
        TreeCase(
            "refused_scale_above",
            "A scale past 16 bits.",
            ("Schema", "TypeBytes"),
            column_of(pa.decimal128(5, 2**15)),
            error={"kind": "scale", "path": ["c"]},
        ),
        TreeCase(
            "refused_scale_below",
            "A scale past 16 bits, inside a list.",
            ("Schema", "TypeBytes"),
            column_of(pa.list_(pa.decimal128(5, -(2**15) - 1))),
            error={"kind": "scale", "path": ["c"]},
        ),
        TreeCase(
            "refused_name",
            "A column's name is not UTF-8.",
            ("Schema", "NameBytes"),
            cafe,
            patches=no_utf8,
            error={"kind": "name", "path": []},
        ),
        TreeCase(
            "refused_name_inside",
            "The name of a field inside a list is not UTF-8.",
            ("Schema", "NameBytes"),
            inside,
            patches=no_utf8,
            error={"kind": "name", "path": ["s"]},
        ),
        TreeCase(
            "refused_time_zone",
            "A zone is not UTF-8.",
            ("Schema", "TypeBytes"),
            zone,
            patches=(("ü".encode(), b"\xff\xfe"),),
            error={"kind": "time_zone", "path": ["c"]},
        ),
    ]


def values() -> list[TreeCase]:
    wide = lambda *numbers: raw(pa.decimal256(38, 0), len(numbers), None, b"".join(numbers))  # noqa: E731
    decimal = {"kind": "decimal", "path": ["c"]}
    one_of_two = dictionary(pa.array([0, 0], pa.int8()), wide(bytes(32), TOO_MUCH))
    return [
        TreeCase(
            "refused_decimal_above",
            "One more than 16 bytes hold, with a precision that has no more.",
            ("DecimalWidth",),
            column(wide(TOO_MUCH)),
            error=decimal,
        ),
        TreeCase("refused_decimal_below", "One less.", ("DecimalWidth",), column(wide(TOO_LITTLE)), error=decimal),
        TreeCase(
            "refused_decimal_in_list",
            "Inside a list that holds it.",
            ("DecimalWidth",),
            column(listed([0, 1], wide(TOO_MUCH))),
            error=decimal,
        ),
        TreeCase(
            "refused_decimal_in_struct",
            "Inside a struct: the path leads there.",
            ("DecimalWidth",),
            column(fields(("d", wide(TOO_MUCH)))),
            error={"kind": "decimal", "path": ["c", "d"]},
        ),
        TreeCase(
            "decimal_outside_list",
            "The number that does not fit belongs to no list.",
            ("DecimalWidth", "GarbageUnderNulls"),
            column(listed([0, 1], wide(bytes(32), TOO_MUCH))),
        ),
        TreeCase(
            "decimal_unused",
            "The number that does not fit is an entry that no index names.",
            ("DecimalWidth", "Dictionary"),
            column(one_of_two),
        ),
    ]


def broken() -> list[TreeCase]:
    one, sixteen = pa.array([1], pa.int8()), pa.nulls(16, pa.int8())
    text = lambda *offsets: raw(pa.string(), len(offsets) - 1, bits("01"), i32(*offsets), b"abc")  # noqa: E731
    some = [
        (
            "union_code",
            "A type code that no child has.",
            sparse([66] * 16, ("a", sixteen), ("b", sixteen), type_codes=[66, 67]),
        ),
        ("union_offset_past_end", "An offset past the child.", dense([0, 0], [0, 1], ("a", one))),
        ("union_offset_negative", "An offset below 0.", dense([0, 0], [0, -1], ("a", one))),
        ("map_offset_past_end", "An offset past the entries.", mapped([0, 2, 1], pa.array(["k"]), pa.array([1]))),
        (
            "offsets_fall_under_null",
            "Offsets are shared with neighbours: they have to rise under nulls.",
            text(3, 0, 3),
        ),
        ("list_offsets_in_list", "Offsets past the items, one level down.", listed([0, 2], listed([0, 2, 1], one))),
        (
            "list_offsets_in_union",
            "Offsets past the items, in the child of a union.",
            dense([0], [0], ("l", listed([0, 2, 1], one))),
        ),
        (
            "index_in_map",
            "A valid index past the dictionary, as a map's value.",
            mapped([0, 1], pa.array(["k"]), dictionary(pa.array([1], pa.int8()), pa.array(["a"]))),
        ),
        (
            "index_of_index",
            "A valid index past the dictionary, in a struct of a dictionary.",
            dictionary(
                pa.array([0], pa.int8()),
                fields(("x", raw(pa.string_view(), 1, None, struct.pack("<i4sii", 13, b"", 0, 9), b"short"))),
            ),
        ),
    ]
    path = {"list_offsets_in_union": ["c", "l"], "index_of_index": ["c", "x"]}
    patches = {"union_code": ((b"B" * 16, b"B" * 15 + b"Q"),)}  # pyarrow makes no union of other codes
    ours = [
        TreeCase(
            f"broken_{name}",
            comment,
            ("BrokenStructure",),
            column(array),
            patches=patches.get(name, ()),
            error={"kind": "broken_structure", "path": path.get(name, ["c"])},
        )
        for name, comment, array in some
    ]
    shared = [
        TreeCase(case.id, case.comment, ("BrokenStructure",), case.table, patches=case.patches, error=case.error)
        for case in arrow0_refused.broken()
    ]
    return ours + shared
