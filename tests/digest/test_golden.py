"""The package against the published answers: see golden/README.md for what the fields mean."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pyarrow as pa
import pytest

import arrow_digest as ad

GOLDEN = Path(__file__).parents[2] / "golden"
CASES = json.loads((GOLDEN / "arrow0.json").read_text())["cases"]
VALID = [case for case in CASES if case["result"] == "valid"]
REFUSED = [case for case in CASES if case["result"] == "refused"]

ERRORS = {
    "unsupported_type": ad.UnsupportedTypeError,
    "broken_structure": ad.InvalidArrayError,
    "cut_short": ad.UnreadableError,
    "trailing": ad.UnreadableError,
}

pytestmark = pytest.mark.golden


def read(case):
    table = pa.ipc.open_stream(base64.b64decode(case["ipc"])).read_all()
    return table.slice(*case["slice"]) if "slice" in case else table


@pytest.mark.parametrize("function", ["sha3-256", "sha2-256", "blake3"])
@pytest.mark.parametrize("case", VALID, ids=lambda case: case["id"])
def test_a_table_has_the_published_hash(case, function):
    found = ad.logical_hash(read(case), function=function)
    assert found.digest.hex() == case["digests"][function]["hex"]
    assert str(found) == case["digests"][function]["multihash"]


@pytest.mark.parametrize("case", VALID, ids=lambda case: case["id"])
def test_leaf_columns_have_the_published_digests(case):
    table = read(case)
    digest = ad.RecordDigest(table.schema)
    digest.update(table)
    found = [
        {"path": list(column.path), "null_count": column.null_count, "digest": column.digest.hex()}
        for column in digest.columns()
    ]
    assert found == [{key: leaf[key] for key in ("path", "null_count", "digest")} for leaf in case["leaves"]]


@pytest.mark.parametrize("case", [case for case in VALID if "slice" not in case], ids=lambda case: case["id"])
def test_a_stream_in_a_file_has_the_published_hash(case, tmp_path):
    (tmp_path / "records").write_bytes(base64.b64decode(case["ipc"]))
    found = ad.hash_file(tmp_path / "records")
    assert found.logical.digest.hex() == case["digests"]["sha3-256"]["hex"]
    assert found.row_count == case["row_count"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
def test_what_must_be_refused_is_refused_in_a_file(case, tmp_path):
    (tmp_path / "records").write_bytes(base64.b64decode(case["ipc"]))
    error = case["error"]
    with pytest.raises(ERRORS[error["kind"]]) as caught:
        ad.logical_hash(tmp_path / "records")
    if "path" in error:
        assert list(caught.value.path) == error["path"]
    if error["kind"] == "unsupported_type":
        assert str(caught.value.data_type) == error["type"]
        assert caught.value.reserved == error["reserved"]
        assert caught.value.rule == ("reserved" if error["reserved"] else "unknown")
    if error["kind"] in ("cut_short", "trailing"):
        assert caught.value.rule == {"cut_short": "truncated", "trailing": "trailing"}[error["kind"]]


@pytest.mark.parametrize("case", [case for case in REFUSED if "path" in case["error"]], ids=lambda case: case["id"])
def test_what_must_be_refused_is_refused_in_memory(case):
    with pytest.raises(ERRORS[case["error"]["kind"]]) as caught:
        ad.logical_hash(read(case))
    assert list(caught.value.path) == case["error"]["path"]


def test_collisions_of_the_specification_stay_as_published():
    """Whoever makes these differ has changed arrow0."""
    by_id = {case["id"]: case for case in VALID}
    pairs = [(case, by_id[other]) for case in VALID for other in case.get("collides_with", [])]
    assert len(pairs) > 5
    for one, other in pairs:
        assert not read(one).equals(read(other))
        assert ad.logical_hash(read(one)) == ad.logical_hash(read(other))
