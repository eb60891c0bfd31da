"""An encoder refuses what has no canonical bytes, and names the tensor or the field."""

import sys
from collections.abc import Mapping
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import kiln_arrow
from kiln.mutations import FakeTorchTensor
from kiln.test_golden import ENCODER_RULES
from kiln_arrow import KilnDtypeError, KilnError, Opaque


class _Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no")


class _Returns:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value


class _NoAttributes:
    def __getattr__(self, name):
        raise RuntimeError(name)


class _KeyTwice(Mapping):
    """A mapping that does not keep its own promise."""

    def __iter__(self):
        return iter(("a", "a"))

    def __len__(self):
        return 2

    def __getitem__(self, key):
        return 1


class _NoRepr:
    def __repr__(self):
        raise RuntimeError("no")


class _Sparse:
    device = SimpleNamespace(type="cpu")
    layout = "sparse_coo"


_RAGGED = np.empty(2, object)
_RAGGED[:] = [np.zeros(1), np.zeros(2)]
_FINE = np.uint8([1])

REFUSED_DTYPES = {
    "object": np.array([1, None], object),
    "ragged": _RAGGED,
    "str": np.array(["ab", "c"]),
    "bytes": np.array([b"ab", b"c"]),
    "datetime64": np.array(["2024-01-01", "NaT"], "M8[D]"),
    "datetime64-multiple": np.arange("2012-01-01", "2012-01-02", dtype="M8[6h]"),
    "datetime64-swapped": np.zeros(2, ">M8[s]"),
    "timedelta64": np.arange(3).astype("m8[ns]"),
    "structured": np.zeros(2, [("x", "i4"), ("y", "f8")]),
    "structured-padded": np.zeros(2, np.dtype([("x", "i1"), ("y", "f8")], align=True)),
    "void": np.zeros(2, "V1"),
    "void-2": np.zeros(2, "V2"),
    "longdouble": np.zeros(2, np.longdouble),
    "clongdouble": np.zeros(2, np.clongdouble),
    "list": [1, 2],
    "int": 1,
    "none": None,
    "class": np.float32,
    "opaque-dtype": Opaque("U3", (1,), "l", b""),
    "opaque-swapped": Opaque(">f4", (1,), "l", b""),
}
for _name in (
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e4m3b11fnuz",
    "float8_e4m3",
    "float8_e3m4",
    "int4",
    "uint4",
):
    REFUSED_DTYPES[_name] = np.zeros(2, getattr(ml_dtypes, _name))
for _name in ("float8_e3m4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e8m0fnu"):
    if hasattr(ml_dtypes, _name):
        REFUSED_DTYPES[_name] = np.ones(2, getattr(ml_dtypes, _name))
if hasattr(np.dtypes, "StringDType"):
    REFUSED_DTYPES["StringDType"] = np.array(["x"], np.dtypes.StringDType())

