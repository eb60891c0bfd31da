"""Types and what Parquet makes of them, and what arrow0 has no encoding for."""

from __future__ import annotations

import decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest as ad
from helpers.records import column, through_parquet

H = ad.logical_hash
D = decimal.Decimal


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        (pa.decimal128(22, 3), "9223372036854775808"),
        (pa.decimal128(38, 0), "-99999999999999999999999999999999999999"),
        (pa.decimal256(60, 5), "-1e40"),
        (pa.decimal256(76, 76), "0.1"),
        (pa.decimal32(7, 2), "1.25"),
        (pa.decimal64(18, 9), "-1.25"),
    ],
    ids=str,
)
def test_decimals_of_every_width_survive_parquet(data_type, value):
    table = column(pa.array([D(value), None], data_type))
    assert H(through_parquet(table)) == H(table)
    assert H(table) != H(column(pa.array([D(value).copy_negate(), None], data_type)))


def test_a_negative_scale_is_part_of_the_type():
    table = column(pa.array([D("1200"), None], pa.decimal128(5, -2)))
    digest = ad.RecordDigest(table.schema)
    digest.update(table)
    header = b"\6\0" + b"".join(n.to_bytes(8, "little", signed=True) for n in (128, 5, -2))
    expected = ad.functions.digest_function("sha3-256").new()
    expected.update(header + (12).to_bytes(16, "little") + b"\0")
    assert digest.columns()[0].digest == expected.digest()


@pytest.mark.parametrize("options", [{}, {"store_decimal_as_integer": True}, {"use_dictionary": False}], ids=str)
def test_the_physical_type_of_a_decimal_does_not_matter(options):
    for t in (pa.decimal128(4, 2), pa.decimal128(9, 0), pa.decimal128(18, 3)):
        table = column(pa.array([D("1"), None, D("-2")], t))
        assert H(through_parquet(table, **options)) == H(table)


def test_precision_scale_and_width_each_count():
    types = [
        pa.decimal128(10, 2),
        pa.decimal128(11, 2),
        pa.decimal128(10, 1),
        pa.decimal64(10, 2),
        pa.decimal256(10, 2),
    ]
    assert len({H(column(pa.array([D("1"), None], t))) for t in types}) == len(types)


def test_units_and_zones_count_also_without_rows():
    stamps = [pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "+00:00")]
    times = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.date32(), pa.date64()]
    for rows in ([0, None], []):
        assert len({H(column(pa.array(rows, t))) for t in stamps + times}) == len(stamps + times)


def test_text_that_is_not_utf8_survives_parquet():
    table = column(pa.array([b"he\xffllo", None]).view(pa.string()))
    again = column(pa.array([b"he\xffllo", None]).view(pa.string()))
    assert H(table) == H(through_parquet(table)) == H(again)
    assert H(table) != H(column(pa.array([b"he\xffllo", None])))


@pytest.mark.parametrize("name", ["lists of structs", "map", "sparse union", "dense union", "duration", "interval"])
@pytest.mark.parametrize("rows", [0, 1])
def test_reserved_types_are_refused_before_a_byte_is_read(name, rows):
    array, reserved = RESERVED[name]
    nested = pa.StructArray.from_arrays([array], ["inner"]).slice(0, rows)
    for table, path in ((column(array.slice(0, rows)), ("c",)), (column(nested), ("c", "inner"))):
        consumed = []

        def batches(table=table, consumed=consumed):
            consumed.append(True)
            yield from table.to_batches()

        reader = pa.RecordBatchReader.from_batches(table.schema, batches())
        for data in (table, reader):
            with pytest.raises(ad.UnsupportedTypeError) as caught:
                H(data)
            assert (caught.value.path, caught.value.reserved) == (path, reserved)
            assert str(array.type) in str(caught.value)
        assert consumed == []


RESERVED = {
    "lists of structs": (pa.array([[{"a": 1}], None, []]), "struct"),
    "map": (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())), "map"),
    "sparse union": (
        pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["x", "y"])]),
        "union",
    ),
    "dense union": (
        pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["y"])]
        ),
        "union",
    ),
    "duration": (pa.array([1], pa.duration("s")), "duration"),
    "interval": (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), "interval"),
}


