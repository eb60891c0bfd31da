"""Files: the format is told by content, a part of a file is never hashed, and what changes is noticed."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import struct
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from _arrow_io import opening
from _arrow_io.opening import guarding
from _arrow_io.threads import read_ahead
from arrow_digest import ArrowDigestError, UnreadableError, hash_file, logical_hash, physical_hash
from arrow_digest.files.hashing import digest_file
from arrow_digest.reading.sources import open_source, read_records
from helpers.command import LIMIT_SECONDS
from helpers.files import FORMATS, feather, ipc_file, ipc_stream, parquet, sample_table

TABLE = sample_table()
EXPECTED = logical_hash(TABLE)
STREAM_END = b"\xff\xff\xff\xff\0\0\0\0"

# Formats that end with a mark of their own.
MARKED = ("parquet", "ipc-file", "feather")


def write(folder, content, name="data"):
    path = folder / name
    path.write_bytes(content)
    return path


def refusal(path, **options):
    with pytest.raises(UnreadableError) as raised:
        logical_hash(path, **options)
    assert raised.value.source == os.fspath(path)
    assert str(raised.value).startswith(os.fspath(path))
    return raised.value


# --- The format -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", ".parquet", ".arrow", ".feather", ".arrows", ".PARQUET", ".csv"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_format_is_told_by_content_never_by_suffix(form, suffix, tmp_path):
    path = write(tmp_path, FORMATS[form](TABLE), f"data{suffix}")
    assert logical_hash(path) == logical_hash(str(path)) == EXPECTED


FEATHER_V1_COLUMNS = {
    "bool": pa.array([True, None, False] * 30),
    **{str(t): pa.array([1, None, 100] * 30, t) for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{str(t): pa.array([1, None, 200] * 30, t) for t in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    **{str(t): pa.array([0.5, None, -2.0] * 30, t) for t in (pa.float32(), pa.float64())},
    **{str(t): pa.array(["", None, "text"] * 30, t) for t in (pa.string(), pa.large_string())},
    **{str(t): pa.array([b"", None, b"\xff"] * 30, t) for t in (pa.binary(), pa.large_binary())},
    "category": pa.array(["one", None, "two"] * 30).dictionary_encode(),
    "date": pa.array([0, None, -5] * 30, pa.date32()),
    **{str(t): pa.array([0, None, 5] * 30, t) for t in (pa.time32("s"), pa.time32("ms"))},
    **{str(t): pa.array([0, None, 5] * 30, t) for t in (pa.timestamp("s"), pa.timestamp("ns", "Europe/Paris"))},
}


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 63, 64, 65, 90])
def test_feather_v1_is_read_whatever_its_columns(rows, tmp_path):
    table = pa.table(FEATHER_V1_COLUMNS).slice(0, rows)
    whole = pa.table({name: column.drop_null() for name, column in FEATHER_V1_COLUMNS.items()}).slice(0, rows)
    for records in (table, whole, table.slice(rows // 2), pa.table({})):
        content = feather(records, version=1)
        assert content.startswith(b"FEA1")
        path = write(tmp_path, content)
        assert logical_hash(path) == logical_hash(records)
        with open_source(path) as source:
            assert source.schema.types == records.schema.types
        for length in sorted({*range(4, 40), *range(4, len(content), 61), len(content) - 1}):
            assert refusal(write(tmp_path, content[:length])).rule in ("truncated", "corrupt", "format")


def test_feather_v1_with_more_nulls_than_values_is_refused(tmp_path):
    content = feather(pa.table({"c": pa.array([1, None, 3, 4, 5], pa.int64())}), version=1)
    length_and_nulls = struct.pack("<qq", 5, 1)
    assert content.count(length_and_nulls) == 1
    path = tmp_path / "f"
    for nulls, is_sound in ((5, True), (6, False)):
        path.write_bytes(content.replace(length_and_nulls, struct.pack("<qq", 5, nulls)))
        if is_sound:
            logical_hash(path)
        else:
            with pytest.raises(UnreadableError, match="5 values, 6 of them null"):
                logical_hash(path)


def test_feather_older_than_its_second_version_is_refused_as_such(tmp_path):
    content = bytearray(feather(pa.table({"a": [1]}), version=1))
    metadata = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    rules = set()
    for at in range(metadata, len(content) - 8):
        if content[at] == 2:
            changed = content.copy()
            changed[at] = 1
            try:
                logical_hash(write(tmp_path, changed))
            except UnreadableError as error:
                rules.add(error.rule)
    assert "version" in rules


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "format"),
        (b"PAR", "format"),
        (b"PAR1", "corrupt"),
        (b"PAR1PAR1", "corrupt"),
        (b"PARE", "encrypted"),
        (b"PAR1" + bytes(50) + b"PARE", "encrypted"),
        (b"PAR1" + bytes(50), "truncated"),
        (b"ARROW1", "corrupt"),
        (b"ARROW1\0\0", "truncated"),
        (b"FEA1", "truncated"),
        (b"\xff\xff\xff\xff", "format"),
        (STREAM_END, "format"),
        (b"\0\0\0\0\0\0\0\0", "format"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "truncated"),
        (b"\xff\xff\xff\xff\xf0\xff\xff\x7f" + bytes(99), "truncated"),
        (b"a,b\n1,2\n3,4\n", "format"),
        (b"Obj\x01" + bytes(100), "format"),
        (b"ORC" + bytes(100), "format"),
        (b"\x1f\x8b\x08\x00" + bytes(100), "format"),
    ],
)
def test_what_is_no_arrow_data_is_refused_by_its_rule(content, rule, tmp_path):
    path = write(tmp_path, content)
    error = refusal(path)
    assert error.rule == rule
    if rule == "format":
        for tried in ("Parquet", "Arrow IPC file", "Arrow IPC stream", "Feather"):
            assert tried in str(error)
    assert physical_hash(path).digest == hashlib.sha3_256(content).digest()


def test_a_schema_of_a_version_to_come_is_refused_as_such(tmp_path):
    content = bytearray(ipc_stream(TABLE))
    at = content.index(b"\x04\x00", 8)  # MetadataVersion V5, the first two bytes of that value after the tables' sizes
    versions = [i for i in range(8, 40) if content[i] == 4]
    assert at in versions
    found = set()
    for i in versions:
        changed = content.copy()
        changed[i] = 5
        try:
            logical_hash(write(tmp_path, changed))
        except UnreadableError as error:
            found.add(error.rule)
    assert "version" in found


# --- Files that are cut short, or go on after their end ---------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_every_beginning_of_a_file_is_refused(form, tmp_path):
    content = FORMATS[form](TABLE.slice(0, 12))
    assert logical_hash(write(tmp_path, content)) == logical_hash(TABLE.slice(0, 12))
    # All of the front and the back, and a step through the middle that meets every place in eight.
    for length in sorted({*range(64), *range(0, len(content), 7), *range(len(content) - 64, len(content))}):
        error = refusal(write(tmp_path, content[:length]))
        rules = ("truncated",) if form in MARKED and length >= 8 else ("format", "truncated", "corrupt")
        assert error.rule in rules, length


def stream_parts(table, batch_rows, **options):
    """The bytes of a stream after which a batch has just ended, and the whole."""
    batches = table.to_batches(max_chunksize=batch_rows)
    wholes = [ipc_stream(pa.Table.from_batches(batches[:n], table.schema), **options) for n in range(len(batches) + 1)]
    marker = 4 if options.get("use_legacy_format") else 8
    return [whole[:-marker] for whole in wholes], wholes[-1]


@pytest.mark.parametrize("options", [{}, {"use_legacy_format": True}, {"compression": "zstd"}])
def test_a_stream_cut_between_batches_is_refused(options, tmp_path):
    table = TABLE.select(["number", "text", "list"])  # without dictionaries the batches follow one another
    parts, whole = stream_parts(table, 16, **options)
    assert logical_hash(write(tmp_path, whole)) == logical_hash(table)
    for part in parts:
        assert whole.startswith(part)
        with pa.ipc.open_stream(part) as reader:
            reader.read_all()  # pyarrow has nothing to say
        error = refusal(write(tmp_path, part))
        assert error.rule == "truncated"
        assert "end-of-stream marker" in str(error)


@pytest.mark.parametrize("options", [{}, {"use_legacy_format": True}])
def test_zeros_at_the_end_of_a_body_are_no_marker(options, tmp_path):
    table = pa.table({"zero": pa.array([0] * 64, pa.int64())})
    whole = ipc_stream(table, batch_rows=64, **options)
    marker = 4 if options else 8
    part = whole[:-marker]
    assert part.endswith(bytes(64))
    assert refusal(write(tmp_path, part)).rule == "truncated"
    assert logical_hash(write(tmp_path, whole)) == logical_hash(table)


def test_a_stream_cut_inside_its_marker_is_refused(tmp_path):
    whole = ipc_stream(TABLE)
    for cut in range(1, 9):
        assert refusal(write(tmp_path, whole[:-cut])).rule == "truncated"


def test_a_stream_without_batches_needs_its_marker_too(tmp_path):
    for table in (TABLE.slice(0, 0), pa.table({})):
        schema_only = ipc_stream(pa.Table.from_batches([], table.schema))
        assert logical_hash(write(tmp_path, schema_only)) == logical_hash(table)
        assert refusal(write(tmp_path, schema_only[:-8])).rule == "truncated"


def test_a_new_stream_may_end_with_the_old_marker(tmp_path):
    content = ipc_stream(TABLE)[:-8] + bytes(4)
    assert logical_hash(write(tmp_path, content)) == EXPECTED


@pytest.mark.parametrize("extra", [b"\0", b"\n", bytes(8), STREAM_END, ipc_stream(TABLE), b"PAR1"])
@pytest.mark.parametrize("options", [{}, {"use_legacy_format": True}])
def test_bytes_after_the_end_of_a_stream_are_refused_in_a_file(options, extra, tmp_path):
    error = refusal(write(tmp_path, ipc_stream(TABLE, **options) + extra))
    assert error.rule == "trailing"
    assert f"{len(extra)} bytes" in str(error)


@pytest.mark.parametrize("form", MARKED)
def test_bytes_after_the_end_of_a_file_are_refused(form, tmp_path):
    for extra in (b"\0", b"\n", bytes(8)):
        assert refusal(write(tmp_path, FORMATS[form](TABLE) + extra)).rule in ("truncated", "corrupt")


def pipe_with(content):
    """A pipe's reading end that gives the content in pieces."""
    reading_end, writing_end = os.pipe()

    def feed():
        # A reader may stop before the end.
        with suppress(BrokenPipeError), os.fdopen(writing_end, "wb", buffering=0) as file:
            for start in range(0, len(content), 100):
                file.write(content[start : start + 100])

    threading.Thread(target=feed, daemon=True).start()
    return os.fdopen(reading_end, "rb", buffering=0)


