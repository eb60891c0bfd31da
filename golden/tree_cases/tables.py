"""Cases of whole tables: names, order, batches, metadata, and the borders of chunks, bags and lengths."""

from __future__ import annotations

import pyarrow as pa
from arrow0_cases.case import batches, col, column, columns, dictionary, empty, fields, i64, raw, runs

from tree_cases.case import TreeCase

PAIR = pa.struct([("x", pa.int8()), ("y", pa.string())])


def tables() -> list[TreeCase]:
    one, ab, xy = pa.array([1], pa.int8()), pa.array([1, 2], pa.int8()), pa.array(["x", "y"])
    without_columns = pa.Table.from_batches([pa.record_batch([pa.nulls(3)], ["n"])]).select([])
    lists = pa.array([[1], None, [], [2, 3], [None]], pa.list_(pa.int8()))
    first = pa.record_batch(
        [dictionary(pa.array([0, 1], pa.int32()), pa.array(["a", "b"])), lists.slice(0, 2)], ["d", "l"]
    )
    second = pa.record_batch(
        [dictionary(pa.array([None, 0, 1], pa.int32()), pa.array(["b", "c"])), lists.slice(2, 3)], ["d", "l"]
    )
    ints = pa.array([1, None, 3], pa.int32())
    told = pa.schema([pa.field("a", pa.int8(), nullable=False, metadata={"unit": "none"})], metadata={"writer": "one"})
    return [
        TreeCase("no_columns", "No columns and no rows.", ("NoRows",), pa.table({})),
        TreeCase(
            "rows_without_columns",
            "Three rows without columns: the number of rows counts.",
            ("NoRows", "Counts"),
            without_columns,
        ),
        TreeCase(
            "no_rows",
            "Two columns without rows.",
            ("NoRows",),
            pa.Table.from_batches([], pa.schema([("a", pa.int32()), ("b", pa.string())])),
        ),
        TreeCase(
            "no_rows_other_type",
            "Another type: differs from no_rows.",
            ("NoRows", "TypeBytes"),
            pa.Table.from_batches([], pa.schema([("a", pa.int64()), ("b", pa.string())])),
        ),
        TreeCase(
            "batch_without_rows",
            "A batch of no rows is as good as none.",
            ("NoRows", "BatchBorders"),
            pa.Table.from_batches([], pa.schema([("a", pa.int32()), ("b", pa.string())])),
            same_records_as=("no_rows",),
            empty_batch=True,
        ),
        TreeCase("null_no_rows", "No rows of a type without streams.", ("NoRows", "NullType"), empty(pa.null())),
        TreeCase(
            "names",
            "An empty name, é, and an empty name again.",
            ("NameBytes",),
            columns(("", pa.array([1])), ("é", pa.array([2])), ("", pa.array([3]))),
        ),
        TreeCase("name_composed", "One letter é.", ("NameBytes",), columns(("é", one))),
        TreeCase(
            "name_decomposed",
            "The letter e and an accent: differs from name_composed.",
            ("NameBytes",),
            columns(("e\u0301", one)),
        ),
        TreeCase("name_dotted", "A dot in a name is no nesting.", ("NameBytes",), columns(("a.b", one))),
        TreeCase(
            "name_nested",
            "Field b of a: differs from name_dotted.",
            ("NameBytes", "StructSlots"),
            columns(("a", fields(("b", one)))),
        ),
        TreeCase(
            "name_with_nul",
            "NUL is a byte like any other. The C data interface ends names at it.",
            ("NameBytes",),
            columns(("a\0b", one)),
        ),
        TreeCase("two_columns", "A number and a text a row.", ("Order",), columns(("a", ab), ("b", xy))),
        TreeCase("two_columns_swapped", "The columns in another order.", ("Order",), columns(("b", xy), ("a", ab))),
        TreeCase(
            "rows_swapped",
            "The rows of two_columns in another order.",
            ("Order",),
            columns(("a", pa.array([2, 1], pa.int8())), ("b", pa.array(["y", "x"]))),
            same_bag_as=("two_columns",),
        ),
        TreeCase(
            "rows_mixed",
            "The values of two_columns in other rows: another bag too.",
            ("Order",),
            columns(("a", ab), ("b", pa.array(["y", "x"]))),
        ),
        TreeCase(
            "columns_renamed",
            "Other names: differs from two_columns, though no value does.",
            ("NameBytes",),
            columns(("b", ab), ("a", xy)),
        ),
        TreeCase(
            "columns_of_one_name",
            "Two columns of one name, told apart by their order.",
            ("NameBytes", "Order"),
            columns(("v", pa.array([1])), ("v", pa.array([2]))),
        ),
        TreeCase(
            "columns_of_one_name_swapped",
            "Differs from columns_of_one_name.",
            ("NameBytes", "Order"),
            columns(("v", pa.array([2])), ("v", pa.array([1]))),
        ),
        TreeCase(
            "border_ab_c",
            "Where a column ends counts.",
            ("Order",),
            columns(("a", pa.array(["ab"])), ("b", pa.array(["c"]))),
        ),
        TreeCase(
            "border_a_bc",
            "Differs from border_ab_c.",
            ("Order",),
            columns(("a", pa.array(["a"])), ("b", pa.array(["bc"]))),
        ),
        TreeCase("duplicates", "One row three times and another once.", ("Counts",), col([1, 1, 2, 1], pa.int8())),
        TreeCase(
            "duplicates_other_counts",
            "The same rows, twice each: differs from duplicates.",
            ("Counts",),
            col([1, 1, 2, 2], pa.int8()),
        ),
        TreeCase(
            "duplicates_swapped",
            "The rows of duplicates in another order.",
            ("Counts", "Order"),
            col([2, 1, 1, 1], pa.int8()),
            same_bag_as=("duplicates",),
        ),
        TreeCase(
            "two_batches",
            "A dictionary that the second batch replaces.",
            ("BatchBorders", "Dictionary"),
            pa.Table.from_batches([first, second]),
        ),
        TreeCase(
            "one_batch",
            "The records of two_batches.",
            ("BatchBorders",),
            columns(("d", pa.array(["a", "b", None, "b", "c"])), ("l", lists)),
            same_records_as=("two_batches",),
        ),
        TreeCase(
            "batches_uneven",
            "The records of int32_null in batches of one, no and two rows.",
            ("BatchBorders",),
            batches(ints.slice(0, 1), ints.slice(0, 0), ints.slice(1)),
            same_records_as=("int32_null",),
        ),
        TreeCase(
            "batches_of_runs",
            "A run that two batches share.",
            ("BatchBorders", "RunEnds"),
            batches(runs([2], pa.array([1])), runs([1, 3, 4], pa.array([1, None, 2]))),
            same_records_as=("run_end",),
        ),
        TreeCase(
            "metadata",
            "Metadata and a field that may not be null.",
            ("NotHashed",),
            pa.Table.from_arrays([one], schema=told),
        ),
        TreeCase(
            "metadata_none", "The same without.", ("NotHashed",), columns(("a", one)), same_records_as=("metadata",)
        ),
        TreeCase(
            "list_item_named",
            "Items of another name that may not be null.",
            ("NotHashed",),
            col([[1], []], pa.list_(pa.field("element", pa.int8(), nullable=False))),
        ),
        TreeCase(
            "list_item",
            "The usual name.",
            ("NotHashed",),
            col([[1], []], pa.list_(pa.int8())),
            same_records_as=("list_item_named",),
        ),
    ]