# --- Tables with nothing in them --------------------------------------------------------------------------------------


def test_no_rows_no_chunks_and_no_row_groups_hash_alike(tmp_path):
    schema = pa.schema([("a", pa.int32()), ("s", pa.string())])
    no_chunks = pa.table({"a": pa.chunked_array([], pa.int32()), "s": pa.chunked_array([], pa.string())})
    pq.ParquetWriter(tmp_path / "no_groups.parquet", schema).close()
    with pq.ParquetWriter(tmp_path / "empty_groups.parquet", schema) as writer:
        writer.write_table(schema.empty_table())
        writer.write_table(schema.empty_table())
    forms = [
        *(schema.empty_table(), no_chunks, through_parquet(schema.empty_table())),
        *(tmp_path / "no_groups.parquet", tmp_path / "empty_groups.parquet"),
        pa.RecordBatchReader.from_batches(schema, []),
        pa.record_batch([pa.array([], f.type) for f in schema], schema=schema),
    ]
    assert {H(form) for form in forms} == {ad.RecordDigest(schema).multihash()}
    assert H(no_chunks) != H(pa.schema([("a", pa.int64()), ("s", pa.string())]).empty_table())


@pytest.mark.parametrize("function", ["sha3-256", "sha2-256", "blake3"])
def test_rows_without_columns_are_the_hash_of_nothing(tmp_path, function):
    table = pa.table({"a": [1, 2, 3]}).select([])
    assert table.num_rows == 3
    nothing = ad.functions.digest_function(function).new().digest()
    again = through_parquet(table)
    assert again.num_rows == 0
    pq.write_table(table, tmp_path / "t.parquet")
    forms = (table, again, table.slice(0, 0), tmp_path / "t.parquet", pa.schema([]).empty_table())
    assert {H(form, function=function).digest for form in forms} == {nothing}


def test_metadata_and_nullability_are_not_hashed():
    plain = pa.table({"a": [1, 2]})
    marked = pa.schema(
        [pa.field("a", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "7"})], {"pandas": "{}"}
    )
    table = pa.Table.from_arrays([pa.array([1, 2])], schema=marked)
    assert H(table) == H(plain) == H(through_parquet(table)) == H(through_parquet(plain, compression="gzip"))
    inner = pa.struct([pa.field("x", pa.int8(), nullable=False, metadata={"k": "v"})])
    assert H(column(pa.array([{"x": 1}], inner))) == H(column(pa.array([{"x": 1}], pa.struct([("x", pa.int8())]))))


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "none"},
        {"compression": "zstd", "row_group_size": 7},
        {"use_dictionary": False, "column_encoding": {"n": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY"}},
        {"use_dictionary": False, "column_encoding": {"f": "BYTE_STREAM_SPLIT"}},
        {"data_page_version": "2.0", "data_page_size": 64, "write_batch_size": 8},
        {"write_page_checksum": True, "write_statistics": False},
        {"version": "1.0", "store_schema": False},
    ],
    ids=str,
)
def test_how_parquet_is_written_does_not_matter(tmp_path, options):
    table = pa.table(
        {
            "n": np.arange(100),
            "s": [None if i % 7 == 0 else f"row {i}" for i in range(100)],
            "f": np.linspace(0, 1, 100),
            "st": [None if i % 9 == 0 else {"x": i, "y": None if i % 2 else str(i)} for i in range(100)],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", **options)
    assert H(tmp_path / "t.parquet") == H(table)


def test_nulls_of_structs_and_lists_survive_parquet(tmp_path):
    rows = [
        {"l": [1, None], "st": {"p": None, "q": ["x"]}},
        {"l": None, "st": None},
        {"l": [], "st": {"p": {"z": None}, "q": None}},
        {"l": [3], "st": {"p": {"z": 5}, "q": []}},
    ] * 20
    inner = pa.struct([("p", pa.struct([("z", pa.int8())])), ("q", pa.list_(pa.string()))])
    table = pa.Table.from_pylist(rows, pa.schema([("l", pa.list_(pa.int64())), ("st", inner)]))
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=9)
    assert H(tmp_path / "t.parquet") == H(table) == H(pa.Table.from_batches(table.to_batches(max_chunksize=7)))
