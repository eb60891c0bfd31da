"""Arrays of every layout in which something may be wrong: offsets, sizes, indices, views, run ends, lengths, bitmaps.

An array is made sound first, and then its numbers are changed with a probability that the caller gives. So are the
lengths of its buffers and children. What pyarrow refuses to make at all is drawn again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

Rng = np.random.Generator
_FLAT = (
    pa.int8(),
    pa.uint16(),
    pa.float32(),
    pa.int64(),
    pa.decimal128(9),
    pa.decimal256(50),
    pa.binary(3),
    pa.binary(0),
)
_BINARIES = (pa.binary(), pa.string(), pa.large_binary(), pa.large_string())
_VIEWS = (pa.binary_view(), pa.string_view())
_LISTS = (pa.list_, pa.large_list)
_LIST_VIEWS = (pa.list_view, pa.large_list_view)
_INDEX_TYPES = (pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.uint64())
_RUN_END_TYPES = (pa.int16(), pa.int32(), pa.int64())


class Hostile:
    """Draws arrays.

    Args:
        rng: Where chance comes from.
        harm: The probability with which each thing that can be wrong is.
        portable: Whether only types are drawn that Arrow IPC knows, which has no extension of an extension.
    """

    def __init__(self, rng: Rng, harm: float, *, portable: bool = False) -> None:
        self.rng, self.harm, self.portable = rng, harm, portable

    def array(self, length: int | None = None, depth: int = 3) -> pa.Array:
        """Draw an array that pyarrow makes: its cheap check of lengths, and of first and last offsets, passes."""
        while True:
            try:
                return self._array(self._length() if length is None else length, depth, structs=True)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OverflowError):
                continue

    def _length(self) -> int:
        return int(self.rng.choice([0, 1, 1, 2, 3, 5, 9]))

    def _often(self) -> bool:
        return bool(self.rng.random() < self.harm)

    def _numbers(self, numbers: Any, dtype: Any) -> np.ndarray[Any, Any]:
        """Return numbers as an array in which one may be any other."""
        array = np.array(numbers, dtype)
        if len(array) and self._often():
            limits = np.iinfo(dtype)
            near = int(array[self.rng.integers(len(array))]) + int(self.rng.integers(-2, 3))
            wild = [limits.min, limits.max, limits.max // 2 + 1, near, 1 << 30, 1 << 59]
            value = wild[self.rng.integers(len(wild))]
            array[self.rng.integers(len(array))] = min(max(value, limits.min), limits.max)
        return array

    def _buffer(self, data: Any) -> pa.Buffer | None:
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        if raw and self._often() and self.rng.random() < 0.2:
            raw = raw[: int(self.rng.integers(len(raw)))]
        # The memory ends where the buffer ends, so that a sanitizer notices a read beyond it.
        return pa.py_buffer(bytes(raw))

    def _validity(self, slots: int) -> tuple[np.ndarray[Any, Any], pa.Buffer | None]:
        if self.rng.random() < 0.5:
            return np.ones(slots, bool), None
        valid = self.rng.random(slots) < 0.6
        return valid, self._buffer(np.packbits(valid, bitorder="little"))

    def _array(self, length: int, depth: int, *, structs: bool) -> pa.Array:
        kinds = ["flat", "bool", "binary", "binary", "view", "view", "null"]
        if depth > 0:
            kinds += ["list", "list_view", "fixed_list", "dictionary", "runs", "extension"] * 2
            kinds += ["struct"] * 4 if structs else []
        kind = self.rng.choice(kinds)
        if kind == "null":
            return pa.nulls(length)
        if kind == "extension":
            storage = self._array(length, depth - 1, structs=structs)
            if isinstance(storage, pa.ExtensionArray) and (self.portable or self.rng.random() < 0.9):
                return storage
            return pa.ExtensionArray.from_storage(pa.opaque(storage.type, "kind", "vendor"), storage)
        offset = int(self.rng.choice([0, 0, 0, 1, 3]))
        slots = offset + length
        if kind == "runs":
            return self._runs(length, offset, depth, structs)
        valid, bits = self._validity(slots)

        def built(data_type: Any, *buffers: Any, children: Any = None) -> pa.Array:
            return pa.Array.from_buffers(data_type, length, [bits, *buffers], -1, offset, children=children)

        if kind == "flat":
            data_type = _FLAT[self.rng.integers(len(_FLAT))]
            return built(data_type, self._buffer(self.rng.bytes(slots * data_type.bit_width // 8)))
        if kind == "bool":
            return built(pa.bool_(), self._buffer(self.rng.bytes((slots + 7) // 8)))
        if kind == "binary":
            data_type = _BINARIES[self.rng.integers(len(_BINARIES))]
            sizes = self.rng.choice([0, 0, 1, 2, 13, 40], slots)
            return built(data_type, *self._offsets(sizes, "i8" if "large" in str(data_type) else "i4"))
        if kind == "view":
            return built(_VIEWS[self.rng.integers(2)], *self._views(slots, valid))
        if kind == "struct":
            count = int(self.rng.integers(1, 3))
            fields = [self._array(slots + int(self.rng.integers(2)), depth - 1, structs=True) for _ in range(count)]
            data_type = pa.struct([(f"f{number}", field.type) for number, field in enumerate(fields)])
            return built(data_type, children=fields)
        if kind == "dictionary":
            return self._dictionary(length, offset, valid, bits, depth, structs)
        return self._list(kind, slots, valid, built, depth)

    def _offsets(self, sizes: Any, dtype: str) -> tuple[pa.Buffer | None, pa.Buffer | None]:
        ends = np.concatenate(([0], np.cumsum(sizes))) + int(self.rng.choice([0, 0, 2]))
        return self._buffer(self._numbers(ends, dtype)), self._buffer(self.rng.bytes(int(ends[-1])))

    def _views(self, slots: int, valid: Any) -> list[pa.Buffer | None]:
        heap = self.rng.bytes(50)
        views = np.zeros((slots, 4), np.int32)
        views[:, 0] = self.rng.choice([0, 3, 12, 13, 30], slots)
        views[:, 1:] = self.rng.integers(-(2**31), 2**31, (slots, 3))
        long = views[:, 0] > 12
        views[long, 2], views[long, 3] = 0, self.rng.integers(0, 20, int(long.sum()))
        views[~valid] = self.rng.integers(-(2**31), 2**31, (int((~valid).sum()), 4))
        return [self._buffer(self._numbers(views.reshape(-1), np.int32)), self._buffer(heap)]

    def _list(self, kind: str, slots: int, valid: Any, built: Any, depth: int) -> pa.Array:
        if kind == "fixed_list":
            size = int(self.rng.choice([0, 1, 2]))
            items = self._array(slots * size, depth - 1, structs=False)
            return built(pa.list_(items.type, size), children=[items])
        sizes = self.rng.choice([0, 0, 1, 2, 3], slots)
        large = int(self.rng.integers(2))
        dtype = "i8" if large else "i4"
        ends = np.concatenate(([0], np.cumsum(sizes)))
        items = self._array(int(ends[-1]) + int(self.rng.integers(2)), depth - 1, structs=False)
        if kind == "list":
            return built(_LISTS[large](items.type), self._buffer(self._numbers(ends, dtype)), children=[items])
        starts = ends[:-1].copy()
        wild = 2 ** (63 if large else 31)
        starts[~valid] = self.rng.integers(-wild, wild, int((~valid).sum()))
        buffers = self._buffer(self._numbers(starts, dtype)), self._buffer(self._numbers(sizes, dtype))
        return built(_LIST_VIEWS[large](items.type), *buffers, children=[items])

    def _dictionary(self, length: int, offset: int, valid: Any, bits: Any, depth: int, structs: bool) -> pa.Array:
        values = self._array(self._length(), depth - 1, structs=structs)
        index_type = _INDEX_TYPES[self.rng.integers(len(_INDEX_TYPES))]
        dtype = index_type.to_pandas_dtype()
        indices = self.rng.integers(0, max(len(values), 1), offset + length)
        numbers = self._numbers(indices, dtype)
        limits = np.iinfo(dtype)
        numbers[~valid] = self.rng.choice(np.array([limits.min, limits.max], dtype), int((~valid).sum()))
        slots = pa.Array.from_buffers(index_type, length, [bits, self._buffer(numbers)], -1, offset)
        return pa.DictionaryArray.from_arrays(slots, values, safe=False)

    def _runs(self, length: int, offset: int, depth: int, structs: bool) -> pa.Array:
        count = int(self.rng.integers(1, 4)) if length or self.rng.random() < 0.5 else 0
        value_count = max(count + int(self.rng.integers(-1, 2)), 0) if self._often() else count
        values = self._array(value_count, depth - 1, structs=structs)
        run_end_type = _RUN_END_TYPES[self.rng.integers(3)]
        ends = np.cumsum(self.rng.integers(1, 5, count))
        if count:
            ends[-1] = max(ends[-1], offset + length)
        numbers = self._numbers(ends, run_end_type.to_pandas_dtype())
        run_ends = pa.Array.from_buffers(run_end_type, count, [None, self._buffer(numbers)])
        data_type = pa.run_end_encoded(run_end_type, values.type)
        return pa.Array.from_buffers(data_type, length, [None], 0, offset, children=[run_ends, values])
