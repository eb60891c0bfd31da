"""Arrays that point outside themselves are refused by rule and place, whatever way they come; odd values are hashed."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import arrow_digest as ad
from arrow_digest.arrays import batches as chunks
from arrow_digest.arrays import joinable
from arrow_digest.rules.arrow0.types import encode_type
from helpers import child, ipc_bytes
from helpers.ipc_bytes import Stream
from helpers.layouts import recast


class Damage(NamedTuple):
    array: pa.Array
    harm: Callable[[Stream], object]
    rule: str
    path: tuple[str, ...] = ("c",)
    dictionary: bool = False  # whether the harm is done to the dictionary's batch

    def stream(self) -> bytes:
        whole = ipc_bytes.write([pa.record_batch({"c": self.array})])
        damaged = Stream(whole, dictionary=self.dictionary)
        self.harm(damaged)
        assert bytes(damaged) != whole
        return bytes(damaged)


TEXT = ["aa", "bb", None, "dddd", "e"]
LISTS = [[1, 2], None, [3], [], [4, 5, 6]]


def text(t: pa.DataType | None = None) -> pa.Array:
    return pa.array(TEXT, t or pa.string())


def views(*longs: str) -> pa.Array:
    return pa.array(longs or ["x" * 20, None, "short", "y" * 30], pa.string_view())


def runs(run_end_type: pa.DataType | None = None) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([2, 4, 6], run_end_type or pa.int16()), pa.array([10, 20, 30]))


def codes(index_type: pa.DataType) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], index_type), pa.array(["a", "b"]))


def rows_of(column: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([pa.array(range(len(column))), column], ["n", "x"])


# Which buffers: validity, offsets, data of the outermost array first, then its children's, depth first.
DAMAGES = {
    "offsets that fall": Damage(text(), lambda s: s.put(1, "i", 100, at=8), "offsets"),
    "offsets that start below zero": Damage(text(), lambda s: s.put(1, "i", -5), "offsets"),
    "offsets that end past the data": Damage(text(), lambda s: s.put(1, "i", 1 << 30, at=20), "offsets"),
    "offsets into no data": Damage(text(), lambda s: s.buffer(2, length=0), "offsets"),
    "offsets into short data": Damage(text(), lambda s: s.buffer(2, length=8), "offsets"),
    "no offsets": Damage(text(), lambda s: s.buffer(1, length=0), "buffer"),
    "one offset too few": Damage(text(), lambda s: s.buffer(1, length=20), "buffer"),
    "wide offsets that fall": Damage(text(pa.large_string()), lambda s: s.put(1, "q", 1 << 60, at=16), "offsets"),
    "wide offsets below zero": Damage(text(pa.large_binary()), lambda s: s.put(1, "q", -(1 << 60)), "offsets"),
    "wide offsets past the data": Damage(text(pa.large_binary()), lambda s: s.put(1, "q", 1 << 60, at=40), "offsets"),
    "rows that no buffer holds": Damage(text(), lambda s: s.node(0, length=1 << 20).rows(1 << 20), "buffer"),
    "values too short": Damage(pa.array([1, 2, 3]), lambda s: s.buffer(1, length=16), "buffer"),
    "no values": Damage(pa.array([1, 2, 3]), lambda s: s.buffer(1, length=0), "buffer"),
    "bits too short": Damage(pa.array([True] * 70), lambda s: s.buffer(1, length=8), "buffer"),
    "decimals too short": Damage(pa.array([1, 2], pa.decimal256(5, 0)), lambda s: s.buffer(1, length=32), "buffer"),
    "fixed binary too short": Damage(pa.array([b"abc"] * 3, pa.binary(3)), lambda s: s.buffer(1, length=8), "buffer"),
    "no validity where nulls are": Damage(pa.array([1, None]), lambda s: s.buffer(0, length=0), "buffer"),
    "validity too short": Damage(pa.array([1, None] * 40), lambda s: s.buffer(0, length=8), "buffer"),
    "validity too short to count": Damage(
        pa.array([b"", None], pa.binary(0)), lambda s: s.node(0, length=1 << 34, null_count=-1).rows(1 << 34), "buffer"
    ),
    "more nulls than rows": Damage(pa.array([1, None]), lambda s: s.node(0, null_count=3), "nulls"),
    "a view of negative length": Damage(views(), lambda s: s.put(1, "i", -1), "views"),
    "a view into buffer -1": Damage(views(), lambda s: s.put(1, "i", -1, at=8), "views"),
    "a view into a buffer that is not there": Damage(views(), lambda s: s.put(1, "i", 1, at=8), "views"),
    "a view that starts below zero": Damage(views(), lambda s: s.put(1, "i", -1, at=12), "views"),
    "a view that ends past its buffer": Damage(views(), lambda s: s.put(1, "i", 45, at=12), "views"),
    "a view too long": Damage(views(), lambda s: s.put(1, "i", (1 << 31) - 1), "views"),
    "views too short": Damage(views(), lambda s: s.buffer(1, length=48), "buffer"),
    "a view's data gone": Damage(views(), lambda s: s.buffer(2, length=0), "views"),
    "list offsets that fall": Damage(pa.array(LISTS), lambda s: s.put(1, "i", 6, at=8), "offsets"),
    "list offsets below zero": Damage(pa.array(LISTS), lambda s: s.put(1, "i", -1), "offsets"),
    "list offsets past the items": Damage(pa.array(LISTS), lambda s: s.put(1, "i", 7, at=20), "offsets"),
    "wide list offsets that fall": Damage(
        pa.array(LISTS, pa.large_list(pa.int8())), lambda s: s.put(1, "q", 1 << 40, at=16), "offsets"
    ),
    "fewer items than offsets": Damage(pa.array(LISTS), lambda s: s.node(1, length=5), "offsets"),
    "items of negative count": Damage(pa.array(LISTS), lambda s: s.node(1, length=-1), "child_length"),
    "items too short": Damage(pa.array(LISTS), lambda s: s.buffer(3, length=8), "buffer"),
    "too few fixed-size items": Damage(
        pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int8(), 2)), lambda s: s.node(1, length=5), "child_length"
    ),
    "fixed-size items of negative count": Damage(
        pa.array([[1, 2]], pa.list_(pa.int8(), 2)), lambda s: s.node(1, length=-2), "child_length"
    ),
    "a list view's size too large": Damage(
        pa.array(LISTS, pa.list_view(pa.int8())), lambda s: s.put(2, "i", 7), "sizes"
    ),
    "a list view's size below zero": Damage(
        pa.array(LISTS, pa.list_view(pa.int8())), lambda s: s.put(2, "i", -1), "sizes"
    ),
    "a list view's offset past the items": Damage(
        pa.array(LISTS, pa.list_view(pa.int8())), lambda s: s.put(1, "i", 5), "sizes"
    ),
    "a list view that wraps": Damage(
        pa.array(LISTS, pa.large_list_view(pa.int8())),
        lambda s: s.put(1, "q", (1 << 63) - 1).put(2, "q", (1 << 63) - 1),
        "sizes",
    ),
    "no sizes": Damage(pa.array(LISTS, pa.list_view(pa.int8())), lambda s: s.buffer(2, length=0), "buffer"),
    **{
        f"an index past the dictionary, {t}": Damage(codes(t), lambda s, f=form: s.put(1, f, 2), "indices")
        for t, form in ((pa.int8(), "b"), (pa.uint8(), "B"), (pa.int32(), "i"), (pa.uint64(), "Q"))
    },
    "an index below zero": Damage(codes(pa.int16()), lambda s: s.put(1, "h", -1), "indices"),
    "the largest unsigned index": Damage(codes(pa.uint64()), lambda s: s.put(1, "Q", (1 << 64) - 1), "indices"),
    "indices too short": Damage(codes(pa.int64()), lambda s: s.buffer(1, length=24), "buffer"),
    "an empty dictionary": Damage(codes(pa.int8()), lambda s: s.node(0, length=0).rows(0), "indices", dictionary=True),
    "broken dictionary values": Damage(codes(pa.int8()), lambda s: s.put(1, "i", 99, at=4), "offsets", dictionary=True),
    "dictionary values too short": Damage(
        codes(pa.int8()), lambda s: s.node(0, length=1 << 40).rows(1 << 40), "buffer", dictionary=True
    ),
    "run ends that do not rise": Damage(runs(), lambda s: s.put(1, "h", 2, at=2), "run_ends"),
    "run ends that fall": Damage(runs(pa.int64()), lambda s: s.put(1, "q", 7, at=8), "run_ends"),
    "a run end of zero": Damage(runs(pa.int32()), lambda s: s.put(1, "i", 0), "run_ends"),
    "a run end below zero": Damage(runs(pa.int32()), lambda s: s.put(1, "i", -2), "run_ends"),
    "run ends that end early": Damage(runs(), lambda s: s.put(1, "h", 5, at=4), "run_ends"),
    "fewer run values than ends": Damage(runs(), lambda s: s.node(2, length=2), "run_ends"),
    "no runs": Damage(runs(), lambda s: s.node(1, length=0).node(2, length=0), "run_ends"),
    "run ends too short": Damage(runs(), lambda s: s.buffer(1, length=4), "buffer"),
    "run ends of negative count": Damage(runs(), lambda s: s.node(1, length=-1), "run_ends"),
    "a null among the run ends": Damage(
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int16()), pa.array([1, None])),
        lambda s: s.node(1, null_count=1).buffer(0, offset=0, length=8),
        "run_ends",
    ),
    "a struct's child too short": Damage(
        rows_of(pa.array([1, 2, 3])), lambda s: s.node(2, length=2), "child_length", ("c", "x")
    ),
    "a struct's child of negative length": Damage(
        rows_of(pa.array([1, 2, 3])), lambda s: s.node(2, length=-1), "child_length", ("c", "x")
    ),
    "a broken text in a struct": Damage(rows_of(text()), lambda s: s.put(4, "i", 100, at=8), "offsets", ("c", "x")),
    "a broken index in a struct": Damage(rows_of(codes(pa.int8())), lambda s: s.put(4, "b", 2), "indices", ("c", "x")),
    "a broken view in a struct": Damage(rows_of(views()), lambda s: s.put(4, "i", 9, at=8), "views", ("c", "x")),
    "validity of a struct too short": Damage(
        pa.array([{"x": 1}, None] * 40), lambda s: s.buffer(0, length=8), "buffer", ("c",)
    ),
    "broken text in a list": Damage(
        pa.array([["aa", "bb"], ["cc"]]), lambda s: s.put(3, "i", 1 << 28, at=4), "offsets"
    ),
    "broken view in a list": Damage(
        pa.array([["x" * 20], None], pa.list_(pa.string_view())), lambda s: s.put(3, "i", 1, at=8), "views"
    ),
    "a broken text in an extension": Damage(
        pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "a", "b"), text()),
        lambda s: s.put(1, "i", 100, at=8),
        "offsets",
    ),
    "an index past the dictionary in a list": Damage(
        pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), codes(pa.int8())),
        lambda s: s.put(3, "b", 2),
        "indices",
    ),
    "lists of lists whose inner offsets fall": Damage(
        pa.array([[[1], [2, 3]], [[4]]]), lambda s: s.put(3, "i", 4, at=4), "offsets"
    ),
    "run values broken": Damage(
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int16()), pa.array(["aa", "bb"])),
        lambda s: s.put(3, "i", 5, at=4),
        "offsets",
    ),
}

# Every way that the same broken batch can come.
WAYS = {
    "a file": "return arrow_digest.logical_hash(item)",
    "a batch": "return arrow_digest.logical_hash(pyarrow.ipc.open_stream(open(item, 'rb')).read_next_batch())",
    "a reader": "return arrow_digest.logical_hash(pyarrow.ipc.open_stream(open(item, 'rb')))",
    "one of many small batches": """
