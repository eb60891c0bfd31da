"""What exports no records is refused with the way to them."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from arrow_digest import RecordDigest, UnsupportedTypeError, logical_hash

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
TABLE = pa.table({"a": [1, 2]})


@pytest.mark.parametrize(
    "array",
    [pa.array([1]), pa.chunked_array([[1], [2]]), pd.Series([1]), pl.Series([1])],
    ids=lambda a: type(a).__name__,
)
def test_one_array_is_no_records_though_its_type_has_an_encoding(array):
    with pytest.raises(UnsupportedTypeError) as caught:
        logical_hash(array)
    assert str(caught.value) == "expected records, found one array of int64: ArrayDigest takes those"
    assert (caught.value.rule, caught.value.path) == ("records", ())


def dask_frame():
    """An object as Dask's are, for which the whole of Dask would have to be there."""
    return type("DataFrame", (), {"__module__": "dask.dataframe", "compute": lambda _: TABLE, "__array__": None})()


def spark_frame():
    members = {"__module__": "pyspark.sql", "collect": lambda _: [], "toArrow": lambda _: TABLE}
    return type("DataFrame", (), members)()


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda _: pl.DataFrame({"a": [1]}).lazy(), r"LazyFrame of polars: give its collect\(\)"),
        (lambda _: dask_frame(), r"DataFrame of dask: give its compute\(\)"),
        (lambda _: spark_frame(), r"DataFrame of pyspark: give its toArrow\(\)"),
        (pyarrow.dataset.dataset, r"FileSystemDataset of pyarrow: give its scanner\(\).to_reader\(\)"),
        (lambda path: pyarrow.dataset.dataset(path).scanner(), r"Scanner of pyarrow: give its to_reader\(\)"),
        (pq.ParquetFile, r"ParquetFile of pyarrow: give its path, or its read\(\)"),
        (lambda _: io.BytesIO(), "BytesIO of io: give its path, or what pyarrow.parquet.read_table"),
        (lambda _: pa.BufferReader(b""), "BufferReader of pyarrow: give its path, or what pyarrow.parquet.read_table"),
        (lambda _: TABLE.to_batches(), r"list: give pyarrow.Table.from_batches\(\)"),
        (lambda _: iter(TABLE.to_batches()), r"list_iterator: give pyarrow.Table.from_batches\(\)"),
        (lambda _: {"a": [1]}, r"dict: give pyarrow.table\(\) of it"),
        (lambda _: np.zeros((2, 2)), r"ndarray of numpy: give pyarrow.table\(\) of it, with names"),
        (lambda path: str(path).encode(), r"bytes: give a path as text, as os.fsdecode\(\) makes it"),
        (lambda _: TABLE.schema, "Schema of pyarrow$"),
        (lambda _: 3, "int$"),
        (lambda _: None, "NoneType$"),
    ],
)
def test_an_object_without_records_is_named_with_the_way_to_them(make, found, tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    data = make(tmp_path / "t.parquet")
    with pytest.raises(TypeError, match=f"expected a path or an object that exports Arrow records, found {found}"):
        logical_hash(data)
    with pytest.raises(TypeError, match="exports Arrow records"):
        RecordDigest(TABLE.schema).update(data)


@pytest.mark.parametrize("records", [TABLE, TABLE.to_batches()[0], pl.DataFrame({"a": [1]})])
def test_a_digest_of_records_wants_their_schema_first(records):
    with pytest.raises(TypeError, match=r"expected a schema, found records \(\w+\): give their schema, then update"):
        RecordDigest(records)


def test_a_name_that_is_not_utf8_says_nothing_against_the_type():
    schema = pa.schema([pa.field(b"\xff", pa.int8())])
    with pytest.raises(UnsupportedTypeError) as caught:
        logical_hash(pa.RecordBatch.from_arrays([pa.array([1], pa.int8())], schema=schema))
    assert str(caught.value).startswith("column #0: its name is not UTF-8")
