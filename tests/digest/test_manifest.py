"""Manifests: what is recorded, what checking says, and that nothing unchecked reads as ok."""

from __future__ import annotations

import json
import os
import pty
import random
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrow_digest import (
    Manifest,
    ManifestError,
    Multihash,
    Status,
    UnknownFunctionError,
    UnreadableError,
    hash_file,
    physical_hash,
)
from helpers.command import (
    COMMAND,
    LIMIT_SECONDS,
    arrow_digest_command,
    environment,
    interruptible_command,
    run_python,
    shell,
    wait_until_open,
)
from helpers.files import ipc_stream, parquet, sample_table

TABLE = sample_table()
MAP = pa.table({"m": pa.array([], pa.map_(pa.int8(), pa.int8()))})


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    for day in (1, 2):
        (folder / f"day={day}").mkdir(parents=True)
        (folder / f"day={day}" / "part.parquet").write_bytes(parquet(TABLE.slice(day)))
    (folder / "all.arrows").write_bytes(ipc_stream(TABLE))
    (folder / "checkpoint.bin").write_bytes(b"\x10\0\0\0state of an engine")
    (folder / "map.arrows").write_bytes(ipc_stream(MAP))
    return folder


@pytest.fixture
def saved(data):
    Manifest.create(data).save(data / "manifest.json")
    return data / "manifest.json"


def statuses(manifest, **options):
    return {result.path: result.status for result in manifest.check(**options)}


def entry_of(saved, path):
    whole = json.loads(saved.read_text())
    return whole, next(entry for entry in whole["files"] if entry["path"] == path)


ALL = ["all.arrows", "checkpoint.bin", "day=1/part.parquet", "day=2/part.parquet", "map.arrows"]


# --- What is recorded -------------------------------------------------------------------------------------------------


