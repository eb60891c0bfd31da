"""diff: schemas side by side, and the first differing row of every differing column."""

from __future__ import annotations

import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrow_digest import NO_ROW, UnreadableError, UnsupportedTypeError, diff, logical_hash
from helpers.child import run
from helpers.command import arrow_digest_command
from helpers.files import FORMATS, ipc_file, ipc_stream, parquet, sample_table

TABLE = sample_table()


def cells(difference):
    return {column.path: (column.row, column.a, column.b) for column in difference.columns}


@pytest.mark.parametrize("form", FORMATS)
def test_equal_records_are_equal_however_they_are_written(form, tmp_path):
    (tmp_path / "f").write_bytes(FORMATS[form](TABLE))
    for found in (diff(TABLE, tmp_path / "f"), diff(tmp_path / "f", TABLE)):
        assert found.equal
        assert found.columns == ()
        assert str(found).endswith("the same records (40 rows)")


def test_a_difference_has_no_truth_value():
    with pytest.raises(TypeError, match="no truth value"):
        bool(diff(TABLE, TABLE))


def test_schemas_are_set_side_by_side():
    a = pa.table({"x": [1, 2], "gone": ["a", "b"], "old": [1.5, 2.5], "t": pa.array([1, 2], pa.int32()), "z": [3, 4]})
    b = pa.table({"z": [3, 4], "new": [1.5, 2.5], "t": pa.array([1, 2], pa.int64()), "x": [1, 2], "fresh": [b"", b""]})
    found = diff(a, b)
    assert found.removed == ((("gone",), pa.string()),)
    assert found.added == ((("fresh",), pa.binary()),)
    assert found.renamed == ((("old",), ("new",)),)
    assert found.retyped == ((("t",), pa.int32(), pa.int64()),)
    assert found.reordered == (("z",), ("t",), ("x",))
    assert found.columns == ()
    assert not found.equal
    assert str(found).splitlines() == [
        "--- Table",
        "+++ Table",
        "- gone: string",
        "+ fresh: binary",
        "renamed: old became new",
        "retyped: t: int32 became int64",
        "reordered: z, t, x",
    ]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (pa.array([1, 2], pa.int32()), pa.array([1, 2], pa.int64()), None),
        (pa.array([1, 2], pa.int8()), pa.array([1, 2**40], pa.int64()), (1, 2, 2**40)),
        (pa.array([1, None]), pa.array(["1", "x"]), (1, None, "x")),
        (pa.array([1, 2], pa.timestamp("s")).cast(pa.int64()), pa.array([1.0, 2.5]), (1, 2, 2.5)),
        (pa.array([0, None, 2], pa.int8()), pa.array([0, 0, 2], pa.int16()), (1, None, 0)),
        (pa.array([["a"], []]), pa.array([[b"a"], [b""]]), (1, [], [b""])),
        (pa.array([1, 2]), pa.array([[1], [2]]), (0, 1, [1])),
    ],
)
def test_a_column_of_another_type_differs_where_its_values_are_no_equal_ones(a, b, expected):
    found = diff(pa.table({"c": a}), pa.table({"c": b}))
    assert [path for path, _, _ in found.retyped] == [("c",)]
    assert cells(found) == ({} if expected is None else {("c",): expected})
    assert not found.equal


def test_structs_without_fields_and_other_nesting_are_differences():
    empty = pa.table([pa.array([{}], pa.struct([])), pa.array([1])], names=["s", "x"])
    plain = pa.table({"x": [1]})
    assert diff(empty, plain).removed == ((("s",), pa.struct([])),)
    assert diff(plain, empty).added == ((("s",), pa.struct([])),)
    nested = pa.table({"a": pa.array([{"b": 1}])})
    dotted = pa.table({"a.b": [1]})
    assert diff(nested, dotted).renamed == ((("a", "b"), ("a.b",)),)


def test_columns_of_one_name_are_told_apart_by_place():
    a = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["v", "v"])
    b = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 5])], names=["v", "v"])
    assert [(c.path, c.row, c.a, c.b) for c in diff(a, b).columns] == [(("v",), 1, 4, 5)]


@pytest.mark.parametrize("row", [0, 1, 7, 8, 4095, 4096, 65_535, 65_536, 99_999])
@pytest.mark.parametrize("forms", [(ipc_file, parquet), (parquet, ipc_stream)])
def test_the_first_differing_row_is_found_wherever_it_is(row, forms, tmp_path):
    values = np.arange(100_000)
    a = pa.table({"n": values, "same": values, "s": values.astype(str)})
    b = a.set_column(0, "n", pa.array(np.where(values < row, values, -values - 1)))
    texts = a["s"].to_pylist()
    texts[row] = None
    b = b.set_column(2, "s", pa.array(texts))
    for name, form, table in zip("ab", forms, (a, b), strict=True):
        (tmp_path / name).write_bytes(form(table))
    found = diff(tmp_path / "a", tmp_path / "b")
    assert cells(found) == {("n",): (row, row, -row - 1), ("s",): (row, str(row), None)}


