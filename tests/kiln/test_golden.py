"""The package agrees with every golden case of Kiln, and the cases leave no dtype, rule or code out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import kiln_arrow
from kiln_arrow import Dict, KilnError, Leaf, List, Opaque, Option, Struct
from kiln_arrow.canonical.typetext import LEAF_WORDS, tokens

GOLDEN = Path(__file__).parents[2] / "golden"
EXAMPLE = "kiln-v2-rank-1"  # which golden/README.md takes apart
KINDS = ("kiln-directory", "kiln-typetext", "kiln-frozen", "kiln-frame")

NUMPY_BY_NAME = {row.name: row.numpy for row in kiln_arrow.DTYPES}
NAME_BY_NUMPY = {row.numpy: row.name for row in kiln_arrow.DTYPES}

# Rules for what an encoder is given; no bytes can break them, so test_encoder_refusals.py has their cases.
ENCODER_RULES = {"entry", "name", "array", "masked", "device", "layout", "value", "range", "field", "buffer"}


def document(kind):
    return json.loads((GOLDEN / f"{kind}.json").read_text(encoding="utf-8"))


def cases(kind, result):
    return [pytest.param(case, id=case["id"]) for case in document(kind)["cases"] if case["result"] == result]


def described(tensors):
    """The tensors of a directory in the words of the golden files."""
    out = []
    for name, tensor in tensors:
        opaque = isinstance(tensor, Opaque)
        out.append(
            {
                "name": name,
                "dtype": NAME_BY_NUMPY[tensor.dtype],
                "shape": [str(dim) for dim in tensor.shape],
                "layout": tensor.layout if opaque else None,
                "data": (bytes(tensor.data) if opaque else tensor.tobytes()).hex(),
            }
        )
    return out


def built(description):
    """Tensors for the encoder from the words of the golden files."""
    out = []
    for entry in description:
        dtype, shape = NUMPY_BY_NAME[entry["dtype"]], tuple(int(dim) for dim in entry["shape"])
        data = bytes.fromhex(entry["data"])
        if entry["layout"] is not None:
            tensor = Opaque(dtype, shape, entry["layout"], data)
        elif data:
            tensor = np.frombuffer(data, dtype).reshape(shape)
        else:
            tensor = np.empty(shape, dtype)
        out.append((entry["name"], tensor))
    return out


def described_value(kind, value):
    match kind:
        case Leaf("bool" | "str"):
            return value
        case Leaf("bytes"):
            return value.hex()
        case Leaf("tensors"):
            return described(value.tensors)
        case Leaf("f32"):
            return f"{int(value.view(np.uint32)):#010x}"
        case Leaf("f64"):
            return f"{int(np.float64(value).view(np.uint64)):#018x}"
        case Leaf():
            return str(value)
        case List(item):
            return [described_value(item, entry) for entry in value]
        case Dict(item):
            return [[key, described_value(item, entry)] for key, entry in value.items()]
        case Option(inner):
            return None if value is None else {"some": described_value(inner, value)}
        case Struct(fields):
            assert list(value) == [name for name, _ in fields]
            return [[name, described_value(field, value[name])] for name, field in fields]


def built_value(kind, value):
    match kind:
        case Leaf("bool" | "str"):
            return value
        case Leaf("bytes"):
            return bytes.fromhex(value)
        case Leaf("tensors"):
            return built(value)
        case Leaf("f32"):
            return np.uint32(int(value, 16)).view(np.float32)
        case Leaf("f64"):
            return float(np.uint64(int(value, 16)).view(np.float64))
        case Leaf():
            return int(value)
        case List(item):
            return [built_value(item, entry) for entry in value]
        case Dict(item):
            return {key: built_value(item, entry) for key, entry in reversed(value)}
        case Option(inner):
            return None if value is None else built_value(inner, value["some"])
        case Struct(fields):
            given = dict(value)
            return {name: built_value(field, given[name]) for name, field in reversed(fields)}


@pytest.mark.parametrize("case", cases("kiln-directory", "valid"))
def test_a_golden_directory_decodes_and_encodes(case):
    data = bytes.fromhex(case["hex"])
    directory = kiln_arrow.decode(data)
    assert described(directory.tensors) == case["tensors"]
    assert kiln_arrow.encode(directory) == data
    assert kiln_arrow.encode(built(case["tensors"])) == data
    assert kiln_arrow.encoded_size(directory) == len(data)
    target = bytearray(b"\xff" * (len(data) + 1))
    assert kiln_arrow.encode_into(built(case["tensors"]), target) == len(data)
    assert target == data + b"\xff"


@pytest.mark.parametrize("as_buffer", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)])
@pytest.mark.parametrize("case", cases("kiln-directory", "refused"))
def test_a_golden_directory_is_refused_for_its_rule(case, as_buffer):
    for function in (kiln_arrow.decode, kiln_arrow.validate):
        with pytest.raises(KilnError) as caught:
            function(as_buffer(bytes.fromhex(case["hex"])))
        error = caught.value
        found = {name: getattr(error, name) for name in ("code", "rule", "offset", "tensor", "name")}
        assert found == {name: case[name] for name in found}


@pytest.mark.parametrize("case", cases("kiln-typetext", "valid"))
def test_a_golden_type_text_is_parsed_and_hashed(case):
    parsed = kiln_arrow.parse_type(case["text"])
    assert list(tokens(parsed)) == case["tokens"]
    assert kiln_arrow.format_type(parsed) == case["text"]
    assert kiln_arrow.schema_hash(case["text"]) == int(case["hash"], 16)


@pytest.mark.parametrize("case", cases("kiln-typetext", "refused"))
def test_a_golden_type_text_is_refused_for_its_rule(case):
    for function in (
        kiln_arrow.parse_type,
        kiln_arrow.schema_hash,
        lambda text: kiln_arrow.freeze(text, None),
        lambda text: kiln_arrow.thaw(text, b""),
        lambda text: kiln_arrow.frame(text, None),
        lambda text: kiln_arrow.unframe(text, b""),
    ):
        with pytest.raises(KilnError) as caught:
            function(case["text"])
        assert (caught.value.code, caught.value.rule, caught.value.offset) == ("TYPE", case["rule"], case["offset"])


@pytest.mark.parametrize(
    ("kind", "case"),
    [pytest.param(kind, *case.values, id=case.id) for kind in KINDS[2:] for case in cases(kind, "valid")],
)
def test_a_golden_value_is_thawed_and_frozen(kind, case):
    write, read = FUNCTIONS[kind]
    data = bytes.fromhex(case["hex"])
    parsed = kiln_arrow.parse_type(case["type"])
    value = read(case["type"], data)
    assert described_value(parsed, value) == case["value"]
    assert write(case["type"], value) == data
    assert write(case["type"], built_value(parsed, case["value"])) == data


@pytest.mark.parametrize(
    ("kind", "case"),
    [pytest.param(kind, *case.values, id=case.id) for kind in KINDS[2:] for case in cases(kind, "refused")],
)
def test_a_golden_value_is_refused_for_its_rule(kind, case):
    _, read = FUNCTIONS[kind]
    with pytest.raises(KilnError) as caught:
        read(case["type"], bytes.fromhex(case["hex"]))
    error = caught.value
    found = {name: getattr(error, name) for name in ("code", "rule", "offset", "path")}
    assert found == {name: case[name] for name in found}


FUNCTIONS = {
    "kiln-frozen": (kiln_arrow.freeze, kiln_arrow.thaw),
    "kiln-frame": (kiln_arrow.frame, kiln_arrow.unframe),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_golden_file_follows_its_schema(kind):
    schema = json.loads((GOLDEN / "schema-kiln.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document(kind))


def test_every_dtype_has_a_golden_case():
    used = {
        tensor["dtype"]
        for case in document("kiln-directory")["cases"]
        if case["result"] == "valid"
        for tensor in case["tensors"]
        if tensor["layout"] is None and tensor["data"]
    }
    assert used == {row.name for row in kiln_arrow.DTYPES}


def test_every_leaf_word_has_a_golden_case():
    texts = {case["text"] for case in document("kiln-typetext")["cases"] if case["result"] == "valid"}
    assert set(LEAF_WORDS) <= texts
    kinds = {case["type"] for case in document("kiln-frozen")["cases"] if case["result"] == "valid"}
    assert set(LEAF_WORDS) <= kinds


def test_every_rule_and_code_has_a_golden_case():
    refused = [case for kind in KINDS for case in document(kind)["cases"] if case["result"] == "refused"]
    assert {case["rule"] for case in refused} == set(kiln_arrow.RULES) - ENCODER_RULES
    assert {case["code"] for case in refused} == {"TYPE", "SCHEMA", "EOF"}


def test_the_published_cases_are_there():
    published = {case["id"] for kind in KINDS for case in document(kind)["cases"] if "published" in case["flags"]}
    assert published == {
        "kiln-v2-empty",
        "kiln-v2-f8-pair",
        "kiln-v2-framed",
        "kiln-v2-nonzero-pad",
        "kiln-v2-overlap",
        "kiln-v2-unaligned",
        "framed",
    }


def test_the_published_frame_is_reproduced_to_the_byte():
    framed = kiln_arrow.frame("struct{id:i64,batch:tensors,}", {"id": 7, "batch": {}})
    assert framed[:16].hex(" ") == "4b 4c 4e 30 00 00 00 00 82 0d 2f 55 c7 ad 8a e5"
    assert len(framed) == 88
    assert framed[24:] == kiln_arrow.encode({})


def test_the_readme_says_whose_fault_it_is():
    [data] = [bytes.fromhex(each["hex"]) for each in document("kiln-directory")["cases"] if each["id"] == EXAMPLE]
    for change, facts in (
        (data[:260] + b"\1" + data[261:], ("TYPE", "padding", 260, None, None)),
        (data[:90] + b"\0" + data[91:], ("TYPE", "dims", 128, 0, "x")),
        (data[:-1], ("EOF", "eof", 319, None, None)),
    ):
        with pytest.raises(KilnError) as caught:
            kiln_arrow.validate(change)
        error = caught.value
        assert (error.code, error.rule, error.offset, error.tensor, error.name) == facts


def generate(folder, *arguments):
    script = folder / "generate_kiln.py"
    script.write_bytes((GOLDEN / "generate_kiln.py").read_bytes())
    return subprocess.run(
        [sys.executable, script, *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(GOLDEN)},
        text=True,
        check=False,
    )


def test_the_golden_files_are_what_the_generator_writes(tmp_path):
    assert generate(tmp_path).returncode == 0
    for kind in KINDS:
        assert (tmp_path / f"{kind}.json").read_bytes() == (GOLDEN / f"{kind}.json").read_bytes()


def test_the_check_fails_on_a_missing_or_changed_file_and_writes_nothing(tmp_path):
    assert generate(tmp_path).returncode == 0
    assert generate(tmp_path, "--check").returncode == 0
    (tmp_path / "kiln-frame.json").unlink()
    (tmp_path / "kiln-frozen.json").write_text("{}")
    result = generate(tmp_path, "--check")
    assert result.returncode == 1
    assert "kiln-frame.json" in result.stderr
    assert "kiln-frozen.json" in result.stderr
    assert not (tmp_path / "kiln-frame.json").exists()
    assert (tmp_path / "kiln-frozen.json").read_text() == "{}"
