"""The portable encoder, one thread: encoding and sha3-256 against sha3-256 alone over the same bytes."""

from __future__ import annotations

import decimal
import hashlib
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import arrow_digest as ad
from arrow_digest.rules.arrow0 import leaves as columns
from arrow_digest.rules.arrow0 import portable
from arrow_digest.rules.arrow0.leaf_columns import leaf_column
from arrow_digest.rules.chosen import chosen_rule

ROWS = 2_000_000


def _mask(rng: np.random.Generator, rows: int, share: float) -> Any:
    return rng.random(rows) < share if share else None


def _integers(rows: int, nulls: float = 0) -> Any:
    rng = np.random.default_rng(0)
    return pa.array(rng.integers(0, 2**63, rows), mask=_mask(rng, rows, nulls))


def _strings(rows: int, longest: int, nulls: float = 0, kind: Any = None) -> Any:
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, longest, rows)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    data = rng.integers(97, 123, offsets[-1]).astype(np.uint8)
    array = pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    if nulls:
        array = pa.compute.if_else(pa.array(rng.random(rows) >= nulls), array, pa.scalar(None, pa.string()))
    return array if kind is None else array.cast(kind)


def _lists(items: Any, longest: int) -> Any:
    rng = np.random.default_rng(0)
    ends = np.cumsum(rng.integers(0, longest, len(items)))
    ends = ends[ends <= len(items)]
    return pa.ListArray.from_arrays(pa.array(np.concatenate(([0], ends)), pa.int32()), items)


def _struct(rows: int) -> Any:
    rng = np.random.default_rng(0)
    inner = pa.StructArray.from_arrays([_integers(rows, 0.1)], ["x"], mask=pa.array(rng.random(rows) < 0.1))
    return pa.StructArray.from_arrays([inner], ["s"], mask=pa.array(rng.random(rows) < 0.1))


SHAPES = {
    "int64": (lambda: _integers(ROWS), 0.95),
    "float32": (lambda: pa.array(np.random.default_rng(0).random(ROWS, np.float32)), 0.95),
    "int64, half null": (lambda: _integers(ROWS, 0.5), 0.25),
    "int8, half null": (lambda: _integers(ROWS, 0.5).cast(pa.int8(), safe=False), 0.25),
    "bool": (lambda: pa.array(np.random.default_rng(0).random(ROWS) < 0.5), 0.25),
    "bool, a tenth null": (
        lambda: pa.array(np.random.default_rng(0).random(ROWS) < 0.5, mask=np.random.default_rng(1).random(ROWS) < 0.1),
        0.25,
    ),
    "short strings": (lambda: _strings(ROWS, 16), 0.25),
    "short strings, half null": (lambda: _strings(ROWS, 16, 0.5), 0.25),
    "long strings": (lambda: _strings(ROWS // 50, 1000), 0.25),
    "string views": (lambda: _strings(ROWS, 32, kind=pa.string_view()), 0.25),
    "list<int64>": (lambda: _lists(_integers(ROWS), 8), 0.25),
    "list<string>": (lambda: _lists(_strings(ROWS, 16), 8), 0.25),
    "list<list<int32>>, half null items": (
        lambda: _lists(_lists(_integers(ROWS, 0.5).cast(pa.int32(), safe=False), 4), 4),
        0.25,
    ),
    "decimal128, a tenth null": (
        lambda: pa.array([decimal.Decimal(i) if i % 10 else None for i in range(ROWS // 10)], pa.decimal128(20, 0)),
        0.25,
    ),
    "dictionary<string>": (
        lambda: pa.DictionaryArray.from_arrays(
            pa.array(np.random.default_rng(0).integers(0, 1000, ROWS), pa.int32()), _strings(1000, 16)
        ),
        0.25,
    ),
    "nested nullable structs": (lambda: _struct(ROWS), 0.25),
}


def _force_portable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "native", lambda: None)


@pytest.mark.parametrize("shape", SHAPES)
def test_portable_encoding_keeps_up_with_sha3(shape: str, against_floor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _force_portable(monkeypatch)
    make, goal = SHAPES[shape]
    table = pa.table({"c": make()})
    stream = _stream(table)

    against_floor(
        lambda: ad.logical_hash(table, threads=1),
        lambda: hashlib.sha3_256(stream).digest(),
        goal=goal,
        unit_bytes=len(stream),
        clock=time.process_time,
    )


def _stream(table: Any) -> bytes:
    """Return the bytes that the one leaf's digest is fed."""
    (leaf,) = chosen_rule().plan(table.schema).leaves
    from arrow_digest.arrays.describe import describe

    chunks = (leaf_column(describe(chunk), leaf.indices) for chunk in table.column(0).chunks)
    return b"".join(bytes(part) for chunk in chunks for part in portable.encode(chunk))


ONE_ROW_COLUMNS = {
    "integers and strings": lambda rows, i: _integers(rows) if i % 2 else _strings(rows, 16),
    "dictionaries": lambda rows, _: pa.array([f"v{row % 50}" for row in range(rows)]).dictionary_encode(),
    "large dictionaries": lambda rows, _: pa.array([f"v{row % 10_000}" for row in range(rows)]).dictionary_encode(),
    "structs of views": lambda rows, _: pa.StructArray.from_arrays([_strings(rows, 32, kind=pa.string_view())], ["a"]),
    "structs": lambda rows, _: pa.StructArray.from_arrays([_integers(rows), _strings(rows, 16)], ["a", "b"]),
    "lists": lambda rows, _: pa.array([[row] for row in range(rows)]),
}


@pytest.mark.parametrize("encoder", ["portable", "native"])
@pytest.mark.parametrize("kind", ONE_ROW_COLUMNS)
def test_one_row_chunks_cost_a_bounded_multiple(
    kind: str, encoder: str, against_floor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if encoder == "portable":
        _force_portable(monkeypatch)
    elif ad.kernels().name != "native":
        pytest.skip("the native kernels are not active")
    rows = 25_000
    whole = pa.table({f"c{i}": ONE_ROW_COLUMNS[kind](rows, i) for i in range(10)})
    chunked = pa.concat_tables([whole.slice(row, 1) for row in range(rows)])
    against_floor(lambda: ad.logical_hash(chunked), lambda: ad.logical_hash(whole), goal=50, speed=False)


def test_one_row_batches_of_a_stream_cost_little_more_than_reading_and_joining_them(against_floor: Any) -> None:
    rows = 25_000
    whole = pa.table({f"c{i}": _integers(rows) if i % 2 else _strings(rows, 16) for i in range(10)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, whole.schema) as writer:
        writer.write_table(whole, max_chunksize=1)
    batches = list(pa.ipc.open_stream(sink.getvalue()))

    def reader() -> Any:
        return pa.RecordBatchReader.from_stream(pa.RecordBatchReader.from_batches(whole.schema, iter(batches)))

    against_floor(
        lambda: ad.logical_hash(reader(), threads=1),
        lambda: reader().read_all().combine_chunks(),
        goal=3,
        speed=False,
        clock=time.process_time,
    )
