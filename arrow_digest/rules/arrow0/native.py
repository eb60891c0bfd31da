"""arrow0's byte stream, and SHA3-256 over it, through the C library.

Implements "Value encoding" of the arrow0 specification, as `portable` does, byte for byte alike. Every call
into the library drops the GIL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arrow_digest.arrays.nodes import Bitmap, Kind, Node
from arrow_digest.native import _kernels
from arrow_digest.rules.arrow0.leaf_columns import Column

__all__ = ["Rows", "Sha3"]

_ffi = _kernels.ffi
_lib = _kernels.lib

# What a hasher is fed at a time: large enough that it drops the GIL and small enough for the CPU's cache. Pieces end at
# multiples of it, since blake3 hashes such pieces a third faster than others.
_PIECE = 1 << 17
# Room for what the encoder writes beyond a piece, which is moved to the front of the next.
_MARGIN = 1 << 12
# The kinds whose width is not the width of what `values` holds.
_WIDTHS = frozenset((Kind.FIXED, Kind.FIXED_BINARY, Kind.FIXED_LIST))


class Sha3:
    """SHA3-256 with hashlib's surface, whose state `Rows.feed` can advance side by side with others.

    >>> digest = Sha3()
    >>> digest.update(b"abc")
    >>> digest.digest().hex()[:8]
    '3a985da7'
    """

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = _ffi.new("ad_sha3 *")

    def update(self, data: Any, /) -> None:
        """Feed an object with the buffer protocol."""
        view = _ffi.from_buffer("uint8_t[]", data)
        _lib.ad_sha3_feed(self.state, view, len(view))

    def digest(self) -> bytes:
        """Return the digest of what was fed so far."""
        out = _ffi.new("uint8_t[32]")
        _lib.ad_sha3_finish(self.state, out)
        return bytes(_ffi.buffer(out))

    def copy(self) -> Sha3:
        """Return an independent hasher in the same state."""
        other = Sha3()
        other.state[0] = self.state[0]
        return other


class Rows:
    """The same rows of some checked columns, as the C library takes them.

    Args:
        columns: Checked descriptions; they, and so the memory they describe, are kept alive.
        lanes: The lane count whose instructions are used.
    """

    def __init__(self, columns: Sequence[Column], lanes: int) -> None:
        self._columns = columns
        self._generation = _lib.ad_generation(lanes)
        self._alive: list[Any] = []
        self._described = _ffi.new("ad_column[]", len(columns))
        self._rows = _ffi.new("ad_rows[]", len(columns))
        self._results = _ffi.new("ad_result[]", len(columns))
        for index, column in enumerate(columns):
            self._describe(self._described[index], column)
            self._rows[index].column = self._described + index

    def size(self, index: int) -> float:
        """Return about how many bytes a column encodes to."""
        return _lib.ad_estimate(self._rows + index)

    def null_count(self, index: int) -> int:
        """Return how many rows of a column are null, once `feed` or `encode` went through all of them."""
        count: int = self._results[index].null_count
        return count

    def feed(self, digests: Sequence[Sha3], indices: Sequence[int], *, validity: bool = False) -> None:
        """Feed columns to their digests, several side by side.

        Args:
            digests: One for each index.
            indices: Which columns.
            validity: True to feed one byte a row, 1 for a value and 0 for a null, instead of the values.
        """
        rows = _ffi.new("ad_rows[]", len(indices))
        for target, digest, index in zip(rows, digests, indices, strict=True):
            target.column, target.digest, target.validity_only = self._rows[index].column, digest.state, validity
        results = _ffi.new("ad_result[]", len(indices))
        if _lib.ad_sha3_update(rows, results, len(indices), self._generation):
            raise MemoryError
        for position, index in enumerate(indices):
            self._results[index] = results[position]

    def encode(
        self, index: int, *, validity: bool = False, before: int = 0, piece: int = _PIECE
    ) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield a column's rows as arrow0 encodes them, in pieces that are good until the next one.

        Args:
            index: Which column.
            validity: True for one byte a row, as `feed` has it.
            before: How many bytes the hasher was fed before; pieces end where the bytes fed are a multiple of `piece`.
            piece: Bytes of a piece.
        """
        node = self._columns[index].node
        if not validity and node.kind is Kind.FIXED and node.validity is None and not self._columns[index].parents:
            yield node.values.reshape(-1).view(np.uint8)
            return
        rows = _ffi.new("ad_rows *", self._rows[index])
        rows.validity_only = validity
        encoder = _ffi.gc(_lib.ad_encoder_new(rows, self._generation, 1), _lib.ad_encoder_free)
        if encoder == _ffi.NULL:
            raise MemoryError
        memory = np.empty(piece + _MARGIN, np.uint8)
        address = _ffi.from_buffer("uint8_t[]", memory)
        held, wanted = 0, piece - before % piece
        while size := _lib.ad_encode(encoder, address + held, len(memory) - held):
            held += size
            if held >= wanted:
                whole = wanted + (held - wanted) // piece * piece
                yield memory[:whole]
                held -= whole
                memory[:held] = memory[whole : whole + held]
                wanted = piece
        if held:
            yield memory[:held]
        self._results[index].null_count = _lib.ad_encoder_nulls(encoder)

    def _describe(self, target: Any, column: Column) -> None:
        chain = [column.node]
        while chain[-1].child is not None:
            chain.append(chain[-1].child)
        nodes = _ffi.new("ad_node[]", len(chain))
        for node_target, node in zip(nodes, chain, strict=True):
            self._describe_node(node_target, node)
        target.nodes, target.node_count = nodes, len(chain)
        self._alive.append(nodes)
        if column.parents:
            parents = _ffi.new("ad_bits[]", len(column.parents))
            for parent_target, bitmap in zip(parents, column.parents, strict=True):
                self._point(parent_target, bitmap)
            target.parents, target.parent_count = parents, len(column.parents)
            self._alive.append(parents)

    def _describe_node(self, target: Any, node: Node) -> None:
        kind = node.kind
        target.kind, target.length, target.origin = kind, node.length, node.origin
        target.width = node.width if kind in _WIDTHS else node.values.itemsize
        if node.validity is not None:
            self._point(target.validity, node.validity)
        if node.bits is None:
            target.values = self._address(node.values)
        else:
            target.values, target.origin = self._address(node.bits.data), node.bits.offset
        if kind is Kind.BINARY:
            target.data, target.data_size = self._address(node.data), node.data.size
        elif kind is Kind.LIST_VIEW:
            target.sizes = self._address(node.sizes)
        elif kind is Kind.VIEW:
            self._describe_buffers(target, node.array.buffers()[2:])

    def _describe_buffers(self, target: Any, buffers: list[Any]) -> None:
        # One entry at least, for views that need none read the first.
        addresses = _ffi.new("uint8_t *[]", len(buffers) + 1)
        sizes = _ffi.new("int64_t[]", len(buffers) + 1)
        for index, buffer in enumerate(buffers):
            if buffer is not None:
                addresses[index], sizes[index] = _ffi.cast("uint8_t *", buffer.address), buffer.size
        target.buffers, target.buffer_sizes = addresses, sizes
        self._alive += [addresses, sizes]

    def _point(self, target: Any, bitmap: Bitmap) -> None:
        target.data, target.offset = self._address(bitmap.data), bitmap.offset

    def _address(self, array: npt.NDArray[Any]) -> Any:
        address = _ffi.from_buffer("uint8_t[]", array)
        self._alive.append(address)
        return address
