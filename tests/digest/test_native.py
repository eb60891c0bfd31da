"""The C library against hashlib, against the portable encoder, and at its edges."""

from __future__ import annotations

import ast
import hashlib
import random
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arrow_digest as ad
from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.describe import views as views_module
from arrow_digest.arrays.nodes import Bitmap, Kind
from arrow_digest.native import choice
from arrow_digest.rules.arrow0 import portable
from arrow_digest.rules.arrow0.leaf_columns import Column, leaf_column
from arrow_digest.rules.chosen import chosen_rule
from helpers import child
from helpers.examples import examples
from helpers.raw_arrays import raw_array
from helpers.strategies import arrays, leaf_types, tables

native = pytest.importorskip("arrow_digest.rules.arrow0.native", reason="installed without the C library")

LANES = [lanes for lanes in (1, 2, 4, 8) if lanes <= native._lib.ad_max_lanes()]
PIECES = (1, 256, 257, 5000, 1 << 16)

# FIPS 202's examples and the CAVP short messages, as NIST publishes them.
NIST = {
    b"": "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
    b"\xe9": "f0d04dd1e6cfc29a4460d521796852f25d9ef8d28b44ee91ff5b759d72c1e6d6",
    b"abc": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
    b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq": (
        "41c0dba2a9d6240849100376a8235e2c82e1b9998a999e21db32dd97496d3376"
    ),
    b"\xa3" * 200: "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787",
    b"a" * 1_000_000: "5c8875ae474a3634ba4fd55ec85bffd661f32aca75c6d699d0cdcb6c115891c1",
}


def stream(column, lanes=LANES[-1], **options):
    return b"".join(bytes(part) for part in native.Rows([column], lanes).encode(0, **options))


def portable_stream(column):
    return b"".join(bytes(part) for part in portable.encode(column))


def as_column(data):
    return Column(describe(pa.array(np.frombuffer(data, np.uint8))))


def leaf_columns(table):
    for leaf in chosen_rule().plan(table.schema).leaves:
        for chunk in table.column(leaf.indices[0]).chunks:
            yield leaf_column(describe(chunk, leaf.path[:1]), leaf.indices)


def feed(columns, lanes, **options):
    digests = [native.Sha3() for _ in columns]
    native.Rows(columns, lanes).feed(digests, range(len(columns)), **options)
    return [digest.digest() for digest in digests]


# --- Keccak -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", NIST, ids=lambda message: f"{len(message)} bytes")
def test_sha3_gives_the_answers_of_the_standard(message):
    digest = native.Sha3()
    digest.update(message)
    assert digest.digest().hex() == NIST[message]


@pytest.mark.parametrize("lanes", LANES)
def test_sha3_of_every_length_is_hashlibs(lanes):
    data = random.Random(lanes).randbytes(1000)
    messages = [data[:length] for length in range(1001)]
    assert feed([as_column(message) for message in messages], lanes) == [
        hashlib.sha3_256(message).digest() for message in messages
    ]


@given(st.sampled_from(LANES), st.integers(1, 20), st.randoms(use_true_random=False))
def test_sha3_is_hashlibs_however_the_data_is_split(lanes, count, rng):
    expected = [hashlib.sha3_256() for _ in range(count)]
    digests = [native.Sha3() for _ in range(count)]
    for _ in range(rng.randrange(1, 6)):
        parts = [rng.randbytes(rng.choice((0, 1, 135, 136, 137, rng.randrange(3000)))) for _ in range(count)]
        for part, other in zip(parts, expected, strict=True):
            other.update(part)
        native.Rows([as_column(part) for part in parts], lanes).feed(digests, range(count))
    assert [digest.digest() for digest in digests] == [other.digest() for other in expected]


@given(st.lists(st.binary(max_size=400), max_size=5))
def test_a_copy_goes_its_own_way_and_a_digest_ends_nothing(parts):
    digest, expected = native.Sha3(), hashlib.sha3_256()
    for part in parts:
        copy = digest.copy()
        copy.update(b"elsewhere")
        digest.update(part)
        expected.update(part)
        assert digest.digest() == expected.digest() != copy.digest()