def test_a_manifest_records_every_file_sorted_and_follows_the_published_schema(saved, data, request):
    whole = json.loads(saved.read_text())
    schema = json.loads((request.config.rootpath / "docs/spec/manifest.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(whole, schema)
    assert [entry["path"] for entry in whole["files"]] == ALL
    file = hash_file(data / "all.arrows", validity=True)
    recorded = whole["files"][0]
    assert recorded["byte_length"] == (data / "all.arrows").stat().st_size
    assert (recorded["physical"], recorded["logical"]) == (str(file.physical), str(file.logical))
    assert recorded["row_count"] == 40
    assert recorded["columns"][0] == {
        "path": ["number"],
        "type": "int32",
        "null_count": file.columns[0].null_count,
        "digest": file.columns[0].digest.hex(),
        "validity_digest": file.columns[0].validity_digest.hex(),
    }


def test_what_has_no_logical_hash_is_recorded_by_its_bytes(saved, data):
    for name, note in (("checkpoint.bin", ""), ("map.arrows", "map<int8, int8>")):
        _, entry = entry_of(saved, name)
        assert entry["physical"] == str(physical_hash(data / name))
        assert set(entry) == {"path", "byte_length", "physical", "note"}
        assert note in entry["note"]


def test_validity_digests_are_optional(data):
    manifest = Manifest.create(data, validity=False)
    assert "validity_digest" not in manifest.dumps()
    assert '"digest"' in manifest.dumps()


def test_the_names_of_folders_never_leak_into_a_file(data, tmp_path):
    manifest = Manifest.create(data / "day=1")
    assert manifest.entries[0].facts.logical == hash_file(data / "day=1" / "part.parquet").logical
    assert [column.path[0] for column in manifest.entries[0].facts.columns] == TABLE.column_names


def test_a_manifest_reads_back_as_it_was_and_is_written_the_same_again(saved, data):
    manifest = Manifest.load(saved)
    assert manifest.root == str(data)
    assert manifest.dumps() == saved.read_text()
    random.seed(1)
    mixed = [data / name for name in random.sample(ALL, len(ALL))]
    assert Manifest.create(mixed, root=data).dumps() == saved.read_text()


def test_paths_are_relative_to_where_the_manifest_is(data, tmp_path):
    manifest = Manifest.create(data)
    manifest.save(tmp_path / "manifest.json")
    loaded = Manifest.load(tmp_path / "manifest.json")
    assert (loaded.entries[0].path, loaded.root) == ("all.arrows", str(data))
    assert set(statuses(loaded).values()) == {Status.IDENTICAL}
    manifest.save(data / "day=1" / "manifest.json")
    with pytest.raises(ManifestError) as caught:
        Manifest.load(data / "day=1" / "manifest.json")
    assert caught.value.rule == "escape"
    assert str(data) in str(caught.value)
    for options in ({"root": data}, {"allow_outside": True}):
        loaded = Manifest.load(data / "day=1" / "manifest.json", **options)
        assert set(statuses(loaded).values()) == {Status.IDENTICAL}


def test_a_broken_file_is_not_recorded_and_no_manifest_comes_out(data):
    (data / "cut.parquet").write_bytes(parquet(TABLE)[:-1])
    with pytest.raises(ManifestError) as caught:
        Manifest.create(data)
    assert caught.value.rule == "incomplete"
    assert caught.value.__cause__.rule == "truncated"
    result = arrow_digest_command("manifest", data)
    assert result.returncode == 2
    assert b"cut.parquet: cut short" in result.stderr
    assert not (data.parent / "data.manifest.json").exists()


def test_links_that_lead_out_are_refused_unless_asked_for(data, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_bytes(b"outside")
    (data / "inside").symlink_to("day=1")
    for link in ("file", "folder"):
        (data / link).symlink_to(tmp_path / "outside" / "f" if link == "file" else tmp_path / "outside")
        with pytest.raises(ManifestError) as caught:
            Manifest.create(data)
        assert caught.value.rule == "escape"
        (data / link).unlink()
    (data / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "outside" / "loop").symlink_to(tmp_path / "outside")
    manifest = Manifest.create(data, allow_outside=True)
    assert [entry.path for entry in manifest.entries] == sorted([*ALL, "folder/f"])
    manifest.save(data / "manifest.json")
    loaded = Manifest.load(data / "manifest.json")
    assert statuses(loaded)["folder/f"] is Status.UNREADABLE
    assert set(statuses(loaded, allow_outside=True).values()) == {Status.IDENTICAL}


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_records_and_checks_the_same(pool, saved, data):
    with pool(2) as executor:
        assert Manifest.create(data, exclude=[saved], executor=executor).dumps() == saved.read_text()
        assert set(statuses(Manifest.load(saved), executor=executor).values()) == {Status.IDENTICAL}


# --- What checking says -----------------------------------------------------------------------------------------------


def test_every_kind_of_result_is_reported_and_none_ends_the_run(saved, data):
    (data / "all.arrows").unlink()
    (data / "checkpoint.bin").write_bytes(b"another state")
    (data / "day=1" / "part.parquet").write_bytes(parquet(TABLE.slice(1), compression="gzip"))
    (data / "day=2" / "part.parquet").write_bytes(parquet(TABLE)[:-1])
    (data / "day=2" / "new").write_bytes(b"")
    results = list(Manifest.load(saved).check())
    assert [(result.path, result.status) for result in results] == [
        ("all.arrows", Status.MISSING),
        ("checkpoint.bin", Status.DIFFERENT),
        ("day=1/part.parquet", Status.EQUIVALENT),
        ("day=2/part.parquet", Status.DIFFERENT),
        ("map.arrows", Status.IDENTICAL),
        ("day=2/new", Status.EXTRA),
    ]
    assert results[2].weak_columns == (("list",),)
    result = arrow_digest_command("check", saved)
    assert result.returncode == 1
    assert len(result.stdout.splitlines()) == 6
    assert b"1 identical, 1 equivalent, 2 different, 1 missing, 1 extra" in result.stderr


def test_a_manifest_is_no_extra_file_and_extra_files_can_be_left_alone(saved, data):
    assert set(statuses(Manifest.load(saved)).values()) == {Status.IDENTICAL}
    (data / "new").write_bytes(b"")
    assert statuses(Manifest.load(saved))["new"] is Status.EXTRA
    assert "new" not in statuses(Manifest.load(saved), extra=False)
    assert arrow_digest_command("check", saved).returncode == 1
    assert arrow_digest_command("check", "--no-extra", saved).returncode == 0


def test_a_type_that_changed_on_the_way_is_named(tmp_path):
    table = pa.table({"t": pa.array([1, 2], pa.timestamp("s")), "n": [1, 2]})
    (tmp_path / "f").write_bytes(ipc_stream(table))
    Manifest.create(tmp_path).save(tmp_path / "m.json")
    pq.write_table(table, tmp_path / "f")
    (result,) = Manifest.load(tmp_path / "m.json").check()
    assert result.status is Status.DIFFERENT
    assert "only types changed" in str(result)
    assert "t: timestamp[s] became timestamp[ms]" in str(result)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": "../outside"}, "outside"),
        ({"path": "/etc/hostname"}, "outside"),
        ({"path": "day=1/../../outside"}, "outside"),
        ({"path": "memory://outside"}, "outside"),
        ({"physical": "f1520" + "00" * 32}, "code"),
        ({"physical": "f1620" + "00" * 31}, "digest bytes"),
        ({"logical": "f1620" + "00" * 32}, "not comparable"),
        ({"physical": None, "logical": None, "columns": None}, "neither"),
        ({"physical": 3}, "expected text"),
        ({"row_count": -1}, "row_count"),
        ({"row_count": 1.5}, "row_count"),
        ({"row_count": True}, "row_count"),
        ({"byte_length": 2**70}, "byte_length"),
        ({"columns": {}}, "columns"),
        ({"columns": [3]}, "columns"),
        ({"columns": [{"path": ["a"], "type": "struct<>", "null_count": 0, "digest": "00" * 32}]}, "type"),
        ({"columns": [{"path": [], "type": "int8", "null_count": 0, "digest": "00" * 32}]}, "path"),
        ({"columns": [{"path": ["a"], "type": "int8", "null_count": 0, "digest": "00"}]}, "digest"),
        ({"path": 3}, "path"),
        ({"path": ""}, "path"),
    ],
)
def test_an_unusable_entry_is_a_result_of_its_own(change, said, saved, data, tmp_path):
    (tmp_path / "outside").write_bytes(b"outside")
    whole, entry = entry_of(saved, "all.arrows")
    entry.update(change)
    saved.write_text(json.dumps(whole))
    results = list(Manifest.load(saved).check(extra=False))
    assert results[0].status is Status.UNREADABLE
    assert said in str(results[0])
    assert {result.status for result in results[1:]} == {Status.IDENTICAL}
    result = arrow_digest_command("check", "--no-extra", saved)
    assert result.returncode == 2
    assert len(result.stdout.splitlines()) == len(ALL)


def test_a_second_entry_for_a_file_is_a_result_of_its_own(saved):
    whole, entry = entry_of(saved, "all.arrows")
    whole["files"].append({**entry, "path": "./all.arrows"})
    saved.write_text(json.dumps(whole))
    results = list(Manifest.load(saved).check())
    assert [result.status for result in results] == [Status.IDENTICAL] * 5 + [Status.UNREADABLE]
    assert results[-1].error.rule == "duplicate"
    with pytest.raises(ManifestError):
        Manifest.load(saved).dumps()


def test_a_recorded_row_count_that_contradicts_the_bytes_differs(saved):
    whole, entry = entry_of(saved, "all.arrows")
    entry["row_count"] += 1
    saved.write_text(json.dumps(whole))
    assert statuses(Manifest.load(saved))["all.arrows"] is Status.DIFFERENT


@pytest.mark.parametrize("part", [1, 10, 100, 1000, -2, -3])
def test_a_manifest_that_is_cut_short_is_refused(part, saved):
    saved.write_bytes(saved.read_bytes()[:part])
    with pytest.raises(ManifestError) as caught:
        Manifest.load(saved)
    assert caught.value.rule == "truncated"
    result = arrow_digest_command("check", saved)
    assert (result.stdout, result.returncode) == (b"", 2)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"version": 3}, "version"),
        ({"version": "1"}, "format"),
        ({"version": None}, "format"),
        ({"format": "another"}, "format"),
        ({"files": {}}, "format"),
        ({"files": []}, "empty"),
    ],
)
def test_what_is_no_manifest_of_this_version_is_refused(change, rule, saved):
    saved.write_text(json.dumps({**json.loads(saved.read_text()), **change}))
    with pytest.raises(ManifestError) as caught:
        Manifest.load(saved)
    assert caught.value.rule == rule


