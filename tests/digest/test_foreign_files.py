"""Files that are no Arrow data are named as what they are, with what helps; sound ones are told from broken ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import sqlite3
import tarfile
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from _arrow_io.errors import UnreadableError as InnerError
from arrow_digest import UnreadableError, logical_hash
from arrow_digest.files.hashing import digest_stream
from helpers.command import arrow_digest_command, shell
from helpers.files import ipc_stream, parquet, sample_table

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n"


def zipped():
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("part.parquet", parquet(sample_table()))
    return sink.getvalue()


def tarred():
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return sink.getvalue()


def numpy_file():
    sink = io.BytesIO()
    np.save(sink, np.zeros(3))
    return sink.getvalue()


def orc_file():
    sink = io.BytesIO()
    pyarrow.orc.write_table(pa.table({"a": [1]}), sink)
    return sink.getvalue()


def sqlite_file(tmp_path):
    connection = sqlite3.connect(tmp_path / "db")
    connection.execute("create table a (b)")
    connection.commit()
    connection.close()
    return (tmp_path / "db").read_bytes()


DATA = parquet(sample_table())
FOREIGN = {
    "gzip": (gzip.compress(DATA), "gzip: decompress it first"),
    "gzip without a time": (gzip.compress(DATA, mtime=0), "gzip: decompress it first"),
    "bzip2": (bz2.compress(DATA), "bzip2: decompress it first"),
    "xz": (lzma.compress(DATA), "xz: decompress it first"),
    "zstd": (pa.compress(DATA, "zstd", asbytes=True), "Zstandard: decompress it first"),
    "lz4": (pa.compress(DATA, "lz4", asbytes=True), "LZ4: decompress it first"),
    "zip": (zipped(), "a ZIP archive: take the files out"),
    "tar": (tarred(), "a tar archive: take the files out"),
    "html": (b"\n<!DOCTYPE html>\n<html lang=en>", r"a web page \(HTML\)"),
    "html without a type": (b"<html><body>404</body></html>", r"a web page \(HTML\)"),
    "xml": (b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', "XML: perhaps what a server answers"),
    "xml without a head": (b"<Error><Code>NoSuchKey</Code></Error>", "XML: perhaps what a server answers"),
    "json": (b'{"id": 1}\n{"id": 2}\n', "JSON: .* pyarrow.json"),
    "json array": (b'[\n  {"id": 1}]', "JSON: .* pyarrow.json"),
    "csv": (b"id,name\n1,a\n2,b\n", "text, such as CSV: CSV has no types: read it first"),
    "csv with quotes": (b'"id";"name"\n"1";"a"\n', "text, such as CSV"),
    "csv in UTF-8 with a mark": (b"\xef\xbb\xbfid,name\n" + "1,é\n".encode() * 500, "text, such as CSV"),
    "csv in Latin-1": (b"id,name\n" + "1,é\n".encode("latin-1") * 500, "text, such as CSV"),
    "csv in UTF-16": ("id,name\n1,é\n".encode("utf-16"), "text in UTF-16"),
    "text": ("日本語のテキスト。\n".encode() * 500, "text: it holds no records"),
    "avro": (b"Obj\x01\x04\x14avro.codec\x08null", "Avro: read it with what knows the format"),
    "orc": (orc_file(), "ORC: read it with what knows the format"),
    "hdf5": (b"\x89HDF\r\n\x1a\n\0\0\0\0", "HDF5: read it with"),
    "duckdb": (bytes(range(8)) + b"DUCK" + bytes(20), "a DuckDB database"),
    "numpy": (numpy_file(), "a NumPy array"),
    "pickle": (pickle.dumps({"a": 1}), "a Python pickle"),
    "old pickle": (pickle.dumps({"a": 1}, protocol=2), "a Python pickle"),
    "lance": (b"\0\1\2\3" * 50 + b"LANC", "a Lance data set"),
    "safetensors": (
        (64).to_bytes(8, "little") + b'{"a":{"dtype":"F64"}}' + bytes(43),
        "safetensors: kiln-arrow import",
    ),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document: it holds no records"),
    "zeros": (bytes(5000), "zeros: a copy or a download"),
    "empty": (b"", r"empty \(tried Parquet"),
    "anything": (b"\xaa\x07\xcc\xf1" * 9, r"no Arrow data: it begins with b'\\xaa\\x07"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_another_format_is_named_with_what_helps(kind, tmp_path):
    content, message = FOREIGN[kind]
    (tmp_path / "f.parquet").write_bytes(content)
    with pytest.raises(UnreadableError, match=message) as caught:
        logical_hash(str(tmp_path / "f.parquet"))
    assert (caught.value.rule, caught.value.is_sound) == ("format", False)


def test_a_database_of_sqlite_is_named(tmp_path):
    (tmp_path / "f.parquet").write_bytes(sqlite_file(tmp_path))
    with pytest.raises(UnreadableError, match="an SQLite database: read it with"):
        logical_hash(tmp_path / "f.parquet")


def test_a_git_lfs_pointer_has_a_rule_of_its_own_and_the_way_to_the_file(tmp_path):
    (tmp_path / "f.parquet").write_bytes(POINTER)
    with pytest.raises(UnreadableError, match="a Git LFS pointer in place of the file: run git lfs pull") as caught:
        logical_hash(tmp_path / "f.parquet")
    assert (caught.value.rule, caught.value.is_sound) == ("lfs_pointer", False)
    result = arrow_digest_command("hash", tmp_path / "f.parquet")
    assert (result.returncode, result.stderr.count(b"\n"), b"git lfs pull" in result.stderr) == (2, 1, True)


def test_what_comes_through_a_pipe_is_named_too(tmp_path):
    (tmp_path / "f").write_bytes(gzip.compress(DATA))
    result = shell('cat "$1" | arrow-digest hash -', tmp_path / "f")
    assert (result.returncode, b"gzip: decompress it first" in result.stderr) == (2, True)


def test_a_stream_in_a_pipe_is_read_to_its_end_only_though_formats_are_told_by_more_bytes(tmp_path):
    (tmp_path / "f").write_bytes(ipc_stream(pa.table({"a": [1]})) + b"rest")
    result = shell('cat "$1" | (arrow-digest hash - >&2; cat)', tmp_path / "f")
    assert result.stdout == b"rest"


@pytest.mark.parametrize(
    ("rule", "is_sound"),
    [
        *((rule, True) for rule in ("encrypted", "version", "codec", "summary", "unsupported")),
        *((rule, False) for rule in ("format", "lfs_pointer", "corrupt", "truncated", "trailing", "row_count")),
        *((rule, False) for rule in ("missing", "io", "permission", "changed", "memory", "protocol", "unseekable")),
    ],
)
def test_an_error_says_whether_the_file_is_sound(rule, is_sound):
    assert InnerError is UnreadableError
    assert UnreadableError("f", rule, "message").is_sound is is_sound


TABLE = sample_table()


def tensor_message():
    sink = io.BytesIO()
    pa.ipc.write_tensor(pa.Tensor.from_numpy(np.zeros((2, 3))), pa.PythonFile(sink, "w"))
    return sink.getvalue()


def of_version(number):
    """A stream of another version of the format, which stands in its first message after the fifth one's number."""
    content = bytearray(ipc_stream(TABLE))
    places = [place for place in range(8, 40) if content[place : place + 2] == b"\4\0"]
    for place in places:
        changed = bytes((*content[:place], number, *content[place + 1 :]))
        with pytest.raises(pa.ArrowInvalid) as caught:
            pa.ipc.open_stream(changed)
        if "etadata" in str(caught.value) and "ersion" in str(caught.value):
            return changed
    raise AssertionError(places)


