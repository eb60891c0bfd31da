"""What stands for a tensor on the way in: arrays of any producer, and opaque payloads."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kiln_arrow.canonical.buffers import readable_bytes
from kiln_arrow.canonical.dtypes import DTYPES, DType, from_numpy
from kiln_arrow.canonical.layout import MAX_RANK, U32_END, U64_END, overflowing_dim
from kiln_arrow.errors import KilnDtypeError, KilnError, shown
from kiln_arrow.foreign.stated import require_stated, stated_dtypes

__all__ = [
    "Opaque",
    "Payload",
    "Tensor",
    "apart_from",
    "as_numpy",
    "as_payload",
    "check_bools",
    "row_major",
    "utf8",
    "write_row_major",
]


@dataclass(frozen=True, init=False)
class Opaque:
    """A tensor in a named layout: its payload is carried as raw bytes and never interpreted.

    It stands wherever an array may and comes out of `decode` as it went in (spec: payload region).

    Attributes:
        dtype: NumPy dtype of the elements, one of the table's.
        shape: Up to eight dims, each below 2^64; they say nothing about the payload's length.
        layout: Name of the layout, not empty.
        data: The payload as a read-only memoryview of the bytes-like object it was made of.

    >>> import kiln_arrow
    >>> blocks = kiln_arrow.Opaque("float32", (2, 2), "csr", b"any bytes")
    >>> name, tensor = kiln_arrow.decode(kiln_arrow.encode([("m", blocks)])).tensors[0]
    >>> tensor == blocks
    True
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    layout: str
    data: memoryview

    def __init__(self, dtype: DTypeLike, shape: Iterable[int], layout: str, data: Any) -> None:
        object.__setattr__(self, "dtype", np.dtype(dtype))
        object.__setattr__(self, "shape", tuple(shape))
        object.__setattr__(self, "layout", layout)
        if isinstance(data, np.ma.MaskedArray):
            raise KilnError("masked", "expected a payload without a mask, found a masked array")
        object.__setattr__(self, "data", readable_bytes(data))

    def __reduce__(self) -> tuple[type[Opaque], tuple[Any, ...]]:  # a memoryview cannot be pickled
        return Opaque, (self.dtype, self.shape, self.layout, bytes(self.data))


Tensor = NDArray[Any] | Opaque


Payload = tuple[DType, tuple[int, ...], bytes, int, NDArray[Any]]
"""A tensor ready to be placed: its row of the dtype table, dims, layout (empty when dense), byte length, and the
source of its bytes: the caller's array in its own strides and byte order, or an opaque payload as flat uint8. It is
a plain tuple, as one is made for each tensor of each cell that is written."""


def row_major(payload: Payload) -> memoryview:
    """Return a payload's bytes, little-endian and row-major, from where they lie if they do so there."""
    dtype, _, layout, _, source = payload
    if layout or _lies_row_major(source, dtype):
        return source.data
    array: NDArray[Any] = np.ascontiguousarray(source, dtype.numpy)
    return array.reshape(-1).view(np.uint8).data


def write_row_major(payload: Payload, target: memoryview) -> None:
    """Write a payload's bytes to a target as long, in one pass over the source."""
    dtype, dims, layout, _, source = payload
    if layout or _lies_row_major(source, dtype):
        target[:] = source.data.cast("B")
    else:
        np.ndarray(dims, dtype.numpy, target)[...] = source


def _lies_row_major(source: NDArray[Any], dtype: DType) -> bool:
    # Arrays of ml_dtypes export no buffer of their own, so they count as lying otherwise.
    return source.dtype is dtype.numpy and dtype.is_numpys_own and source.flags.c_contiguous


def apart_from(payload: Payload, memory: NDArray[np.uint8]) -> Payload:
    """Return the same payload, its source copied if it may lie in `memory`."""
    source = payload[4]
    return (*payload[:4], source.copy()) if np.may_share_memory(source, memory) else payload


def as_payload(tensor: object, index: int, name: str | None) -> Payload:
    """Return `tensor` ready to be placed, all but the bytes of bools checked; errors name it by index and name."""
    if type(tensor) is not np.ndarray:
        if isinstance(tensor, Opaque):
            return _opaque_payload(tensor, index, name)
        tensor = as_numpy(tensor, index, name)
    dtype = from_numpy(tensor.dtype)
    if dtype is None:
        raise _refused_dtype(f"found {tensor.dtype!s:.80}", index, name)
    dims = tensor.shape
    if len(dims) > MAX_RANK:
        raise _refused_rank(len(dims), index, name)
    byte_length = tensor.nbytes
    # NumPy holds arrays to this limit too, but not views of other item size on arrays without elements.
    if not byte_length and overflowing_dim(dtype.item_size, dims) < len(dims):
        sentence = f"expected item size times dims that are not 0 below 2^63, found {dtype.name} {list(dims)}"
        raise KilnError("overflow", sentence, tensor=index, name=name)
    return dtype, dims, b"", byte_length, tensor