@pytest.mark.parametrize("options", [{}, {"use_legacy_format": True}, {"compression": "lz4"}])
def test_bytes_after_the_end_of_a_stream_stay_in_a_pipe(options):
    content = ipc_stream(TABLE, **options)
    with pipe_with(content + content + b"rest") as pipe:
        path = f"/dev/fd/{pipe.fileno()}"
        assert logical_hash(path) == EXPECTED
        assert logical_hash(path) == EXPECTED
        assert pipe.read(100) == b"rest"


def test_every_beginning_of_a_stream_is_refused_on_a_pipe_too():
    content = ipc_stream(TABLE.slice(0, 12))
    for length in sorted({*range(16), *range(0, len(content), 97), *range(len(content) - 16, len(content))}):
        with pipe_with(content[:length]) as pipe:
            assert refusal(f"/dev/fd/{pipe.fileno()}").rule in ("format", "truncated"), length


@pytest.mark.parametrize("form", ["parquet", "ipc-file", "feather"])
def test_what_is_read_from_its_end_is_refused_on_a_pipe(form):
    with pipe_with(FORMATS[form](TABLE)) as pipe:
        error = refusal(f"/dev/fd/{pipe.fileno()}")
        assert error.rule == "unseekable"
        assert "pipe" in str(error)


