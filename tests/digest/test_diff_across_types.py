"""Values of two types are equal exactly if they are the same number, point in time or bytes: none is rounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arrow_digest import diff

INTEGERS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
]
DECIMALS = [
    *(pa.decimal32(9, 0), pa.decimal32(9, 4), pa.decimal64(18, -3), pa.decimal64(18, 18), pa.decimal128(38, 2)),
    *(pa.decimal128(38, -38), pa.decimal256(76, 0), pa.decimal256(76, 76), pa.decimal256(76, -76)),
]
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
INSTANTS = [
    *(pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us", "Nowhere/At_All")),
    pa.timestamp("ns"),
]
TIMES = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]


def stored(number, data_type):
    """An array of one value, given by the integer that is stored."""
    width = data_type.bit_width // 8
    signed = not pa.types.is_unsigned_integer(data_type)
    data = number.to_bytes(width, "little", signed=signed)
    return pa.Array.from_buffers(data_type, 1, [None, pa.py_buffer(data)])


def worth(number, data_type):
    """What the stored integer stands for."""
    if pa.types.is_decimal(data_type):
        return Fraction(number) / Fraction(10) ** data_type.scale
    if pa.types.is_date32(data_type):
        return Fraction(number * 86_400)
    if pa.types.is_date64(data_type):
        return Fraction(number, 1000)
    if pa.types.is_temporal(data_type):
        return Fraction(number, 10 ** DIGITS[data_type.unit])
    return Fraction(number)


def limits(data_type):
    bits = data_type.bit_width
    return (0, 2**bits - 1) if pa.types.is_unsigned_integer(data_type) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@st.composite
def pairs(draw, types):
    """Two types, and a stored integer of each that is often worth the same."""
    a, b = draw(st.sampled_from(types)), draw(st.sampled_from(types))
    low, high = limits(a)
    x = draw(st.one_of(st.integers(-3, 3), st.sampled_from([low, high]), st.integers(low, high)))
    x = min(max(x, low), high)
    ratio = worth(x, a) / worth(1, b)
    low, high = limits(b)
    near = int(ratio) + draw(st.sampled_from([0, 0, 0, 1, -1]))
    wrapped = (near - low) % (high - low + 1) + low
    return a, x, b, draw(st.sampled_from([wrapped, min(max(near, low), high)]))


def is_equal(a, b):
    found, back = diff(pa.table({"c": a}), pa.table({"c": b})), diff(pa.table({"c": b}), pa.table({"c": a}))
    assert bool(found.columns) == bool(back.columns)
    return not found.columns


@pytest.mark.parametrize("types", [INTEGERS + DECIMALS, INSTANTS, TIMES], ids=["numbers", "points in time", "times"])
@given(data=st.data())
def test_whole_numbers_are_equal_exactly_if_they_are_worth_the_same(types, data):
    a, x, b, y = data.draw(pairs(types))
    assert is_equal(stored(x, a), stored(y, b)) == (worth(x, a) == worth(y, b))


@given(st.integers(0, 2**64 - 1), st.sampled_from([pa.int64(), pa.uint64()]), st.sampled_from([0, 1, -1, 2**11]))
def test_integers_and_floats_are_equal_exactly_if_they_are_worth_the_same(bits, data_type, step):
    floats = np.array([bits], "u8").view("f8")
    value = float(floats[0])
    low, high = limits(data_type)
    number = int(value) + step if np.isfinite(value) else step
    number = min(max(number, low), high)
    same = np.isfinite(value) and Fraction(value) == number and not (number == 0 and np.signbit(floats[0]))
    assert is_equal(pa.array(floats), stored(number, data_type)) == same


@given(st.integers(-(10**18), 10**18), st.integers(-40, 40))
def test_a_decimal_is_equal_to_the_float_nearest_to_it_and_to_no_other(number, scale):
    exact = Fraction(number) / Fraction(10) ** scale
    nearest = float(exact)
    decimal = stored(number, pa.decimal128(38, scale))
    assert is_equal(decimal, pa.array([nearest]))
    assert not is_equal(decimal, pa.array([float(np.nextafter(nearest, np.inf))]))
    assert not is_equal(decimal, pa.array([float(np.nextafter(nearest, -np.inf))]))


@pytest.mark.parametrize("scale", [10**7, -(10**7), 2**31 - 1, -(2**31)])
def test_absurd_scales_are_compared_without_computing_powers(scale):
    table, absurd = stored(1, pa.decimal128(5, 2)), stored(1, pa.decimal128(5, scale))
    assert not is_equal(table, absurd)
    assert not is_equal(absurd, pa.array([1.0]))
    assert is_equal(stored(0, pa.decimal128(5, 2)), stored(0, pa.decimal128(5, scale)))
    (column,) = diff(pa.table({"c": table}), pa.table({"c": absurd})).columns
    assert "0.01" in column.a_text
    assert len(column.b_text) < 60


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("1", pa.array([1], pa.int8())),
        ("-1.50", pa.array([-1.5])),
        ("2e3", pa.array([2000], pa.int16())),
        ("true", pa.array([True])),
        ("2024-02-29", pa.array([19_782], pa.int32()).view(pa.date32())),
        ("1970-01-01 00:00:00.000000001", pa.array([1], pa.timestamp("ns"))),
        ("1970-01-02T00:00:00Z", pa.array([86_400], pa.timestamp("s", "UTC"))),
        ("01:00:00.001", pa.array([3_600_001], pa.time32("ms"))),
    ],
)
def test_text_is_equal_to_what_it_spells(spelled, value):
    assert is_equal(pa.array([spelled]), value)
    for other in (f" {spelled}", f"{spelled}x", "", "\u0661", "9" * 5000):
        assert not is_equal(pa.array([other]), value)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pa.array([[1], None], pa.list_(pa.int8())), pa.array([[1], None], pa.list_view(pa.int16()))),
        (pa.array([[1]], pa.list_view(pa.timestamp("s"))), pa.array([[1000]], pa.list_(pa.timestamp("ms"), 1))),
        (pa.array([None, None], pa.list_(pa.int8())), pa.array([None, None], pa.string())),
        (pa.array([None]), pa.array([None], pa.float16())),
        (pa.array(["a"]), pa.array([b"a"])),
        (pa.array([0.5], pa.float16()), pa.array([0.5], pa.float64())),
    ],
)
def test_the_same_values_in_another_layout_and_type_are_only_retyped(a, b):
    assert is_equal(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pa.array([[1]]), pa.array([1])),
        (pa.array([[[1]]]), pa.array([[1]])),
        (pa.array([[]], pa.list_(pa.int8())), pa.array([""])),
        (pa.array([None]), pa.array([0])),
        (pa.array([1], pa.time32("s")), pa.array([1], pa.timestamp("s"))),
        (pa.array(["61"]), pa.array([b"a"])),
        (pa.array([1e300]), pa.array([float("inf")], pa.float32())),
        (pa.array([2**62], pa.timestamp("s")), pa.array([0], pa.timestamp("ns"))),
        (pa.array(["x" * 5_000_000]), pa.array([1])),
        (pa.array(["1" * 5_000_000]), pa.array([[1]])),
    ],
)
def test_values_that_no_rule_makes_equal_differ(a, b):
    assert not is_equal(a, b)


def test_what_lies_under_a_null_is_never_followed():
    garbage = np.array([1, 97, 0, 0, -(2**31), 0, 0, 0], np.int32)
    for data_type in (pa.string_view(), pa.binary_view()):
        views = pa.Array.from_buffers(data_type, 2, [pa.py_buffer(b"\1"), pa.py_buffer(garbage.tobytes())])
        runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), views)
        for array in (views, runs):
            for other in (pa.array(["a", None]), pa.array([b"a", None], pa.large_binary())):
                assert is_equal(array, other)
            assert not is_equal(array, pa.array([97, None]))
