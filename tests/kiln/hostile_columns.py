"""Random columns of every layout: sound ones with garbage under nulls, and ones whose numbers lead anywhere.

`make(seed)` gives a column, or None where pyarrow itself refuses to make it.
"""

import random

import numpy as np
import pyarrow as pa

import kiln_arrow
from kiln_arrow import FrameType, TensorsType

FRAMES = "struct{id:i64,s:option{str,},t:tensors,l:list{option{u8,},},}"
DIRECTORIES = [kiln_arrow.encode(t) for t in ({}, {"x": np.arange(3)}, {"m": np.ones(2, bool)})]
FRAMED = [
    kiln_arrow.frame(FRAMES, {"id": 1, "s": "a", "t": {"x": np.zeros(2)}, "l": [1, None]}),
    kiln_arrow.frame(FRAMES, {"id": 2, "s": None, "t": {}, "l": []}),
]
TEXTS = [b"", b"ab", b"x" * 12, b"y" * 13, b"z" * 40]
WILD = [-1, 0, 1, 2, 7, 64, 2**30, 2**31 - 1, -(2**31)]
WILDER = [*WILD, 2**59, 2**62, 2**63 - 1, -(2**63)]
STORAGES = [pa.binary(), pa.large_binary(), pa.binary_view()]
STRINGS = [pa.string(), pa.large_string(), pa.string_view()]
NUMBERS = [pa.int8(), pa.int64(), pa.float32(), pa.decimal128(5, 2), pa.timestamp("s"), pa.binary(3)]
INDICES = [(pa.int8(), 1), (pa.uint8(), 1), (pa.int32(), 4), (pa.uint64(), 8)]


def make(seed):
    """A column, whether its numbers may be broken, and the random numbers that it was made with."""
    rng = random.Random(seed)
    broken = rng.random() < 0.6
    count = rng.choice([0, 0, 1, 2, 5, 9])
    try:
        array = _Columns(rng, broken).array(count, rng.choice([0, 1, 2, 3]))
    except (pa.ArrowInvalid, ValueError):
        return None
    if rng.random() < 0.3 and not broken:
        array = array.slice(rng.randrange(count + 1), rng.choice([0, 1, 2, 9]))
    return array, broken


def packed(numbers, width):
    return pa.py_buffer(b"".join((number % (1 << 64)).to_bytes(8, "little")[:width] for number in numbers))