def test_json_with_a_name_twice_or_nested_without_end_is_refused(saved):
    for text in ('{"format": "x", "format": "arrow-digest-manifest"}', '{"a": ' + "[" * 100_000):
        saved.write_text(text)
        with pytest.raises(ManifestError):
            Manifest.load(saved)


# --- Lists ------------------------------------------------------------------------------------------------------------


NAMES = ["plain", "two  spaces ", " leading", "*star", "-dash", "#hash", "back\\slash", "new\nline", "car\rriage"]
NAMES += ["\udcff\udcfe", "\u00fcml\u00e4ut", "tab\t", "{brace"]


@pytest.fixture
def odd(tmp_path):
    for name in NAMES:
        (tmp_path / name).write_bytes(ipc_stream(TABLE))
    return tmp_path


def name_of(line):
    return os.fsdecode(bytes.fromhex(line["path_bytes"])) if "path_bytes" in line else line["path"]


@pytest.mark.parametrize("options", [[], ["--physical"], ["--both"], ["--both", "--columns"], ["--json"]])
def test_what_hash_prints_can_be_checked_whatever_the_names_are(options, odd, tmp_path_factory):
    result = arrow_digest_command("hash", *options, "--", *NAMES, cwd=odd)
    assert result.returncode == 0
    expected = Status.EQUIVALENT if options in ([], ["--json"]) else Status.IDENTICAL
    sums = tmp_path_factory.mktemp("list") / "sums"
    for content in (
        result.stdout,
        result.stdout.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + result.stdout,
        b"# comment\n\n" + result.stdout,
    ):
        sums.write_bytes(content)
        checked = [
            json.loads(line) for line in arrow_digest_command("check", "--json", sums, cwd=odd).stdout.splitlines()
        ]
        assert [(name_of(line), line["status"]) for line in checked] == [(name, expected.value) for name in NAMES]
        again = arrow_digest_command("check", "-", cwd=odd, input=content)
        assert (again.returncode, len(again.stdout.splitlines())) == (0, len(NAMES))