def test_a_pipe_is_hashed_once_only():
    with pipe_with(ipc_stream(TABLE)) as pipe, pytest.raises(UnreadableError) as raised:
        hash_file(f"/dev/fd/{pipe.fileno()}")
    assert raised.value.rule == "unseekable"


def test_a_physical_hash_of_a_pipe_is_that_of_its_bytes():
    for content in (b"", b"x", bytes(300_000)):
        with pipe_with(content) as pipe:
            assert physical_hash(f"/dev/fd/{pipe.fileno()}").digest == hashlib.sha3_256(content).digest()


# --- Named pipes ------------------------------------------------------------------------------------------------------


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("call", [logical_hash, physical_hash, hash_file, digest_file])
def test_a_named_pipe_that_nobody_writes_to_is_refused(call, fifo, monkeypatch):
    monkeypatch.setattr(opening, "_PIPE_PATIENCE", 0.3)
    with pytest.raises(UnreadableError) as raised:
        call(fifo)
    assert raised.value.rule == "pipe"


@pytest.mark.parametrize("delay", [0, 0.15])
def test_a_named_pipe_is_read_whoever_comes_first(delay, fifo, monkeypatch):
    monkeypatch.setattr(opening, "_PIPE_PATIENCE", LIMIT_SECONDS)
    content = ipc_stream(TABLE)
    writer = threading.Timer(delay, fifo.write_bytes, [content])
    writer.start()
    assert logical_hash(fifo) == EXPECTED
    writer.join()
    writer = threading.Timer(delay, fifo.write_bytes, [content])
    writer.start()
    assert physical_hash(fifo).digest == hashlib.sha3_256(content).digest()
    writer.join()


