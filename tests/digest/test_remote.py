"""Files by URI: fsspec's memory, and a local HTTP server that counts what is fetched."""

from __future__ import annotations

import functools
import http.server
import json
import re
import sys
import threading
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrow_digest import (
    Manifest,
    Status,
    UnreadableError,
    diff,
    hash_file,
    hash_files,
    logical_hash,
    physical_hash,
    verify,
)
from helpers.command import arrow_digest_command
from helpers.files import FORMATS, parquet, sample_table

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
TABLE = sample_table()


@pytest.fixture
def memory():
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serves files and ranges of them, and keeps account."""

    protocol_version = "HTTP/1.1"
    fetched: ClassVar[list]
    has_ranges = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = self.translate_path(self.path)
        try:
            content = Path(path).read_bytes()
        except OSError:
            self.send_error(404)
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if wanted and self.has_ranges:
            start, end = int(wanted[1]), min(int(wanted[2]) + 1, len(content))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
            content = content[start:end]
            self.fetched.append((start, end))
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes" if self.has_ranges else "none")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def do_HEAD(self):
        self.do_GET()


@pytest.fixture
def server(tmp_path):
    class Handler(Ranges):
        fetched: ClassVar[list] = []

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(tmp_path))
    ) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        served.handler = Handler
        served.url = f"http://127.0.0.1:{served.server_address[1]}"
        yield served
        served.shutdown()
        thread.join()


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_in_memory_hashes_like_one_on_disk(form, memory, tmp_path):
    (tmp_path / "f").write_bytes(FORMATS[form](TABLE))
    memory.pipe("/folder/f", FORMATS[form](TABLE))
    found = hash_file("memory://folder/f", validity=True)
    local = hash_file(tmp_path / "f", validity=True)
    assert (found.path, found.byte_length) == ("memory://folder/f", local.byte_length)
    assert (found.physical, found.logical, found.columns) == (local.physical, local.logical, local.columns)
    assert logical_hash("memory://folder/f") == local.logical
    assert physical_hash("memory://folder/f") == local.physical
    assert verify("memory://folder/f", physical=local.physical).status is Status.IDENTICAL
    assert diff("memory://folder/f", tmp_path / "f").equal


@pytest.mark.parametrize("form", ["parquet", "ipc-file", "ipc-stream"])
def test_a_file_on_a_web_server_hashes_like_one_on_disk(form, server, tmp_path):
    (tmp_path / "f").write_bytes(FORMATS[form](TABLE))
    local = hash_file(tmp_path / "f")
    (found,) = hash_files([f"{server.url}/f"])
    assert (found.physical, found.logical) == (local.physical, local.logical)


def test_columns_fetch_only_their_byte_ranges(server, tmp_path):
    from _arrow_io.opening import open_path
    from arrow_digest.sources import read_records

    rng = np.random.default_rng(1)
    table = pa.table({f"c{i}": rng.integers(0, 1 << 60, 200_000) for i in range(8)})
    pq.write_table(table, tmp_path / "f", compression="none", use_dictionary=False, row_group_size=60_000)
    metadata = pq.read_metadata(tmp_path / "f")
    size = (tmp_path / "f").stat().st_size
    chunks = [metadata.row_group(group).column(5) for group in range(metadata.num_row_groups)]
    allowed = [(c.data_page_offset, c.data_page_offset + c.total_compressed_size) for c in chunks]
    tail = size - metadata.serialized_size - 8
    with open_path(f"{server.url}/f") as file:
        (column,) = pa.Table.from_batches(list(read_records(file, leaves=(5,)).batches)).columns
    assert column.equals(table["c5"])
    # fsspec asks for the first byte to learn the length; the format is told by eight more, Parquet's end by 64 kB.
    small = [(start, end) for start, end in server.handler.fetched if end <= 8 or end > min(tail, size - 65_536)]
    data = [span for span in server.handler.fetched if span not in small]
    assert data
    assert all(any(start <= a and b <= end for start, end in allowed) for a, b in data)
    assert sum(b - a for a, b in data) == sum(end - start for start, end in allowed)


def test_a_server_without_ranges_gives_a_physical_hash_and_no_wrong_one(server, tmp_path):
    server.handler.has_ranges = False
    (tmp_path / "f").write_bytes(parquet(TABLE))
    assert physical_hash(f"{server.url}/f") == physical_hash(tmp_path / "f")
    with pytest.raises(UnreadableError) as caught:
        hash_file(f"{server.url}/f")
    assert caught.value.rule == "unseekable"


@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        ("memory://missing", "missing"),
        ("memory://folder", "directory"),
        ("nonsense://f", "protocol"),
        ("{url}/missing", "missing"),
        ("http://127.0.0.1:1/f", "io"),
    ],
)
def test_what_cannot_be_fetched_is_an_error_of_its_own(uri, rule, memory, server):
    memory.pipe("/folder/f", b"")
    with pytest.raises(UnreadableError) as caught:
        physical_hash(uri.format(url=server.url))
    assert caught.value.rule == rule
    expected = Status.MISSING if rule == "missing" else Status.UNREADABLE
    assert verify(uri.format(url=server.url), physical="f1620" + "00" * 32).status is expected


def test_a_remote_file_that_changes_while_it_is_read_is_refused(server, tmp_path, monkeypatch):
    from _arrow_io.remote import RemoteFile

    (tmp_path / "f").write_bytes(parquet(TABLE))
    read = RemoteFile.read

    def change(self, size=-1):
        data = read(self, size)
        (tmp_path / "f").write_bytes(parquet(TABLE) + b"more")
        return data

    monkeypatch.setattr(RemoteFile, "read", change)
    with pytest.raises(UnreadableError) as caught:
        hash_file(f"{server.url}/f")
    assert caught.value.rule == "changed"


def test_without_fsspec_a_uri_is_refused_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(UnreadableError, match=r"kiln-arrow\[remote\]") as caught:
        physical_hash("memory://f")
    assert caught.value.rule == "protocol"


def test_a_manifest_checks_what_a_server_has(server, tmp_path):
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "f").write_bytes(parquet(TABLE))
    (tmp_path / "gone").write_bytes(b"gone")
    Manifest.create(tmp_path).save(tmp_path / "m.json")
    (tmp_path / "gone").unlink()
    results = {result.path: result.status for result in Manifest.load(f"{server.url}/m.json").check()}
    assert results == {"day=1/f": Status.IDENTICAL, "gone": Status.MISSING}
    again = Manifest.load(tmp_path / "m.json", root=server.url)
    assert {result.path: result.status for result in again.check()} == results
    result = arrow_digest_command("check", "--json", "--root", server.url, tmp_path / "m.json")
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == ["identical", "missing"]
    result = arrow_digest_command("hash", "--physical", f"{server.url}/day=1/f")
    assert result.stdout.split()[1].decode() == f"{server.url}/day=1/f"
    checked = arrow_digest_command("check", "-", input=result.stdout)
    assert (checked.returncode, b"outside" in checked.stdout) == (2, True)
    assert arrow_digest_command("check", "--allow-outside", "-", input=result.stdout).returncode == 0