def test_lists_of_other_programs_can_be_checked(odd):
    names = [name for name in NAMES if "\udcff" not in name]
    lines = subprocess.run(["sha256sum", "--", *names], cwd=odd, capture_output=True, check=True).stdout
    for content in (lines, lines.replace(b"\n", b"\r\n")):
        result = arrow_digest_command("check", "--function", "sha2-256", "-", cwd=odd, input=content)
        assert (result.returncode, result.stderr) == (0, b"")
        assert result.stdout.count(b": identical: ") == len(names)
    digest = lines.split()[0].decode()
    for line in (f"{digest.upper()}  plain", f"{digest} plain", f"{digest} *plain", f"{digest}\tplain"):
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            entries = Manifest.loads(f"{line}\r\n".encode(encoding), function="sha2-256", root=odd)
            assert statuses(entries) == {"plain": Status.IDENTICAL}
    logical = hash_file(odd / "plain").logical.digest.hex()
    entries = Manifest.loads(f"{logical}  plain\n".encode(), function="arrow0-sha3-256", root=odd)
    assert statuses(entries) == {"plain": Status.EQUIVALENT}


def test_bare_digests_need_the_function_said(odd):
    lines = subprocess.run(["sha256sum", "plain"], cwd=odd, capture_output=True, check=True).stdout
    result = arrow_digest_command("check", "-", cwd=odd, input=lines)
    assert result.returncode == 2
    assert b"plain: unreadable: " in result.stdout
    assert b"--function says what digests without a code are: sha2-256 in what sha256sum prints" in result.stdout
    for start in "0bBfF":
        line = start.encode() + b"c" * 63 + b"  plain\n"
        assert b"--function says" in arrow_digest_command("check", "-", cwd=odd, input=line).stdout
    result = arrow_digest_command("check", "--function", "sha3-256", "-", cwd=odd, input=lines)
    assert result.returncode == 1
    result = arrow_digest_command("check", "--function", "md5", "-", cwd=odd, input=lines)
    assert (result.returncode, b"arrow0-sha3-256" in result.stderr) == (2, True)
    with pytest.raises(UnknownFunctionError):
        Manifest.loads(lines, function="arrow0-md5")
    (entry,) = Manifest.loads(b"b" + b"0" * 31 + b"  plain\n").entries
    assert ("MD5" in str(entry.error), "--function" in str(entry.error)) == (True, False)


