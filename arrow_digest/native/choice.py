"""Which kernels do the work: the C library, or NumPy and pyarrow alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from arrow_digest.public import public

__all__ = ["Kernels", "kernels", "library"]

# The C library where it is installed.
library: ModuleType | None
try:
    from arrow_digest.native import _kernels as library
except ImportError as error:
    library, _missing = None, error

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


@public
@cache
def kernels() -> Kernels:
    """Return which kernels are active, and why. What it says is settled by the first call, or the first digest.

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
    if library is None:
        if wanted:
            raise _missing
        return Kernels("portable", 1, f"installed without the native kernels ({_missing})")
    lanes, why = _lanes(library.lib.ad_max_lanes())
    return Kernels("native", lanes, why)


def _lanes(most: int) -> tuple[int, str]:
    text = os.environ.get(_LANES, "")
    if not text:
        return most, "the most lanes that this CPU runs"
    if text not in map(str, _LANE_COUNTS):
        raise ValueError(f"{_LANES}: expected 1, 2, 4 or 8, found {text!r}")
    if int(text) > most:
        raise ValueError(f"{_LANES}: this CPU runs up to {most} lanes, found {text}")
    return int(text), f"{_LANES} is {text}"
