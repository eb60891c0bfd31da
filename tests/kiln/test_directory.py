"""Directories: what goes in comes out, as the one byte string of its tensors, through views that cannot be written."""

import contextlib
import gc
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import kiln_arrow
from kiln_arrow import Directory, KilnEOFError, KilnError, Opaque
from kiln_arrow.canonical.decoder import _REMEMBERED

DTYPES = [row.numpy for row in kiln_arrow.DTYPES]
NUMPYS_OWN = [dtype for dtype in DTYPES if dtype.isbuiltin != 2]

names = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=70))
shapes = npst.array_shapes(min_dims=0, max_dims=8, min_side=0, max_side=3)


@st.composite
def arrays(draw):
    """Arrays of every dtype with arbitrary bits, contiguous."""
    dtype, shape = draw(st.sampled_from(DTYPES)), draw(shapes)
    size = int(np.prod(shape)) * dtype.itemsize
    data = draw(st.binary(min_size=size, max_size=size))
    if dtype.kind == "b":
        data = bytes(byte & 1 for byte in data)
    return np.frombuffer(data, dtype).reshape(shape) if data else np.empty(shape, dtype)


opaques = st.builds(
    Opaque,
    st.sampled_from(DTYPES),
    st.lists(st.integers(0, 2**64 - 1), max_size=8).map(tuple),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9),
    st.binary(max_size=70),
)
tensor_lists = st.lists(
    st.tuples(names, st.one_of(arrays(), opaques)), max_size=5, unique_by=lambda pair: pair[0] or object()
)


def the_same(one, other):
    """Whether two tensors have the same dtype, shape and bits."""
    if isinstance(one, Opaque):
        return one == other
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def round_trip(array):
    [(_, out)] = kiln_arrow.decode(kiln_arrow.encode([(None, array)])).tensors
    return out


@given(tensor_lists)
def test_tensors_come_back_in_order_bit_for_bit(tensors):
    directory = kiln_arrow.decode(kiln_arrow.encode(tensors))
    assert [name for name, _ in directory.tensors] == [name or None for name, _ in tensors]
    assert all(the_same(out, tensor) for (_, out), (_, tensor) in zip(directory.tensors, tensors, strict=True))


@given(tensor_lists)
def test_encoding_what_was_decoded_gives_the_same_bytes(tensors):
    data = kiln_arrow.encode(tensors)
    assert kiln_arrow.encode(kiln_arrow.decode(data)) == data
    assert kiln_arrow.encode(kiln_arrow.decode(data).tensors) == data


@given(tensor_lists)
def test_encode_into_writes_what_encode_gives(tensors):
    data = kiln_arrow.encode(tensors)
    assert len(data) == kiln_arrow.encoded_size(tensors)
    assert len(data) % 64 == 0
    target = bytearray(b"\xee" * (len(data) + 3))
    assert kiln_arrow.encode_into(tensors, target) == len(data)
    assert target == data + b"\xee" * 3


@given(tensor_lists)
def test_a_remembered_front_reads_like_a_fresh_one(tensors):
    data = kiln_arrow.encode(tensors)
    _REMEMBERED.clear()
    fresh = kiln_arrow.decode(data)
    remembered = kiln_arrow.decode(data)
    assert repr(fresh) == repr(remembered)
    assert fresh == remembered
    if len(data) > 64:
        with pytest.raises(KilnEOFError):
            kiln_arrow.decode(data[:-1])


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), arrays(), max_size=5))
def test_a_mapping_is_sorted_by_the_utf8_bytes_of_its_keys(tensors):
    data = kiln_arrow.encode(tensors)
    assert data == kiln_arrow.encode(dict(reversed(tensors.items())))
    order = [name or "" for name, _ in kiln_arrow.decode(data).tensors]
    assert order == sorted(tensors, key=str.encode)


