"""Whether the views of a binary-view array stay inside its buffers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arrow_digest.native.choice import native

__all__ = ["wrong_views"]

# A view of up to this many bytes holds them itself.
_INLINE = 12
# Views are checked in blocks, so that what is computed of them stays in the CPU's cache.
_BLOCK = 1 << 14


def wrong_views(views: npt.NDArray[np.int32], buffer_sizes: list[int]) -> npt.NDArray[np.bool_] | None:
    """Return which views reach outside buffers of these sizes, be they under nulls or not; None if none does.

    >>> wrong_views(np.array([[13, 0, 0, 7], [13, 0, 0, 8]], np.int32), [20])
    array([False,  True])
    """
    sizes = np.array([*buffer_sizes, 0], np.int64)  # the last is of no buffer
    library = native()
    if library is not None:
        addresses = library.ffi.from_buffer("uint8_t[]", views), library.ffi.from_buffer("int64_t[]", sizes)
        if library.lib.ad_views_inside(addresses[0], len(views), addresses[1], len(buffer_sizes)):
            return None
    wrong = [_wrong(views[start : start + _BLOCK], sizes) for start in range(0, len(views), _BLOCK)]
    return np.concatenate(wrong) if any(map(np.count_nonzero, wrong)) else None


def _wrong(views: npt.NDArray[np.int32], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    # Unsigned, negative numbers are too large. Sums that wrap have a term of 2**31 or more, which is refused by itself.
    length, index, start = (np.ascontiguousarray(views[:, column]).view(np.uint32) for column in (0, 2, 3))
    outside: npt.NDArray[np.bool_] = length > _INLINE
    if not np.count_nonzero(outside):
        return outside
    limits = sizes[0] if len(sizes) == 2 else sizes.take(np.minimum(index, len(sizes) - 1))
    return outside & ((index >= len(sizes) - 1) | ((length | start) >> 31 > 0) | (start + length > limits))
