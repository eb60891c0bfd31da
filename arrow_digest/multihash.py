"""Self-describing hashes: what was hashed and how, in bytes and in text.

A multihash is `varint(code) varint(digest length) digest`; its text is a multibase prefix and the
bytes in that base. What the codes stand for is in `codes`.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

import base58

from arrow_digest.codes import CODES
from arrow_digest.errors import MultihashError, UnknownFunctionError
from arrow_digest.functions import DIGEST_FUNCTIONS, DigestFunction, digest_function
from arrow_digest.public import public

__all__ = ["BASES", "Multihash"]

# Digests as other programs write them. SHA-256 stands first: it is what sha256sum prints and what most sites publish.
_HEX = re.compile(r"[0-9a-fA-F]+")
_BARE_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_NAMED_DIGEST = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)[:=](?P<digest>[0-9a-fA-F]+)")
_BARE_HINT = (
    "a bare hex digest does not say what was hashed: put 'f1220' before what sha256sum prints (sha2-256), "
    "'f1620' before a sha3-256 or 'f1e20' before a blake3 of the file's bytes"
)

# Hex digits of digests that no function here makes, by the best known function of that length.
_OTHER_DIGESTS = {32: "MD5", 40: "SHA-1", 56: "SHA-224", 96: "SHA-384", 128: "SHA-512"}

# Longer than any text of a multihash that is in use; bounds what a hostile text can cost to decode.
_MAX_TEXT = 1024
# The unsigned-varint specification allows at most nine bytes.
_MAX_VARINT = 9


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


@public
@functools.total_ordering
@dataclass(frozen=True, eq=False, repr=False)
class Multihash:
    """A digest together with the code that says what it is a digest of.

    Equal exactly when code and digest are equal, whatever text it was read from. It cannot be compared with text or
    bytes, which raises a `TypeError`: a hash has many texts, and a set or dict could find only one of them. Compare
    with `Multihash.parse(text)`, or compare texts with `str(multihash)`. Multihashes are ordered by code and digest.

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
        if self.code not in CODES:
            message = f"expected one of the codes {_known_codes()}, found {self.code:#x}"
            raise MultihashError("code", message, self.digest)
        if len(self.digest) != self.function.digest_size:
            expected = self.function.digest_size
            message = f"expected {expected} digest bytes for {self.name}, found {len(self.digest)}"
            raise MultihashError("length", message, self.digest)

    def __eq__(self, other: object) -> bool:
        """Return whether code and digest are equal.

        Raises:
            TypeError: `other` is text or bytes, which would never be equal, silently.
        """
        if isinstance(other, Multihash):
            return (self.code, self.digest) == (other.code, other.digest)
        if isinstance(other, (str, bytes, bytearray, memoryview)):
            kind = type(other).__name__
            message = f"a Multihash is not comparable with {kind}: compare with Multihash.parse(…), or str() of it"
            raise TypeError(message)
        return NotImplemented

    def __lt__(self, other: object) -> bool:
        """Return whether it comes before another multihash."""
        if isinstance(other, Multihash):
            return (self.code, self.digest) < (other.code, other.digest)
        return NotImplemented

    def __hash__(self) -> int:
        """Return the hash of the text, so that looking for this very text among multihashes raises as `==` does."""
        return hash(str(self))

    def __repr__(self) -> str:
        """Return the expression that makes it."""
        return f"Multihash.parse({str(self)!r})"

    @property
    def name(self) -> str:
        """The code's name, such as `arrow0-sha3-256`."""
        return CODES[self.code].name

    @property
    def function(self) -> DigestFunction:
        """The digest function under the hash."""
        return CODES[self.code].function

    @property
    def is_logical(self) -> bool:
        """True for a logical hash of records, False for a physical hash of bytes."""
        return self.rule_set is not None

    @property
    def rule_set(self) -> str | None:
        """The name of the rule set of a logical hash, such as `arrow0`; None for a physical hash."""
        return CODES[self.code].rule_set

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
        if code not in CODES:
            raise MultihashError("code", f"expected one of the codes {_known_codes()}, found {code:#x}", value)
        length, position = _read_varint(raw, position, value)
        expected = CODES[code].function.digest_size
        if length != expected:
            message = f"expected a digest length of {expected} for {CODES[code].name}, found {length}"
            raise MultihashError("length", message, value)
        found = len(raw) - position
        if found < length:
            raise MultihashError("length", f"expected {length} digest bytes, found {found}", value)
        if found > length:
            raise MultihashError("trailing", f"{found - length} bytes after the digest", value)
        return cls(code, raw[position:])


def _known_codes() -> str:
    return ", ".join(f"{code:#x} ({entry.name})" for code, entry in sorted(CODES.items()))


def _text_bytes(text: str) -> bytes:
    # No multihash has a text of 64 hex digits in any base, though such a digest may begin with a prefix.
    if _BARE_DIGEST.fullmatch(text):
        raise MultihashError("base", f"expected a multibase prefix, found 64 hex digits; {_BARE_HINT}", text)
    if len(text) in _OTHER_DIGESTS and _HEX.fullmatch(text):
        found = f"{len(text)} hex digits, as many as {_OTHER_DIGESTS[len(text)]} has"
        raise MultihashError(
            "base", f"found {found}; only digests by {', '.join(DIGEST_FUNCTIONS)} are known here", text
        )
    named = _NAMED_DIGEST.fullmatch(text)
    if named:
        raise MultihashError("base", _about_named_digest(named["name"], named["digest"]), text)
    if text[:1] not in _BY_PREFIX or text == "":
        prefixes = " ".join(_BY_PREFIX)
        raise MultihashError("base", f"expected a multibase prefix ({prefixes}), found {text[:1]!r}", text)
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


def _about_named_digest(name: str, digest: str) -> str:
    """Return what to say of a digest such as `sha256:…`, as containers and package indexes write it."""
    try:
        function = digest_function(name)
    except UnknownFunctionError as error:
        if error.suggestion is None:
            return f"a digest of {name!r}, which is none of {', '.join(DIGEST_FUNCTIONS)}"
        function = DIGEST_FUNCTIONS[error.suggestion]
    if len(digest) != 2 * function.digest_size:
        return f"expected {2 * function.digest_size} hex digits for {function.name}, found {len(digest)}"
    text = Multihash(function.code, bytes.fromhex(digest))
    return f"a digest that names its function: write {str(text)!r}"


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