# --- Broken Parquet ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("options", [{"use_dictionary": False, "column_encoding": "PLAIN"}, {"use_dictionary": True}])
def test_a_page_that_does_not_match_its_checksum_is_refused(options, version, threads, tmp_path):
    values = np.arange(1 << 40, (1 << 40) + 50, dtype=np.int64)
    table = pa.table({"a": values, "b": values + 1000})
    settings = {"compression": "none", "data_page_version": version, "write_statistics": False, **options}
    page = values.tobytes()  # as such in a plain page, and in a dictionary page
    checked = parquet(table, write_page_checksum=True, **settings)
    unchecked = parquet(table, **settings)
    assert logical_hash(write(tmp_path, checked), threads=threads) == logical_hash(table)
    for position in (0, 1, 199, len(page) - 1):
        for bit in (1, 128):
            changed = bytearray(checked)
            changed[checked.index(page) + position] ^= bit
            assert refusal(write(tmp_path, changed), threads=threads).rule == "corrupt"
            # A file without checksums has other records then, and nobody can know.
            changed = bytearray(unchecked)
            changed[unchecked.index(page) + position] ^= bit
            assert logical_hash(write(tmp_path, changed)) != logical_hash(table)


def test_a_row_count_that_the_pages_do_not_bear_out_is_refused(tmp_path):
    table = pa.table({"a": pa.array(range(40), pa.int32())})
    content = parquet(table, compression="none", use_dictionary=False, store_schema=False, write_statistics=False)
    assert pq.read_metadata(io.BytesIO(content)).num_rows == 40
    rules = set()
    footer = content.rindex(b"PAR1") - int.from_bytes(content[-8:-4], "little")
    forty = 2 * 40  # as Thrift writes a signed number
    for at, claimed in itertools.product(range(4, len(content) - 8), (39, 41, 0)):
        if content[at] == forty:
            changed = bytearray(content)
            changed[at] = 2 * claimed
            path = write(tmp_path, changed)
            if at > footer and pq.read_metadata(path).num_rows != 40:
                assert refusal(path).rule == "row_count"
            try:
                assert logical_hash(path) == logical_hash(table)
            except UnreadableError as error:
                rules.add(error.rule)
    assert rules == {"row_count", "corrupt"}


