"""Records from any Arrow producer hash alike: in memory, through the C interface alone, and through files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings

import arrow_digest as ad
from arrow_digest.arrays.types import unwrap
from helpers.examples import examples
from helpers.strategies import tables

H = ad.logical_hash


class Exporter:
    """Nothing but the methods of the Arrow C interface that it is told to have."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner


class StreamExporter(Exporter):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_stream__(requested_schema)


class ArrayExporter(Exporter):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._inner.__arrow_c_array__(requested_schema)


class SchemaExporter(Exporter):
    def __arrow_c_schema__(self) -> Any:
        return self._inner.__arrow_c_schema__()


def without_nul_names(table: pa.Table) -> pa.Table:
    return table.rename_columns([name.replace("\0", "_") for name in table.column_names])


def crosses(table: pa.Table) -> bool:
    """Whether pyarrow can import what it exports; the oldest cannot where an extension is over run ends."""
    try:
        pa.RecordBatchReader.from_stream(StreamExporter(table)).read_all()
    except pa.ArrowInvalid:
        return False
    return True


@settings(max_examples=examples(60))
@given(tables())
def test_a_producer_with_the_c_interface_alone_hashes_like_the_table(table):
    table = without_nul_names(table)
    assume(crosses(table))
    assert H(StreamExporter(table)) == H(table)
    schema = SchemaExporter(table.schema)
    digest = ad.RecordDigest(schema)
    for batch in table.to_batches():
        digest.update(ArrayExporter(batch))
    assert digest.multihash() == H(table)
    for field, column in zip(table.schema, table.columns, strict=True):
        if not pa.types.is_struct(unwrap(field.type)):
            whole, chunkwise = ad.ArrayDigest(SchemaExporter(field.type)), ad.ArrayDigest(field.type)
            whole.update(StreamExporter(column))
            for chunk in column.chunks:
                chunkwise.update(ArrayExporter(chunk))
            assert whole.digest() == chunkwise.digest()


def test_struct_arrays_are_records_sliced_or_not():
    structs = pa.array([{"a": i, "s": str(i)} for i in range(20)])
    expected = H(pa.table({"a": list(range(3, 9)), "s": [str(i) for i in range(3, 9)]}))
    part = structs.slice(3, 6)
    forms = [part, ArrayExporter(part), pa.chunked_array([part.slice(0, 2), part.slice(2)])]
    assert {H(form) for form in forms} == {expected}
    digest = ad.RecordDigest(pa.schema([("a", pa.int64()), ("s", pa.string())]))
    digest.update(ArrayExporter(structs.slice(3, 2)))
    digest.update(structs.slice(5, 4))
    assert digest.multihash() == expected


def test_struct_arrays_keep_names_that_hold_a_nul():
    structs = pa.StructArray.from_arrays([pa.array([1])], ["nul\0nul"])
    assert H(structs) == H(pa.chunked_array([structs])) == H(pa.table({"nul\0nul": [1]}))


STRUCTS_WITH_NULLS = pa.StructArray.from_arrays([pa.array([1, 2, 3])], ["a"], mask=pa.array([False, True, False]))


@pytest.mark.parametrize(
    "form",
    [
        STRUCTS_WITH_NULLS,
        STRUCTS_WITH_NULLS.slice(1),
        ArrayExporter(STRUCTS_WITH_NULLS),
        pa.chunked_array([STRUCTS_WITH_NULLS]),
    ],
    ids=["array", "slice", "foreign array", "chunks"],
)
def test_a_record_cannot_be_null(form):
    digest = ad.RecordDigest(pa.schema([("a", pa.int64())]))
    for use in (H, digest.update):
        with pytest.raises(ad.InvalidArrayError) as caught:
            use(form)
        assert caught.value.rule == "nulls"
    assert H(STRUCTS_WITH_NULLS.slice(2)) == H(pa.table({"a": [3]}))


def test_a_record_of_a_foreign_stream_cannot_be_null():
    structs = pl.Series([{"a": 1}, None, {"a": 2}])
    for form in (structs, StreamExporter(pa.chunked_array([STRUCTS_WITH_NULLS]))):
        with pytest.raises(ad.ArrowDigestError, match="null"):
            H(form)
    assert H(pl.Series([{"a": 1}, {"a": 2}])) == H(pa.table({"a": [1, 2]}))


@pytest.mark.parametrize(
    "form",
    [
        pa.array([1]),
        pa.chunked_array([[1]]),
        ArrayExporter(pa.array([1])),
        StreamExporter(pa.chunked_array([[1]])),
        pl.Series([1]),
        pd.Series([1]),
    ],
    ids=["array", "chunks", "foreign array", "foreign stream", "polars", "pandas"],
)
def test_a_single_array_is_no_records(form):
    with pytest.raises(ad.UnsupportedTypeError, match="ArrayDigest") as caught:
        H(form)
    assert caught.value.rule == "records"