def chunks() -> list[TreeCase]:
    count = 16_384
    sevenths = lambda n: col([i // 7 % 100 for i in range(n)], pa.int8())  # noqa: E731  (seven rows of each value)
    sizes = (count - 1, count, count + 1, 2 * count, 2 * count + 1, 3 * count + 1, 5 * count + 1)
    nested = []
    for i in range(20_000):
        item = {"x": None if i % 5 == 0 else i % 100, "y": "abc"[: i % 4]}
        nested.append(None if i % 7 == 6 else [item] * (i % 3))
    lists = [None if i == count else list(range(i % 3)) for i in range(count + 2)]
    return [
        *(
            TreeCase(
                f"chunks_{n}",
                f"{n:,} rows; row i is i // 7 modulo 100.",
                ("ChunkBorder",),
                sevenths(n),
                compressed=True,
            )
            for n in sizes
        ),
        TreeCase(
            "chunk_nulls",
            "The only null is in the second chunk: the first has no validity bits.",
            ("ChunkValidity",),
            col([None if i == 17_000 else i % 5 for i in range(17_001)], pa.int8()),
            compressed=True,
        ),
        TreeCase(
            "chunk_nested",
            "Lists of structs: children are cut where the rows are.",
            ("ChunkBorder", "ListSlots"),
            col(nested, pa.list_(PAIR)),
            compressed=True,
        ),
        TreeCase(
            "chunk_null_first",
            "The first row of the second chunk is null.",
            ("ChunkValidity", "ListSlots"),
            col(lists, pa.list_(pa.int8())),
            compressed=True,
        ),
        TreeCase(
            "chunk_null_last",
            "The last row of the first chunk is null.",
            ("ChunkValidity",),
            col([None if i == count - 1 else False for i in range(count + 9)], pa.bool_()),
            compressed=True,
        ),
        TreeCase(
            "chunk_bits",
            "Bools and validity are packed from a byte's first bit on in every chunk.",
            ("ChunkBorder", "BitPacking"),
            col([None if i % 3 == 0 else i % 2 == 0 for i in range(count + 5)], pa.bool_()),
            compressed=True,
        ),
        TreeCase(
            "chunk_batches",
            "Batches that end elsewhere than chunks.",
            ("ChunkBorder", "BatchBorders"),
            batches(
                *(
                    pa.array([i // 7 % 100 for i in range(a, b)], pa.int8())
                    for a, b in ((0, 5), (5, 20_000), (20_000, count * 2 + 1))
                )
            ),
            same_records_as=("chunks_32769",),
            compressed=True,
        ),
        TreeCase(
            "chunk_slice",
            "A slice that begins inside the first chunk: its own rows are cut.",
            ("ChunkBorder", "SliceOffset"),
            sevenths(7 * 100 + count + 1),
            slice=(700, count + 1),
            same_records_as=("chunks_16385",),
            compressed=True,
        ),
        TreeCase(
            "chunk_without_columns",
            "Rows without columns have no chunks, however many they are.",
            ("ChunkBorder", "NoRows"),
            pa.table({"n": pa.nulls(count + 1)}).select([]),
        ),
        TreeCase(
            "chunk_null_type",
            "Chunks of a type without streams.",
            ("ChunkBorder", "NullType"),
            col([None] * (count + 1), pa.null()),
        ),
        TreeCase(
            "chunk_runs",
            "A run over the border.",
            ("ChunkBorder", "RunEnds"),
            column(runs([count - 1, count + 3, count + 4], pa.array([1, None, 2], pa.int8()))),
            compressed=True,
        ),
        TreeCase(
            "chunk_runs_plain",
            "The same, a value a row.",
            ("ChunkBorder", "RunEnds"),
            col([1] * (count - 1) + [None] * 4 + [2], pa.int8()),
            same_records_as=("chunk_runs",),
            compressed=True,
        ),
    ]


def bags() -> list[TreeCase]:
    return [
        *(
            TreeCase(
                f"bag_{n}",
                f"{n:,} distinct rows; row i is i.",
                ("BagSize",),
                col(range(n), pa.int32()),
                compressed=True,
            )
            for n in (1_023, 1_024, 1_025, 5_000)
        ),
        TreeCase(
            "bag_counts",
            "5,000 rows of 1,500 distinct ones; row i is 419 i modulo 1,500.",
            ("BagSize", "Counts"),
            col([i * 419 % 1_500 for i in range(5_000)], pa.int32()),
            compressed=True,
        ),
        TreeCase(
            "bag_reversed",
            "The rows of bag_1025 from the last to the first.",
            ("BagSize", "Order"),
            col(range(1_024, -1, -1), pa.int32()),
            same_bag_as=("bag_1025",),
            compressed=True,
        ),
        TreeCase(
            "bag_many_of_few",
            "20,000 rows of 1,024 distinct ones: entries are counted, not rows.",
            ("BagSize", "Counts"),
            col([i % 1_024 for i in range(20_000)], pa.int32()),
            compressed=True,
        ),
    ]


def lengths() -> list[TreeCase]:
    short = 2**32 - 1
    return [
        *(
            TreeCase(
                f"list_of_{n}_nulls",
                f"One list of {n:,} items of a type without streams: its length is all that is hashed.",
                ("Lengths", "NullType"),
                column(raw(pa.large_list(pa.null()), 1, None, i64(0, n), children=[raw(pa.null(), n, None)])),
                only="tree0",
            )
            for n in (short - 1, short, short + 1)
        ),
        TreeCase(
            "binary_of_256", "A length of two bytes that are not 0.", ("Lengths",), col([b"\0" * 257], pa.binary())
        ),
    ]


def depths() -> list[TreeCase]:
    deep = [
        ("lists_127", "With the int8 inside them 128 levels.", [("list", 127)]),
        ("structs_127", "With the int8 inside them 128 levels.", [("struct", 127)]),
        ("maps_127", "A map is one level: its entries add none.", [("map", 127)]),
        ("unions_127", "With the int8 inside them 128 levels.", [("union", 127)]),
        (
            "dictionaries_128",
            "As many encodings as may be around one type: an int8 all the same.",
            [("dictionary", 128)],
        ),
        ("extensions_128", "As many extensions.", [("extension", 128)]),
        (
            "encodings_between_lists",
            "128 levels, of which two have 128 encodings and extensions around them.",
            [("dictionary", 64), ("extension", 64), ("list", 127), ("dictionary", 128)],
        ),
    ]
    same = {"extensions_128": ("depth_dictionaries_128",), "encodings_between_lists": ("depth_lists_127",)}
    return [
        TreeCase(
            f"depth_{name}",
            comment,
            ("Depth",),
            nested={"wrappings": [{"type": t, "times": n} for t, n in wrappings]},
            same_records_as=same.get(name, ()),
        )
        for name, comment, wrappings in deep
    ]