def test_the_order_of_a_mapping_is_that_of_utf8_not_utf16():
    keys = ["\U00010000", "\uffff", "z", "\u00e4", ""]
    directory = kiln_arrow.decode(kiln_arrow.encode({key: np.uint8(1) for key in keys}))
    assert [name for name, _ in directory.tensors] == [None, "z", "\u00e4", "\uffff", "\U00010000"]


def test_a_mapping_with_both_keys_that_mean_unnamed_has_one_encoding():
    one, two = np.uint8(1), np.uint8(2)
    assert kiln_arrow.encode({None: one, "": two}) == kiln_arrow.encode({"": two, None: one})


def test_pairs_and_directories_keep_their_order():
    data = kiln_arrow.encode([("b", np.uint8(1)), ("a", np.uint8(2))])
    directory = kiln_arrow.decode(data)
    assert list(directory) == ["b", "a"]
    assert kiln_arrow.encode(directory) == data
    assert kiln_arrow.encode(dict(directory)) != data


def test_pairs_may_come_from_a_generator():
    pairs = ((name, np.uint8(1)) for name in "ba")
    assert list(kiln_arrow.decode(kiln_arrow.encode(pairs))) == ["b", "a"]


def test_bytes_do_not_depend_on_the_hash_seed():
    script = "import numpy, kiln_arrow; print(kiln_arrow.encode({k: numpy.uint8(1) for k in {'x','y','z','a'}}).hex())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


# --- What NumPy arrays may look like ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMPYS_OWN, ids=str)
@pytest.mark.parametrize("order", "<>")
def test_equal_arrays_give_equal_bytes_whatever_their_layout_and_byte_order(dtype, order):
    plain = (np.arange(24) % 2).astype(dtype).reshape(2, 3, 4)
    x = plain.astype(dtype.newbyteorder(order))
    for view in (
        x,
        np.asfortranarray(x),
        x.T,
        x[:, ::-1],
        x[::, 1:, ::2],
        x[..., 1],
        np.broadcast_to(x[:1], (2, 3, 4)),
        np.swapaxes(x, 1, 2),
        x[::-1, ::-1, ::-1],
    ):
        expected = np.ascontiguousarray(view).astype(dtype)
        data = kiln_arrow.encode([("v", view)])
        assert data == kiln_arrow.encode([("v", expected)])
        target = bytearray(len(data))
        assert kiln_arrow.encode_into([("v", view)], target) == len(data)
        assert target == data
        assert the_same(kiln_arrow.decode(data)["v"], expected)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_strided_arrays_of_ml_dtypes_are_written_row_major(dtype):
    x = np.arange(12).astype(dtype).reshape(3, 4)
    for view in (x.T, x[::-1, ::2], np.asfortranarray(x)):
        assert the_same(round_trip(view), np.ascontiguousarray(view))
        target = bytearray(320)
        kiln_arrow.encode_into([(None, view)], target)
        assert target == kiln_arrow.encode([(None, np.ascontiguousarray(view))]).ljust(320, b"\0")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_swapping_bytes_keeps_nan_payloads(dtype):
    size = np.dtype(dtype).itemsize // (2 if dtype[0] == "c" else 1)
    signalling = {2: 0x7C01, 4: 0x7F800001, 8: 0x7FF0000000000001}[size]
    bits = np.array([signalling, 1 << (8 * size - 1)], f"u{size}")
    swapped = bits.byteswap().view(np.dtype(dtype).newbyteorder(">"))
    assert round_trip(swapped).tobytes() == bits.tobytes()


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (2, 0, 3), (0, 2**62), (1, 0, 1, 0, 1, 0, 1, 0)])
def test_zero_size_shapes_are_kept(shape):
    empty, one = np.zeros(shape, "u1"), np.ones(1)
    directory = kiln_arrow.decode(kiln_arrow.encode([("a", empty), ("b", one), ("c", empty), ("d", empty)]))
    assert [directory[name].shape for name in "abcd"] == [shape, (1,), shape, shape]
    assert directory["a"].dtype == np.uint8


