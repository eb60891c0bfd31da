"""Many files, and one file by many workers: threads, processes, and a Dask cluster that loses a worker."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrow_digest import (
    FileFailure,
    FileHash,
    Manifest,
    UnknownFunctionError,
    UnreadableError,
    UnsupportedTypeError,
    WorkerError,
    hash_file,
    hash_files,
    logical_hash,
)
from helpers.command import LIMIT_SECONDS, run_python
from helpers.files import FORMATS, ipc_stream, parquet, sample_table

TABLE = sample_table()


@pytest.fixture(scope="module")
def processes():
    """Two worker processes for all tests, spawned because a fork of a process with Arrow's threads may hang."""
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


@pytest.fixture(params=["threads", "processes"])
def executor(request):
    if request.param == "processes":
        yield request.getfixturevalue("processes")
        return
    with ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.fixture
def paths(tmp_path):
    for number in range(12):
        (tmp_path / f"{number}.parquet").write_bytes(parquet(TABLE.slice(number)))
    (tmp_path / "text").write_bytes(b"a,b\n")
    (tmp_path / "map").write_bytes(ipc_stream(pa.table({"m": pa.array([], pa.map_(pa.int8(), pa.int8()))})))
    names = [f"{number}.parquet" for number in range(12)]
    return [str(tmp_path / name) for name in [*names[:6], "missing", "text", "map", *names[6:], "0.parquet"]]


def check(results, paths):
    assert [result.path for result in results] == paths
    failed = {Path(result.path).name: result.error for result in results if isinstance(result, FileFailure)}
    assert set(failed) == {"missing", "text", "map"}
    assert [failed[name].rule for name in ("missing", "text")] == ["missing", "format"]
    assert isinstance(failed["map"], UnsupportedTypeError)
    assert [result for result in results if isinstance(result, FileHash)] == [
        hash_file(path) for path in paths if Path(path).name not in failed
    ]


def test_every_file_is_reported_once_in_order_and_bad_ones_do_not_end_the_run(paths):
    steps = []
    check(list(hash_files(paths, progress=lambda *step: steps.append(step))), paths)
    assert steps == [(done, len(paths)) for done in range(1, len(paths) + 1)]
    assert list(hash_files([])) == []


def test_any_pool_gives_the_same(executor, paths):
    check(list(hash_files(paths, executor=executor)), paths)


def test_wrong_use_is_an_error_before_anything_is_hashed(paths):
    with pytest.raises(UnknownFunctionError):
        hash_files(paths, function="md5")


def test_leaving_early_leaves_no_work_behind(paths):
    with ThreadPoolExecutor(1) as executor:
        results = hash_files(paths * 50, executor=executor)
        next(results)
        results.close()
        assert executor.submit(int).result(timeout=LIMIT_SECONDS) == 0


class Killed(ProcessPoolExecutor):
    """Processes of which one is killed in the middle of the work, whatever the load: by a job that does it."""

    def __init__(self, job):
        super().__init__(2, get_context("spawn"))
        self._job = job

    def submit(self, fn, /, *args, **kwargs):
        self._job -= 1
        if not self._job:
            return super().submit(signal.raise_signal, signal.SIGKILL)
        return super().submit(fn, *args, **kwargs)


def test_a_killed_process_leaves_no_file_unreported(paths):
    wanted = paths * 20
    with Killed(100) as executor:
        found = list(hash_files(wanted, executor=executor))
    assert [result.path for result in found] == wanted
    lost = [result for result in found if isinstance(result, FileFailure) and isinstance(result.error, WorkerError)]
    assert found[99] in lost
    assert all("worker failed" in str(result.error) and result.path in str(result.error) for result in lost)
    assert any(isinstance(result, FileHash) for result in found)


class Lazy(Executor):
    """An executor that takes a few jobs, and then no more."""

    def __init__(self, most):
        self._left = most

    def submit(self, fn, /, *args, **kwargs):
        if not self._left:
            raise RuntimeError("no more")
        self._left -= 1
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_executor_that_takes_no_more_leaves_no_file_unreported(paths):
    found = list(hash_files(paths, executor=Lazy(3)))
    assert [result.path for result in found] == paths
    assert [type(result) for result in found] == [FileHash] * 3 + [FileFailure] * (len(paths) - 3)
    with pytest.raises(WorkerError):
        hash_file(paths[0], executor=Lazy(1))


# --- One file ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def wide(tmp_path):
    rng = np.random.default_rng(1)
    columns = {f"c{i}": pa.array(rng.integers(0, 9, 5000), mask=rng.random(5000) < 0.1) for i in range(70)}
    table = pa.table({**columns, "s": TABLE["text"].take(pa.array(rng.integers(0, 40, 5000)))})
    is_null = rng.random(5000) < 0.2
    lists = pa.array([None if null else [number] for number, null in enumerate(is_null)])
    inner = pa.array([{"x": number} for number in range(5000)])
    nested = pa.StructArray.from_arrays(
        [table["c0"].chunk(0), lists, inner], ["a.b", "list", "s"], mask=pa.array(is_null)
    )
    table = pa.Table.from_arrays([nested, *table.columns, table["c1"]], names=["n", *table.column_names, "c1"])
    pq.write_table(table, tmp_path / "wide", row_group_size=1234)
    return tmp_path / "wide"