def with_codec(number):
    """Parquet whose one chunk is said to be compressed with a codec of this number."""
    content = parquet(pa.table({"a": [1, 2]}), compression="gzip", use_dictionary=False, write_statistics=False)
    found = []
    for place in range(len(content) - 400, len(content) - 8):
        if content[place : place + 2] == b"\x15\x04":  # a 32-bit integer, 2 written in zigzag
            changed = bytes((*content[: place + 1], number * 2, *content[place + 2 :]))
            if pq.read_metadata(io.BytesIO(changed)).row_group(0).column(0).compression != "GZIP":
                found.append(changed)
    (changed,) = found
    return changed


UNSUPPORTED = {
    "a tensor": (tensor_message, "unsupported", "Arrow IPC stream of tensors, no records"),
    "an old version": (lambda: of_version(1), "version", "Arrow IPC stream of an unsupported version"),
    "a later version": (lambda: of_version(9), "version", "Arrow IPC stream of an unsupported version"),
    "LZO": (
        lambda: with_codec(3),
        "codec",
        "column a, row group 0: Parquet with a compression that pyarrow does not read",
    ),
}


@pytest.mark.parametrize("kind", UNSUPPORTED)
def test_a_sound_file_that_pyarrow_does_not_read_is_not_called_broken(kind, tmp_path):
    make, rule, message = UNSUPPORTED[kind]
    (tmp_path / "f").write_bytes(make())
    with pytest.raises(UnreadableError, match=message) as caught:
        logical_hash(tmp_path / "f")
    assert (caught.value.rule, caught.value.is_sound) == (rule, True)
    assert "broken" not in str(caught.value)
    for command in (["hash"], ["explain"], ["diff", "f"]):
        result = arrow_digest_command(*command, "f", cwd=tmp_path)
        assert (result.returncode, b"broken" in result.stderr, result.stderr.count(b"\n")) == (2, False, 1)
    result = arrow_digest_command("manifest", "-o", "-", ".", cwd=tmp_path)
    assert (result.returncode, b'"f"' in result.stdout) == (0, True)


@pytest.mark.parametrize("name", ["_metadata", "_common_metadata"])
def test_a_summary_of_other_files_is_told_as_such_by_every_command(name, tmp_path):
    found = []
    pq.write_to_dataset(TABLE, tmp_path / "d", metadata_collector=found)
    pq.write_metadata(TABLE.schema, tmp_path / "d" / "_metadata", metadata_collector=found)
    content = (tmp_path / "d" / "_metadata").read_bytes()
    (tmp_path / "d" / "_metadata").unlink()
    (tmp_path / "d" / name).write_bytes(content)
    for command in (["hash", f"d/{name}"], ["explain", f"d/{name}"], ["diff", f"d/{name}", f"d/{name}"]):
        result = arrow_digest_command(*command, cwd=tmp_path)
        assert (result.returncode, b"a summary of other Parquet files" in result.stderr) == (2, True)
    with pytest.raises(UnreadableError) as caught:
        logical_hash(tmp_path / "d" / name)
    assert (caught.value.rule, caught.value.is_sound) == ("summary", True)


def test_the_end_of_a_parquet_file_is_named():
    content = parquet(TABLE)
    with pytest.raises(UnreadableError, match="the end of a Parquet file: its beginning is lost"):
        digest_stream(io.BytesIO(content[10:]), "f")
