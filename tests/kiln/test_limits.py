"""What would take much more memory than its bytes is refused with a way out; checking takes little memory."""

import itertools
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

import kiln_arrow
from kiln_arrow import FrameType, KilnError, TensorsType

DEEP = "struct{x:list{" + "struct{a:" * 61 + "bool," + "}," * 60 + "},},}"
WIDE = "struct{" + "".join(f"field_{index}:option{{i64,}}," for index in range(9000)) + "}"


def deep_frame(count):
    prefix = kiln_arrow.frame(DEEP, {"x": []})[:16]
    return prefix + count.to_bytes(8, "little") + bytes(count)


def repeated(cell, count):
    """A column of runs: one cell, and how often it is there."""
    return pa.RunEndEncodedArray.from_arrays(pa.array([count]), kiln_arrow.array([cell]))


def shared_lists(cell, count):
    """One list of many views of the same items."""
    cells = kiln_arrow.array([cell] * 1000)
    starts, sizes = np.zeros(count, np.int32), np.full(count, 1000, np.int32)
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(sizes)]
    return pa.Array.from_buffers(pa.list_view(cells.type), count, buffers, children=[cells])


def chosen(cell, count):
    """A dictionary of one cell."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int8)), kiln_arrow.array([cell]))


def views(cell, count):
    """Views of the same bytes."""
    one = kiln_arrow.array([cell], type=TensorsType(pa.binary_view())).storage.buffers()
    view = pa.py_buffer(one[1].to_pybytes() * count)
    return TensorsType(pa.binary_view()).wrap_array(
        pa.Array.from_buffers(pa.binary_view(), count, [None, view, one[2]])
    )


MEGABYTE = {"x": np.zeros(1 << 20, np.uint8)}


def empty_lists(count):
    cells = kiln_arrow.array([])
    return pa.Array.from_buffers(pa.list_(cells.type, 0), count, [None], children=[cells])


@pytest.mark.parametrize(
    ("function", "column"),
    [
        (kiln_arrow.to_numpy, repeated({}, 1 << 40)),
        (kiln_arrow.validate_column, repeated({}, 1 << 40)),
        (lambda column: list(kiln_arrow.iter_tensors(column)), repeated({}, 1 << 40)),
        (kiln_arrow.array, repeated({}, 1 << 40)),
        (kiln_arrow.to_numpy, empty_lists(1 << 40)),
        (kiln_arrow.validate_column, shared_lists({}, 100_000)),
        (kiln_arrow.to_numpy, chosen(MEGABYTE, 10_000)),
        (kiln_arrow.to_numpy, views(MEGABYTE, 10_000)),
        (kiln_arrow.to_numpy, repeated(MEGABYTE, 10_000)),
        (kiln_arrow.array, chosen(MEGABYTE, 10_000)),
        (kiln_arrow.from_structs, pa.StructArray.from_arrays([chosen(MEGABYTE, 10_000)], ["t"])),
        (kiln_arrow.from_structs, pa.StructArray.from_arrays([shared_lists({}, 100_000)], ["t"])),
        (kiln_arrow.to_structs, kiln_arrow.array([None] * 10_000, type=FrameType(WIDE))),
    ],
)
def test_much_made_of_few_bytes_is_refused_with_a_way_out(function, column):
    tracemalloc.start()
    try:
        with pytest.raises(KilnError, match="the environment variable KILN_ARROW_MAX_EXPANSION") as caught:
            function(column)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.rule == "expansion"
    assert most < 700 << 20


def test_a_limit_can_be_set(monkeypatch):
    column = chosen({"x": np.zeros(1000, np.uint8)}, 100)
    assert kiln_arrow.to_numpy(column)["x"].shape == (100, 1000)
    monkeypatch.setenv("KILN_ARROW_MAX_EXPANSION", "1000")
    with pytest.raises(KilnError, match="at most 1000 bytes"):
        kiln_arrow.to_numpy(column)
    kiln_arrow.validate_column(column)  # makes nothing of it
    monkeypatch.setenv("KILN_ARROW_MAX_EXPANSION", "1 GiB")
    with pytest.raises(ValueError, match="expected a number of bytes in KILN_ARROW_MAX_EXPANSION, found '1 GiB'"):
        kiln_arrow.to_numpy(column)


def test_what_is_no_larger_than_its_bytes_has_no_limit(monkeypatch):
    monkeypatch.setenv("KILN_ARROW_MAX_EXPANSION", "0")
    cells = kiln_arrow.array([{"x": np.arange(i % 3)} for i in range(100)] + [None])
    lists = pa.ListArray.from_arrays(pa.array([0, 50, 50, 101], pa.int32()), cells)
    for column in (cells, cells.slice(3, 50), lists, pa.StructArray.from_arrays([lists], ["l"])):
        kiln_arrow.validate_column(column)
        assert len(list(kiln_arrow.iter_tensors(column))) == (50 if len(column) == 50 else 101)
    structs = pa.StructArray.from_arrays([lists, pa.array(["a", None, "c"])], ["l", "s"])
    frames = kiln_arrow.from_structs(structs)
    assert kiln_arrow.to_structs(frames).to_pylist()[1]["s"] is None


def test_checking_a_frame_makes_no_values():
    column = FrameType(DEEP).wrap_array(pa.array([deep_frame(5_000)]))
    tracemalloc.start()
    try:
        kiln_arrow.validate_column(column)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1 << 20


def test_structs_in_structs_are_limited_by_their_bytes(monkeypatch):
    assert len(kiln_arrow.unframe(DEEP, deep_frame(100))["x"]) == 100
    monkeypatch.setenv("KILN_ARROW_MAX_EXPANSION", str(1 << 20))
    for read in (
        lambda: kiln_arrow.unframe(DEEP, deep_frame(1000)),
        lambda: kiln_arrow.thaw(DEEP, deep_frame(1000)[16:]),
        FrameType(DEEP).wrap_array(pa.array([deep_frame(1000)])).to_pylist,
    ):
        with pytest.raises(KilnError) as caught:
            read()
        assert caught.value.rule == "expansion"
    many = kiln_arrow.freeze("list{struct{a:bool,},}", [{"a": True}] * 10_000)  # a struct a byte is nothing unusual
    assert len(kiln_arrow.thaw("list{struct{a:bool,},}", many)) == 10_000


def test_a_long_type_text_is_parsed_once_for_all_rows(monkeypatch):
    parsed = itertools.count()
    parse = kiln_arrow.parse_type.__globals__["_parse_fields"]

    def counted(*args):
        next(parsed)
        return parse(*args)

    column = FrameType(WIDE).wrap_array(pa.array([b""] * 300))
    kiln_arrow.parse_type(WIDE[:-1] + "last:i8,}")  # another long text, which takes the place of the first
    monkeypatch.setitem(kiln_arrow.parse_type.__globals__, "_parse_fields", counted)
    with pytest.raises(KilnError) as caught:
        kiln_arrow.validate_column(column)
    assert (caught.value.rule, caught.value.row) == ("eof", 0)
    for cell in column:
        with pytest.raises(KilnError):
            cell.as_py()
    assert next(parsed) < 5


def test_an_error_shows_a_long_path_in_part():
    name = "n" * 100_000
    with pytest.raises(KilnError) as caught:
        kiln_arrow.thaw(f"struct{{{name}:bool,}}", b"\2")
    assert caught.value.path == name
    assert len(str(caught.value)) < 1000