def test_scalars_and_rank_0_arrays_keep_rank_0():
    directory = kiln_arrow.decode(kiln_arrow.encode({"s": np.float32(1.5), "a": np.array(7), "b": np.True_}))
    assert directory["s"].shape == ()
    assert directory["s"] == np.float32(1.5)
    assert directory["a"].shape == ()
    assert directory["a"] == 7
    assert directory["b"].dtype == bool
    assert directory["b"]


def test_rank_8_is_taken():
    assert round_trip(np.zeros((1, 2) * 4)).shape == (1, 2) * 4


def test_a_slice_of_bools_is_exact():
    a = np.array([[1, 0, 1], [0, 0, 1]], bool)
    assert round_trip(a[1:, 1:]).tolist() == [[False, True]]


@pytest.mark.parametrize("size", [1, 63, 64, 65, 5000])
def test_a_bool_byte_over_1_is_refused_wherever_it_stands(size):
    for at in {0, size // 2, size - 1}:
        raw = np.zeros(size, np.uint8)
        raw[at] = 2
        with pytest.raises(KilnError) as caught:
            kiln_arrow.encode({"m": raw.view(bool)})
        assert (caught.value.rule, caught.value.tensor, caught.value.name) == ("bool", 0, "m")
        data = bytearray(kiln_arrow.encode({"m": np.zeros(size, bool)}))
        data[256 + at] = 2
        with pytest.raises(KilnError) as caught:
            kiln_arrow.decode(data)
        assert (caught.value.rule, caught.value.offset) == ("bool", 256 + at)


@pytest.mark.parametrize(("code", "expected"), [("i", "i32"), ("q", "i64"), ("l", "i64"), ("I", "u32"), ("Q", "u64")])
def test_c_integers_of_the_same_width_are_the_same_dtype(code, expected):
    if np.dtype(code).itemsize * 8 != int(expected[1:]):
        pytest.fail(f"{code} is not as wide on this platform; give its dtype here")
    assert repr(kiln_arrow.decode(kiln_arrow.encode({"x": np.zeros(2, code)}))) == f"Directory('x': {expected}[2])"


def test_subclasses_and_metadata_of_dtypes_make_no_difference(tmp_path):
    plain = np.arange(4, dtype="i4").reshape(2, 2)
    mapped = np.memmap(tmp_path / "x", "i4", "w+", shape=(2, 2))
    mapped[:] = plain
    noted = plain.astype(np.dtype("i4", metadata={"unit": "m"}))
    subclass = plain.view(type("Other", (np.ndarray,), {}))
    assert {kiln_arrow.encode({"x": each}) for each in (plain, mapped, noted, subclass)} == {
        kiln_arrow.encode({"x": plain})
    }


def test_arrays_of_other_libraries_come_through_dunder_array():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3).astype(ml_dtypes.bfloat16)

    assert round_trip(Array()).dtype == ml_dtypes.bfloat16


# --- Views ------------------------------------------------------------------------------------------------------------


def test_views_lie_in_the_buffer_and_keep_it_alive():
    data = kiln_arrow.encode({"w": np.arange(1000.0)})
    address = np.frombuffer(data, np.uint8).__array_interface__["data"][0]
    view = kiln_arrow.decode(data, copy=False)["w"]
    assert view.__array_interface__["data"][0] == address + 256
    del data
    gc.collect()
    assert view.sum() == 499500