@pytest.mark.parametrize("function", ["sha3-256", "blake3"])
def test_workers_that_share_a_file_come_to_the_same_hash(executor, function, wide):
    steps = []
    shared = hash_file(
        wide, function=function, validity=True, executor=executor, progress=lambda *step: steps.append(step)
    )
    assert shared == hash_file(wide, function=function, validity=True)
    assert steps[-1] == (2 * shared.byte_length,) * 2


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_of_any_format_can_be_shared(form, tmp_path):
    (tmp_path / "f").write_bytes(FORMATS[form](TABLE))
    with ThreadPoolExecutor(2) as executor:
        assert hash_file(tmp_path / "f", executor=executor) == hash_file(tmp_path / "f")


@pytest.mark.parametrize("table", [TABLE.slice(0, 0), TABLE.select([]), pa.table({"n": pa.nulls(3)})])
def test_files_with_nothing_in_them_can_be_shared(table, tmp_path):
    pq.write_table(table, tmp_path / "f")
    with ThreadPoolExecutor(2) as executor:
        assert hash_file(tmp_path / "f", executor=executor).logical == logical_hash(table)


def test_no_worker_reads_more_than_its_columns(wide, monkeypatch):
    from arrow_digest.files import parts as shared
    from arrow_digest.files import passes

    read = []
    work = shared.digest_records

    def counting(file, *args):
        before = file.bytes_read
        found = work(file, *args)
        read.append(file.bytes_read - before)
        return found

    monkeypatch.setattr(shared, "digest_records", counting)
    with ThreadPoolExecutor(1) as executor:
        hash_file(wide, executor=executor)
    footer = pq.read_metadata(wide).serialized_size
    assert len(read) > 20
    assert sum(read) < wide.stat().st_size + len(read) * (2 * footer + (1 << 17)), passes


def test_errors_in_a_worker_are_those_of_the_file(processes, tmp_path):
    cases = {"missing": None, "text": b"text", "cut": parquet(TABLE)[:-1]}
    for name, content in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(UnreadableError):
            hash_file(tmp_path / name, executor=processes)
    content = bytearray(parquet(pa.table({"a": list(range(1000))}), compression="none", write_page_checksum=True))
    content[200] ^= 1
    (tmp_path / "flipped").write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        hash_file(tmp_path / "flipped", executor=processes)
    assert caught.value.rule == "corrupt"


def test_a_file_that_is_not_the_same_for_every_worker_has_no_hash(wide, monkeypatch):
    from arrow_digest.files import parts as shared

    work = shared._perform

    def replaced(task):
        os.utime(task.path, ns=(1, 1))
        return work(task)

    monkeypatch.setattr(shared, "_perform", replaced)
    with ThreadPoolExecutor(1) as executor, pytest.raises(UnreadableError) as caught:
        hash_file(wide, executor=executor)
    assert caught.value.rule == "changed"


# --- A cluster --------------------------------------------------------------------------------------------------------

ON_A_CLUSTER = """
import json, os, signal, sys, time
from concurrent.futures import Executor
from pathlib import Path
import dask
from dask.distributed import Client, LocalCluster
from arrow_digest import FileHash, Manifest, hash_file, hash_files

folder, trace = Path(sys.argv[1]), Path(sys.argv[2])

def traced(work, job):
    (trace / str(os.getpid())).touch()
    while len(list(trace.iterdir())) < 2:  # each worker waits for the other's first job, so that both have worked
        time.sleep(0.01)
    return work(job)

class Traced(Executor):
    def __init__(self, executor):
        self.executor = executor

    def submit(self, work, job):
        return self.executor.submit(traced, work, job)

# A busy machine is not a lost worker.
dask.config.set({"distributed.comm.timeouts.connect": "600s", "distributed.comm.timeouts.tcp": "600s"})
with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
    with Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        paths = sorted(str(path) for path in folder.iterdir())
        executor = Traced(client.get_executor())
        found = []
        for result in hash_files(paths, executor=executor):
            found.append(result)
            if len(found) == 10:
                os.kill(pids[0], signal.SIGKILL)
        worked = sorted(int(path.name) for path in trace.iterdir())
        client.wait_for_workers(2)
        shared = hash_file(paths[0], executor=client.get_executor())
        alone = [hash_file(path) for path in paths]
        manifest = Manifest.create(folder, executor=client.get_executor())
        checked = [result.status.value for result in manifest.check(executor=client.get_executor(), extra=False)]
print(json.dumps({
    "pids": pids,
    "worked": worked,
    "paths": [result.path for result in found] == paths,
    "equal": found == alone,
    "shared": shared == alone[0],
    "checked": sorted(set(checked)),
}))
"""


def test_a_cluster_that_loses_a_worker_reports_every_file_once(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "data").mkdir()
    (tmp_path / "trace").mkdir()
    for number in range(80):
        (tmp_path / "data" / f"{number:03}.parquet").write_bytes(parquet(TABLE.slice(number % 40)))
    result = run_python(ON_A_CLUSTER, tmp_path / "data", tmp_path / "trace", cwd=tmp_path)
    assert result.returncode == 0, result.stderr.decode()
    found = json.loads(result.stdout.splitlines()[-1])
    assert set(found["pids"]) <= set(found["worked"])
    assert len(found["worked"]) >= 2
    assert found["paths"]
    assert found["equal"]
    assert found["shared"]
    assert found["checked"] == ["identical"]


@pytest.mark.parametrize("path", ["a.parquet", b"a.parquet", Path("a.parquet")], ids=lambda path: type(path).__name__)
def test_one_path_is_not_taken_for_many(path):
    for call in (lambda: hash_files(path), lambda: Manifest.create(".", exclude=path)):
        with pytest.raises(TypeError, match="put it into a list"):
            call()
