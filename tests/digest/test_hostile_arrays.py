"""Whatever an array says, it is refused by a typed error or hashed as the specification has it, and ends no process.

Alone, joined with others, sliced, in a stream and in a digest it is judged alike, and by both kernels.
"""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest

import arrow_digest as ad
from arrow_digest.arrays.describe import describe
from helpers import child, ipc_bytes
from helpers.ipc_bytes import Stream

H = ad.logical_hash

# --- Drawn arrays -----------------------------------------------------------------------------------------------------

SAMPLE = 600
JUDGE = """
from helpers import judging
return json.dumps(judging.judge(item))
"""


@pytest.fixture(scope="module")
def verdicts():
    def of(kernels):
        environment = {"ARROW_DIGEST_KERNELS": kernels}
        return child.each(range(SAMPLE), JUDGE, memory=None, seconds=300, environment=environment)

    return {kernels: of(kernels) for kernels in {"portable", ad.kernels().name}}


def test_drawn_arrays_are_refused_by_type_or_hash_like_the_second_opinion_in_every_way(verdicts):
    for kernels, found in verdicts.items():
        assert [(kernels, seed, verdict) for seed, verdict in enumerate(found) if "error" in verdict] == []


def test_drawn_arrays_are_often_sound_and_often_broken(verdicts):
    text = [verdict["hash"] for verdict in verdicts["portable"]]
    assert sum(answer.startswith('[["hash"') for answer in text) > SAMPLE // 3
    for rule in ("views", "indices", "sizes", "offsets", "run_ends", "buffer"):
        assert any(f'"{rule}"' in answer for answer in text), rule


def test_both_kernels_judge_drawn_arrays_alike(verdicts):
    assert len({tuple(verdict["hash"] for verdict in found) for found in verdicts.values()}) == 1


# --- What lies under a null of a struct, or of a list, or where nothing points ----------------------------------------


def buffers(*parts):
    return [None if part is None else pa.py_buffer(part) for part in parts]


def wild_view() -> pa.Array:
    """A view that is sound and one that is not."""
    views = struct.pack("<i12s", 1, b"a") + struct.pack("<i4sii", 1 << 30, b"", 9, -4)
    return pa.Array.from_buffers(pa.string_view(), 2, buffers(None, views))


def wild_index() -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 99], pa.int8()), pa.array(["a"]), safe=False)


def wild_inner_index() -> pa.Array:
    """An index to an index that is not sound."""
    return pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), wild_index())


def wild_extent() -> pa.Array:
    starts, sizes = np.array([0, 2**31 - 1], "i4"), np.array([1, 2**31 - 1], "i4")
    return pa.Array.from_buffers(pa.list_view(pa.string()), 2, buffers(None, starts, sizes), children=[pa.array(["a"])])


def two_runs(values: pa.Array) -> pa.Array:
    """Runs of one row each, which pyarrow has not validated."""
    data_type = pa.run_end_encoded(pa.int16(), values.type)
    return pa.Array.from_buffers(data_type, 2, [None], children=[pa.array([1, 2], pa.int16()), values])


def wild_run() -> pa.Array:
    return two_runs(wild_view())


def wild_item() -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), wild_view())


WILD = {
    "views": wild_view,
    "indices": wild_index,
    "indices of indices": wild_inner_index,
    "sizes": wild_extent,
    "runs of views": wild_run,
    "lists of views": wild_item,
}
RULES = {"runs of views": "views", "lists of views": "views", "indices of indices": "indices"}


def in_struct(array: pa.Array, null: bool) -> pa.Array:
    return pa.StructArray.from_arrays([array], ["x"], mask=pa.array([False, null]))


def in_structs(array: pa.Array, null: bool) -> pa.Array:
    return pa.StructArray.from_arrays([in_struct(array, False)], ["y"], mask=pa.array([False, null]))


def in_dictionary_of_structs(array: pa.Array, null: bool) -> pa.Array:
    indices = pa.array([0, None if null else 1], pa.int8())
    return pa.DictionaryArray.from_arrays(indices, in_struct(array, False))


def in_dictionary_of_null_structs(array: pa.Array, null: bool) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), in_struct(array, null))


def in_runs_of_structs(array: pa.Array, null: bool) -> pa.Array:
    return two_runs(in_struct(array, null))


