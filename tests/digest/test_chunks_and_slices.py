"""How records are cut up, sliced and laid out says nothing; order, and every single cell, does."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest as ad
from arrow_digest.arrays import batches as chunks
from arrow_digest.arrays import joinable
from arrow_digest.rules.arrow0 import portable
from helpers import child
from helpers.files import ipc_stream
from helpers.records import column, parquet_takes, through_parquet

H = ad.logical_hash


ROWS = 300
MANY = pa.table(
    {
        "s": pa.array([None if i % 11 == 5 else f"x{i}" for i in range(ROWS)]),
        "n": pa.array(range(ROWS)),
        "l": pa.array([None if i % 7 == 3 else [i, None, i][: i % 4] for i in range(ROWS)]),
        "t": pa.array([None if i % 5 == 1 else {"p": i % 2 == 0, "q": f"{i}"} for i in range(ROWS)]),
        "d": pa.array([f"k{i % 3}" for i in range(ROWS)]).dictionary_encode(),
        "v": pa.array([f"a view of {i}" * (i % 3) for i in range(ROWS)], pa.string_view()),
    }
)


def test_chunks_of_one_row_and_chunks_that_differ_by_column_hash_alike():
    one_row = pa.concat_tables([MANY.slice(i, 1) for i in range(ROWS)])
    n = MANY["n"].chunk(0)
    mixed = one_row.set_column(1, "n", pa.chunked_array([n[:0], n[:7], n[7:7], n[7:64], n[64:]]))
    assert H(one_row) == H(mixed) == H(MANY)
    assert H(pa.RecordBatchReader.from_batches(MANY.schema, one_row.to_batches())) == H(MANY)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 63, 64, 65])
def test_the_size_of_batches_does_not_matter(rows):
    batches = MANY.to_batches(max_chunksize=rows)
    assert H(pa.Table.from_batches(batches)) == H(MANY)
    digest = ad.RecordDigest(MANY.schema)
    for batch in batches:
        digest.update(batch)
    assert digest.multihash() == H(MANY)


def test_a_readers_batch_size_does_not_matter(tmp_path):
    table = pa.table({"l": [[i] * (i % 3) for i in range(1000)], "s": [None, "x"] * 500})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, row_group_size=77)
    read = {H(pa.Table.from_batches(pq.ParquetFile(path).iter_batches(n))) for n in (1, 7, 64, 1000)}
    assert read | {H(path)} == {H(table)}


@pytest.mark.parametrize(("pieces", "size"), [(1, 1 << 24), (7, 1 << 24), (64, 100), (65, 1 << 10), (1 << 16, 1)])
def test_tiny_chunks_may_be_joined_to_pieces_of_any_size(monkeypatch, pieces, size):
    monkeypatch.setattr(chunks, "_PIECE_ROWS", pieces)
    monkeypatch.setattr(chunks, "_PIECE_BYTES", size)
    one_row = pa.concat_tables([MANY.slice(i, 1) for i in range(ROWS)])
    assert H(one_row) == H(MANY)
    assert H(pa.RecordBatchReader.from_batches(MANY.schema, one_row.to_batches())) == H(MANY)


def test_small_large_and_empty_batches_may_alternate():
    rows = [0, 1, chunks._SMALL_ROWS - 1, chunks._SMALL_ROWS, 0, 2, chunks._SMALL_ROWS + 1, 3, 0]
    numbers = np.arange(sum(rows))
    table = pa.table({"n": numbers, "s": numbers.astype(str)})
    starts = [0, *itertools.accumulate(rows)]
    batches = [
        batch
        for start, count in zip(starts, rows, strict=False)
        for batch in table.slice(start, count).to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    ]
    batches = [pa.record_batch(batch.columns, schema=table.schema) for batch in batches]
    assert H(pa.RecordBatchReader.from_batches(table.schema, batches)) == H(table)


def test_chunks_with_dictionaries_of_their_own_hash_as_their_values():
    """pyarrow joins dictionaries by equality; NaNs and zeros of different bits must not become one."""
    bits = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0, 1 << 63]
    arrays = [pa.array(np.array([b], "u8").view("f8"), from_pandas=False) for b in bits]
    encoded = [pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), array) for array in arrays]
    plain = pa.chunked_array([array.take(pa.array([0, 0])) for array in arrays])
    assert H(column(pa.chunked_array(encoded))) == H(column(plain))
    batches = [pa.record_batch({"c": array}) for array in encoded]
    assert H(pa.RecordBatchReader.from_batches(batches[0].schema, batches)) == H(column(plain))


BITS = pa.array([True, False, None, True, True, False, True, None, False, True, True] * 7)
SLICED = {
    "bits": BITS,
    "integers": pa.array([9, None, 3, 4, None, 6] * 12, pa.int16()),
    "lists": pa.array([[1], None, [2, 3], [], [4]] * 14),
    "list views": pa.array([[1], None, [2, 3], [], [4]] * 14, pa.list_view(pa.int64())),
    "structs": pa.StructArray.from_arrays(
        [pa.array([1, 2, 3, 4, None] * 14), pa.array(["a", None, "b", "", "c"] * 14)],
        ["x", "y"],
        mask=pa.array([False, True, False, False, True] * 14),
    ),
    "lists of text": pa.array([["a", None], None, ["bb"], [], ["", "c"]] * 14),
    "fixed-size lists": pa.array([[1, 2], None, [3, None], [4, 5]] * 18, pa.list_(pa.int64(), 2)),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([9, 30, 33, 70], pa.int16()), pa.array(["a", None, "b", "c"])),
    "dictionary": pa.array(["u", None, "v", "w", "u"] * 14).dictionary_encode(),
    "views": pa.array(["short", None, "a long one, out of line"] * 24, pa.string_view()),
    "null": pa.nulls(70),
}


@pytest.mark.parametrize("name", SLICED)
def test_a_slice_hashes_like_a_fresh_array_at_every_offset(name):
    array = SLICED[name]
    values = array.to_pylist()
    plain = array.type if name not in ("runs", "dictionary") else pa.string()
    for offset, length in itertools.product((0, 1, 2, 3, 7, 8, 9, 63, 64, 65), (0, 1, 2, 4, 5)):
        part = array.slice(offset, length)
        assert H(column(part)) == H(column(pa.array(values[offset : offset + length], plain))), (offset, length)


def test_a_slice_of_a_slice_hashes_like_a_fresh_array():
    structs = SLICED["structs"].slice(3, 40)
    nested = pa.StructArray.from_arrays([structs, SLICED["lists"].slice(5, 40)], ["st", "l"]).slice(7, 20)
    assert H(column(nested)) == H(column(pa.array(nested.to_pylist(), nested.type)))


def test_a_slice_of_fixed_size_lists_over_nulls_keeps_its_place():
    items = pa.array([0, 0, 1, 2, 9, 9, 7, 8])
    lists = pa.FixedSizeListArray.from_arrays(items, 2, mask=pa.array([False, False, True, False])).slice(1)
    assert H(column(lists)) == H(column(pa.array([[1, 2], None, [7, 8]])))
    if parquet_takes(column(lists)):
        assert H(through_parquet(column(lists))) == H(column(lists))


# --- What must change the hash ----------------------------------------------------------------------------------------


def test_the_order_of_rows_and_of_columns_counts():
    assert H(pa.table({"a": [1, 2]})) != H(pa.table({"a": [2, 1]}))
    assert H(pa.table({"a": [1], "b": [2]})) != H(pa.table({"b": [2], "a": [1]}))


@pytest.mark.parametrize("rows", [1, 9, 65, 5000, portable._BLOCK_ROWS + 1])
def test_a_change_of_any_single_cell_is_seen(rows):
    numbers = list(range(rows))
    expected = H(pa.table({"a": numbers, "s": [str(n) for n in numbers]}))
    for place in {0, rows // 2, rows - 1}:
        changed = [*numbers[:place], -1, *numbers[place + 1 :]]
        assert H(pa.table({"a": changed, "s": [str(n) for n in numbers]})) != expected
        assert H(pa.table({"a": numbers, "s": [str(n) for n in changed]})) != expected


def test_rows_more_or_fewer_are_seen():
    assert len({H(pa.table({"a": pa.array([7] * n, pa.int64())})) for n in range(10)}) == 10


# --- Large ones, in a process of their own ----------------------------------------------------------------------------


def test_more_than_two_gibibytes_of_text_in_one_column_hash_in_flat_memory():
    found = child.run(
        """
