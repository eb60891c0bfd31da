"""Digest functions by name, with hashlib's surface."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import blake3

from arrow_digest.errors import UnknownFunctionError

__all__ = ["DEFAULT_FUNCTION", "DIGEST_FUNCTIONS", "DigestFunction", "Hasher", "digest_function"]

DEFAULT_FUNCTION = "sha3-256"


class Hasher(Protocol):
    """The part of hashlib's surface that the package relies on."""

    def update(self, data: Any, /) -> object:
        """Feed an object with the buffer protocol."""

    def digest(self) -> bytes:
        """Return the digest of what was fed so far."""

    def copy(self) -> Hasher:
        """Return an independent hasher in the same state."""


@dataclass(frozen=True)
class DigestFunction:
    """A digest function: its multihash name and code, and how to start it.

    Attributes:
        name: The name in the multicodec table.
        code: The code in the multicodec table; arrow0's code is `0x300000` more.
        digest_size: Digest length in bytes.
        start: Starts a hasher that may use the given number of threads where the function can.
    """

    name: str
    code: int
    digest_size: int
    start: Callable[[int], Hasher]

    def new(self, threads: int = 1) -> Hasher:
        """Start a hasher.

        Args:
            threads: How many threads it may use for large inputs; only blake3 can use more than one.
        """
        return self.start(threads)

    def __reduce__(self) -> tuple[Callable[[str], DigestFunction], tuple[str]]:
        """Travel between processes by name, because what starts a hasher cannot."""
        return digest_function, (self.name,)


DIGEST_FUNCTIONS: dict[str, DigestFunction] = {
    function.name: function
    for function in (
        DigestFunction("sha2-256", 0x12, 32, lambda _: hashlib.sha256()),
        DigestFunction("sha3-256", 0x16, 32, lambda _: hashlib.sha3_256()),
        DigestFunction("blake3", 0x1E, 32, lambda threads: blake3.blake3(max_threads=threads)),
    )
}

# Names without their punctuation. What hashlib knows besides is another function, however much its name looks like one.
_SPELLINGS = {
    **{name.replace("-", ""): name for name in DIGEST_FUNCTIONS},
    "sha256": "sha2-256",
    "sha2": "sha2-256",
    "sha3": "sha3-256",
}
_OTHER_FUNCTIONS = {name.replace("_", "") for name in hashlib.algorithms_guaranteed} - set(_SPELLINGS)


def digest_function(name: str) -> DigestFunction:
    """Return the digest function of that name.

    Raises:
        UnknownFunctionError: No such function; the error suggests the name that was probably meant.

    >>> digest_function("sha3-256").code
    22
    """
    function = DIGEST_FUNCTIONS.get(name) if isinstance(name, str) else None
    if function is None:
        raise UnknownFunctionError(name, tuple(DIGEST_FUNCTIONS), _suggestion(str(name)))
    return function


def _suggestion(name: str) -> str | None:
    spelling = "".join(c for c in name.lower() if c.isalnum()).removeprefix("arrow0")
    if spelling in _OTHER_FUNCTIONS:
        return None
    matches = difflib.get_close_matches(spelling, _SPELLINGS, n=1)
    return _SPELLINGS[matches[0]] if matches else None
