"""explain: enough to build the hash again by hand."""

from __future__ import annotations

import hashlib
import json

import pyarrow as pa
import pytest

from arrow_digest import Multihash, explain, logical_hash
from helpers.command import arrow_digest_command
from helpers.files import ipc_file, parquet, sample_table

TABLE = sample_table()
NESTED = pa.table({"s": pa.array([{"a.b": 1, "e": {}}, None]), "é": [[True], []]})


@pytest.mark.parametrize("table", [TABLE, NESTED, TABLE.slice(0, 0), TABLE.select([])])
@pytest.mark.parametrize("byte_count", [0, 1, 7, 64, 1 << 20])
def test_the_hash_can_be_built_from_what_is_shown(table, byte_count):
    explained = explain(table, byte_count=byte_count)
    whole = explain(table, byte_count=1 << 20)
    combined = hashlib.sha3_256(b"".join(data for _, data in explained.fields))
    for leaf, full in zip(explained.columns, whole.columns, strict=True):
        assert full.is_all
        assert leaf.column.digest == hashlib.sha3_256(full.type_bytes + full.first_bytes).digest()
        assert leaf.first_bytes == full.first_bytes[:byte_count]
        assert leaf.is_all == (len(full.first_bytes) <= byte_count)
        combined.update(leaf.column.digest)
    assert Multihash(0x300016, combined.digest()) == explained.logical == logical_hash(table)


def test_the_command_shows_bytes_for_people_and_programs(tmp_path):
    table = pa.table({"a": pa.array([1, None], pa.int16()), "s": pa.array([{"b": "xy"}, None])})
    (tmp_path / "f").write_bytes(ipc_file(table))
    result = arrow_digest_command("explain", tmp_path / "f")
    assert result.stdout.decode().splitlines() == [
        "combined digest, fields:",
        "  01 00 00 00 00 00 00 00 61 00 00 00 00 00 00 00 00  a, level 0",
        "  01 00 00 00 00 00 00 00 73 00 00 00 00 00 00 00 00  s, level 0",
        "  01 00 00 00 00 00 00 00 62 01 00 00 00 00 00 00 00  s.b, level 1",
        "leaf a: int16, 1 null of 2 rows",
        "  type    01 00 01 10 00 00 00 00 00 00 00",
        "  values  01 00 00",
        f"  digest  {hashlib.sha3_256(bytes.fromhex('0100011000000000000000010000')).hexdigest()}",
        "leaf s.b: string, 1 null of 2 rows",
        "  type    04 00",
        "  values  02 00 00 00 00 00 00 00 78 79 00",
        f"  digest  {hashlib.sha3_256(bytes.fromhex('04000200000000000000787900')).hexdigest()}",
        "combined digest, leaves: the 2 digests above, in this order",
        f"arrow0-sha3-256: {logical_hash(table)}",
    ]
    result = arrow_digest_command("explain", tmp_path / "f", "--column", "s.b", "--bytes", "3", "--json")
    found = json.loads(result.stdout)
    assert [field["path"] for field in found["fields"]] == [["s"], ["s", "b"]]
    (column,) = found["columns"]
    assert (column["first_bytes"], column["is_all"], column["type_bytes"]) == ("020000", False, "0400")
    assert found["logical"] == str(logical_hash(table))
    result = arrow_digest_command("explain", tmp_path / "f", "--column", "s.b", "--bytes", "3")
    assert "02 00 00 …" in result.stdout.decode()
    assert "leaf a" not in result.stdout.decode()


def test_wrong_use_and_bad_files_are_status_2(tmp_path):
    (tmp_path / "f").write_bytes(parquet(TABLE))
    (tmp_path / "text").write_bytes(b"text")
    for arguments, said in (
        (["f", "--column", "nonsense"], "number, text, list, word"),
        (["-"], "needs a file"),
        (["missing"], "no such file"),
        (["text"], "no Arrow data"),
    ):
        result = arrow_digest_command("explain", *arguments, cwd=tmp_path)
        assert (result.stdout, result.returncode) == (b"", 2)
        assert said in result.stderr.decode()
