"""Files by URI: fsspec's memory, and a local HTTP server that counts what is fetched."""

from __future__ import annotations

import errno
import functools
import http.server
import io
import json
import re
import sys
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from _arrow_io.remote import child_uri
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
    from arrow_digest.reading.sources import read_records

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


@pytest.fixture
def plain_server(tmp_path, monkeypatch):
    """What `python -m http.server` runs, which knows no ranges and says nothing of that; a folder for copies."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        requests: ClassVar[list] = []

        def log_message(self, *_):
            self.requests.append(self.command)

    served_folder, copies = tmp_path / "served", tmp_path / "copies"
    served_folder.mkdir()
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(served_folder))
    ) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        served.handler, served.folder, served.copies = Handler, served_folder, copies
        served.url = f"http://127.0.0.1:{served.server_address[1]}"
        yield served
        served.shutdown()
        thread.join()


# More than a reader asks for at once, so that a range of it is not the whole.
LARGE = pa.table({"x": np.random.default_rng(1).integers(0, 1 << 60, 300_000)})


@pytest.mark.parametrize("is_honest", [True, False])
def test_a_byte_hash_needs_no_ranges(is_honest, server, plain_server, tmp_path):
    server.handler.has_ranges = False
    url, folder = (server.url, tmp_path) if is_honest else (plain_server.url, plain_server.folder)
    (folder / "f").write_bytes(parquet(LARGE))
    expected = physical_hash(folder / "f")
    assert physical_hash(f"{url}/f") == expected
    assert verify(f"{url}/f", physical=expected).status is Status.IDENTICAL
    assert verify(f"{url}/f", physical="f1620" + "00" * 32).status is Status.DIFFERENT
    result = arrow_digest_command("hash", "--physical", f"{url}/f")
    assert (result.returncode, result.stdout.decode()) == (0, f"{expected}  {url}/f\n")
    result = arrow_digest_command("verify", "--physical", str(expected), f"{url}/f")
    assert (result.returncode, result.stderr) == (0, b"")
    assert list(plain_server.copies.iterdir()) == []


@pytest.mark.parametrize("form", ["parquet", "ipc-file", "ipc-stream", "feather"])
def test_a_server_without_ranges_gives_the_records_too(form, plain_server):
    path = plain_server.folder / "f"
    path.write_bytes(FORMATS[form](LARGE))
    local, uri = hash_file(path), f"{plain_server.url}/f"
    assert logical_hash(uri) == local.logical
    found = hash_file(uri)
    assert (found.physical, found.logical, found.byte_length) == (local.physical, local.logical, local.byte_length)
    both = verify(uri, physical=local.physical, logical=local.logical, row_count=local.row_count)
    assert both.status is Status.IDENTICAL
    assert verify(uri, physical=local.physical, row_count=local.row_count).status is Status.IDENTICAL
    other = verify(uri, physical="f1620" + "00" * 32, logical=local.logical)
    assert other.status is Status.EQUIVALENT
    assert diff(uri, path).equal
    result = arrow_digest_command("hash", uri)
    assert (result.returncode, result.stdout.decode()) == (0, f"{local.logical}  {uri}\n")
    assert list(plain_server.copies.iterdir()) == []


def test_a_stream_is_read_from_front_to_back_without_a_copy(plain_server, monkeypatch):
    (plain_server.folder / "f").write_bytes(FORMATS["ipc-stream"](LARGE))
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    assert logical_hash(f"{plain_server.url}/f") == logical_hash(LARGE)


def test_without_room_for_a_copy_the_file_is_unreadable(plain_server, monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    (plain_server.folder / "f").write_bytes(parquet(LARGE))
    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    with pytest.raises(UnreadableError, match=f"no temporary copy in {plain_server.copies}.*No space left") as caught:
        logical_hash(f"{plain_server.url}/f")
    assert caught.value.rule == "io"


def test_a_file_on_a_server_without_ranges_that_changes_is_refused(plain_server, monkeypatch):
    from _arrow_io.opening import InputFile

    (plain_server.folder / "f").write_bytes(parquet(TABLE))
    make = InputFile.make_seekable

    def change(self):
        made = make(self)
        (plain_server.folder / "f").write_bytes(parquet(TABLE) + b"more")
        return made

    monkeypatch.setattr(InputFile, "make_seekable", change)
    with pytest.raises(UnreadableError) as caught:
        hash_file(f"{plain_server.url}/f")
    assert caught.value.rule == "changed"


ODD_NAMES = [
    "a#b",
    "a?b=c",
    "50 %41",
    "100%",
    "with space",
    "new\nline",
    "a::b.parquet",
    "run::1",
    "größe",
    "a;b&c+d=e",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_any_name_is_found_on_the_web_and_elsewhere_by_the_uri_that_is_made_of_it(name, plain_server, memory):
    content = parquet(TABLE)
    (plain_server.folder / name).write_bytes(content)
    expected = physical_hash(plain_server.folder / name)
    assert physical_hash(child_uri(plain_server.url, name)) == expected
    assert hash_file(child_uri(plain_server.url, name)).physical == expected
    assert physical_hash(child_uri(f"file://{plain_server.folder}", name)) == expected
    if name.isprintable():
        memory.pipe(f"/folder/{name}", content)
        assert physical_hash(child_uri("memory://folder", name)) == expected


def test_a_web_address_may_have_double_colons_and_a_query_and_no_fragment(plain_server):
    (plain_server.folder / "a::b.parquet").write_bytes(parquet(TABLE))
    expected = logical_hash(TABLE)
    assert logical_hash(f"{plain_server.url}/a::b.parquet") == expected
    assert logical_hash(f"{plain_server.url}/a::b.parquet?token=x") == expected
    with pytest.raises(UnreadableError, match="write %23") as caught:
        logical_hash(f"{plain_server.url}/a::b.parquet#part")
    assert caught.value.rule == "protocol"


def test_a_chain_of_file_systems_is_still_one(tmp_path, memory):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("f", parquet(TABLE))
    expected = logical_hash(TABLE)
    assert logical_hash(f"zip://f::file://{tmp_path}/a.zip") == expected
    assert logical_hash(f"zip://f::{tmp_path}/a.zip") == expected


@pytest.mark.parametrize(("status", "rule"), [(404, "missing"), (410, "missing"), (403, "permission"), (503, "io")])
def test_a_server_that_refuses_has_not_said_that_a_file_is_missing(status, rule, plain_server, monkeypatch):
    monkeypatch.setattr(plain_server.handler, "do_HEAD", lambda self: self.send_error(status))
    monkeypatch.setattr(plain_server.handler, "do_GET", lambda self: self.send_error(status))
    with pytest.raises(UnreadableError) as caught:
        physical_hash(f"{plain_server.url}/f")
    assert caught.value.rule == rule


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
