"""The native kernels, goal by goal: each measurement is a ratio of two runs in turn, printed beside its goal."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import blake3
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import arrow_digest as ad
from arrow_digest.arrays.describe import describe
from arrow_digest.native import choice
from arrow_digest.rules.arrow0 import leaves as columns_module
from arrow_digest.rules.arrow0 import portable
from arrow_digest.rules.arrow0.leaf_columns import leaf_column
from arrow_digest.rules.arrow0.types import encode_type
from arrow_digest.rules.chosen import chosen_rule

pytestmark = pytest.mark.skipif(ad.kernels().name != "native", reason="the native kernels are not active")

ROWS = 500_000


def _offsets(rng: np.random.Generator, rows: int, longest: int) -> Any:
    return np.concatenate(([0], np.cumsum(rng.integers(0, longest + 1, rows)))).astype(np.int32)


def _mask(rng: np.random.Generator, rows: int, share: float) -> Any:
    return rng.random(rows) < share if share else None


def _integers(rng: np.random.Generator, rows: int, nulls: float = 0) -> Any:
    return pa.array(rng.integers(0, 2**63, rows), mask=_mask(rng, rows, nulls))


def _strings(rng: np.random.Generator, rows: int, longest: int) -> Any:
    offsets = _offsets(rng, rows, longest)
    data = rng.integers(97, 123, offsets[-1]).astype(np.uint8)
    return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _with_nulls(rng: np.random.Generator, array: Any, share: float) -> Any:
    return pc.if_else(pa.array(rng.random(len(array)) >= share), array, pa.scalar(None, array.type))


def _lists(rng: np.random.Generator, items: Callable[[int], Any], rows: int) -> Any:
    offsets = _offsets(rng, rows, 7)
    return pa.ListArray.from_arrays(pa.array(offsets), items(int(offsets[-1])))


def _structs(rng: np.random.Generator, rows: int) -> Any:
    inner = pa.StructArray.from_arrays([_integers(rng, rows, 0.1)], ["x"], mask=pa.array(rng.random(rows) < 0.1))
    return pa.StructArray.from_arrays([inner], ["s"], mask=pa.array(rng.random(rows) < 0.1))


def _decimals(rng: np.random.Generator, rows: int, nulls: float) -> Any:
    words = pa.py_buffer(rng.integers(0, 2**62, 2 * rows))
    plain = pa.Array.from_buffers(pa.decimal128(38, 3), rows, [None, words])
    return _with_nulls(rng, plain, nulls) if nulls else plain


def _dictionary(rng: np.random.Generator, rows: int) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 1000, rows), pa.int32()), _strings(rng, 1000, 16))


# A column of each shape, and its goals in eight columns: on AVX-512, and with four lanes of AVX2.
SHAPES: dict[str, tuple[Callable[[np.random.Generator], Any], float, float]] = {
    "int64": (lambda rng: _integers(rng, ROWS), 5.5, 2.2),
    "float32": (lambda rng: pa.array(rng.random(ROWS, np.float32)), 5.5, 2.2),
    "int64, half null": (lambda rng: _integers(rng, ROWS, 0.5), 3.5, 1.8),
    "short strings": (lambda rng: _strings(rng, ROWS, 16), 4.5, 2),
    "list<int64>": (lambda rng: _lists(rng, lambda n: _integers(rng, n), ROWS // 4), 4.5, 2),
    "list<string>": (lambda rng: _lists(rng, lambda n: _strings(rng, n, 16), ROWS // 4), 4.5, 2),
    "decimal128": (lambda rng: _decimals(rng, ROWS, 0), 4.5, 2),
    "decimal128, a tenth null": (lambda rng: _decimals(rng, ROWS, 0.1), 4.5, 2),
    "dictionary<string>": (lambda rng: _dictionary(rng, ROWS), 4.5, 2),
    "nested nullable structs": (lambda rng: _structs(rng, ROWS), 4.5, 2),
}
# Shapes that have a goal only for one column alone.
MORE_SHAPES: dict[str, Callable[[np.random.Generator], Any]] = {
    "bool": lambda rng: pa.array(rng.random(4 * ROWS) < 0.5),
    "bool, a tenth null": lambda rng: pa.array(rng.random(4 * ROWS) < 0.5, mask=rng.random(4 * ROWS) < 0.1),
    "long strings": lambda rng: _strings(rng, ROWS // 50, 1000),
    "short strings, half null": lambda rng: _with_nulls(rng, _strings(rng, ROWS, 16), 0.5),
    "string views": lambda rng: _strings(rng, ROWS, 32).cast(pa.string_view()),
}
EVERY_SHAPE = {name: make for name, (make, _, _) in SHAPES.items()} | MORE_SHAPES


def _table(make: Callable[[np.random.Generator], Any], count: int) -> Any:
    return pa.table({f"c{i}": make(np.random.default_rng(i)) for i in range(count)})


def _streams(table: Any) -> list[bytes]:
    """Return the bytes that each leaf's digest is fed."""
    return [
        encode_type(leaf.data_type)
        + b"".join(
            bytes(part)
            for chunk in table.column(leaf.indices[0]).chunks
            for part in portable.encode(leaf_column(describe(chunk), leaf.indices))
        )
        for leaf in chosen_rule().plan(table.schema).leaves
    ]


def _against_hashlib(measure: Any, table: Any, goal: float) -> None:
    streams = _streams(table)
    measure(
        lambda: ad.logical_hash(table, threads=1),
        lambda: [hashlib.sha3_256(stream).digest() for stream in streams],
        goal=goal,
        unit_bytes=sum(map(len, streams)),
        clock=time.process_time,
    )


