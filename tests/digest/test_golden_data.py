"""The second opinion and the golden files: what the rest of the tests lean on must itself be sound."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pyarrow as pa
import pyarrow.types as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import arrow0

from helpers.layouts import read
from helpers.strategies import (
    arrays,
    garbage_under_nulls,
    leaf_types,
    plain,
    rechunk,
    reencode,
    reserved_types,
    reslice,
    tables,
)

GOLDEN = Path(__file__).parents[2] / "golden"
CHANGES = {"reslice": reslice, "rechunk": rechunk, "reencode": reencode, "garbage": garbage_under_nulls}


@given(arrays(blinded=True))
def test_generated_arrays_are_of_sound_structure(array):
    array.validate(full=True)


@given(st.data(), tables())
def test_a_change_of_form_keeps_the_records(data, table):
    for change in CHANGES.values():
        changed = data.draw(change(table))
        for before, after in zip(table.columns, changed.columns, strict=True):
            assert [v for c in before.chunks for v in read(c)] == [v for c in after.chunks for v in read(c)]


@given(st.data(), tables(), st.sampled_from(sorted(CHANGES)))
def test_a_change_of_form_keeps_the_preimages(data, table, change):
    changed = data.draw(CHANGES[change](table))
    assert arrow0.preimages(changed) == arrow0.preimages(table)


def encode(value, plain_type):
    """arrow0's bytes for a neutral value; `plain_type` tells text, lists and what has a fixed width apart."""
    if value is None:
        return b"\0"
    if isinstance(value, bool):
        return bytes([1 + value])
    if isinstance(value, list):
        return len(value).to_bytes(8, "little") + b"".join(encode(item, plain_type.value_type) for item in value)
    if pt.is_string(plain_type) or pt.is_binary(plain_type):
        return len(value).to_bytes(8, "little") + value
    return value


@given(arrays(leaf_types()))
def test_the_model_reads_every_layout_as_its_values(array):
    t = plain(array.type)
    expected = arrow0.type_bytes(t) + b"".join(encode(value, t) for value in read(array))
    assert arrow0.array_stream(array, t) == expected


@given(reserved_types())
def test_the_model_refuses_reserved_types_wherever_they_are(reserved):
    schema = pa.schema([("ok", pa.int8()), ("c", reserved)])
    with pytest.raises(arrow0.RefusedError) as caught:
        arrow0.preimages(pa.Table.from_batches([], schema=schema))
    assert caught.value.path[0] == "c"


def test_the_model_reads_an_extension_under_a_dictionary():
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"b" * 16], pa.binary(16)))
    array = pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), uuids)
    expected = pa.array([b"b" * 16, None, b"a" * 16])
    assert arrow0.array_stream(array, pa.binary()) == arrow0.array_stream(expected, pa.binary())


@given(st.data(), tables(), st.sampled_from(sorted(arrow0.FUNCTIONS)))
def test_a_digest_is_made_of_the_preimages(data, table, function):
    digest = arrow0.FUNCTIONS[function]
    preamble, leaves = arrow0.preimages(table)
    combined = preamble + b"".join(digest(stream).digest() for _, stream, _ in leaves)
    assert arrow0.record_digest(table.to_batches() or table, function) == digest(combined).digest()


# --- The golden files -------------------------------------------------------------------------------------------------


def golden(name):
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def arrow0_cases(**of):
    return [c for c in golden("arrow0.json")["cases"] if all(c[key] == value for key, value in of.items())]


def check(script):
    return subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path):
    """The golden files and their generator, where a test may damage them."""
    shutil.copytree(GOLDEN, tmp_path / "golden")
    (tmp_path / "tests").symlink_to(GOLDEN.parent / "tests")
    return tmp_path / "golden"


def test_the_golden_files_say_what_the_generator_says():
    run = check(GOLDEN / "generate.py")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["arrow0.json", "multihash.json"])
