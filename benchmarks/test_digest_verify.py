"""Verification against what cannot be avoided: hashing the bytes, hashing the records, reading the files."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest as ad

SMALL_FILES = 1000
LIMIT_SECONDS = 5.0


def _numbers(rows: int, columns: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return pa.table({f"c{i}": rng.integers(0, 2**63, rows) for i in range(columns)})


def _hashed(path: Path) -> bytes:
    hasher = hashlib.sha3_256()
    buffer = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            hasher.update(memoryview(buffer)[:count])
    return hasher.digest()


def test_a_physical_hash_costs_what_the_digest_function_costs(against_floor: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(np.random.default_rng(0).bytes(256 << 20))
    against_floor(
        lambda: ad.physical_hash(path),
        lambda: _hashed(path),
        goal=1.05,
        speed=False,
        unit_bytes=path.stat().st_size,
        clock=time.process_time,
    )


def test_many_files_use_all_cores(against_floor: Any, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.parquet" for number in range(16)]
    for number, path in enumerate(paths):
        pq.write_table(_numbers(250_000, 4, number), path, compression="none", use_dictionary=False)
    against_floor(
        lambda: list(ad.hash_files(paths)),
        lambda: [ad.hash_file(path, threads=1) for path in paths],
        goal=1.8,
        rounds=3,
        unit_bytes=sum(path.stat().st_size for path in paths),
    )


@pytest.mark.parametrize("rewritten", [False, True], ids=["identical", "equivalent"])
def test_checking_many_small_files_takes_seconds(against_floor: Any, tmp_path: Path, rewritten: bool) -> None:
    paths = [tmp_path / f"{number:04}.parquet" for number in range(SMALL_FILES)]
    for number, path in enumerate(paths):
        table = _numbers(300, 3, number).append_column("s", pa.array([f"{number} {i}" for i in range(300)]))
        pq.write_table(table, path)
    manifest = ad.Manifest.create(tmp_path)
    if rewritten:
        for path in paths:
            pq.write_table(pq.ParquetFile(path).read(), path, compression="gzip")
    expected = ad.Status.EQUIVALENT if rewritten else ad.Status.IDENTICAL
    assert {result.status for result in manifest.check()} == {expected}
    against_floor(
        lambda: list(manifest.check()),
        lambda: time.sleep(LIMIT_SECONDS),
        goal=1,
        speed=False,
        rounds=1,
        unit_bytes=sum(path.stat().st_size for path in paths),
    )


def test_diff_of_equal_tables_costs_little_more_than_hashing_both(against_floor: Any) -> None:
    rows = 20_000_000
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "i": rng.integers(0, 2**63, rows),
            "f": rng.random(rows),
            "n": pa.array(rng.integers(0, 2**63, rows), mask=rng.random(rows) < 0.1),
            "k": rng.integers(0, 2**63, rows),
            "s": pa.array(rng.integers(0, 10**9, rows)).cast(pa.string()),
        }
    )
    other = pa.concat_tables([table.slice(start, 300_000) for start in range(0, rows, 300_000)])
    against_floor(
        lambda: ad.diff(table, other),
        lambda: [ad.logical_hash(side) for side in (table, other)],
        goal=1.2,
        speed=False,
        rounds=1,
        unit_bytes=2 * table.nbytes,
    )
