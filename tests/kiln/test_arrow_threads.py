"""Every public function gives from eight threads at once what it gives from one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import kiln_arrow as ka

THREADS, ROUNDS = 8, 10
CELLS = [{"x": np.arange(count), "y": np.float32([count])} for count in range(20)]
TEXT = "struct{n:i64,l:list{f64,},}"


def everything(path) -> list[object]:
    """What a use of everything public gives, in a form that can be compared."""
    column = ka.array(CELLS)
    uniform = ka.from_numpy({"x": np.arange(12).reshape(4, 3)})
    buffer = bytearray(ka.encoded_size(CELLS[3]))
    ka.encode_into(CELLS[3], buffer)
    ka.validate(buffer)
    ka.validate_column(column)
    structs = pa.array([{"n": n, "l": [0.5] * n} for n in range(5)])
    frames = ka.from_structs(structs)
    table = pa.table({"c": column})
    ka.write_table(table, path)
    ka.register()
    value = {"n": 1, "l": [2.0]}
    return [
        *(cell["x"].tolist() for cell in ka.iter_tensors(column)),
        ka.decode(bytes(buffer))["y"].tolist(),
        ka.to_numpy(uniform)["x"].tolist(),
        ka.to_structs(frames).to_pylist(),
        ka.thaw(TEXT, ka.freeze(TEXT, value)),
        ka.unframe(TEXT, ka.frame(TEXT, value)),
        ka.format_type(ka.parse_type(TEXT)),
        ka.schema_hash(TEXT),
        ka.from_storage(ka.to_storage(table), ["c"]).equals(table),
        pq.read_table(path).num_rows,
    ]


def test_everything_public_gives_the_same_from_eight_threads_at_once(tmp_path):
    expected = everything(tmp_path / "expected.parquet")
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda number: everything(tmp_path / f"{number}.parquet"), range(THREADS * ROUNDS)))
    assert all(outcome == expected for outcome in found)


def test_one_column_and_one_type_may_be_used_from_eight_threads(tmp_path):
    column, frame_type = ka.array(CELLS * 20), ka.FrameType(TEXT)

    def work(_):
        ka.validate_column(column)
        cells = [None if cell is None else cell["x"].tolist() for cell in ka.iter_tensors(column)]
        return cells, ka.array([{"n": 1, "l": []}], type=frame_type).storage.to_pylist()

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(work, range(THREADS * ROUNDS)))
    assert all(outcome == found[0] for outcome in found)