# --- The border -------------------------------------------------------------------------------------------------------


def test_layouts_have_the_same_numbers_on_both_sides_of_the_border():
    names = {kind: {"NULL": "NULLS_ONLY"}.get(kind.name, kind.name) for kind in Kind if kind <= Kind.RUN_END}
    assert {kind: getattr(native._lib, name) for kind, name in names.items()} == {kind: kind.value for kind in names}


def test_the_stub_of_the_border_names_what_the_library_has():
    tree = ast.parse(Path(choice.__file__).with_name("_kernels.pyi").read_text("utf-8"))
    (library,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Library")
    functions = {node.name for node in library.body if isinstance(node, ast.FunctionDef)}
    assert functions == {name for name in dir(native._lib) if name.startswith("ad_")}


def test_every_number_of_lanes_has_a_generation_of_instructions_that_advances_as_many():
    assert [native._lib.ad_lanes(native._lib.ad_generation(lanes)) for lanes in LANES] == LANES


# --- Encoders ---------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(400))
@given(arrays(leaf_types()), st.sampled_from(LANES), st.sampled_from(PIECES))
def test_both_encoders_write_the_same_bytes(array, lanes, piece):
    column = Column(describe(array))
    assert stream(column, lanes, piece=piece) == portable_stream(column)


@settings(max_examples=examples(300))
@given(tables(max_columns=3), st.sampled_from(LANES), st.sampled_from(PIECES))
def test_both_encoders_agree_on_leaves_under_structs(table, lanes, piece):
    for column in leaf_columns(table):
        valid = portable.row_validity(column)
        rows = bytes([1] * column.node.length) if valid is None else bytes(valid)
        described = native.Rows([column], lanes)
        for validity in (True, False):
            found = b"".join(bytes(part) for part in described.encode(0, piece=piece, validity=validity))
            assert found == (rows if validity else portable_stream(column))
            assert described.null_count(0) == rows.count(0)


@settings(max_examples=examples(200))
@given(st.lists(arrays(leaf_types()), max_size=20), st.sampled_from(LANES))
def test_columns_side_by_side_digest_like_each_alone(drawn, lanes):
    columns = [Column(describe(array)) for array in drawn]
    assert feed(columns, lanes) == [hashlib.sha3_256(portable_stream(column)).digest() for column in columns]


def nullable(values, rng, share=0.3, data_type=None):
    return pa.array([None if rng.random() < share else value for value in values], data_type)


def large_arrays():
    """Columns of several pieces, in layouts whose fast paths differ."""
    rng = random.Random(0)
    n = 5000
    words = ["x" * rng.choice((0, 1, 11, 12, 13, 15, 16, 31, 32, 33, 64, 65, 300, 3000)) for _ in range(200)]
    texts = [rng.choice(words) for _ in range(n)]
    numbers = [rng.getrandbits(62) for _ in range(n)]
    lists = [texts[i : i + rng.randrange(6)] for i in range(0, n, 3)]
    yield from (nullable(numbers, rng, data_type=t) for t in (pa.int64(), pa.decimal128(30, 2), pa.decimal256(60, 1)))
    for bits, t in ((7, pa.int8()), (15, pa.int16()), (31, pa.int32())):
        yield nullable([number >> (62 - bits) for number in numbers], rng, data_type=t)
    yield nullable([number % 2 == 1 for number in numbers], rng)
    for t in (pa.string(), pa.large_string(), pa.string_view()):
        yield pa.array(texts, t)
        yield nullable(texts, rng, data_type=t)
        yield nullable(texts, rng).dictionary_encode().cast(pa.dictionary(pa.int16(), t))
        yield pa.array(lists, pa.list_(t))
        yield nullable(lists, rng, data_type=pa.large_list(t))
    yield pa.array([numbers[: rng.randrange(90)] for _ in range(300)])
    yield pa.array([nullable(numbers[: rng.randrange(90)], rng).to_pylist() for _ in range(300)])
    yield pa.array([[lists[i]] * (i % 4) for i in range(len(lists))])
    yield pa.array([[[number] * (number % 3)] * (number % 5) for number in numbers])
    yield pa.array([text.encode()[:3].ljust(3) for text in texts], pa.binary(3))
    yield pa.array([[1, 2, 3]] * n, pa.list_(pa.int16(), 3))
    yield pc.run_end_encode(nullable(sorted(texts), rng, 0.01))
    yield pa.nulls(n)


@pytest.mark.parametrize("lanes", LANES)
def test_columns_of_many_pieces_are_encoded_alike(lanes):
    columns = []
    for array in large_arrays():
        for start in (0, 1, 63):
            column = Column(describe(array.slice(start)))
            expected = portable_stream(column)
            for piece in PIECES:
                assert stream(column, lanes, piece=piece) == expected, (array.type, start, piece)
            columns.append((column, expected))
    digests = feed([column for column, _ in columns], lanes)
    assert digests == [hashlib.sha3_256(expected).digest() for _, expected in columns]


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("longest", [0, 1, 8, 15, 16, 17, 24, 25, 32, 33, 56, 57, 63, 64, 65, 127, 128, 129, 600])
def test_values_of_every_size_that_is_copied_differently_are_encoded_alike(longest, lanes):
    rng = np.random.default_rng(longest)
    sizes = rng.integers(0, longest + 1, 9000)
    sizes[-3:] = longest, 0, longest  # the last bytes of a buffer are as many as a chunk, fewer, and none
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    data = pa.py_buffer(rng.integers(97, 123, int(offsets[-1])).astype(np.uint8).tobytes())
    texts = pa.Array.from_buffers(pa.string(), len(sizes), [None, pa.py_buffer(offsets), data])
    # Lists of no items, of a few, and of more than are written at once.
    begins = np.array([0, 0, *range(0, 3000, 3), 3000, 3000, 8500, 8500, len(sizes), len(sizes)], np.int32)
    valid = pa.array(rng.random(len(sizes)) < 0.7)
    for array in (
        texts,
        texts.cast(pa.large_string()),
        texts.cast(pa.string_view()),
        pc.if_else(valid, texts, None),
        pc.if_else(valid, texts, None).cast(pa.string_view()),
        pa.ListArray.from_arrays(begins, texts),
        pa.ListArray.from_arrays(begins, texts)[2:-1],
        pa.ListArray.from_arrays(offsets, pa.array(np.arange(int(offsets[-1])))),
        pa.ListArray.from_arrays(begins, pa.ListArray.from_arrays(offsets, pa.array(np.arange(int(offsets[-1]))))),
        *(
            pa.DictionaryArray.from_arrays(rng.integers(0, count, len(sizes)).astype(width), texts[-count:], mask=mask)
            for count, width in (
                (1, np.int8),
                (127, np.uint8),
                (1100, np.uint16),
                (1100, np.int32),
                (9000, np.uint16),
                (9000, np.int32),
                (9000, np.int64),
            )
            for mask in (None, rng.random(len(sizes)) < 0.3)
        ),
        pa.DictionaryArray.from_arrays(rng.integers(0, 127, len(sizes)), pc.if_else(valid, texts, None)[:127]),
    ):
        column = Column(describe(array))
        assert stream(column, lanes) == portable_stream(column), array.type


@pytest.mark.parametrize("lanes", LANES)
def test_dictionaries_of_any_size_are_encoded_alike_whatever_indices_are_under_nulls(lanes):
    rng = np.random.default_rng(0)
    for count, width in ((100, np.int8), (100, np.int64), (2**16, np.int32), (2**16 + 1, np.int32)):
        texts = pa.array([f"{i:x}" for i in range(count)])
        indices = rng.integers(0, count, 8 * count).astype(width)
        valid = rng.random(len(indices)) < 0.9
        limits = np.iinfo(width)
        indices[~valid] = rng.choice(np.array([-1, limits.min, limits.max], width), int((~valid).sum()))
        bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
        wild = pa.Array.from_buffers(pa.array(indices[:0]).type, len(indices), [bits, pa.py_buffer(indices)])
        column = Column(describe(pa.DictionaryArray.from_arrays(wild, texts, safe=False)))
        assert stream(column, lanes) == portable_stream(column)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak in kibibytes")
def test_memory_does_not_grow_with_the_columns_that_share_a_dictionary():
    grown = child.run("""
values = pyarrow.array(["", *["x" * 56] * 8191])
column = pyarrow.DictionaryArray.from_arrays(pyarrow.array(numpy.zeros(1 << 16, numpy.uint16)), values)
arrow_digest.logical_hash(pyarrow.table({"c": column}))
before = peak()
arrow_digest.logical_hash(pyarrow.table({f"c{i}": column for i in range(600)}), threads=1)
result = peak() - before
""")
    assert grown < 2**27


@pytest.mark.parametrize("seed", range(200))
def test_any_description_is_encoded_alike_and_its_nulls_counted(seed):
    rng = np.random.default_rng(seed)
    columns = []
    for _ in range(5):
        array = raw_array(rng, int(rng.choice([0, 1, 7, 63, 64, 65, 500, 8000])))
        parents = (_bitmap(rng, len(array)),) if rng.random() < 0.3 else ()
        columns.append(Column(describe(array), parents))
    expected = [portable_stream(column) for column in columns]
    valid = [portable.row_validity(column) for column in columns]
    nulls = [0 if rows is None else len(rows) - int(np.count_nonzero(rows)) for rows in valid]
    for lanes in LANES:
        for column, whole in zip(columns, expected, strict=True):
            for piece in PIECES:
                assert stream(column, lanes, piece=piece) == whole, (column.node.array.type, lanes, piece)
        rows = native.Rows(columns, lanes)
        digests = [native.Sha3() for _ in columns]
        rows.feed(digests, range(len(columns)))
        assert [digest.digest() for digest in digests] == [hashlib.sha3_256(whole).digest() for whole in expected]
        assert [rows.null_count(index) for index in range(len(columns))] == nulls


def _bitmap(rng, rows):
    return Bitmap(np.packbits(rng.random(rows + 3) < 0.7, bitorder="little"), 3)


@pytest.mark.parametrize("lanes", LANES)
def test_one_huge_value_is_written_in_pieces(lanes):
    huge = [b"x" * 3_000_000, None, b"y"]
    for array in (
        pa.array(huge, pa.large_binary()),
        pa.array(huge, pa.binary_view()),
        pa.array([[1] * 300_000, None, []]),
        pa.array([[None, 1] * 100_000]),
        pa.array([huge * 2]),
        pa.array(huge, pa.binary()).dictionary_encode(),
    ):
        column = Column(describe(array))
        assert stream(column, lanes, piece=256) == portable_stream(column)


@pytest.mark.parametrize("piece", [256, 511, 4096])
@pytest.mark.parametrize("lanes", LANES)
def test_nothing_is_written_past_the_end_of_a_piece(lanes, piece):
    canary = b"\xa5" * 4096
    for array in large_arrays():
        described = native.Rows([Column(describe(array))], lanes)
        encoder = native._lib.ad_encoder_new(described._rows, described._generation, 1)
        memory = bytearray(piece + len(canary))
        memory[piece:] = canary
        address = native._ffi.from_buffer("uint8_t[]", memory)
        while size := native._lib.ad_encode(encoder, address, piece):
            assert 0 < size <= piece
            assert memory[piece:] == canary
        native._lib.ad_encoder_free(encoder)


@pytest.mark.parametrize("count", [2047, 2048, 2049, 3000, 20_000])
def test_a_list_of_more_short_items_than_have_room_on_the_stack_is_encoded(count):
    items = pa.array([b""] * (count - 1) + [b"x" * 16], pa.binary())
    column = Column(describe(pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), items)))
    for lanes in LANES:
        assert stream(column, lanes) == portable_stream(column)


