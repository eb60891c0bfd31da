"""What a Parquet column holds is what is hashed: nothing is cut, wrapped around or dropped to fit its annotation."""

from __future__ import annotations

import base64
import decimal
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrow_digest import UnreadableError, logical_hash
from helpers import footers

NARROW = {
    "int8": (pa.int8(), (-129, 128, 300, 2**31 - 1, -(2**31))),
    "uint8": (pa.uint8(), (-1, 256, 300, 2**31 - 1)),
    "int16": (pa.int16(), (-32769, 32768, 2**31 - 1)),
    "uint16": (pa.uint16(), (-1, 65536, 2**31 - 1)),
}
STAND_IN = 77


def refusal(tmp_path, content):
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        logical_hash(path)
    return caught.value


def changed(content, stand_in, value):
    old, new = (number.to_bytes(4, "little", signed=True) for number in (stand_in, value))
    assert content.count(old) == 1
    return content.replace(old, new)


@pytest.mark.parametrize("use_dictionary", [False, True])
@pytest.mark.parametrize(("name", "value"), [(name, value) for name in NARROW for value in NARROW[name][1]])
def test_an_integer_outside_its_annotation_is_refused(tmp_path, name, value, use_dictionary):
    table = pa.table({"a": pa.array([1, None, STAND_IN, 3], NARROW[name][0])})
    error = refusal(tmp_path, changed(footers.parquet(table, use_dictionary=use_dictionary), STAND_IN, value))
    assert (error.rule, error.column, error.row) == ("corrupt", ("a",), 2)
    assert f"column a, row 2: broken Parquet: {value} in a column that is annotated as {name}" in str(error)


def test_an_integer_outside_its_annotation_is_refused_in_lists_and_structs(tmp_path):
    lists = pa.array([[1], None, [2, STAND_IN]], pa.list_(pa.int8()))
    structs = pa.array([None, {"x": 1}, {"x": STAND_IN}], pa.struct([("x", pa.int8())]))
    for table, path in ((pa.table({"l": lists}), ("l",)), (pa.table({"s": structs}), ("s", "x"))):
        error = refusal(tmp_path, changed(footers.parquet(table), STAND_IN, 300))
        assert (error.rule, error.column, error.row) == ("corrupt", path, 2)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("store_schema", [False, True])
def test_narrow_integers_of_any_value_keep_their_hash(tmp_path, name, store_schema):
    data_type = NARROW[name][0]
    limits = np.iinfo(name)
    values = pa.array([limits.min, None, limits.max, 0, 1], data_type)
    table = pa.table(
        {
            "a": values,
            "l": pa.array([values.to_pylist(), None, [], [None], [1]], pa.list_(data_type)),
            "s": pa.StructArray.from_arrays([values], ["x"], mask=pa.array([True, False, True, False, False])),
        }
    )
    path = tmp_path / "x.parquet"
    for row_group_size in (2, 100):
        path.write_bytes(footers.parquet(table, store_schema=store_schema, row_group_size=row_group_size))
        assert logical_hash(path) == logical_hash(table)


def test_wide_integers_are_read_bit_by_bit(tmp_path):
    table = pa.table(
        {"a": pa.array([0, 2**31, 2**32 - 1], pa.uint32()), "b": pa.array([0, 2**63, 2**64 - 1], pa.uint64())}
    )
    path = tmp_path / "x.parquet"
    path.write_bytes(footers.parquet(table))
    assert logical_hash(path) == logical_hash(table)


@pytest.mark.parametrize("physical_type", [1, 2])
def test_a_value_in_a_column_of_nulls_is_refused(tmp_path, physical_type):
    values = pa.array([None, None, 5], {1: pa.int32(), 2: pa.int64()}[physical_type])
    content = footers.parquet(pa.table({"a": values}))
    error = refusal(tmp_path, footers.annotated(content, "a", physical_type, footers.UNKNOWN))
    assert (error.rule, error.column, error.row) == ("corrupt", ("a",), 2)
    nulls = pa.table({"a": pa.nulls(3, values.type)})
    path = tmp_path / "x.parquet"
    path.write_bytes(footers.annotated(footers.parquet(nulls), "a", physical_type, footers.UNKNOWN))
    assert logical_hash(path) == logical_hash(pa.table({"a": pa.nulls(3)}))


def stored_schema(array, claimed, **options):
    """A file whose stored Arrow schema says something of its column."""
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, pa.schema([("c", array.type)]), store_schema=False, **options) as writer:
        writer.write_table(pa.Table.from_arrays([array], ["c"]))
        schema = pa.schema([("c", claimed)]).serialize().to_pybytes()
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(schema)})
    return sink.getvalue()


