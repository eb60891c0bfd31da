"""The digests' surface is hashlib's, and no hash of a part of the data ever comes out."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest as ad
from arrow_digest.rules.arrow0 import leaves as columns_module
from arrow_digest.rules.arrow0 import portable
from helpers import child

SCHEMA = pa.schema([("a", pa.int64()), ("s", pa.string())])
BATCH = pa.record_batch({"a": pa.array([1, None, 3]), "s": pa.array(["x", "y", None])}, schema=SCHEMA)
FUNCTIONS = ("sha3-256", "sha2-256", "blake3")


def record_digest(*batches: object, **options: object) -> ad.RecordDigest:
    digest = ad.RecordDigest(SCHEMA, **options)
    for batch in batches:
        digest.update(batch)
    return digest


def array_digest(*arrays: object, **options: object) -> ad.ArrayDigest:
    digest = ad.ArrayDigest(pa.int64(), **options)
    for array in arrays:
        digest.update(array)
    return digest


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("make", [record_digest, array_digest])
def test_a_digest_has_the_surface_of_hashlib(make, function):
    digest = make(BATCH if make is record_digest else BATCH.column(0), function=function)
    assert digest.name == f"arrow0-{function}"
    assert digest.digest_size == len(digest.digest()) == 32
    assert digest.hexdigest() == digest.digest().hex()
    assert digest.digest() == digest.digest()
    assert digest.update(BATCH if make is record_digest else BATCH.column(0)) is None


def test_a_digest_may_be_asked_and_fed_on():
    digest = record_digest()
    seen = []
    for count in range(4):
        assert digest.digest() == ad.logical_hash(pa.Table.from_batches([BATCH] * count, SCHEMA)).digest
        assert digest.row_count == 3 * count
        seen.append(digest.digest())
        digest.update(BATCH)
    assert len(set(seen)) == 4
    assert digest.multihash() == ad.logical_hash(pa.Table.from_batches([BATCH] * 4))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("validity", [False, True])
def test_a_copy_goes_its_own_way(function, validity):
    digest = record_digest(BATCH, function=function, validity=validity)
    before = digest.digest()
    twin = digest.copy()
    assert (twin.digest(), twin.columns(), twin.name, twin.row_count) == (before, digest.columns(), digest.name, 3)
    twin.update(BATCH)
    assert digest.digest() == before != twin.digest()
    assert (digest.row_count, twin.row_count) == (3, 6)
    assert [column.null_count for column in digest.columns()] == [1, 1]
    assert [column.null_count for column in twin.columns()] == [2, 2]
    digest.update(BATCH)
    assert digest.columns() == twin.columns()
    array = array_digest(BATCH.column(0), function=function)
    other = array.copy()
    other.update(BATCH.column(0))
    assert array.digest() != other.digest()
    array.update(BATCH.column(0))
    assert array.digest() == other.digest()


def test_columns_say_where_two_digests_differ():
    nested = pa.struct([("p", pa.int8()), ("q", pa.list_(pa.string()))])
    schema = pa.schema([("a", pa.int32()), ("st", nested), ("d", pa.dictionary(pa.int8(), pa.string()))])
    rows = [{"p": 1, "q": ["x"]}, None, {"p": None, "q": []}]
    table = pa.Table.from_pydict({"a": [1, 2, None], "st": rows, "d": ["u", None, "u"]}, schema)
    digest = ad.RecordDigest(schema)
    digest.update(table)
    found = {column.path: column for column in digest.columns()}
    assert list(found) == [("a",), ("st", "p"), ("st", "q"), ("d",)]
    types = [pa.int32(), pa.int8(), pa.list_(pa.string()), pa.string()]
    assert [column.data_type for column in found.values()] == types
    assert [column.null_count for column in found.values()] == [1, 2, 1, 1]
    assert {column.validity_digest for column in found.values()} == {None}
    rows[0] = {"p": 1, "q": ["y"]}
    other = ad.RecordDigest(schema)
    other.update(pa.Table.from_pydict({"a": [1, 2, None], "st": rows, "d": ["u", None, "u"]}, schema))
    assert [c.path for c, o in zip(digest.columns(), other.columns(), strict=True) if c != o] == [("st", "q")]


def test_validity_digests_tell_apart_what_the_hash_cannot():
    def columns(rows):
        digest = ad.RecordDigest(pa.schema([("c", pa.int32())]), validity=True)
        digest.update(pa.table({"c": pa.array(rows, pa.int32())}))
        return digest.columns()[0]

    left, right = columns([256, None]), columns([None, 1])
    assert left.digest == right.digest
    assert left.validity_digest == hashlib.sha3_256(b"\1\0").digest()
    assert right.validity_digest == hashlib.sha3_256(b"\0\1").digest()


def test_validity_digests_do_not_change_the_hash():
    assert record_digest(BATCH, validity=True).digest() == record_digest(BATCH).digest()


# --- Schemas ----------------------------------------------------------------------------------------------------------


def fields(*pairs):
    return pa.schema(list(pairs))


MISMATCHES = {
    "another name": (fields(("a", pa.int64()), ("t", pa.string())), ("s",), "s: string", "t: string"),
    "another order": (fields(("s", pa.string()), ("a", pa.int64())), ("a",), "a: int64", "s: string"),
    "a column missing": (fields(("a", pa.int64())), ("s",), "s: string", None),
    "a column more": (fields(("a", pa.int64()), ("s", pa.string()), ("z", pa.int8())), ("z",), None, "z: int8"),
    "no column": (fields(), ("a",), "a: int64", None),
    "another width": (fields(("a", pa.int32()), ("s", pa.string())), ("a",), "a: int64", "a: int32"),
    "another sign": (fields(("a", pa.uint64()), ("s", pa.string())), ("a",), "a: int64", "a: uint64"),
    "bytes for text": (fields(("a", pa.int64()), ("s", pa.binary())), ("s",), "s: string", "s: binary"),
    "a struct for a leaf": (fields(("a", pa.struct([])), ("s", pa.string())), ("a",), "a: int64", "a: struct"),
    "a list for a leaf": (fields(("a", pa.list_(pa.int64())), ("s", pa.string())), ("a",), "a: int64", "a: list"),
    "another case": (fields(("A", pa.int64()), ("s", pa.string())), ("a",), "a: int64", "A: int64"),
}


@pytest.mark.parametrize("name", MISMATCHES)
@pytest.mark.parametrize("rows", [0, 1])
def test_records_of_another_schema_are_refused_and_nothing_is_fed(name, rows):
    schema, path, expected, found = MISMATCHES[name]
    digest = record_digest(BATCH)
    before = digest.digest()
    table = pa.Table.from_arrays([pa.nulls(rows, field.type) for field in schema], schema=schema)
    with pytest.raises(ad.SchemaMismatchError) as caught:
        digest.update(table)
    assert (caught.value.path, caught.value.expected) == (path, expected)
    assert caught.value.found is None if found is None else caught.value.found.startswith(found)
    assert (digest.digest(), digest.row_count) == (before, 3)


@pytest.mark.parametrize(
    ("left", "right", "path"),
    [
        (pa.struct([("p", pa.int8())]), pa.struct([("q", pa.int8())]), ("c", "p")),
        (pa.struct([("p", pa.int8())]), pa.struct([("p", pa.int16())]), ("c", "p")),
        (pa.struct([("p", pa.int8()), ("q", pa.int8())]), pa.struct([("p", pa.int8())]), ("c", "q")),
        (pa.struct([("p", pa.struct([("x", pa.int8())]))]), pa.struct([("p", pa.int8())]), ("c", "p")),
        (pa.list_(pa.int8()), pa.list_(pa.uint8()), ("c",)),
        (pa.list_(pa.list_(pa.int8())), pa.list_(pa.int8()), ("c",)),
        (pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.binary()), ("c",)),
        (pa.timestamp("us", "UTC"), pa.timestamp("us", "+00:00"), ("c",)),
        (pa.timestamp("us", "UTC"), pa.timestamp("us"), ("c",)),
        (pa.timestamp("us"), pa.timestamp("ns"), ("c",)),
        (pa.decimal128(5, 2), pa.decimal128(6, 2), ("c",)),
        (pa.decimal128(5, 2), pa.decimal256(5, 2), ("c",)),
        (pa.date32(), pa.date64(), ("c",)),
        (pa.null(), pa.int8(), ("c",)),
    ],
    ids=str,
)
def test_another_logical_type_is_refused_however_deep(left, right, path):
    paths = []
    for first, second in ((left, right), (right, left)):
        digest = ad.RecordDigest(pa.schema([("c", first)]))
        with pytest.raises(ad.SchemaMismatchError) as caught:
            digest.update(pa.schema([("c", second)]).empty_table())
        paths.append(caught.value.path)
        assert digest.row_count == 0
    assert paths[0] == path
    assert len(paths[1]) == len(path)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (pa.string(), pa.large_string()),
        (pa.string(), pa.dictionary(pa.int16(), pa.string_view())),
        (pa.binary(), pa.binary(3)),
        (pa.int32(), pa.run_end_encoded(pa.int16(), pa.int32())),
        (pa.list_(pa.int8()), pa.list_view(pa.field("element", pa.dictionary(pa.int8(), pa.int8()), nullable=False))),
        (pa.list_(pa.int8()), pa.list_(pa.int8(), 2)),
        (pa.struct([("p", pa.string())]), pa.struct([pa.field("p", pa.binary_view(), nullable=False)])),
        (pa.uuid(), pa.binary()),
    ],
    ids=str,
)
def test_another_encoding_of_the_same_types_is_fine(left, right):
    if pa.types.is_struct(left):
        right = pa.struct([pa.field("p", pa.large_string(), nullable=False)])
    schemas = [pa.schema([("c", left)]), pa.schema([pa.field("c", right, metadata={"k": "v"})], metadata={"m": "n"})]
    digests = []
    for first, second in (schemas, schemas[::-1]):
        digest = ad.RecordDigest(first)
        for schema in (first, second, first):
            digest.update(schema.empty_table())
        digests.append(digest.digest())
    assert len(set(digests)) == 1


def test_encodings_may_change_from_batch_to_batch():
    digest = ad.RecordDigest(pa.schema([("c", pa.string())]))
    text = pa.array(["a", None, "bb"])
    for t in (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        digest.update(pa.record_batch([text.cast(t)], names=["c"]))
    digest.update(pa.record_batch([text.dictionary_encode()], names=["c"]))
    assert digest.digest() == ad.logical_hash(pa.table({"c": pa.chunked_array([text] * 4)})).digest


def test_an_array_of_another_type_is_refused_and_nothing_is_fed():
    digest = array_digest(BATCH.column(0))
    before = digest.digest()
    others = (pa.array([1], pa.int32()), pa.array(["a"]), pa.array([[1]]), pa.array([{"x": 1}]), pa.nulls(1))
    for array in (*others, *(array.slice(0, 0) for array in others), pa.table({"a": [1]}), pa.array([1.5])):
        with pytest.raises(ad.SchemaMismatchError) as caught:
            digest.update(array)
        assert caught.value.expected == "int64"
        assert digest.digest() == before
    mixed = pa.chunked_array([pa.array([1]), pa.array([2])])
    digest.update(mixed)
    assert digest.digest() == array_digest(pa.array([1, None, 3, 1, 2])).digest()


@pytest.mark.parametrize("data_type", [pa.struct([]), pa.struct([("x", pa.int8())]), pa.map_(pa.int8(), pa.int8())])
def test_an_array_digest_of_a_struct_or_reserved_type_is_refused(data_type):
    for t in (data_type, pa.dictionary(pa.int8(), data_type), pa.list_(data_type)):
        with pytest.raises(ad.UnsupportedTypeError):
            ad.ArrayDigest(t)


# --- Failures ---------------------------------------------------------------------------------------------------------


def stream_that_fails(batches, error):
    def produce():
        yield from batches
        raise error

    return pa.RecordBatchReader.from_batches(SCHEMA, produce())


@pytest.mark.parametrize("error", [RuntimeError("no more"), ValueError("no more"), OSError("no more"), KeyError("x")])
@pytest.mark.parametrize("size", [1, portable._BLOCK_ROWS])
def test_a_stream_that_fails_gives_no_hash(error, size):
    whole = pa.record_batch([pa.array(range(size)), pa.array(["x"] * size)], schema=SCHEMA)
    with pytest.raises(ad.UnreadableError, match=str(error.args[0])):
        ad.logical_hash(stream_that_fails([whole] * 3, error))
    digest = record_digest(BATCH)
    before = digest.digest()
    with pytest.raises(ad.UnreadableError):
        digest.update(stream_that_fails([whole] * 3, error))
    if digest.row_count == 3:  # nothing was fed
        assert digest.digest() == before
        return
    for use in (digest.digest, digest.hexdigest, digest.multihash, digest.columns, digest.copy):
        with pytest.raises(ad.DigestStateError):
            use()
    with pytest.raises(ad.DigestStateError):
        digest.update(BATCH)


def test_a_failure_after_a_large_batch_spoils_the_digest():
    size = 5000
    whole = pa.record_batch([pa.array(range(size)), pa.array(["x"] * size)], schema=SCHEMA)
    digest = record_digest()
    with pytest.raises(ad.UnreadableError):
        digest.update(stream_that_fails([whole], OSError("gone")))
    with pytest.raises(ad.DigestStateError, match="half-way"):
        digest.hexdigest()


@pytest.mark.parametrize("threads", [1, 4])
def test_a_failure_inside_the_encoder_spoils_the_digest(monkeypatch, threads):
    monkeypatch.setattr(columns_module, "native", lambda: None)  # the portable encoder is what fails here
    digest, array = record_digest(BATCH, threads=threads), array_digest(BATCH.column(0))
    calls = iter(range(100))

    def failing(column):
        if next(calls) == 1:
            raise MemoryError
        yield b"part"

    monkeypatch.setattr(columns_module, "encode", failing)
    monkeypatch.setattr(columns_module, "_PARALLEL_ROWS", 1)
    with pytest.raises(MemoryError):
        digest.update(BATCH)
    calls = iter(range(1, 100))
    with pytest.raises(MemoryError):
        array.update(BATCH.column(0))
    for spoiled in (digest, array):
        for use in (spoiled.digest, spoiled.hexdigest, spoiled.copy):
            with pytest.raises(ad.DigestStateError):
                use()
    with pytest.raises(ad.DigestStateError):
        array.update(BATCH.column(0))


@pytest.mark.parametrize("threads", [0, -1, 1.0, "2", True, np.nan])
def test_a_number_of_threads_that_is_none_is_refused(threads):
    for call in (
        lambda: ad.logical_hash(BATCH, threads=threads),
        lambda: ad.RecordDigest(SCHEMA, threads=threads),
        lambda: ad.hash_file("missing", threads=threads),
    ):
        with pytest.raises(ValueError, match="threads: expected a positive whole number or None"):
            call()


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("sha3_256", "sha3-256"),
        ("SHA3-256", "sha3-256"),
        ("sha256", "sha2-256"),
        ("sha2_256", "sha2-256"),
        ("blake3-256", "blake3"),
        ("md5", None),
        ("", None),
        (None, None),
        (22, None),
    ],
)
def test_an_unknown_function_is_refused_with_the_name_that_was_meant(name, suggestion):
    for call in (
        lambda: ad.logical_hash(BATCH, function=name),
        lambda: ad.RecordDigest(SCHEMA, function=name),
        lambda: ad.ArrayDigest(pa.int8(), function=name),
    ):
        with pytest.raises(ad.UnknownFunctionError) as caught:
            call()
        assert caught.value.suggestion == suggestion
        assert suggestion is None or suggestion in str(caught.value)


def test_errors_are_of_one_family_and_of_the_standard_kinds():
    kinds = {
        ad.UnsupportedTypeError: TypeError,
        ad.SchemaMismatchError: ValueError,
        ad.InvalidArrayError: ValueError,
        ad.UnreadableError: ValueError,
        ad.MultihashError: ValueError,
        ad.UnknownFunctionError: ValueError,
        ad.DigestStateError: RuntimeError,
        ad.PlatformError: ImportError,
    }
    for error, standard in kinds.items():
        assert issubclass(error, ad.ArrowDigestError)
        assert issubclass(error, standard)


@pytest.mark.parametrize("use", [pickle.dumps, copy.deepcopy, copy.copy], ids=lambda use: use.__name__)
def test_a_digest_in_progress_cannot_be_pickled_or_copied_but_by_its_own_copy(use):
    sentence = r"^a digest in progress cannot be pickled or deep-copied; copy\(\) gives an independent one$"
    for digest in (record_digest(BATCH), array_digest(BATCH.column(0))):
        with pytest.raises(TypeError, match=sentence):
            use(digest)


# --- Threads and processes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 9])
def test_a_thread_that_outlives_the_main_one_still_hashes(columns, tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({f"c{i}": np.arange(600_000) for i in range(columns)}), path)
    code = f"""
