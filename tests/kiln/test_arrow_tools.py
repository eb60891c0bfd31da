"""What other tools make of a Kiln column, and how it is recovered where they lose the type."""

from __future__ import annotations

import io

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest
import kiln_arrow
from kiln_arrow import TensorsType, from_storage, to_numpy

STORAGES = [pa.binary(), pa.large_binary(), pa.binary_view()]


def table(storage=None):
    column = kiln_arrow.from_numpy({"x": np.arange(6).reshape(3, 2)}, type=TensorsType(storage or pa.binary()))
    return pa.table({"id": [1, 2, 3], "c": column})


def test_pandas_gets_bytes_and_leads_back():
    frame = table().to_pandas()
    assert isinstance(frame["c"][0], bytes)
    again = from_storage(pa.Table.from_pandas(frame), ["c"])
    assert again["c"].equals(table()["c"])
    assert kiln_arrow.array(frame["c"]).equals(table()["c"].chunk(0))


@pytest.mark.parametrize("storage", STORAGES[:2], ids=str)
def test_pandas_keeps_the_type_as_an_arrow_dtype(storage):
    frame = table(storage).to_pandas(types_mapper=pd.ArrowDtype)
    assert pa.Table.from_pandas(frame)["c"].equals(table(storage)["c"])
    assert to_numpy(frame["c"])["x"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert to_numpy(frame["c"][frame["id"] > 1])["x"].tolist() == [[2, 3], [4, 5]]
    file = io.BytesIO()
    frame.to_parquet(file)
    assert pq.read_table(file)["c"].type == TensorsType(storage)
    assert hash(frame["c"].dtype) == hash(pd.ArrowDtype(TensorsType(storage)))


def test_polars_keeps_the_type():
    frame = pl.from_arrow(table())
    for found in (frame, frame.filter(pl.col("id") < 9), frame.join(frame.select("id"), on="id")):
        again = found.to_arrow()
        assert again["c"].type.extension_name == "kiln.tensors"
        assert to_numpy(again["c"])["x"].tolist() == [[0, 1], [2, 3], [4, 5]]
    file = io.BytesIO()
    frame.write_parquet(file)
    assert to_numpy(pq.read_table(file)["c"])["x"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert to_numpy(frame["c"])["x"].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_duckdb_keeps_the_bytes_and_they_lead_back():
    t = table()  # noqa: F841  # duckdb finds it by its name
    found = duckdb.sql("select * from t where id > 1").to_arrow_table()
    assert found["c"].type == pa.binary()
    assert to_numpy(from_storage(found, ["c"])["c"])["x"].tolist() == [[2, 3], [4, 5]]


def test_a_logical_hash_does_not_depend_on_storage_chunks_or_writer():
    cells = [{"x": np.arange(3)}, None, {}, {"y": np.ones((2, 2))}] * 5
    expected = None
    for storage in STORAGES:
        column = kiln_arrow.array(cells, type=TensorsType(storage))
        chunked = pa.chunked_array([column.slice(0, 7), column.slice(7, 0), column.slice(7)])
        for part in (column, chunked):
            t = pa.table({"c": part})
            found = [arrow_digest.logical_hash(t)]
            for options in (
                {},
                {"compression": "zstd", "row_group_size": 3},
                {"compression": {"c": "snappy"}, "data_page_size": 64},
                {"version": "1.0", "data_page_version": "2.0"},
                {"write_statistics": ["c"], "use_dictionary": ["c"]},
            ):
                file = io.BytesIO()
                kiln_arrow.write_table(t, file, **options)
                found.append(arrow_digest.logical_hash(pq.read_table(file)))
            expected = expected or found[0]
            assert set(found) == {expected}