import blake3, pyarrow as pa
text = "x" * (1 << 20)
shared = pa.array([text])
table = pa.table({"c": pa.chunked_array([shared] * 2100)})
limit(1 << 30)
before = peak()
hash = arrow_digest.logical_hash(table, function="blake3", threads=1)
grown = peak() - before
leaf, value = blake3.blake3(b"\\4\\0"), (1 << 20).to_bytes(8, "little") + text.encode()
for _ in range(2100):
    leaf.update(value)
combined = blake3.blake3((1).to_bytes(8, "little") + b"c" + bytes(8) + leaf.digest())
result = {"hash": hash.digest.hex(), "expected": combined.hexdigest(), "grown": grown}
""",
        seconds=120,
    )
    assert found["hash"] == found["expected"]
    assert found["grown"] < 1 << 28


def test_a_few_huge_rows_among_many_tiny_ones_hash_in_flat_memory():
    found = child.run(
        """
import pyarrow as pa
parts = [pa.array(["x"])] * 20000
for place in range(5, 21):
    parts[place] = pa.array([chr(65 + place) * (1 << 24)])
table = pa.table({"c": pa.chunked_array(parts)})
digest = arrow_digest.RecordDigest(table.schema, function="blake3", threads=1)
for part in parts[:40]:
    digest.update(pa.table({"c": part}))
