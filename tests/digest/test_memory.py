"""Memory stays small and flat: the largest file costs what a small one costs, and a claim costs nothing."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.command import run_python
from helpers.files import ipc_stream

MIB = 1 << 20
SMALL, LARGE = 150 * MIB, 600 * MIB
LIMIT = 512 * MIB
# What allocators keep for themselves differs from run to run.
SLACK = 96 * MIB

PEAK = """
import json, sys
import arrow_digest
from arrow_digest import cli  # the command is part of the bare import

def peak():
    # Of this process; what resource.getrusage says starts at its parent's peak.
    with open("/proc/self/status", "rb") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(b"VmHWM"))

before = peak()
try:
    result = str(arrow_digest.logical_hash(sys.argv[1], function="sha2-256"))
except arrow_digest.UnreadableError as error:
    result = error.rule
print(json.dumps([result, peak() - before]))
"""


def measured(path, **options):
    """What came of hashing a file, and the peak memory over the bare import, in a process of its own."""
    child = run_python(PEAK, path, **options)
    assert child.stderr == b""
    return json.loads(child.stdout)


def binary(count, width):
    data = np.random.default_rng(width).bytes(count * width)
    offsets = np.arange(0, count * width + 1, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def lists(values, size):
    return pa.ListArray.from_arrays(pa.array(np.arange(0, len(values) + 1, size, dtype=np.int32)), values)


def integers(count):
    return pa.array(np.random.default_rng(count).integers(0, 1 << 62, count))


# One batch each, with rows of about a kilobyte. Its dictionary makes the last a thousand times smaller as a file.
SHAPES = {
    "long values": lambda: {"s": binary(4096, 1000)},
    "many columns": lambda: {f"c{i}": integers(4096) for i in range(100)},
    "lists": lambda: {"l": lists(integers(4096 * 100), 100)},
    "lists of text": lambda: {"l": lists(binary(4096 * 20, 45), 20)},
    "dictionary": lambda: {"s": binary(800, 1000).take(pa.array(integers(4096).to_numpy() % 800))},
}


def write_one_row_group(path, batch, size, **options):
    """Write the same batch again and again, into one row group of about `size` bytes."""
    with pq.ParquetWriter(path, batch.schema, compression="none", write_statistics=False, **options) as writer:
        table = pa.Table.from_batches([batch] * (size // batch.nbytes))
        writer.write_table(table, row_group_size=table.num_rows)
    assert pq.read_metadata(path).num_row_groups == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_one_row_group_is_never_held_whatever_its_size(shape, tmp_path):
    batch = pa.record_batch(SHAPES[shape]())
    peaks = []
    for size in (SMALL, LARGE):
        path = tmp_path / "one.parquet"
        write_one_row_group(path, batch, size, use_dictionary=shape == "dictionary")
        result, peak = measured(path)
        path.unlink()
        assert result.startswith("f92")
        assert peak < LIMIT
        peaks.append(peak)
    assert peaks[1] < peaks[0] + SLACK


CELL = 140 * MIB

LARGE_CELLS = {
    "flat": lambda cell: cell,
    "structs": lambda cell: pa.StructArray.from_arrays([cell], ["t"]),
    "lists": lambda cell: pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), cell),
}


def write_large(path, column, **options):
    """Write a column as Parquet that compresses well; statistics of such values take long and are left out anyway."""
    pq.write_table(pa.table({"c": column}), path, compression="zstd", write_statistics=False, **options)


@pytest.mark.parametrize("shape", LARGE_CELLS)
def test_cells_of_any_size_are_read_a_row_at_a_time(shape, tmp_path):
    """Sixteen of them are more than the offsets of one Arrow array reach."""
    row = LARGE_CELLS[shape](pa.array([bytes(CELL)], pa.binary()))
    path = tmp_path / "large.parquet"
    write_large(path, pa.chunked_array([row] * 16), use_dictionary=False)
    result, peak = measured(path)
    assert result.startswith("f92")
    assert peak < 1024 * MIB


@pytest.mark.parametrize("use_dictionary", [False, True])
@pytest.mark.parametrize("shape", ["flat", "lists"])
def test_large_cells_behind_many_small_ones_are_read_a_row_at_a_time(shape, use_dictionary, tmp_path):
    """In one row group: what came before tells nothing of them."""
    small = [LARGE_CELLS[shape](pa.array([b"x"], pa.large_binary()))] * 20_000
    large = [LARGE_CELLS[shape](pa.array([bytes(CELL)], pa.large_binary()))] * 8
    path = tmp_path / "behind.parquet"
    write_large(path, pa.chunked_array([pa.concat_arrays(small), *large]), use_dictionary=use_dictionary)
    assert pq.read_metadata(path).num_row_groups == 1
    result, peak = measured(path)
    assert result.startswith("f92")
    assert peak < 1024 * MIB


def test_a_large_value_that_a_dictionary_names_often_is_not_held_as_often(tmp_path):
    indices = pa.array([0] * 20_000 + [1] * 200, pa.int32())
    values = pa.DictionaryArray.from_arrays(indices, pa.array([b"s", bytes(10 * MIB)], pa.large_binary()))
    path = tmp_path / "often.parquet"
    pq.write_table(pa.table({"c": values}), path, compression="zstd", store_schema=False)
    result, peak = measured(path)
    assert result.startswith("f92")
    assert peak < LIMIT


def test_values_that_begin_alike_are_not_taken_for_as_short_as_they_are_stored(tmp_path):
    values = pa.array([b"p" * (4 * MIB) + bytes([n]) for n in range(200)])
    path = tmp_path / "alike.parquet"
    pq.write_table(
        pa.table({"c": pa.concat_arrays([pa.array([b"x"] * 20_000), values])}),
        path,
        compression="zstd",
        use_dictionary=False,
        column_encoding="DELTA_BYTE_ARRAY",
    )
    result, peak = measured(path)
    assert result.startswith("f92")
    assert peak < 1024 * MIB


def test_batches_of_a_stream_are_held_one_at_a_time(tmp_path):
    batch = pa.record_batch({"s": binary(4096, 1000)})
    peaks = []
    for count in (25, 100):
        path = tmp_path / "stream"
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as writer:
            for _ in range(count):
                writer.write_batch(batch)
        result, peak = measured(path)
        path.unlink()
        assert result.startswith("f92")
        peaks.append(peak)
    assert peaks[1] < peaks[0] + SLACK
    assert peaks[1] < LIMIT


def claiming(length):
    """A stream whose first batch says that its body is `length` bytes long."""
    content = bytearray(ipc_stream(pa.table({"a": pa.array([1] * 1000, pa.int64())}), batch_rows=1000))
    body = 1000 * 8
    places = [at for at in range(0, len(content) - body, 4) if content[at : at + 8] == body.to_bytes(8, "little")]
    assert places
    for at in places:
        content[at : at + 8] = length.to_bytes(8, "little")
    return bytes(content)


@pytest.mark.parametrize("length", [1 << 30, 1 << 40, 1 << 62])
def test_a_claimed_length_costs_nothing(length, tmp_path):
    content = claiming(length)
    path = tmp_path / "claim"
    path.write_bytes(content)
    for result, peak in (measured(path), measured("/dev/stdin", input=content)):
        assert result in ("truncated", "corrupt")
        assert peak < SLACK


@pytest.mark.parametrize("start", [b"\xff\xff\xff\xff\xff\xff\xff\x0f", b"\xff\xff\xff\x0f\x10\0\0\0"])
def test_a_claimed_schema_length_costs_nothing_on_a_pipe(start):
    result, peak = measured("/dev/stdin", input=start + bytes(100))
    assert result == "truncated"
    assert peak < SLACK
