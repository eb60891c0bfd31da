"""Laws of tree0 and bag0, on the reference: what must not change a hash, and how parts join to a whole."""

from __future__ import annotations

import random
from contextlib import contextmanager
from itertools import pairwise
from unittest import mock

import pyarrow as pa
import pyarrow.types as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import bag0, tree0
from reference.arrays import records
from reference.records import FUNCTIONS, Nulls, RefusedError, type_bytes, type_of

from digest.test_collisions import PUBLISHED as COLLISIONS
from helpers.examples import examples
from helpers.layouts import is_list, read
from helpers.strategies import any_types, encodings, garbage_under_nulls, plain, rechunk, reencode, reslice, tables

H = FUNCTIONS["blake3"]
CHANGES = {"reslice": reslice, "rechunk": rechunk, "reencode": reencode, "garbage": garbage_under_nulls}


@contextmanager
def small(chunk_rows=4, leaf_entries=2):
    """Chunks of four rows and leaves of two entries, so that small tables have many of both."""
    with mock.patch.object(tree0, "CHUNK_ROWS", chunk_rows), mock.patch.object(bag0, "LEAF_ENTRIES", leaf_entries):
        yield


def hashes(table):
    hashed = records(table)
    return tree0.table(H, hashed), bag0.table(H, hashed)


def expected(value, t):
    """A neutral value as the rule sets see it."""
    if value is None:
        return None
    if is_list(t):
        return [expected(item, t.value_type) for item in value]
    if pt.is_struct(t):
        return tuple(expected(value[str(i)], t.field(i).type) for i in range(t.num_fields))
    if pt.is_map(t):
        return [(expected(key, t.key_type), expected(item, t.item_type)) for key, item in value]
    if pt.is_union(t):
        child, held = value
        return child, expected(held, t.field(child).type)
    if pt.is_decimal(t):
        number = int.from_bytes(value, "little", signed=True)
        return number.to_bytes(16 if t.precision <= 38 else 32, "little", signed=True)
    return value


def in_lists(value):
    """A value whose lists are lists, those of the null type too."""
    if isinstance(value, list | Nulls):
        return [in_lists(item) for item in value]
    return tuple(in_lists(part) for part in value) if isinstance(value, tuple) else value


# --- Reading ----------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(150))
@given(tables(any_types()))
def test_the_reference_reads_the_values_that_were_written(table):
    hashed = records(table)
    assert hashed.row_count == table.num_rows
    for column, values in zip(table.columns, hashed.columns, strict=True):
        written = [value for chunk in column.chunks for value in read(chunk)]
        assert [in_lists(value) for value in values] == [expected(value, plain(column.type)) for value in written]


@given(st.data(), any_types())
def test_an_encoding_has_the_bytes_of_the_type_that_it_encodes(data, t):
    assert type_bytes(type_of(data.draw(encodings(t, [])))) == type_bytes(type_of(t))


# --- What must not make a difference ----------------------------------------------------------------------------------


@settings(max_examples=examples(150))
@given(st.data(), tables(any_types()), st.sampled_from(sorted(CHANGES)))
def test_the_form_of_the_records_does_not_matter(data, table, change):
    changed = data.draw(CHANGES[change](table))
    with small():
        assert hashes(changed) == hashes(table)


@given(st.data(), tables(any_types()))
def test_a_slice_hashes_as_its_rows_alone(data, table):
    start = data.draw(st.integers(0, table.num_rows))
    count = data.draw(st.integers(0, table.num_rows - start))
    rows = records(table)
    kept = rows._replace(row_count=count, columns=tuple(column[start : start + count] for column in rows.columns))
    with small():
        assert hashes(table.slice(start, count)) == (tree0.table(H, kept), bag0.table(H, kept))


