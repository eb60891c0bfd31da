"""arrow0's byte stream, and SHA3-256 over it, through the C library.

Implements "Value encoding" of the arrow0 specification, as `encode.portable` does, byte for byte alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arrow_digest.native import _kernels  # type: ignore[attr-defined]
from arrow_digest.structure import Bitmap, Column, Kind, Node

__all__ = ["Sha3", "encode", "max_lanes", "null_count", "row_validity", "sha3_update"]

ffi: Any = _kernels.ffi
lib: Any = _kernels.lib

# Large enough that hashers drop the GIL and use all their lanes, small enough for the CPU's cache.
_PIECE = 1 << 16
_WIDTHS = {Kind.FIXED, Kind.FIXED_BINARY, Kind.FIXED_LIST}


def max_lanes() -> int:
    """Return the most SIMD lanes that this CPU runs SHA3-256 in: 8, 4, 2 or 1."""
    lanes: int = lib.ad_max_lanes()
    return lanes


class Described:
    """Columns as the C library takes them; holds what the descriptions point to."""

    def __init__(self, columns: Sequence[Column], *, rows_only: bool = False) -> None:
        self._alive: list[Any] = [columns]
        self.columns = ffi.new("ad_column[]", len(columns))
        for target, column in zip(self.columns, columns, strict=True):
            self._describe(target, column)
            target.rows_only = rows_only

    def _describe(self, target: Any, column: Column) -> None:
        chain = [column.node]
        while chain[-1].child is not None:
            chain.append(chain[-1].child)
        nodes = ffi.new("ad_node[]", len(chain))
        for node_target, node in zip(nodes, chain, strict=True):
            self._describe_node(node_target, node)
        target.nodes, target.node_count = nodes, len(chain)
        self._alive.append(nodes)
        if column.parents:
            parents = ffi.new("ad_bits[]", len(column.parents))
            for parent_target, bitmap in zip(parents, column.parents, strict=True):
                self._point(parent_target, bitmap)
            target.parents, target.parent_count = parents, len(column.parents)
            self._alive.append(parents)

    def _describe_node(self, target: Any, node: Node) -> None:
        target.kind, target.length, target.origin = node.kind, node.length, node.origin
        target.width = node.width if node.kind in _WIDTHS else node.values.itemsize
        if node.validity is not None:
            self._point(target.validity, node.validity)
        if node.bits is not None:
            target.values, target.origin = self._address(node.bits.data), node.bits.offset
        else:
            target.values = self._address(node.values)
        if node.kind is Kind.BINARY:
            target.data, target.data_size = self._address(node.data), node.data.size
        elif node.kind is Kind.LIST_VIEW:
            target.sizes = self._address(node.sizes)
        elif node.kind is Kind.VIEW:
            buffers = node.array.buffers()[2:]
            addresses = ffi.new("uint8_t *[]", [ffi.NULL if b is None else ffi.cast("uint8_t *", b.address) for b in buffers])
            sizes = ffi.new("int64_t[]", [0 if b is None else b.size for b in buffers])
            target.buffers, target.buffer_sizes = addresses, sizes
            self._alive += [addresses, sizes]

    def _point(self, target: Any, bitmap: Bitmap) -> None:
        target.data, target.offset = self._address(bitmap.data), bitmap.offset

    def _address(self, array: npt.NDArray[Any]) -> Any:
        address = ffi.from_buffer("uint8_t[]", array)
        self._alive.append(address)
        return address


def encode(column: Column, lanes: int = 8) -> Iterator[npt.NDArray[np.uint8]]:
    """Yield the column's rows as arrow0 encodes them. A buffer is only good until the next one."""
    node = column.node
    if node.kind is Kind.FIXED and node.validity is None and not column.parents:
        yield node.values.reshape(-1).view(np.uint8)
        return
    described = Described([column])
    encoder = ffi.gc(lib.ad_encoder_new(described.columns, lanes), lib.ad_encoder_free)
    piece = np.empty(_PIECE, np.uint8)
    address = ffi.from_buffer("uint8_t[]", piece)
    while size := lib.ad_encode(encoder, address, _PIECE):
        yield piece[:size]


def null_count(column: Column) -> int:
    return lib.ad_null_count(Described([column]).columns, 8)


class Sha3:
    def __init__(self) -> None:
        self.state = ffi.new("ad_sha3 *")

    def update(self, data: Any, /) -> None:
        view = ffi.from_buffer("uint8_t[]", data)
        lib.ad_sha3_feed(self.state, view, len(view))

    def digest(self) -> bytes:
        out = ffi.new("uint8_t[32]")
        lib.ad_sha3_finish(self.state, out)
        return bytes(ffi.buffer(out))

    def copy(self) -> Sha3:
        other = Sha3()
        other.state[0] = self.state[0]
        return other


def sha3_update(digests: Sequence[Sha3], columns: Sequence[Column], *, lanes: int, rows_only: bool = False) -> None:
    described = Described(columns, rows_only=rows_only)
    for target, digest in zip(described.columns, digests, strict=True):
        target.digest = digest.state
    if lib.ad_sha3_update(described.columns, len(columns), lanes):
        raise MemoryError