@pytest.mark.parametrize("as_buffer", [bytes, bytearray, memoryview, lambda data: np.frombuffer(bytearray(data), "u1")])
def test_views_cannot_be_written_nor_made_writable(as_buffer):
    buffer = as_buffer(kiln_arrow.encode([("a", np.arange(4)), ("o", Opaque("u1", (1,), "l", b"x"))]))
    directory = kiln_arrow.decode(buffer)
    with pytest.raises(ValueError, match="read-only"):
        directory["a"][0] = 9
    with pytest.raises(ValueError, match="WRITEABLE"):
        directory["a"].flags.writeable = True
    opaque = directory.tensors[1][1].data
    assert opaque.readonly
    for view in (directory["a"], opaque, memoryview(directory["a"])):
        with pytest.raises(ValueError, match="WRITEABLE"):  # NumPy looks past a memoryview at what it is a view of
            np.ndarray((1,), np.uint8, view).flags.writeable = True
    base = directory["a"].base
    while isinstance(base, np.ndarray):
        with pytest.raises(ValueError, match="WRITEABLE"):
            base.setflags(write=True)
        base = base.base
    assert memoryview(base).readonly


@pytest.mark.parametrize("mutable", [False, True])
def test_arrows_memory_cannot_be_written_through_a_view(mutable):
    data = kiln_arrow.encode([("a", np.arange(4)), ("o", Opaque("u1", (1,), "l", b"x"))])
    buffer = pa.py_buffer(bytearray(data) if mutable else data)
    assert buffer.is_mutable == mutable
    for _, tensor in kiln_arrow.decode(buffer).tensors:
        source = tensor.data if isinstance(tensor, Opaque) else tensor
        assert memoryview(source).readonly
        for made in (np.ndarray((1,), np.uint8, source), np.asarray(source), np.frombuffer(source, np.uint8)):
            with pytest.raises(ValueError, match="WRITEABLE"):
                made.flags.writeable = True


def test_reading_takes_no_memory_for_the_payload():
    data = kiln_arrow.encode({"w": np.zeros(1 << 22)})
    tracemalloc.start()
    kiln_arrow.decode(data)["w"].shape  # noqa: B018
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 16