import threading, arrow_digest
def late():
    threading.main_thread().join()
    print(arrow_digest.logical_hash({os.fspath(path)!r}, threads=2))
threading.Thread(target=late).start()
"""
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(ad.__file__).parents[1], capture_output=True, text=True, check=False
    )
    assert (result.stdout, result.stderr) == (f"{ad.logical_hash(path)}\n", "")


def large_batch(rows: int = 10_000) -> pa.RecordBatch:
    return pa.record_batch([pa.array(range(rows)), pa.array([f"row {i}" for i in range(rows)])], schema=SCHEMA)


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
def test_digests_of_their_own_may_be_fed_from_several_threads(threads):
    batches = [large_batch().slice(i * 100) for i in range(8)]
    expected = [record_digest(batch, batch, threads=1).digest() for batch in batches]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda batch: record_digest(batch, batch, threads=threads).digest(), batches))
    assert found == expected


def test_copies_of_one_digest_may_be_fed_from_several_threads():
    first = record_digest(large_batch(), threads=4)
    tails = [large_batch().slice(i * 500) for i in range(6)]

    def fed(tail):
        twin = first.copy()
        twin.update(tail)
        return twin.digest()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(fed, tails)) == [record_digest(large_batch(), tail, threads=1).digest() for tail in tails]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_digest_goes_on_in_a_forked_process():
    found = child.run(
        """