def in_list(array: pa.Array, null: bool) -> pa.Array:
    offsets = pa.array([0, 1, 2], pa.int32())
    return pa.ListArray.from_arrays(offsets, array, mask=pa.array([False, null]))


def in_fixed_size_list(array: pa.Array, null: bool) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(array, 1, mask=pa.array([False, null]))


def in_list_view(array: pa.Array, null: bool) -> pa.Array:
    sizes = pa.array([1, 0 if null else 1], pa.int32())
    return pa.ListViewArray.from_arrays(pa.array([0, 1], pa.int32()), sizes, array, mask=pa.array([False, null]))


def in_dictionary(array: pa.Array, null: bool) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, None if null else 1], pa.int8()), array)


AROUND = (
    *(in_struct, in_structs, in_dictionary_of_structs, in_dictionary_of_null_structs, in_runs_of_structs),
    *(in_list, in_fixed_size_list, in_list_view, in_dictionary),
)


def every_way(array: pa.Array) -> list[pa.Table | pa.RecordBatchReader]:
    """The array once, and twice in ways in which chunks may be joined."""
    table = pa.table({"c": array})
    twice = pa.table({"c": pa.chunked_array([array, array])})
    parts = pa.table({"c": pa.chunked_array([array.slice(0, 1), array.slice(1)] * 2)})
    return [
        pa.concat_tables([table]),
        twice,
        parts,
        pa.RecordBatchReader.from_batches(table.schema, twice.to_batches()),
    ]


@pytest.mark.parametrize("around", AROUND, ids=lambda around: around.__name__)
@pytest.mark.parametrize("name", WILD)
def test_what_lies_under_a_null_is_not_looked_at_and_what_lies_elsewhere_is(name, around):
    null, value = around(WILD[name](), True), around(WILD[name](), False)
    nothing_wrong = pa.array([["a"], ["a"]]) if name in ("sizes", "lists of views") else pa.array(["a", "a"])
    expected = [H(data) for data in every_way(around(nothing_wrong, True))]
    assert [H(data) for data in every_way(null)] == expected
    for data in every_way(value):
        with pytest.raises(ad.InvalidArrayError) as caught:
            H(data)
        assert caught.value.rule == RULES.get(name, name)


@pytest.mark.parametrize(
    "around", [around for around in AROUND if around is not in_list_view], ids=lambda around: around.__name__
)
@pytest.mark.parametrize("array", [pa.array(["a", "b"]), pa.array([["a"], ["b"]])], ids=["text", "lists"])
def test_offsets_have_to_rise_under_nulls_too(around, array):
    children = [array.values] if pa.types.is_list(array.type) else None
    contents = buffers(np.array([0, 2, 1], "i4"), *([] if children else [b"ab"]))
    falling = around(pa.Array.from_buffers(array.type, 2, [None, *contents], children=children), True)
    for data in every_way(falling):
        with pytest.raises(ad.InvalidArrayError) as caught:
            H(data)
        assert caught.value.rule == "offsets"


def test_a_place_to_which_no_list_view_or_index_points_is_not_looked_at():
    starts, sizes = pa.array([0, 2], pa.int32()), pa.array([1, 1], pa.int32())
    three = pa.Array.from_buffers(
        pa.string_view(), 3, buffers(None, b"".join(bytes(wild_view().buffers()[1])[at : at + 16] for at in (0, 16, 0)))
    )
    lists = pa.ListViewArray.from_arrays(starts, sizes, three)
    assert H(pa.table({"c": lists})) == H(pa.table({"c": [["a"], ["a"]]}))
    entries = pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int8()), three)
    assert H(pa.table({"c": entries})) == H(pa.table({"c": ["a", "a"]}))


# --- Levels without slots ---------------------------------------------------------------------------------------------


def no_slots(data_type: pa.DataType, *contents: bytes, children=()) -> pa.Array:
    return pa.Array.from_buffers(data_type, 0, buffers(None, *contents), children=list(children))


