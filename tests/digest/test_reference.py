"""The compiled reference of arrow0, with SHA-256 as its function: byte for byte the same, save where it departs."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arrow_digest as ad
from helpers.examples import examples
from helpers.layouts import Noise, blind, build, random_value
from helpers.strategies import COLUMN_NAMES, DECIMALS, opaque, seeds

starfix = pytest.importorskip("starfix", reason="published for Linux on x86-64 and macOS only")


def ours(table: pa.Table | pa.RecordBatch) -> bytes:
    return ad.logical_hash(table, function="sha2-256").digest


def reference(table: pa.Table) -> bytes:
    """Hash the table's only batch; the reference would leave out any other."""
    assert len(table.to_batches()) == 1
    return bytes.fromhex(starfix.hash_arrow_table(table).hex())


def one_batch(**columns: pa.Array) -> pa.Table:
    return pa.Table.from_batches([pa.record_batch(columns)])


SUPPORTED = {
    "bool": pa.bool_(),
    **{str(t): t for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{str(t): t for t in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    **{str(t): t for t in (pa.float16(), pa.float32(), pa.float64())},
    **{str(t): t for t in (pa.date32(), pa.date64())},
    **{str(t): t for t in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))},
    **{str(t): t for t in (pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC", "+01:00"))},
    **{str(t): t for t in (make(digits, 2) for make, digits in DECIMALS)},
    **{str(t): t for t in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(3))},
    **{str(t): t for t in (pa.string_view(), pa.binary_view())},
    "list": pa.list_(pa.int32()),
    "large_list": pa.large_list(pa.string()),
    "fixed_size_list": pa.list_(pa.int64(), 2),
    "list of lists": pa.list_(pa.large_list(pa.float64())),
    "negative scale": pa.decimal128(5, -2),
    "no width": pa.binary(0),
    "extension": opaque(pa.int16()),
}
ROWS = (1, 2, 7, 8, 9, 63, 64, 65)


def values(t: pa.DataType, rows: int, seed: int, nulls: float) -> list[Any]:
    rng = random.Random(seed)
    return [random_value(blind(t), rng, nulls) for _ in range(rows)]


@pytest.mark.parametrize("name", SUPPORTED)
def test_the_reference_agrees_on_every_type_it_supports(name):
    t = SUPPORTED[name]
    for rows in ROWS:
        for nulls in (0.0, 0.3, 1.0):
            table = one_batch(c=build(values(t, rows, rows, nulls), t))
            assert reference(table) == ours(table)
            part = pa.Table.from_batches([table.to_batches()[0].slice(rows // 3)])
            assert reference(part) == ours(part)


# With nulls in one place only: on a struct, or on what is in it.
def column_types() -> st.SearchStrategy[pa.DataType]:
    leaves = st.recursive(
        st.sampled_from(list(SUPPORTED.values())),
        lambda items: st.one_of(st.builds(pa.list_, items), st.builds(pa.large_list, items)),
        max_leaves=2,
    ).filter(lambda t: not has_extension_item(t))

    def structs(children: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
        fields = st.lists(st.tuples(st.sampled_from(NAMES), children), min_size=1, max_size=3, unique_by=lambda f: f[0])
        return fields.map(lambda pairs: pa.struct([pa.field(name, t) for name, t in pairs]))

    return st.recursive(leaves, structs, max_leaves=4)


NAMES = [name for name in COLUMN_NAMES if "\0" not in name]


def has_extension_item(t: pa.DataType) -> bool:
    return (pt.is_list(t) or pt.is_large_list(t)) and (
        isinstance(t.value_type, pa.BaseExtensionType) or has_extension_item(t.value_type)
    )


@st.composite
def batches(draw: Any) -> pa.RecordBatch:
    rows = draw(st.sampled_from(ROWS))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    columns = []
    for _ in names:
        t, seed, nulls = draw(column_types()), draw(seeds), draw(st.sampled_from((0.0, 0.2, 0.9)))
        rows_of_nulls = values(t, rows, seed, 0.0 if pt.is_struct(t) else nulls)
        if pt.is_struct(t):
            rng = random.Random(seed)
            rows_of_nulls = [None if rng.random() < nulls else value for value in rows_of_nulls]
        columns.append(build(rows_of_nulls, t, Noise(seed, slack=seed > 0 and not pt.is_struct(t))))
    return pa.record_batch(columns, names=names)


@settings(max_examples=examples(150))
@given(batches())
def test_the_reference_agrees_on_any_records_it_supports(batch):
    table = pa.Table.from_batches([batch])
    assert reference(table) == ours(table)


def test_the_reference_agrees_on_known_records():
    table = one_batch(a=pa.array([1, 2, 3], pa.int32()), b=pa.array(["a", "b", "c"]))
    known = "2a82ce6d3c3402ae04c6d316f5ebd62671d06d5c095173bc969d2e3e259a5b80"
    assert reference(table).hex() == ours(table).hex() == known


def test_the_reference_agrees_that_these_records_collide():
    """No two hashes of ours may differ here: these are the specification's collisions, not mistakes."""
    for left, right, t in COLLISIONS:
        tables = [one_batch(c=pa.array(rows, t)) for rows in (left, right)]
        assert len({reference(table) for table in tables} | {ours(table) for table in tables}) == 1


COLLISIONS = [
    ([None] * 4, [0], pa.int32()),
    ([None], [0], pa.int8()),
    ([None] * 8, [""], pa.string()),
    ([*[None] * 8, ""], ["", *[None] * 8], pa.string()),
    ([256, None], [None, 1], pa.int32()),
    ([[0]], [[None]], pa.list_(pa.int8())),
]


# --- Where the reference departs from the specification ---------------------------------------------------------------


def test_departure_the_reference_ors_the_validity_of_struct_and_child():
    child = pa.array([None, 2, 3], pa.int32())
    structs = pa.StructArray.from_arrays([child], ["x"], mask=pa.array([False, True, False]))
    sound = pa.StructArray.from_arrays([pa.array([None, None, 3], pa.int32())], ["x"])
    revived = pa.StructArray.from_arrays([pa.array([0, 2, 3], pa.int32())], ["x"])
    assert ours(one_batch(c=structs)) == ours(one_batch(c=sound))
    assert reference(one_batch(c=structs)) == reference(one_batch(c=revived)) == ours(one_batch(c=revived))
    assert reference(one_batch(c=structs)) != ours(one_batch(c=structs))


REFUSED = {
    "null": pa.nulls(2),
    "list of null": pa.array([[], [None]]),
    "dictionary": pa.array(["a", "b"]).dictionary_encode(),
    "list of dictionary": pa.array([["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    "run ends": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int16()), pa.array([1])),
    "list view": pa.array([[1]], pa.list_view(pa.int8())),
    "large list view": pa.array([[1]], pa.large_list_view(pa.int8())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_departure_the_reference_refuses_what_the_specification_covers(name):
    table = one_batch(c=REFUSED[name])
    assert len(ours(table)) == 32
    with pytest.raises(Exception, match=r"not (implemented|yet|supported)|still not|Unsupported") as caught:
        reference(table)
    assert type(caught.value).__name__ == "InternalError"


def test_departure_the_reference_sees_only_the_first_batch():
    first, second = pa.record_batch({"c": [1]}), pa.record_batch({"c": [2]})
    both = pa.Table.from_batches([first, second])
    assert bytes.fromhex(starfix.hash_arrow_table(both).hex()) == ours(pa.Table.from_batches([first])) != ours(both)


def test_departure_the_reference_cannot_take_a_slice_of_a_struct_in_a_struct():
    nested = pa.array([{"x": {"y": i}} for i in range(9)])
    assert reference(one_batch(c=nested)) == ours(one_batch(c=nested))
    with pytest.raises(Exception, match="assertion failed"):
        reference(one_batch(c=nested.slice(3)))
    assert ours(one_batch(c=nested.slice(3))) == ours(one_batch(c=pa.array(nested.slice(3).to_pylist())))