@given(st.data(), tables(any_types()))
def test_only_bag0_keeps_its_hash_where_rows_change_places(data, table):
    rows = records(table)
    order = data.draw(st.permutations(range(rows.row_count)))
    moved = rows._replace(columns=tuple([column[i] for i in order] for column in rows.columns))
    same = bag0.rows(moved) == bag0.rows(rows)
    with small():
        assert bag0.table(H, moved) == bag0.table(H, rows)
        assert (tree0.table(H, moved) == tree0.table(H, rows)) == same


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-5, 5))
def test_a_decimal_hashes_alike_in_every_width_that_holds_it(number, scale):
    column = pa.array([number, None], pa.int64())
    made = [
        pa.Array.from_buffers(
            t, 2, [column.buffers()[0], pa.py_buffer(number.to_bytes(t.bit_width // 8, "little", signed=True) * 2)]
        )
        for t in (pa.decimal64(12, scale), pa.decimal128(12, scale), pa.decimal256(12, scale))
    ]
    assert len({hashes(pa.table({"c": array})) for array in made}) == 1


@pytest.mark.parametrize(("t", "left", "right"), [row for row in COLLISIONS if row[1] != row[2]], ids=str)
def test_what_arrow0_cannot_tell_apart_has_two_hashes(t, left, right):
    ours = [hashes(pa.table({"c": pa.array(rows, t)})) for rows in (left, right)]
    assert ours[0][0] != ours[1][0]
    assert (ours[0][1] != ours[1][1]) == (sorted(map(repr, left)) != sorted(map(repr, right)))


# --- Parts ------------------------------------------------------------------------------------------------------------


@given(st.data(), tables(any_types()))
def test_ranges_of_chunks_hashed_apart_join_to_the_whole(data, table):
    with small():
        borders = sorted(data.draw(st.sets(st.integers(1, max(1, table.num_rows // 4)), max_size=3)))
        starts = [0, *(border * 4 for border in borders), table.num_rows]
        parts = [records(table.slice(a, max(0, b - a))) for a, b in pairwise(starts)]
        whole = records(table)
        for i, (field, values) in enumerate(zip(whole.fields, whole.columns, strict=True)):
            digests = [digest for part in parts for digest in tree0.chunks(H, field.type, part.columns[i])]
            assert digests == tree0.chunks(H, field.type, values)


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=40))
def test_a_root_is_made_of_the_roots_of_full_subtrees(digests):
    """The state of an unfinished tree is one root for every bit of the number of its chunks."""
    state, at = [], 0
    for bit in reversed(range(len(digests).bit_length())):
        if len(digests) >> bit & 1:
            state.append(tree0.root(H, digests[at : at + (1 << bit)]))
            at += 1 << bit
    joined = state.pop() if state else H(b"")
    while state:
        joined = H(b"\x01" + state.pop() + joined)
    assert joined == tree0.root(H, digests)


@given(st.data(), tables(any_types()))
def test_counts_of_any_parts_add_up_to_the_whole(data, table):
    rows = bag0.rows(records(table))
    owner = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    whole = bag0.counts(H, records(table))
    total = sum(
        (
            bag0.Counter(bag0.row_digest(H, row) for row, who in zip(rows, owner, strict=True) if who == part)
            for part in range(3)
        ),
        bag0.Counter(),
    )
    assert total == whole
    with small():
        assert bag0.table_of(H, records(table).fields, total) == hashes(table)[1]


@given(st.dictionaries(st.binary(min_size=2, max_size=2), st.integers(1, 300), max_size=40))
def test_workers_that_have_the_entries_of_one_first_bit_give_the_two_halves(counted):
    entries = sorted((start + bytes(30), count) for start, count in counted.items())
    with small():
        if len(entries) > 2:
            halves = [[e for e in entries if e[0][0] >> 7 == bit] for bit in (0, 1)]
            assert bag0.bag(H, entries) == H(b"\x06" + b"".join(bag0.bag(H, half, 1) for half in halves))
        else:
            assert bag0.bag(H, entries) == H(b"\x05" + bag0.entries_bytes(entries))


# --- Refusals that no stream can carry --------------------------------------------------------------------------------


def in_memory_map(entries_validity):
    """A list of structs in the layout of a map; pyarrow ends the process over a map with a null entry."""
    structs = pa.StructArray.from_arrays([pa.array([1, 2], pa.int8())] * 2, ["k", "v"], mask=pa.array(entries_validity))
    table = pa.table({"m": pa.ListArray.from_arrays([0, 1, 2], structs)})
    return table, pa.schema([("m", pa.map_(pa.int8(), pa.int8()))])


def test_a_null_entry_of_a_map_is_refused_by_rule_and_path():
    table, schema = in_memory_map([False, True])
    with pytest.raises(RefusedError, match="entry 1 is null") as caught:
        records(table, schema)
    assert (caught.value.rule, caught.value.path) == ("map_entry", ("m",))


def test_a_null_entry_that_no_map_has_is_not_looked_at():
    table, schema = in_memory_map([False, True])
    assert records(table.slice(0, 1), schema).columns == ([[(b"\1", b"\1")]],)


def test_entries_that_begin_inside_their_array_are_read_from_there():
    structs = pa.StructArray.from_arrays([pa.array([1, 2, 3], pa.int8()), pa.array([4, 5, 6], pa.int8())], ["k", "v"])
    table = pa.table({"m": pa.ListArray.from_arrays([0, 2], structs.slice(1))})
    _, schema = in_memory_map([False, False])
    assert records(table, schema).columns == ([[(b"\2", b"\5"), (b"\3", b"\6")]],)


def test_a_fixed_size_list_of_nulls_that_is_longer_than_its_items_is_refused():
    table = pa.table({"c": pa.array([[1, 2]], pa.list_(pa.int8(), 2))})
    schema = pa.schema([("c", pa.list_(pa.null(), 3))])
    with pytest.raises(RefusedError) as caught:
        records(table, schema)
    assert (caught.value.rule, caught.value.path) == ("broken_structure", ("c",))


def test_entries_keep_their_order():
    rng = random.Random(0)
    entries = [(rng.randrange(9), rng.randrange(9)) for _ in range(20)]
    table = pa.table({"m": pa.array([entries], pa.map_(pa.int8(), pa.int8()))})
    assert records(table).columns == ([[(bytes([key]), bytes([value])) for key, value in entries]],)