def empty_levels() -> dict[str, pa.Array]:
    """Arrays without slots whose one offset leads far away, as pyarrow finds them sound."""
    far, text = struct.pack("<q", 1 << 59), pa.array([], pa.binary())
    near = struct.pack("<i", 1 << 30)
    return {
        "text": no_slots(pa.large_binary(), far, b"x"),
        "lists": no_slots(pa.large_list(pa.binary()), far, children=[text]),
        "lists of lists": no_slots(
            pa.list_(pa.list_(pa.string())), near, children=[pa.array([], pa.list_(pa.string()))]
        ),
        "list views": no_slots(pa.list_view(pa.binary()), near, near, children=[text]),
        "fixed-size lists": no_slots(pa.list_(pa.binary(), 3), children=[text]),
        "dictionary": pa.DictionaryArray.from_arrays(pa.array([], pa.int8()), no_slots(pa.large_binary(), far, b"x")),
        "runs": pa.Array.from_buffers(
            pa.run_end_encoded(pa.int32(), pa.binary()), 0, [None], children=[pa.array([], pa.int32()), text]
        ),
    }


def holders(level: pa.Array) -> dict[str, pa.Array]:
    """One row that has the empty level below it."""
    return {
        "a list": pa.ListArray.from_arrays(pa.array([0, 0], pa.int32()), level),
        "a list of lists": pa.ListArray.from_arrays(
            pa.array([0, 1], pa.int32()), pa.LargeListArray.from_arrays(pa.array([0, 0], pa.int64()), level)
        ),
        "a list view": pa.ListViewArray.from_arrays(pa.array([0], pa.int32()), pa.array([0], pa.int32()), level),
        "a fixed-size list": pa.Array.from_buffers(pa.list_(level.type, 0), 1, [None], children=[level]),
        "a null index": pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), level),
        "a struct of a list": pa.StructArray.from_arrays(
            [pa.ListArray.from_arrays(pa.array([0, 0], pa.int32()), level)], ["x"]
        ),
    }


EMPTY = {(inner, outer): holder for inner, level in empty_levels().items() for outer, holder in holders(level).items()}


@pytest.mark.parametrize(("inner", "outer"), EMPTY)
def test_nothing_is_asked_of_a_level_without_slots(inner, outer):
    holder = EMPTY[inner, outer]
    rows = []
    for copies in (1, 2, 300):
        table = pa.table({"c": pa.chunked_array([holder] * copies)})
        digest = ad.RecordDigest(table.schema)
        digest.update(table)
        assert digest.multihash() == H(table.to_reader()) == H(table)
        assert ad.explain(table).logical == H(table)
        rows.append(bytes(ad.explain(table, byte_count=1 << 20).columns[0].first_bytes))
    one = {"a null index": b"\0", "a list of lists": struct.pack("<qq", 1, 0)}.get(outer, bytes(8))
    assert rows == [one, one * 2, one * 300]


@pytest.mark.parametrize("inner", empty_levels())
def test_an_array_without_slots_adds_nothing_whatever_it_says(inner):
    level = empty_levels()[inner]
    table = pa.table({"c": level})
    digest = ad.RecordDigest(table.schema)
    before = digest.digest()
    for data in (table, table.to_reader(), pa.table({"c": pa.chunked_array([level, level])})):
        digest.update(data)
    assert digest.digest() == before == H(table).digest
    array = ad.ArrayDigest(level.type)
    before = array.digest()
    array.update(level)
    assert array.digest() == before


# --- Lengths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column", [pa.array([1, 2]), pa.array(["a", "b"]), pa.array([[1], []]), pa.array([{"x": 1}] * 2)]
)
def test_a_batch_of_a_negative_number_of_rows_is_refused(column, tmp_path):
    stream = Stream(ipc_bytes.write([pa.record_batch({"c": column})]))
    (tmp_path / "negative.arrows").write_bytes(bytes(stream.rows(-1).node(0, length=-1)))
    body = "return arrow_digest.logical_hash(item)"
    (outcome,) = child.each([str(tmp_path / "negative.arrows")], body)
    assert (outcome["error"], outcome["rule"]) in {("InvalidArrayError", "length"), ("UnreadableError", "corrupt")}


class Imported:
    """An int8 array whose exporter says another length or offset than it has."""

    def __init__(self, **said: int) -> None:
        self.said = said

    def array(self) -> pa.Array:
        ffi = pytest.importorskip("pyarrow.cffi").ffi
        place = ffi.new("struct ArrowArray*")
        array = pa.array([1, 2, 3], pa.int8())
        array._export_to_c(int(ffi.cast("uintptr_t", place)))
        for name, number in self.said.items():
            setattr(place, name, number)
        return pa.Array._import_from_c(int(ffi.cast("uintptr_t", place)), array.type)


