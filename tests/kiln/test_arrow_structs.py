"""Arrow structs to frames and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiln_arrow
from kiln_arrow import KilnError, from_structs, to_structs

SCALARS = {
    pa.bool_(): st.booleans(),
    pa.int8(): st.integers(-128, 127),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.string(): st.text(max_size=5),
    pa.binary(): st.binary(max_size=5),
}


@st.composite
def kinds(draw, depth=2):
    """An Arrow type of the mapping as it comes out, and a strategy for its values."""
    choice = draw(st.sampled_from(["scalar", "list", "map", "struct"] if depth else ["scalar"]))
    if choice == "scalar":
        data_type = draw(st.sampled_from(list(SCALARS)))
        return data_type, SCALARS[data_type]
    if choice == "struct":
        fields = [draw(fields_of(name, depth - 1)) for name in draw(st.sampled_from(["a", "ab", "abc"]))]
        return pa.struct([field for field, _ in fields]), st.fixed_dictionaries(
            {field.name: values for field, values in fields}
        )
    field, values = draw(fields_of("item" if choice == "list" else "value", depth - 1))
    if choice == "list":
        return pa.list_(field), st.lists(values, max_size=3)
    entries = st.dictionaries(st.text(max_size=3), values, max_size=3)
    # Sorted by the bytes of the keys, which is how they come out.
    return pa.map_(pa.string(), field), entries.map(lambda d: sorted(d.items(), key=lambda item: item[0].encode()))


@st.composite
def fields_of(draw, name, depth):
    data_type, values = draw(kinds(depth))
    nullable = draw(st.booleans())
    return pa.field(name, data_type, nullable=nullable), st.none() | values if nullable else values


@st.composite
def struct_columns(draw):
    fields = [draw(fields_of(name, 2)) for name in draw(st.sampled_from(["x", "xy", "xyz"]))]
    data_type = pa.struct([field for field, _ in fields])
    row = st.fixed_dictionaries({field.name: values for field, values in fields})
    return pa.array(draw(st.lists(st.none() | row, max_size=6)), data_type)


@given(struct_columns(), st.data())
def test_structs_come_back_as_they_went_in(column, data):
    frames = from_structs(column)
    frames.validate(full=True)
    kiln_arrow.validate_column(frames)
    found = to_structs(frames)
    found.validate(full=True)
    assert found.type == column.type
    assert found.equals(column) or repr(found.to_pylist()) == repr(column.to_pylist())  # NaN equals nothing
    first = data.draw(st.integers(0, len(column)))
    assert from_structs(column.slice(first)).equals(frames.slice(first))
    assert repr(to_structs(frames.slice(first)).to_pylist()) == repr(column.slice(first).to_pylist())


@given(struct_columns())
def test_frames_are_those_of_the_values_one_by_one(column):
    frames = from_structs(column)
    values = [as_value(value, column.type) for value in column.to_pylist()]
    if "f32" in frames.type.type_text:
        return  # whose bits Python's floats do not keep
    expected = [None if value is None else kiln_arrow.frame(frames.type.type_text, value) for value in values]
    assert frames.storage.to_pylist() == expected


def as_value(value, data_type):
    """What `frame` takes for what pyarrow makes of a value: a map as a dict."""
    if value is None:
        return None
    if pa.types.is_struct(data_type):
        return {field.name: as_value(value[field.name], field.type) for field in data_type}
    if pa.types.is_map(data_type):
        return {key: as_value(item, data_type.item_type) for key, item in value}
    if pa.types.is_list(data_type):
        return [as_value(item, data_type.value_type) for item in value]
    return value


def of(data_type, values, nullable=True):
    return pa.array([{"x": value} for value in values], pa.struct([pa.field("x", data_type, nullable=nullable)]))


@pytest.mark.parametrize(
    ("data_type", "values", "text"),
    [
        (pa.large_string(), ["a", None], "str"),
        (pa.string_view(), ["a" * 20, None], "str"),
        (pa.large_binary(), [b"a", None], "bytes"),
        (pa.binary_view(), [b"a" * 20, None], "bytes"),
        (pa.large_list(pa.uint8()), [[1, 2], None], "list{option{u8,},}"),
        (pa.list_view(pa.field("odd", pa.int16(), nullable=False)), [[1, 2], []], "list{i16,}"),
        (pa.large_list_view(pa.int16()), [[1, None], []], "list{option{i16,},}"),
        (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a", None], "str"),
        (pa.map_(pa.large_string(), pa.field("v", pa.int8(), nullable=False)), [[("b", 1), ("a", 2)]], "dict{i8,}"),
    ],
)
def test_other_forms_of_a_type_go_the_same_way(data_type, values, text):
    frames = from_structs(of(data_type, values))
    assert frames.type.type_text == f"struct{{x:option{{{text},}},}}"
    expected = [dict(sorted(value)) if text.startswith("dict") else value for value in values]
    assert [row["x"] for row in frames.to_pylist()] == expected


def test_run_ends_are_decoded():
    runs = pa.RunEndEncodedArray.from_arrays([2, 3, 5], pa.array(["a", None, "b"]))
    structs = pa.StructArray.from_arrays([runs], ["x"])
    assert [row["x"] for row in from_structs(structs).to_pylist()] == ["a", "a", None, "b", "b"]
    assert [row["x"] for row in from_structs(structs.slice(1, 3)).to_pylist()] == ["a", None, "b"]


def test_floats_keep_their_bits():
    patterns = np.array([0x7FC00001, 0x7F800001, 0xFFC00000, 0x80000000, 1], np.uint32)
    singles = pa.array(patterns.view(np.float32))
    doubles = pa.array((patterns.astype(np.uint64) << 32).view(np.float64))
    structs = pa.StructArray.from_arrays(
        [singles, doubles], fields=[pa.field("s", pa.float32(), False), pa.field("d", pa.float64(), False)]
    )
    found = to_structs(from_structs(structs))
    for name, column in (("s", singles), ("d", doubles)):
        assert (
            found.field(name).buffers()[1].to_pybytes()[: column.nbytes]
            == column.buffers()[1].to_pybytes()[: column.nbytes]
        )


@pytest.mark.parametrize("storage", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_tensors_go_through_with_their_nulls(storage):
    tensors = kiln_arrow.array([{"x": np.arange(3)}, None, {}], type=kiln_arrow.TensorsType(storage))
    lists = pa.ListArray.from_arrays([0, 2, 2, 3], tensors)
    structs = pa.StructArray.from_arrays([pa.array([1, 2, 3]), tensors, lists], ["id", "one", "many"])
    found = to_structs(from_structs(structs))
    kiln_arrow.validate_column(found)
    assert found.field("one").storage.to_pylist() == tensors.storage.to_pylist()
    assert found.field("many").type == pa.list_(kiln_arrow.TensorsType())
    assert [[None if d is None else list(d) for d in row] for row in found.field("many").to_pylist()] == [
        [["x"], None],
        [],
        [[]],
    ]


def test_a_malformed_tensor_in_a_struct_has_row_and_path():
    tensors = kiln_arrow.TensorsType().wrap_array(pa.array([kiln_arrow.encode({}), b"bad"]))
    lists = pa.ListArray.from_arrays([0, 1, 2], tensors)
    column = pa.chunked_array([pa.StructArray.from_arrays([lists], ["many"])] * 2)
    with pytest.raises(KilnError) as caught:
        from_structs(column)
    assert (caught.value.row, caught.value.path, caught.value.rule) == (1, "many[item]", "eof")
    masked = pa.StructArray.from_arrays([lists], ["many"], mask=pa.array([False, True]))
    assert from_structs(masked).null_count == 1


def test_what_lies_under_a_null_parent_is_ignored():
    inner = pa.StructArray.from_arrays(
        [pa.array(["a", None, "c"]), pa.array([1, 2, 3])],
        fields=[pa.field("s", pa.string(), False), pa.field("n", pa.int64())],
    )
    outer = pa.StructArray.from_arrays([inner], ["i"], mask=pa.array([False, True, False]))
    assert [None if row is None else row["i"]["s"] for row in from_structs(outer).to_pylist()] == ["a", None, "c"]
    middle = pa.StructArray.from_arrays(inner.flatten(), fields=list(inner.type), mask=pa.array([False, True, False]))
    found = from_structs(pa.StructArray.from_arrays([middle], ["i"])).to_pylist()
    assert [row["i"] for row in found] == [{"s": "a", "n": 1}, None, {"s": "c", "n": 3}]


def test_a_null_where_the_field_says_none_is_refused_with_its_place():
    strict = pa.struct([pa.field("x", pa.list_(pa.field("item", pa.int64(), nullable=False)))])
    column = pa.array([{"x": [1]}, {"x": [1, None]}], strict)
    with pytest.raises(KilnError) as caught:
        from_structs(column)
    assert (caught.value.rule, caught.value.row, caught.value.path) == ("null", 1, "x[item]")


def test_a_key_twice_in_a_map_is_refused_with_its_place():
    column = of(pa.map_(pa.string(), pa.int64()), [[("a", 1)], [("b", 1), ("a", 1), ("b", 2)]])
    with pytest.raises(KilnError) as caught:
        from_structs(column)
    assert (caught.value.rule, caught.value.row, caught.value.path) == ("key_order", 1, "x")


def test_text_that_is_not_utf8_is_refused_with_its_place():
    text = pa.array([b"ok", b"\xff", b"\xff"]).view(pa.string())
    column = pa.StructArray.from_arrays([text], ["x"], mask=pa.array([False, False, True]))
    with pytest.raises(KilnError) as caught:
        from_structs(column)
    assert (caught.value.rule, caught.value.row, caught.value.path) == ("utf8", 1, "x")
    assert len(from_structs(pa.StructArray.from_arrays([text], ["x"], mask=pa.array([False, True, True])))) == 3


@pytest.mark.parametrize("data", [b"\xc3", b"a\xff", b"\xe2\x82", b"\xa9", b"\xed\xa0\x80"])
@pytest.mark.parametrize("row", [0, 1, 4])
@pytest.mark.parametrize("neighbours", [b"\xc2\xa9", b"", None])
def test_text_is_checked_value_by_value_wherever_its_neighbours_end(data, row, neighbours):
    values = [neighbours] * 5
    values[row] = data
    text = pa.array(values, pa.binary()).view(pa.string())
    with pytest.raises(UnicodeDecodeError) as expected:
        data.decode()
    with pytest.raises(KilnError) as caught:
        kiln_arrow.from_structs(pa.StructArray.from_arrays([text], ["x"]))
    assert (caught.value.rule, caught.value.row, caught.value.path) == ("utf8", row, "x")
    assert caught.value.sentence.endswith(f": {expected.value.reason}")


@pytest.mark.parametrize(
    "data_type",
    [
        pa.null(), pa.float16(), pa.decimal128(5, 2), pa.date32(), pa.time64("us"), pa.timestamp("s"), pa.duration("s"),
        pa.month_day_nano_interval(), pa.binary(4), pa.list_(pa.int8(), 2), pa.dense_union([pa.field("a", pa.int8())]),
        pa.map_(pa.int8(), pa.int8()), kiln_arrow.FrameType("struct{a:i8,}"), pa.uuid(),
        pa.dictionary(pa.int8(), pa.float16()),
    ],
    ids=str,
)  # fmt: skip
def test_types_that_frames_do_not_have_are_refused_with_their_path(data_type):
    nested = pa.struct([("a", pa.list_(pa.struct([("b", data_type)])))])
    with pytest.raises(KilnError) as caught:
        from_structs(pa.nulls(0, nested))
    assert (caught.value.rule, caught.value.path) == ("arrow_type", "a[item].b")


@pytest.mark.parametrize(
    ("data_type", "rule"),
    [
        (pa.struct([("a b", pa.int8())]), "syntax"),
        (pa.struct([("", pa.int8())]), "syntax"),
        (pa.struct([("a", pa.int8()), ("a", pa.int8())]), "duplicate_field"),
        (pa.struct([("a", pa.struct([]))]), "empty_struct"),
        (pa.struct([]), "empty_struct"),
        (pa.int8(), "arrow_type"),
    ],
)
def test_structs_outside_the_grammar_are_refused(data_type, rule):
    with pytest.raises(KilnError) as caught:
        from_structs(pa.nulls(0, data_type))
    assert caught.value.rule == rule


def test_chunks_go_through_as_chunks():
    structs = of(pa.int64(), [1, None, 3])
    for chunks in ([], [structs], [structs.slice(0, 1), structs.slice(1, 0), structs.slice(1)]):
        column = pa.chunked_array(chunks, structs.type)
        frames = from_structs(column)
        assert isinstance(frames, pa.ChunkedArray)
        assert to_structs(frames).equals(column)


def test_a_malformed_frame_has_its_row():
    frames = from_structs(of(pa.int64(), [1, 2], nullable=False))
    good = frames.storage[0].as_py()
    for bad, code in ((good[:-1], "EOF"), (good + b"x", "TYPE"), (b"KLN0" + bytes(12) + good[16:], "SCHEMA")):
        column = frames.type.wrap_array(pa.array([good, None, bad]))
        for check in (to_structs, kiln_arrow.validate_column):
            with pytest.raises(KilnError) as caught:
                check(pa.chunked_array([frames, column]))
            assert (caught.value.row, caught.value.code) == (4, code)


def test_frames_are_needed_for_structs():
    with pytest.raises(KilnError) as caught:
        to_structs(kiln_arrow.array([{}]))
    assert caught.value.rule == "arrow_type"


def test_columns_that_one_chunk_cannot_hold_have_several(monkeypatch):
    structs = of(pa.string(), ["a" * 40, None, "b" * 40, "c"])
    monkeypatch.setattr("kiln_arrow.columns.storage_arrays.LIMIT", 100)
    frames = from_structs(structs)
    assert [len(chunk) for chunk in frames.chunks] == [2, 2]
    large = kiln_arrow.array(
        from_structs(structs).to_pylist(), type=kiln_arrow.FrameType(frames.type.type_text, pa.large_binary())
    )
    monkeypatch.setattr("kiln_arrow.columns.to_structs.LIMIT", 100)
    assert [len(chunk) for chunk in to_structs(large).chunks] == [2, 2]
    monkeypatch.setattr("kiln_arrow.columns.to_structs.LIMIT", 50)
    with pytest.raises(KilnError) as caught:
        to_structs(large)
    assert (caught.value.rule, caught.value.row) == ("size", 0)