import os, warnings
import pyarrow as pa
warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
batch = pa.record_batch({"a": list(range(10000)), "s": [str(i) for i in range(10000)]})
digest = arrow_digest.RecordDigest(batch.schema, threads=3)
digest.update(batch)
reader, writer = os.pipe()
process = os.fork()
if process == 0:
    os.close(reader)
    digest.update(batch)
    os.write(writer, digest.digest())
    os.close(writer)
    sys.exit(0)  # with all that happens at exit
os.close(writer)
digest.update(batch)
theirs = os.read(reader, 100).hex()
status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
alone = arrow_digest.RecordDigest(batch.schema, threads=1)
alone.update(pa.Table.from_batches([batch, batch]))
result = {"parent": digest.hexdigest(), "child": theirs, "status": status, "expected": alone.hexdigest()}
""",
        seconds=60,
    )
    assert found["parent"] == found["child"] == found["expected"]
    assert found["status"] == 0


def test_threads_end_with_their_digest():
    found = child.run(
        """
import gc, threading, time
import pyarrow as pa
batch = pa.record_batch({"a": list(range(10000)), "s": [str(i) for i in range(10000)]})
for _ in range(50):
    arrow_digest.logical_hash(batch, threads=4)
gc.collect()
deadline = time.monotonic() + 500
while threading.active_count() > 1 and time.monotonic() < deadline:
    time.sleep(0.05)