ODD = [
    ("nulls and zeros", pa.array([None] * 4, pa.int32()), pa.array([None, None, None, 0], pa.int32()), 3),
    ("nulls in other rows", pa.array([256, None], pa.int32()), pa.array([None, 1], pa.int32()), 0),
    ("null items", pa.array([[1], [0]], pa.list_(pa.int8())), pa.array([[1], [None]], pa.list_(pa.int8())), 1),
    ("deep items", pa.array([[[0]], [[0, 1]]], pa.list_(pa.list_(pa.int8()))), None, 1),
    ("negative zero", pa.array([0.0, 0.0]), pa.array([0.0, -0.0]), 1),
    ("booleans", pa.array([True, None]), pa.array([True, False]), 1),
    ("views", pa.array(["a" * 20, "b"], pa.string_view()), pa.array(["a" * 20, "c"]).dictionary_encode(), 1),
    ("fixed lists", pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), pa.array([[1, 2], []], pa.list_(pa.int8())), 1),
    ("no text", pa.array([b"\xff", b"\xfe"]).view(pa.string()), pa.array([b"\xff", b"\xfd"]).view(pa.string()), 1),
    ("far dates", pa.array([0, 2**31 - 1], pa.int32()).view(pa.date32()), pa.array([0, 1], pa.date32()), 1),
    ("nanoseconds", pa.array([0, 1], pa.timestamp("ns")), pa.array([0, 2], pa.timestamp("ns")), 1),
]


@pytest.mark.parametrize(("name", "a", "b", "row"), ODD, ids=[case[0] for case in ODD])
def test_odd_values_are_compared_as_they_are_hashed_and_nulls_besides(name, a, b, row, tmp_path):
    if b is None:
        b = pa.array([[[0]], [[None, 1]]], a.type)
    tables = pa.table({"c": a}), pa.table({"c": b})
    found = diff(*tables)
    assert [column.row for column in found.columns] == [row]
    assert not found.equal
    assert str(found)
    assert diff(tables[0], tables[0]).equal
    assert diff(tables[1], tables[1]).equal


def test_nulls_of_a_struct_are_nulls_of_its_fields():
    field = pa.array([1, 2, 3])
    a = pa.table({"s": pa.StructArray.from_arrays([field], ["x"], mask=pa.array([False, True, False]))})
    b = pa.table({"s": pa.StructArray.from_arrays([field], ["x"])})
    for cut in range(2):
        assert cells(diff(a.slice(cut), b.slice(cut))) == {("s", "x"): (1 - cut, None, 2)}
    encoded = a["s"].chunk(0)
    nested = pa.table({"s": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), encoded)})
    assert diff(a, nested).equal


def test_where_one_side_ends_the_other_has_a_row():
    a, b = TABLE, TABLE.slice(0, 30)
    found = diff(a, b)
    assert found.row_counts == (40, 30)
    assert {column.row for column in found.columns} == {30}
    assert {column.b for column in found.columns} == {NO_ROW}
    assert cells(diff(b, a))[("number",)] == (30, NO_ROW, 900)
    assert "row count: 40 became 30" in str(found)
    assert "no row" in str(found)
    assert cells(diff(TABLE.slice(0, 0), TABLE))[("text",)] == (0, NO_ROW, "")


@given(st.data())
def test_it_is_equal_exactly_if_every_value_is(data):
    values = st.lists(st.none() | st.integers(-2, 2), max_size=12)
    lists = st.lists(st.none() | st.lists(st.none() | st.integers(0, 1), max_size=2), max_size=6)
    for strategy, kind in ((values, pa.int8()), (lists, pa.list_(pa.int8()))):
        a, b = data.draw(strategy), data.draw(strategy)
        found = diff(pa.table({"c": pa.array(a, kind)}), pa.table({"c": pa.array(b, kind)}))
        assert found.equal == (a == b)
        if a != b:
            row = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            expected = [NO_ROW if row >= len(side) else side[row] for side in (a, b)]
            assert cells(found) == {("c",): (row, *expected)}


def test_chunks_may_lie_anywhere():
    random.seed(3)
    table = pa.table({"n": list(range(5000)), "s": [str(i) for i in range(5000)]})
    cuts = sorted(random.sample(range(1, 5000), 40))
    parts = [table.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, 5000], strict=True)]
    changed = table.set_column(1, "s", pa.array([str(i) if i != 4321 else "x" for i in range(5000)]))
    assert diff(pa.concat_tables(parts), table).equal
    assert cells(diff(pa.concat_tables(parts), changed)) == {("s",): (4321, "4321", "x")}


def test_what_can_be_read_once_only_is_compared_by_its_digests():
    def reader(table):
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    required = pa.table([pa.array([1, 2])], schema=pa.schema([pa.field("a", pa.int64(), nullable=False)]))
    assert diff(reader(required), required).equal
    found = diff(reader(pa.table({"a": [1, 2]})), pa.table({"a": [1, 3]}))
    assert cells(found) == {("a",): (None, None, None)}
    assert str(found).endswith("a: differs")


def test_what_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(UnreadableError):
        diff(tmp_path / "missing", TABLE)
    with pytest.raises(UnsupportedTypeError):
        diff(TABLE, pa.table({"m": pa.array([], pa.map_(pa.int8(), pa.int8()))}))
    with pytest.raises(TypeError):
        diff(TABLE, 3)


