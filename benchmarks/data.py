"""The records that are measured: mixed types, skewed as real ones are, with nulls. All of it follows from a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

_STEP = 1_000_000
_LETTERS = np.frombuffer(b"etaoinshrdlucmfwypvbgkjqxz", np.uint8)


def _texts(rng: np.random.Generator, count: int, longest: int) -> Any:
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, longest + 1, count)))).astype(np.int32)
    letters = _LETTERS[np.minimum(rng.geometric(0.12, offsets[-1]) - 1, 25)]
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(letters)])


def _skewed(rng: np.random.Generator, rows: int, distinct: int) -> Any:
    """Return indices of which a few are frequent and most are rare."""
    return np.minimum(rng.zipf(1.3, rows) - 1, distinct - 1)


def _nulls(rng: np.random.Generator, rows: int, share: float) -> Any:
    return rng.random(rows) < share


def _part(rows: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    moments = 1_700_000_000_000_000 + seed * 10**12 + np.cumsum(rng.integers(0, 2_000_000, rows))
    words = _texts(np.random.default_rng(0), 20_000, 24)
    lengths = np.minimum(rng.geometric(0.5, rows) - 1, 20)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    cents = np.zeros((rows, 2), np.int64)
    cents[:, 0] = rng.lognormal(8, 1.5, rows).astype(np.int64)
    decimals = pa.Array.from_buffers(pa.decimal128(18, 2), rows, [None, pa.py_buffer(cents)])
    place = [pa.array(rng.normal(48, 3, rows)), pa.array(rng.normal(9, 4, rows))]
    return pa.table(
        {
            "id": np.arange(seed * rows, (seed + 1) * rows),
            "customer": _skewed(rng, rows, 100_000).astype(np.int32),
            "quantity": pa.array(rng.geometric(0.3, rows).astype(np.int16), mask=_nulls(rng, rows, 0.02)),
            "price": pa.array(rng.lognormal(3, 1, rows).round(2), mask=_nulls(rng, rows, 0.1)),
            "paid": decimals,
            "when": pa.array(moments, pa.timestamp("us", "UTC")),
            "day": pa.array((moments // 86_400_000_000).astype(np.int32)).cast(pa.date32()),
            "gift": pa.array(rng.random(rows) < 0.07, mask=_nulls(rng, rows, 0.3)),
            "product": words.take(pa.array(_skewed(rng, rows, 20_000), mask=_nulls(rng, rows, 0.01))),
            "reference": pa.array(rng.integers(10**11, 10**12, rows)).cast(pa.string()),
            "note": _texts(rng, 5_000, 120).take(pa.array(rng.integers(0, 5_000, rows), mask=_nulls(rng, rows, 0.8))),
            "ratings": pa.ListArray.from_arrays(offsets, rng.integers(1, 6, offsets[-1]).astype(np.int32)),
            "place": pa.StructArray.from_arrays(
                place, ["latitude", "longitude"], mask=pa.array(_nulls(rng, rows, 0.2))
            ),
        }
    )


def mixed(rows: int) -> Any:
    """Return records of all kinds, about 125 bytes a row in memory."""
    step = min(rows, _STEP)
    return pa.concat_tables([_part(step, seed) for seed in range(rows // step)])


def flat(rows: int) -> Any:
    """Return the columns of `mixed` that every peer has types for: no lists, structs or decimals."""
    return mixed(rows).drop_columns(["paid", "ratings", "place"])


def numbers(rows: int) -> Any:
    """Return integers and floats without nulls."""
    rng = np.random.default_rng(1)
    columns = {f"i{i}": rng.integers(0, 2**63, rows) for i in range(4)} | {f"f{i}": rng.random(rows) for i in range(4)}
    return pa.table(columns)


def texts(rows: int) -> Any:
    """Return two columns of short strings, few of them distinct in the one, all of them in the other."""
    return mixed(rows).select(["product", "reference"])


TABLES = {"mixed": mixed, "flat": flat, "numbers": numbers, "texts": texts}
