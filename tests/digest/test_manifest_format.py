"""Where manifests lie and what they say: versions, folders, other files, and what nobody may rely on."""

from __future__ import annotations

import json
import os

import jsonschema
import pyarrow as pa
import pytest

from arrow_digest import Manifest, ManifestError, Status, UnreadableError
from helpers.command import arrow_digest_command, shell
from helpers.files import ipc_stream, parquet, sample_table

TABLE = sample_table()
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 3\n"


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data" / "sub").mkdir(parents=True)
    (tmp_path / "data" / "a.parquet").write_bytes(parquet(TABLE))
    (tmp_path / "data" / "sub" / "b.parquet").write_bytes(parquet(TABLE.slice(1)))
    return tmp_path / "data"


@pytest.fixture
def beside(data):
    assert arrow_digest_command("manifest", data).returncode == 0
    return data.parent / "data.manifest.json"


@pytest.fixture
def schema(request):
    return json.loads((request.config.rootpath / "docs/spec/manifest.schema.json").read_text())


def changed(manifest, **members):
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **members}))


def results(path, **options):
    return {result.path: result.status for result in Manifest.load(path, **options).check()}


BOTH = {"a.parquet": Status.IDENTICAL, "sub/b.parquet": Status.IDENTICAL}


def test_a_manifest_lies_beside_its_folder_and_names_it(beside, data, schema):
    whole = json.loads(beside.read_text())
    jsonschema.validate(whole, schema)
    assert (whole["version"], whole["requires"], whole["root"]) == (2, ["root"], "data")
    assert sorted(path.name for path in data.iterdir()) == ["a.parquet", "sub"]
    assert results(beside) == BOTH
    for argument in (beside, data, f"{data}/", "data", "./data"):
        result = arrow_digest_command("check", argument, cwd=data.parent)
        assert (result.returncode, result.stdout.count(b": identical: ")) == (0, 2)
    assert arrow_digest_command("check", ".", cwd=data).returncode == 0


def test_a_manifest_in_its_folder_is_of_version_1_and_no_file_of_it(data, beside, schema):
    inside = data / "any name"
    assert arrow_digest_command("manifest", data, "-o", inside).returncode == 0
    whole = json.loads(inside.read_text())
    jsonschema.validate(whole, schema)
    assert set(whole) == {"format", "version", "files"}
    assert whole["version"] == 1
    assert results(inside) == results(beside) == BOTH
    assert arrow_digest_command("manifest", data).returncode == 0
    assert results(beside) == BOTH
    inside.rename(data / "manifest.json")
    beside.unlink()
    assert arrow_digest_command("check", data).returncode == 0
    (data / "manifest.json").write_text(json.dumps(whole, sort_keys=True))
    assert results(data / "manifest.json") == BOTH


def test_a_folder_and_its_manifest_can_be_moved_and_renamed(data, beside):
    data.rename(data.parent / "new")
    beside.rename(data.parent / "new.manifest.json")
    assert arrow_digest_command("check", "new", cwd=data.parent).returncode == 0
    assert arrow_digest_command("check", "new.manifest.json", cwd=data.parent).returncode == 1


@pytest.mark.parametrize("content", [b"", b"{}", b'{"unrelated": true}', b'{"format": "arrow-digest-manifest"}', b"\0"])
def test_nothing_but_a_manifest_is_written_over(content, data):
    target = data.parent / "data.manifest.json"
    target.write_bytes(content)
    result = arrow_digest_command("manifest", data)
    assert (result.returncode, target.read_bytes()) == (2, content)
    assert b"not written over" in result.stderr
    with pytest.raises(ManifestError) as caught:
        Manifest.create(data).save(target)
    assert (caught.value.rule, target.read_bytes()) == ("exists", content)


def test_a_fifo_or_a_folder_is_not_written_over(data):
    os.mkfifo(data.parent / "fifo")
    (data.parent / "link").symlink_to(data / "a.parquet")
    for name in ("fifo", "data", "link"):
        assert arrow_digest_command("manifest", data, "-o", data.parent / name).returncode == 2
    assert (data / "a.parquet").read_bytes() == parquet(TABLE)