def test_a_piece_of_too_little_memory_is_refused():
    described = native.Rows([as_column(b"abc")], 1)
    encoder = native._lib.ad_encoder_new(described._rows, described._generation, 1)
    assert native._lib.ad_encode(encoder, native._ffi.new("uint8_t[255]"), 255) == -1
    native._lib.ad_encoder_free(encoder)


def test_what_a_null_view_or_list_view_points_at_is_never_read():
    def describe_garbage(data_type, *buffers, children=()):
        validity = pa.py_buffer(bytes([0b10]))
        contents = [pa.py_buffer(np.array(buffer, np.int32)) for buffer in buffers]
        return Column(describe(pa.Array.from_buffers(data_type, 2, [validity, *contents], children=list(children))))

    view = describe_garbage(pa.string_view(), [2**31 - 1, -1, 2**31 - 1, -1, 1, ord("a"), 0, 0])
    items = pa.array([1, 2], pa.int8())
    listed = describe_garbage(pa.list_view(pa.int8()), [2**31 - 1, 1], [2**31 - 1, 1], children=[items])
    for lanes in LANES:
        assert stream(view, lanes) == b"\0\1\0\0\0\0\0\0\0a"
        assert stream(listed, lanes) == b"\0\1\0\0\0\0\0\0\0\2"


