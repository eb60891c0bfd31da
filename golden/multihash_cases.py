"""The cases of multihash.json: texts that are multihashes of this project, and texts that are almost.

Encoders only, written from RFC 4648, the base58btc alphabet and the multiformats' varint; what a text is made of is
known because it is made here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

CODES = {
    "sha2-256": 0x12,
    "sha3-256": 0x16,
    "blake3": 0x1E,
    "arrow0-sha2-256": 0x300012,
    "arrow0-sha3-256": 0x300016,
    "arrow0-blake3": 0x30001E,
}
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

# sha3-256 of nothing; the arrow0 hash of {a: int32 [1, 2, 3], b: string ["a", "b", "c"]}; bytes that try the edges.
DIGESTS = {
    "nothing": "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
    "table": "5684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a",
    "zeros": "00" * 32,
    "ones": "ff" * 32,
}

RULES = {
    "base": "The first character names none of the eight multibase encodings f F b B z m u U; an empty text has none.",
    "text": (
        "The characters after the prefix are not what the encoding writes for any bytes: other characters, white "
        "space, odd or impossible length, padding that is missing or too much, trailing bits that are not zero."
    ),
    "varint": "The code or the length is no varint: cut short, not minimal, or longer than nine bytes.",
    "code": "The code is none of the six.",
    "length": "The declared digest length is not the one of the code (32), or fewer bytes follow than it declares.",
    "trailing": "Bytes follow the digest.",
}


def varint(number: int) -> bytes:
    data = b""
    while number > 127:
        data, number = data + bytes([number & 127 | 128]), number >> 7
    return data + bytes([number])


def base58(data: bytes) -> str:
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = BASE58[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


ENCODINGS: dict[str, tuple[str, Callable[[bytes], str]]] = {
    "base16": ("f", bytes.hex),
    "base16upper": ("F", lambda data: data.hex().upper()),
    "base32": ("b", lambda data: base64.b32encode(data).decode().rstrip("=").lower()),
    "base32upper": ("B", lambda data: base64.b32encode(data).decode().rstrip("=")),
    "base58btc": ("z", base58),
    "base64": ("m", lambda data: base64.b64encode(data).decode().rstrip("=")),
    "base64url": ("u", lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")),
    "base64urlpad": ("U", lambda data: base64.urlsafe_b64encode(data).decode()),
}


def encode(encoding: str, data: bytes) -> str:
    prefix, encoder = ENCODINGS[encoding]
    return prefix + encoder(data)


def multihash(name: str = "arrow0-sha3-256", digest: str = "table") -> bytes:
    data = bytes.fromhex(DIGESTS[digest])
    return varint(CODES[name]) + varint(len(data)) + data


def valid() -> list[dict[str, Any]]:
    cases = []

    def add(id_: str, comment: str, text: str, name: str, digest: str) -> None:
        data = multihash(name, digest)
        case = {"id": id_, "comment": comment, "result": "valid", "text": text, "bytes": data.hex()}
        case |= {"name": name, "code": f"0x{CODES[name]:x}", "digest": DIGESTS[digest], "base16": "f" + data.hex()}
        cases.append(case)

    for name in CODES:
        for encoding in ENCODINGS:
            digest = "table" if name.startswith("arrow0") else "nothing"
            comment = f"{name} in {encoding}."
            add(f"{name}-{encoding}", comment, encode(encoding, multihash(name, digest)), name, digest)
    for digest in ("zeros", "ones"):
        for encoding in ENCODINGS:
            comment = f"A digest of {digest} in {encoding}."
            add(f"{digest}-{encoding}", comment, encode(encoding, multihash("sha2-256", digest)), "sha2-256", digest)
    hex_text, base32_text = (encode(e, multihash())[1:] for e in ("base16", "base32"))
    for id_, comment, text in (
        ("base16-upper-digits", "Base16 ignores case, whatever its prefix says.", "f" + hex_text.upper()),
        ("base16upper-lower-digits", "Base16 ignores case, whatever its prefix says.", "F" + hex_text),
        ("base16-mixed-case", "Base16 ignores case, digit by digit.", "f" + hex_text[:20] + hex_text[20:].upper()),
        ("base32-upper-digits", "Base32 ignores case, whatever its prefix says.", "b" + base32_text.upper()),
        ("base32upper-lower-digits", "Base32 ignores case, whatever its prefix says.", "B" + base32_text),
        (
            "base32-mixed-case",
            "Base32 ignores case, digit by digit.",
            "b" + base32_text[:20] + base32_text[20:].upper(),
        ),
    ):
        add(id_, comment, text, "arrow0-sha3-256", "table")
    return cases


def refused() -> list[dict[str, Any]]:
    data = multihash()
    short = multihash("sha3-256")
    digest = bytes.fromhex(DIGESTS["table"])
    hex_text = encode("base16", data)
    b32, b58, b64, url, pad = (encode(e, data) for e in ("base32", "base58btc", "base64", "base64url", "base64urlpad"))
    cases = [
        {"id": id_, "comment": comment, "result": "refused", "rule": rule, "text": text}
        for id_, rule, comment, text in (
            ("empty", "base", "No text.", ""),
            ("no-prefix", "base", "Hex without its prefix.", hex_text[1:]),
            ("prefix-unknown", "base", "A prefix of no encoding.", "x" + hex_text[1:]),
            (
                "prefix-base64pad",
                "base",
                "M, base64 with padding, is not of final status.",
                "M" + base64.b64encode(data).decode(),
            ),
            ("prefix-base36", "base", "k, base36, is not of final status.", "k" + hex_text[1:]),
            ("prefix-base58flickr", "base", "Z, base58 with another alphabet, is not of final status.", "Z" + b58[1:]),
            (
                "prefix-base32pad",
                "base",
                "c, base32 with padding, is not of final status.",
                "c" + base64.b32encode(data).decode().lower(),
            ),
            (
                "prefix-base2",
                "base",
                "0, binary digits, is not of final status.",
                "0" + "".join(f"{b:08b}" for b in data),
            ),
            ("prefix-0x", "base", "0x is how programs write hex.", "0x" + hex_text[1:]),
            ("white-space-before", "base", "A space before the text.", " " + hex_text),
            ("newline-before", "base", "A line break before the text.", "\n" + hex_text),
            ("white-space-after", "text", "A space after the text.", hex_text + " "),
            ("newline-after", "text", "A line break after the text.", hex_text + "\n"),
            (
                "white-space-inside",
                "text",
                "A space between two bytes, which some hex decoders skip.",
                hex_text[:5] + " " + hex_text[5:],
            ),
            ("base16-odd", "text", "One digit too few.", hex_text[:-1]),
            ("base16-other-character", "text", "A letter that is no digit.", hex_text[:-1] + "g"),
            (
                "base16-underscore",
                "text",
                "An underscore, which some integer parsers skip.",
                hex_text[:9] + "_0" + hex_text[11:],
            ),
            ("base16-fullwidth-digit", "text", "A digit that is one in Unicode only.", hex_text[:-1] + "\uff11"),
            ("base16-sign", "text", "A sign, which integer parsers take.", "f+" + hex_text[2:]),
            ("base32-padding", "text", "Padding where there is none.", "b" + base64.b32encode(data).decode().lower()),
            ("base32-other-character", "text", "1 is no digit of base32.", b32[:-2] + "1" + b32[-1]),
            (
                "base32-trailing-bits",
                "text",
                "The last character has bits that belong to no byte.",
                b32_with_trailing_bit(b32),
            ),
            ("base32-impossible-length", "text", "A length that no number of bytes gives.", b32[:-1]),
            ("base58-zero", "text", "0 is no digit of base58.", b58[:-1] + "0"),
            ("base58-upper-o", "text", "O is no digit of base58.", b58[:-1] + "O"),
            ("base58-upper-i", "text", "I is no digit of base58.", b58[:-1] + "I"),
            ("base58-lower-l", "text", "l is no digit of base58.", b58[:-1] + "l"),
            ("base58-white-space-after", "text", "White space after the text, which some decoders strip.", b58 + "\n"),
            ("base64-padding", "text", "Padding where there is none.", "m" + base64.b64encode(data).decode()),
            (
                "base64-url-alphabet",
                "text",
                "Digits of the other base64 alphabet.",
                "m" + base64.urlsafe_b64encode(ones()).decode().rstrip("="),
            ),
            (
                "base64-trailing-bits",
                "text",
                "The last character has bits that belong to no byte.",
                b64[:-1] + chr(ord(b64[-1]) + 1),
            ),
            ("base64-impossible-length", "text", "One character alone holds no byte.", b64[:-1]),
            ("base64-other-character", "text", "A character that lenient decoders drop.", b64[:9] + "!" + b64[9:]),
            (
                "base64url-padding",
                "text",
                "Padding where there is none.",
                "u" + base64.urlsafe_b64encode(data).decode(),
            ),
            (
                "base64url-plain-alphabet",
                "text",
                "Digits of the other base64 alphabet.",
                "u" + base64.b64encode(ones()).decode().rstrip("="),
            ),
            (
                "base64url-trailing-bits",
                "text",
                "The last character has bits that belong to no byte.",
                url[:-1] + chr(ord(url[-1]) + 1),
            ),
            ("base64urlpad-no-padding", "text", "The padding is missing.", pad.rstrip("=")),
            ("base64urlpad-short-padding", "text", "One of two signs of padding is missing.", pad[:-1]),
            ("base64urlpad-long-padding", "text", "One sign of padding too many.", pad + "="),
            (
                "base64urlpad-trailing-bits",
                "text",
                "The last character has bits that belong to no byte.",
                pad[:-3] + chr(ord(pad[-3]) + 1) + "==",
            ),
            ("base64urlpad-padding-inside", "text", "Padding before the end.", pad[:5] + "==" + pad[5:-2]),
        )
    ]
    for id_, rule, comment, bad in (
        ("no-bytes", "varint", "A prefix and nothing else.", b""),
        ("code-cut-short", "varint", "The code's last byte says that another follows.", b"\x96\x80\xc0"),
        ("code-not-minimal", "varint", "0x16 in two bytes.", b"\x96\x00\x20" + digest),
        ("code-not-minimal-long", "varint", "0x300016 in five bytes.", b"\x96\x80\xc0\x81\x00\x20" + digest),
        ("code-too-long", "varint", "Ten bytes of code.", b"\x96" + b"\x80" * 8 + b"\x01\x20" + digest),
        ("length-missing", "varint", "Nothing after the code.", b"\x16"),
        ("length-cut-short", "varint", "The length's last byte says that another follows.", b"\x16\xa0"),
        ("length-not-minimal", "varint", "32 in two bytes.", b"\x16\xa0\x00" + digest),
        ("code-identity", "code", "The identity, code 0.", b"\x00\x20" + digest),
        ("code-sha1", "code", "A real multihash of another function, sha1.", b"\x11\x14" + digest[:20]),
        ("code-sha2-512", "code", "A real multihash of another function, sha2-512.", b"\x13\x40" + digest * 2),
        ("code-private-unknown", "code", "A neighbour of arrow0-sha3-256.", varint(0x300017) + b"\x20" + digest),
        (
            "code-arrow0-with-no-function",
            "code",
            "The private range's first code.",
            varint(0x300000) + b"\x20" + digest,
        ),
        ("length-of-truncated-digest", "length", "A digest declared and cut to 20 bytes.", b"\x16\x14" + digest[:20]),
        ("length-zero", "length", "No digest, and so declared.", b"\x16\x00"),
        ("length-31", "length", "One byte fewer than the code's digest, and so declared.", b"\x16\x1f" + digest[:31]),
        ("length-33", "length", "One byte more than the code's digest, and so declared.", b"\x16\x21" + digest + b"\0"),
        ("length-huge", "length", "A length of 2^62 over 32 bytes.", b"\x16" + varint(1 << 62) + digest),
        ("digest-short", "length", "32 bytes declared, 31 there.", b"\x16\x20" + digest[:31]),
        ("digest-missing", "length", "32 bytes declared, none there.", b"\x16\x20"),
        ("trailing-zero", "trailing", "A zero byte after the digest.", short + b"\0"),
        ("trailing-multihash", "trailing", "A second multihash after the first.", short + short),
    ):
        for encoding in ("base16", "base64urlpad"):
            suffix = "" if encoding == "base16" else "-base64urlpad"
            case = {"id": id_ + suffix, "comment": comment, "result": "refused", "rule": rule}
            cases.append(case | {"text": encode(encoding, bad), "bytes": bad.hex()})
    leading = b"\0" + data
    comment = "A leading 1, which is a leading zero byte and so the code 0."
    cases.append({"id": "base58-leading-zero", "comment": comment, "result": "refused", "rule": "code"})
    cases[-1] |= {"text": encode("base58btc", leading), "bytes": leading.hex()}
    return cases


def ones() -> bytes:
    """A multihash whose base64 has digits that differ between the two alphabets."""
    return multihash("sha2-256", "ones")


def b32_with_trailing_bit(text: str) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


def document() -> dict[str, Any]:
    cases = [*valid(), *refused()]
    if len({case["id"] for case in cases}) != len(cases):
        raise ValueError("two cases of one id")
    return {
        "about": "Texts that are multihashes of this project, and texts that are almost. How to use them: README.md.",
        "version": 1,
        "codes": {name: f"0x{code:x}" for name, code in CODES.items()},
        "rules": RULES,
        "cases": cases,
    }
