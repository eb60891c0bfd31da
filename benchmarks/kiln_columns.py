"""Tensors in columns: Kiln against the other ways to put one array in each row."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy

import kiln_arrow
from measuring import ratio, take_turns

# How many cells, and the shape of the float32 tensor in each.
FORMS = {"small": (100_000, (16,)), "middle": (4_000, (64, 64)), "large": (100, (3, 224, 224))}


class Way(NamedTuple):
    """How a column is made, and how its tensors come back as one NumPy array."""

    build: Callable[[Any], Any]
    out: Callable[[Any, tuple[int, ...]], Any]
    write: Callable[..., None] = lambda table, path: pq.write_table(
        table, path, compression="none", use_dictionary=False, write_statistics=False
    )


def _npy(tensor: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, tensor, allow_pickle=False)
    return file.getvalue()


def _cells(encode: Callable[[Any], bytes]) -> Callable[[Any], Any]:
    return lambda tensors: pa.array([encode(tensor) for tensor in tensors], pa.large_binary())


def _stacked(decode: Callable[[bytes], Any]) -> Callable[[Any, tuple[int, ...]], Any]:
    return lambda column, _: np.stack([decode(cell.as_py()) for cell in column])


def _lists(tensors: Any) -> Any:
    flat = tensors.reshape(len(tensors), -1)
    offsets = np.arange(len(flat) + 1, dtype=np.int32) * np.int32(flat.shape[1])
    return pa.ListArray.from_arrays(offsets, flat.reshape(-1))


WAYS: dict[str, Way] = {
    "kiln": Way(
        lambda tensors: kiln_arrow.from_numpy({"x": tensors}),
        lambda column, _: kiln_arrow.to_numpy(column)["x"],
        kiln_arrow.write_table,
    ),
    "fixed_shape_tensor": Way(
        pa.FixedShapeTensorArray.from_numpy_ndarray, lambda column, _: column.combine_chunks().to_numpy_ndarray()
    ),
    "list": Way(_lists, lambda column, shape: column.combine_chunks().flatten().to_numpy().reshape(-1, *shape)),
    "safetensors": Way(
        _cells(lambda tensor: safetensors.numpy.save({"x": tensor})),
        _stacked(lambda cell: safetensors.numpy.load(cell)["x"]),
    ),
    "npy": Way(_cells(_npy), _stacked(lambda cell: np.load(io.BytesIO(cell), allow_pickle=False))),
    # Only ever of bytes that were made a moment ago.
    "pickle": Way(_cells(lambda tensor: pickle.dumps(tensor, protocol=5)), _stacked(pickle.loads)),
}
STEPS = ("build", "write", "read", "out")


def _measure(tensors: Any, rounds: int, folder: Path) -> dict[str, Any]:
    """Measure every way's four steps; the floors are a copy of the tensors, and their bytes written and read."""
    shape = tensors.shape[1:]
    columns = {name: pa.chunked_array([way.build(tensors)]) for name, way in WAYS.items()}
    tables = {name: pa.table({"x": column}) for name, column in columns.items()}
    paths = {name: folder / f"{name}.parquet" for name in WAYS}
    floor_path = folder / "floor"
    data = tensors.tobytes()

    def read_floor() -> Any:
        return floor_path.read_bytes()

    runs: dict[str, dict[str, Callable[[], Any]]] = {
        "build": {name: lambda way=way: way.build(tensors) for name, way in WAYS.items()} | {"floor": tensors.copy},
        "write": {name: lambda name=name: WAYS[name].write(tables[name], paths[name]) for name in WAYS}
        | {"floor": lambda: floor_path.write_bytes(data)},
        "read": {name: lambda name=name: pq.read_table(paths[name], memory_map=True) for name in WAYS}
        | {"floor": read_floor},
        "out": {name: lambda name=name: WAYS[name].out(columns[name], shape) for name in WAYS}
        | {"floor": tensors.copy},
    }
    found: dict[str, Any] = {name: {} for name in WAYS}
    for step in STEPS:
        best = take_turns(runs[step], rounds)
        for name in WAYS:
            found[name][step] = ratio(best[name], best["floor"])
    for name, way in WAYS.items():
        read = pq.read_table(paths[name])["x"]
        found[name]["file_bytes"] = paths[name].stat().st_size
        found[name]["same_tensors"] = bool(np.array_equal(way.out(read, shape), tensors))
        paths[name].unlink()
    floor_path.unlink()
    return found


def kiln_columns(share: float, rounds: int, folder: Path) -> dict[str, Any]:
    """Measure tensors of three sizes; `share` is how much of the full count of cells there is."""
    found: dict[str, Any] = {}
    for form, (count, shape) in FORMS.items():
        cells = max(int(count * share), 10)
        tensors = np.random.default_rng(0).random((cells, *shape), np.float32)
        found[form] = {"cells": cells, "shape": list(shape), "tensor_bytes": tensors.nbytes}
        found[form]["ways"] = _measure(tensors, rounds, folder)
    return found
