"""Whatever is done to the bytes of an Arrow stream, columns are refused for a reason or sound."""

from __future__ import annotations

import io
import random

import numpy as np
import pyarrow as pa
import pytest

import kiln_arrow
from kiln_arrow import KilnError, TensorsType


def streams():
    for storage in (pa.binary(), pa.large_binary(), pa.binary_view()):
        cells = [{"x": np.arange(3), "m": np.ones(2, bool)}, None, {}, {"y": np.ones((2, 2))}]
        column = kiln_arrow.array(cells, type=TensorsType(storage))
        frame_type = kiln_arrow.FrameType("struct{id:i64,s:str,t:tensors,}", storage)
        frames = kiln_arrow.array([{"id": 1, "s": "a", "t": {"x": np.zeros(2)}}, None] * 2, type=frame_type)
        yield stream(pa.table({"c": column, "f": frames}))
        lists = pa.ListArray.from_arrays([0, 2, 2, 4], column)
        views = pa.ListViewArray.from_arrays([0, 2, 1], [2, 1, 2], column)
        maps = pa.MapArray.from_arrays([0, 1, 2, 4], pa.array(list("abcd")), column)
        yield stream(pa.table({"l": lists, "v": views, "m": maps}))
        plain = [pa.array(["a", None, "b", ""]), pa.array([[1], None, [], [2, 3]]), column]
        yield stream(pa.table({"s": pa.StructArray.from_arrays(plain, ["s", "l", "t"])}))


def stream(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


READERS = [
    kiln_arrow.validate_column,
    lambda column: kiln_arrow.to_numpy(column, nulls="mask", ragged="object"),
    lambda column: list(kiln_arrow.iter_tensors(column)),
    kiln_arrow.to_structs,
    kiln_arrow.from_structs,
]


@pytest.mark.parametrize("seed", range(4))
def test_mutated_streams_are_refused_or_sound(seed):
    rng = random.Random(seed)
    sources = list(streams())
    accepted = refused = 0
    for _ in range(300):
        data = bytearray(rng.choice(sources))
        for _ in range(rng.choice([1, 1, 2, 4])):
            at = rng.randrange(len(data) // 3 if rng.random() < 0.7 else 0, len(data))
            data[at] = rng.choice([0, 1, 0xFF, 0x80, 0x7F, data[at] ^ (1 << rng.randrange(8))])
        try:
            columns = [column for batch in pa.ipc.open_stream(bytes(data)) for column in batch.columns]
        except (pa.ArrowException, OSError, UnicodeDecodeError):  # pyarrow itself refuses it
            continue
        for column in columns:
            for read in READERS:
                try:
                    read(column)
                    accepted += 1
                except KilnError:
                    refused += 1
    assert accepted > 500
    assert refused > 500