def _force_lanes(monkeypatch: pytest.MonkeyPatch, lanes: int) -> None:
    if ad.kernels().lanes < lanes:
        pytest.skip(f"this CPU runs up to {ad.kernels().lanes} lanes")
    forced = choice.native()._replace(lanes=lanes)
    monkeypatch.setattr(columns_module, "native", lambda: forced)


@pytest.mark.parametrize("count", [8, 32])
@pytest.mark.parametrize("lanes", [8, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_sha3_of_many_columns(shape: str, lanes: int, count: int, against_floor: Any, monkeypatch: Any) -> None:
    if count != 8 and not shape.startswith("int64"):
        pytest.skip("measured with eight columns")
    _force_lanes(monkeypatch, lanes)
    make, *goals = SHAPES[shape]
    _against_hashlib(against_floor, _table(make, count), goals[lanes == 4])


@pytest.mark.parametrize("lanes", [8, 4])
@pytest.mark.parametrize("shape", EVERY_SHAPE)
def test_sha3_of_one_column(shape: str, lanes: int, against_floor: Any, monkeypatch: Any) -> None:
    _force_lanes(monkeypatch, lanes)
    _against_hashlib(against_floor, _table(EVERY_SHAPE[shape], 1), 0.9)


@pytest.mark.parametrize(
    ("shape", "goal"),
    [
        ("short strings", 0.5),
        ("long strings", 0.5),
        ("string views", 0.5),
        ("list<int64>", 0.5),
        ("list<string>", 0.5),
        ("int64, half null", 0.35),
        ("short strings, half null", 0.35),
    ],
)
def test_blake3_of_one_column(shape: str, goal: float, against_floor: Any) -> None:
    table = _table(EVERY_SHAPE[shape], 1)
    (stream,) = _streams(table)
    against_floor(
        lambda: ad.logical_hash(table, threads=1, function="blake3"),
        lambda: blake3.blake3(stream).digest(),
        goal=goal,
        unit_bytes=len(stream),
        clock=time.process_time,
    )


@pytest.mark.parametrize(
    ("shape", "goal"),
    [("int64", 0.98), ("int64, half null", 1.2), ("short strings", 1.2), ("list<int64>", 1.2), ("list<string>", 1.2)],
)
def test_sha2_against_the_compiled_reference(shape: str, goal: float, against_floor: Any) -> None:
    starfix = pytest.importorskip("starfix")
    table = _table(EVERY_SHAPE[shape], 4)
    assert ad.logical_hash(table, function="sha2-256").digest == starfix.hash_arrow_table(table)[-32:]
    against_floor(
        lambda: ad.logical_hash(table, threads=1, function="sha2-256"),
        lambda: starfix.hash_arrow_table(table),
        goal=goal,
        clock=time.process_time,
    )


@pytest.mark.parametrize("shape", ["int64", "int64, half null", "short strings"])
def test_two_threads_against_one(shape: str, against_floor: Any) -> None:
    table = _table(EVERY_SHAPE[shape], 8)
    against_floor(
        lambda: ad.logical_hash(table, threads=2), lambda: ad.logical_hash(table, threads=1), goal=1.8, rounds=15
    )


def _mixed_parquet(path: Any) -> None:
    rng, rows = np.random.default_rng(0), 4_000_000
    columns: dict[str, Any] = {}
    for i in range(4):
        distinct = rng.integers(0, 2**63, 1000)
        columns[f"i{i}"] = pa.array(distinct[rng.integers(0, 1000, rows)], mask=rng.random(rows) < 0.1)
    for i in range(2):
        columns[f"f{i}"] = pa.array(rng.random(rows), mask=rng.random(rows) < 0.1)
    for i in range(2):
        texts = _strings(rng, 10_000, 16)
        columns[f"s{i}"] = texts.take(pa.array(rng.integers(0, 10_000, rows), mask=rng.random(rows) < 0.1))
    moments = pa.array(rng.integers(0, 2**50, rows), mask=rng.random(rows) < 0.1)
    columns["t"] = moments.cast(pa.timestamp("us"))
    pq.write_table(pa.table(columns), path, compression="zstd")


def _random_parquet(path: Any) -> None:
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({f"i{i}": _integers(rng, 4_000_000) for i in range(8)}), path, compression="snappy")


@pytest.mark.parametrize(
    ("write", "lanes", "goal"),
    [(_mixed_parquet, 8, 1.25), (_mixed_parquet, 4, 1.4), (_random_parquet, 8, 1.5)],
    ids=["mixed-8", "mixed-4", "random-8"],
)
def test_a_parquet_file_against_reading_it(
    write: Any, lanes: int, goal: float, against_floor: Any, monkeypatch: Any, tmp_path: Any
) -> None:
    _force_lanes(monkeypatch, lanes)
    path = tmp_path / "data.parquet"
    write(path)
    against_floor(lambda: ad.logical_hash(path), lambda: pq.read_table(path), goal=goal, speed=False, rounds=9)


def test_a_small_table_takes_microseconds(benchmark: Any, request: Any) -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"a": _integers(rng, 100), "b": _strings(rng, 100, 16)})
    best = min(_microseconds(lambda: ad.logical_hash(table)) for _ in range(200))
    benchmark.extra_info.update(microseconds=best, goal=60, bound="at most", met=best <= 60)
    request.config.get_terminal_writer().line(f"\nsmall table: {best:.1f} µs (at most 60)", red=best > 60)
    benchmark(ad.logical_hash, table)


def _microseconds(call: Callable[[], Any], repeats: int = 20) -> float:
    start = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - start) / repeats * 1e6
