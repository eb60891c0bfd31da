"""Descriptions of arrays of any type, against a reader that takes values one at a time from the C data interface."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from reference.arrays import records
from reference.records import Nulls

from arrow_digest import InvalidArrayError
from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.nodes import Kind
from helpers.strategies import any_types, tables


def bit(bitmap, slot):
    place = bitmap.offset + slot
    return bool(bitmap.data[place >> 3] >> (place & 7) & 1)


def value(node, slot):
    """The value of one slot, as the reference has it but for decimals, which stay as wide as they lie."""
    assert 0 <= slot < node.length
    kind = node.kind
    if kind is Kind.NULL or (node.validity is not None and not bit(node.validity, slot)):
        return None
    if kind is Kind.BOOL:
        return bit(node.bits, slot)
    if kind in (Kind.FIXED, Kind.FIXED_BINARY):
        return node.values[slot].tobytes()
    if kind is Kind.BINARY:
        return node.data[node.values[slot] : node.values[slot + 1]].tobytes()
    if kind is Kind.VIEW:
        return viewed(node, slot)
    if kind is Kind.DICTIONARY:
        return value(node.child, int(node.values[slot]))
    if kind is Kind.RUN_END:
        return value(node.child, int(np.searchsorted(node.values, slot + node.origin, side="right")))
    if kind is Kind.STRUCT:
        return tuple(value(child, slot) for child in node.children)
    if kind in (Kind.SPARSE_UNION, Kind.DENSE_UNION):
        number = int(node.values[slot])
        return number, value(node.children[number], int(node.sizes[slot]) if kind is Kind.DENSE_UNION else slot)
    return [value(node.child, place) for place in items(node, slot)]


def viewed(node, slot):
    size, short = struct.unpack("<i12s", node.values[slot].tobytes())
    if size <= 12:
        return short[:size]
    buffer, start = struct.unpack("<4xii", short)
    return node.array.buffers()[2 + buffer].to_pybytes()[start : start + size]


def items(node, slot):
    if node.kind is Kind.FIXED_LIST:
        return range(slot * node.width, (slot + 1) * node.width)
    if node.kind is Kind.LIST_VIEW:
        start = int(node.values[slot]) - node.origin
        return range(start, start + int(node.sizes[slot])) if node.sizes[slot] else range(0)
    return range(int(node.values[slot]) - node.origin, int(node.values[slot + 1]) - node.origin)


def alike(found, expected):
    """Whether two values are the same, where a decimal may lie in fewer or more bytes, by its sign."""
    if isinstance(expected, Nulls):
        return found == [None] * len(expected)
    if isinstance(expected, bytes) and isinstance(found, bytes) and found != expected:
        numbers = (int.from_bytes(data, "little", signed=True) for data in (found, expected))
        return len(expected) in (16, 32) and len(set(numbers)) == 1
    if isinstance(expected, (list, tuple)):
        same = isinstance(found, type(expected)) and len(found) == len(expected)
        return same and all(map(alike, found, expected))
    return type(found) is type(expected) and found == expected


@settings(max_examples=300)
@given(tables(any_types()))
def test_a_description_says_what_every_slot_of_any_type_holds(table):
    expected = records(table)
    for column, values in zip(table.columns, expected.columns, strict=True):
        nodes = [describe(chunk) for chunk in column.chunks]
        found = [value(node, slot) for node in nodes for slot in range(node.length)]
        assert len(found) == len(values)
        assert all(map(alike, found, values))


SPARSE = pa.UnionArray.from_sparse(
    pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4], pa.int8()), pa.array(["a", "b", "c", "d"])]
)
DENSE = pa.UnionArray.from_dense(
    pa.array([0, 1, 0, 1], pa.int8()),
    pa.array([0, 0, 1, 1], pa.int32()),
    [pa.array([1, 3], pa.int8()), pa.array(["b", "d"])],
)


@pytest.mark.parametrize("union", [SPARSE, DENSE], ids=["sparse", "dense"])
def test_a_slice_of_a_union_is_that_slice(union):
    assert [value(describe(union.slice(1, 2)), slot) for slot in range(2)] == [(1, b"b"), (0, b"\3")]


def dense_union(codes, offsets):
    children = [pa.array([1, 2], pa.int8()), pa.array(["a"])]
    buffers = [None, pa.py_buffer(np.array(codes, np.int8)), pa.py_buffer(np.array(offsets, np.int32))]
    return pa.Array.from_buffers(DENSE.type, len(codes), buffers, children=children)


@pytest.mark.parametrize(
    ("codes", "offsets", "rule", "slot"),
    [
        ([0, 2], [0, 0], "type_codes", 1),
        ([0, -1], [0, 0], "type_codes", 1),
        ([0, 1], [0, 1], "offsets", 1),
        ([0, 1], [2, 0], "offsets", 0),
        ([1, 0], [0, -1], "offsets", 1),
    ],
)
def test_a_union_that_points_outside_its_children_is_refused(codes, offsets, rule, slot):
    with pytest.raises(InvalidArrayError) as caught:
        describe(dense_union(codes, offsets), ("u",))
    assert (caught.value.rule, caught.value.path, caught.value.slot) == (rule, ("u",), slot)


def test_what_no_row_comes_to_may_point_anywhere():
    unions = dense_union([1, 0, 0], [0, 99, 1])
    structs = pa.StructArray.from_arrays([unions], ["u"], mask=pa.array([False, True, False]))
    assert [value(describe(structs), slot) for slot in range(3)] == [((1, b"a"),), None, ((0, b"\2"),)]
    picked = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), unions, safe=False)
    assert [value(describe(picked), slot) for slot in range(2)] == [(0, b"\2"), (1, b"a")]


def test_an_error_names_the_field_inside_structs_lists_and_maps():
    inner = dense_union([0, 1], [0, 5])
    keys = pa.array(["x", "y"])
    maps = pa.MapArray.from_arrays(pa.array([0, 2], pa.int32()), keys, inner)
    structs = pa.StructArray.from_arrays([inner], ["u"])
    lists = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), structs)
    for array, path in [
        (structs, ("c", "u")),
        (lists, ("c", "u")),
        (maps, ("c", "value")),
    ]:
        with pytest.raises(InvalidArrayError) as caught:
            describe(array, ("c",))
        assert caught.value.path == path