batch = pyarrow.ipc.open_stream(open(item, 'rb')).read_next_batch()
batches = [batch.slice(0, 0)] * 2 + [batch] * 3
return arrow_digest.logical_hash(pyarrow.RecordBatchReader.from_batches(batch.schema, batches))
""",
}


@pytest.fixture(scope="module")
def damaged_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    paths = {}
    for number, (name, damage) in enumerate(DAMAGES.items()):
        path = folder / f"{number}.arrows"
        path.write_bytes(damage.stream())
        paths[name] = str(path)
    return paths


@pytest.fixture(scope="module")
def outcomes(damaged_files):
    found = {way: child.each(list(damaged_files.values()), body) for way, body in WAYS.items()}
    return {(name, way): outcome for way, list_ in found.items() for name, outcome in zip(DAMAGES, list_, strict=True)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_broken_array_is_refused_by_rule_and_path(name, way, outcomes):
    damage, outcome = DAMAGES[name], outcomes[name, way]
    found = (outcome.get("error"), outcome.get("rule"), tuple(outcome.get("path") or ()))
    assert found == ("InvalidArrayError", damage.rule, damage.path), outcome


LIES_ABOUT_THE_MESSAGE = {
    "rows below zero": lambda s: s.rows(-1),
    "an array longer than its batch": lambda s: s.node(0, length=100),
    "an array of negative length": lambda s: s.node(0, length=-1),
    "a buffer past the end": lambda s: s.buffer(1, offset=1 << 40),
    "a buffer before the start": lambda s: s.buffer(1, offset=-8),
    "a buffer of negative length": lambda s: s.buffer(1, length=-8),
    "a buffer beside the grid": lambda s: s.buffer(1, offset=3),
}


def test_a_message_that_cannot_be_read_is_refused(tmp_path):
    paths = []
    for number, harm in enumerate(LIES_ABOUT_THE_MESSAGE.values()):
        damaged = Stream(ipc_bytes.write([pa.record_batch({"c": pa.array([1, None, 3])})]))
        harm(damaged)
        paths.append(str(tmp_path / f"{number}.arrows"))
        (tmp_path / f"{number}.arrows").write_bytes(bytes(damaged))
    for name, outcome in zip(LIES_ABOUT_THE_MESSAGE, child.each(paths, WAYS["a file"]), strict=True):
        assert (outcome.get("error"), outcome.get("rule")) == ("UnreadableError", "corrupt"), (name, outcome)


def many_kinds() -> pa.RecordBatch:
    return pa.record_batch(
        {
            "text": text(),
            "views": views("x" * 20, "y", "z" * 13, "", "w" * 40),
            "lists": pa.array([["a"], None, ["bb", None], [], ["c"]]),
            "list views": pa.array(LISTS, pa.list_view(pa.int8())),
            "fixed": pa.array([[1, 2], None, [3, 4], [5, 6], [7, 8]], pa.list_(pa.int16(), 2)),
            "codes": pa.array(TEXT).dictionary_encode(),
            "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int16()), pa.array(["a", None])),
            "structs": pa.array([{"x": "a", "y": 1.5}, None, {"x": None, "y": 2.5}, {"x": "b", "y": None}, None]),
            "bits": pa.array([True, None, False, True, False]),
        }
    )


def test_random_damage_to_a_stream_gives_a_hash_or_a_typed_error(tmp_path):
    whole = ipc_bytes.write([many_kinds()] * 2)
    rng = random.Random(7)
    paths = []
    for number in range(400):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2, 5])):
            at = rng.randrange(len(whole))
            damaged[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, damaged[at] ^ 1 << rng.randrange(8)])
        paths.append(str(tmp_path / f"{number}.arrows"))
        (tmp_path / f"{number}.arrows").write_bytes(damaged)
    outcomes = child.each(paths, WAYS["a file"])
    assert [o for o in outcomes if o.get("error", "").startswith(("untyped", "crash"))] == []
    assert {"hash", "error"} <= {key for outcome in outcomes for key in outcome}


# --- Tiny chunks are joined by pyarrow before they are encoded --------------------------------------------------------


def long_view(buffer: int, start: int = 0) -> pa.Array:
    view = struct.pack("<i4sii", 20, b"bbbb", buffer, start)
    return pa.Array.from_buffers(pa.binary_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(b"b" * 20)])


@pytest.mark.parametrize(("buffer", "start"), [(-1, 0), (1, 0), (2, 0), (0, 1), (0, -1)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_broken_view_among_tiny_chunks_does_not_become_a_sound_one(buffer, start, place):
    parts = [pa.array([b"x" * 20], pa.binary_view()) for _ in range(3)]
    parts[place] = long_view(buffer, start)
    for table in (pa.table({"c": pa.chunked_array(parts)}), pa.table({"c": pa.chunked_array(parts * 40)})):
        with pytest.raises(ad.InvalidArrayError) as caught:
            ad.logical_hash(table)
        assert (caught.value.rule, caught.value.path) == ("views", ("c",))
        with pytest.raises(ad.InvalidArrayError, match="views"):
            ad.logical_hash(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))


@pytest.mark.parametrize(
    "name", ["offsets that fall", "broken text in a list", "list offsets that fall", "a list view that wraps"]
)
def test_a_broken_chunk_is_refused_where_a_piece_ends_inside_it(name, damaged_files):
    code = """