def test_a_missing_golden_file_fails_the_check_and_is_not_written(copy, name):
    (copy / name).unlink()
    run = check(copy / "generate.py")
    assert run.returncode == 1
    assert f"{name}: missing" in run.stderr
    assert not (copy / name).exists()


def test_a_changed_expectation_fails_the_check_and_is_not_repaired(copy):
    document = json.loads((copy / "arrow0.json").read_text(encoding="utf-8"))
    document["cases"][0]["leaves"][0]["null_count"] += 1
    (copy / "arrow0.json").write_text(json.dumps(document), encoding="utf-8")
    run = check(copy / "generate.py")
    assert run.returncode == 1
    assert document["cases"][0]["id"] in run.stderr
    assert json.loads((copy / "arrow0.json").read_text(encoding="utf-8")) == document


def test_a_changed_stream_fails_the_check(copy):
    document = json.loads((copy / "arrow0.json").read_text(encoding="utf-8"))
    case, other = document["cases"][1], document["cases"][2]
    case["ipc"] = other["ipc"]
    (copy / "arrow0.json").write_text(json.dumps(document), encoding="utf-8")
    run = check(copy / "generate.py")
    assert run.returncode == 1
    assert case["id"] in run.stderr


@pytest.mark.parametrize("name", ["arrow0", "multihash"])
def test_the_golden_files_follow_their_schemas(name):
    schema = golden(f"schema-{name}.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(golden(f"{name}.json"), schema)


def test_golden_ids_are_unique():
    for name in ("arrow0.json", "multihash.json"):
        ids = [case["id"] for case in golden(name)["cases"]]
        assert len(set(ids)) == len(ids)


def test_all_published_answers_are_in_the_golden_file():
    assert sum("Published" in case["flags"] for case in arrow0_cases(result="valid")) == 54


@pytest.mark.parametrize("case", arrow0_cases(result="valid"), ids=lambda case: case["id"])
def test_the_model_agrees_with_the_golden_file(case):
    with pa.ipc.open_stream(base64.b64decode(case["ipc"])) as reader:
        table = reader.read_all().slice(*case.get("slice", (0,)))
    preamble, leaves = arrow0.preimages(table)
    assert case.get("schema_preimage", preamble.hex()) == preamble.hex()
    assert table.num_rows == case["row_count"]
    for expected, (path, stream, validity) in zip(case["leaves"], leaves, strict=True):
        digest = arrow0.FUNCTIONS["sha3-256"](stream).hexdigest()
        assert (list(path), validity.count(False)) == (expected["path"], expected["null_count"])
        assert digest == expected["digest"]
        assert expected.get("preimage", stream.hex()) == stream.hex()
    for function, expected in case["digests"].items():
        digest = arrow0.record_digest(table, function).hex()
        assert expected["hex"] == digest
        assert expected["multihash"].endswith("20" + digest)


def test_the_compiled_reference_agrees_except_where_a_flag_says_so():
    """The reference hashes a table's first batch, through the C data interface, which ends a name at NUL."""
    starfix = pytest.importorskip("starfix")
    aligned = pa.ipc.IpcReadOptions(ensure_alignment=pa.ipc.Alignment.At64Byte)
    seen = set()
    for case in arrow0_cases(result="valid"):
        with pa.ipc.open_stream(base64.b64decode(case["ipc"]), options=aligned) as reader:
            table = reader.read_all().slice(*case.get("slice", (0,)))
        if not table.num_columns or len(table.to_batches()) != 1 or case["id"] == "name_with_nul":
            continue
        expected = {"ReferenceRefuses", "ReferenceDeparts"} & set(case["flags"])
        try:
            digest = starfix.hash_arrow_table(table).hex()
        except BaseException as error:  # Rust panics are not Exceptions
            found = {"ReferenceRefuses"} if not isinstance(error, KeyboardInterrupt) else set()
        else:
            found = set() if digest.endswith(case["digests"]["sha2-256"]["hex"]) else {"ReferenceDeparts"}
        assert found == expected, case["id"]
        seen |= {case["id"]}
    assert len(seen) > 150


def test_the_garbage_is_still_in_the_streams():
    """A writer that cleans what lies under nulls would leave cases that catch nothing."""
    clean = {"int32_no_bitmap", "string_null_owns_nothing", "list_null_owns_nothing"}
    marks = {"string_null_owns_bytes": b"axyzb", "bool_null_over_true": b"\xfb", "list_null_owns_items": b"\2\0\0\0\0"}
    marks |= {"int32_all_valid_bitmap": b"\xff\0\0\0\0\0\0\0\1\0\0\0\2", "list_view_out_of_order": b"\x09\0\0\0"}
    cases = [case for case in arrow0_cases() if "GarbageUnderNulls" in case["flags"] and case["id"] not in clean]
    assert len(cases) == 12
    for case in cases:
        assert marks.get(case["id"], b"\xee\xee") in base64.b64decode(case["ipc"]), case["id"]


# --- Multihash, read a second time ------------------------------------------------------------------------------------

HEX, B32 = "0123456789abcdef", "abcdefghijklmnopqrstuvwxyz234567"
B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
B64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class Refused(Exception):
    pass


def from_bits(text, alphabet, per_digit):
    """Digits of so many bits; what is left after the last byte must be less than a digit, and zeros."""
    if any(c not in alphabet for c in text):
        raise Refused("text")
    bits = "".join(f"{alphabet.index(c):0{per_digit}b}" for c in text)
    rest = len(bits) % 8
    if rest >= per_digit or "1" in bits[len(bits) - rest :]:
        raise Refused("text")
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - rest, 8))