@pytest.mark.parametrize("row", kiln_arrow.DTYPES, ids=lambda row: row.name)
@pytest.mark.parametrize("shift", [0, 1, 2, 4, 8])
def test_copies_are_made_as_numpy_2_makes_them(row, shift):
    data = kiln_arrow.encode({"x": np.ones(3, row.numpy)})
    memory = np.zeros(len(data) + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64 + shift
    buffer = memory[start : start + len(data)]
    buffer[:] = np.frombuffer(data, np.uint8)
    suits = shift % row.numpy.alignment == 0

    found = kiln_arrow.decode(buffer)["x"]
    assert np.shares_memory(found, memory) == suits
    assert found.flags.aligned
    assert not found.flags.writeable
    copied = kiln_arrow.decode(buffer, copy=True)["x"]
    assert not np.shares_memory(copied, memory)
    assert copied.flags.writeable
    for never in (False, 0, np.False_):
        if suits:
            assert np.shares_memory(kiln_arrow.decode(buffer, copy=never)["x"], memory)
        else:
            with pytest.raises(ValueError, match=r"copy=False.*'x'"):
                kiln_arrow.decode(buffer, copy=never)
    assert the_same(found, np.ones(3, row.numpy))
    assert the_same(copied, found)


def test_copies_do_not_see_later_changes_of_the_buffer():
    buffer = bytearray(kiln_arrow.encode([("x", np.uint8([1])), (None, Opaque("u1", (), "l", b"\1"))]))
    copied, viewed = kiln_arrow.decode(buffer, copy=True), kiln_arrow.decode(buffer)
    buffer[384] = buffer[448] = 5
    assert copied["x"] == 1
    assert bytes(copied.tensors[1][1].data) == b"\1"
    assert bytes(viewed.tensors[1][1].data) == b"\5"


@pytest.mark.parametrize("length", range(140))
def test_every_payload_starts_on_a_line_whatever_the_length_of_names(length):
    tensors = [("x" * length, np.zeros(3, "u1")), ("y", np.arange(2.0))]
    directory = kiln_arrow.decode(kiln_arrow.encode(tensors))
    view = directory["y"]
    base = np.frombuffer(view.base, np.uint8).__array_interface__["data"][0]
    assert (view.__array_interface__["data"][0] - base) % 64 == 0
    assert view.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("make", [lambda: np.zeros((2, 4), "f4")[:, ::2], lambda: memoryview(bytes(128))[::2]])
def test_a_strided_buffer_is_no_directory(make):
    with pytest.raises(BufferError):
        kiln_arrow.decode(make())


def test_any_contiguous_buffer_may_hold_a_directory():
    data = kiln_arrow.encode({"x": np.arange(3)})
    for buffer in (np.frombuffer(data, "f8"), np.frombuffer(data, "u1").reshape(-1, 64), memoryview(data).cast("b")):
        assert kiln_arrow.decode(buffer)["x"].tolist() == [0, 1, 2]
    with pytest.raises(KilnEOFError):
        kiln_arrow.decode(np.empty((0, 3)))
    with pytest.raises(TypeError):
        kiln_arrow.decode("KLNT")


# --- Hostile numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2**20, 2**40, 2**57 - 1, 2**63, 2**64 - 1])
def test_a_claimed_count_costs_no_memory(count):
    data = bytearray(kiln_arrow.encode({"x": np.zeros(3)}))
    data[8:16] = count.to_bytes(8, "little")
    tracemalloc.start()
    with pytest.raises(KilnError):
        kiln_arrow.validate(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 16


# --- encode_into ------------------------------------------------------------------------------------------------------


def test_a_refused_tensor_leaves_the_buffer_untouched():
    target = bytearray(b"\xaa" * 1000)
    bad = np.uint8([2]).view(bool)
    for tensors in (
        [("a", np.zeros(3)), ("b", bad)],
        [("a", np.zeros(3)), ("a", np.zeros(3))],
        {"a": np.zeros(3, "M8[s]")},
    ):
        with pytest.raises(KilnError):
            kiln_arrow.encode_into(tensors, target)
        assert target == b"\xaa" * 1000


@pytest.mark.parametrize("size", [0, 1, 63, 319])
def test_a_buffer_that_is_too_small_is_left_untouched(size):
    target = bytearray(b"\xaa" * size)
    with pytest.raises(KilnError) as caught:
        kiln_arrow.encode_into({"x": np.zeros(3)}, target)
    assert caught.value.rule == "buffer"
    assert target == b"\xaa" * size


def test_tensors_may_lie_in_the_buffer_they_are_written_to():
    tensors = [("a", np.arange(40, dtype="i2")), ("b", np.arange(40.0)), ("c", Opaque("u1", (3,), "l", b"xyz"))]
    target = bytearray(kiln_arrow.encode(tensors))
    reordered = list(reversed(kiln_arrow.decode(target).tensors))
    expected = kiln_arrow.encode(list(reversed(tensors)))
    assert kiln_arrow.encode_into(reordered, target) == len(expected)
    assert target == expected


def test_any_writable_contiguous_buffer_is_a_target():
    tensors = {"x": np.arange(3)}
    for target in (bytearray(320), np.zeros(40, "f8"), np.zeros((5, 64), "u1"), memoryview(bytearray(320))):
        assert kiln_arrow.encode_into(tensors, target) == 320
        assert bytes(target) == kiln_arrow.encode(tensors)


def test_an_unaligned_target_is_written_too():
    target = memoryview(bytearray(321))[1:]
    x = np.arange(6, dtype=">f8").reshape(2, 3).T
    kiln_arrow.encode_into({"x": x}, target)
    assert bytes(target) == kiln_arrow.encode({"x": x})


def test_a_size_past_what_there_is_can_be_told_but_2_64_cannot():
    huge = np.broadcast_to(np.uint8(1), (2**62,))
    assert kiln_arrow.encoded_size({"x": huge}) == 256 + 2**62
    with pytest.raises(KilnError) as caught:
        kiln_arrow.encoded_size([(None, huge)] * 4)
    assert caught.value.rule == "overflow"


# --- Directory and Opaque ---------------------------------------------------------------------------------------------


def test_a_directory_maps_the_names_of_plain_arrays():
    opaque = Opaque("f4", (2, 2), "csr", b"...")
    directory = kiln_arrow.decode(kiln_arrow.encode([("o", opaque), (None, np.uint8(1)), ("x", np.uint8(2))]))
    assert list(directory) == ["x"]
    assert len(directory) == 1
    assert "o" not in directory
    assert directory.tensors[0] == ("o", opaque)
    with pytest.raises(KeyError, match="tensors"):
        directory["o"]
    with pytest.raises(KeyError):
        directory["y"]


def test_directories_are_equal_when_their_bytes_are():
    x, nan = np.float32([1]), np.float32([np.nan])
    assert kiln_arrow.decode(kiln_arrow.encode({"x": nan})) == Directory([("x", nan)])
    assert Directory([("x", x)]) != Directory([("y", x)])
    assert Directory([("x", x)]) != Directory([("x", x.astype("f8"))])
    assert Directory([("x", x), ("y", x)]) != Directory([("y", x), ("x", x)])
    assert Directory([("x", x)]) != {"x": x}
    with pytest.raises(TypeError):
        hash(Directory([]))


def test_directories_and_opaque_tensors_survive_pickling():
    data = kiln_arrow.encode([("o", Opaque("f4", (2,), "csr", b"...")), ("x", np.arange(3))])
    directory = pickle.loads(pickle.dumps(kiln_arrow.decode(data)))
    assert kiln_arrow.encode(directory) == data


def test_a_directory_says_what_it_holds():
    directory = Directory([("a", np.zeros((2, 3), "f4")), (None, Opaque("i8", (4,), "csr", b""))])
    assert repr(directory) == "Directory('a': f32[2, 3], None: i64[4] in layout 'csr')"


def test_opaque_tensors_are_equal_by_their_parts():
    one = Opaque("float32", [2, 2], "csr", b"ab")
    assert one == Opaque(np.dtype("f4"), (2, 2), "csr", bytearray(b"ab"))
    assert one != Opaque("float32", (2, 2), "csr", b"ac")
    assert one != Opaque("float32", (2, 2), "coo", b"ab")


# --- Remembered fronts ------------------------------------------------------------------------------------------------


def test_what_follows_a_remembered_front_is_checked_all_the_same():
    data = kiln_arrow.encode([("x", np.uint8([1, 2, 3])), ("m", np.array([True]))])
    kiln_arrow.validate(data)
    for changed, rule in (
        (data[:-1], "eof"),
        (data[:450], "eof"),
        (data[:300], "eof"),
        (data + b"\0", "trailing"),
        (data[:387] + b"\1" + data[388:], "padding"),
        (data[:448] + b"\2" + data[449:], "bool"),
        (data[:-1] + b"\1", "padding"),
    ):
        with pytest.raises(KilnError) as caught:
            kiln_arrow.validate(changed)
        assert caught.value.rule == rule


def test_remembered_fronts_are_few_and_small_whatever_is_read():
    _REMEMBERED.clear()
    for number in range(600):
        kiln_arrow.validate(kiln_arrow.encode([(f"n{number}" + "x" * (number % 9 * 300), np.uint8(1))]))
        with contextlib.suppress(KilnError):
            kiln_arrow.validate(kiln_arrow.encode([(f"m{number}", np.uint8([1]))])[:-1])
        assert len(_REMEMBERED) <= 512
    assert max(map(len, _REMEMBERED)) <= 2048


def test_threads_read_the_same_as_one():
    cells = [kiln_arrow.encode([(f"n{number}", np.arange(number % 5))]) for number in range(700)]
    wrong = []

    def read(start):
        for number in range(start, 1400, 3):
            found = kiln_arrow.decode(cells[number % 700])
            if list(found) != [f"n{number % 700}"] or found[f"n{number % 700}"].shape != (number % 700 % 5,):
                wrong.append(number)

    threads = [threading.Thread(target=read, args=(start,)) for start in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