# --- A file that changes ----------------------------------------------------------------------------------------------


def change_length(path):
    with path.open("ab") as file:
        file.write(b"x")


def change_in_place(path):
    before = path.stat()
    with path.open("r+b") as file:
        file.write(file.read(1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def cut_to_nothing(path):
    os.truncate(path, 0)


def cut_in_half(path):
    os.truncate(path, path.stat().st_size // 2)


CHANGES = [change_length, change_in_place, cut_to_nothing, cut_in_half]


def big_table():
    return pa.table({f"c{i}": np.random.default_rng(i).integers(0, 1 << 62, 100_000) for i in range(4)})


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", [hash_file, physical_hash, digest_file])
def test_a_file_that_changes_while_it_is_read_is_refused(call, change, tmp_path):
    path = write(tmp_path, parquet(big_table(), row_group_size=10_000))
    calls = []

    def progress(done, total):
        if not calls:
            change(path)
        calls.append(done)

    with pytest.raises(UnreadableError) as raised:
        call(path, progress=progress)
    assert raised.value.rule == "changed"
    assert calls


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", [parquet, ipc_stream, ipc_file])
def test_a_file_that_changes_between_its_batches_is_refused(form, change, tmp_path):
    options = {"row_group_size": 1000} if form is parquet else {"batch_rows": 1000}
    path = write(tmp_path, form(big_table().slice(0, 20_000), **options))

    def read_with_a_change():
        with open_source(path) as source:
            next(source.batches)
            change(path)
            return sum(batch.num_rows for batch in source.batches)

    with pytest.raises(UnreadableError) as raised:
        read_with_a_change()
    assert raised.value.rule == "changed"


def test_both_hashes_are_of_the_file_that_was_opened(tmp_path):
    table = big_table()
    content = parquet(table)
    path = write(tmp_path, content)
    other = write(tmp_path, parquet(TABLE), "other")
    calls = []

    def progress(done, total):
        if not calls:
            other.replace(path)
        calls.append(done)

    found = hash_file(path, progress=progress)
    assert logical_hash(path) == EXPECTED
    assert found.physical.digest == hashlib.sha3_256(content).digest()
    assert found.logical == logical_hash(table)
    assert (found.byte_length, found.row_count, found.path) == (len(content), 100_000, str(path))


# --- Progress ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("call", [hash_file, physical_hash, digest_file])
def test_progress_rises_to_the_total(call, form, tmp_path):
    content = FORMATS[form](big_table().slice(0, 10_000))
    calls = []
    call(write(tmp_path, content), progress=lambda done, total: calls.append((done, total)))
    passes = 2 if call is hash_file else 1
    assert {total for _, total in calls} == {passes * len(content)}
    done = [done for done, _ in calls]
    assert done == sorted(done)
    assert done[0] > 0
    assert done[-1] == passes * len(content)
    assert len(set(done)) >= passes


def test_progress_of_an_empty_file_divides_by_nothing(tmp_path):
    physical_hash(write(tmp_path, b""), progress=lambda done, total: done / total)


@pytest.mark.parametrize("error", [ValueError, OSError, KeyError, KeyboardInterrupt])
@pytest.mark.parametrize("call", [hash_file, physical_hash, digest_file])
def test_an_error_of_the_progress_function_comes_out_as_it_is(call, error, tmp_path):
    path = write(tmp_path, parquet(big_table()))

    def progress(done, total):
        if done == total:
            raise error("stop")

    with pytest.raises(error, match="stop") as raised:
        call(path, progress=progress)
    assert type(raised.value) is error


def test_progress_is_told_in_the_thread_that_called(tmp_path):
    threads = set()
    path = write(tmp_path, parquet(big_table()))
    hash_file(path, threads=2, progress=lambda *_: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


# --- Opening ----------------------------------------------------------------------------------------------------------


def test_batches_are_small_once_decoded_however_small_they_are_in_the_file(tmp_path):
    path = tmp_path / "constants"
    pq.write_table(pa.table({f"c{i}": np.zeros(70_000, np.int64) for i in range(400)}), path)
    assert path.stat().st_size < 1 << 20
    with open_source(path, threads=2) as source:
        assert max(batch.nbytes for batch in source.batches) <= 17 << 20


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"n": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(70_000 * 200, np.int64)), 200)}, {}),
        (
            {f"c{i}": pa.array([1] * 200_000, pa.decimal128(9, 2)) for i in range(20)},
            {"store_decimal_as_integer": True},
        ),
        ({"s": pa.StructArray.from_arrays([pa.repeat("x" * 1000, 70_000)], ["t"])}, {}),
        ({"b": pa.repeat(pa.scalar(bytes(1 << 20), pa.binary(1 << 20)), 40)}, {}),
    ],
    ids=["lists", "decimals", "text in structs", "large values"],
)
def test_what_is_decoded_to_far_more_than_the_file_holds_comes_in_small_batches(columns, options, tmp_path):
    pq.write_table(pa.table(columns), tmp_path / "data", **options)
    with open_source(tmp_path / "data", threads=2) as source:
        sizes = [batch.nbytes for batch in source.batches]
    assert len(sizes) > 1
    assert max(sizes) <= 18 << 20


