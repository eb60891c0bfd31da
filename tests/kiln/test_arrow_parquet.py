"""Parquet and IPC files: round trips, writer settings, plain storage and back."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import kiln_arrow
from kiln_arrow import KilnError, TensorsType, from_storage, to_storage, write_table

# What is in a map is plain bytes when this pyarrow reads it from Parquet.
FORGETS_MAPS = int(pa.__version__.partition(".")[0]) < 26

STORAGES = [pa.binary(), pa.large_binary(), pa.binary_view()]
every_storage = pytest.mark.parametrize("storage", STORAGES, ids=str)


def columns(storage):
    cells = kiln_arrow.array([{"x": np.arange(3)}, None, {}, {"y": np.ones((2, 2))}], type=TensorsType(storage))
    frames = kiln_arrow.array(
        [{"id": 1}, None, {"id": 2}, {"id": 3}], type=kiln_arrow.FrameType("struct{id:i64,}", storage)
    )
    return {
        "flat": cells,
        "frames": frames,
        "nulls": kiln_arrow.array([None] * 3, type=TensorsType(storage)),
        "empty": cells.slice(0, 0),
        "slice": cells.slice(1, 2),
        "list": pa.ListArray.from_arrays([0, 2, 2, 4], cells),
        "large_list": pa.LargeListArray.from_arrays([0, 2, 2, 4], cells),
        "struct": pa.StructArray.from_arrays([cells, pa.array(list("abcd"))], ["f", "g"]),
        "map": pa.MapArray.from_arrays([0, 1, 4], pa.array(list("abcd")), cells),
        "fixed": pa.FixedSizeListArray.from_arrays(cells, 2),
        "deep": pa.ListArray.from_arrays([0, 1, 4], pa.StructArray.from_arrays([frames], ["f"])),
    }


def written(table, **options):
    file = io.BytesIO()
    write_table(table, file, **options)
    return file


def ipc(table):
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_file(sink.getvalue()).read_all()


@every_storage
@pytest.mark.parametrize("kind", columns(pa.binary()))
def test_a_column_survives_files(kind, storage):
    column = columns(storage)[kind]
    table = pa.table({"c": column, "n": range(len(column))})
    if kind == "deep" and storage == pa.binary_view():
        assert ipc(table).equals(table)  # to Parquet pyarrow does not write these
        return
    plain = io.BytesIO()
    pq.write_table(table, plain)
    assert ipc(table).equals(table)
    for found in (pq.read_table(written(table)), pq.read_table(plain)):
        if kind == "map" and FORGETS_MAPS:
            column = columns(pa.binary())["map"]
            table = pa.table({"c": column, "n": range(len(column))})
            found = from_storage(found, {"c": column.type})
        assert found.schema.equals(table.schema)
        assert found.equals(table)
        kiln_arrow.validate_column(found["c"])


@pytest.mark.parametrize("kind", ["flat", "list", "large_list", "struct", "map", "deep", "frames"])
def test_cells_are_uncompressed_and_without_dictionary_and_statistics(kind):
    column = columns(pa.binary())[kind]
    metadata = pq.ParquetFile(written(pa.table({"c": column, "n": range(len(column))}))).metadata
    group = metadata.row_group(0)
    leaves = {group.column(index).path_in_schema: group.column(index) for index in range(group.num_columns)}
    for path, leaf in leaves.items():
        is_cells = path != "n" and not path.endswith((".g", ".key"))
        assert leaf.compression == ("UNCOMPRESSED" if is_cells else "SNAPPY"), path
        assert leaf.is_stats_set != is_cells, path
        assert any("DICTIONARY" in encoding for encoding in leaf.encodings) != is_cells, path


def test_what_is_asked_for_other_columns_and_for_cells_by_name_holds():
    table = pa.table({"c": columns(pa.binary())["flat"], "n": range(4), "s": list("abcd")})
    group = pq.ParquetFile(
        written(table, compression="zstd", compression_level=3, use_dictionary=["s"])
    ).metadata.row_group(0)
    assert [group.column(i).compression for i in range(3)] == ["UNCOMPRESSED", "ZSTD", "ZSTD"]
    assert [any("DICTIONARY" in e for e in group.column(i).encodings) for i in range(3)] == [False, False, True]
    group = pq.ParquetFile(written(table, compression={"c": "zstd"}, write_statistics=["c"])).metadata.row_group(0)
    assert group.column(0).compression == "ZSTD"
    assert group.column(0).is_stats_set
    encoded = written(table, use_dictionary=False, column_encoding={"n": "DELTA_BINARY_PACKED"}, compression=None)
    assert pq.read_table(encoded).equals(table)
    assert pq.read_table(written(table, column_encoding={"n": "DELTA_BINARY_PACKED"})).equals(table)
    assert pq.read_table(written(table.select(["n"]))).equals(table.select(["n"]))


@pytest.mark.parametrize(("bytes_", "groups"), [(320 * 2 + 40, [2, 2, 1]), (1, [1] * 5), (1 << 20, [5])])
def test_row_groups_are_cut_by_bytes(bytes_, groups, monkeypatch):
    monkeypatch.setattr("kiln_arrow.files.parquet.ROW_GROUP_BYTES", bytes_)
    table = pa.table({"c": kiln_arrow.from_numpy({"x": np.zeros((5, 3))}), "n": range(5)})
    file = written(table)
    metadata = pq.ParquetFile(file).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == groups
    assert pq.read_table(file).equals(table)
    lists = pa.table({"l": pa.ListArray.from_arrays([0, 1, 1, 4, 5], table["c"].chunk(0))})
    assert pq.read_table(written(lists)).equals(lists)


def test_row_groups_are_cut_by_rows_too():
    table = pa.table({"n": range(5), "c": kiln_arrow.from_numpy({"x": np.zeros((5, 3))})})
    metadata = pq.ParquetFile(written(table, row_group_size=2)).metadata
    assert [metadata.row_group(i).num_rows for i in range(3)] == [2, 2, 1]
    with pytest.raises(ValueError, match="row_group_size"):
        written(table, row_group_size=0)


@pytest.mark.parametrize(
    ("items", "others", "options", "expected"),
    [
        (200, 8, {}, 256 << 20),
        (200, 200, {}, None),  # as large as an eighth of the cells
        (50, 8, {}, None),  # cells under a kilobyte
        (200, 8, {"data_page_size": 4096}, 4096),
        (200, 8, {"compression": "zstd"}, 256 << 20),  # the cells are not compressed
        (200, 8, {"compression": {"c": "zstd"}}, None),
        (200, 8, {"compression": {"c": "none"}}, 256 << 20),
    ],
)
def test_pages_are_as_large_as_row_groups_where_large_cells_are_nearly_all(
    items, others, options, expected, monkeypatch
):
    settings = []

    class Spy(pq.ParquetWriter):
        def __init__(self, where, schema, **given):
            settings.append(given)
            super().__init__(where, schema, **given)

    monkeypatch.setattr(pq, "ParquetWriter", Spy)
    cells = kiln_arrow.from_numpy({"x": np.zeros((10, items))})
    table = pa.table({"c": cells, "n": pa.array([b"x" * others] * 10)})
    file = written(table, **options)
    assert settings[-1].get("data_page_size") == expected
    assert pq.read_table(file) == table


def test_a_cell_that_parquet_cannot_hold_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("kiln_arrow.files.parquet.LIMIT", 100)
    cells = kiln_arrow.array([{}, {}, {"x": np.arange(3)}])
    table = pa.table(
        {"l": pa.chunked_array([pa.ListArray.from_arrays([0, 1], cells), pa.ListArray.from_arrays([0, 1, 3], cells)])}
    )
    with pytest.raises(KilnError) as caught:
        write_table(table, tmp_path / "t.parquet")
    assert (caught.value.rule, caught.value.row, caught.value.path) == ("size", 2, "l.element")
    assert list(tmp_path.iterdir()) == []


def test_a_cell_of_two_gib_is_refused_before_anything_is_written(tmp_path):
    # Memory that is never touched but for its offsets.
    data = pa.py_buffer(np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (64,), (1,)))
    offsets = pa.py_buffer(np.array([0, 64, 64 + (1 << 31)], np.int64))
    huge = pa.foreign_buffer(data.address, 64 + (1 << 31), data)  # only its length is looked at
    column = TensorsType(pa.large_binary()).wrap_array(
        pa.Array.from_buffers(pa.large_binary(), 2, [None, offsets, huge])
    )
    with pytest.raises(KilnError, match="2 GiB") as caught:
        write_table(pa.table({"c": column}), tmp_path / "t.parquet")
    assert (caught.value.rule, caught.value.row) == ("size", 1)
    assert list(tmp_path.iterdir()) == []


def test_nothing_half_written_is_left(tmp_path):
    table = pa.table({"c": columns(pa.binary())["flat"]})
    good = tmp_path / "good.parquet"
    write_table(table, good)
    with pytest.raises((OSError, ValueError, TypeError)):
        write_table(table, good, version="9.9")
    assert pq.read_table(good).equals(table)

    class Failing(pq.ParquetWriter):
        def write_table(self, *args, **kwargs):
            super().write_table(*args, **kwargs)
            raise OSError("disk full")

    original, pq.ParquetWriter = pq.ParquetWriter, Failing
    try:
        with pytest.raises(OSError, match="disk full"):
            write_table(table, tmp_path / "bad.parquet")
    finally:
        pq.ParquetWriter = original
    assert not (tmp_path / "bad.parquet").exists()


@every_storage
def test_a_dataset_scans_projects_and_filters_on_other_columns(storage, tmp_path):
    column = kiln_arrow.from_numpy({"x": np.arange(10)}, type=TensorsType(storage))
    write_table(pa.table({"n": range(10), "c": column}), tmp_path / "t.parquet", row_group_size=3)
    dataset = ds.dataset(tmp_path, format="parquet")
    with pytest.raises(pa.ArrowNotImplementedError):
        dataset.to_table(filter=ds.field("c") == b"")
    assert kiln_arrow.to_numpy(dataset.to_table(columns=["c"])["c"])["x"].tolist() == list(range(10))
    assert kiln_arrow.to_numpy(dataset.head(4)["c"])["x"].tolist() == [0, 1, 2, 3]
    if storage != pa.binary_view():  # which pyarrow cannot filter
        assert kiln_arrow.to_numpy(dataset.to_table(filter=ds.field("n") > 6)["c"])["x"].tolist() == [7, 8, 9]
        found = (
            dataset.to_table(filter=ds.field("c").cast(storage) == column[4].value) if storage == pa.binary() else None
        )
        assert found is None or found["n"].to_pylist() == [4]


@every_storage
@pytest.mark.parametrize("kind", columns(pa.binary()))
def test_plain_storage_and_back_copies_nothing(kind, storage):
    column = columns(storage)[kind]
    table = pa.table(
        {"c": pa.chunked_array([column, column.slice(1)], column.type), "n": range(2 * len(column) - bool(len(column)))}
    )
    table = table.replace_schema_metadata({"k": "v"})
    plain = to_storage(table)
    assert "kiln" not in str(plain.schema)
    assert plain.schema.metadata == {b"k": b"v"}
    again = from_storage(plain, {"c": column.type})
    assert again.schema.equals(table.schema, check_metadata=True)
    assert again.equals(table)
    if len(column):
        addresses = [[b and b.address for b in t["c"].chunk(0).buffers()] for t in (table, plain, again)]
        assert addresses[0] == addresses[1] == addresses[2]
    batch = (
        to_storage(table.combine_chunks().to_batches()[0])
        if len(column)
        else to_storage(pa.record_batch([column], ["c"]))
    )
    assert isinstance(batch, pa.RecordBatch)


def test_zero_chunks_go_through():
    table = pa.table({"c": pa.chunked_array([], TensorsType())})
    assert from_storage(to_storage(table), ["c"]).equals(table)


@pytest.mark.parametrize("kind", ["flat", "frames", "list", "struct", "map", "deep"])
def test_the_metadata_that_a_reader_without_the_types_leaves_leads_back(kind):
    column = columns(pa.binary())[kind]
    table = pa.table({"c": column})
    file = written(table)
    kiln_arrow.unregister()
    try:
        plain = pq.read_table(file)
        rewritten = io.BytesIO()
        pq.write_table(plain.rename_columns(["d"]), rewritten)
    finally:
        kiln_arrow.register()
    if kind == "map" and FORGETS_MAPS:
        assert from_storage(plain, {"c": column.type}).equals(table)
        return
    assert "kiln_arrow" not in str(plain.schema.field("c").type)
    assert from_storage(plain, ["c"]).equals(table)
    assert "ARROW:extension" not in str(from_storage(plain, "c").schema)
    assert pq.read_table(rewritten)["d"].equals(table["c"])


def test_a_lost_schema_leads_back_by_name_and_type():
    table = pa.table({"c": columns(pa.large_binary())["flat"], "f": columns(pa.binary())["frames"]})
    found = pq.read_table(written(table, store_schema=False))
    frame_type = table["f"].type
    again = from_storage(from_storage(found, ["c"]), {"f": frame_type})
    assert again["c"].type == TensorsType()
    assert again["c"].to_pylist() == table["c"].to_pylist()
    assert again["f"].equals(table["f"])


def test_foreign_bytes_are_checked_on_the_way_back():
    table = pa.table({"c": pa.chunked_array([[kiln_arrow.encode({})], [None, b"bad"]])})
    with pytest.raises(KilnError) as caught:
        from_storage(table, ["c"])
    assert (caught.value.row, caught.value.path, caught.value.rule) == (2, "c", "eof")


def test_what_cannot_be_a_kiln_column_is_refused():
    table = pa.table({"c": [1], "d": [b""]})
    for wanted in (["c"], {"c": TensorsType()}, {"d": TensorsType(pa.large_binary())}):
        with pytest.raises(KilnError) as caught:
            from_storage(table, wanted)
        assert caught.value.rule == "arrow_type"
    marked = pa.field(
        "d", pa.binary(), metadata={"ARROW:extension:name": "kiln.tensors", "ARROW:extension:metadata": "?"}
    )
    kiln_arrow.unregister()
    try:
        table = pa.Table.from_arrays([pa.array([b""])], schema=pa.schema([marked]))
    finally:
        kiln_arrow.register()
    with pytest.raises(KilnError):
        from_storage(table, ["d"])
    with pytest.raises(KeyError):
        from_storage(table, ["x"])
    with pytest.raises(KeyError):
        from_storage(pa.Table.from_arrays([table["d"], table["d"]], ["d", "d"]), ["d"])


def test_encoded_columns_turn_into_plain_storage_and_back():
    cells = kiln_arrow.array([{"x": np.arange(3)}, {}])
    for column in (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.int8()), cells),
        pa.RunEndEncodedArray.from_arrays([2, 4], cells),
        pa.LargeListViewArray.from_arrays([0, 1, 0, 0], [1, 1, 2, 0], cells),
    ):
        table = pa.table({"c": column})
        plain = to_storage(table)
        assert "kiln" not in str(plain.schema)
        assert from_storage(plain, {"c": column.type}).equals(table)


def test_a_frame_type_has_the_hash_its_cells_bear():
    frame_type = kiln_arrow.FrameType("struct{id:i64,batch:tensors,}")
    assert frame_type.schema_hash == 0xE58AADC7552F0D82


@pytest.mark.parametrize("storage", [pa.binary(), pa.large_binary()], ids=str)
def test_dictionaries_of_cells_come_back_from_ipc_as_bytes_that_can_be_marked_again(storage):
    cells = kiln_arrow.array([{"x": np.arange(3)}, None, {"x": np.arange(2)}], type=TensorsType(storage))
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 1, 0], pa.int8()), cells)
    read = ipc(pa.table({"c": column, "n": range(5)}))
    assert read.schema.field("c").type == pa.dictionary(pa.int8(), storage)
    with pytest.raises(KilnError) as caught:
        kiln_arrow.validate_column(read["c"])
    assert caught.value.rule == "arrow_type"
    again = kiln_arrow.from_storage(read, ["c"])
    kiln_arrow.validate_column(again["c"])
    shapes = [cell and cell["x"].shape for cell in kiln_arrow.iter_tensors(again["c"])]
    assert shapes == [(3,), (2,), None, None, (3,)]
    broken = read.set_column(0, "c", pa.DictionaryArray.from_arrays(pa.array([0] * 5), pa.array([b"KLNT"], storage)))
    with pytest.raises(KilnError):
        kiln_arrow.validate_column(kiln_arrow.from_storage(broken, ["c"])["c"])