def from_multibase(text):
    prefix, rest = text[:1], text[1:]
    if prefix in ("f", "F"):
        return from_bits(rest.lower() if rest.isascii() else rest, HEX, 4)
    if prefix in ("b", "B"):
        return from_bits(rest.lower() if rest.isascii() else rest, B32, 5)
    if prefix == "m":
        return from_bits(rest, B64 + "+/", 6)
    if prefix == "u":
        return from_bits(rest, B64 + "-_", 6)
    if prefix == "U":
        digits = rest.rstrip("=")
        if len(rest) % 4 or len(rest) - len(digits) > 2:
            raise Refused("text")
        return from_bits(digits, B64 + "-_", 6)
    if prefix == "z":
        if any(c not in B58 for c in rest):
            raise Refused("text")
        number = 0
        for c in rest:
            number = number * 58 + B58.index(c)
        zeros = len(rest) - len(rest.lstrip("1"))
        return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    raise Refused("base")


def from_varint(data):
    number = 0
    for i, byte in enumerate(data[:9]):
        number |= (byte & 127) << 7 * i
        if byte < 128:
            if byte == 0 and i > 0:
                raise Refused("varint")
            return number, data[i + 1 :]
    raise Refused("varint")


def multihash(text, codes):
    code, rest = from_varint(from_multibase(text))
    if code not in codes:
        raise Refused("code")
    length, digest = from_varint(rest)
    if length != 32 or len(digest) < 32:
        raise Refused("length")
    if len(digest) > 32:
        raise Refused("trailing")
    return code, digest


@pytest.mark.parametrize("case", golden("multihash.json")["cases"], ids=lambda case: case["id"])
def test_a_second_reader_of_multihashes_agrees_with_the_golden_file(case):
    codes = {int(code, 16) for code in golden("multihash.json")["codes"].values()}
    if case["result"] == "valid":
        assert multihash(case["text"], codes) == (int(case["code"], 16), bytes.fromhex(case["digest"]))
        assert from_multibase(case["base16"]).hex() == case["bytes"]
        return
    with pytest.raises(Refused, match=f"^{case['rule']}$"):
        multihash(case["text"], codes)
    if "bytes" in case:
        assert from_multibase(case["text"]).hex() == case["bytes"]
