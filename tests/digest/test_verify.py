"""Verification: physical first, then logical, and "not checked" never reads as "ok"."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import pickle
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import _arrow_io.opening
import arrow_digest.files.passes
import arrow_digest.files.rereading
from arrow_digest import (
    ArrowDigestError,
    ExpectationError,
    FileFacts,
    Manifest,
    MultihashError,
    Status,
    UnreadableError,
    hash_file,
    logical_hash,
    physical_hash,
    verify,
)
from arrow_digest.comparing.verify import verify_file
from helpers.command import arrow_digest_command
from helpers.files import ipc_file, ipc_stream, parquet, sample_table

TABLE = sample_table()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "f.parquet").write_bytes(parquet(TABLE))
    return tmp_path / "f.parquet"


@pytest.fixture
def facts(path):
    found = hash_file(path, validity=True)
    return FileFacts(found.physical, found.logical, found.row_count, found.byte_length, found.columns)


def test_equal_bytes_are_identical_and_the_records_are_not_hashed(path, monkeypatch):
    physical, logical = physical_hash(path), logical_hash(path)
    monkeypatch.setattr(sys.modules["arrow_digest.comparing.verify"], "digest_records", None)
    other = logical_hash(pa.table({"another": [1]}))
    for expected in (logical, other):
        result = verify(path, physical=physical, logical=expected)
        assert result.status is Status.IDENTICAL
        assert result.passed
        assert result.found.physical == physical
        assert result.found.logical is None
        assert result.weak_columns == ()


@pytest.mark.parametrize("write", [parquet, ipc_file, ipc_stream])
def test_a_row_count_that_contradicts_identical_bytes_is_an_inconsistent_record(write, tmp_path):
    (tmp_path / "f").write_bytes(write(TABLE))
    physical = physical_hash(tmp_path / "f")
    assert verify(tmp_path / "f", physical=physical, row_count=40).status is Status.IDENTICAL
    result = verify(tmp_path / "f", physical=physical, row_count=41)
    assert result.status is Status.DIFFERENT
    assert "inconsistent record" in str(result)
    assert (result.expected.row_count, result.found.row_count) == (41, 40)


def test_a_row_count_that_cannot_be_counted_does_not_read_as_ok(tmp_path):
    (tmp_path / "f").write_bytes(b"no Arrow data")
    physical = physical_hash(tmp_path / "f")
    result = verify(tmp_path / "f", physical=physical, row_count=1)
    assert result.status is Status.UNREADABLE
    assert result.found.physical == physical


def test_the_same_records_in_other_bytes_are_equivalent(path, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(parquet(TABLE, compression="gzip", row_group_size=7))
    result = verify(other, physical=physical_hash(path), logical=logical_hash(path), row_count=40)
    assert result.status is Status.EQUIVALENT
    assert "the same records in other bytes" in str(result)
    assert result.found.physical == physical_hash(other)
    assert result.found.logical == logical_hash(path)


def test_another_length_does_not_fail_a_logical_comparison(path):
    result = verify(path, logical=logical_hash(path), byte_length=1)
    assert result.status is Status.EQUIVALENT


def test_a_length_that_differs_settles_the_physical_question_without_reading(path, monkeypatch):
    expected = physical_hash(path)
    monkeypatch.setattr(sys.modules["arrow_digest.comparing.verify"], "digest_bytes", None)
    result = verify(path, physical=expected, byte_length=1)
    assert result.status is Status.DIFFERENT
    assert result.found.byte_length == path.stat().st_size
    assert result.found.physical is None
    assert "expected 1 bytes" in str(result)


def test_claims_that_contradict_identical_bytes_are_an_inconsistent_record(path, tmp_path):
    (tmp_path / "other").write_bytes(parquet(TABLE, compression="gzip"))
    physical, logical = physical_hash(path), logical_hash(path)
    wrong = logical_hash(pa.table({"another": [1]}))
    for claims in ({"byte_length": 1}, {"byte_length": 1, "row_count": 40}):
        result = verify(path, physical=physical, logical=logical, **claims)
        assert (result.status, "inconsistent record" in str(result)) == (Status.DIFFERENT, True)
        result = verify(tmp_path / "other", physical=physical, logical=logical, **claims)
        assert result.status is Status.EQUIVALENT
    result = verify(path, physical=physical, logical=wrong, every_claim=True)
    assert (result.status, result.found.logical) == (Status.DIFFERENT, logical)
    assert "inconsistent record" in str(result)
    assert verify(path, physical=physical, logical=logical, every_claim=True).status is Status.IDENTICAL
    for claims, status in (
        (["--logical", wrong], 1),
        (["--logical", logical, "--bytes", "1"], 1),
        (["--bytes", "1"], 1),
        (["--rows", "41"], 1),
        (["--logical", logical, "--rows", "40", "--bytes", path.stat().st_size], 0),
    ):
        result = command(path, "--physical", str(physical), *map(str, claims))
        assert (result.returncode, b"identical: the same bytes" in result.stdout) == (status, status == 0)


def test_a_logical_hash_that_cannot_be_compared_does_not_read_as_ok(tmp_path):
    for name, content, status in (
        ("text", b"no Arrow data", Status.UNREADABLE),
        ("map", ipc_stream(pa.table({"m": pa.array([], pa.map_(pa.int8(), pa.int8()))})), Status.UNSUPPORTED),
    ):
        (tmp_path / name).write_bytes(content)
        physical = physical_hash(tmp_path / name)
        result = verify(tmp_path / name, physical=physical, logical=logical_hash(TABLE), every_claim=True)
        assert (result.status, result.found.physical) == (status, physical)


def test_a_difference_says_what_was_expected_and_found(path):
    other = pa.table({"a": [1]})
    result = verify(path, logical=logical_hash(other), row_count=1)
    assert result.status is Status.DIFFERENT
    assert not result.passed
    assert (result.expected.logical, result.found.logical) == (logical_hash(other), logical_hash(TABLE))
    assert (result.expected.row_count, result.found.row_count) == (1, 40)
    assert "expected 1 rows, found 40" in str(result)
    result = verify(path, physical=physical_hash(__file__))
    assert (result.status, result.expected.physical) == (Status.DIFFERENT, physical_hash(__file__))
    assert result.found.physical == physical_hash(path)


def test_equal_hashes_and_other_row_counts_are_different():
    nulls, zero = pa.table({"a": pa.array([None] * 4, pa.int32())}), pa.table({"a": pa.array([0], pa.int32())})
    assert verify(zero, logical=logical_hash(nulls)).status is Status.EQUIVALENT
    result = verify(zero, logical=logical_hash(nulls), row_count=4)
    assert result.status is Status.DIFFERENT
    assert "row count" in str(result)


def test_a_verification_has_no_truth_value(path):
    result = verify(path, physical=physical_hash(path))
    with pytest.raises(TypeError, match="no truth value"):
        bool(result)
    with pytest.raises(TypeError):
        assert result


@pytest.mark.parametrize(
    ("expectations", "rule"),
    [
        ({}, "nothing"),
        ({"row_count": 3}, "nothing"),
        ({"byte_length": 3}, "nothing"),
        ({"physical": logical_hash(TABLE)}, "kind"),
        ({"logical": "f1620" + "00" * 32}, "kind"),
        ({"logical": logical_hash(TABLE), "row_count": -1}, "count"),
        ({"logical": logical_hash(TABLE), "row_count": True}, "count"),
    ],
)
def test_wrong_use_is_an_error_and_no_result(expectations, rule, path):
    with pytest.raises(ExpectationError) as caught:
        verify(path, **expectations)
    assert caught.value.rule == rule


def test_what_has_no_bytes_has_no_physical_hash_to_compare():
    with pytest.raises(ExpectationError) as caught:
        verify(TABLE, physical="f1620" + "00" * 32)
    assert caught.value.rule == "source"
    with pytest.raises(TypeError):
        verify(3, logical=logical_hash(TABLE))


def test_unknown_codes_and_cut_hashes_are_errors(path):
    for text in ("f1520" + "00" * 32, "f1620" + "00" * 31, "00" * 32, ""):
        with pytest.raises(MultihashError):
            verify(path, physical=text)


def test_any_base_and_case_names_the_same_hash(path):
    physical, logical = physical_hash(path), logical_hash(path)
    for base in ("base16upper", "base58btc", "base64url"):
        assert verify(path, physical=physical.encode(base)).status is Status.IDENTICAL
    assert verify(path, logical="f" + str(logical)[1:].upper()).status is Status.EQUIVALENT
    assert verify(path, logical=bytes(logical)).status is Status.EQUIVALENT


@pytest.mark.parametrize("function", ["sha2-256", "blake3"])
def test_the_expected_hash_says_which_function_is_used(function, path):
    physical, logical = physical_hash(path, function=function), logical_hash(path, function=function)
    assert verify(path, physical=physical).status is Status.IDENTICAL
    assert verify(path, physical=physical_hash(__file__), logical=logical).status is Status.EQUIVALENT


# --- What cannot be compared ------------------------------------------------------------------------------------------


def test_what_is_missing_unreadable_or_unsupported_is_a_result_of_its_own(tmp_path):
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_bytes(b"a,b\n1,2\n")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "cut").write_bytes(parquet(TABLE)[:-3])
    (tmp_path / "cut-stream").write_bytes(ipc_stream(TABLE)[:-8])
    (tmp_path / "encrypted").write_bytes(b"PARE" + bytes(20) + b"PARE")
    (tmp_path / "map").write_bytes(ipc_stream(pa.table({"m": pa.array([], pa.map_(pa.int8(), pa.int8()))})))
    expected = {
        "missing": (Status.MISSING, "missing"),
        "dangling": (Status.MISSING, "missing"),
        "a/b": (Status.MISSING, "missing"),
        "folder": (Status.UNREADABLE, "directory"),
        "text": (Status.UNREADABLE, "format"),
        "empty": (Status.UNREADABLE, "format"),
        "cut": (Status.UNREADABLE, "truncated"),
        "cut-stream": (Status.UNREADABLE, "truncated"),
        "encrypted": (Status.UNREADABLE, "encrypted"),
        "map": (Status.UNSUPPORTED, "reserved"),
    }
    for name, (status, rule) in expected.items():
        result = verify(tmp_path / name, logical=logical_hash(TABLE))
        assert (result.status, getattr(result.error, "rule", None)) == (status, rule), name
        assert not result.passed
        assert str(result).startswith(f"{tmp_path / name}: {status.value}: ")
        again = pickle.loads(pickle.dumps(result))
        assert (str(again), str(again.error)) == (str(result), str(result.error))


def test_broken_records_behind_other_bytes_say_both(tmp_path, path):
    cut = tmp_path / "cut"
    cut.write_bytes(path.read_bytes()[:-1])
    result = verify(cut, physical=physical_hash(path), logical=logical_hash(path))
    assert result.status is Status.DIFFERENT
    assert "the bytes differ" in str(result)
    assert "cut short" in str(result)
    assert result.error.rule == "truncated"
    assert result.found.physical == physical_hash(cut)


LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 3\n"


NOT_SOUND = [
    b"",
    b"a,b\n1,2\n",
    LFS_POINTER,
    bytes(2000),
    parquet(TABLE)[:-1],
    parquet(TABLE)[:100],
    parquet(TABLE)[1:],
    ipc_stream(TABLE)[:-8],
    ipc_stream(TABLE) + b"more",
    ipc_file(TABLE)[:-6],
    ipc_stream(TABLE, use_legacy_format=True)[:-4],
    parquet(TABLE).replace(b"PAR1", b"PAR2"),
]


@pytest.mark.parametrize("content", NOT_SOUND, ids=map(str, range(len(NOT_SOUND))))
@pytest.mark.parametrize("length", [True, False])
def test_a_file_whose_bytes_differ_and_that_is_no_sound_data_now_is_different(content, length, tmp_path, facts):
    (tmp_path / "f").write_bytes(content)
    expected = facts if length else FileFacts(facts.physical, facts.logical)
    result = verify_file(tmp_path / "f", expected)
    assert result.status is Status.DIFFERENT
    assert "the bytes differ" in str(result)
    assert isinstance(result.error, UnreadableError)
    assert pickle.loads(pickle.dumps(result)).status is Status.DIFFERENT


def test_a_file_whose_bytes_differ_and_that_cannot_be_read_here_is_unreadable(tmp_path, facts, monkeypatch):
    (tmp_path / "encrypted").write_bytes(b"PARE" + bytes(20) + b"PARE")
    result = verify_file(tmp_path / "encrypted", facts)
    assert (result.status, result.error.rule) == (Status.UNREADABLE, "encrypted")
    assert "the bytes differ" in str(result)
    step = arrow_digest.files.passes.digest_records

    def failing(*arguments):
        raise UnreadableError("f", "io", "the disk is gone")

    (tmp_path / "f").write_bytes(parquet(TABLE, compression="gzip"))
    monkeypatch.setattr(sys.modules["arrow_digest.comparing.verify"], "digest_records", failing)
    result = verify_file(tmp_path / "f", facts)
    assert (result.status, result.error.rule) == (Status.UNREADABLE, "io")
    monkeypatch.setattr(sys.modules["arrow_digest.comparing.verify"], "digest_records", step)
    assert verify_file(tmp_path / "f", facts).status is Status.EQUIVALENT


def test_a_failure_of_the_disk_in_the_second_reading_is_no_difference(tmp_path, facts, monkeypatch):
    (tmp_path / "f").write_bytes(parquet(TABLE, compression="gzip"))
    fetch, calls = arrow_digest.files.rereading._Blocks._fetch, []

    def fail(self, start, size):
        calls.append(start)
        if len(calls) > 1:
            self._file = Failing()
        return fetch(self, start, size)

    class Failing:
        name = "f"

        def seek(self, offset):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(arrow_digest.files.rereading, "_MOST_KEPT", -1)
    monkeypatch.setattr(arrow_digest.files.rereading, "_LEAST_BLOCK", 64)
    monkeypatch.setattr(arrow_digest.files.rereading, "_RECENT_BYTES", 0)
    monkeypatch.setattr(_arrow_io.opening.InputFile, "changed_at", lambda _: None)
    monkeypatch.setattr(arrow_digest.files.rereading._Blocks, "_fetch", fail)
    result = verify_file(tmp_path / "f", facts)
    assert (result.status, result.error.rule) == (Status.UNREADABLE, "io")


def test_a_wrong_page_checksum_is_unreadable(tmp_path):
    content = bytearray(parquet(pa.table({"a": list(range(1000))}), write_page_checksum=True, compression="none"))
    content[200] ^= 1
    (tmp_path / "f").write_bytes(content)
    result = verify(tmp_path / "f", logical=logical_hash(TABLE))
    assert result.status is Status.UNREADABLE


@pytest.mark.parametrize("expect", ["physical", "logical", "both"])
def test_a_file_that_changes_while_it_is_read_is_unreadable(expect, path, monkeypatch):
    physical, logical = physical_hash(path), logical_hash(path)
    step = _arrow_io.opening.InputFile.read

    def read(self, size=-1):
        data = step(self, size)
        os.utime(path, ns=(1, 1))
        return data

    monkeypatch.setattr(_arrow_io.opening.InputFile, "read", read)
    wanted = {"physical": physical, "logical": logical}
    kept = wanted if expect == "both" else {expect: wanted[expect]}
    result = verify(path, **kept)
    assert result.status is Status.UNREADABLE
    assert isinstance(result.error, UnreadableError)
    assert result.error.rule == "changed"


def test_a_pipe_is_read_once_only(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, ipc_stream(TABLE))
    os.close(writing)
    result = verify(f"/dev/fd/{reading}", physical="f1620" + "00" * 32, logical=logical_hash(TABLE))
    assert (result.status, result.error.rule) == (Status.UNREADABLE, "unseekable")
    assert verify(f"/dev/fd/{reading}", logical=logical_hash(TABLE)).status is Status.EQUIVALENT
    os.close(reading)


# --- Weak matches -----------------------------------------------------------------------------------------------------


def test_weak_columns_are_those_whose_nulls_were_not_compared(tmp_path):
    schema = pa.schema(
        [
            pa.field("nullable", pa.int32()),
            pa.field("required", pa.int32(), nullable=False),
            pa.field("truth", pa.bool_()),
            pa.field("nothing", pa.null()),
            pa.field("list", pa.list_(pa.int8())),
            pa.field("required list", pa.list_(pa.field("item", pa.int8(), nullable=False)), nullable=False),
            pa.field("s", pa.struct([pa.field("x", pa.int8(), nullable=False)])),
        ]
    )
    table = schema.empty_table()
    (tmp_path / "f").write_bytes(ipc_file(table))
    for source in (table, tmp_path / "f"):
        result = verify(source, logical=logical_hash(table))
        assert result.status is Status.EQUIVALENT
        assert result.weak_columns == (("nullable",), ("list",), ("s", "x"))
        assert "cannot tell some nulls from values" in str(result)
    required = table.select(["required", "truth", "required list"])
    result = verify(required, logical=logical_hash(required))
    assert result.weak_columns == ()
    assert "cannot tell" not in str(result)


def test_validity_digests_close_the_gap_but_for_lists_with_nullable_items(path, tmp_path, facts):
    other = tmp_path / "other"
    other.write_bytes(parquet(TABLE, compression="gzip"))
    result = verify_file(other, facts)
    assert result.status is Status.EQUIVALENT
    assert result.weak_columns == (("list",),)
    assert verify(other, logical=facts.logical).weak_columns == (("number",), ("text",), ("list",), ("word",))


def test_recorded_columns_tell_apart_what_arrow0_cannot(tmp_path):
    a = pa.table({"x": pa.array([256, None], pa.int32())})
    b = pa.table({"x": pa.array([None, 1], pa.int32())})
    assert logical_hash(a) == logical_hash(b)
    (tmp_path / "a").write_bytes(parquet(a))
    (tmp_path / "b").write_bytes(parquet(b))
    found = hash_file(tmp_path / "a", validity=True)
    recorded = FileFacts(found.physical, found.logical, 2, found.byte_length, found.columns)
    result = verify_file(tmp_path / "b", recorded)
    assert result.status is Status.DIFFERENT
    assert [change.kind for change in result.changes] == ["nulls"]
    found = hash_file(tmp_path / "a")
    recorded = FileFacts(found.physical, found.logical, 2, found.byte_length, found.columns)
    result = verify_file(tmp_path / "b", recorded)
    assert (result.status, result.weak_columns) == (Status.EQUIVALENT, (("x",),))


def in_structs(values, leaf, nullable):
    struct = pa.struct([pa.field("x", leaf)])
    return pa.table({"s": pa.array(values, struct)}, schema=pa.schema([pa.field("s", struct, nullable=nullable)]))


@pytest.mark.parametrize("leaf", [pa.int8(), pa.bool_(), pa.null()], ids=str)
def test_a_null_struct_that_may_be_a_struct_of_nulls_makes_a_match_weak(leaf, tmp_path):
    null, nulls = in_structs([None], leaf, True), in_structs([{"x": None}], leaf, True)
    assert logical_hash(null) == logical_hash(nulls)
    required = in_structs([{"x": None}], leaf, False)
    files = [ipc_file(null), ipc_file(nulls), ipc_file(required), ipc_stream(required)]
    for number, data in enumerate(files):
        (tmp_path / str(number)).write_bytes(data)
    manifest = Manifest.create(tmp_path)
    recorded = {entry.path: entry.facts for entry in Manifest.loads(manifest.dumps().encode(), root=tmp_path).entries}
    for before, now, weak in [
        ("0", "1", True),
        ("1", "0", True),
        ("0", "2", True),
        ("2", "0", True),
        ("2", "3", False),
    ]:
        result = verify_file(tmp_path / now, recorded[before])
        assert result.status is Status.EQUIVALENT
        assert result.weak_columns == ((("s", "x"),) if weak else ())


def test_a_struct_without_nulls_leaves_a_match_strong(tmp_path):
    table = in_structs([{"x": 1}], pa.int8(), True)
    (tmp_path / "a").write_bytes(ipc_file(table))
    (tmp_path / "b").write_bytes(parquet(table))
    found = hash_file(tmp_path / "a", validity=True)
    result = verify_file(tmp_path / "b", FileFacts(found.physical, found.logical, 1, found.byte_length, found.columns))
    assert (result.status, result.weak_columns) == (Status.EQUIVALENT, ())


def test_null_counts_are_compared_where_they_are_recorded(tmp_path):
    (tmp_path / "a").write_bytes(parquet(pa.table({"x": pa.array([None], pa.int8())})))
    (tmp_path / "b").write_bytes(parquet(pa.table({"x": pa.array([0], pa.int8())})))
    found = hash_file(tmp_path / "a")
    result = verify_file(tmp_path / "b", FileFacts(found.physical, found.logical, 1, None, found.columns))
    assert result.status is Status.DIFFERENT


# --- Types that change on the way -------------------------------------------------------------------------------------


ROUND_TRIPS = {
    "seconds": (pa.array([0, 1, None], pa.timestamp("s")), {}, "timestamp[s] became timestamp[ms]"),
    "time": (pa.array([0, 1], pa.time32("s")), {}, "time32[s] became time32[ms]"),
    "date64": (pa.array([0, 86_400_000], pa.date64()), {}, "date64[ms] became date32[day]"),
    "nanoseconds": (
        pa.array([1000, None], pa.timestamp("ns")),
        {"version": "1.0"},
        "timestamp[ns] became timestamp[us]",
    ),
    "uint32": (pa.array([1, 2**32 - 1], pa.uint32()), {"version": "1.0"}, "uint32 became int64"),
    "zone": (
        pa.array([0], pa.timestamp("us", "+00:00")),
        {"store_schema": False},
        "timestamp[us, tz=+00:00] became timestamp[us, tz=UTC]",
    ),
    "decimal": (
        pa.array([decimal.Decimal("1.25"), None], pa.decimal32(7, 2)),
        {"store_schema": False},
        "decimal32(7, 2) became decimal128(7, 2)",
    ),
    "list": (pa.array([[0, None], None], pa.list_(pa.timestamp("s"))), {}, "list<item: timestamp[s]> became list<"),
    "struct": (
        pa.StructArray.from_arrays([pa.array([1, 2], pa.timestamp("s"))], ["t"], mask=pa.array([False, True])),
        {},
        "c.t: timestamp[s] became timestamp[ms]",
    ),
}


@pytest.mark.parametrize("case", ROUND_TRIPS)
@pytest.mark.parametrize("with_columns", [True, False])
def test_a_mismatch_that_is_only_a_change_of_types_is_named_as_that(case, with_columns, tmp_path):
    array, options, said = ROUND_TRIPS[case]
    table = pa.table({"n": pa.array([7] * len(array)), "c": array})
    (tmp_path / "arrow").write_bytes(ipc_file(table))
    (tmp_path / "parquet").write_bytes(parquet(table, **options))
    found = hash_file(tmp_path / "arrow")
    facts = FileFacts(found.physical, found.logical, found.row_count, None, found.columns if with_columns else None)
    result = verify_file(tmp_path / "parquet", facts)
    assert result.status is Status.DIFFERENT
    assert "only types changed" in str(result)
    assert said in str(result)


@pytest.mark.parametrize("with_columns", [True, False])
def test_a_change_of_types_and_values_is_not_called_a_change_of_types_only(with_columns, tmp_path):
    def table(values, unit):
        return pa.table({"t": pa.array(values, pa.timestamp(unit)), "n": pa.array([1, 2])})

    (tmp_path / "arrow").write_bytes(ipc_file(table([0, 1], "s")))
    found = hash_file(tmp_path / "arrow")
    facts = FileFacts(found.physical, found.logical, found.row_count, None, found.columns if with_columns else None)
    for values in ([0, 2000], [0, 1001]):
        (tmp_path / "parquet").write_bytes(parquet(table(values, "ms")))
        result = verify_file(tmp_path / "parquet", facts)
        assert result.status is Status.DIFFERENT
        assert "only types changed" not in str(result)
        assert [change.kind for change in result.changes] == (["type"] if with_columns else [])


def test_recorded_columns_name_those_that_differ(tmp_path, path, facts):
    changed = TABLE.set_column(1, "text", pa.array(["other"] * 40)).drop_columns(["word"])
    changed = changed.append_column("new", pa.array([datetime.date(2020, 1, 1)] * 40))
    pq.write_table(changed, tmp_path / "changed")
    result = verify_file(tmp_path / "changed", facts)
    assert {(change.path, change.kind) for change in result.changes} == {
        (("text",), "values"),
        (("word",), "removed"),
        (("new",), "added"),
    }
    for word in ("text", "word", "new"):
        assert word in str(result)


# --- The command ------------------------------------------------------------------------------------------------------


def command(*arguments, **options):
    result = arrow_digest_command("verify", *arguments, **options)
    assert b"Traceback" not in result.stderr
    return result


def test_the_command_says_it_in_a_sentence_and_a_status(path, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(parquet(TABLE, compression="gzip"))
    physical, logical = str(physical_hash(path)), str(logical_hash(path))
    result = command(path, "--physical", physical, "--logical", logical, "--rows", "40")
    assert (result.stdout.decode(), result.returncode) == (f"{path}: identical: the same bytes\n", 0)
    result = command(other, "--physical", physical, "--logical", logical.upper().replace("F", "f", 1))
    assert result.stdout.startswith(f"{other}: equivalent: the same records in other bytes".encode())
    assert (result.stderr, result.returncode) == (b"", 0)
    result = command(other, "--physical", physical)
    assert result.stdout.startswith(f"{other}: different: the bytes differ".encode())
    assert result.returncode == 1
    assert command(tmp_path / "no", "--logical", logical).returncode == 1
    assert command(tmp_path, "--logical", logical).returncode == 2


def test_json_is_for_programs(path):
    logical = str(logical_hash(path))
    result = command(path, "--logical", logical, "--json")
    found = json.loads(result.stdout)
    assert found["status"] == "equivalent"
    assert found["expected"] == {"logical": logical}
    assert found["found"] == {"logical": logical, "row_count": 40, "byte_length": path.stat().st_size}
    assert found["weak_columns"] == [["number"], ["text"], ["list"], ["word"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument"),
        (["f.parquet"], "nothing to verify"),
        (["f.parquet", "--rows", "40"], "nothing to verify"),
        (["-", "--logical", str(logical_hash(TABLE))], "check -"),
        (["f.parquet", "--logical", "f1620" + "00" * 32], "not comparable"),
        (["f.parquet", "--physical", str(logical_hash(TABLE))], "not comparable"),
        (["f.parquet", "--physical", "f1620" + "00" * 31], "no multihash"),
        (["f.parquet", "--physical", "00" * 32], "f1220"),
        (["f.parquet", "--physical", "00" * 32], "--function sha2-256"),
        (["f.parquet", "--logical", "00" * 32], "put 'f9680c00120' before an arrow0-sha3-256"),
        (["f.parquet", "--physical", "b0" * 20], "as many as SHA-1 has"),
        (["f.parquet", "--physical", "sha256:" + "00" * 32], "f122000"),
        (["f.parquet", "--physical", "00" * 32, "--function", "sha256"], "sha2-256"),
        (["f.parquet", "--physical", "00" * 32, "--function", "arrow0-sha2-256"], "not comparable"),
        (["f.parquet", "--physical", "f1520" + "00" * 32], "code"),
    ],
)
def test_wrong_use_is_status_2(arguments, said, path):
    result = command(*arguments, cwd=path.parent)
    assert (result.stdout, result.returncode) == (b"", 2)
    assert said.replace("no multihash", "not a multihash") in result.stderr.decode()


def test_digests_without_a_code_are_what_function_says(path):
    for function in ("sha2-256", "sha3-256", "blake3"):
        physical = physical_hash(path, function=function).digest.hex()
        logical = logical_hash(path, function=function).digest.hex()
        for value in (physical, physical.upper(), str(physical_hash(path, function=function))):
            result = command(path, "--physical", value, "--function", function)
            assert (result.returncode, b": identical: " in result.stdout) == (0, True)
        for name in (function, f"arrow0-{function}"):
            result = command(path, "--logical", logical, "--function", name)
            assert (result.returncode, b": equivalent: " in result.stdout) == (0, True)
    assert command(path, "--physical", physical_hash(path).digest.hex(), "--function", "sha2-256").returncode == 1


def test_errors_of_the_package_survive_a_trip_to_another_process():
    for error in (
        UnreadableError("a", "missing", "no such file"),
        ExpectationError("kind", "text"),
        MultihashError("code", "text", "value"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert isinstance(again, ArrowDigestError)
        assert (str(again), vars(again)) == (str(error), vars(error))