digest.update(pa.table({"c": ["x"] * (len(parts) - 40)}))
before = peak()
hash = arrow_digest.logical_hash(table, function="blake3", threads=1)
result = {"hash": str(hash), "expected": str(digest.multihash()), "grown": peak() - before}
""",
        seconds=120,
    )
    assert found["hash"] == found["expected"]
    assert found["grown"] < 1 << 27


def test_many_chunks_of_one_row_hash_in_flat_memory():
    found = child.run(
        """
import pyarrow as pa
table = pa.table({f"c{i}": [f"x{i}-{j}" for j in range(25000)] for i in range(10)})
one_row = pa.concat_tables([table.slice(i, 1) for i in range(25000)])
before = peak()
hash = arrow_digest.logical_hash(one_row, threads=1)
result = {"hash": str(hash), "expected": str(arrow_digest.logical_hash(table)), "grown": peak() - before}
""",
        seconds=120,
    )
    assert found["hash"] == found["expected"]
    assert found["grown"] < 1 << 28


@pytest.mark.parametrize(
    "wrap", [lambda c: c, lambda c: pa.StructArray.from_arrays([c], ["x"])], ids=["flat", "struct"]
)
def test_dictionaries_of_half_floats_keep_their_values_when_chunks_are_small(wrap):
    def halves(*bits):
        return pa.array(np.array(bits, np.uint16).view(np.float16))

    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), halves(31712, 1)),
        pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), halves(64512)),
    ]
    chunked = pa.table({"c": pa.chunked_array([wrap(chunk) for chunk in chunks])})
    plain = pa.table({"c": wrap(halves(31712, 1, 64512))})
    assert ad.logical_hash(chunked) == ad.logical_hash(plain)


def test_chunks_that_share_one_dictionary_or_have_their_own_hash_alike(monkeypatch):
    monkeypatch.setattr(chunks, "_PIECE_ROWS", 10)
    values = pa.array([f"v{row % 7}" for row in range(100)])
    encoded = values.dictionary_encode()
    shared = pa.table({"c": pa.chunked_array([encoded.slice(row, 1) for row in range(100)])})
    own = pa.table({"c": pa.chunked_array([values.slice(row, 1).dictionary_encode() for row in range(100)])})
    assert len({H(table) for table in (pa.table({"c": values}), shared, own)}) == 1


LONG = pa.array([f"a text of more than twelve bytes, {row}" for row in range(100)])
VIEWS, INDICES = LONG.cast(pa.string_view()), pa.array(["x", "y"] * 50).dictionary_encode()


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (LONG, LONG.nbytes),
        (VIEWS, 1600),
        (INDICES, 1600),
        (pa.StructArray.from_arrays([VIEWS, LONG], ["a", "b"]), 1600 + LONG.nbytes),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_what_joining_copies_does_not_depend_on_what_slices_share(array, size):
    rows = [array.slice(row, 1) for row in range(len(array))]
    cut = joinable.copied_size(pa.chunked_array(rows))
    assert joinable.copied_size(pa.chunked_array([array])) == size
    assert size <= cut <= size + 4 * len(rows)  # an offset more for each chunk
    table = pa.table({"c": array})
    assert H(pa.table({"c": pa.chunked_array(rows)})) == H(table)
    assert H(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1))) == H(table)


def test_slices_count_as_looked_at_once_their_array_is_and_whole_arrays_never():
    array = pa.StructArray.from_arrays([pa.array(["a", "bc", "d"])], ["s"])
    others = [pa.StructArray.from_arrays([pa.array([text])], ["s"]) for text in "xyz"]
    whole = array.slice(0, 2)
    for parts, looked_at in [
        ([], 0),
        ([array], 1),
        ([array, array.slice(1), array.slice(2)], 1),
        ([array.slice(1), array.slice(2)], 1),
        ([array, whole], 2),
        ([*others, array.slice(1), array.slice(2), array], 5),
    ]:
        found = list(joinable._distinct(pa.chunked_array(parts, type=array.type)))
        assert len(found) == looked_at


def test_runs_and_lists_whose_values_take_no_bytes_hash_in_batches():
    """A buffer of no bytes is false, which is no reason to take it for something else."""
    nothing = pa.array(["", None, ""]).slice(0, 3)
    columns = {
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 4], pa.int32()), nothing),
        "lists": pa.ListArray.from_arrays(pa.array([0, 0, 1, 2, 3], pa.int32()), nothing),
        "structs": pa.StructArray.from_arrays([pa.array(["", None, "", ""])], ["x"]),
    }
    for name, array in columns.items():
        table = pa.table({name: array})
        content = ipc_stream(table, batch_rows=2)
        assert ad.logical_hash(pa.ipc.open_stream(content)) == ad.logical_hash(table), name
        halves = pa.chunked_array([array.slice(0, 1), array.slice(1, 3)])
        assert ad.logical_hash(pa.table({name: halves})) == ad.logical_hash(table), name