result = threading.active_count()
"""
    )
    assert found == 1


# --- Sizes at borders -------------------------------------------------------------------------------------------------

BORDERS = sorted({0, 1, 7, 8, 9, 63, 64, 65, *(portable._BLOCK_ROWS + i for i in (-1, 0, 1))})


@pytest.mark.parametrize("rows", BORDERS)
def test_digests_cross_every_border_of_sizes(rows):
    """Against the encoding written out value by value."""
    numbers = [None if i % 5 == 3 else i * 7 - 3 for i in range(rows)]
    texts = [None if i % 7 == 2 else f"row {i}" * (i % 3) for i in range(rows)]
    lists = [None if i % 4 == 1 else [i, None][: i % 3] for i in range(rows)]
    flags = [None if i % 9 == 4 else i % 2 == 0 for i in range(rows)]
    table = pa.table(
        {
            "n": pa.array(numbers, pa.int32()),
            "t": pa.array(texts, pa.string()),
            "l": pa.array(lists, pa.list_(pa.int16())),
            "b": pa.array(flags, pa.bool_()),
        }
    )
    digest = ad.RecordDigest(table.schema)
    digest.update(table)
    u64 = lambda n: n.to_bytes(8, "little")  # noqa: E731
    i16 = lambda n: b"\0" if n is None else n.to_bytes(2, "little", signed=True)  # noqa: E731
    items = lambda x: b"".join(map(i16, x))  # noqa: E731
    streams = [
        b"\1\0\1" + u64(32) + b"".join(b"\0" if n is None else n.to_bytes(4, "little", signed=True) for n in numbers),
        b"\4\0" + b"".join(b"\0" if t is None else u64(len(t)) + t.encode() for t in texts),
        b"\x0b\0\1\0\1" + u64(16) + b"".join(b"\0" if x is None else u64(len(x)) + items(x) for x in lists),
        b"\5\0" + b"".join(b"\0" if f is None else bytes([1 + f]) for f in flags),
    ]
    assert [column.digest for column in digest.columns()] == [hashlib.sha3_256(stream).digest() for stream in streams]
    assert [column.null_count for column in digest.columns()] == [x.count(None) for x in (numbers, texts, lists, flags)]


def test_types_that_pyarrow_takes_for_equal_are_told_apart():
    def column(storage):
        values = pa.ExtensionArray.from_storage(pa.opaque(storage.type, "kind", "vendor"), storage)
        return pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), values)})

    numbers, letters = column(pa.array([1], pa.uint16())), column(pa.array(["a"]))
    assert numbers.schema.equals(letters.schema), (
        "pyarrow tells them apart by now: the note in schema.py is out of date"
    )
    assert ad.logical_hash(numbers) == ad.logical_hash(pa.table({"c": pa.array([1], pa.uint16())}))
    assert ad.logical_hash(letters) == ad.logical_hash(pa.table({"c": ["a"]}))
    with pytest.raises(ad.SchemaMismatchError):
        ad.RecordDigest(numbers.schema).update(letters)