# --- Whole digests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [[], [0], [20], [7, 2**31 + 5, 40]])
def test_both_kernels_find_the_same_views_outside(sizes, monkeypatch):
    """Every mix of what may be wrong with a view, at and beside the edge."""
    ends = [0, 1, 12, 13, 20, 21, 40, 41, 2**31 - 1, -1, -(2**31)]
    views = np.array([(a, 7, b, c) for a in ends for b in (0, 1, 2, 3, 2**31 - 1, -1) for c in ends], "<i4")
    limits = np.array([*sizes, 0], np.int64)
    monkeypatch.setattr(views_module, "native", lambda: None)
    expected = views_module.wrong_views(views, sizes)
    assert expected.any()
    assert not expected.all()

    def inside(some):
        data, bounds = native._ffi.from_buffer("uint8_t[]", some), native._ffi.from_buffer("int64_t[]", limits)
        return bool(native._lib.ad_views_inside(data, len(some), bounds, len(sizes)))

    assert [inside(views[i : i + 1].copy()) for i in range(len(views))] == list(~expected)
    assert inside(views[~expected].copy())
    assert not inside(views)


def large_table():
    columns = [array for array in large_arrays() if len(array) == 5000]
    return pa.table({f"c{i}": pa.concat_arrays([column] * 3) for i, column in enumerate(columns)})


@pytest.mark.parametrize("function", ["sha3-256", "sha2-256", "blake3"])
def test_the_hash_depends_on_neither_threads_nor_batches(function):
    table = large_table()
    expected = ad.logical_hash(table, threads=1, function=function)
    for threads in (2, 3, 16):
        assert ad.logical_hash(table, threads=threads, function=function) == expected
    digest = ad.RecordDigest(table.schema, threads=2, function=function)
    for start in range(0, table.num_rows, 4999):
        digest.update(table.slice(start, 4999))
    assert digest.multihash() == expected


def test_nulls_are_counted_and_validity_is_digested_on_any_number_of_threads():
    table = large_table()
    valid = [portable.row_validity(Column(describe(column.combine_chunks()))) for column in table.columns]
    rows = [np.ones(table.num_rows, np.bool_) if mask is None else mask for mask in valid]
    for threads in (1, 3):
        digest = ad.RecordDigest(table.schema, threads=threads, validity=True)
        digest.update(table)
        found = digest.columns()
        assert [column.null_count for column in found] == [int((~mask).sum()) for mask in rows]
        assert [column.validity_digest for column in found] == [
            hashlib.sha3_256(mask.tobytes()).digest() for mask in rows
        ]
