"""A second decoder, written from the specification alone, agrees with the package on every byte and every refusal.

Both are asked about the same bytes: what they accept must have the same tensors or value, and what they refuse the same
code, rule, offset, tensor and name.
"""

import random
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from reference import kiln

import kiln_arrow
from kiln.mutations import TYPE_TEXTS, mutated, seeds
from kiln.test_golden import NAME_BY_NUMPY, cases
from kiln_arrow import Directory, KilnError, Opaque


def seen(tensors):
    """The tensors of a directory as the second decoder tells them."""
    entries = []
    for name, tensor in tensors:
        opaque = isinstance(tensor, Opaque)
        payload = bytes(tensor.data) if opaque else tensor.tobytes()
        layout = tensor.layout if opaque else ""
        entries.append(kiln.Entry(name or "", layout, NAME_BY_NUMPY[tensor.dtype], tensor.shape, payload))
    return entries


def told(value):
    """A thawed value as the second decoder tells it."""
    match value:
        case Directory():
            return seen(value.tensors)
        case np.float32():
            return kiln.Float(4, int(value.view(np.uint32)))
        case float():
            return kiln.Float(8, *struct.unpack("<Q", struct.pack("<d", value)))
        case list():
            return [told(item) for item in value]
        case dict():
            return {key: told(item) for key, item in value.items()}
    return value


def answer(function, *arguments):
    """What a decoder makes of its arguments, as text, so that 1 is not True and the order of fields counts."""
    try:
        return "accepted", repr(function(*arguments))
    except (KilnError, kiln.RefusedError) as refusal:
        return refusal.code, refusal.rule, refusal.offset, refusal.tensor, refusal.name


def agree_on_directory(data):
    ours = answer(lambda: seen(kiln_arrow.decode(data).tensors))
    assert ours == answer(kiln.check_directory, data)
    return ours


def agree_on_type_text(text):
    ours = answer(kiln_arrow.schema_hash, text)
    assert ours == answer(kiln.schema_hash, text)
    return ours


def agree_on_value(text, data):
    ours = answer(lambda: told(kiln_arrow.thaw(text, data)))
    assert ours == answer(kiln.thaw, text, data)
    return ours


def agree_on_frame(text, data):
    ours = answer(lambda: told(kiln_arrow.unframe(text, data)))
    assert ours == answer(kiln.unframe, text, data)
    return ours


AGREE = {
    "kiln-directory": lambda case: agree_on_directory(bytes.fromhex(case["hex"])),
    "kiln-typetext": lambda case: agree_on_type_text(case["text"]),
    "kiln-frozen": lambda case: agree_on_value(case["type"], bytes.fromhex(case["hex"])),
    "kiln-frame": lambda case: agree_on_frame(case["type"], bytes.fromhex(case["hex"])),
}


@pytest.mark.golden
@pytest.mark.parametrize("kind", AGREE)
@pytest.mark.parametrize("result", ["valid", "refused"])
def test_both_agree_with_every_golden_case(kind, result):
    for (case,) in (each.values for each in cases(kind, result)):
        code, *rest = AGREE[kind](case)
        assert code == case.get("code", "TYPE" if result == "refused" else "accepted"), case["id"]
        if result == "refused":
            facts = [case[name] for name in ("rule", "offset", "tensor", "name") if name in case]
            assert rest[: len(facts)] == facts, case["id"]


def test_both_agree_on_structured_mutations():
    rng = random.Random(31)
    pool = [seed for seed in seeds() if seed[0] < 4]
    agreed = Counter()
    for _ in range(12_000):
        data = mutated(rng.choice(pool), rng)
        kind, data = data[0], data[1:]
        if kind == 0:
            outcome = agree_on_directory(data)
        elif kind == 1:
            outcome = agree_on_type_text(data.decode("utf-8", "replace"))
        else:
            text = TYPE_TEXTS[data[0] % len(TYPE_TEXTS)]
            outcome = (agree_on_value if kind == 2 else agree_on_frame)(text, data[1:])
        agreed[outcome[0] if outcome[0] == "accepted" else outcome[1]] += 1
    assert len(agreed) >= 25
    assert agreed["accepted"] >= 100


