"""Cases without a hash: reserved types, broken structure, broken streams."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow as pa

from arrow0_cases.case import Case, col, column, dictionary, empty, i32, i64, long_view, opaque, raw, runs

INTERVALS = Path(__file__).parents[2] / "tests/data/arrow-testing/cpp-21.0.0/generated_interval.stream"


def old_intervals() -> list[pa.DataType]:
    """The two interval types that pyarrow reads and cannot make."""
    return pa.ipc.open_stream(INTERVALS.read_bytes()).schema.types


def reserved() -> list[Case]:
    pair = pa.struct([("x", pa.int8())])
    duration = pa.duration("us")
    some: list[tuple[str, str, pa.Table]] = [
        *((f"duration_{unit}", "duration", col([1, None], pa.duration(unit))) for unit in ("s", "ms", "us", "ns")),
        *((f"{str(t).replace('_interval', '')}_interval", "interval", empty(t)) for t in old_intervals()),
        ("interval_month_day_nano", "interval", col([(1, 2, 3)], pa.month_day_nano_interval())),
        ("map", "map", col([[("k", 1)], None], pa.map_(pa.string(), pa.int8()))),
        (
            "union_sparse",
            "union",
            column(pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])])),
        ),
        (
            "union_dense",
            "union",
            column(
                pa.UnionArray.from_dense(
                    pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["y"])]
                )
            ),
        ),
        ("list_struct", "struct", col([[{"x": 1}], None, []], pa.list_(pair))),
        ("large_list_view_struct", "struct", empty(pa.large_list_view(pair))),
        ("fsl_struct", "struct", col([[{"x": 1}]], pa.list_(pair, 1))),
        ("fsl0_struct", "struct", empty(pa.list_(pair, 0))),
        ("list_empty_struct", "struct", empty(pa.list_(pa.struct([])))),
        ("list_list_struct", "struct", empty(pa.list_(pa.list_(pair)))),
        ("list_dictionary_struct", "struct", empty(pa.list_(pa.dictionary(pa.int8(), pair)))),
        ("list_extension_struct", "struct", empty(pa.list_(pa.opaque(pair, "kind", "vendor")))),
        ("list_map", "map", empty(pa.list_(pa.map_(pa.string(), pa.int8())))),
        ("list_duration", "duration", empty(pa.list_(duration))),
        ("dictionary_duration", "duration", column(dictionary(pa.array([0], pa.int8()), pa.array([1], duration)))),
        ("run_ends_duration", "duration", column(runs([2], pa.array([1], duration)))),
        ("extension_duration", "duration", column(opaque(pa.array([1], duration)))),
        ("dictionary_union", "union", empty(pa.dictionary(pa.int8(), pa.dense_union([pa.field("x", pa.int8())])))),
        *(
            (f"{name}_no_rows", name, empty(t))
            for name, t in (
                ("duration", duration),
                ("interval", pa.month_day_nano_interval()),
                ("map", pa.map_(pa.string(), pa.int8())),
                ("union", pa.sparse_union([pa.field("x", pa.int8())])),
            )
        ),
    ]
    cases = []
    for slug, name, table in some:
        error = {"kind": "unsupported_type", "path": ["c"], "type": str(table.schema.field(0).type), "reserved": name}
        cases.append(Case(f"refused_{slug}", "A reserved type.", ("ReservedType",), table, "refused", error=error))
    deep = pa.table(
        {
            "ok": pa.array([1], pa.int8()),
            "s": pa.array(
                [{"a": 1, "t": {"d": 1}}], pa.struct([("a", pa.int8()), ("t", pa.struct([("d", duration)]))])
            ),
        }
    )
    two = pa.table({"a": pa.array([1], duration), "b": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8()))})
    by_dictionary = empty(pa.dictionary(pa.int8(), pa.struct([("ok", pa.int8()), ("d", pa.list_(pair))])))
    for slug, path, t, name, table, why in (
        (
            "in_struct",
            ["s", "t", "d"],
            duration,
            "duration",
            deep,
            "Two structs down, after columns that could be hashed.",
        ),
        (
            "in_dictionary_of_struct",
            ["c", "d"],
            pa.list_(pair),
            "struct",
            by_dictionary,
            "A field of a struct that a dictionary encodes.",
        ),
        (
            "first_of_two",
            ["a"],
            duration,
            "duration",
            two,
            "The first column that is refused, depth first, is the one named.",
        ),
    ):
        error = {"kind": "unsupported_type", "path": path, "type": str(t), "reserved": name}
        cases.append(Case(f"refused_{slug}", why, ("ReservedType",), table, "refused", error=error))
    return cases


def broken() -> list[Case]:
    three = pa.array([1, 2, 3], pa.int32())
    long_runs = runs([70_001, 70_005, 70_010], pa.array([1, 2, 3], pa.int8()))
    view = pa.string_view()
    some: list[tuple[str, str, pa.Array]] = [
        ("string_offsets_fall", "Offsets that fall.", raw(pa.string(), 3, None, i32(0, 2, 1, 3), b"abc")),
        ("string_offset_past_end", "An offset past the data.", raw(pa.string(), 2, None, i32(0, 9, 3), b"abc")),
        ("string_offset_negative", "An offset below 0.", raw(pa.string(), 2, None, i32(0, -1, 3), b"abc")),
        (
            "large_binary_offset_past_end",
            "A 64-bit offset past the data.",
            raw(pa.large_binary(), 2, None, i64(0, 1 << 40, 3), b"abc"),
        ),
        (
            "list_offsets_fall",
            "Offsets that fall.",
            raw(pa.list_(pa.int32()), 3, None, i32(0, 2, 1, 3), children=[three]),
        ),
        (
            "list_offset_past_end",
            "An offset past the items.",
            raw(pa.list_(pa.int32()), 2, None, i32(0, 4, 3), children=[three]),
        ),
        (
            "list_view_past_end",
            "A view past the items.",
            raw(pa.list_view(pa.int32()), 1, None, i32(2), i32(2), children=[three]),
        ),
        (
            "list_view_size_negative",
            "A view of fewer than no items.",
            raw(pa.list_view(pa.int32()), 1, None, i32(1), i32(-1), children=[three]),
        ),
        (
            "view_buffer_missing",
            "A view into a buffer that is not there.",
            raw(view, 1, None, long_view(b"x" * 13, 1, 0), b"x" * 13),
        ),
        ("view_past_end", "A view past its buffer.", raw(view, 1, None, long_view(b"x" * 13, 0, 1), b"x" * 13)),
        ("view_length_negative", "A view of negative length.", raw(view, 1, None, struct.pack("<i12s", -1, b""), b"")),
        (
            "dictionary_index_past_end",
            "A valid index past the dictionary.",
            dictionary(pa.array([0, 2], pa.int8()), pa.array(["a", "b"])),
        ),
        (
            "dictionary_index_negative",
            "A valid index below 0.",
            dictionary(pa.array([0, -1], pa.int8()), pa.array(["a", "b"])),
        ),
        (
            "dictionary_index_in_list",
            "A valid index past the dictionary, inside a list.",
            raw(
                pa.list_(pa.dictionary(pa.int8(), pa.string())),
                1,
                None,
                i32(0, 1),
                children=[dictionary(pa.array([7], pa.int8()), pa.array(["a"]))],
            ),
        ),
        ("run_ends_fall", "Run ends that fall.", long_runs),
        ("run_ends_repeat", "Two runs that end at one row.", long_runs),
        ("run_ends_zero", "A first run that ends at row 0.", long_runs),
        ("run_ends_short", "Runs that end before the last row.", long_runs),
    ]
    ends = i32(70_001, 70_005, 70_010)  # pyarrow builds no broken run ends
    patches = {
        "run_ends_fall": ((ends, i32(70_001, 1, 70_010)),),
        "run_ends_repeat": ((ends, i32(70_001, 70_001, 70_010)),),
        "run_ends_zero": ((ends, i32(0, 70_005, 70_010)),),
        "run_ends_short": ((ends, i32(70_001, 70_005, 70_009)),),
    }
    error = {"kind": "broken_structure", "path": ["c"]}
    return [
        Case(
            f"broken_{slug}",
            why,
            ("BrokenStructure",),
            column(a),
            "refused",
            error=error,
            patches=patches.get(slug, ()),
        )
        for slug, why, a in some
    ]


def streams() -> list[Case]:
    return [
        Case(
            "stream_without_marker",
            "Cut after the last batch, before the end-of-stream marker.",
            ("IpcStream",),
            result="refused",
            error={"kind": "cut_short"},
            derived=("batches_uneven", lambda ipc: ipc[:-8]),
        ),
        Case(
            "stream_cut_in_marker",
            "Cut inside the end-of-stream marker.",
            ("IpcStream",),
            result="refused",
            error={"kind": "cut_short"},
            derived=("batches_uneven", lambda ipc: ipc[:-3]),
        ),
        Case(
            "stream_cut_in_body",
            "Cut inside the last batch's body.",
            ("IpcStream",),
            result="refused",
            error={"kind": "cut_short"},
            derived=("batches_uneven", lambda ipc: ipc[:-16]),
        ),
        Case(
            "stream_cut_in_schema",
            "Cut inside the schema.",
            ("IpcStream",),
            result="refused",
            error={"kind": "cut_short"},
            derived=("batches_uneven", lambda ipc: ipc[:60]),
        ),
        Case(
            "stream_with_tail",
            "One byte after the end-of-stream marker.",
            ("IpcStream",),
            result="refused",
            error={"kind": "trailing"},
            derived=("batches_uneven", lambda ipc: ipc + b"\0"),
        ),
        Case(
            "stream_twice",
            "Two streams one after the other are not a stream.",
            ("IpcStream",),
            result="refused",
            error={"kind": "trailing"},
            derived=("batches_uneven", lambda ipc: ipc * 2),
        ),
        Case(
            "stream_old_marker",
            "The older end-of-stream marker, four zero bytes.",
            ("IpcStream",),
            derived=("batches_uneven", lambda ipc: ipc[:-8] + bytes(4)),
            same_records_as=("batches_uneven",),
        ),
    ]
