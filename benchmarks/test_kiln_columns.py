"""Whole columns of tensors against floors measured in the same run."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kiln_arrow

IMAGES, IMAGE = 400, (3, 224, 224)


def spend(seconds: float) -> None:
    """The floor where the goal is a time: so much of a processor's, as other programs take away from the wall's."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_from_numpy_against_a_copy_into_fresh_memory(against_floor: Any) -> None:
    source = np.random.default_rng(0).random((2000, 25_000), np.float32)  # 100 kB a cell
    against_floor(
        lambda: kiln_arrow.from_numpy({"x": source}), source.copy, goal=0.8, rounds=9, unit_bytes=source.nbytes
    )


def small_cells() -> Any:
    rng = np.random.default_rng(0)
    count = 100_000
    return kiln_arrow.from_numpy(
        {
            "a": rng.random((count, 16), np.float32),
            "b": rng.integers(0, 9, (count, 2)),
            "c": rng.integers(0, 9, (count, 4)).astype(np.uint8),
        }
    )


def test_to_numpy_of_a_uniform_column_against_the_sum_of_its_bytes(against_floor: Any) -> None:
    column = small_cells()
    data = np.frombuffer(column.storage.buffers()[2], np.uint8)
    against_floor(lambda: kiln_arrow.to_numpy(column), data.sum, goal=3, speed=False, rounds=9, unit_bytes=data.nbytes)


def test_to_numpy_of_a_uniform_column_against_fifty_milliseconds(against_floor: Any) -> None:
    column = small_cells()
    against_floor(lambda: kiln_arrow.to_numpy(column), lambda: spend(0.05), goal=1, rounds=9, clock=time.process_time)


def image_tables() -> tuple[np.ndarray[Any, Any], pa.Table, pa.Table]:
    images = np.random.default_rng(0).random((IMAGES, *IMAGE), np.float32)
    fixed = pa.FixedShapeTensorArray.from_numpy_ndarray(images)
    return images, pa.table({"x": kiln_arrow.from_numpy({"x": images})}), pa.table({"x": fixed})


def test_parquet_read_into_numpy_against_fixed_shape_tensor(against_floor: Any, tmp_path: Any) -> None:
    images, ours, theirs = image_tables()
    kiln_arrow.write_table(ours, tmp_path / "ours.parquet")
    pq.write_table(theirs, tmp_path / "theirs.parquet", compression="none", use_dictionary=False)
    del ours, theirs

    def read_ours() -> Any:
        return kiln_arrow.to_numpy(pq.read_table(tmp_path / "ours.parquet", memory_map=True)["x"])["x"]

    def read_theirs() -> Any:
        column = pq.read_table(tmp_path / "theirs.parquet", memory_map=True)["x"]
        return column.combine_chunks().to_numpy_ndarray()

    assert np.array_equal(read_ours(), images)
    assert np.array_equal(read_theirs(), images)
    against_floor(read_ours, read_theirs, goal=8, rounds=15, unit_bytes=images.nbytes)


def test_parquet_write_against_fixed_shape_tensor(against_floor: Any, tmp_path: Any) -> None:
    images, ours, theirs = image_tables()
    against_floor(
        lambda: kiln_arrow.write_table(ours, tmp_path / "ours.parquet"),
        lambda: pq.write_table(theirs, tmp_path / "theirs.parquet", compression="none", use_dictionary=False),
        goal=1.5,
        rounds=5,
        unit_bytes=images.nbytes,
    )


@pytest.mark.parametrize("forms", [400, 20_000], ids=["400 forms", "every cell another form"])
def test_decoding_a_ragged_column_cell_by_cell(forms: int, against_floor: Any) -> None:
    count = 20_000
    shapes = [(index % forms % 200 + 1, index % forms // 200 + 1) for index in range(count)]
    column = kiln_arrow.array([{"x": np.zeros(shape, np.uint8), "y": np.float32(1)} for shape in shapes])

    def decode() -> None:
        for directory in kiln_arrow.iter_tensors(column):
            assert directory is not None
            directory.tensors  # noqa: B018  # views are made only when they are asked for

    # 60,000 cells a second.
    against_floor(decode, lambda: spend(count / 60_000), goal=1, rounds=3, clock=time.process_time)