def check_bools(payload: Payload, index: int, name: str | None) -> None:
    """Refuse a dense bool payload with a byte over 1."""
    largest = int(payload[4].view(np.uint8).max(initial=0))
    if largest > 1:
        raise KilnError("bool", f"expected bool bytes 0 or 1, found {largest}", tensor=index, name=name)


def _opaque_payload(tensor: Opaque, index: int, name: str | None) -> Payload:
    dtype = from_numpy(tensor.dtype)
    if dtype is None or dtype.numpy != tensor.dtype:  # the bytes stay as they are, so they cannot be swapped
        raise _refused_dtype(f"found an opaque {tensor.dtype!s:.80}", index, name)
    if len(tensor.shape) > MAX_RANK:
        raise _refused_rank(len(tensor.shape), index, name)
    for dim in tensor.shape:
        if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or not 0 <= dim < U64_END:
            raise KilnError(
                "dims", f"expected dims from 0 to 2^64 - 1, found {shown(tensor.shape)}", tensor=index, name=name
            )
    if not isinstance(tensor.layout, str) or not tensor.layout:
        raise KilnError("layout", f"expected a layout's name, found {shown(tensor.layout)}", tensor=index, name=name)
    layout = utf8(tensor.layout, index, name)
    source: NDArray[np.uint8] = np.frombuffer(tensor.data, np.uint8)
    return dtype, tuple(int(dim) for dim in tensor.shape), layout, source.nbytes, source


def utf8(text: str, index: int, name: str | None) -> bytes:
    """Return the strict UTF-8 bytes of a name, whose length a descriptor can hold."""
    try:
        encoded = str.encode(text)  # a subclass may encode itself to anything
    except UnicodeEncodeError as error:
        raise KilnError(
            "utf8", f"expected text without surrogates, found {shown(text)}", tensor=index, name=name
        ) from error
    if len(encoded) >= U32_END:
        raise KilnError("overflow", f"expected a name below 2^32 bytes, found {len(encoded)}", tensor=index, name=name)
    return encoded


def as_numpy(tensor: object, index: int, name: str | None) -> NDArray[Any]:
    """Return what stands for a tensor as an array, in its own memory where it can; any dtype and rank."""
    if type(tensor) is np.ndarray:
        return tensor
    torch = sys.modules.get("torch")  # whoever holds a torch tensor has imported torch
    if torch is not None and isinstance(tensor, getattr(torch, "Tensor", ())):
        return _from_torch(tensor, torch, index, name)
    try:
        is_array = hasattr(tensor, "__array__")
        stated = stated_dtypes(tensor, index, name) if is_array else None
        array = np.asanyarray(tensor) if is_array else None
    except KilnError:
        raise
    except Exception as error:  # a foreign __array__ may raise anything
        sentence = f"expected an array NumPy can read, found {type(tensor).__name__}: {shown(error)}"
        raise KilnError("array", sentence, tensor=index, name=name) from error
    if array is None or stated is None:
        raise _refused_dtype(f"found {type(tensor).__name__}, which is not an array", index, name)
    if array is not tensor and isinstance(array, np.ndarray):
        stated_dtypes(array, index, name)  # what __array__ returned may have a mask
    array = np.asarray(array)
    if from_numpy(array.dtype) is not None:  # else it is refused for its dtype
        require_stated(array, stated, tensor, index, name)
    return array


def _from_torch(tensor: Any, torch: Any, index: int, name: str | None) -> NDArray[Any]:
    if tensor.device.type != "cpu":
        sentence = f"expected a tensor in the CPU's memory, found one on device {tensor.device}; move it with .cpu()"
        raise KilnError("device", sentence, tensor=index, name=name)
    if tensor.layout != torch.strided:
        raise KilnError("layout", f"expected a strided tensor, found layout {tensor.layout}", tensor=index, name=name)
    dtype = _FROM_TORCH.get(str(tensor.dtype))
    if dtype is None:
        raise _refused_dtype(f"found {tensor.dtype}", index, name)
    if hasattr(tensor, "get_mask"):  # torch.masked.MaskedTensor
        raise KilnError("masked", "expected a tensor without a mask, found a masked tensor", tensor=index, name=name)
    # NumPy has no bf16 or f8 from torch, so every dtype goes over as bytes, one way for all.
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    raw: NDArray[Any] = plain.flatten().view(torch.uint8).numpy()
    return raw.view(dtype.numpy).reshape(tuple(tensor.shape))


def _refused_dtype(found: str, index: int, name: str | None) -> KilnDtypeError:
    return KilnDtypeError("dtype", f"expected one of {_NAMES}, {found}", tensor=index, name=name)


def _refused_rank(rank: int, index: int, name: str | None) -> KilnError:
    return KilnError("rank", f"expected at most {MAX_RANK} dims, found {rank}", tensor=index, name=name)


_NAMES = ", ".join(str(row.numpy) for row in DTYPES)

_FROM_TORCH: dict[str, DType] = {f"torch.{row.numpy}": row for row in DTYPES}