# Named and unnamed, with gaps and tails, without elements, opaque, bool; and no tensors at all.
DIRECTORIES = [
    kiln_arrow.encode([("a", np.uint16([1, 2])), ("bc", np.array([[True, False]])), (None, np.zeros((2, 0, 3), "f4"))]),
    kiln_arrow.encode(
        [("q", Opaque("f8", (2**40, 9), "coo", b"123")), (None, np.complex64(1)), ("\u00e4", np.bool_(1))]
    ),
    kiln_arrow.encode({}),
]
BYTES = (0, 1, 2, 3, 9, 18, 63, 64, 128, 255)


@pytest.mark.parametrize("data", DIRECTORIES, ids=len)
def test_both_agree_on_every_byte_of_a_directory(data):
    rng = random.Random(len(data))
    for at in range(len(data)):
        for byte in {data[at] ^ 1, data[at] ^ 128, rng.choice(BYTES)}:
            agree_on_directory(data[:at] + bytes([byte]) + data[at + 1 :])


@pytest.mark.parametrize("data", DIRECTORIES, ids=len)
def test_both_report_the_same_of_two_and_three_faults(data):
    rng = random.Random(len(data))
    fields = [(0, 4), (4, 2), (6, 2), (8, 8), (16, 8), (24, 8), (40, 1)]
    for at in range(64, 64 + 128 * int.from_bytes(data[8:16], "little"), 128):
        fields += [(at + start, size) for start, size in ((0, 8), (8, 8), (16, 4), (20, 4), (24, 2), (26, 1), (40, 1))]
        fields += [(at + 64 + 8 * dim, 8) for dim in range(8)]
    fields += [(at, 1) for at in range(fields[-1][0] + 8, len(data))]
    for _ in range(3000):
        broken = bytearray(data)
        for _ in range(rng.choice((2, 3))):
            at, size = rng.choice(fields)
            number = rng.choice((0, 1, 2, 3, 64, 2**32, 2**57, 2**61, 2**63, 2**64 - 1, rng.getrandbits(64)))
            broken[at : at + size] = (number % (1 << 8 * size)).to_bytes(size, "little")
        agree_on_directory(bytes(broken) + bytes(rng.choice((0, 0, 0, 1, 64))))


@pytest.mark.parametrize("data", DIRECTORIES, ids=len)
def test_both_agree_on_every_prefix_and_on_longer_bytes(data):
    for length in range(len(data)):
        assert agree_on_directory(data[:length])[:3] == ("EOF", "eof", length)
    for more in (b"\0", bytes(64), data):
        assert agree_on_directory(data + more)[:3] == ("TYPE", "trailing", len(data))


# --- Types, values and frames, made here and not by the package -------------------------------------------------------


def some_type(rng, depth=4, in_option=False):
    kinds = ["leaf", "list", "dict", "struct", *([] if in_option else ["option"])]
    match rng.choice(kinds) if depth else "leaf":
        case "leaf":
            leaves = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "str", "bytes")
            return rng.choice((*leaves, "tensors"))
        case "struct":
            names = rng.sample(("a", "_", "b9", "str", "list", "Z"), rng.randrange(1, 4))
            return "struct{" + "".join(f"{name}:{some_type(rng, depth - 1)}," for name in names) + "}"
        case word:
            return f"{word}{{{some_type(rng, depth - 1, word == 'option')},}}"


TEXTS = ("", "a", "b", "ab", "\0", "\u00e4", "\uffff", "\U00010000")


