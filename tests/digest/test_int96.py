"""INT96 timestamps of Parquet: read exactly, in the unit that was asked for, or refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest
from arrow_digest import ArrowDigestError, UnknownUnitError

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
