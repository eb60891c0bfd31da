"""Multihash texts: what is written is read, and nothing else is."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import base58
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arrow_digest import ArrowDigestError, Multihash, MultihashError, codes
from arrow_digest.codes import hash_code
from arrow_digest.multihash import BASES
from arrow_digest.rules.chosen import chosen_rule, rule_of
from helpers.examples import examples

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "multihash.json"

CODES = {
    0x12: "sha2-256",
    0x16: "sha3-256",
    0x1E: "blake3",
    0x300012: "arrow0-sha2-256",
    0x300016: "arrow0-sha3-256",
    0x30001E: "arrow0-blake3",
}
PREFIXES = dict(zip(BASES, "fFbBzmuU", strict=True))
IGNORE_CASE = "fFbB"

digests = st.binary(min_size=32, max_size=32)
multihashes = st.builds(Multihash, st.sampled_from(sorted(CODES)), digests)
bases = st.sampled_from(BASES)


def unsigned_varint(number):
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + unsigned_varint(rest) if rest else bytes([low])


def parse(value):
    """What a value is read as, and no refusal; or nothing, and the refusal."""
    try:
        return Multihash.parse(value), None
    except MultihashError as error:
        return None, error


def hex_text(raw):
    return "f" + raw.hex()


@given(multihashes, bases)
def test_what_is_written_in_any_base_is_read_back(multihash, base):
    text = multihash.encode(base)
    assert text[0] == PREFIXES[base]
    assert Multihash.parse(text) == multihash
    assert Multihash.parse(bytes(multihash)) == multihash


@given(multihashes)
def test_bytes_are_code_length_and_digest(multihash):
    raw = unsigned_varint(multihash.code) + b"\x20" + multihash.digest
    assert bytes(multihash) == raw
    assert str(multihash) == multihash.encode() == "f" + raw.hex()
    assert multihash.name == CODES[multihash.code]
    assert multihash.is_logical == multihash.name.startswith("arrow0-")
    for view in (bytearray(raw), memoryview(raw)):
        assert Multihash.parse(view) == multihash


@given(multihashes)
def test_every_base_writes_what_the_libraries_write(multihash):
    raw = bytes(multihash)
    assert {multihash.encode(base) for base in BASES} == {
        "f" + raw.hex(),
        "F" + raw.hex().upper(),
        "b" + base64.b32encode(raw).decode().lower().rstrip("="),
        "B" + base64.b32encode(raw).decode().rstrip("="),
        "z" + base58.b58encode(raw).decode(),
        "m" + base64.b64encode(raw).decode().rstrip("="),
        "u" + base64.urlsafe_b64encode(raw).decode().rstrip("="),
        "U" + base64.urlsafe_b64encode(raw).decode(),
    }


def test_every_logical_code_has_a_rule_of_its_name_and_code():
    logical = [entry for entry in codes.CODES.values() if entry.rule_set is not None]
    assert {entry.rule_set for entry in logical} == set(codes.RULE_SETS)
    for entry in logical:
        rule = rule_of(Multihash(entry.code, bytes(32)))
        assert (rule.name, rule.code, rule.rule_set, rule.function) == (
            entry.name,
            entry.code,
            entry.rule_set,
            entry.function,
        )
        assert rule is chosen_rule(entry.function.name, rule_set=entry.rule_set)
    with pytest.raises(ValueError, match="expected a logical hash"):
        rule_of(Multihash(0x16, bytes(32)))


def test_the_codes_are_those_of_the_open_data_fabric():
    assert hash_code("arrow0-sha3-256").code == 0x300016
    zeros = bytes(32)
    assert str(Multihash(0x16, zeros)).startswith("f1620")
    assert str(Multihash(0x300016, zeros)).startswith("f9680c00120")
    assert {code: Multihash(code, zeros).name for code in CODES} == CODES


@given(multihashes, bases, st.data())
@settings(max_examples=examples(400))
def test_a_text_with_one_other_character_is_refused_or_another_multihash(multihash, base, data):
    text = multihash.encode(base)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.one_of(st.characters(max_codepoint=127), st.characters()).filter(lambda c: c != text[at]))
    changed = text[:at] + other + text[at + 1 :]
    found, refusal = parse(changed)
    if refusal:
        assert refusal.value == changed
    else:
        same_but_for_case = changed.lower() == text.lower() and base in BASES[:4]
        assert (found == multihash) == same_but_for_case
        assert is_the_text_of(found, changed)


def is_the_text_of(multihash, text):
    """Whether a text is the one text of its bytes in its base, but for the case of hex and base32."""
    written = {PREFIXES[base]: multihash.encode(base) for base in BASES}[text[0]]
    return written == text or (text[0] in IGNORE_CASE and written[1:].lower() == text[1:].lower())


@given(multihashes, bases, st.data())
def test_a_text_with_something_put_in_or_left_out_is_refused(multihash, base, data):
    text = multihash.encode(base)
    at = data.draw(st.integers(1, len(text)))
    put_in = data.draw(st.text(min_size=1, max_size=3))
    with pytest.raises(MultihashError):
        Multihash.parse(text[:at] + put_in + text[at:])
    with pytest.raises(MultihashError):
        Multihash.parse(text[: at - 1] + text[at:])


@given(multihashes, bases)
def test_every_beginning_of_a_text_is_refused(multihash, base):
    text = multihash.encode(base)
    for length in range(len(text)):
        with pytest.raises(MultihashError):
            Multihash.parse(text[:length])


@given(st.text(max_size=150))
def test_any_text_is_refused_or_the_text_of_its_bytes(text):
    found, refusal = parse(text)
    if refusal:
        assert refusal.rule in ("base", "text", "varint", "code", "length", "trailing")
    else:
        assert is_the_text_of(found, text)


@given(st.binary(max_size=48))
def test_any_bytes_are_refused_or_the_bytes_of_their_multihash(raw):
    found, refusal = parse(raw)
    if refusal:
        assert refusal.value == raw
    else:
        assert bytes(found) == raw


@given(multihashes, st.sampled_from(BASES[:4]), st.data())
def test_hex_and_base32_ignore_case(multihash, base, data):
    text = multihash.encode(base)
    upper = data.draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    mixed = text[0] + "".join(c.upper() if up else c.lower() for c, up in zip(text, upper, strict=True))[1:]
    assert Multihash.parse(mixed) == multihash


@given(multihashes, st.sampled_from(BASES[4:]))
def test_the_other_bases_do_not_ignore_case(multihash, base):
    text = multihash.encode(base)
    swapped = text[0] + text[1:].swapcase()
    if swapped != text:
        assert parse(swapped)[0] != multihash


@given(multihashes, bases, st.sampled_from([" ", "\n", "\r\n", "\t", "\0", "=", "==", "\u00a0", "\ufeff"]))
def test_space_and_padding_around_a_text_are_refused(multihash, base, extra):
    text = multihash.encode(base)
    for changed in (text + extra, extra + text, text[0] + extra + text[1:]):
        with pytest.raises(MultihashError):
            Multihash.parse(changed)


@given(multihashes)
def test_padding_belongs_to_base64urlpad_alone(multihash):
    padded = multihash.encode("base64urlpad")
    bare = multihash.encode("base64url")
    if padded.endswith("="):
        for text in ("U" + bare[1:], "u" + padded[1:], "m" + multihash.encode("base64")[1:] + "="):
            with pytest.raises(MultihashError) as raised:
                Multihash.parse(text)
            assert raised.value.rule == "text"


@pytest.mark.parametrize("base", ["base32", "base32upper", "base64", "base64url", "base64urlpad"])
def test_bits_that_stand_for_nothing_must_be_zero(base):
    alphabet = {
        "base32": "abcdefghijklmnopqrstuvwxyz234567",
        "base32upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "base64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "base64url": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    }[base.removesuffix("pad")]
    text = Multihash(0x16, bytes(32)).encode(base)
    body = text.rstrip("=")
    padding = text[len(body) :]
    spare_bits = {32: (len(body) - 1) * 5 % 8, 64: (len(body) - 1) * 6 % 8}[len(alphabet)]
    assert spare_bits > 0
    for spare in range(1, 1 << spare_bits):
        last = alphabet[alphabet.index(body[-1]) + spare]
        with pytest.raises(MultihashError) as raised:
            Multihash.parse(body[:-1] + last + padding)
        assert raised.value.rule == "text"


@pytest.mark.parametrize("letter", ["\u0130", "\u0131", "\u017f", "\u212a", "\uff21", "\u0660"])
@pytest.mark.parametrize("base", BASES)
def test_a_letter_that_folds_to_an_ascii_one_is_refused(letter, base):
    text = Multihash(0x16, bytes(32)).encode(base)
    for changed in (letter + text[1:], text[:-1] + letter, text[0] + letter + text[2:]):
        with pytest.raises(MultihashError):
            Multihash.parse(changed)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("base", ""),
        ("base", "1620" + "00" * 32),
        ("base", "a" * 64),
        ("base", "k" + "0" * 50),
        ("base", "\0"),
        ("text", "f162"),
        ("text", "f16g0" + "00" * 32),
        ("text", "f" + "0" * 5000),
        ("text", "z0OIl"),
        ("varint", b""),
        ("varint", b"\x96\x80\xc0"),
        ("varint", b"\x96\x00" + b"\x20" + bytes(32)),
        ("varint", b"\x16\xa0\x00" + bytes(32)),
        ("varint", b"\xff" * 10),
        ("varint", b"\x16"),
        ("code", b"\x00\x00"),
        ("code", b"\x11\x14" + bytes(20)),
        ("code", b"\x17\x20" + bytes(32)),
        ("code", b"\x13\x40" + bytes(64)),
        ("code", unsigned_varint(0x300017) + b"\x20" + bytes(32)),
        ("code", unsigned_varint((1 << 63) - 1) + b"\x20" + bytes(32)),
        ("length", b"\x16\x1f" + bytes(31)),
        ("length", b"\x16\x21" + bytes(33)),
        ("length", b"\x16\x00"),
        ("length", b"\x16\x20" + bytes(31)),
        ("length", b"\x16" + unsigned_varint((1 << 63) - 1) + bytes(32)),
        ("trailing", b"\x16\x20" + bytes(33)),
    ],
)
def test_a_refusal_names_its_rule(rule, value):
    for given_value in [value] if isinstance(value, str) else [value, hex_text(value)]:
        with pytest.raises(MultihashError) as raised:
            Multihash.parse(given_value)
        assert raised.value.rule == rule
        assert raised.value.value == given_value
        assert isinstance(raised.value, ArrowDigestError)
        assert isinstance(raised.value, ValueError)


def test_a_bare_hex_digest_gets_a_hint():
    with pytest.raises(MultihashError, match="f1620"):
        Multihash.parse("00" * 32)


def test_a_number_longer_than_nine_bytes_is_refused_whatever_it_says():
    raw = b"\x96" + b"\x80" * 9 + b"\x00" + b"\x20" + bytes(32)
    with pytest.raises(MultihashError) as raised:
        Multihash.parse(raw)
    assert raised.value.rule == "varint"


def test_a_huge_text_is_refused_by_its_length():
    for prefix in PREFIXES.values():
        with pytest.raises(MultihashError, match="at most"):
            Multihash.parse(prefix + "1" * 5_000_000)


@pytest.mark.parametrize(("code", "digest"), [(0x11, bytes(20)), (0x16, b""), (0x16, bytes(31)), (0x16, bytes(33))])
def test_a_multihash_that_could_not_be_read_back_cannot_be_made(code, digest):
    with pytest.raises(MultihashError):
        Multihash(code, digest)


def test_multihashes_of_one_digest_under_two_codes_differ():
    found = {Multihash(code, bytes(32)) for code in CODES}
    assert len(found) == len(CODES)
    assert Multihash.parse("F1620" + "00" * 32) in found


def test_an_unknown_base_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="base58btc"):
        Multihash(0x16, bytes(32)).encode("base36")


def golden_cases():
    return {case["id"]: case for case in json.loads(GOLDEN.read_text("utf-8"))["cases"]}


def test_the_golden_file_knows_the_same_codes():
    codes = json.loads(GOLDEN.read_text("utf-8"))["codes"]
    assert {int(code, 16): name for name, code in codes.items()} == CODES


@pytest.mark.golden
def test_the_golden_texts_are_read_or_refused():
    cases = golden_cases()
    assert {case["result"] for case in cases.values()} == {"valid", "refused"}
    for name, case in cases.items():
        found, refusal = parse(case["text"])
        if refusal:
            assert (name, case["result"]) == (name, "refused")
            assert (name, refusal.rule) == (name, case["rule"])
        else:
            assert (name, case["result"]) == (name, "valid")
            assert (name, found.name, found.code, found.digest.hex(), str(found), bytes(found).hex()) == (
                name,
                case["name"],
                int(case["code"], 16),
                case["digest"],
                case["base16"],
                case["bytes"],
            )


@pytest.mark.golden
def test_the_golden_bytes_are_read_or_refused_like_their_texts():
    for name, case in golden_cases().items():
        if "bytes" not in case:
            continue
        raw = bytes.fromhex(case["bytes"])
        if case["result"] == "valid":
            assert (name, Multihash.parse(raw)) == (name, Multihash.parse(case["text"]))
        else:
            with pytest.raises(MultihashError) as raised:
                Multihash.parse(raw)
            assert (name, raised.value.rule) == (name, case["rule"])


# --- Hashes as values -------------------------------------------------------------------------------------------------

TEXT = "f1220" + "ab" * 32


@pytest.mark.parametrize("kind", [str, bytes, bytearray, memoryview])
@pytest.mark.parametrize("is_same", [True, False])
def test_a_multihash_is_never_silently_unequal_to_text_or_bytes(kind, is_same):
    content = bytes.fromhex(TEXT[1:]) if is_same else b""
    other = (TEXT if is_same else "") if kind is str else kind(content)
    multihash = Multihash.parse(TEXT)
    for compare in (
        lambda: multihash == other,
        lambda: other == multihash,
        lambda: multihash != other,
        lambda: other != multihash,
        lambda: multihash in [other],
        lambda: other in (multihash,),
        lambda: [multihash].index(other),
        lambda: [other].count(multihash),
    ):
        with pytest.raises(TypeError, match=r"Multihash\.parse.*str\(\)"):
            compare()


def test_the_text_of_a_multihash_is_not_silently_missing_from_sets_and_dicts():
    multihash = Multihash.parse(TEXT)
    for look_up in (lambda: TEXT in {multihash}, lambda: multihash in {TEXT}, lambda: {multihash: 1}.get(TEXT)):
        with pytest.raises(TypeError, match=r"Multihash\.parse"):
            look_up()


def test_a_multihash_equals_multihashes_only_and_is_ordered_among_them():
    first, second, third = (Multihash(code, bytes([last]) * 32) for code, last in ((0x12, 2), (0x16, 0), (0x16, 1)))
    assert first == Multihash.parse(str(first)) == Multihash.parse(first.encode("base58btc"))
    assert len({first, Multihash.parse(str(first)), second}) == 2
    assert sorted([third, first, second]) == [first, second, third]
    assert first < second <= second < third
    assert third > second >= second > first
    for other in (None, 3, ("f",), object()):
        assert (first == other, first != other) == (False, True)
    for other in (TEXT, bytes(first), None, 3):
        with pytest.raises(TypeError):
            first < other  # noqa: B015 -- raises
        with pytest.raises(TypeError):
            sorted([first, other])


def test_a_multihash_is_shown_as_the_expression_that_makes_it():
    multihash = Multihash.parse(TEXT)
    assert repr(multihash) == f"Multihash.parse({TEXT!r})"
    assert eval(repr(multihash)) == multihash


@pytest.mark.parametrize("start", ["0", "f", "F", "b", "B"])
def test_a_bare_hex_digest_is_told_how_to_be_written_sha256_first(start):
    with pytest.raises(MultihashError) as caught:
        Multihash.parse(start + "c" * 63)
    assert caught.value.rule == "base"
    assert str(caught.value).index("f1220") < str(caught.value).index("f1620")
    assert "sha256sum" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sha256:" + "ab" * 32, "'f1220" + "ab" * 32),
        ("SHA-256=" + "AB" * 32, "'f1220" + "ab" * 32),
        ("sha3-256:" + "ab" * 32, "'f1620" + "ab" * 32),
        ("blake3:" + "ab" * 32, "'f1e20" + "ab" * 32),
        ("sha256:abcd", "64 hex digits"),
        ("sha512:" + "ab" * 64, "'sha512'"),
        ("md5:" + "ab" * 16, "'md5'"),
    ],
)
def test_a_digest_that_names_its_function_is_told_how_to_be_written(text, said):
    with pytest.raises(MultihashError) as caught:
        Multihash.parse(text)
    assert caught.value.rule == "base"
    assert said in str(caught.value)


@pytest.mark.parametrize(("digits", "name"), [(32, "MD5"), (40, "SHA-1"), (96, "SHA-384"), (128, "SHA-512")])
@pytest.mark.parametrize("start", ["0", "f", "b"])
def test_a_digest_of_another_length_is_told_that_no_function_here_makes_it(start, digits, name):
    with pytest.raises(MultihashError) as caught:
        Multihash.parse(start + "c" * (digits - 1))
    assert caught.value.rule == "base"
    assert f"{digits} hex digits, as many as {name} has" in str(caught.value)