def test_an_unusable_line_is_a_result_of_its_own(odd):
    good = f"{physical_hash(odd / 'plain')}  plain"
    bad = ["nonsense", "f1620  name", "f1520" + "00" * 32 + "  name", "\\" + good + "\\x", '{"path": "cut", ', "{}"]
    content = "\n".join([*bad, good, good, good.replace("plain", "./plain")]) + "\n"
    results = list(Manifest.loads(content.encode(), root=odd).check())
    assert [result.status for result in results] == [Status.UNREADABLE] * 6 + [Status.IDENTICAL] + [
        Status.UNREADABLE
    ] * 2
    assert [result.error.line for result in results if result.error] == [1, 2, 3, 4, 5, 6, 8, 9]
    assert [result.error.rule for result in results[-2:]] == ["duplicate"] * 2


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# comment\n", b"\xef\xbb\xbf", b"\xff\xfe", b" \r\n"])
def test_nothing_to_verify_is_not_ok(content, tmp_path):
    with pytest.raises(ManifestError) as caught:
        Manifest.loads(content)
    assert caught.value.rule == "empty"
    result = arrow_digest_command("check", "-", input=content)
    assert (result.stdout, result.returncode) == (b"", 2)
    assert b"nothing to verify" in result.stderr


def test_a_list_of_files_that_are_not_there_fails(tmp_path):
    lines = b"".join(str(physical_hash(__file__)).encode() + b"  " + name + b"\n" for name in (b"a", b"b"))
    result = arrow_digest_command("check", "-", input=lines, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.count(b": missing: ") == 2


def test_paths_of_a_list_may_not_leave_the_root_unless_asked_for(odd, tmp_path_factory):
    (odd / "inner").mkdir()
    lines = f"{physical_hash(odd / 'plain')}  ../plain\n{physical_hash(odd / '-dash')}  {odd}/-dash\n".encode()
    result = arrow_digest_command("check", "-", input=lines, cwd=odd / "inner")
    assert (result.returncode, result.stdout.count(b"outside")) == (2, 2)
    result = arrow_digest_command("check", "--allow-outside", "-", input=lines, cwd=odd / "inner")
    assert (result.returncode, result.stdout.count(b": identical: ")) == (0, 2)
    result = arrow_digest_command(
        "check", "--root", odd, "-", input=lines.splitlines()[1].replace(bytes(odd) + b"/", b"")
    )
    assert result.returncode == 0


# --- The commands -----------------------------------------------------------------------------------------------------


def test_the_commands_record_and_check(data, tmp_path):
    result = arrow_digest_command("manifest", data)
    assert result.returncode == 0
    assert result.stdout.decode() == f"{data}.manifest.json: 5 files\n"
    notes = result.stderr.decode().splitlines()
    assert [line.split(": ")[1] for line in notes] == ["checkpoint.bin", "map.arrows"]
    beside = f"{data}.manifest.json"
    result = arrow_digest_command("check", beside)
    assert result.stdout.decode() == "".join(f"{name}: identical: the same bytes\n" for name in ALL)
    assert (result.stderr, result.returncode) == (b"", 0)
    assert arrow_digest_command("check", "--quiet", beside).stdout == b""
    result = arrow_digest_command("manifest", data, "-o", "-")
    assert json.loads(result.stdout)["format"] == "arrow-digest-manifest"
    result = arrow_digest_command("manifest", data, "--json", "--function", "blake3", "-o", tmp_path / "m")
    assert json.loads(result.stdout)["files"] == 5
    entries = Manifest.load(tmp_path / "m").entries
    assert {Multihash.parse(str(entry.facts.physical)).name for entry in entries} == {"blake3"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check"], "Missing argument"),
        (["manifest"], "Missing argument"),
        (["check", "missing"], "no such file"),
        (["check", "."], "is a directory"),
        (["manifest", "missing"], "no such file"),
        (["manifest", "empty"], "no file to record"),
        (["manifest", "data", "-o", "nowhere/m"], "no such folder"),
        (["manifest", "data", "-o", "empty"], "is a directory"),
        (["manifest", "data", "-o", "data/checkpoint.bin"], "is no manifest"),
        (["manifest", "data", "-o", "/dev/null"], "is no manifest"),
        (["manifest", "data", "-o", "memory://m"], "not supported"),
        (["manifest", "data/all.arrows"], "not a folder"),
        (["manifest", "s3://bucket/data"], "s3://bucket/data: a folder given by a URI cannot be recorded"),
        (["manifest", "file:///data"], "cannot be recorded"),
        (["manifest", "."], "-o"),
        (["manifest", "data/.."], "-o"),
        (["manifest", "/"], "-o"),
        (["check", "data/all.arrows"], "neither a manifest nor a list"),
        (["check", "data/checkpoint.bin"], "neither a manifest nor a list"),
        (["check", "data"], "neither"),
    ],
)
def test_wrong_use_is_status_2(arguments, said, data):
    (data.parent / "empty").mkdir()
    result = arrow_digest_command(*arguments, cwd=data.parent)
    assert (result.stdout, result.returncode) == (b"", 2)
    assert said in result.stderr.decode()
    assert b"Traceback" not in result.stderr


