"""INT96 timestamps of Parquet: read exactly, in the unit that was asked for, or refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import arrow_digest
from arrow_digest import ArrowDigestError, UnknownUnitError, UnreadableError
from helpers import footers
from helpers.command import arrow_digest_command

DATA = Path(__file__).parent.parent / "data"

MICROSECOND = 1_000_000_000_000_000  # of 2001, in microseconds


def _write(path: Path, table: Any) -> str:
    pq.write_table(table, path, use_deprecated_int96_timestamps=True, store_schema=False)
    return str(path)


@pytest.fixture
def ordinary(tmp_path: Path) -> str:
    return _write(tmp_path / "int96.parquet", pa.table({"t": pa.array([0, None, MICROSECOND], pa.timestamp("us"))}))


def _calls(path: str) -> dict[str, Any]:
    expected = "f9680c001205684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a"
    return {
        "logical_hash": lambda **unit: arrow_digest.logical_hash(path, **unit),
        "hash_file": lambda **unit: arrow_digest.hash_file(path, **unit).logical,
        "hash_file, shared": lambda **unit: _shared(path, **unit),
        "hash_files": lambda **unit: next(arrow_digest.hash_files([path], **unit)).logical,
        "verify": lambda **unit: arrow_digest.verify(path, logical=expected, **unit).found.logical,
        "explain": lambda **unit: arrow_digest.explain(path, **unit).logical,
    }


def _shared(path: str, **unit: Any) -> Any:
    with ThreadPoolExecutor(2) as workers:
        return arrow_digest.hash_file(path, executor=workers, **unit).logical


@pytest.mark.parametrize("call", _calls(""))
def test_every_function_reads_int96_in_the_unit_asked_for(ordinary: str, call: str) -> None:
    for unit in ("ns", "us"):
        values = pa.array([0, None, MICROSECOND], pa.timestamp("us")).cast(pa.timestamp(unit))
        assert _calls(ordinary)[call](int96_unit=unit) == arrow_digest.logical_hash(pa.table({"t": values}))
    assert _calls(ordinary)[call]() == _calls(ordinary)[call](int96_unit="ns")


def test_diff_reads_both_sides_in_the_unit_asked_for(ordinary: str) -> None:
    table = pa.table({"t": pa.array([0, None, MICROSECOND], pa.timestamp("us"))})
    assert arrow_digest.diff(ordinary, table, int96_unit="us").equal
    assert arrow_digest.diff(ordinary, table).retyped


@pytest.mark.parametrize("call", _calls(""))
def test_another_unit_is_refused_by_name(ordinary: str, call: str) -> None:
    with pytest.raises(UnknownUnitError, match="unknown int96_unit 'ms': expected one of ns, us") as caught:
        _calls(ordinary)[call](int96_unit="ms")
    assert isinstance(caught.value, ArrowDigestError)
    assert caught.value.unit == "ms"


EPOCH = 2_440_588  # the Julian number of 1970-01-01
DAY = 86_400 * 10**9
FIRST, LAST = -(2**63), 2**63 - 1


def stored(instant: int) -> tuple[int, int]:
    """An instant in nanoseconds since 1970, as INT96 holds it."""
    return instant % DAY, EPOCH + instant // DAY


def hashed(tmp_path: Path, values: list[tuple[int, int] | None], unit: str, **options: Any) -> Any:
    path = tmp_path / "t.parquet"
    path.write_bytes(footers.int96(values, **options))
    return arrow_digest.logical_hash(path, int96_unit=unit)


def of_timestamps(values: list[int | None], unit: str) -> Any:
    return arrow_digest.logical_hash(pa.table({"t": pa.array(values, pa.int64()).cast(pa.timestamp(unit))}))


@given(st.lists(st.none() | st.integers(FIRST, LAST), max_size=20), st.booleans())
def test_every_instant_that_fits_nanoseconds_is_read_exactly(tmp_path_factory, instants, use_dictionary):
    values = [None if instant is None else stored(instant) for instant in instants]
    found = hashed(tmp_path_factory.getbasetemp(), values, "ns", use_dictionary=use_dictionary)
    assert found == of_timestamps(instants, "ns")


@given(st.lists(st.none() | st.integers(FIRST, LAST), max_size=20))
def test_every_instant_that_fits_microseconds_is_read_exactly(tmp_path_factory, instants):
    inside = [instant if instant is None or _fits_days(instant * 1000) else instant // 10**7 for instant in instants]
    values = [None if instant is None else stored(instant * 1000) for instant in inside]
    assert hashed(tmp_path_factory.getbasetemp(), values, "us") == of_timestamps(inside, "us")


def _fits_days(nanoseconds: int) -> bool:
    return -(2**31) <= EPOCH + nanoseconds // DAY < 2**31


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1), st.sampled_from(["ns", "us"]))
@example(0, -(2**31), "us")
@example(2**63 - 1, 2**31 - 1, "us")
@example(0, EPOCH + 106_751, "ns")
@example(DAY - 1, EPOCH + 106_751, "ns")
@example(-1, EPOCH, "us")
@example(0, EPOCH - 106_751_991 - 5, "us")
@example(0, -106_751_992, "us")
@example(0, -106_751_991, "us")
def test_any_twelve_bytes_are_read_exactly_or_refused(tmp_path_factory, nanoseconds, day, unit):
    """Nanoseconds outside a day, and days that mean nothing, are what they add up to, or nothing at all."""
    instant, left = divmod((day - EPOCH) * DAY + nanoseconds, {"ns": 1, "us": 1000}[unit])
    fits = not left and FIRST <= instant <= LAST
    folder = tmp_path_factory.getbasetemp()
    if fits:
        assert hashed(folder, [(nanoseconds, day)], unit) == of_timestamps([instant], unit)
        return
    with pytest.raises(UnreadableError) as caught:
        hashed(folder, [(nanoseconds, day)], unit)
    assert (caught.value.rule, caught.value.column, caught.value.row) == ("int96", ("t",), 0)


@pytest.mark.parametrize("instant", [FIRST, LAST])
def test_the_first_and_last_nanosecond_fit_and_their_neighbours_do_not(tmp_path, instant):
    assert hashed(tmp_path, [stored(instant)], "ns") == of_timestamps([instant], "ns")
    outside = instant + (1 if instant > 0 else -1)
    with pytest.raises(UnreadableError, match="is outside what 64 bits of nanoseconds"):
        hashed(tmp_path, [stored(outside)], "ns")


SENTINEL = stored(253_402_214_400 * 10**9)  # 9999-12-31


def test_what_does_not_fit_is_named_with_the_way_out(tmp_path):
    with pytest.raises(UnreadableError) as caught:
        hashed(tmp_path, [stored(0), None, SENTINEL], "ns")
    assert (caught.value.rule, caught.value.column, caught.value.row) == ("int96", ("t",), 2)
    assert "column t, row 2" in str(caught.value)
    assert 'int96_unit="us" (--int96 us) reads it' in str(caught.value)
    assert hashed(tmp_path, [stored(0), None, SENTINEL], "us") == of_timestamps(
        [0, None, 253_402_214_400 * 10**6], "us"
    )


def test_digits_below_a_microsecond_are_named_with_the_way_out(tmp_path):
    with pytest.raises(UnreadableError, match=r'row 1: .* digits below a microsecond; int96_unit="ns" \(--int96 ns\)'):
        hashed(tmp_path, [stored(1000), stored(1001)], "us")
    assert hashed(tmp_path, [stored(1000), stored(1001)], "ns") == of_timestamps([1000, 1001], "ns")


def test_garbage_under_a_null_is_no_value(tmp_path):
    assert hashed(tmp_path, [None, stored(5), None], "ns") == of_timestamps([None, 5, None], "ns")


@pytest.mark.parametrize("options", [{"row_group_size": 4}, {"use_dictionary": True}, {"data_page_size": 8}])
def test_the_row_is_counted_through_row_groups_and_pages(tmp_path, options):
    values = [stored(number) for number in range(10)] + [SENTINEL]
    with pytest.raises(UnreadableError, match="column t, row 10:"):
        hashed(tmp_path, values, "ns", **options)


NESTED = {
    "list": (lambda t: pa.array([[], None, [t[0]], [t[1], t[2]]], pa.list_(t.type)), ("c",), 3),
    "list of lists": (lambda t: pa.array([[[t[0]], []], [[], [t[1], t[2]]]], pa.list_(pa.list_(t.type))), ("c",), 1),
    "fixed lists": (lambda t: pa.array([t[:2].to_pylist(), t[1:].to_pylist()], pa.list_(t.type, 2)), ("c",), 1),
    "large list": (lambda t: pa.array([[t[0], t[1]], [t[2]]], pa.large_list(t.type)), ("c",), 1),
    "struct": (lambda t: pa.StructArray.from_arrays([t, pa.array([1, 2, 3])], ["a", "b"]), ("c", "a"), 2),
    "struct of structs": (
        lambda t: pa.StructArray.from_arrays([pa.StructArray.from_arrays([t], ["a.b"])], ["s"]),
        ("c", "s", "a.b"),
        2,
    ),
    "struct of lists": (
        lambda t: pa.StructArray.from_arrays([pa.array([[t[0]], None, [t[1], t[2]]], pa.list_(t.type))], ["l"]),
        ("c", "l"),
        2,
    ),
    "null structs": (
        lambda t: pa.StructArray.from_arrays([t], ["a"], mask=pa.array([False, True, False])),
        ("c", "a"),
        2,
    ),
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("row_group_size", [1, 100])
def test_timestamps_are_exact_or_refused_at_any_depth(tmp_path, kind, row_group_size):
    make, path, row = NESTED[kind]
    table = pa.table({"c": make(pa.array([footers.stand_in(n) for n in range(3)], pa.timestamp("ns")))})
    content = footers.parquet(
        table, use_deprecated_int96_timestamps=True, store_schema=True, row_group_size=row_group_size
    )
    file = tmp_path / "t.parquet"
    file.write_bytes(content)
    assert arrow_digest.logical_hash(file) == arrow_digest.logical_hash(table)
    file.write_bytes(footers.replaced(content, [None, None, SENTINEL]))
    with pytest.raises(UnreadableError) as caught:
        arrow_digest.logical_hash(file)
    assert (caught.value.rule, caught.value.column, caught.value.row) == ("int96", path, row)
    whole = pq.ParquetFile(file, coerce_int96_timestamp_unit="us").read()
    assert arrow_digest.logical_hash(file, int96_unit="us") == arrow_digest.logical_hash(whole)


def test_every_command_refuses_by_name_and_reads_with_the_option(tmp_path):
    path = tmp_path / "spark.parquet"
    path.write_bytes(footers.int96([stored(0), SENTINEL]))
    hash_us = str(arrow_digest.logical_hash(path, int96_unit="us"))
    other = tmp_path / "other.arrow"
    table = pa.table({"t": pa.array([0, 253_402_214_400 * 10**6], pa.timestamp("us"))})
    with pa.ipc.new_file(other, table.schema) as writer:
        writer.write_table(table)
    commands = [
        ["hash", path],
        ["hash", "--both", path],
        ["hash", "--columns", path],
        ["explain", path],
        ["diff", path, other],
        ["verify", path, "--logical", hash_us],
    ]
    for command in commands:
        refused = arrow_digest_command(*command)
        assert refused.returncode == 2
        text = (refused.stdout + refused.stderr).decode()
        assert "column t, row 1" in text
        assert "--int96 us" in text
        assert "Traceback" not in text
        assert arrow_digest_command(*command, "--int96", "us").returncode == 0
    refused = arrow_digest_command("manifest", tmp_path, "-o", "-")
    assert refused.returncode == 2
    assert b"column t, row 1" in refused.stderr


def test_workers_that_share_a_file_refuse_what_does_not_fit(tmp_path):
    path = tmp_path / "spark.parquet"
    path.write_bytes(footers.int96([stored(0), SENTINEL]))
    with pytest.raises(UnreadableError, match="column t, row 1"):
        _shared(str(path))
    assert _shared(str(path), int96_unit="us") == arrow_digest.logical_hash(path, int96_unit="us")


def test_a_year_that_wrapped_around_while_it_was_written_is_refused_in_either_unit():
    """Spark lets the day of the year 290000 wrap around; readers disagree about what comes out."""
    path = DATA / "parquet-testing" / "int96_from_spark.parquet"
    for unit, row in (("ns", 2), ("us", 5)):
        with pytest.raises(UnreadableError) as caught:
            arrow_digest.logical_hash(path, int96_unit=unit)
        assert (caught.value.rule, caught.value.column, caught.value.row) == ("int96", ("a",), row)
