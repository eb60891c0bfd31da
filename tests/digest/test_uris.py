"""What is a URI, and what is the name of a local file; URIs of files in a folder."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from _arrow_io.remote import child_uri, is_uri, path_text
from arrow_digest import Manifest, Status, hash_file, hash_files, logical_hash, physical_hash, verify
from helpers.command import arrow_digest_command
from helpers.files import parquet, sample_table

TABLE = sample_table()
LOCAL_NAMES = ["run::1.parquet", "file::b.parquet", "Foo::Bar.parquet", "a::b.parquet", "memory::f", "http::x", "::"]


@pytest.mark.parametrize("name", LOCAL_NAMES)
def test_a_local_name_with_double_colons_is_local(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(parquet(TABLE))
    expected = logical_hash(TABLE)
    assert logical_hash(name) == logical_hash(Path(name)) == expected
    assert hash_file(name).logical == next(hash_files([name])).logical == expected
    assert verify(name, physical=physical_hash(name)).status is Status.IDENTICAL
    result = arrow_digest_command("hash", name, cwd=tmp_path)
    assert (result.returncode, result.stdout.decode()) == (0, f"{expected}  {name}\n")


def test_a_folder_with_such_names_is_recorded_and_checked(tmp_path):
    for name in LOCAL_NAMES:
        (tmp_path / name).write_bytes(parquet(TABLE))
    manifest = Manifest.create(tmp_path)
    assert {entry.path for entry in manifest.entries} == set(LOCAL_NAMES)
    assert {result.status for result in manifest.check()} == {Status.IDENTICAL}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/key", True),
        ("file:///a", True),
        ("https://example.org/a::b.parquet", True),
        ("zip://a::file://b.zip", True),
        ("zip://a::b.zip", True),
        ("simplecache::https://example.org/f", True),
        ("filecache::zip://a::s3://b/c.zip", True),
        ("abfs+x.y-z://c", True),
        ("run::1", False),
        ("2024-01-01T00::00://x", False),
        ("C://folder/f", False),
        ("C:\\folder\\f", False),
        ("a/b://c", False),
        ("://x", False),
        ("", False),
    ],
)
def test_a_uri_begins_with_a_protocol_or_a_chain_of_them(text, expected):
    assert is_uri(text) is expected


def test_a_path_object_is_a_local_file_whatever_its_name(tmp_path, monkeypatch):
    class Odd(os.PathLike):
        def __fspath__(self):
            return "memory://f"

    monkeypatch.chdir(tmp_path)
    Path("memory:").mkdir()
    Path("memory:/f").write_bytes(parquet(TABLE))
    assert logical_hash(Odd()) == logical_hash(TABLE)
    assert logical_hash(Path("memory://f")) == logical_hash(TABLE)
    assert not is_uri(path_text(Odd()))
    physical = physical_hash(Odd())
    assert verify(Odd(), physical=physical).status is Status.IDENTICAL
    assert next(hash_files([Odd()])).physical == physical
    with ThreadPoolExecutor(1) as executor:
        assert hash_file(Odd(), executor=executor).physical == physical


@given(st.lists(st.text("aZ0 #?%:+&=;@~é\n\\\"'<>[]{}|^`\udce9", min_size=1), min_size=1, max_size=3))
def test_a_name_on_the_web_comes_back_from_its_uri(parts):
    from urllib.parse import unquote_to_bytes, urlsplit

    name = "/".join(parts)
    uri = child_uri("https://example.org/data/", name)
    assert uri.isascii()
    assert "::" not in uri
    found = urlsplit(uri)
    assert (found.netloc, found.query, found.fragment) == ("example.org", "", "")
    assert unquote_to_bytes(found.path) == b"/data/" + os.fsencode(name)


def test_other_file_systems_take_names_as_they_are():
    assert child_uri("memory://folder", "50 %#?.parquet") == "memory://folder/50 %#?.parquet"
    assert child_uri("simplecache::http://h/d", "a#b") == "simplecache::http://h/d/a%23b"