# Rule, what is given, tensor index, name.
REFUSED_TENSORS = {
    "not-pairs": ("entry", 5, None, None),
    "text": ("entry", "ab", None, None),
    "bytes": ("entry", b"ab", None, None),
    "rows": ("entry", np.zeros((2, 2)), 0, None),
    "no-pair": ("entry", [("a", _FINE), _FINE], 1, None),
    "triple": ("entry", [("a", _FINE, 1)], 0, None),
    "name-number": ("name", [("a", _FINE), (5, _FINE)], 1, None),
    "name-bytes": ("name", {b"a": _FINE}, 0, None),
    "name-no-repr": ("name", [(_NoRepr(), _FINE)], 0, None),
    "name-surrogate": ("utf8", [("\ud800", _FINE)], 0, "\ud800"),
    "duplicate": ("duplicate_name", [("a", _FINE), (None, _FINE), ("a", _FINE)], 2, "a"),
    "broken-array": ("array", {"x": _Broken()}, 0, "x"),
    "array-of-nothing": ("array", {"x": _Returns(None)}, 0, "x"),
    "array-of-lists": ("array", {"x": _Returns([1, 2])}, 0, "x"),
    "array-of-objects": ("dtype", {"x": _Returns(np.array([None]))}, 0, "x"),
    "array-with-mask": ("masked", {"x": _Returns(np.ma.masked_array([1, 2], [False, True]))}, 0, "x"),
    "no-attributes": ("array", {"x": _NoAttributes()}, 0, "x"),
    "masked": ("masked", {"x": np.ma.masked_array([1, 2], [False, True])}, 0, "x"),
    "masked-nothing": ("masked", {"x": np.ma.masked_array([1, 2])}, 0, "x"),
    "masked-constant": ("masked", {"x": np.ma.masked}, 0, "x"),
    "rank": ("rank", {"x": np.zeros((1,) * 9)}, 0, "x"),
    "bool": ("bool", {"x": np.uint8([0, 2]).view(bool)}, 0, "x"),
    "bool-rank-0": ("bool", {"x": np.uint8([255]).view(bool)[0:1].reshape(())}, 0, "x"),
    "bool-strided": ("bool", {"x": np.uint8([0, 2, 3, 0]).view(bool)[::-2]}, 0, "x"),
    "opaque-rank": ("rank", {"x": Opaque("u1", (1,) * 9, "l", b"")}, 0, "x"),
    "opaque-dim-negative": ("dims", {"x": Opaque("u1", (-1,), "l", b"")}, 0, "x"),
    "opaque-dim-2-64": ("dims", {"x": Opaque("u1", (2**64,), "l", b"")}, 0, "x"),
    "opaque-dim-float": ("dims", {"x": Opaque("u1", (1.0,), "l", b"")}, 0, "x"),
    "opaque-dim-bool": ("dims", {"x": Opaque("u1", (True,), "l", b"")}, 0, "x"),
    "opaque-layout-empty": ("layout", {"x": Opaque("u1", (1,), "", b"")}, 0, "x"),
    "opaque-layout-none": ("layout", {"x": Opaque("u1", (1,), None, b"")}, 0, "x"),
    "opaque-layout-surrogate": ("utf8", {"x": Opaque("u1", (1,), "\udfff", b"")}, 0, "x"),
    "device": ("device", {"x": FakeTorchTensor()}, 0, "x"),
    "dims-beside-0": ("overflow", {"x": np.zeros((2**62, 0), "u1").view("f8")}, 0, "x"),
    "too-long": ("overflow", [(None, np.broadcast_to(np.uint8(1), (2**62,)))] * 4, 3, None),
}

# Rule, type text, value, path.
REFUSED_VALUES = {
    "bool-int": ("value", "bool", 1, ""),
    "int-bool": ("value", "i8", True, ""),
    "int-numpy-bool": ("value", "i8", np.True_, ""),
    "int-float": ("value", "i8", 1.0, ""),
    "int-timedelta": ("value", "i64", np.timedelta64(1, "s"), ""),
    "int-text": ("value", "i8", "1", ""),
    "float-int": ("value", "f64", 1, ""),
    "float-longdouble": ("value", "f64", np.longdouble(1), ""),
    "f32-int": ("value", "f32", 1, ""),
    "f32-bfloat16": ("value", "f32", ml_dtypes.bfloat16(1), ""),
    "str-bytes": ("value", "str", b"x", ""),
    "bytes-str": ("value", "bytes", "x", ""),
    "bytes-list": ("value", "bytes", [1], ""),
    "list-str": ("value", "list{str,}", "ab", ""),
    "list-array": ("value", "list{i64,}", np.arange(3), ""),
    "dict-pairs": ("value", "dict{i8,}", [("a", 1)], ""),
    "dict-key": ("value", "dict{i8,}", {1: 1}, ""),
    "struct-list": ("value", "struct{a:i8,}", [1], ""),
    "none": ("value", "struct{a:list{i8,},}", {"a": [1, None]}, "a[1]"),
    "none-alone": ("value", "str", None, ""),
    "surrogate": ("utf8", "list{str,}", ["", "\ud800"], "[1]"),
    "key-surrogate": ("utf8", "dict{i8,}", {"\ud800": 1}, ""),
    "i8-high": ("range", "i8", 128, ""),
    "i8-low": ("range", "i8", -129, ""),
    "u8-low": ("range", "u8", -1, ""),
    "u64-high": ("range", "dict{u64,}", {"k": 2**64}, "['k']"),
    "i64-high": ("range", "i64", np.uint64(2**63), ""),
    "i64-of-5000-digits": ("range", "i64", 10**5000, ""),
    "no-repr": ("value", "str", _NoRepr(), ""),
    "f32-high": ("range", "f32", 3.5e38, ""),
    "field-missing": ("field", "struct{a:i8,b:struct{c:i8,},}", {"a": 1, "b": {}}, "b.c"),
    "field-extra": ("field", "struct{a:i8,}", {"a": 1, "z": 1}, "z"),
    "field-extra-none": ("field", "struct{a:i8,}", {"a": 1, None: 1}, "[None]"),
    "field-extra-of-5000-digits": ("field", "struct{a:i8,}", {"a": 1, 10**5000: 1}, "[<int>]"),
    "field-extra-like-a-path": ("field", "struct{a:struct{b:i8,},}", {"a": {"b[0].c": 1}}, "a['b[0].c']"),
    "key-twice": ("key_order", "list{dict{i8,},}", [_KeyTwice()], "[0]"),
    "in-tensors": ("bool", "struct{t:list{tensors,},}", {"t": [{}, {"x": np.uint8([3]).view(bool)}]}, "t[1]"),
    "no-tensors": ("entry", "option{tensors,}", 5, ""),
}


