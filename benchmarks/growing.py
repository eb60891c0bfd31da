"""One point of a growth curve, in a process of its own, so that its peak memory is its own. Prints one JSON line.

python benchmarks/growing.py rows|columns|chunks|lists|structs SIZE ROUNDS
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import arrow_digest as ad
from measuring import forget_peak, peak_bytes, ratio, take_turns

BATCH_ROWS = 65_536
COLUMN_ROWS = 10_000
CHUNKED_ROWS = 100_000
NESTED_ROWS = 400_000


def _records(rows: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    texts = pa.array(rng.integers(0, 10**9, rows)).cast(pa.string())
    floats = pa.array(rng.random(rows), mask=rng.random(rows) < 0.1)
    return pa.record_batch({"i": pa.array(rng.integers(0, 2**63, rows)), "f": floats, "s": texts})


def _bytes(data: Any) -> int:
    return int(data.nbytes)


def rows(size: int) -> tuple[Callable[[], Any], int]:
    """A stream of that many rows: a few batches, again and again."""
    pool = [_records(min(BATCH_ROWS, size), seed) for seed in range(4)]
    whole, rest = divmod(size, len(pool[0]))

    def batches() -> Any:
        for number in range(whole):
            yield pool[number % len(pool)]
        yield pool[0].slice(0, rest)

    def digest() -> Any:
        return ad.logical_hash(pa.RecordBatchReader.from_batches(pool[0].schema, batches()))

    return digest, _bytes(pool[0]) * size // len(pool[0])


def columns(size: int) -> tuple[Callable[[], Any], int]:
    """That many columns of integers, floats and strings."""
    drawn = [column for seed in range(4) for column in _records(COLUMN_ROWS, seed).columns]
    table = pa.table([drawn[i % len(drawn)] for i in range(size)], names=[f"c{i}" for i in range(size)])
    return lambda: ad.logical_hash(table), _bytes(table)


def chunks(size: int) -> tuple[Callable[[], Any], int]:
    """The same rows in that many chunks."""
    batch = _records(CHUNKED_ROWS)
    step = CHUNKED_ROWS // size
    table = pa.Table.from_batches([batch.slice(start, step) for start in range(0, CHUNKED_ROWS, step)])
    return lambda: ad.logical_hash(table), _bytes(batch)


def lists(size: int) -> tuple[Callable[[], Any], int]:
    """Lists that deep: pairs of pairs of ... of as many integers in all."""
    array = pa.array(np.random.default_rng(0).integers(0, 2**63, NESTED_ROWS))
    for _ in range(size):
        offsets = pa.array(np.arange(0, len(array) + 1, min(2, len(array)), dtype=np.int32))
        array = pa.ListArray.from_arrays(offsets, array)
    table = pa.table({"a": array})
    return lambda: ad.logical_hash(table), _bytes(table)


def structs(size: int) -> tuple[Callable[[], Any], int]:
    """Structs that deep over as many integers, a twentieth of them null at each level."""
    rng = np.random.default_rng(0)
    array = pa.array(rng.integers(0, 2**63, NESTED_ROWS))
    for _ in range(size):
        array = pa.StructArray.from_arrays([array], ["x"], mask=pa.array(rng.random(NESTED_ROWS) < 0.05))
    table = pa.table({"a": array})
    return lambda: ad.logical_hash(table), _bytes(table)


def main(what: str, size: str, rounds: str) -> None:
    digest, byte_count = {"rows": rows, "columns": columns, "chunks": chunks, "lists": lists, "structs": structs}[what](
        int(size)
    )
    floor_data = np.random.default_rng(0).bytes(min(byte_count, 1 << 24))

    def floor() -> None:
        hasher, left = hashlib.sha3_256(), byte_count
        while left > 0:
            hasher.update(floor_data[:left] if left < len(floor_data) else floor_data)
            left -= len(floor_data)
        hasher.digest()

    floor()
    forget_peak()
    before = peak_bytes()
    digest()
    more = {
        "size": int(size),
        "bytes": byte_count,
        "peak_bytes": max(peak_bytes() - before, 0),
        "process_bytes": peak_bytes(),
    }
    best = take_turns({"subject": digest, "floor": floor}, int(rounds))
    print(json.dumps(ratio(best["subject"], best["floor"]) | more))


if __name__ == "__main__":
    main(*sys.argv[1:])
