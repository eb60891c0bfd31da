"""Arrays put together from buffers at random: descriptions of every layout, as sound as they have to be and no more.

Buffers end where the last slot ends. What lies under a null is wild where nothing may follow it. Short values and long
ones, nulls and none, come in stretches, so that encoders have to change their ways in between.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_STRETCHES = (1, 3, 17, 63, 64, 65, 128, 200)
_LONGEST = (0, 1, 8, 15, 16, 17, 24, 25, 32, 33, 56, 57, 64, 65, 300)


def _stretches(rng, count, draw):
    """Numbers that `draw` gives for one stretch after the other."""
    parts = [np.empty(0, np.int64)]
    while (left := count - sum(map(len, parts))) > 0:
        parts.append(np.asarray(draw(min(left, int(rng.choice(_STRETCHES))))))
    return np.concatenate(parts)


def _valid(rng, count):
    """Which slots hold values, or None for all."""
    if rng.random() < 0.4:
        return None
    return _stretches(rng, count, lambda k: rng.random(k) < rng.choice([0, 0.1, 0.5, 0.9, 1])).astype(bool)


def _bits(flags):
    return None if flags is None else pa.py_buffer(np.packbits(flags, bitorder="little").tobytes())


def _buffer(array):
    return pa.py_buffer(np.ascontiguousarray(array).tobytes())


def _offsets(rng, sizes, dtype):
    start = int(rng.choice([0, 0, 5]))
    return start + np.concatenate(([0], np.cumsum(sizes))).astype(dtype)


def raw_array(rng, count, depth=2):
    """An array of `count` slots, nested up to `depth` levels, sliced by its own offset."""
    offset = int(rng.choice([0, 0, 1, 8, 13]))
    total = count + offset
    kinds = ["fixed", "bool", "binary", "binary", "binary"]
    kinds += ["list", "list", "list_view", "fixed_list", "dictionary", "dictionary", "runs"] if depth else []
    kind = rng.choice(kinds)
    valid = None if kind == "runs" else _valid(rng, total)
    nulls = np.zeros(total, bool) if valid is None else ~valid

    def built(data_type, *buffers, children=None):
        return pa.Array.from_buffers(data_type, count, [_bits(valid), *buffers], -1, offset, children=children)

    if kind == "fixed":
        width = int(rng.choice([1, 2, 4, 8, 16, 32, 3]))
        plain = {
            1: pa.int8(),
            2: pa.uint16(),
            4: pa.float32(),
            8: pa.int64(),
            16: pa.decimal128(30),
            32: pa.decimal256(60),
        }
        return built(plain.get(width, pa.binary(width)), pa.py_buffer(rng.bytes(total * width)))
    if kind == "bool":
        return built(pa.bool_(), _bits(rng.random(total) < 0.5))
    if kind == "binary":
        sizes = _stretches(rng, total, lambda k: rng.integers(0, rng.choice(_LONGEST) + 1, k))
        large = rng.random() < 0.3
        offsets = _offsets(rng, sizes, np.int64 if large else np.int32)
        data = pa.py_buffer(rng.bytes(int(offsets[-1])))
        return built(pa.large_binary() if large else pa.binary(), _buffer(offsets), data)
    if kind == "fixed_list":
        size = int(rng.choice([0, 1, 3]))
        items = raw_array(rng, total * size, depth - 1)
        return built(pa.list_(items.type, size), children=[items])
    if kind in ("list", "list_view"):
        sizes = _stretches(rng, total, lambda k: rng.integers(0, rng.choice([1, 4, 9]), k))
        offsets = _offsets(rng, sizes, np.int32)
        items = raw_array(rng, int(offsets[-1]), depth - 1)
        if kind == "list":
            return built(pa.list_(items.type), _buffer(offsets), children=[items])
        starts, sizes = offsets[:-1].copy(), sizes.astype(np.int32)
        starts[nulls] = rng.integers(-(2**31), 2**31, int(nulls.sum()))
        return built(pa.list_view(items.type), _buffer(starts), _buffer(sizes), children=[items])
    distinct = int(rng.choice([1, 2, 20, 100, 300]))
    values = raw_array(rng, distinct, depth - 1)
    if kind == "runs":
        ends = np.cumsum(rng.integers(1, 2 * total // distinct + 2, distinct))
        ends[-1] = max(ends[-1], total)
        run_ends = pa.Array.from_buffers(pa.int32(), distinct, [None, _buffer(ends.astype(np.int32))])
        data_type = pa.run_end_encoded(pa.int32(), values.type)
        return pa.Array.from_buffers(data_type, count, [None], 0, offset, children=[run_ends, values])
    width = rng.choice([np.int16, np.uint16, np.int32, np.int64] + ([np.int8, np.uint8] if distinct <= 100 else []))
    indices = rng.integers(0, distinct, total).astype(width)
    indices[nulls] = rng.choice([np.iinfo(width).min, np.iinfo(width).max], int(nulls.sum()))
    slots = built(pa.from_numpy_dtype(width), _buffer(indices))
    return pa.DictionaryArray.from_arrays(slots, values, safe=False)
