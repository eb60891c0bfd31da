"""Frozen values and frames: one encoding per value, read by those who know the type."""

import contextlib
import math
import pickle
import struct
import tracemalloc
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiln_arrow
from kiln.test_typetext import types
from kiln_arrow import Dict, Directory, KilnEOFError, KilnError, KilnSchemaError, Leaf, List, Option

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def integers(word):
    size = int(word[1:])
    return st.integers(-(1 << size - 1), (1 << size - 1) - 1) if word[0] == "i" else st.integers(0, (1 << size) - 1)


LEAF_VALUES = {
    "bool": st.booleans(),
    **{word: integers(word) for word in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")},
    "f32": st.integers(0, 2**32 - 1).map(lambda bits: np.uint32(bits).view(np.float32)),
    "f64": st.integers(0, 2**64 - 1).map(lambda bits: float(np.uint64(bits).view(np.float64))),
    "str": texts,
    "bytes": st.binary(max_size=8),
    "tensors": st.dictionaries(texts, st.sampled_from([np.uint8(1), np.arange(3.0), np.ones(65, bool)]), max_size=2),
}


def values(kind):
    match kind:
        case Leaf(word):
            return LEAF_VALUES[word]
        case List(item):
            return st.lists(values(item), max_size=3)
        case Dict(item):
            return st.dictionaries(texts, values(item), max_size=3)
        case Option(inner):
            return st.one_of(st.none(), values(inner))
    return st.fixed_dictionaries({name: values(field) for name, field in kind.fields})


@st.composite
def typed_values(draw):
    kind = draw(types)
    return kiln_arrow.format_type(kind), draw(values(kind))


@given(typed_values())
def test_freezing_what_was_thawed_gives_the_same_bytes(typed):
    kind, value = typed
    frozen = kiln_arrow.freeze(kind, value)
    assert kiln_arrow.freeze(kind, kiln_arrow.thaw(kind, frozen)) == frozen
    framed = kiln_arrow.frame(kind, value)
    assert framed == b"KLN0" + bytes(4) + struct.pack("<Q", kiln_arrow.schema_hash(kind)) + frozen
    assert kiln_arrow.frame(kind, kiln_arrow.unframe(kind, framed)) == framed


@given(typed_values(), st.data())
def test_every_strict_prefix_of_a_value_or_frame_ends_too_soon(typed, data):
    kind, value = typed
    for write, read in ((kiln_arrow.freeze, kiln_arrow.thaw), (kiln_arrow.frame, kiln_arrow.unframe)):
        whole = write(kind, value)
        cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
        with pytest.raises(KilnEOFError) as caught:
            read(kind, cut)
        assert caught.value.offset == len(cut)


@given(typed_values(), st.binary(min_size=1, max_size=9))
def test_nothing_may_follow_a_value(typed, more):
    kind, value = typed
    frozen = kiln_arrow.freeze(kind, value)
    with pytest.raises(KilnError) as caught:
        kiln_arrow.thaw(kind, frozen + more)
    assert (caught.value.code, caught.value.rule, caught.value.offset) == ("TYPE", "trailing", len(frozen))


@given(types, st.binary(max_size=80))
def test_arbitrary_bytes_are_refused_or_canonical(kind, data):
    text = kiln_arrow.format_type(kind)
    with contextlib.suppress(KilnError):
        assert kiln_arrow.freeze(text, kiln_arrow.thaw(text, data)) == data


def test_values_thaw_to_plain_python_and_f32_to_numpy():
    kind = "struct{a:bool,b:i8,c:f32,d:f64,e:str,f:bytes,g:list{u8,},h:dict{i16,},i:option{i8,},j:tensors,}"
    value = {"a": True, "b": -1, "c": 1.5, "d": 2.5, "e": "x", "f": b"y", "g": [1], "h": {"k": 2}, "i": None, "j": {}}
    thawed = kiln_arrow.thaw(kind, kiln_arrow.freeze(kind, value))
    kinds = [bool, int, np.float32, float, str, bytes, list, dict, type(None), Directory]
    assert [type(part) for part in thawed.values()] == kinds
    assert list(thawed) == list(value)


def test_inputs_of_other_python_types_freeze_to_the_same_bytes():
    freeze = kiln_arrow.freeze
    assert freeze("bool", np.True_) == freeze("bool", True)
    assert freeze("i16", np.uint8(7)) == freeze("i16", 7)
    assert freeze("f64", np.float32(1.5)) == freeze("f64", np.float64(1.5)) == freeze("f64", 1.5)
    assert freeze("f32", np.float16(1.5)) == freeze("f32", np.float64(1.5)) == freeze("f32", 1.5)
    assert freeze("str", np.str_("x")) == freeze("str", "x")
    assert freeze("bytes", bytearray(b"x")) == freeze("bytes", memoryview(b"x")) == freeze("bytes", b"x")
    assert freeze("list{i8,}", (1, 2)) == freeze("list{i8,}", [1, 2])
    mapping = OrderedDict(b=2, a=1)
    assert freeze("dict{i8,}", MappingProxyType(mapping)) == freeze("dict{i8,}", {"a": 1, "b": 2})
    assert freeze("struct{a:i8,b:i8,}", mapping) == b"\1\2"


@given(st.floats(allow_nan=False))
def test_a_float_is_rounded_to_the_nearest_f32_and_overflow_is_refused(value):
    with np.errstate(over="ignore"):
        expected = np.float64(value).astype(np.float32)
    if np.isinf(expected) and not math.isinf(value):
        with pytest.raises(KilnError) as caught:
            kiln_arrow.freeze("f32", value)
        assert caught.value.rule == "range"
    else:
        assert kiln_arrow.freeze("f32", value) == expected.tobytes()


@pytest.mark.parametrize(
    ("value", "frozen"),
    [
        (3.4028235677973366e38, None),  # half a step above the largest f32
        (3.4028235677973362e38, "ffff7f7f"),  # just below that
        (7.006492321624085e-46, "00000000"),  # half the smallest subnormal goes to even
        (7.006492321624087e-46, "01000000"),
        (float("inf"), "0000807f"),
    ],
)
def test_rounding_to_f32_at_its_edges(value, frozen):
    if frozen is None:
        with pytest.raises(KilnError):
            kiln_arrow.freeze("f32", value)
    else:
        assert kiln_arrow.freeze("f32", value).hex() == frozen


@given(st.integers(1, 2**52 - 1), st.booleans())
def test_a_nan_freezes_as_a_quiet_f32_nan_with_its_sign_and_leading_bits(payload, negative):
    bits = negative << 63 | 0x7FF << 52 | payload
    value = float(np.uint64(bits).view(np.float64))
    frozen = int.from_bytes(kiln_arrow.freeze("f32", value), "little")
    assert frozen == negative << 31 | 0xFF << 23 | 1 << 22 | (payload >> 29) & 0x3FFFFF


@pytest.mark.parametrize("kind", ["list{i8,}", "list{tensors,}", "dict{i8,}", "str", "bytes"])
@pytest.mark.parametrize("count", [2**32, 2**63, 2**64 - 1])
def test_a_claimed_count_costs_no_memory(kind, count):
    tracemalloc.start()
    with pytest.raises(KilnEOFError):
        kiln_arrow.thaw(kind, struct.pack("<Q", count) + bytes(100))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 16


def test_values_64_levels_deep_freeze_and_thaw():
    kind = "list{" * 64 + "i8" + ",}" * 64
    value = 5
    for _ in range(64):
        value = [value]
    assert kiln_arrow.thaw(kind, kiln_arrow.freeze(kind, value)) == value


def test_tensors_inside_a_value_are_views_where_their_address_allows():
    kind = "struct{t:tensors,n:u8,}"
    frozen = kiln_arrow.freeze(kind, {"t": {"x": np.arange(9.0)}, "n": 1})
    first = kiln_arrow.thaw(kind, frozen)["t"]["x"]
    assert np.shares_memory(first, np.frombuffer(frozen, np.uint8))
    kind = "struct{n:u8,t:tensors,}"
    frozen = kiln_arrow.freeze(kind, {"t": {"x": np.arange(9.0), "b": np.ones(3, "i1")}, "n": 1})
    later = kiln_arrow.thaw(kind, frozen)["t"]
    assert later["x"].flags.aligned
    assert later["x"].tolist() == list(range(9))
    assert np.shares_memory(later["b"], np.frombuffer(frozen, np.uint8))
    for array in (first, *later.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_mapping_inside_a_tensors_field_is_sorted():
    one, two = np.uint8(1), np.uint8(2)
    assert kiln_arrow.freeze("tensors", {"b": one, "a": two}) == kiln_arrow.freeze("tensors", {"a": two, "b": one})
    assert kiln_arrow.freeze("tensors", [("b", one), ("a", two)]) == kiln_arrow.encode([("b", one), ("a", two)])


def test_a_frame_of_another_type_is_refused_before_its_fields_are_read():
    framed = kiln_arrow.frame("struct{x:i64,y:i64,}", {"x": 9, "y": -4})
    with pytest.raises(KilnSchemaError) as caught:
        kiln_arrow.unframe("struct{y:i64,x:i64,}", framed[:16])
    assert (caught.value.code, caught.value.rule, caught.value.offset) == ("SCHEMA", "schema_hash", 8)


def test_shapes_and_dtypes_are_data_and_not_in_the_hash():
    kind = "struct{batch:tensors,}"
    one = kiln_arrow.frame(kind, {"batch": {"x": np.zeros(2, "f4")}})
    other = kiln_arrow.frame(kind, {"batch": {"x": np.zeros((3, 3), "i8")}})
    assert one[:16] == other[:16]


def test_errors_survive_pickling_with_all_their_facts():
    with pytest.raises(KilnError) as caught:
        kiln_arrow.thaw("list{option{tensors,},}", struct.pack("<Q", 1) + b"\1" + b"X" * 64)
    error = caught.value
    assert str(error) == "expected magic b'KLNT', found b'XXXX' (in [0], at byte 9)"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_a_sentence_says_what_where_and_which_tensor():
    data = bytearray(kiln_arrow.encode([("a", np.uint8(1)), ("b", np.uint8(2))]))
    data[192] = 1
    with pytest.raises(KilnError) as caught:
        kiln_arrow.decode(data)
    assert str(caught.value) == "expected byte_offset 64, found 1 (tensor 1 'b', at byte 192)"


def test_a_huge_name_is_shown_shortened():
    data = bytearray(kiln_arrow.encode([("a" * 5000, np.uint8(1)), ("b" * 5000, np.uint8(2))]))
    data[320 + 5000 : 320 + 10000] = b"a" * 5000
    with pytest.raises(KilnError) as caught:
        kiln_arrow.decode(data)
    assert caught.value.name == "a" * 5000
    assert len(str(caught.value)) < 300


def test_subclasses_freeze_as_what_they_are():
    class Text(str):
        def encode(self, *arguments):
            return b"other"

    class Number(int):
        def __le__(self, other):
            return True

        __ge__ = __le__

    class Items(list):
        def __len__(self):
            return 5

    assert kiln_arrow.freeze("str", Text("a")) == kiln_arrow.freeze("str", "a")
    assert kiln_arrow.freeze("dict{i8,}", {Text("b"): 1, Text("a"): 2}) == kiln_arrow.freeze(
        "dict{i8,}", {"a": 2, "b": 1}
    )
    assert kiln_arrow.encode([(Text("a"), np.uint8(1))]) == kiln_arrow.encode([("a", np.uint8(1))])
    assert kiln_arrow.freeze("u8", Number(255)) == b"\xff"
    with pytest.raises(KilnError, match="from 0 to 255"):
        kiln_arrow.freeze("u8", Number(256))
    assert kiln_arrow.freeze("list{i8,}", Items([1, 2])) == kiln_arrow.freeze("list{i8,}", [1, 2])