@pytest.mark.parametrize("said", [{"length": -1}, {"length": 1, "offset": -1}], ids=str)
def test_an_array_of_negative_length_or_offset_is_refused(said):
    array = Imported(**said).array()
    digest = ad.ArrayDigest(pa.int8())
    before = digest.digest()
    with pytest.raises(ad.InvalidArrayError) as caught:
        digest.update(array)
    assert caught.value.rule == "length"
    assert digest.digest() == before
    with pytest.raises(ad.InvalidArrayError) as caught:
        describe(array, ("c",))
    assert (caught.value.rule, caught.value.path) == ("length", ("c",))


# --- Joined or not ----------------------------------------------------------------------------------------------------


def test_runs_with_more_values_than_run_ends_are_refused_alone_joined_and_inside():
    data_type = pa.run_end_encoded(pa.int32(), pa.int8())
    runs = pa.Array.from_buffers(
        data_type, 1, [None], children=[pa.array([1], pa.int32()), pa.array([7, 8, 9], pa.int8())]
    )
    for array in (
        runs,
        pa.StructArray.from_arrays([runs], ["x"]),
        pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), runs),
        pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), runs),
        pa.ExtensionArray.from_storage(pa.opaque(data_type, "a", "b"), runs),
    ):
        for copies in (1, 2, 5):
            with pytest.raises(ad.InvalidArrayError) as caught:
                H(pa.table({"c": pa.chunked_array([array] * copies)}))
            assert caught.value.rule == "run_ends"


def test_runs_that_only_one_slice_of_lists_has_are_judged():
    data_type = pa.run_end_encoded(pa.int32(), pa.int8())
    runs = pa.Array.from_buffers(
        data_type, 1, [None], children=[pa.array([1], pa.int32()), pa.array([7, 8], pa.int8())]
    )
    offsets, sizes = pa.array([0, 0], pa.int32()), pa.array([0, 1], pa.int32())
    for lists in (
        pa.ListViewArray.from_arrays(offsets, sizes, runs),
        pa.ListArray.from_arrays(pa.array([0, 0, 1], pa.int32()), runs),
    ):
        for parts in ([lists], [lists.slice(0, 1), lists.slice(1)], [lists.slice(1), lists.slice(0, 1)]):
            with pytest.raises(ad.InvalidArrayError) as caught:
                H(pa.table({"c": pa.chunked_array(parts)}))
            assert caught.value.rule == "run_ends"


def test_chunks_of_one_memory_and_other_lengths_are_all_looked_at():
    """Two arrays over the same buffers, of which one sees less of a broken child: the other's fault is found."""
    data, inner = b"abcdefgh", np.array([0, 1, 2, 3, 1, 5], "i4")
    outer = pa.py_buffer(np.array([0, 2, 5], "i4"))

    def array(items: int, offset: int) -> pa.Array:
        child_array = pa.Array.from_buffers(pa.binary(), items, [None, shared, heap])
        return pa.Array.from_buffers(pa.list_(pa.binary()), 1, [None, outer], offset=offset, children=[child_array])

    shared, heap = pa.py_buffer(inner), pa.py_buffer(data)
    sound, broken = array(2, 0), array(5, 1)
    with pytest.raises(ad.InvalidArrayError):
        H(pa.table({"c": broken}))
    with pytest.raises(ad.InvalidArrayError):
        H(pa.table({"c": pa.chunked_array([sound, broken])}))


def in_extensions(array: pa.Array) -> pa.Array:
    for _ in range(2):
        array = pa.ExtensionArray.from_storage(pa.opaque(array.type, "kind", "vendor"), array)
    return array


@pytest.mark.parametrize("copies", [1, 2, 40])
def test_text_in_extensions_of_extensions_is_hashed_however_it_is_chunked(copies):
    lists, entries = pa.array([["a", None]]), pa.array(["x" * 20], pa.string_view()).dictionary_encode()
    for array, inside in (
        (lists, pa.ListArray.from_arrays(lists.offsets, in_extensions(lists.values))),
        (entries, pa.DictionaryArray.from_arrays(entries.indices, in_extensions(entries.dictionary))),
    ):
        plain, extended = (pa.table({"c": pa.chunked_array([part] * copies)}) for part in (array, inside))
        assert H(plain) == H(extended)
