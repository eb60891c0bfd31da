"""A file that is read twice: both hashes are of the same bytes, or there is none."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import arrow_digest.files.rereading
from _arrow_io.opening import InputFile, open_path
from arrow_digest import Status, UnreadableError, hash_file, logical_hash, physical_hash, verify
from arrow_digest.files.rereading import merge_marks, read_twice
from helpers.files import FORMATS, feather, parquet

ROWS = 60_000
BEFORE = pa.table({"n": np.arange(ROWS), "m": np.random.default_rng(1).integers(0, 1 << 60, ROWS)})
AFTER = BEFORE.set_column(0, "n", pa.array(np.arange(ROWS) + (np.arange(ROWS) == ROWS // 2)))
PLAIN = {
    "parquet": lambda table: parquet(table, compression="none", use_dictionary=False, write_statistics=False),
    "ipc-file": lambda table: FORMATS["ipc-file"](table),
    "ipc-stream": lambda table: FORMATS["ipc-stream"](table),
    "feather": lambda table: feather(table, compression="uncompressed"),
}


@pytest.fixture(params=["kept", "settled", "marked"])
def kind(request, monkeypatch):
    """Whether a file is kept in memory, was not written to right now, or is read with digests of its blocks."""
    if request.param == "settled":
        monkeypatch.setattr(arrow_digest.files.rereading, "_TICK_NANOSECONDS", -(1 << 62))
    else:
        monkeypatch.setattr(InputFile, "changed_at", lambda _: None)
    if request.param == "marked":
        monkeypatch.setattr(arrow_digest.files.rereading, "_MOST_KEPT", -1)
        monkeypatch.setattr(arrow_digest.files.rereading, "_RECENT_BYTES", 1 << 17)
    return request.param


def write_with_time_put_back(path, content):
    before = path.stat()
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


@pytest.mark.parametrize("form", PLAIN)
def test_a_change_between_the_readings_is_noticed_though_size_and_time_are_put_back(form, kind, tmp_path):
    path = tmp_path / "f"
    before, after = PLAIN[form](BEFORE), PLAIN[form](AFTER)
    assert len(before) == len(after)
    assert before != after
    path.write_bytes(before)
    changes = []

    def change(done, total):
        if done >= total // 2 and not changes:
            changes.append(done)
            write_with_time_put_back(path, after)

    for threads in (1, 2):
        with pytest.raises(UnreadableError) as caught:
            hash_file(path, threads=threads, progress=change)
        assert caught.value.rule == "changed"
        assert changes
        write_with_time_put_back(path, before)
        changes.clear()
    result = verify(path, physical="f1620" + "00" * 32, logical=logical_hash(AFTER), progress=change)
    assert (result.status, result.error.rule) == (Status.UNREADABLE, "changed")


@pytest.mark.parametrize("form", PLAIN)
def test_bytes_that_change_and_change_back_never_give_hashes_of_two_states(form, kind, tmp_path):
    path = tmp_path / "f"
    before, after = PLAIN[form](BEFORE), PLAIN[form](AFTER)
    path.write_bytes(before)
    expected = hash_file(path)

    def change(done, total):
        write_with_time_put_back(path, after if total // 2 <= done < total else before)

    try:
        found = hash_file(path, threads=1, progress=change)
    except UnreadableError as error:
        assert error.rule == "changed"  # noqa: PT017
    else:
        assert (found.physical, found.logical) == (expected.physical, expected.logical)


def test_workers_that_share_a_file_have_to_read_the_same_bytes(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(PLAIN["parquet"](BEFORE))
    after = PLAIN["parquet"](AFTER)
    perform = arrow_digest.files.parts._perform
    tasks = []

    def change(task):
        tasks.append(task)
        if len(tasks) == 2:
            write_with_time_put_back(path, after)
        return perform(task)

    with ThreadPoolExecutor(1) as executor:
        expected = hash_file(path)
        assert hash_file(path, executor=executor) == expected
        monkeypatch.setattr(arrow_digest.files.parts, "_perform", change)
        with pytest.raises(UnreadableError) as caught:
            hash_file(path, executor=executor)
    assert caught.value.rule == "changed"
    assert len(tasks) == 3


@cache
def content(form):
    return FORMATS[form](BEFORE)


@pytest.mark.parametrize("form", FORMATS)
def test_reading_in_blocks_gives_the_same_hashes(form, kind, tmp_path):
    (tmp_path / "f").write_bytes(content(form))
    found = hash_file(tmp_path / "f")
    assert (found.physical, found.logical) == (physical_hash(tmp_path / "f"), logical_hash(tmp_path / "f"))
    assert found.byte_length == (tmp_path / "f").stat().st_size


def test_any_places_and_sizes_give_what_is_there(kind, tmp_path):
    content = np.random.default_rng(1).bytes(300_001)
    (tmp_path / "f").write_bytes(content)
    rng = np.random.default_rng(2)

    def step(file):
        for _ in range(500):
            at, size = int(rng.integers(0, 310_000)), int(rng.integers(0, 1 << int(rng.integers(1, 19))))
            file.seek(at)
            assert file.read(size) == content[at : at + size]
            assert file.tell() == max(min(at + size, len(content)), at)
        with pytest.raises(OSError, match=r"Invalid argument|before the start"):
            file.seek(-1)
        return True

    with open_path(tmp_path / "f") as opened:
        assert read_twice(opened, step)


def test_new_rights_and_links_are_no_change(kind, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(PLAIN["parquet"](BEFORE))
    expected = hash_file(path)

    def touch(done, total):
        path.chmod(0o600 if path.stat().st_mode & 0o077 else 0o644)

    assert hash_file(path, progress=touch) == expected
    assert verify(path, physical=expected.physical, row_count=ROWS, progress=touch).status is Status.IDENTICAL


def test_marks_of_two_readings_agree_only_for_the_same_bytes():
    marks = {1: b"a"}
    assert merge_marks(marks, {1: b"a", 2: b"b"})
    assert marks == {1: b"a", 2: b"b"}
    assert not merge_marks(marks, {2: b"c"})
