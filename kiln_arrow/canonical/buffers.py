"""Bytes-like objects as flat bytes."""

from __future__ import annotations

from typing import Any

from kiln_arrow.errors import KilnError

__all__ = [
    "readable_bytes",
    "writable_bytes",
]


def readable_bytes(buffer: Any) -> memoryview:
    """Return a read-only, one-dimensional view of a buffer's bytes."""
    if type(buffer) is bytes:
        return memoryview(buffer)
    view = memoryview(buffer).toreadonly()
    if view.format == "B" and view.ndim == 1 and view.c_contiguous:
        return view
    if not view.c_contiguous:
        raise BufferError("expected a C-contiguous buffer, found a strided one")
    return view.cast("B") if view.nbytes else memoryview(b"")


def writable_bytes(buffer: Any) -> memoryview:
    """Return a writable, one-dimensional view of a buffer's bytes."""
    view = memoryview(buffer)
    if view.readonly or not view.c_contiguous:
        raise KilnError("buffer", "expected a writable, C-contiguous buffer, found one that is not")
    return view.cast("B") if view.nbytes else memoryview(bytearray())