def some_bytes(kind, rng):
    """Bytes of a value of a type the second decoder has read."""

    def text():
        raw = rng.choice(TEXTS).encode()
        return len(raw).to_bytes(8, "little") + raw

    def count(number):
        return number.to_bytes(8, "little")

    match kind.kind:
        case "bool":
            return rng.choice((b"\0", b"\1"))
        case "option":
            return b"\1" + some_bytes(kind.item, rng) if rng.random() < 0.7 else b"\0"
        case "str" | "bytes":
            return text()
        case "tensors":
            return rng.choice(DIRECTORIES)
        case "list":
            items = [some_bytes(kind.item, rng) for _ in range(rng.randrange(3))]
            return count(len(items)) + b"".join(items)
        case "dict":
            keys = sorted({text() for _ in range(rng.randrange(4))}, key=lambda key: key[8:])
            return count(len(keys)) + b"".join(key + some_bytes(kind.item, rng) for key in keys)
        case "struct":
            return b"".join(some_bytes(field, rng) for _, field in kind.fields)
        case number:
            return rng.randbytes(int(number[1:]) // 8)


def test_both_agree_on_values_and_frames_and_what_is_broken_in_them():
    rng = random.Random(32)
    for _ in range(1500):
        text = some_type(rng)
        kind = kiln.parse_type(text)
        value = some_bytes(kind, rng)
        frame = b"KLN0" + bytes(4) + kiln.schema_hash(text).to_bytes(8, "little") + value
        for data, agree, write in (
            (value, agree_on_value, kiln_arrow.freeze),
            (frame, agree_on_frame, kiln_arrow.frame),
        ):
            read = kiln_arrow.thaw if write is kiln_arrow.freeze else kiln_arrow.unframe
            assert agree(text, data)[0] == "accepted"
            assert write(text, read(text, data)) == data
            assert agree(text, data[: rng.randrange(len(data))])[0] == "EOF"
            assert agree(text, data + rng.randbytes(rng.randrange(1, 9)))[:3] == ("TYPE", "trailing", len(data))
            for _ in range(2):
                broken = bytearray(data)
                for _ in range(rng.choice((1, 1, 2))):
                    broken[rng.randrange(len(broken))] = rng.choice(BYTES)
                agree(text, bytes(broken))


def test_both_agree_on_broken_type_texts():
    rng = random.Random(33)
    pieces = (
        "struct{",
        "list{",
        "dict{",
        "option{",
        "}",
        ",",
        ":",
        "i8",
        "u64",
        "str",
        "x",
        "_",
        "0",
        " ",
        "\n",
        "\u00e4",
    )
    for _ in range(3000):
        text = some_type(rng)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(text) + 1)
            match rng.randrange(3):
                case 0:
                    text = text[:at] + rng.choice(pieces) + text[at:]
                case 1:
                    text = text[:at] + text[at + rng.randrange(1, 5) :]
                case 2:
                    text = text[:at]
        agree_on_type_text(text)


@pytest.mark.parametrize("depth", [62, 63, 64, 65])
def test_both_agree_where_types_are_deepest(depth):
    for word in ("list{", "dict{", "struct{a:", "struct{a:i8,b:"):
        for inside in ("i8", "option{i8,}", "option{option{i8,},}", "struct{}", "struct{a:i8,a:i8,}", "list", "x"):
            agree_on_type_text(word * depth + inside + ",}" * depth)


# --- The second decoder itself ----------------------------------------------------------------------------------------


def test_the_second_decoder_imports_neither_package_nor_numpy():
    script = "import sys; sys.path.insert(0, sys.argv[1]); from reference import kiln; print(*sys.modules)"
    golden = str(Path(__file__).parents[2] / "golden")
    result = subprocess.run([sys.executable, "-c", script, golden], capture_output=True, text=True, check=True)
    assert {"kiln_arrow", "arrow_digest", "numpy", "ml_dtypes"}.isdisjoint(result.stdout.split())


def test_the_second_decoder_reads_the_published_frame():
    data = bytes.fromhex("4b 4c 4e 30 00 00 00 00 82 0d 2f 55 c7 ad 8a e5") + struct.pack("<q", 7)
    empty = b"KLNT" + struct.pack("<HHQQQ", 2, 1, 0, 0, 0) + bytes(32)
    assert kiln.unframe("struct{id:i64,batch:tensors,}", data + empty) == {"id": 7, "batch": []}
    with pytest.raises(kiln.RefusedError, match="SCHEMA schema_hash at 8"):
        kiln.unframe("struct{batch:tensors,id:i64,}", data)
