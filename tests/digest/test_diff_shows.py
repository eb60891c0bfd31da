"""diff shows what tells two values apart: the report never has the same on both sides, nor has its JSON."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from arrow_digest import NO_ROW, InvalidArrayError, UnsupportedTypeError, diff
from helpers.command import arrow_digest_command, run_python
from helpers.files import ipc_file, parquet
from helpers.layouts import recast


def table(values, data_type=None):
    return pa.table({"c": values if isinstance(values, pa.Array) else pa.array(values, data_type)})


def only(a, b):
    (column,) = diff(
        table(a) if not isinstance(a, pa.Table) else a, table(b) if not isinstance(b, pa.Table) else b
    ).columns
    return column


def floats(*bits):
    return pa.array(np.array(bits, "u8").view("f8"))


LONG = "a" * 500
LISTS = [float(i) for i in range(3000)]


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (
            floats(0x7FF8 << 48),
            floats(0xFFF8 << 48),
            "row 0: nan (bits 0x7ff8000000000000) became nan (bits 0xfff8000000000000)",
        ),
        (["\u00e9"], ["e\u0301"], "row 0: '\u00e9' ('\\xe9') became 'e\u0301' ('e\\u0301')"),
        (["p\u0430y"], ["pay"], "row 0: 'p\u0430y' ('p\\u0430y') became 'pay' ('pay')"),
        (["a\u200b"], ["a"], "row 0: 'a\\u200b' became 'a'"),
        (["a\u202eb"], ["ab"], "row 0: 'a\\u202eb' became 'ab'"),
        (["Z\u00fcrich"], ["Zurich"], "row 0: 'Z\u00fcrich' became 'Zurich'"),
        ([LONG + "b"], [LONG + "c"], f"row 0, character 500: …'{'a' * 20}b' became …'{'a' * 20}c'"),
        ([LONG.encode() + b"b"], [LONG.encode()], f"row 0, byte 500: …b'{'a' * 20}b' became …b'{'a' * 20}'"),
        (["\u00e9" * 300 + "x"], ["\u00e9" * 300 + "y"], "row 0, character 300: …'" + "\u00e9" * 20 + "x' became"),
        ([LISTS], [[*LISTS[:1999], -1.0, *LISTS[2000:]]], "row 0, item 1999: 1999.0 became -1.0"),
        ([LISTS], [[*LISTS, 7.0]], "row 0, item 3000: no item became 7.0"),
        ([[["x" * 300, LONG]]], [[["x" * 300, LONG + "!"]]], "row 0, item 0, item 1, character 500: "),
        ([[1, None]], [[1, 0]], "row 0: [1, null] became [1, 0]"),
        ([True, False], [None, False], "row 0: true became null"),
    ],
)
def test_what_tells_two_values_apart_is_shown(a, b, said):
    column = only(a, b)
    assert str(column).startswith(f"c: {said}")
    assert column.a_text != column.b_text
    back = only(b, a)
    assert (back.a_text, back.b_text, back.place) == (column.b_text, column.a_text, column.place)


@pytest.mark.parametrize(
    ("data_type", "numbers", "texts", "values"),
    [
        (
            pa.timestamp("ns"),
            (0, 1),
            ("1970-01-01T00:00:00", "1970-01-01T00:00:00.000000001"),
            (datetime.datetime(1970, 1, 1), np.datetime64(1, "ns")),
        ),
        (
            pa.timestamp("us", "Nowhere/At_All"),
            (0, -1),
            ("1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z"),
            (
                datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc),
                datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, datetime.timezone.utc),
            ),
        ),
        (
            pa.timestamp("s"),
            (-(2**63), 2**62),
            ("-292277022657-01-27T08:29:52", "+146138514283-06-19T07:45:04"),
            (-(2**63), np.datetime64(2**62, "s")),
        ),
        (
            pa.date32(),
            (-(2**31), 0),
            ("-5877641-06-23", "1970-01-01"),
            (np.datetime64(-(2**31), "D"), datetime.date(1970, 1, 1)),
        ),
        (
            pa.date64(),
            (86_400_000, 1),
            ("1970-01-02", "1970-01-01T00:00:00.001"),
            (datetime.date(1970, 1, 2), datetime.datetime(1970, 1, 1, 0, 0, 0, 1000)),
        ),
        (
            pa.time64("ns"),
            (1000, 86_400 * 10**9 + 1),
            ("00:00:00.000001000", "24:00:00.000000001"),
            (datetime.time(0, 0, 0, 1), 86_400 * 10**9 + 1),
        ),
        (pa.decimal64(5, 60), (2, -30), ("2E-60", "-3.0E-59"), (Decimal("2E-60"), Decimal("-3.0E-59"))),
        (pa.decimal32(5, 2), (150, 0), ("1.50", "0.00"), (Decimal("1.50"), Decimal("0.00"))),
    ],
    ids=str,
)
def test_dates_times_and_decimals_are_shown_whatever_they_hold(data_type, numbers, texts, values):
    width = pa.int32() if data_type.bit_width == 32 else pa.int64()
    a, b = (recast(pa.array([number], width), data_type) for number in numbers)
    column = only(a, b)
    assert (column.a_text, column.b_text) == (column.a_json, column.b_json) == texts
    assert (column.a, column.b) == values


def test_values_do_not_depend_on_pandas():
    code = """