def many_batches(path):
    pq.write_table(pa.table({"n": np.arange(3 << 18)}), path)
    return path


def reading_threads():
    return [thread for thread in threading.enumerate() if "ahead" in thread.name]


def test_parquet_is_read_ahead_in_order_and_no_thread_is_left(tmp_path):
    path = many_batches(tmp_path / "data")
    with open_source(path, threads=2) as source:
        batches = [next(source.batches)]
        assert reading_threads()
        batches += source.batches
    assert not reading_threads()
    assert len(batches) == 3
    assert pa.Table.from_batches(batches).equals(pq.read_table(path))


def test_whoever_stops_early_leaves_no_thread_that_reads_on(tmp_path):
    path = many_batches(tmp_path / "data")

    def stop_early():
        with path.open("rb") as file, guarding(opening.InputFile(file, "data")) as opened:
            next(read_records(opened, threads=2).batches)
            assert reading_threads()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stop_early()
    assert not reading_threads()


def test_what_is_read_ahead_fails_where_it_would_have_failed():
    def broken():
        yield from (1, 2)
        raise ZeroDivisionError

    for depth in (1, 2, 5):
        found = []
        with pytest.raises(ZeroDivisionError):
            found.extend(read_ahead(broken(), depth))
        assert found == [1, 2]
    assert not reading_threads()


def test_what_cannot_be_opened_is_refused_by_its_rule(tmp_path):
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    file = write(tmp_path, parquet(TABLE))
    expected = {
        tmp_path / "nothing": "missing",
        tmp_path / "dangling": "missing",
        tmp_path / "loop": "missing",
        file / "below": "missing",
        tmp_path / "folder.parquet": "directory",
        tmp_path / ("x" * 300): "io",
        "": "missing",
        "a\0b": "missing",
    }
    for path, rule in expected.items():
        for call in (logical_hash, physical_hash, hash_file):
            with pytest.raises(UnreadableError) as raised:
                call(path)
            assert (path, raised.value.rule) == (path, rule)
            assert isinstance(raised.value, ArrowDigestError)


