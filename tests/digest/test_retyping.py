"""Columns whose type changed and whose values did not: told from other differences by verify, check and diff alike."""

from __future__ import annotations

import decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrow_digest import FileFacts, Manifest, Status, diff, hash_file, verify
from arrow_digest.comparing.verify import verify_file
from helpers.files import ipc_file, parquet

STAMPS = [0, 1_000_000, None, -5]
INT96 = {"use_deprecated_int96_timestamps": True, "store_schema": False}


def column(values, data_type):
    return pa.table({"n": pa.array([7] * len(values)), "c": pa.array(values, data_type)})


# What is written, as what type it was recorded, and how the file is written.
KNOWN = {
    "a zone to UTC": (pa.timestamp("us", "Europe/Berlin"), STAMPS, {"store_schema": False}, None),
    "an offset to UTC": (pa.timestamp("us", "+05:45"), STAMPS, {"store_schema": False}, None),
    "UTC to a zone": (pa.timestamp("us", "UTC"), STAMPS, {}, pa.timestamp("us", "Asia/Tokyo")),
    "a zone to another": (pa.timestamp("ms", "Europe/Rome"), STAMPS, {}, pa.timestamp("us", "Asia/Tokyo")),
    "a zone to none": (pa.timestamp("us", "America/Lima"), STAMPS, {}, pa.timestamp("us")),
    "none to UTC": (pa.timestamp("ms"), STAMPS, {}, pa.timestamp("us", "UTC")),
    "microseconds in INT96": (pa.timestamp("us"), STAMPS, INT96, None),
    "milliseconds in INT96": (pa.timestamp("ms"), STAMPS, INT96, None),
    "a zone in INT96": (pa.timestamp("us", "Europe/Berlin"), STAMPS, INT96, None),
    "lists of zones": (
        pa.list_(pa.timestamp("us", "Asia/Kolkata")),
        [[0, None], None, [], [5]],
        {"store_schema": False},
        None,
    ),
    "half floats": (pa.float16(), [0.5, None, -0.0], {}, pa.float32()),
    "times": (pa.time64("ns"), [1000, None], {}, pa.time64("us")),
}
# Known to check, where the type is recorded, and not to verify.
RECORDED = {
    "narrow integers": (pa.uint8(), [0, 255, None], {}, pa.int16()),
    "wide integers": (pa.int32(), [-1, None], {}, pa.int64()),
    "decimals": (pa.decimal128(5, 2), [decimal.Decimal("1.20"), None], {}, pa.decimal128(9, 4)),
    "integers as decimals": (pa.uint64(), [2**64 - 1, None], {}, pa.decimal128(20, 0)),
    "text without its mark": (pa.string(), ["é", None], {}, pa.binary()),
    "dates as timestamps": (pa.date32(), [0, None, -1], {}, pa.timestamp("us")),
    "whole floats": (pa.int64(), [3, None], {}, pa.float64()),
}


def written(tmp_path, case):
    data_type, values, options, became = case
    table = column(values, data_type)
    (tmp_path / "f").write_bytes(ipc_file(table))
    facts = hash_file(tmp_path / "f")
    manifest = Manifest.create(tmp_path)
    if became is not None:
        table = table.set_column(1, "c", table["c"].cast(became))
    (tmp_path / "f").write_bytes(parquet(table, **options))
    return facts, manifest, column(values, data_type)


@pytest.mark.parametrize("name", [*KNOWN, *RECORDED])
def test_where_the_type_was_recorded_a_change_of_types_is_named_as_that(name, tmp_path):
    facts, manifest, table = written(tmp_path, {**KNOWN, **RECORDED}[name])
    recorded = FileFacts(facts.physical, facts.logical, facts.row_count, None, facts.columns)
    (checked,) = manifest.check()
    for result in (verify_file(tmp_path / "f", recorded), checked):
        assert result.status is Status.DIFFERENT
        known = ", as they do on the way through Parquet" if name in KNOWN else ""
        assert f"only types changed{known}: c: {facts.columns[1].data_type} became" in result.reason
    found = diff(table, tmp_path / "f")
    assert found.columns == ()
    assert [path for path, _, _ in found.retyped] == [("c",)]


@pytest.mark.parametrize("name", KNOWN)
def test_where_the_hash_alone_is_known_zones_and_units_are_tried(name, tmp_path):
    facts, _, _ = written(tmp_path, KNOWN[name])
    result = verify(tmp_path / "f", logical=facts.logical)
    assert result.status is Status.DIFFERENT
    assert (
        f"only types changed, as they do on the way through Parquet: c: {facts.columns[1].data_type}" in result.reason
    )


@pytest.mark.parametrize("name", [*KNOWN, *RECORDED])
def test_other_values_beside_the_change_are_never_called_a_change_of_types(name, tmp_path):
    facts, manifest, table = written(tmp_path, {**KNOWN, **RECORDED}[name])
    again = pq.read_table(tmp_path / "f")
    other = pa.concat_arrays([again["c"].combine_chunks().slice(1), again["c"].combine_chunks().slice(0, 1)])
    (tmp_path / "f").write_bytes(parquet(again.set_column(1, "c", other)))
    (checked,) = manifest.check()
    for result in (verify(tmp_path / "f", logical=facts.logical), checked):
        assert result.status is Status.DIFFERENT
        assert "only types changed" not in result.reason
    assert [changed.path for changed in diff(table, tmp_path / "f").columns] == [("c",)]


def test_nulls_that_moved_beside_the_change_are_no_change_of_types(tmp_path):
    (tmp_path / "f").write_bytes(parquet(pa.table({"c": pa.array([None, 0], pa.int8())})))
    manifest = Manifest.create(tmp_path)
    for values in ([0, None], [None, None], [0, 0]):  # as int8, two bytes 0 each
        (tmp_path / "f").write_bytes(parquet(pa.table({"c": pa.array(values, pa.int32())})))
        (checked,) = manifest.check()
        assert checked.status is Status.DIFFERENT
        assert "only types changed" not in checked.reason
    (tmp_path / "f").write_bytes(parquet(pa.table({"c": pa.array([None, 0], pa.int32())})))
    assert "only types changed" in next(manifest.check()).reason


def test_other_rows_beside_the_change_are_no_change_of_types(tmp_path):
    (tmp_path / "f").write_bytes(parquet(pa.table({"c": pa.array([0.0] * 4, pa.float16())})))
    facts = hash_file(tmp_path / "f")
    (tmp_path / "f").write_bytes(parquet(pa.table({"c": pa.array([None] * 8, pa.float32())})))
    assert "only types changed" in verify(tmp_path / "f", logical=facts.logical).reason
    result = verify(tmp_path / "f", logical=facts.logical, row_count=facts.row_count)
    assert result.status is Status.DIFFERENT
    assert "only types changed" not in result.reason
    assert "expected 4 rows, found 8" in result.reason