def test_nulls_in_what_can_be_read_once_only_are_compared_by_their_validity():
    def once(values, data_type):
        table = pa.table({"c": pa.array(values, data_type)})
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())

    # One byte 0 is a null, and an 8-bit 0: the hash is one.
    equal, zero, none = ([1, None, 0], pa.int8()), ([0], pa.int8()), ([None], pa.int8())
    assert diff(once(*equal), once(*equal)).equal
    assert logical_hash(once(*zero)) == logical_hash(once(*none))
    assert [(column.path, column.row) for column in diff(once(*zero), once(*none)).columns] == [(("c",), None)]
    # Of items of lists nothing tells.
    items = [[1, None]], pa.list_(pa.int8())
    assert [column.row for column in diff(once(*items), once(*items)).columns] == [None]


@pytest.mark.parametrize(
    ("a", "b", "is_certain"),
    [
        (pa.array([[1]]), pa.array([[1]]), False),
        (pa.array([[1]]), pa.array([[2]]), True),
        (pa.array([1], pa.int32()), pa.array([1], pa.int64()), False),
        (pa.array([1], pa.int32()), pa.array([2], pa.int64()), False),
        (pa.array([0], pa.int8()), pa.array([None], pa.int8()), True),
        (
            pa.array([{"x": None}], pa.struct([("x", pa.int8())])),
            pa.array([None], pa.struct([("x", pa.int8())])),
            False,
        ),
        (pa.array([None, None], pa.int8()), pa.array([0], pa.int16()), True),
    ],
    ids=str,
)
def test_of_a_stream_a_difference_is_said_only_where_it_is_known(a, b, is_certain):
    tables = [pa.table({"c": values}) for values in (a, b)]
    (found,) = diff(tables[0].to_reader(), tables[1]).columns
    assert (found.row, found.is_certain) == (None, is_certain)
    assert ("differs" in str(found), "may differ" in str(found)) == (is_certain, not is_certain)


def test_without_rows_no_value_of_a_stream_differs():
    tables = [pa.table({"c": pa.array([], data_type)}) for data_type in (pa.list_(pa.int8()), pa.list_(pa.int16()))]
    assert diff(tables[0].to_reader(), tables[0].to_reader()).equal
    assert not diff(tables[0].to_reader(), tables[1].to_reader()).columns


def test_memory_does_not_grow_with_the_files(tmp_path):
    schema = pa.schema([("n", pa.int64()), ("s", pa.string())])
    rng = np.random.default_rng(1)
    for name in ("a", "b"):
        with pq.ParquetWriter(tmp_path / name, schema, compression="none", use_dictionary=False) as writer:
            for part in range(12):
                numbers = np.random.default_rng(part).integers(0, 1 << 60, 500_000)
                if name == "b" and part == 11:
                    numbers[-1] = 7
                writer.write_table(pa.table({"n": numbers, "s": pa.array(numbers).cast(pa.string())}))
    size = (tmp_path / "a").stat().st_size
    assert size > 120 << 20, rng
    code = """
before = peak()
found = arrow_digest.diff(argument[0], argument[1], threads=1)
result = [peak() - before, [[column.path[0], column.row] for column in found.columns]]
"""
    grown, found = run(code, [str(tmp_path / "a"), str(tmp_path / "b")], seconds=120)
    assert found == [["n", 5_999_999], ["s", 5_999_999]]
    assert grown < 160 << 20


# --- The command ------------------------------------------------------------------------------------------------------


def test_the_command_reports_and_has_a_status(tmp_path):
    (tmp_path / "a").write_bytes(parquet(TABLE))
    (tmp_path / "b").write_bytes(ipc_file(TABLE))
    (tmp_path / "c").write_bytes(ipc_file(TABLE.set_column(1, "text", pa.array(["x\n"] * 40))))
    result = arrow_digest_command("diff", "a", "b", cwd=tmp_path)
    assert (result.stdout, result.returncode) == (b"a and b: the same records (40 rows)\n", 0)
    result = arrow_digest_command("diff", "a", "c", cwd=tmp_path)
    assert result.stdout.decode().splitlines() == ["--- a", "+++ c", "text: row 0: '' became 'x\\n'"]
    assert result.returncode == 1
    result = arrow_digest_command("diff", "--json", "a", "c", cwd=tmp_path)
    found = json.loads(result.stdout)
    assert found["columns"] == [{"path": ["text"], "row": 0, "a": "", "b": "x\n"}]
    assert (found["equal"], found["row_counts"], result.returncode) == (False, [40, 40], 1)
    for arguments in (["a"], ["a", "missing"], ["a", "-"], [tmp_path, "a"]):
        result = arrow_digest_command("diff", *arguments, cwd=tmp_path)
        assert (result.stdout, result.returncode) == (b"", 2)
        assert b"Traceback" not in result.stderr


def test_equal_means_equal_hashes():
    assert logical_hash(TABLE) == logical_hash(TABLE.slice(0, 40))
    assert diff(TABLE, TABLE.slice(0, 40)).equal