AS_NOBODY = """
import os, sys
import pyarrow.compute, pyarrow.parquet
from arrow_digest.cli import main
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.argv[0] = "arrow-digest"
main()
"""


def test_what_may_not_be_read_is_a_result(saved, data):
    # pytest's own folders are closed to others.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(data, folder / "data")
        (folder / "data" / "day=1").chmod(0)
        (folder / "data" / "all.arrows").chmod(0)
        result = run_python(AS_NOBODY, "check", "--json", folder / "data" / "manifest.json")
        (folder / "data" / "day=1").chmod(0o755)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    found = {line["path"]: line["error"]["rule"] for line in lines if "error" in line}
    assert found.pop("all.arrows") == "permission"
    assert found.pop("day=1/part.parquet") == "permission"
    assert set(found.values()) == {"permission"}  # the folder cannot be looked into for what is extra
    assert [line["status"] for line in lines].count("identical") == 3
    assert result.returncode == 2


def test_an_interrupt_leaves_the_old_manifest_or_none(data):
    table = pa.table({"s": [str(i) * 20 for i in range(400_000)]})
    for number in range(6):
        pq.write_table(table, data / f"{number}.parquet")
    before = sorted(path.name for path in data.rglob("*"))
    process = interruptible_command("manifest", data)
    wait_until_open(process, data.glob("*.parquet"))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT_SECONDS)
    assert b"Traceback" not in stderr
    after = sorted(path.name for path in data.rglob("*"))
    whole = sorted([*before, "manifest.json"])
    # Killed by the signal itself is what Python is while it starts, before the command runs, or ends, after it did.
    possible = {0: [whole], 130: [before], -signal.SIGINT: [before, whole]}
    assert after in possible[process.returncode]
    if after == whole:
        files = [path for path in data.rglob("*") if path.is_file() and path.name != "manifest.json"]
        assert len(json.loads((data / "manifest.json").read_text())["files"]) == len(files)


