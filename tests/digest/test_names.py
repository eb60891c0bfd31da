"""Column names are bytes at a level: doubled, empty, dotted, and in any form of Unicode."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest as ad
from helpers import ipc_bytes

H = ad.logical_hash


def test_columns_of_one_name_are_told_apart_by_their_place(tmp_path):
    def two(x: list[int], y: list[int]) -> pa.Table:
        return pa.Table.from_arrays([pa.array(x), pa.array(y)], names=["v", "v"])

    table = two([1, 2], [3, 4])
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.arrows").write_bytes(ipc_bytes.write(table))
    assert H(tmp_path / "t.parquet") == H(tmp_path / "t.arrows") == H(table) != H(two([3, 4], [1, 2]))
    assert [column.path for column in ad.hash_file(tmp_path / "t.parquet").columns] == [("v",), ("v",)]
    inner = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["v", "v"])
    swapped = pa.StructArray.from_arrays([pa.array([2]), pa.array([1])], ["v", "v"])
    assert H(pa.table({"c": inner})) != H(pa.table({"c": swapped}))


def test_names_are_not_normalised():
    names = ["é", "e\u0301", "E", "e", "", " ", "\0", "a\0b", "a", "名前", "x" * 300]
    assert len({H(pa.table({name: [1]})) for name in names}) == len(names)


def test_a_dot_in_a_name_is_no_nesting():
    nested = pa.table({"a": pa.array([{"b": 1}])})
    dotted = pa.table({"a.b": [1]})
    assert H(dotted) != H(nested)
    digests = [ad.RecordDigest(table.schema) for table in (dotted, nested)]
    assert [digest.columns()[0].path for digest in digests] == [("a.b",), ("a", "b")]
    with pytest.raises(ad.SchemaMismatchError) as caught:
        digests[0].update(nested)
    assert '"a.b"' in str(caught.value)


def test_the_level_of_a_name_counts():
    """The same names depth first, at other levels."""
    one = pa.table({"a": pa.array([{"b": 1, "c": 2}])})
    other = pa.table({"a": pa.array([{"b": 1}]), "c": [2]})
    deep = pa.table({"a": pa.array([{"b": 1, "c": 2}], pa.struct([("b", pa.int64()), ("c", pa.int64())]))})
    assert len({H(one), H(other)}) == 2
    assert H(deep) == H(one)


NOT_UTF8 = b"\xff\xfe"


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        (pa.schema([pa.field("ok", pa.int8()), pa.field(NOT_UTF8, pa.int64())]), ("#1",)),
        (pa.schema([pa.field("c", pa.struct([pa.field(NOT_UTF8, pa.int64())]))]), ("c", "#0")),
        (pa.schema([pa.field(NOT_UTF8, pa.struct([pa.field(NOT_UTF8, pa.int64())]))]), ("#0",)),
    ],
    ids=["column", "field", "both"],
)
def test_a_name_that_is_not_utf8_is_refused_by_its_place(tmp_path, schema, path):
    batch = pa.RecordBatch.from_arrays([pa.nulls(0, schema.field(i).type) for i in range(len(schema))], schema=schema)
    (tmp_path / "t.arrows").write_bytes(ipc_bytes.write([batch]))
    for data in (batch, tmp_path / "t.arrows"):
        with pytest.raises(ad.UnsupportedTypeError, match="not UTF-8") as caught:
            H(data)
        assert (caught.value.path, caught.value.rule) == (path, "name")


def test_a_zone_that_is_not_utf8_is_refused_by_its_column(tmp_path):
    whole = ipc_bytes.write(pa.table({"ok": [1], "c": pa.array([1], pa.timestamp("s", "Europe/Berlin"))}))
    path = tmp_path / "t.arrows"
    path.write_bytes(whole.replace(b"Europe/Berlin", b"Europe/\xff\xferlin"))
    with pytest.raises(ad.UnsupportedTypeError, match="time zone is not UTF-8") as caught:
        H(path)
    assert (caught.value.path, caught.value.rule) == (("c",), "time_zone")
    with pytest.raises(ad.UnsupportedTypeError):
        ad.ArrayDigest(pa.ipc.open_stream(path).schema.field("c").type)


@pytest.mark.parametrize("folder", ["day=2024-01-01", "x=9"])
def test_the_place_of_a_file_is_no_part_of_it(tmp_path, folder):
    table = pa.table({"x": [1, 2]})
    (tmp_path / folder).mkdir()
    places = [tmp_path / folder / "p.parquet", tmp_path / "p.parquet", tmp_path / folder / "other suffix.txt"]
    for place in places:
        pq.write_table(table, place)
    assert {H(place) for place in places} == {H(table)}
    assert H(str(places[0])) == H(table)


def test_encodings_and_lists_nested_too_deep_are_refused():
    nested, coded = pa.int8(), pa.array([1], pa.int8())
    for _ in range(200):
        nested = pa.list_(nested)
        coded = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), coded)
    mixed = pa.int8()
    for _ in range(60):
        mixed = pa.list_(pa.dictionary(pa.int8(), pa.dictionary(pa.int8(), mixed)))
    structs = pa.int8()
    for _ in range(200):
        structs = pa.struct([("s", structs)])
    for t in (nested, coded.type, mixed, structs):
        with pytest.raises(ad.UnsupportedTypeError, match="nested deeper") as caught:
            ad.RecordDigest(pa.schema([("c", t)]))
        assert caught.value.rule == "depth"
    with pytest.raises(ad.UnsupportedTypeError, match="nested deeper"):
        H(pa.table({"c": coded}))


def test_nesting_up_to_what_arrow_allows_in_files_is_hashed():
    value, array = 7, pa.array([7], pa.int8())
    structs = array
    for _ in range(60):
        value, array = [value], pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array)
        structs = pa.StructArray.from_arrays([structs], ["s"])
    digest = ad.RecordDigest(pa.schema([("l", array.type), ("st", structs.type)]))
    digest.update(pa.record_batch([array, structs], names=["l", "st"]))
    assert [len(column.path) for column in digest.columns()] == [1, 61]
    expected = ad.functions.digest_function("sha3-256").new()
    expected.update(b"\x0b\0" * 60 + b"\1\0\1" + (8).to_bytes(8, "little") + (1).to_bytes(8, "little") * 60 + b"\7")
    assert digest.columns()[0].digest == expected.digest()


def in_list(array):
    return pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array)


def in_list_view(array):
    return pa.ListViewArray.from_arrays(pa.array([0], pa.int32()), pa.array([1], pa.int32()), array)


def in_struct(array):
    return pa.StructArray.from_arrays([array], ["s"])


def in_dictionary(array):
    return pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), array)


def in_runs(array):
    data_type = pa.run_end_encoded(pa.int16(), array.type)
    return pa.Array.from_buffers(data_type, 1, [None], children=[pa.array([1], pa.int16()), array])


def in_extension(array):
    return pa.ExtensionArray.from_storage(pa.opaque(array.type, "kind", "vendor"), array)


# Innermost first. A struct may stand in no list, so structs come last.
LEVELS = {
    "lists": [in_list],
    "list views": [in_list_view],
    "structs": [in_struct],
    "dictionaries": [in_dictionary],
    "extensions": [in_extension],
    "lists in structs": [*[in_list] * 64, *[in_struct] * 64],
    "one list in structs": [in_list, *[in_struct] * 127],
    "dictionaries of lists": [in_list, in_dictionary],
    "runs of lists": [in_list, in_runs],
    "runs of dictionaries": [in_dictionary, in_runs],
    "extensions of lists of runs": [in_list, in_runs, in_extension],
    "dictionaries of structs": [in_struct, in_dictionary],
    "runs of structs": [in_struct, in_runs],
    "extensions of structs": [in_struct, in_extension],
    "all but lists": [in_struct, in_dictionary, in_runs, in_extension],
    "everything": [*[in_list, in_dictionary, in_runs, in_extension] * 16, *[in_struct, in_runs, in_extension] * 30],
}


@pytest.mark.parametrize("name", LEVELS)
def test_every_encoding_extension_list_and_struct_counts_as_a_level_and_so_does_what_is_inside(name):
    array = pa.array([7], pa.int8())
    for number in range(127):
        array = LEVELS[name][number % len(LEVELS[name])](array)
    digest = ad.RecordDigest(pa.schema([("c", array.type)]))
    digest.update(pa.table({"c": array}))
    (column,) = digest.columns()
    lists = sum(LEVELS[name][number % len(LEVELS[name])] in (in_list, in_list_view) for number in range(127))
    assert [column.null_count, ad.explain(pa.table({"c": array}), byte_count=2000).columns[0].first_bytes] == [
        0,
        (1).to_bytes(8, "little") * lists + b"\7",
    ]
    one_more = LEVELS[name][127 % len(LEVELS[name])](array)
    for refuse in (lambda: ad.RecordDigest(pa.schema([("c", one_more.type)])), lambda: H(pa.table({"c": one_more}))):
        with pytest.raises(ad.UnsupportedTypeError, match="nested deeper") as caught:
            refuse()
        assert caught.value.rule == "depth"
    if lists == 127:
        with pytest.raises(ad.UnsupportedTypeError, match="nested deeper"):
            ad.ArrayDigest(one_more.type)