def test_output_that_goes_into_the_folder_is_not_recorded(data):
    result = shell('arrow-digest manifest "$1" -o - > "$1/m"', data)
    assert result.returncode == 0
    assert results(data / "m") == BOTH
    result = shell('arrow-digest manifest "$1" > "$1/log"', data)
    assert (result.returncode, b"where the output goes" in result.stderr) == (2, True)


def test_a_manifest_elsewhere_names_its_folder_which_has_to_be_allowed(data):
    (data.parent / "else").mkdir()
    target = data.parent / "else" / "m.json"
    assert arrow_digest_command("manifest", data, "-o", target).returncode == 0
    assert json.loads(target.read_text())["root"] == "../data"
    result = arrow_digest_command("check", target)
    assert (result.returncode, result.stdout, str(data).encode() in result.stderr) == (2, b"", True)
    for options in (["--allow-outside"], ["--root", data]):
        assert arrow_digest_command("check", *options, target).returncode == 0
    content = target.read_bytes()
    assert arrow_digest_command("check", "-", cwd=target.parent, input=content).returncode == 2
    assert arrow_digest_command("check", "--allow-outside", "-", cwd=target.parent, input=content).returncode == 0


def test_a_link_that_leads_out_is_no_way_around(data, beside, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (data.parent / "link").symlink_to(outside)
    changed(beside, root="link")
    with pytest.raises(ManifestError) as caught:
        Manifest.load(beside)
    assert caught.value.rule == "escape"


@pytest.mark.parametrize("root", ["", "/etc", "a\0b", "memory://x", 3, ["data"], {}, True, "\ud800"], ids=repr)
def test_a_root_that_is_no_relative_path_is_refused(root, beside):
    changed(beside, root=root)
    with pytest.raises(ManifestError) as caught:
        Manifest.load(beside)
    assert caught.value.rule == "format"
    assert arrow_digest_command("check", "--allow-outside", beside).returncode == 2


@pytest.mark.parametrize("requires", ["root", [3], {"root": 1}, None, [["root"]]], ids=repr)
def test_requires_is_a_list_of_names(requires, beside):
    changed(beside, requires=requires)
    with pytest.raises(ManifestError) as caught:
        Manifest.load(beside)
    assert caught.value.rule == "format"


def test_what_a_manifest_requires_has_to_be_known_and_nothing_else(beside):
    whole = json.loads(beside.read_text())
    changed(beside, path="x", line=3, physical=[], anything={"deep": [1e999]})
    assert results(beside) == BOTH
    for entry in whole["files"]:
        entry.update(path_bytes=3, unknown=[], error="x", columns=[{**c, "more": 1} for c in entry["columns"]])
    changed(beside, files=whole["files"], requires=["root", "columns"])
    assert results(beside) == BOTH
    changed(beside, requires=["root", "left_out"])
    with pytest.raises(ManifestError) as caught:
        Manifest.load(beside)
    assert (caught.value.rule, "left_out" in str(caught.value)) == ("requires", True)
    changed(beside, version=1, path="x", requires=["left_out"])
    assert set(results(beside).values()) == {Status.MISSING, Status.EXTRA}  # version 1 knows no root


def test_a_member_that_comes_twice_is_refused(beside):
    text = beside.read_text()
    for twice in (
        text.replace('"root"', '"root": "x",\n "root"', 1),
        text.replace('"path": "a', '"path": "x", "path": "a'),
    ):
        beside.write_text(twice)
        with pytest.raises(ManifestError, match="twice"):
            Manifest.load(beside)


def test_the_unit_of_int96_is_recorded_and_used(data, schema):
    table = pa.table({"t": pa.array([0, 253402214400000000], pa.timestamp("us"))})
    (data / "old.parquet").write_bytes(parquet(table, use_deprecated_int96_timestamps=True))
    target = data.parent / "data.manifest.json"
    refused = arrow_digest_command("manifest", data)
    assert (refused.returncode, target.exists()) == (2, False)
    assert b"column t, row 1" in refused.stderr
    assert b"--int96 us" in refused.stderr
    assert arrow_digest_command("manifest", data, "--int96", "us").returncode == 0
    whole = json.loads(target.read_text())
    jsonschema.validate(whole, schema)
    assert (whole["version"], whole["requires"], whole["int96_unit"]) == (2, ["root", "int96_unit"], "us")
    (data / "old.parquet").write_bytes(parquet(table, use_deprecated_int96_timestamps=True, compression="gzip"))
    result = arrow_digest_command("check", target)
    assert (result.returncode, b"old.parquet: equivalent" in result.stdout) == (0, True)
    refused = arrow_digest_command("check", "--int96", "ns", target)
    assert (refused.returncode, b"--int96 us" in refused.stdout + refused.stderr) == (2, True)
    for unit in ("ms", 3, None):
        changed(target, int96_unit=unit)
        with pytest.raises(ManifestError):
            Manifest.load(target)


def test_a_git_lfs_pointer_is_refused_unless_it_is_allowed(data):
    (data / "p.parquet").write_bytes(LFS_POINTER)
    result = arrow_digest_command("manifest", data)
    assert (result.returncode, b"git lfs pull" in result.stderr) == (2, True)
    assert b"p.parquet" in result.stderr
    assert not (data.parent / "data.manifest.json").exists()
    result = arrow_digest_command("manifest", data, "--allow-pointers")
    assert (result.returncode, b"p.parquet: by its bytes alone" in result.stderr) == (0, True)


def test_every_file_that_cannot_be_recorded_is_named(data):
    for name in ("x", "y", "z"):
        (data / name).write_bytes(parquet(TABLE)[:-1])
    result = arrow_digest_command("manifest", data)
    assert result.returncode == 2
    assert all(f"{data}/{name}: cut short".encode() in result.stderr for name in ("x", "y", "z"))


@pytest.mark.parametrize("length", range(96, 700, 44))
def test_a_stream_of_the_old_form_that_was_cut_is_refused(length, data):
    whole = ipc_stream(TABLE, use_legacy_format=True)
    (data / "old.arrows").write_bytes(whole[: length if length < len(whole) else -4])
    with pytest.raises(ManifestError) as caught:
        Manifest.create(data)
    assert caught.value.rule == "incomplete"


def test_names_that_begin_as_temporary_files_do_are_files(beside, data):
    (data / ".arrow-digest-x").write_bytes(b"x")
    assert results(beside) == {**BOTH, ".arrow-digest-x": Status.EXTRA}


def test_a_link_that_leads_nowhere_is_reported_once_and_ends_no_search(beside, data):
    (data / "a.parquet").unlink()
    (data / "a.parquet").symlink_to("nowhere")
    (data / "dangling").symlink_to("nowhere")
    os.mkfifo(data / "fifo")
    (data / "new").write_bytes(b"")
    found = [(result.path, result.status) for result in Manifest.load(beside).check()]
    assert found == [
        ("a.parquet", Status.MISSING),
        ("sub/b.parquet", Status.IDENTICAL),
        ("dangling", Status.EXTRA),
        ("fifo", Status.EXTRA),
        ("new", Status.EXTRA),
    ]


NAMES = ["run::1.parquet", "file::b.parquet", "a#b", "50 %", "what?", "new\nline", "%20", "\udcff", "\u00fc", "s3:x"]


def test_any_name_is_that_of_a_local_file_here_and_in_every_locale(data):
    for name in NAMES:
        (data / name).write_bytes(ipc_stream(TABLE))
    for argument in ("run::1.parquet", "file::b.parquet"):
        assert arrow_digest_command("hash", argument, cwd=data).returncode == 0
    texts = []
    for locale in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        assert arrow_digest_command("manifest", data, env=locale).returncode == 0
        texts.append((data.parent / "data.manifest.json").read_bytes())
        for other in ({"LC_ALL": "C.UTF-8"}, locale):
            result = arrow_digest_command("check", "data", cwd=data.parent, env=other)
            assert (result.returncode, result.stderr) == (0, b"")
            assert "\u00fc: identical".encode() in result.stdout
            lines = arrow_digest_command("check", "--json", "data", cwd=data.parent, env=other).stdout.splitlines()
            shown = [json.loads(line) for line in lines]
            assert json.dumps(shown, ensure_ascii=False).encode()
            assert {bytes.fromhex(line["path_bytes"]) for line in shown if "path_bytes" in line} == {b"\xff"}
            assert "\u00fc" in {line["path"] for line in shown}
    assert texts[0] == texts[1]


def test_a_folder_at_a_uri_is_checked_for_other_files(data, beside):
    fsspec = pytest.importorskip("fsspec")
    for name in ("#hash.parquet", "50 %.parquet", "new\nline"):
        (data / name).write_bytes(parquet(TABLE))
    manifest = Manifest.create(data)
    manifest.save(beside)
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for path in [*data.rglob("*"), beside]:
        if path.is_file():
            memory.pipe(f"/x/{path.relative_to(data.parent)}", path.read_bytes())
    memory.pipe("/x/data/sub/new", b"new")
    memory.pipe("/x/data/other.manifest.json", beside.read_bytes())
    (data / "sub" / "new").write_bytes(b"new")
    for source in ("memory://x/data.manifest.json", beside.as_uri(), f"file://{beside}"):
        found = {result.path: result.status for result in Manifest.load(source).check()}
        assert found.pop("sub/new") is Status.EXTRA
        assert set(found.values()) == {Status.IDENTICAL}
        assert len(found) == 5
    memory.store.clear()


def test_a_folder_that_cannot_be_listed_is_not_said_to_hold_nothing_else(data, beside):
    manifest = Manifest.load(beside, root="http://127.0.0.1:1/data")
    assert not manifest.looks_for_others()
    with pytest.raises(UnreadableError) as caught:
        manifest.check(extra=True)
    assert caught.value.rule == "unlisted"
    result = arrow_digest_command("check", "--extra", "--root", "http://127.0.0.1:1/data", beside)
    assert (result.returncode, result.stdout) == (2, b"")
    for options, is_said in (([], True), (["--no-extra"], False)):
        result = arrow_digest_command("check", *options, "--root", "http://127.0.0.1:1/data", beside)
        assert (b"extra files were not looked for" in result.stderr) == is_said


def test_encrypted_parquet_that_was_cut_is_broken_and_not_only_locked(data, beside, request):
    locked = (request.config.rootpath / "tests/data/encrypted/uniform_encryption.parquet.encrypted").read_bytes()
    target = data / "a.parquet"
    target.write_bytes(locked[:-1])
    assert results(beside)["a.parquet"] is Status.DIFFERENT
    with pytest.raises(ManifestError, match="cut short: encrypted Parquet ends with"):
        Manifest.create(data)
    target.write_bytes(locked)
    assert results(beside)["a.parquet"] is Status.UNREADABLE
    assert {entry.note for entry in Manifest.create(data).entries} == {None, "encrypted Parquet, and no key"}


def test_a_manifest_beside_a_folder_may_be_one_of_the_folder_that_both_are_in(data, beside):
    inside = json.loads(beside.read_text())
    outside = {**inside, "files": [{**entry, "path": f"data/{entry['path']}"} for entry in inside["files"]]}
    for whole in (inside, outside):
        del whole["root"], whole["requires"]
        beside.write_text(json.dumps({**whole, "version": 1}))
        for argument in (data, f"file://{data}"):
            result = arrow_digest_command("check", argument)
            assert (result.returncode, result.stdout.count(b": identical: ")) == (0, 2)
    beside.write_text(json.dumps({**outside, "version": 1}))
    (data / "sub" / "b.parquet").write_bytes(b"")
    assert arrow_digest_command("check", "--quiet", data).stdout.startswith(b"data/sub/b.parquet: different")


def test_an_extra_pipe_is_reported_and_not_opened(data, beside, monkeypatch):
    def wait(*_):
        raise AssertionError("a pipe was opened")

    monkeypatch.setattr("_arrow_io.opening._wait_for_writer", wait)
    os.mkfifo(data / "pipe")
    assert results(beside) == {**BOTH, "pipe": Status.EXTRA}
