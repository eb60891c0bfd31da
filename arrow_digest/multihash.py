"""Self-describing hashes: what was hashed and how, in bytes and in text.

A multihash is `varint(code) varint(digest length) digest`; its text is a multibase prefix and the
bytes in that base. The codes are those of the Open Data Fabric: a digest function's own code for
physical hashes, and `0x300000` more for arrow0 with that function.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass

import base58

from arrow_digest.errors import MultihashError
from arrow_digest.functions import DIGEST_FUNCTIONS, DigestFunction

__all__ = ["BASES", "Multihash", "logical_code"]

_ARROW0 = 0x300000

# Longer than any text of a multihash that is in use; bounds what a hostile text can cost to decode.
_MAX_TEXT = 1024
# The unsigned-varint specification allows at most nine bytes.
_MAX_VARINT = 9


def logical_code(function: DigestFunction) -> int:
    """Return the multihash code of arrow0 with `function` as its digest function."""
    return _ARROW0 + function.code


_NAMES: dict[int, str] = {
    **{function.code: function.name for function in DIGEST_FUNCTIONS.values()},
    **{logical_code(function): f"arrow0-{function.name}" for function in DIGEST_FUNCTIONS.values()},
}
_FUNCTIONS: dict[int, DigestFunction] = {
    **{function.code: function for function in DIGEST_FUNCTIONS.values()},
    **{logical_code(function): function for function in DIGEST_FUNCTIONS.values()},
}


@dataclass(frozen=True)
class _Base:
    name: str
    prefix: str
    encode: Callable[[bytes], str]
    decode: Callable[[str], bytes]
    # What text is compared as: bases that ignore case are read in either.
    normalise: Callable[[str], str] = str


def _base32_decode(text: str) -> bytes:
    return base64.b32decode(text.upper() + "=" * (-len(text) % 8))


def _base64_decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _base64url_decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


_ALL_BASES = (
    _Base("base16", "f", bytes.hex, binascii.unhexlify, str.lower),
    _Base("base16upper", "F", lambda b: b.hex().upper(), binascii.unhexlify, str.upper),
    _Base("base32", "b", lambda b: base64.b32encode(b).decode().rstrip("=").lower(), _base32_decode, str.lower),
    _Base("base32upper", "B", lambda b: base64.b32encode(b).decode().rstrip("="), _base32_decode, str.upper),
    _Base("base58btc", "z", lambda b: base58.b58encode(b).decode(), base58.b58decode),
    _Base("base64", "m", lambda b: base64.b64encode(b).decode().rstrip("="), _base64_decode),
    _Base("base64url", "u", lambda b: base64.urlsafe_b64encode(b).decode().rstrip("="), _base64url_decode),
    _Base("base64urlpad", "U", lambda b: base64.urlsafe_b64encode(b).decode(), _base64url_decode),
)
_BY_NAME = {base.name: base for base in _ALL_BASES}
_BY_PREFIX = {base.prefix: base for base in _ALL_BASES}

BASES: tuple[str, ...] = tuple(_BY_NAME)
"""Names of the multibase encodings of final status that texts are read and written in."""


@dataclass(frozen=True)
class Multihash:
    """A digest together with the code that says what it is a digest of.

    Equal exactly when code and digest are equal, whatever text it was read from.

    Attributes:
        code: The hash code, one of the table in the arrow0 specification.
        digest: The digest's bytes.

    Raises:
        MultihashError: The code is unknown, or the digest does not have its length.

    >>> Multihash(0x16, bytes(32)).name
    'sha3-256'
    """

    code: int
    digest: bytes

    def __post_init__(self) -> None:
        """Refuse what could not be read back."""
        if self.code not in _NAMES:
            message = f"expected one of the codes {_known_codes()}, found {self.code:#x}"
            raise MultihashError("code", message, self.digest)
        if len(self.digest) != self.function.digest_size:
            expected = self.function.digest_size
            message = f"expected {expected} digest bytes for {self.name}, found {len(self.digest)}"
            raise MultihashError("length", message, self.digest)

    @property
    def name(self) -> str:
        """The code's name, such as `arrow0-sha3-256`."""
        return _NAMES[self.code]

    @property
    def function(self) -> DigestFunction:
        """The digest function under the hash."""
        return _FUNCTIONS[self.code]

    @property
    def is_logical(self) -> bool:
        """True for a logical hash of records, False for a physical hash of bytes."""
        return self.code >= _ARROW0

    def __bytes__(self) -> bytes:
        """Return the multihash: code, length and digest."""
        return _varint(self.code) + _varint(len(self.digest)) + self.digest

    def __str__(self) -> str:
        """Return the text in base16, as the Open Data Fabric writes it."""
        return self.encode("base16")

    def encode(self, base: str = "base16") -> str:
        """Return the multihash as text in a multibase encoding.

        Args:
            base: One of `BASES`.

        Raises:
            ValueError: No such base.

        >>> Multihash(0x16, bytes(32)).encode("base58btc")[:6]
        'zW1ZSz'
        """
        if base not in _BY_NAME:
            raise ValueError(f"unknown base {base!r}: expected one of {', '.join(BASES)}")
        return _BY_NAME[base].prefix + _BY_NAME[base].encode(bytes(self))

    @classmethod
    def parse(cls, value: str | bytes) -> Multihash:
        """Return the multihash that text or bytes stand for.

        Text is accepted only if it is the one text of its bytes in its base (base16 and base32 ignore
        case), so there is nothing to hide in padding, trailing bits or white space.

        Args:
            value: Multibase text, or the bytes of a multihash.

        Raises:
            MultihashError: It is no multihash; `rule` says why.

        >>> Multihash.parse("f1620" + "00" * 32).name
        'sha3-256'
        """
        raw = _text_bytes(value) if isinstance(value, str) else bytes(memoryview(value))
        code, position = _read_varint(raw, 0, value)
        if code not in _NAMES:
            raise MultihashError("code", f"expected one of the codes {_known_codes()}, found {code:#x}", value)
        length, position = _read_varint(raw, position, value)
        expected = _FUNCTIONS[code].digest_size
        if length != expected:
            message = f"expected a digest length of {expected} for {_NAMES[code]}, found {length}"
            raise MultihashError("length", message, value)
        found = len(raw) - position
        if found < length:
            raise MultihashError("length", f"expected {length} digest bytes, found {found}", value)
        if found > length:
            raise MultihashError("trailing", f"{found - length} bytes after the digest", value)
        return cls(code, raw[position:])