@pytest.mark.parametrize("form", [None, 5, [1], {"a": [1]}, b"bytes", pl.LazyFrame({"a": [1]}), np.zeros(3)], ids=type)
def test_what_exports_nothing_is_a_type_error(form):
    with pytest.raises(TypeError, match="exports Arrow"):
        H(form)
    with pytest.raises(TypeError, match="exports"):
        ad.ArrayDigest(pa.int64()).update(form)


class Broken:
    def __init__(self, result: Any) -> None:
        self._result = result

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


@pytest.mark.parametrize(
    "result", [5, None, RuntimeError("no"), ValueError("no"), OSError("no"), NotImplementedError()]
)
def test_a_producer_that_fails_is_unreadable(result):
    digest, array = ad.RecordDigest(pa.schema([("a", pa.int8())])), ad.ArrayDigest(pa.int8())
    for use in (H, digest.update, array.update):
        with pytest.raises(ad.UnreadableError, match="Broken") as caught:
            use(Broken(result))
        assert caught.value.source == "Broken"
    assert digest.row_count == 0


def test_a_stream_can_be_read_once():
    table = pa.table({"a": [1, 2]})
    foreign, reader = StreamExporter(table.to_reader()), table.to_reader()
    assert H(foreign) == H(reader) == H(table)
    assert H(foreign) == H(reader) == H(table.slice(0, 0))  # at its end, which pyarrow takes for no rows


@pytest.mark.parametrize("other", [{"a": ["x"]}, {"b": [1]}, {"a": [1], "b": [2]}, {}], ids=str)
@pytest.mark.parametrize("good", [0, 1])
def test_a_batch_of_another_schema_than_its_stream_is_refused(good, other):
    batches = [pa.record_batch({"a": [1]})] * good + [pa.record_batch(other)]
    digest = ad.RecordDigest(pa.schema([("a", pa.int64())]))
    for use in (H, digest.update):
        with pytest.raises(ad.UnreadableError, match="another schema"):
            use(pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), iter(batches)))
    assert digest.row_count == 0


def test_the_rows_of_a_reader_are_read_as_they_come():
    """Not all at once: the digest is a batch or so behind the producer."""
    batch = pa.record_batch({"a": np.arange(100_000)})
    alive = []

    def produce():
        for _ in range(50):
            alive.append(pa.total_allocated_bytes())
            yield pa.record_batch({"a": np.arange(100_000)})

    H(pa.RecordBatchReader.from_batches(batch.schema, produce()), threads=1)
    assert max(alive) - alive[0] < 10 * batch.nbytes


# --- Libraries --------------------------------------------------------------------------------------------------------

ROWS = {
    "i": [1, None, -3, 4],
    "f": [0.5, None, float("inf"), -0.0],
    "b": [True, None, False, True],
    "s": ["x", None, "", "long enough for a view's buffer"],
    "y": [b"x", None, b"", b"\xff\xfe"],
    "l": [[1, None], None, [], [2]],
    "ls": [["p", None], None, [], ["q" * 20]],
}
TYPES = [pa.int32(), pa.float64(), pa.bool_(), pa.string(), pa.binary(), pa.list_(pa.int64()), pa.list_(pa.string())]
TABLE = pa.Table.from_pydict(ROWS, pa.schema(list(zip(ROWS, TYPES, strict=True))))
STRUCTS = [{"p": 1, "q": "x"}, None, {"p": None, "q": ""}, {"p": 2, "q": None}]
WITH_STRUCTS = TABLE.append_column("st", pa.array(STRUCTS, pa.struct([("p", pa.int16()), ("q", pa.string())])))


def in_duckdb(table: pa.Table) -> Any:
    return duckdb.connect().from_arrow(table)


def test_polars_hashes_like_pyarrow():
    frame = pl.from_arrow(WITH_STRUCTS)
    assert H(frame) == H(WITH_STRUCTS)
    assert H(frame.slice(1, 2)) == H(frame[1:3]) == H(WITH_STRUCTS.slice(1, 2))
    assert H(pl.concat([frame[:2], frame[2:]], rechunk=False)) == H(WITH_STRUCTS)
    reverse = pa.array([3, 2, 1, 0])
    assert H(frame.reverse()) == H(WITH_STRUCTS.take(reverse)) != H(WITH_STRUCTS)
    assert H(frame.select(pl.all().gather([3, 0]))) == H(WITH_STRUCTS.take(pa.array([3, 0])))


@pytest.mark.parametrize("name", [*ROWS])
def test_a_polars_series_digests_like_the_array(name):
    expected, found = ad.ArrayDigest(TABLE.schema.field(name).type), ad.ArrayDigest(TABLE.schema.field(name).type)
    expected.update(TABLE[name])
    series = pl.Series(pl.from_arrow(TABLE[name]))
    found.update(series)
    assert found.digest() == expected.digest()
    found.update(series[1:3])
    expected.update(TABLE[name].slice(1, 2))
    assert found.digest() == expected.digest()