def test_an_interrupt_does_not_wait_for_a_large_file(data):
    with (data / "large").open("wb") as file:
        file.truncate(8 << 40)  # of holes: nobody waits until they are read, so that the end of this test shows it
    process = interruptible_command("manifest", data)
    wait_until_open(process, [data / "large"])
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, stderr.strip()) == (130, b"")
    assert not (data / "manifest.json").exists()


def test_an_interrupt_while_writing_leaves_nothing_behind(data, monkeypatch):
    Manifest.create(data / "day=1").save(data / "manifest.json")
    old = (data / "manifest.json").read_text()
    manifest = Manifest.create(data)

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        manifest.save(data / "manifest.json")
    assert (data / "manifest.json").read_text() == old
    assert not [path for path in data.iterdir() if path.name.startswith(".")]


def test_a_manifest_gets_the_mode_of_any_new_file(data):
    code = "import os, sys; os.umask(0o027); import arrow_digest as a; a.Manifest.create(sys.argv[1]).save(sys.argv[2])"
    result = run_python(code, data, data / "m.json")
    assert result.returncode == 0, result.stderr
    assert (data / "m.json").stat().st_mode & 0o777 == 0o640


def test_a_reader_that_leaves_early_ends_the_command_without_a_word(saved):
    result = shell('arrow-digest check "$1" | true; echo "${PIPESTATUS[0]}"', saved)
    assert result.stderr == b""


@pytest.mark.parametrize("path", ["data/encrypted", "data/bad"])
def test_real_files_that_are_encrypted_or_broken_are_recorded_by_their_bytes_or_not_at_all(path, request, tmp_path):
    recorded = {}
    for source in sorted((request.config.rootpath / "tests" / path).iterdir()):
        folder = tmp_path / source.name
        folder.mkdir()
        (folder / source.name).write_bytes(source.read_bytes())
        try:
            manifest = Manifest.create(folder)
        except ManifestError as error:
            assert error.rule == "incomplete"  # noqa: PT017
            continue
        (recorded[source.name],) = manifest.entries
        assert statuses(manifest) == {source.name: Status.IDENTICAL}
    assert recorded
    if path == "data/encrypted":
        assert len(recorded) == 3
        assert all(entry.facts.logical is None and "encrypted" in entry.note for entry in recorded.values())


def test_a_pipe_that_nobody_writes_to_is_a_result_and_does_not_hang(data, saved, monkeypatch):
    monkeypatch.setattr("_arrow_io.opening._PIPE_PATIENCE", 0.2)
    (data / "all.arrows").unlink()
    os.mkfifo(data / "all.arrows")
    results = {result.path: result for result in Manifest.load(saved).check()}
    assert results["all.arrows"].status is Status.UNREADABLE
    assert results["all.arrows"].error.rule == "pipe"
    assert len(results) > len(ALL) - 1
    with pytest.raises(UnreadableError):
        Manifest.create(data)


def test_a_folder_in_the_place_of_a_file_is_unreadable(saved, data):
    (data / "all.arrows").unlink()
    (data / "all.arrows").mkdir()
    result = next(iter(Manifest.load(saved).check()))
    assert (result.status, result.error.rule) == (Status.UNREADABLE, "directory")


def test_colour_and_progress_are_for_terminals_only(saved, data):
    (data / "new").write_bytes(b"")
    for variables, has_colour in (({}, True), ({"NO_COLOR": "1"}, False)):
        ours, theirs = pty.openpty()
        command = [*COMMAND, "check", str(saved)]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment(**variables)
        )
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # as Linux says that the other end has gone
            pass
        os.close(ours)
        assert process.wait(timeout=LIMIT_SECONDS) == 1
        assert b"%" in shown
        assert (b"\x1b[32midentical" in shown) == has_colour
    result = arrow_digest_command("check", saved)
    assert b"\x1b" not in result.stdout + result.stderr
    assert b"%" not in result.stderr