class _Columns:
    def __init__(self, rng, broken):
        self.rng, self.broken, self.nulls = rng, broken, rng.choice([0, 0.3, 0.6])

    def breaks(self):
        return self.broken and self.rng.random() < 0.12

    def some(self, count):
        """Which slots are valid, and the bitmap that says so."""
        valid = [self.rng.random() >= self.nulls for _ in range(count)]
        return valid, pa.py_buffer(np.packbits(np.array(valid, bool), bitorder="little").tobytes() or b"\0")

    def child(self, count):
        """How many slots a child has: enough, or perhaps too few."""
        return max(0, count + self.rng.randrange(-2 if self.breaks() else 0, 3))

    def bytes(self, count, storage, pool):
        rng = self.rng
        valid, bitmap = self.some(count)
        cells = [b"KLNT" if pool is not TEXTS and rng.random() < 0.02 else rng.choice(pool) for _ in range(count)]
        if storage in (pa.binary_view(), pa.string_view()):
            views, data = b"", b""
            for there, cell in zip(valid, cells, strict=True):
                view = [len(cell), int.from_bytes(cell[:4], "little"), 0, len(data)]
                if not there:
                    view = [rng.choice(WILD) for _ in range(4)]
                elif len(cell) <= 12:
                    view[1:] = np.frombuffer(cell.ljust(12, b"\0"), "<i4").tolist()
                else:
                    data += cell
                if self.breaks():
                    view[rng.randrange(4)] = rng.choice(WILD)
                views += packed(view, 4).to_pybytes()
            return pa.Array.from_buffers(storage, count, [bitmap, pa.py_buffer(views), pa.py_buffer(data)])
        width = 8 if "large" in str(storage) else 4
        offsets = self.offsets([len(cell) for cell in cells], width)
        data = b"".join(cell if there else rng.randbytes(len(cell)) for there, cell in zip(valid, cells, strict=True))
        return pa.Array.from_buffers(storage, count, [bitmap, packed(offsets, width), pa.py_buffer(data)])

    def offsets(self, lengths, width):
        offsets = [0]
        for length in lengths:
            offsets.append(offsets[-1] + length)
        if self.breaks() or (not lengths and self.rng.random() < 0.3):  # without slots an offset counts for nothing
            offsets[self.rng.randrange(len(offsets))] = self.rng.choice(WILDER if width == 8 else WILD)
        return offsets

    def leaf(self, count):
        rng = self.rng
        kind = rng.random()
        if kind < 0.6:
            storage = rng.choice(STORAGES)
            data_type, pool = (
                (TensorsType(storage), DIRECTORIES) if kind < 0.45 else (FrameType(FRAMES, storage), FRAMED)
            )
            return data_type.wrap_array(self.bytes(count, storage, pool))
        if kind < 0.8:
            return self.bytes(count, rng.choice(STORAGES + STRINGS), TEXTS)
        if kind < 0.85:
            return pa.nulls(count)
        data_type = rng.choice(NUMBERS)
        data = rng.randbytes(count * data_type.bit_width // 8)
        return pa.Array.from_buffers(data_type, count, [self.some(count)[1], pa.py_buffer(data)])

    def array(self, count, depth):
        if depth == 0 or self.rng.random() < 0.15:
            return self.leaf(count)
        makers = (self.lists, self.views, self.maps, self.fixed, self.structs, self.indices, self.runs, self.union)
        return self.rng.choice(makers)(count, depth - 1)

    def lists(self, count, depth):
        make_list, width = self.rng.choice([(pa.list_, 4), (pa.large_list, 8)])
        offsets = self.offsets([self.rng.randrange(4) for _ in range(count)], width)
        items = self.array(self.child(min(max(0, *offsets, 0), 40)), depth)
        buffers = [self.some(count)[1], packed(offsets, width)]
        return pa.Array.from_buffers(make_list(items.type), count, buffers, children=[items])

    def views(self, count, depth):
        rng = self.rng
        make_view, width, wild = rng.choice([(pa.list_view, 4, WILD), (pa.large_list_view, 8, WILDER)])
        valid, bitmap = self.some(count)
        item_count = rng.randrange(5)
        starts, sizes = [], []
        for there in valid:
            start = rng.randrange(item_count + 1)
            size = rng.randrange(item_count - start + 1)
            wrong = not there or self.breaks()
            starts.append(rng.choice(wild) if wrong else start)
            sizes.append(rng.choice(wild) if wrong else size)
        items = self.array(item_count, depth)
        buffers = [bitmap, packed(starts, width), packed(sizes, width)]
        return pa.Array.from_buffers(make_view(items.type), count, buffers, children=[items])

    def maps(self, count, depth):
        offsets = self.offsets([self.rng.randrange(4) for _ in range(count)], 4)
        entry_count = self.child(min(max(0, *offsets, 0), 40))
        keys = pa.array([f"k{index}" for index in range(entry_count)], self.rng.choice(STRINGS))
        values = self.array(entry_count, depth)
        entry = pa.struct([pa.field("key", keys.type, nullable=False), pa.field("value", values.type)])
        entries = pa.Array.from_buffers(entry, entry_count, [None], children=[keys, values])
        buffers = [self.some(count)[1], packed(offsets, 4)]
        return pa.Array.from_buffers(pa.map_(keys.type, values.type), count, buffers, children=[entries])

    def fixed(self, count, depth):
        size = self.rng.choice([0, 1, 2, 3])
        items = self.array(self.child(count * size), depth)
        return pa.Array.from_buffers(pa.list_(items.type, size), count, [self.some(count)[1]], children=[items])

    def structs(self, count, depth):
        fields = [self.array(self.child(count), depth) for _ in range(self.rng.choice([0, 1, 1, 2, 3]))]
        data_type = pa.struct(
            [pa.field(f"f{i}", f.type, nullable=self.rng.random() < 0.8) for i, f in enumerate(fields)]
        )
        return pa.Array.from_buffers(data_type, count, [self.some(count)[1]], children=fields)

    def indices(self, count, depth):
        index_type, width = self.rng.choice(INDICES)
        value_count = self.rng.randrange(1, 4)
        valid, bitmap = self.some(count)
        numbers = [
            self.rng.choice(WILDER) if not there or self.breaks() else self.rng.randrange(value_count)
            for there in valid
        ]
        indices = pa.Array.from_buffers(index_type, count, [bitmap, packed(numbers, width)])
        return pa.DictionaryArray.from_arrays(indices, self.array(value_count, depth), safe=False)

    def runs(self, count, depth):
        run_type = self.rng.choice([pa.int16(), pa.int32(), pa.int64()])
        ends = sorted(self.rng.sample(range(1, count + 6), self.rng.randrange(1, 4)))
        ends[-1] = max(ends[-1], count)
        if self.breaks():
            ends[self.rng.randrange(len(ends))] = self.rng.choice([-1, 0, 1, 30000])
        values = self.array(self.child(len(ends)) if self.broken else len(ends), depth)
        data_type = pa.run_end_encoded(run_type, values.type)
        return pa.Array.from_buffers(data_type, count, [None], children=[pa.array(ends, run_type), values])

    def union(self, count, depth):
        kinds = [self.rng.randrange(-3, 5) if self.breaks() else self.rng.randrange(2) for _ in range(count)]
        return pa.UnionArray.from_sparse(pa.array(kinds, pa.int8()), [self.array(count, depth) for _ in range(2)])