def test_polars_categories_and_enums_hash_as_text():
    values = ["u", None, "v", "u"]
    text = H(pa.table({"c": values}))
    for dtype in (pl.Categorical, pl.Enum(["w", "v", "u"])):
        assert H(pl.DataFrame({"c": pl.Series(values, dtype=dtype)})) == text


def test_duckdb_hashes_like_pyarrow():
    assert H(in_duckdb(WITH_STRUCTS)) == H(WITH_STRUCTS)
    many = duckdb.sql("select i::int as i, 'row ' || i as s, [i, null] as l from range(10000) t(i)")
    numbers = list(range(10_000))
    expected = pa.table(
        {
            "i": pa.array(numbers, pa.int32()),
            "s": [f"row {i}" for i in numbers],
            "l": pa.array([[i, None] for i in numbers], pa.list_(pa.int64())),
        }
    )
    assert H(many) == H(expected)
    assert H(duckdb.sql("select i::int as i from range(0) t(i)")) == H(expected.select(["i"]).slice(0, 0))


def test_duckdb_enums_hash_as_text():
    connection = duckdb.connect()
    connection.execute("create type mood as enum ('sad', 'ok')")
    found = connection.sql("select unnest(['ok', null, 'sad'])::mood as c")
    assert H(found) == H(pa.table({"c": ["ok", None, "sad"]}))


def test_pandas_hashes_like_its_arrow_table():
    columns = {"a": [1, 2, 3], "s": ["x", None, "y"], "c": pd.Categorical(["u", "v", "u"]), "f": [0.5, None, 1.5]}
    frame = pd.DataFrame(columns)
    expected = pa.table({"a": [1, 2, 3], "s": ["x", None, "y"], "c": ["u", "v", "u"], "f": [0.5, None, 1.5]})
    assert H(pa.Table.from_pandas(frame)) == H(expected)
    assert H(frame) == H(expected)
    digest = ad.ArrayDigest(pa.int64())
    digest.update(frame["a"])
    plain = ad.ArrayDigest(pa.int64())
    plain.update(pa.array([1, 2, 3]))
    assert digest.digest() == plain.digest()


def test_an_index_that_pandas_stores_is_a_column_like_any_other():
    frame = pd.DataFrame({"a": [1, 2]}, index=[5, 7])
    expected = pa.table({"a": [1, 2], "__index_level_0__": [5, 7]})
    assert H(frame) == H(pa.Table.from_pandas(frame)) == H(expected)
    assert H(pa.Table.from_pandas(frame, preserve_index=False)) == H(pa.table({"a": [1, 2]}))


def test_pandas_extension_arrays_hash_as_what_they_hold():
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int16"),
            "b": pd.array([True, None], dtype="boolean"),
            "s": pd.array(["x", None], dtype="string"),
            "l": pd.Series([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int8()))),
        }
    )
    expected = pa.table(
        {
            "i": pa.array([1, None], pa.int16()),
            "b": [True, None],
            "s": ["x", None],
            "l": pa.array([[1], None], pa.list_(pa.int8())),
        }
    )
    assert H(frame) == H(expected)


# --- Files ------------------------------------------------------------------------------------------------------------