import arrow_digest.arrays.batches as chunks
chunks._PIECE_ROWS = 2
batch = pyarrow.ipc.open_stream(open(argument, "rb")).read_next_batch()
result = outcome(lambda: arrow_digest.logical_hash(pyarrow.Table.from_batches([batch] * 50)))
"""
    outcome = child.run(code, damaged_files[name])
    assert (outcome.get("error"), outcome.get("rule")) == ("InvalidArrayError", DAMAGES[name].rule)


def texts(*offsets: int) -> pa.Array:
    return pa.Array.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abcdefgh")]
    )


def indexed(dictionary: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0, 0, 0, 0], pa.int8()), dictionary)


@pytest.mark.parametrize("many_entries", [0, joinable._MANY_ENTRIES])
@pytest.mark.parametrize(
    "wrap",
    [lambda array: array, lambda array: pa.StructArray.from_arrays([array], ["x"])],
    ids=["alone", "in a struct"],
)
def test_a_broken_dictionary_that_tiny_chunks_share_is_refused(wrap, many_entries, monkeypatch):
    monkeypatch.setattr(joinable, "_MANY_ENTRIES", many_entries)
    sound, broken = wrap(indexed(texts(0, 1, 2))), wrap(indexed(texts(0, 6, 2, 8)))
    for parts in (
        [broken.slice(row, 1) for row in range(4)],
        [broken.slice(row, 1) for row in range(1, 4)],
        [sound, broken.slice(1, 1)],
        [sound.slice(1, 1), broken.slice(1, 1)],
        [sound] * 3 + [broken],
    ):
        table = pa.table({"c": pa.chunked_array(parts)})
        with pytest.raises(ad.InvalidArrayError) as caught:
            ad.logical_hash(table)
        assert caught.value.rule == "offsets"


@pytest.mark.parametrize("many_entries", [0, joinable._MANY_ENTRIES])
def test_an_index_beyond_the_dictionary_that_tiny_chunks_share_is_refused(many_entries, monkeypatch):
    monkeypatch.setattr(joinable, "_MANY_ENTRIES", many_entries)
    indices = pa.array([0, 1, 2, 1], pa.int8())
    wild = pa.DictionaryArray.from_arrays(indices, texts(0, 1, 2), safe=False)
    table = pa.table({"c": pa.chunked_array([wild.slice(row, 1) for row in range(4)])})
    with pytest.raises(ad.InvalidArrayError, match="indices"):
        ad.logical_hash(table)


# --- Not looked at: what lies under a null, what nothing points at, and what values mean ------------------------------


def buffers(*parts) -> list[pa.Buffer | None]:
    return [None if part is None else pa.py_buffer(part) for part in parts]


@pytest.mark.parametrize("index_type", [pa.int8(), pa.uint8(), pa.int32(), pa.uint64()], ids=str)
def test_an_index_under_a_null_may_point_anywhere(index_type):
    wild = np.array([0, 77, 1], index_type.to_pandas_dtype())
    indices = pa.Array.from_buffers(index_type, 3, buffers(b"\x05", wild))
    array = pa.DictionaryArray.from_arrays(indices, pa.array(["a", "b"]), safe=False)
    assert ad.logical_hash(pa.table({"c": array})) == ad.logical_hash(pa.table({"c": ["a", None, "b"]}))


def test_a_view_or_list_view_under_a_null_may_point_anywhere():
    wild = struct.pack("<i12s", 1, b"a") + struct.pack("<i4sii", 1 << 30, b"", 9, -4)
    view = recast(pa.Array.from_buffers(pa.binary(16), 2, buffers(b"\x01", wild)), pa.binary(16))
    view = pa.Array.from_buffers(pa.string_view(), 2, view.buffers())
    assert ad.logical_hash(pa.table({"c": view})) == ad.logical_hash(pa.table({"c": ["a", None]}))
    numbers = np.array([0, 99], "i4")
    lists = pa.Array.from_buffers(
        pa.list_view(pa.int64()), 2, buffers(b"\x01", numbers, np.array([1, -5], "i4")), children=[pa.array([7])]
    )
    assert ad.logical_hash(pa.table({"c": lists})) == ad.logical_hash(pa.table({"c": [[7], None]}))


@pytest.mark.parametrize(
    ("data_type", "raw"),
    [
        (pa.string(), [b"\xff\xfe", b"\xc0\x80"]),
        (pa.large_string(), [b"\xed\xa0\x80", b""]),
        (pa.string_view(), [b"\xff" * 40, b"\xfe"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("copies", [1, 30])
def test_text_that_is_not_utf8_hashes_as_its_bytes(data_type, raw, copies):
    binary = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    array = pa.array(raw, binary[data_type]).view(data_type)
    table = pa.table({"c": pa.chunked_array([array] * copies)})
    stream = b"\x04\x00" + b"".join(len(value).to_bytes(8, "little") + value for value in raw) * copies
    digest = ad.RecordDigest(table.schema)
    digest.update(table)
    assert digest.columns()[0].digest == _sha3(stream)
    nested = pa.table({"c": pa.chunked_array([pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), array)] * copies)})
    digest = ad.RecordDigest(nested.schema)
    digest.update(nested)
    counted = (2).to_bytes(8, "little") + b"".join(len(value).to_bytes(8, "little") + value for value in raw)
    assert digest.columns()[0].digest == _sha3(b"\x0b\x00\x04\x00" + counted * copies)


def _sha3(data: bytes) -> bytes:
    return hashlib.sha3_256(data).digest()


@pytest.mark.parametrize(
    ("data_type", "value", "width"),
    [
        (pa.date64(), 213620221665533, 8),  # no whole day
        (pa.date64(), -1, 8),
        (pa.time32("s"), 86_400, 4),  # past midnight
        (pa.time64("ns"), -1, 8),
        (pa.decimal128(3, 0), 10**30, 16),  # beyond its precision
        (pa.decimal32(1, 0), 2**31 - 1, 4),
        (pa.decimal256(2, 1), -(10**70), 32),
        (pa.timestamp("s", "Nowhere/At_All"), 2**63 - 1, 8),
    ],
    ids=str,
)
@pytest.mark.parametrize("copies", [1, 30])
def test_values_that_mean_nothing_hash_as_their_bits(data_type, value, width, copies):
    bits = value.to_bytes(width, "little", signed=True)
    array = pa.Array.from_buffers(data_type, 1, buffers(None, bits))
    digest = ad.ArrayDigest(data_type)
    digest.update(pa.chunked_array([array] * copies))
    table = ad.RecordDigest(pa.schema([("c", data_type)]))
    table.update(pa.table({"c": pa.chunked_array([array] * copies)}))
    assert digest.digest() == table.columns()[0].digest == _sha3(encode_type(data_type) + bits * copies)


def test_the_prefix_of_a_long_view_is_not_looked_at():
    view = struct.pack("<i4sii", 20, b"????", 0, 0)
    array = pa.Array.from_buffers(pa.string_view(), 1, buffers(None, view, b"b" * 20))
    for table in (pa.table({"c": array}), pa.table({"c": pa.chunked_array([array, array])})):
        plain = pa.table({"c": ["b" * 20] * len(table)})
        assert ad.logical_hash(table) == ad.logical_hash(plain)


@pytest.mark.parametrize("copies", [1, 3])
def test_a_count_of_the_nulls_of_type_null_is_not_looked_at(copies):
    damaged = Stream(ipc_bytes.write([pa.record_batch({"c": pa.nulls(3)})])).node(0, null_count=2)
    batch = pa.ipc.open_stream(bytes(damaged)).read_next_batch()
    reader = pa.RecordBatchReader.from_batches(batch.schema, [batch] * copies)
    assert ad.logical_hash(reader) == ad.logical_hash(pa.table({"c": pa.nulls(3 * copies)}))


def test_bytes_that_nothing_points_at_may_be_anything():
    offsets = np.array([2, 3, 5], "i4")
    array = pa.Array.from_buffers(pa.string(), 2, buffers(None, offsets, b"\xff\xffabb\xff"))
    assert ad.logical_hash(pa.table({"c": array})) == ad.logical_hash(pa.table({"c": ["a", "bb"]}))


def test_a_claimed_number_of_rows_costs_no_memory(tmp_path):
    """Nulls and values of width zero take no room in a file, whatever their number."""
    rows = 1 << 26
    schema = pa.schema([("n", pa.null())])
    damaged = Stream(ipc_bytes.write([pa.record_batch([pa.nulls(3)], schema=schema)]))
    (tmp_path / "nulls.arrows").write_bytes(bytes(damaged.node(0, length=rows, null_count=rows).rows(rows)))
    found = child.run(
        """
