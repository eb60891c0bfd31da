"""The package against the slow second opinion, on tables of every type and layout."""

from __future__ import annotations

import hashlib
import struct

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import arrow0

import arrow_digest as ad
from arrow_digest.rules.arrow0 import leaves as columns_module
from arrow_digest.rules.arrow0 import portable
from arrow_digest.rules.arrow0.types import encode_type
from helpers.examples import examples
from helpers.strategies import arrays, leaf_types, plain, reserved_types, same_records, tables

FUNCTIONS = ("sha3-256", "sha2-256", "blake3")


@settings(max_examples=examples(400))
@given(tables(max_columns=4), st.sampled_from(FUNCTIONS))
def test_any_table_hashes_as_the_specification_says(table, function):
    found = ad.logical_hash(table, function=function)
    assert found.digest == arrow0.record_digest(table, function)
    assert found.code == arrow0.HASH_CODES[function]


@settings(max_examples=examples(400))
@given(st.data(), tables(max_columns=4))
def test_the_form_of_the_records_does_not_matter(data, table):
    changed = data.draw(same_records(table))
    assert ad.logical_hash(changed) == ad.logical_hash(table)


@given(tables(max_columns=4))
def test_columns_are_digested_and_counted_as_the_specification_says(table):
    digest = ad.RecordDigest(table.schema, validity=True)
    digest.update(table)
    _, leaves = arrow0.preimages(table)
    found = digest.columns()
    assert [column.path for column in found] == [path for path, _, _ in leaves]
    for column, (_, stream, validity) in zip(found, leaves, strict=True):
        assert column.digest == hashlib.sha3_256(stream).digest()
        assert column.null_count == validity.count(False)
        assert column.validity_digest == hashlib.sha3_256(bytes(validity)).digest()


@given(tables(max_columns=3), st.sampled_from(FUNCTIONS))
def test_batches_one_by_one_hash_like_the_table(table, function):
    digest = ad.RecordDigest(table.schema, function=function)
    for batch in table.to_batches():
        digest.update(batch)
    assert digest.digest() == arrow0.record_digest(table, function)
    assert digest.row_count == (table.num_rows if table.num_columns else 0)


@settings(max_examples=examples(300))
@given(arrays(leaf_types()))
def test_any_array_digests_as_the_specification_says(array):
    digest = ad.ArrayDigest(plain(array.type))
    digest.update(array)
    assert digest.digest() == hashlib.sha3_256(arrow0.array_stream(array, array.type)).digest()


@given(leaf_types())
def test_types_are_encoded_as_the_specification_says(data_type):
    assert encode_type(data_type) == arrow0.type_bytes(data_type)


@given(reserved_types())
def test_reserved_types_are_refused_by_path_and_type_even_without_rows(reserved):
    schema = pa.schema([("ok", pa.int8()), ("c", reserved)])
    with pytest.raises(arrow0.RefusedError) as expected:
        arrow0.preimages(pa.Table.from_batches([], schema=schema))
    with pytest.raises(ad.UnsupportedTypeError) as caught:
        ad.RecordDigest(schema)
    assert caught.value.path == expected.value.path
    assert caught.value.data_type == expected.value.data_type
    assert caught.value.reserved == expected.value.reserved


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("items", [1, 9])
@given(table=tables(max_columns=3))
def test_blocks_of_any_size_hash_alike(rows, items, table):
    """The portable encoder cuts rows into blocks, and values that are too large for one into parts."""
    expected = arrow0.record_digest(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portable, "_BLOCK_ROWS", rows)
        patch.setattr(portable, "_BLOCK_ITEMS", items)
        patch.setattr(portable, "_BLOCK_BYTES", items)
        assert ad.logical_hash(table).digest == expected


@given(table=tables(max_columns=4), threads=st.integers(1, 5))
def test_the_number_of_threads_does_not_matter(table, threads):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns_module, "_PARALLEL_ROWS", 1)
        assert ad.logical_hash(table, threads=threads).digest == arrow0.record_digest(table)


def test_the_combined_digest_is_of_names_levels_and_leaf_digests():
    table = pa.table({"a": pa.array([{"b": 1}], pa.struct([("b", pa.int8())]))})
    leaf = hashlib.sha3_256(struct.pack("<HBQ", 1, 1, 8) + b"\x01").digest()
    preimage = struct.pack("<Q", 1) + b"a" + struct.pack("<QQ", 0, 1) + b"b" + struct.pack("<Q", 1) + leaf
    assert ad.logical_hash(table).digest == hashlib.sha3_256(preimage).digest()
