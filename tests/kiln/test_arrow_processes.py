"""What only whole processes show: how they end, joins, readers without the package, workers."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kiln_arrow
from helpers.command import LIMIT_SECONDS
from helpers.examples import examples

SOURCE = str(Path(kiln_arrow.__file__).parents[1])


def run(body, *arguments, env=(), options=(), timeout=LIMIT_SECONDS):
    environment = {**os.environ, "PYTHONPATH": SOURCE, **dict(env)}
    command = [sys.executable, "-W", "error", *options, "-c", textwrap.dedent(body), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=environment)


@pytest.fixture(scope="module")
def many_groups(tmp_path_factory):
    path = tmp_path_factory.mktemp("exit") / "t.parquet"
    column = kiln_arrow.from_numpy({"x": np.zeros((20_000, 100))})
    frames = kiln_arrow.array([{"n": 1}] * 20_000, type=kiln_arrow.FrameType("struct{n:i64,}"))
    kiln_arrow.write_table(pa.table({"n": range(20_000), "c": column, "f": frames}), path, row_group_size=500)
    return path


# One process imports everything, and a copy of it reads and ends as any Python process does: importing takes most of
# the time of a short one. A signal ends a copy that waits for a thread that is no more.
COPIES = """
    import os, signal, sys
    import numpy, kiln_arrow, arrow_digest, pyarrow.dataset as ds, pyarrow.parquet as pq

    path, reader, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    statuses = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            break
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if child:
        print(*statuses)
    else:
        signal.alarm(int(sys.argv[4]))
        exec(reader)
"""

# Without the wait at exit some of these processes abort as they end.
READERS = {
    "the head of a dataset": "ds.dataset(path).head(3)",
    "a table": "pq.read_table(path)",
    "a file": "pq.ParquetFile(path, pre_buffer=True).read()",
    "a filter": "ds.dataset(path).to_table(filter=ds.field('n') < 3)",
    "a hash": "arrow_digest.hash_file(path)",
}
COUNT = int(os.environ.get("KILN_ARROW_TEST_EXITS", "0"))  # `make clean-exits` asks for two hundred of each


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are copied, which this system cannot do")
@pytest.mark.parametrize("reader", READERS)
def test_a_process_that_read_parquet_ends_well(reader, many_groups):
    count = COUNT or (examples(40) if reader == "the head of a dataset" else 5)
    # Python 3.12 and later warn of a copy of a process that has threads; those here are NumPy's, and idle.
    options = ["-W", "ignore::DeprecationWarning"]
    result = run(
        COPIES, many_groups, READERS[reader], count, LIMIT_SECONDS, options=options, timeout=(count + 1) * LIMIT_SECONDS
    )
    assert result.stdout.split() == ["0"] * count, result.stderr


JOIN = """
    import numpy as np, pyarrow as pa, kiln_arrow
    storage = {"binary": pa.binary(), "large_binary": pa.large_binary()}[__import__("sys").argv[1]]
    n = 5000
    column = kiln_arrow.from_numpy({"x": np.arange(n)}, type=kiln_arrow.TensorsType(storage))
    left = pa.table({"id": np.arange(n), "c": column})
    right = pa.table({"id": np.arange(n)[::-1].copy(), "m": np.arange(n)})
    if storage == pa.binary():
        joined = left.join(right, "id")
    else:
        joined = kiln_arrow.from_storage(kiln_arrow.to_storage(left).join(right, "id"), ["c"])
    assert joined["c"].type == column.type
    assert kiln_arrow.to_numpy(joined["c"])["x"].tolist() == joined["id"].to_pylist()
    assert sorted(joined["id"].to_pylist()) == list(range(n))
"""


@pytest.mark.parametrize("storage", ["binary", "large_binary"])
def test_a_join_is_right(storage):
    result = run(JOIN, storage)
    assert result.returncode == 0, result.stderr


def test_the_environment_turns_registration_off(many_groups):
    body = """
        import sys, kiln_arrow, pyarrow as pa, pyarrow.parquet as pq
        print(pq.read_schema(sys.argv[1]).field("c").type == pa.binary())
    """
    assert run(body, many_groups, env={"KILN_ARROW_REGISTER": "0"}).stdout == "True\n"
    assert run(body, many_groups, env={"KILN_ARROW_REGISTER": "1"}).stdout == "False\n"


def test_a_process_without_the_package_reads_bytes_and_keeps_the_type(many_groups, tmp_path):
    body = """
        import sys, pyarrow as pa, pyarrow.parquet as pq
        table = pq.read_table(sys.argv[1], columns=["c", "f"])
        assert table.schema.field("c").type == pa.binary()
        assert table.schema.field("c").metadata[b"ARROW:extension:name"] == b"kiln.tensors"
        pq.write_table(table, sys.argv[2])
        assert "kiln_arrow" not in sys.modules
    """
    result = run(body, many_groups, tmp_path / "again.parquet")
    assert result.returncode == 0, result.stderr
    assert pq.read_table(tmp_path / "again.parquet").equals(pq.read_table(many_groups, columns=["c", "f"]))


def test_importing_is_quiet_and_does_not_import_the_other_package():
    result = run("import sys, kiln_arrow; assert 'arrow_digest' not in sys.modules")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_pickle_loads_where_nothing_was_imported(tmp_path):
    column = kiln_arrow.array([{"a": np.arange(3)}, None])
    (tmp_path / "p").write_bytes(pickle.dumps([column, column.type, pa.table({"c": column}), column[0], column[1]]))
    body = """
        import pickle, sys
        column, data_type, table, scalar, null = pickle.load(open(sys.argv[1], "rb"))
        assert column.type == data_type == scalar.type and table["c"].chunk(0).equals(column)
        assert scalar.as_py()["a"].tolist() == [0, 1, 2] and null.as_py() is None
    """
    result = run(
        "import warnings; warnings.simplefilter('ignore', ResourceWarning)\n" + textwrap.dedent(body), tmp_path / "p"
    )
    assert result.returncode == 0, result.stderr


def test_a_column_goes_to_a_spawned_worker():
    column = kiln_arrow.from_numpy({"x": np.arange(3)})
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        assert pickle.loads(pickle.dumps(column)).equals(column)
        assert pool.submit(len, kiln_arrow.to_numpy(column)["x"].tolist()).result() == 3
        assert pool.submit(type(column).__len__, column).result() == 3


def test_threads_read_one_file_at_once(many_groups):
    expected = pq.read_table(many_groups)
    errors = []

    def read():
        table = pq.read_table(many_groups)
        if not table.equals(expected) or len(kiln_arrow.to_numpy(table["c"])["x"]) != 20_000:
            errors.append("another table")

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