def _known_codes() -> str:
    return ", ".join(f"{code:#x} ({name})" for code, name in sorted(_NAMES.items()))


def _text_bytes(text: str) -> bytes:
    if text[:1] not in _BY_PREFIX or text == "":
        hint = ""
        if len(text) == 64 and all(c in "0123456789abcdefABCDEF" for c in text):
            hint = "; a bare hex digest does not say what was hashed: put 'f1620' before a physical sha3-256"
        prefixes = " ".join(_BY_PREFIX)
        raise MultihashError("base", f"expected a multibase prefix ({prefixes}), found {text[:1]!r}{hint}", text)
    if len(text) > _MAX_TEXT:
        raise MultihashError("text", f"expected at most {_MAX_TEXT} characters, found {len(text)}", text)
    if not text.isascii():
        # Case folding maps some other letters onto ASCII ones.
        raise MultihashError("text", f"expected ASCII, found {text!r}", text)
    base = _BY_PREFIX[text[0]]
    body = text[1:]
    try:
        raw = base.decode(body)
    except ValueError as error:
        raise MultihashError("text", f"{text!r} is no {base.name}: {error}", text) from error
    canonical = base.encode(raw)
    if base.normalise(body) != canonical:
        message = f"{text!r} is not the {base.name} text of its bytes, {base.prefix + canonical!r}"
        raise MultihashError("text", message, text)
    return raw


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(raw: bytes, start: int, value: str | bytes) -> tuple[int, int]:
    number = 0
    for index, byte in enumerate(raw[start : start + _MAX_VARINT]):
        number |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if byte == 0 and index > 0:
                raise MultihashError("varint", f"the number at byte {start} is not in its shortest form", value)
            return number, start + index + 1
    found = len(raw) - start
    message = f"{found} bytes are left for it" if found < _MAX_VARINT else f"it is longer than {_MAX_VARINT} bytes"
    raise MultihashError("varint", f"the number at byte {start} does not end: {message}", value)
