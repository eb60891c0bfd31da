"""The second opinion and the golden files: what the rest of the tests lean on must itself be sound."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt
import pytest
from helpers import spec_model
from helpers.layouts import read
from helpers.strategies import (
    arrays,
    garbage_under_nulls,
    leaf_types,
    plain,
    rechunk,
    reencode,
    reserved_types,
    reslice,
    tables,
)
from hypothesis import given
from hypothesis import strategies as st

CHANGES = {"reslice": reslice, "rechunk": rechunk, "reencode": reencode, "garbage": garbage_under_nulls}


@given(arrays(blinded=True))
def test_generated_arrays_are_of_sound_structure(array):
    array.validate(full=True)


@given(st.data(), tables())
def test_a_change_of_form_keeps_the_records(data, table):
    for change in CHANGES.values():
        changed = data.draw(change(table))
        for before, after in zip(table.columns, changed.columns, strict=True):
            assert [v for c in before.chunks for v in read(c)] == [v for c in after.chunks for v in read(c)]


@given(st.data(), tables(), st.sampled_from(sorted(CHANGES)))
def test_a_change_of_form_keeps_the_preimages(data, table, change):
    changed = data.draw(CHANGES[change](table))
    assert spec_model.preimages(changed) == spec_model.preimages(table)


def encode(value, plain_type):
    """arrow0's bytes for a neutral value; `plain_type` tells text, lists and what has a fixed width apart."""
    if value is None:
        return b"\0"
    if isinstance(value, bool):
        return bytes([1 + value])
    if isinstance(value, list):
        return len(value).to_bytes(8, "little") + b"".join(encode(item, plain_type.value_type) for item in value)
    if pt.is_string(plain_type) or pt.is_binary(plain_type):
        return len(value).to_bytes(8, "little") + value
    return value


@given(arrays(leaf_types()))
def test_the_model_reads_every_layout_as_its_values(array):
    t = plain(array.type)
    expected = spec_model.type_bytes(t) + b"".join(encode(value, t) for value in read(array))
    assert spec_model.array_stream(array, t) == expected


@given(reserved_types())
def test_the_model_refuses_reserved_types_wherever_they_are(reserved):
    schema = pa.schema([("ok", pa.int8()), ("c", reserved)])
    with pytest.raises(spec_model.Unsupported) as caught:
        spec_model.preimages(pa.Table.from_batches([], schema=schema))
    assert caught.value.path[0] == "c"


def test_the_model_reads_an_extension_under_a_dictionary():
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"b" * 16], pa.binary(16)))
    array = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), uuids)
    expected = pa.array([b"b" * 16, None, b"a" * 16])
    assert spec_model.array_stream(array, pa.binary()) == spec_model.array_stream(expected, pa.binary())


@given(st.data(), tables(), st.sampled_from(sorted(spec_model.FUNCTIONS)))
def test_a_digest_is_made_of_the_preimages(data, table, function):
    digest = spec_model.FUNCTIONS[function]
    preamble, leaves = spec_model.preimages(table)
    combined = preamble + b"".join(digest(stream).digest() for _, stream, _ in leaves)
    assert spec_model.record_digest(table.to_batches() or table, function) == digest(combined).digest()
