"""One type in its many layouts and encodings has one hash: the situations that other readers got wrong."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import arrow_digest as ad
from helpers.records import column, parquet_takes, through_parquet

H = ad.logical_hash


def buffers(*parts: bytes | np.ndarray | None) -> list[pa.Buffer | None]:
    return [None if part is None else pa.py_buffer(part) for part in parts]


# --- Text and binary --------------------------------------------------------------------------------------------------


def test_every_layout_of_text_is_one_type_and_every_layout_of_binary_another():
    texts = ["a" * 20, None, "b", ""]
    layouts = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string()))
    text_hashes = {H(column(pa.array(texts, t))) for t in layouts}
    pairs = [b"ab", None, b"cd"]
    binary_hashes = {
        H(column(pa.array(pairs, t))) for t in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2))
    }
    assert len(text_hashes) == len(binary_hashes) == 1
    assert H(column(pa.array(["ab"]))) != H(column(pa.array([b"ab"])))


def test_views_over_several_buffers_hash_as_their_text():
    parts = [
        pa.array(["a" * 20, "b"], pa.string_view()),
        pa.array([None, "c" * 40, "d" * 12, "e" * 13], pa.string_view()),
    ]
    joined = pa.concat_arrays(parts).slice(1)
    plain = H(column(pa.array(["b", None, "c" * 40, "d" * 12, "e" * 13], pa.large_string())))
    assert H(column(joined)) == H(through_parquet(column(joined))) == plain


def test_values_of_width_zero_have_a_length_like_any_other():
    empty = pa.array([b"", None, b""], pa.binary(0))
    assert H(column(empty)) == H(column(pa.array([b"", None, b""])))
    digest = ad.RecordDigest(pa.schema([("c", pa.binary(0))]))
    digest.update(column(empty))
    assert digest.columns()[0].null_count == 1
    lists = [pa.array([[], None], t) for t in (pa.list_(pa.int32(), 0), pa.list_(pa.int32()))]
    assert H(column(lists[0])) == H(column(lists[1]))


def test_an_empty_struct_has_a_name_and_no_leaf():
    digest = ad.RecordDigest(pa.schema([("c", pa.struct([]))]))
    digest.update(column(pa.array([{}, None], pa.struct([]))))
    assert digest.columns() == ()
    assert digest.row_count == 2
    assert digest.digest() == H(column(pa.array([{}], pa.struct([])))).digest
    assert digest.digest() != H(pa.table({"d": pa.array([{}], pa.struct([]))})).digest


# --- Lists ------------------------------------------------------------------------------------------------------------


def test_a_list_is_a_list_whatever_its_layout_and_the_name_of_its_items():
    values = [[1, 2], None, [3, 4]]
    types = [
        *(pa.list_(pa.field(name, pa.int64())) for name in ("item", "element", "array", "")),
        pa.list_(pa.field("item", pa.int64(), nullable=False)),
        pa.list_(pa.int64(), 2),
        *(make(pa.int64()) for make in (pa.large_list, pa.list_view, pa.large_list_view)),
    ]
    assert len({H(column(pa.array(values, t))) for t in types}) == 1
    tables = [column(pa.array(values, t)) for t in types[:6]]
    assert {H(through_parquet(table)) for table in tables if parquet_takes(table)} == {H(tables[0])}


def test_list_views_out_of_order_shared_and_overlapping_hash_as_their_lists():
    starts, sizes = pa.array([3, 0, 0, 1, 0], pa.int32()), pa.array([1, 2, 0, 3, 2], pa.int32())
    views = pa.ListViewArray.from_arrays(starts, sizes, pa.array([1, 2, 9, 4]))
    values = [[4], [1, 2], [], [2, 9, 4], [1, 2]]
    assert views.to_pylist() == values
    assert H(column(views)) == H(column(pa.array(values)))


def test_the_items_of_a_fixed_size_list_are_those_of_its_slice():
    lists = pa.FixedSizeListArray.from_arrays(pa.array(range(8)), 2).slice(1, 2)
    assert len(lists.values) == 8
    assert H(column(lists)) == H(column(pa.array([[2, 3], [4, 5]])))


# --- Nulls ------------------------------------------------------------------------------------------------------------


def test_what_lies_under_a_null_does_not_matter():
    validity = bytes([0b11111101])  # with ones in the padding

    def integers(middle: int) -> pa.Array:
        return pa.Array.from_buffers(pa.int32(), 3, buffers(validity, np.array([1, middle, 3], "i4")))

    assert len({H(column(integers(n))) for n in (99, -7, 0)} | {H(column(pa.array([1, None, 3], pa.int32())))}) == 1
    flags = [pa.Array.from_buffers(pa.bool_(), 3, buffers(validity, bytes([bits]))) for bits in (0b101, 0b111, 0xFF)]
    assert {H(column(array)) for array in flags} == {H(column(pa.array([True, None, True])))}


def test_a_null_may_own_bytes_or_items():
    offsets = np.array([0, 1, 4, 5], "i4")
    text = pa.Array.from_buffers(pa.string(), 3, buffers(bytes([0b101]), offsets, b"axyzb"))
    assert H(column(text)) == H(column(pa.array(["a", None, "b"])))
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 3, 4], pa.int32()), pa.array([1, 2, 3, 4]), mask=pa.array([False, True, False])
    )
    assert H(column(lists)) == H(column(pa.array([[1], None, [4]]))) != H(column(pa.array([[1], [], [4]])))


def test_a_null_struct_makes_its_children_null_whatever_they_hold():
    t = pa.struct([("o", pa.struct([("i", pa.int64())]))])
    defaults = pa.array([{"o": {"i": 1}}, {"o": None}], t)
    inner = pa.StructArray.from_arrays([pa.array([1, None], pa.int64())], ["i"], mask=pa.array([False, True]))
    nulls = pa.StructArray.from_arrays([inner], ["o"])
    garbage = pa.StructArray.from_arrays([pa.array([1, 77], pa.int64())], ["i"], mask=pa.array([False, True]))
    above = pa.StructArray.from_arrays(
        [pa.StructArray.from_arrays([pa.array([1, 5])], ["i"])], ["o"], mask=pa.array([False, True])
    )
    forms = [defaults, nulls, pa.StructArray.from_arrays([garbage], ["o"]), above]
    assert len({H(column(form)) for form in forms}) == 1


def test_validity_is_anded_through_every_level():
    """A row is null where the leaf or any struct above it is, in every combination."""
    rows = 64
    bits = [[bool(i >> level & 1) for i in range(rows)] for level in range(6)]

    def masked(level: int, child: pa.Array) -> pa.Array:
        return pa.StructArray.from_arrays([child], ["x"], mask=pa.array(bits[level]))

    leaf = pa.array(range(rows), mask=np.array(bits[0]))
    array = leaf
    for level in range(1, 6):
        array = masked(level, array)
    digest = ad.RecordDigest(pa.schema([("c", array.type)]))
    digest.update(column(array))
    expected = ad.ArrayDigest(pa.int64())
    expected.update(pa.array([0 if i == 0 else None for i in range(rows)], pa.int64()))
    assert digest.columns()[0].digest == expected.digest()
    assert digest.columns()[0].null_count == 63


def test_a_bitmap_that_says_nothing_does_not_matter_and_one_that_lies_is_read_as_pyarrow_reads_it():
    values = np.arange(3, dtype="i4")
    full, none = (pa.Array.from_buffers(pa.int32(), 3, buffers(bitmap, values)) for bitmap in (b"\xff", None))
    assert H(column(full)) == H(column(none))
    lying = pa.Array.from_buffers(pa.int32(), 3, buffers(bytes([0b101]), values), null_count=0)
    assert lying.to_pylist() == [0, 1, 2]
    assert H(column(lying)) == H(column(none))


def test_columns_of_type_null_have_a_rule():
    """One zero byte a row, wherever the type stands; arrow0 has a type encoding for it."""
    assert H(column(pa.nulls(3))) != H(column(pa.nulls(4)))
    assert H(column(pa.nulls(3))) != H(column(pa.array([None] * 3, pa.int8())))
    lists = pa.array([[], [None], None])
    assert lists.type == pa.list_(pa.null())
    assert H(column(lists)) == H(column(lists.cast(pa.large_list(pa.null()))))
    coded = pa.DictionaryArray.from_arrays(pa.array([0, None, 0], pa.int8()), pa.nulls(1))
    assert H(column(coded)) == H(column(pa.nulls(3)))
    assert H(through_parquet(column(pa.nulls(3)))) == H(column(pa.nulls(3)))


# --- Dictionaries and runs --------------------------------------------------------------------------------------------


def test_a_dictionary_per_batch_hashes_as_the_values():
    def batch(values: list[str]) -> pa.RecordBatch:
        return pa.record_batch({"c": pa.array(values).dictionary_encode()})

    table = pa.Table.from_batches([batch(["a", "b"]), batch(["z", "a"])])
    plain = H(column(pa.array(["a", "b", "z", "a"])))
    assert H(table) == plain
    assert H(pa.RecordBatchReader.from_batches(table.schema, table.to_batches())) == plain


@pytest.mark.parametrize("unify", [False, True])
@pytest.mark.parametrize("deltas", [False, True])
def test_replaced_and_grown_dictionaries_in_a_stream_hash_as_the_values(tmp_path, deltas, unify):
    parts = (([0, 1], ["a", "b"]), ([2, 0], ["a", "b", "c"]), ([2, None], ["a", "b", "c"]))
    if not deltas:
        parts = (*parts, ([0, 0], ["q"]))
    arrays = [pa.DictionaryArray.from_arrays(pa.array(i, pa.int8()), pa.array(v)) for i, v in parts]
    values = [value for array in arrays for value in array.to_pylist()]
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas, unify_dictionaries=False)
    path = tmp_path / "t.arrows"
    schema = pa.schema([("c", arrays[0].type)])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, schema, options=options) as writer:
        for array in arrays:
            writer.write_batch(pa.record_batch([array], schema=schema))
    table = pa.Table.from_arrays([pa.chunked_array(arrays)], schema=schema)
    assert H(path) == H(table.unify_dictionaries() if unify else table) == H(column(pa.array(values)))


def test_null_entries_repeated_entries_and_unused_entries_of_a_dictionary_are_encodings():
    values = pa.array(["unused", None, "a", "a"])
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 3], pa.int8()), values)
    assert H(column(coded)) == H(column(pa.array(["a", None, None, "a"])))


@pytest.mark.parametrize("run_ends", [pa.int16(), pa.int32(), pa.int64()], ids=str)
def test_runs_hash_as_the_values_from_any_row(run_ends):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 8, 9, 64, 66], run_ends), pa.array([5, None, 7, None, 9]))
    values = runs.to_pylist()
    for start in (0, 1, 2, 7, 8, 9, 63, 64, 65, 66):
        assert H(column(runs.slice(start))) == H(column(pa.array(values[start:], pa.int64())))
        assert H(column(runs.slice(0, start))) == H(column(pa.array(values[:start], pa.int64())))


def test_an_extension_hashes_as_its_storage():
    uuids = pa.array([b"0123456789abcdef", None], pa.uuid())
    assert H(column(uuids)) == H(column(uuids.storage)) == H(column(uuids.storage.cast(pa.binary())))
    nested = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), uuids)
    assert H(column(nested)) == H(column(pa.array([uuids.storage.to_pylist()])))


# --- Bits -------------------------------------------------------------------------------------------------------------


def test_the_bits_of_floats_count():
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0x7FF0000000000001], "u8")
    nans = pa.array(bits.view("f8"), from_pandas=False)
    assert len({H(column(nans.slice(i, 1))) for i in range(4)}) == 4
    assert H(through_parquet(column(nans))) == H(column(nans))
    assert H(column(pa.array([0.0]))) != H(column(pa.array([-0.0])))
    zeros = pa.array([0.0, -0.0, 0.0])
    for array in (zeros, nans):
        assert H(through_parquet(column(array), use_dictionary=True)) == H(column(array))


def test_dictionaries_of_floats_keep_the_bits():
    zeros = pa.array([0.0, -0.0])
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), zeros)
    assert H(column(coded)) == H(column(pa.array([0.0, -0.0, 0.0])))


def test_half_floats_are_two_bytes():
    halves = column(pa.array(np.array([1, -0.0, np.nan, 65504], "f2")))
    digest = ad.RecordDigest(halves.schema)
    digest.update(halves)
    expected = ad.functions.digest_function("sha3-256").new()
    expected.update(b"\2\0" + (16).to_bytes(8, "little") + np.array([1, -0.0, np.nan, 65504], "f2").tobytes())
    assert digest.columns()[0].digest == expected.digest()
    assert H(halves) == H(through_parquet(halves)) != H(column(pa.array([1, -0.0, np.nan, 65504], pa.float32())))
