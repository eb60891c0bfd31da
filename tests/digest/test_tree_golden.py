"""The golden files of tree0 and bag0: what they say is what the reference says, and the generator alone writes them."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest
from reference import bag0, tree0
from reference.arrays import records
from reference.records import FUNCTIONS, RefusedError, type_bytes
from tree_cases import PUBLISHED, UNSEEN, nested_table

GOLDEN = Path(__file__).parents[2] / "golden"
MODULES = {"tree0": tree0, "bag0": bag0}
DOCUMENTS = {name: json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8")) for name in MODULES}
BLAKE3 = FUNCTIONS["blake3"]

pytestmark = pytest.mark.golden


def cases(result, rules=None):
    return [
        pytest.param(name, case, id=f"{name}-{case['id']}")
        for name in MODULES
        for case in DOCUMENTS[name]["cases"]
        if case["result"] == result and rules in (None, name)
    ]


def table_of(case):
    if "nested" in case:
        return nested_table(case["nested"])
    with pa.ipc.open_stream(base64.b64decode(case["ipc"])) as reader:
        return reader.read_all().slice(*case.get("slice", (0,)))


@pytest.mark.parametrize(("rules", "case"), cases("valid"))
def test_the_reference_gives_the_published_hash_with_every_function(rules, case):
    hashed = records(table_of(case))
    assert hashed.row_count == case["row_count"]
    for function, expected in case["digests"].items():
        digest = MODULES[rules].table(FUNCTIONS[function], hashed).hex()
        assert expected["hex"] == digest
        assert expected["multihash"].endswith("20" + digest)


@pytest.mark.parametrize(("_", "case"), cases("valid", "tree0"))
def test_the_reference_gives_the_published_columns(_, case):
    hashed = records(table_of(case))
    assert len(case["columns"]) == len(hashed.fields)
    for field, values, expected in zip(hashed.fields, hashed.columns, case["columns"], strict=True):
        chunks = [digest.hex() for digest in tree0.chunks(BLAKE3, field.type, values)]
        assert expected.get("type", type_bytes(field.type).hex()) == type_bytes(field.type).hex()
        assert expected["null_count"] == sum(value is None for value in values)
        assert expected.get("chunks", chunks) == chunks
        assert expected["root"] == tree0.root(BLAKE3, [bytes.fromhex(digest) for digest in chunks]).hex()
        assert expected["digest"] == tree0.column(BLAKE3, field.type, values).hex()
        if "streams" in expected:
            streams = [bytes.fromhex(stream) for stream in expected["streams"]]
            assert streams == tree0.streams(field.type, values[: tree0.CHUNK_ROWS])
    if "table_preimage" in case:
        assert BLAKE3(bytes.fromhex(case["table_preimage"])).hex() == case["digests"]["blake3"]["hex"]


@pytest.mark.parametrize(("_", "case"), cases("valid", "bag0"))
def test_the_reference_gives_the_published_rows_and_entries(_, case):
    hashed = records(table_of(case))
    entries = sorted(bag0.counts(BLAKE3, hashed).items())
    assert case["distinct_row_count"] == len(entries)
    assert case["bag"] == bag0.bag(BLAKE3, entries).hex()
    if "entries" in case:
        assert case["entries"] == [{"digest": digest.hex(), "count": count} for digest, count in entries]
    if "rows" in case:
        assert case["rows"] == [row.hex() for row in bag0.rows(hashed)]
    if "table_preimage" in case:
        assert BLAKE3(bytes.fromhex(case["table_preimage"])).hex() == case["digests"]["blake3"]["hex"]


@pytest.mark.parametrize(("_", "case"), cases("refused"))
def test_the_reference_refuses_what_has_no_hash(_, case):
    if case["id"] in UNSEEN:
        assert case["error"]["kind"] == "broken_structure"
        return
    with pytest.raises(RefusedError) as caught:
        records(table_of(case))
    assert {"kind": caught.value.rule, "path": list(caught.value.path)} == case["error"]


@pytest.mark.parametrize("rules", MODULES)
def test_answers_of_other_implementations_are_in_the_files(rules):
    found = {case["id"]: case for case in DOCUMENTS[rules]["cases"]}
    assert len(PUBLISHED) == 70
    for id_, digests in PUBLISHED.items():
        assert found[id_]["digests"]["blake3"]["hex"] == digests[list(MODULES).index(rules)]


@pytest.mark.parametrize("rules", MODULES)
def test_cases_have_equal_hashes_where_the_file_says_so_and_nowhere_else(rules):
    by_hash = {}
    for _, case in [param.values for param in cases("valid", rules)]:
        by_hash.setdefault(case["digests"]["sha2-256"]["hex"], []).append(case)
    for same in by_hash.values():
        ids = {case["id"] for case in same}
        assert all(set(case.get("same_hash_as", ())) == ids - {case["id"]} for case in same)


@pytest.mark.parametrize("rules", MODULES)
def test_the_files_follow_their_schema_and_count_their_cases(rules):
    document = DOCUMENTS[rules]
    schema = json.loads((GOLDEN / document["schema"]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert document["rules"] == rules
    assert document["case_count"] == len(document["cases"]) == len({case["id"] for case in document["cases"]})
    assert {flag for case in document["cases"] for flag in case["flags"]} == set(document["flags"])


def test_a_stream_is_of_the_same_bytes_in_both_files():
    streams = [{case["id"]: case.get("ipc") for case in DOCUMENTS[name]["cases"]} for name in MODULES]
    shared = streams[0].keys() & streams[1].keys()
    assert len(shared) >= 320
    assert {id_ for id_ in shared if streams[0][id_] != streams[1][id_]} == set()


# --- The generator ----------------------------------------------------------------------------------------------------


def check(script):
    return subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path):
    """The golden files and their generator, where a test may damage them."""
    shutil.copytree(GOLDEN, tmp_path / "golden")
    (tmp_path / "tests").symlink_to(GOLDEN.parent / "tests")
    return tmp_path / "golden"


def test_the_golden_files_say_what_the_generator_says():
    run = check(GOLDEN / "generate_trees.py")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_check_names_what_is_missing_and_what_differs_and_writes_nothing(copy):
    (copy / "bag0.json").unlink()
    document = json.loads((copy / "tree0.json").read_text(encoding="utf-8"))
    document["cases"][0]["row_count"] += 1
    document["cases"][1]["ipc"] = document["cases"][2]["ipc"]
    changed = json.dumps(document)
    (copy / "tree0.json").write_text(changed, encoding="utf-8")
    run = check(copy / "generate_trees.py")
    assert run.returncode == 1
    ids = sorted(case["id"] for case in document["cases"][:2])
    assert run.stderr.splitlines() == [*(f"tree0.json: case {id_} differs" for id_ in ids), "bag0.json: missing"]
    assert (copy / "tree0.json").read_text(encoding="utf-8") == changed
    assert not (copy / "bag0.json").exists()