def open_files():
    return len(list(Path("/dev/fd").iterdir()))


def test_nothing_stays_open(tmp_path):
    path = write(tmp_path, parquet(TABLE))
    bad = write(tmp_path, parquet(TABLE)[:-1], "bad")
    before = open_files()
    for _ in range(3):
        hash_file(path)
        refusal(bad)
        refusal(tmp_path)
        refusal(tmp_path / "nothing")
    assert open_files() == before


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_odd_files_of_the_system_are_hashed_or_refused():
    content = Path("/proc/version").read_bytes()
    assert physical_hash("/proc/version").digest == hashlib.sha3_256(content).digest()
    assert physical_hash("/dev/null").digest == hashlib.sha3_256(b"").digest()
    assert refusal("/proc/version").rule == "format"
    assert refusal("/dev/null").rule == "format"
    assert refusal("/dev/zero").rule == "format"
    for call in (logical_hash, physical_hash):
        with pytest.raises(UnreadableError) as raised:
            call("/proc/self/mem")
        assert raised.value.rule == "io"


# --- File objects -----------------------------------------------------------------------------------------------------


class Trickle(io.RawIOBase):
    """Gives a few bytes at a time, and cannot be moved about in."""

    def __init__(self, content):
        self._left = content

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(3, len(buffer))
        part, self._left = self._left[:size], self._left[size:]
        buffer[: len(part)] = part
        return len(part)


def test_a_file_object_is_read_from_where_it_stands(tmp_path):
    path = write(tmp_path, b"0123456789")
    with path.open("rb") as file:
        file.seek(4)
        assert physical_hash(file).digest == hashlib.sha3_256(b"456789").digest()
        assert file.tell() == 10
        assert physical_hash(file).digest == hashlib.sha3_256(b"").digest()
        assert not file.closed
    assert physical_hash(Trickle(b"0123456789")).digest == hashlib.sha3_256(b"0123456789").digest()
    assert physical_hash(io.BufferedReader(Trickle(b"01234"))).digest == hashlib.sha3_256(b"01234").digest()


class TextByDuckTyping:
    def read(self, size):
        return ""


@pytest.mark.parametrize("content", ["", "text", "\udc80"])
def test_a_file_object_that_gives_text_is_refused(content, tmp_path):
    with pytest.raises(TypeError, match="binary"):
        physical_hash(TextByDuckTyping())
    path = write(tmp_path, content.encode("utf-8", "surrogateescape"))
    with path.open(encoding="utf-8") as file, pytest.raises(TypeError, match="binary"):
        physical_hash(file)
    with pytest.raises(TypeError, match="binary"):
        physical_hash(io.StringIO(content))


@pytest.mark.parametrize("thing", [None, 5, b"data", ["data"], TABLE])
def test_what_is_neither_path_nor_file_is_refused(thing):
    with pytest.raises(TypeError, match=f"found {type(thing).__name__}"):
        physical_hash(thing)


def test_a_file_object_that_does_not_wait_is_refused_and_not_taken_for_an_empty_one():
    reading_end, writing_end = os.pipe()
    os.set_blocking(reading_end, False)
    with os.fdopen(reading_end, "rb", buffering=0) as file, os.fdopen(writing_end, "wb"):
        with pytest.raises(UnreadableError) as raised:
            physical_hash(file)
        assert raised.value.rule == "io"


def test_a_file_object_that_fails_is_refused():
    class Failing(Trickle):
        def readinto(self, buffer):
            raise OSError(5, "Input/output error")

    with pytest.raises(UnreadableError) as raised:
        physical_hash(io.BufferedReader(Failing(b"")))
    assert raised.value.rule == "io"