before = peak()
hash = arrow_digest.logical_hash(argument, function="blake3", threads=1)
result = {"hash": str(hash), "grown": peak() - before}
""",
        str(tmp_path / "nulls.arrows"),
    )
    digest = ad.RecordDigest(schema, function="blake3")
    for _ in range(64):
        digest.update(pa.record_batch([pa.nulls(rows // 64)], schema=schema))
    assert found["hash"] == str(digest.multihash())
    assert found["grown"] < rows


def test_huge_batches_are_cut_at_any_row(monkeypatch):
    table = pa.Table.from_batches([many_kinds()]).combine_chunks()
    expected = ad.logical_hash(table)
    for most in (1, 2, 3, 4, 5):
        monkeypatch.setattr(chunks, "_MOST_ROWS", most)
        monkeypatch.setattr(chunks, "_SMALL_ROWS", 1)
        assert ad.logical_hash(table) == expected
        assert ad.logical_hash(table.to_batches()[0]) == expected


def test_a_digest_is_as_before_when_a_broken_batch_was_refused(damaged_files):
    with pa.ipc.open_stream(damaged_files["offsets that fall"]) as reader:
        batch = reader.read_next_batch()
    good = pa.record_batch({"c": text()})
    digest = ad.RecordDigest(batch.schema)
    digest.update(good)
    before = digest.digest()
    with pytest.raises(ad.InvalidArrayError):
        digest.update(batch)
    assert digest.digest() == before
    array = ad.ArrayDigest(pa.string())
    array.update(good.column(0))
    before = array.digest()
    with pytest.raises(ad.InvalidArrayError) as caught:
        array.update(batch.column(0))
    assert (caught.value.path, caught.value.rule, caught.value.slot) == ((), "offsets", 2)
    assert array.digest() == before