def refusal(function, *arguments):
    with pytest.raises(KilnError) as caught:
        function(*arguments)
    assert caught.value.code == "TYPE"
    assert caught.value.offset is None
    return caught.value


@pytest.fixture
def _fake_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=(FakeTorchTensor, _Sparse), strided="strided"))


@pytest.mark.parametrize("array", [pytest.param(array, id=name) for name, array in REFUSED_DTYPES.items()])
def test_a_dtype_outside_the_table_is_refused_by_name(array):
    for function in (kiln_arrow.encode, kiln_arrow.encoded_size):
        error = refusal(function, [("fine", _FINE), ("bad", array)])
        assert isinstance(error, KilnDtypeError)
        assert isinstance(error, TypeError)
        assert (error.rule, error.tensor, error.name) == ("dtype", 1, "bad")
    if isinstance(array, np.ndarray):
        assert str(array.dtype)[:20] in str(error)


@pytest.mark.usefixtures("_fake_torch")
@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in REFUSED_TENSORS.items()])
def test_tensors_without_canonical_bytes_are_refused(case):
    rule, tensors, tensor, name = case
    error = refusal(kiln_arrow.encode, tensors)
    assert (error.rule, error.tensor, error.name) == (rule, tensor, name)
    target = bytearray(b"\xaa" * 4096)
    assert refusal(kiln_arrow.encode_into, tensors, target).rule == rule
    assert target == b"\xaa" * 4096


@pytest.mark.usefixtures("_fake_torch")
def test_a_sparse_torch_tensor_is_refused_for_its_layout():
    assert refusal(kiln_arrow.encode, {"x": _Sparse()}).rule == "layout"


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in REFUSED_VALUES.items()])
def test_values_without_canonical_bytes_are_refused_with_their_path(case):
    rule, kind, value, path = case
    for function in (kiln_arrow.freeze, kiln_arrow.frame):
        error = refusal(function, kind, value)
        assert (error.rule, error.path) == (rule, path)
    assert path in str(error)


def test_a_directory_whose_payloads_fit_but_not_its_whole_length_is_refused():
    huge, rest = np.broadcast_to(np.uint8(1), (2**62,)), np.broadcast_to(np.uint8(1), (2**62 - 64,))
    error = refusal(kiln_arrow.encoded_size, [(None, huge), (None, huge), (None, huge), (None, rest)])
    assert (error.rule, error.tensor) == ("overflow", None)


def test_a_name_too_long_for_its_length_field_is_refused(monkeypatch):
    monkeypatch.setattr("kiln_arrow.canonical.arrays.U32_END", 10)  # in place of names of 4 GiB
    assert kiln_arrow.encoded_size({"x" * 9: _FINE}) == 320
    error = refusal(kiln_arrow.encode, {"x" * 10: _FINE})
    assert (error.rule, error.tensor) == ("overflow", 0)


@pytest.mark.parametrize("target", [bytes(320), memoryview(bytes(320)), memoryview(bytearray(640))[::2]])
def test_a_target_that_cannot_be_written_is_refused(target):
    assert refusal(kiln_arrow.encode_into, {"x": np.zeros(3)}, target).rule == "buffer"


def test_every_rule_for_an_encoders_input_has_a_case():
    tested = {case[0] for case in (*REFUSED_TENSORS.values(), *REFUSED_VALUES.values())} | {"buffer"}
    assert tested >= ENCODER_RULES


def test_a_huge_unknown_field_is_shown_shortened():
    error = refusal(kiln_arrow.freeze, "struct{a:i8,}", {"a": 1, "z" * 5000: 1})
    assert len(error.path) < 100
    assert len(str(error)) < 300


@pytest.mark.parametrize("kind", [5, None, kiln_arrow.List(None), kiln_arrow.Struct((("a", kiln_arrow.Option(5)),))])
def test_what_is_no_type_has_no_text(kind):
    assert refusal(kiln_arrow.format_type, kind).rule == "syntax"


def test_a_surrogate_is_shown_escaped():
    assert "'\\ud800'" in str(refusal(kiln_arrow.encode, [("\ud800", _FINE)]))


def test_a_value_that_holds_itself_is_refused_not_followed():
    loop = []
    loop.append(loop)
    assert refusal(kiln_arrow.freeze, "list{list{i8,},}", loop).rule == "value"
