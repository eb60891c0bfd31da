"""Which kernels do the work: the C library, or NumPy and pyarrow alone. Nothing else decides it.

Whoever has both forms of something asks `native`, which gives the C library or None.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from arrow_digest.public import public

__all__ = ["Kernels", "Native", "kernels", "native"]

if TYPE_CHECKING:
    from arrow_digest.native._kernels import FFI, Library

_KERNELS = "ARROW_DIGEST_KERNELS"
_LANES = "ARROW_DIGEST_LANES"
_LANE_COUNTS = (1, 2, 4, 8)


@public
@dataclass(frozen=True)
class Kernels:
    """What does the work in this process.

    Attributes:
        name: `native` (the C library) or `portable` (NumPy and pyarrow); both give the same hashes.
        lanes: How many columns SHA3-256 advances at once on one core: 8 with AVX-512, 4 with AVX2, 2 or 1 elsewhere.
        reason: Why these, in words.
    """

    name: str
    lanes: int
    reason: str


class Native(NamedTuple):
    """The C library, as far as it is used in this process.

    Attributes:
        ffi: What makes and reads its structs.
        lib: Its functions.
        lanes: How many columns SHA3-256 advances at once; it chooses the generation of instructions, too.
    """

    ffi: FFI
    lib: Library
    lanes: int


@public
@cache
def kernels() -> Kernels:
    """Return which kernels are active, and why. The first call, or the first digest, decides it for the process.

    The environment decides: `ARROW_DIGEST_KERNELS` may be `portable`, or `native` to have no fallback;
    `ARROW_DIGEST_LANES` may be 1, 2, 4 or 8.

    Raises:
        ValueError: The environment asks for what does not exist, or what this CPU does not have.
        ImportError: `ARROW_DIGEST_KERNELS` is `native`, and the package was installed without the C library.

    >>> kernels().name in ("native", "portable")
    True
    """
    wanted = os.environ.get(_KERNELS, "")
    if wanted not in ("", "native", "portable"):
        raise ValueError(f"{_KERNELS}: expected native or portable, found {wanted!r}")
    if wanted == "portable":
        return Kernels("portable", 1, f"{_KERNELS} is portable")
    try:
        from arrow_digest.native._kernels import lib
    except ImportError as error:
        if wanted:
            raise
        return Kernels("portable", 1, f"installed without the native kernels ({error})")
    lanes, why = _lanes(lib.ad_max_lanes())
    return Kernels("native", lanes, why)


@cache
def native() -> Native | None:
    """Return the C library, or None where NumPy does the work."""
    active = kernels()
    if active.name != "native":
        return None
    from arrow_digest.native._kernels import ffi, lib

    return Native(ffi, lib, active.lanes)


def _lanes(most: int) -> tuple[int, str]:
    text = os.environ.get(_LANES, "")
    if not text:
        return most, "the most lanes that this CPU runs"
    if text not in map(str, _LANE_COUNTS):
        raise ValueError(f"{_LANES}: expected 1, 2, 4 or 8, found {text!r}")
    if int(text) > most:
        raise ValueError(f"{_LANES}: this CPU runs up to {most} lanes, found {text}")
    return int(text), f"{_LANES} is {text}"