D = decimal.Decimal
COLUMNS = {
    "int8": pa.array([1, -3], pa.int8()),
    "int32": pa.array([1, 300], pa.int32()),
    "int64": pa.array([1, 2**40], pa.int64()),
    "uint32": pa.array([1, 2**31 + 5], pa.uint32()),
    "uint64": pa.array([1, 2**63 + 5], pa.uint64()),
    "double": pa.array([1.5, 2.5]),
    "half": pa.array([1.5, 2.5], pa.float16()),
    "bool": pa.array([True, False]),
    "string": pa.array(["a", "bb"]),
    "binary": pa.array([b"a", b"\xff"]),
    "fixed": pa.array([b"a" * 16, b"b" * 16], pa.binary(16)),
    "ms": pa.array([1, 1500], pa.timestamp("ms")),
    "ns": pa.array([1, 1500], pa.timestamp("ns")),
    "utc": pa.array([1, 1500], pa.timestamp("us", "UTC")),
    "date": pa.array([1, 20000], pa.date32()),
    "time": pa.array([1, 1500], pa.time32("ms")),
    "time ns": pa.array([1, 1500], pa.time64("ns")),
    "decimal": pa.array([D("1.25"), D("-3.10")], pa.decimal128(5, 2)),
    "wide decimal": pa.array([D("1.25"), D("-3.10")], pa.decimal256(60, 10)),
    "list": pa.array([[1, 2], [3, 4]], pa.list_(pa.int32())),
    "struct": pa.array([{"x": 1, "y": "a"}, {"x": 300, "y": "b"}]),
}
CLAIMS = [
    pa.null(),
    pa.bool_(),
    *(pa.type_for_alias(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")),
    *(pa.type_for_alias(name) for name in ("float16", "float32", "float64", "string", "large_string", "binary")),
    *(pa.type_for_alias(name) for name in ("string_view", "binary_view", "date32", "date64")),
    pa.binary(16),
    *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC")),
    pa.time32("s"),
    pa.time32("ms"),
    pa.time64("us"),
    pa.time64("ns"),
    *(make(5, scale) for make in (pa.decimal32, pa.decimal64, pa.decimal128, pa.decimal256) for scale in (2, 3)),
    pa.decimal256(60, 3),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int8(), pa.int32()),
    *(make(inner) for make in (pa.list_, pa.large_list, pa.list_view) for inner in (pa.int8(), pa.timestamp("s"))),
    pa.list_(pa.int32(), 2),
    pa.struct([("y", pa.string()), ("x", pa.int64())]),
    pa.struct([("x", pa.int8()), ("y", pa.large_string())]),
    pa.run_end_encoded(pa.int32(), pa.int32()),
]


def texts(array):
    """Values as text, for which pyarrow needs no pandas, as it does for nanoseconds as Python's objects."""
    if pa.types.is_temporal(array.type):
        width = pa.int32() if array.type.bit_width == 32 else pa.int64()
        return [str(value) for value in array.cast(width).to_pylist()]
    return [str(value) for value in array.to_pylist()]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_stored_schema_that_disagrees_changes_no_value(tmp_path, name):
    """pyarrow takes from it what fits the column; where it takes a type, every value is what the column holds."""
    array = COLUMNS[name]
    path = tmp_path / "x.parquet"
    for claimed in CLAIMS:
        path.write_bytes(stored_schema(array, claimed))
        table = pq.ParquetFile(path).read()
        assert texts(table["c"]) == texts(array), claimed
        assert logical_hash(path) == logical_hash(table), claimed


def test_a_fixed_size_that_the_stored_schema_claims_is_checked(tmp_path):
    for size in (0, 1, 3):
        error = refusal(tmp_path, stored_schema(COLUMNS["list"], pa.list_(pa.int32(), size)))
        assert (error.rule, error.column) == ("corrupt", ("c", "list", "element"))


def test_a_stored_schema_cannot_cut_a_decimal(tmp_path):
    content = footers.parquet(pa.table({"c": pa.array([1, 2**40, -(2**40)], pa.int64())}))
    content = footers.annotated(content, "c", 2, footers.DECIMAL)
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    assert pq.ParquetFile(path).schema_arrow.field("c").type == pa.decimal128(5, 2)
    whole = pq.ParquetFile(path).read()
    assert logical_hash(path) == logical_hash(whole)


def test_a_header_of_a_page_that_cannot_be_read_is_an_error_of_reading(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"s": ["x" * 10_000 + str(n) for n in range(20_000)]}), path, use_dictionary=False)

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("_arrow_io.page_sizes.PageSizes._header", fail)
    with pytest.raises(UnreadableError) as caught:
        logical_hash(path)
    assert caught.value.rule == "io"