import sys

class NoPandas:
    def find_spec(self, name, *arguments):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
import pyarrow as pa, arrow_digest
a, b = (pa.table({"c": pa.array([n], pa.timestamp("ns"))}) for n in (1000, 1001))
print(arrow_digest.diff(a, b).columns[0])
"""
    printed = run_python(code)
    assert printed.stdout == b"c: row 0: 1970-01-01T00:00:00.000001000 became 1970-01-01T00:00:00.000001001\n"


def test_types_are_shown_where_they_differ():
    assert only(["9"], [10]).a_text == "'9' (string)"
    assert only([1], [[1]]).b_text == "[1] (list<item: int64>)"


def test_json_has_values_and_what_is_not_there_is_left_out(tmp_path):
    cases = {
        "text": (["9"], ["x\n"], {"a": "9", "b": "x\n"}),
        "numbers": ([1.5], [float("inf")], {"a": 1.5, "b": "inf"}),
        "bytes": ([b"\xff"], [b"a"], {"a": "ff", "b": "61"}),
        "lists": ([[1, None]], [[1]], {"a": [1, None], "b": [1]}),
        "an item": ([[0.0] * 999], [[0.0] * 998], {"a": 0.0, "place": [["item", 998]]}),
        "a row": ([1, 2], [1], {"a": 2}),
        "bytes like text": ([b"a"], ["61"], {"a": "b'a' (binary)", "b": "'61' (string)"}),
    }
    for name, (a, b, expected) in cases.items():
        (tmp_path / "a").write_bytes(parquet(table(a)))
        (tmp_path / "b").write_bytes(ipc_file(table(b)))
        result = arrow_digest_command("diff", "--json", "a", "b", cwd=tmp_path)
        row = 1 if name == "a row" else 0
        assert json.loads(result.stdout)["columns"] == [{"path": ["c"], "row": row, **expected}], name


def struct(value, data_type):
    return table([value], data_type)


ONE = pa.struct([("x", pa.int8())])
TWO = pa.struct([("s", ONE), ("y", pa.list_(pa.int8()))])


@pytest.mark.parametrize(
    ("a", "b", "path", "shown"),
    [
        (struct(None, ONE), struct({"x": None}, ONE), ("c",), ("null", "{x: null}")),
        (struct(None, pa.struct([])), struct({}, pa.struct([])), ("c",), ("null", "{}")),
        (
            struct(None, TWO),
            struct({"s": {"x": None}, "y": None}, TWO),
            ("c",),
            ("null", "{s: {x: null}, y: null}"),
        ),
        (struct({"s": None}, TWO), struct({"s": {"x": None}}, TWO), ("c", "s"), ("null", "{x: null}")),
        (struct({"s": {"x": 1}}, TWO), struct({"s": None}, TWO), ("c", "s", "x"), ("1", "null")),
    ],
)
@pytest.mark.parametrize("form", ["memory", "ipc", "parquet"])
def test_a_null_struct_is_not_a_struct_of_nulls(a, b, path, shown, form, tmp_path):
    sides = [a, b]
    if form != "memory":
        # Parquet has no structs without fields.
        write = parquet if form == "parquet" and a.schema.field("c").type.num_fields else ipc_file
        for name, side in zip("ab", (a, b), strict=True):
            (tmp_path / name).write_bytes(write(side))
        sides = [tmp_path / "a", tmp_path / "b"]
    (column,) = diff(*sides).columns
    assert (column.path, column.row, column.a_text, column.b_text) == (path, 0, *shown)
    assert diff(sides[0], sides[0]).equal
    assert diff(sides[1], sides[1]).equal


def test_a_column_is_not_called_renamed_if_its_values_only_hash_alike():
    a = pa.table({"old": pa.array([[0]], pa.list_(pa.int8()))})
    b = pa.table({"new": pa.array([[None]], pa.list_(pa.int8()))})
    found = diff(a, b)
    assert found.renamed == ()
    assert [path for path, _ in found.removed] == [("old",)]
    assert [path for path, _ in found.added] == [("new",)]
    assert diff(a, a.rename_columns(["new"])).renamed == ((("old",), ("new",)),)


def test_nulls_of_items_are_found_though_the_schema_says_that_there_are_none():
    required = pa.list_(pa.field("item", pa.int8(), nullable=False))
    a, b = (recast(pa.array(values, pa.list_(pa.int8())), required) for values in ([[0]], [[None]]))
    assert (only(a, b).a, only(a, b).b) == ([0], [None])


def test_one_row_is_not_rows():
    assert str(diff(table([1]), table([1]))).endswith("the same records (1 row)")
    assert str(diff(table([1] * 1000), table([1] * 1000))).endswith("the same records (1,000 rows)")


def test_errors_say_which_side_and_column(tmp_path):
    durations = table([1], pa.duration("s"))
    for sides, name in (
        ((durations, table([1])), "the first side (Table)"),
        ((table([1]), durations), "the second side (Table)"),
    ):
        with pytest.raises(UnsupportedTypeError) as caught:
            diff(*sides)
        assert caught.value.source == name
        assert str(caught.value).startswith(f"{name}: column c: type duration")
    wild = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 9, 1], "i4")), pa.py_buffer(b"a")])
    with pytest.raises(InvalidArrayError, match=r"^the second side \(Table\): column c: broken"):
        diff(table(["a", "b"]), table(wild))
    for name, data in (("good", table([1])), ("bad", durations)):
        (tmp_path / name).write_bytes(ipc_file(data))
    for arguments in (("good", "bad"), ("bad", "good"), ("bad", "bad")):
        result = arrow_digest_command("diff", *arguments, cwd=tmp_path)
        assert (result.stdout, result.returncode) == (b"", 2)
        assert result.stderr.startswith(b"arrow-digest: bad: column c: type duration")
        assert result.stderr.count(b"\n") == 1


def test_rows_of_a_struct_that_end_are_no_difference_of_nulls():
    a, b = struct({"x": 1}, ONE), pa.concat_tables([struct({"x": 1}, ONE), struct(None, ONE)])
    assert [(column.path, column.row, column.a, column.b) for column in diff(a, b).columns] == [
        (("c", "x"), 1, NO_ROW, None)
    ]


@pytest.mark.parametrize(("a", "b"), [("\xe9", "e\u0301"), ("a", "\u0430"), ("\u2126", "\u03a9")])
def test_names_that_look_the_same_are_told_apart(a, b):
    first, same, other = pa.table({a: [1]}), pa.table({b: [1]}), pa.table({b: [2]})
    assert str(diff(first, same)).endswith(f"renamed: {a} ({a!a}) became {b} ({b!a})")
    assert str(diff(pa.table({"\xe9": [1]}), pa.table({"x": [1]}))).endswith("renamed: \xe9 became x")
    if a != "a":
        assert str(diff(first, other)).endswith(f"- {a} ({a!a}): int64\n+ {b} ({b!a}): int64")