def written(folder, table: pa.Table) -> dict[str, str]:
    """The same table in every format of every writer."""
    frame, relation = pl.from_arrow(table), in_duckdb(table)
    paths = {name: str(folder / name.replace(" ", "_")) for name in WRITERS}
    pq.write_table(table, paths["pyarrow parquet"], row_group_size=3)
    pq.write_table(table, paths["pyarrow parquet 1.0"], version="1.0", store_schema=False, use_dictionary=False)
    with pa.ipc.new_file(paths["pyarrow ipc file"], table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(paths["pyarrow ipc stream"], table.schema, options=options) as writer:
        writer.write_table(table)
    pyarrow.feather.write_feather(table, paths["pyarrow feather"], compression="zstd")
    frame.write_parquet(paths["polars parquet"], compression="snappy", row_group_size=2)
    frame.write_ipc(paths["polars ipc file"], compression="zstd")
    frame.write_ipc_stream(paths["polars ipc stream"])
    relation.write_parquet(paths["duckdb parquet"], compression="gzip")
    return paths


WRITERS = (
    *("pyarrow parquet", "pyarrow parquet 1.0", "pyarrow ipc file", "pyarrow ipc stream", "pyarrow feather"),
    *("polars parquet", "polars ipc file", "polars ipc stream", "duckdb parquet"),
)


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_files_of_every_writer_agree(tmp_path, rows):
    table = WITH_STRUCTS.slice(0, rows)
    paths = written(tmp_path, table)
    found = {name: ad.hash_file(path) for name, path in paths.items()}
    assert {name: hashes.logical for name, hashes in found.items()} == dict.fromkeys(WRITERS, H(table))
    assert {hashes.row_count for hashes in found.values()} == {rows}
    assert len({hashes.physical for hashes in found.values()}) == len(
        {Path(path).read_bytes() for path in paths.values()}
    )


def test_files_of_every_writer_agree_on_many_rows(tmp_path):
    table = pa.concat_tables([WITH_STRUCTS] * 5000).combine_chunks()
    expected = H(table)
    frame, paths = pl.from_arrow(table), [tmp_path / name for name in ("pq", "pl", "duck")]
    pq.write_table(table, paths[0], row_group_size=1013)
    frame.write_parquet(paths[1])
    in_duckdb(table).write_parquet(str(paths[2]))
    assert [H(path) for path in paths] == [expected] * 3


def test_rows_that_the_parquet_reader_loses_give_no_hash(tmp_path):
    """pyarrow drops the last list of a row group whose pages hold one value each, without a word."""
    table = pa.table({"l": [[1, None], None, [], [2]]})
    pq.write_table(table, tmp_path / "t.parquet", data_page_size=1, row_group_size=3)
    if pq.read_table(tmp_path / "t.parquet").num_rows == table.num_rows:
        assert H(tmp_path / "t.parquet") == H(table)
        return
    with pytest.raises(
        ad.UnreadableError, match=r"column l.list.element, row group 1.*1 rows, its pages hold 0"
    ) as caught:
        H(tmp_path / "t.parquet")
    assert caught.value.rule == "row_count"


def parquet_type(table: pa.Table, folder, **options: Any) -> tuple[pa.DataType, bool]:
    """The type of the only column after Parquet, and whether the hash is the same."""
    path = folder / "t.parquet"
    pq.write_table(table, path, **options)
    return pq.read_schema(path).field(0).type, H(path) == H(table)


def test_types_that_parquet_does_not_keep_change_the_hash(tmp_path):
    """The one list of what a file makes of a type. arrow0 hashes the type, so a file of another is another hash."""

    def column(t: pa.DataType, *values: Any) -> pa.Table:
        return pa.table({"c": pa.array(values or [0, 1], t)})

    no_schema, old = {"store_schema": False}, {"version": "1.0"}
    us_offset = column(pa.timestamp("us", "+00:00"))
    nanoseconds = column(pa.timestamp("ns"), 1_000_000, None)
    narrow = pa.table({"c": pa.array([1, None]).cast(pa.int32()).cast(pa.decimal128(12, 2)).cast(pa.decimal32(7, 2))})
    changes = [
        (column(pa.timestamp("s")), {}, pa.timestamp("ms")),
        (column(pa.time32("s")), {}, pa.time32("ms")),
        (column(pa.date64(), 0, 86_400_000), {}, pa.date32()),
        (nanoseconds, old, pa.timestamp("us")),
        (nanoseconds.slice(0, 0), old, pa.timestamp("us")),
        (us_offset, no_schema, pa.timestamp("us", "UTC")),
        (column(pa.timestamp("us", "Europe/Berlin")), no_schema, pa.timestamp("us", "UTC")),
        (column(pa.uint32(), 1, 2**32 - 1), old, pa.int64()),
        (narrow, no_schema, pa.decimal128(7, 2)),
    ]
    for table, options, changed in changes:
        assert parquet_type(table, tmp_path, **options) == (changed, False)
    keeps = [
        (nanoseconds, {}),
        (nanoseconds.slice(0, 0), {}),
        (us_offset, {}),
        (column(pa.uint32(), 1, 2**32 - 1), {}),
        (narrow, {}),
        (column(pa.timestamp("us", "UTC")), no_schema),
        (column(pa.float16(), 1.0, None), {}),
        (column(pa.decimal256(60, 5), 1, None), {}),
    ]
    for table, options in keeps:
        assert parquet_type(table, tmp_path, **options) == (table.schema.field(0).type, True)


def test_types_that_other_libraries_do_not_keep_change_the_hash():
    """polars and DuckDB have fewer types than Arrow; what they hold of another type is another hash."""

    def column(t: pa.DataType) -> pa.Table:
        return pa.table({"c": pa.array([0, None], t)})

    changes = [
        (pl.from_arrow, pa.timestamp("s"), pa.timestamp("ms")),
        (pl.from_arrow, pa.date64(), pa.timestamp("ms")),
        (pl.from_arrow, pa.time32("s"), pa.time64("ns")),
        (in_duckdb, pa.date64(), pa.date32()),
        (in_duckdb, pa.time32("s"), pa.time64("us")),
    ]
    for into, before, after in changes:
        assert H(into(column(before))) == H(column(after)) != H(column(before)), (into, before)
