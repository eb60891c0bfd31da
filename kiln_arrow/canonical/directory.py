"""The tensor directory: a list of tensors as one canonical byte string (spec: tensor directory, version 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from kiln_arrow.canonical.arrays import Opaque, Tensor
from kiln_arrow.canonical.buffers import readable_bytes, writable_bytes
from kiln_arrow.canonical.decoder import Front, read_directory, tensors_of
from kiln_arrow.canonical.dtypes import from_numpy
from kiln_arrow.canonical.encoder import Plan, Tensors, parts_of, plan, write
from kiln_arrow.errors import KilnError, shown

__all__ = [
    "Directory",
    "decode",
    "encode",
    "encode_into",
    "encoded_size",
    "plan_of",
    "read_whole",
    "validate",
]


class Directory(Mapping[str, NDArray[Any]]):
    """The tensors of one directory.

    As a mapping it holds the arrays that have a name, in directory order. `tensors` holds every entry: the unnamed
    and the opaque too. Two directories are equal when their bytes are.

    >>> import numpy, kiln_arrow
    >>> directory = kiln_arrow.decode(kiln_arrow.encode([("b", numpy.arange(3)), (None, numpy.float32(1.5))]))
    >>> directory["b"]
    array([0, 1, 2])
    >>> directory
    Directory('b': i64[3], None: f32[])
    """

    __slots__ = ("_arrays", "_source", "_tensors")

    _tensors: tuple[tuple[str | None, Tensor], ...] | None
    _source: tuple[Front, memoryview, int] | None

    def __init__(self, tensors: Iterable[tuple[str | None, Tensor]]) -> None:
        self._tensors = tuple(tensors)
        self._source = None
        self._arrays: dict[str, NDArray[Any]] | None = None

    @classmethod
    def from_bytes(cls, front: Front, view: memoryview, base: int) -> Directory:
        """Return the tensors of checked bytes; their views are made when they are first asked for."""
        directory = cls.__new__(cls)
        directory._tensors = directory._arrays = None
        directory._source = (front, view, base)
        return directory

    @property
    def tensors(self) -> tuple[tuple[str | None, Tensor], ...]:
        """(name or None, array or `Opaque`) of every tensor, in directory order."""
        if self._tensors is None:
            assert self._source is not None
            self._tensors = tensors_of(*self._source, copy=None)
        return self._tensors

    def _named(self) -> dict[str, NDArray[Any]]:
        if self._arrays is None:
            self._arrays = {name: tensor for name, tensor in self.tensors if name and not isinstance(tensor, Opaque)}
        return self._arrays

    def __reduce__(self) -> tuple[type[Directory], tuple[tuple[tuple[str | None, Tensor], ...]]]:
        return Directory, (self.tensors,)

    def __getitem__(self, name: str) -> NDArray[Any]:
        arrays = self._named()
        if name not in arrays and any(name == other for other, _ in self.tensors):
            raise KeyError(f"{name!r} is no plain array; it is in .tensors")
        return arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named())

    def __len__(self) -> int:
        return len(self._named())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Directory):
            return NotImplemented
        return encode(self) == encode(other)

    __hash__ = None  # type: ignore[assignment]  # its views may lie in a buffer that changes

    def __repr__(self) -> str:
        return f"Directory({', '.join(f'{shown(name)}: {_described(tensor)}' for name, tensor in self.tensors)})"


def _described(tensor: Tensor) -> str:
    row = from_numpy(tensor.dtype)
    text = f"{row.name if row else tensor.dtype}{list(tensor.shape)}"
    return f"{text} in layout {shown(tensor.layout)}" if isinstance(tensor, Opaque) else text


def encode(tensors: Tensors) -> bytes:
    """Return the one directory of `tensors`; equal tensors give equal bytes.

    Args:
        tensors: A mapping of name to tensor, which is sorted by the UTF-8 bytes of its keys; or (name or None, tensor)
            pairs, whose order is kept; or a `Directory`, likewise. A tensor is a NumPy array or scalar of a dtype in
            the table, in any byte order and memory layout, an `Opaque`, a torch tensor on the CPU, or anything with
            `__array__`.

    Raises:
        KilnError: A tensor, a name or the list itself is refused; `rule`, `tensor` and `name` say which and why.
        KilnDtypeError: The same for a dtype outside the table; it is a TypeError too.

    >>> import numpy, kiln_arrow
    >>> len(kiln_arrow.encode({})), len(kiln_arrow.encode({"x": numpy.zeros(3)}))
    (64, 320)
    """
    return b"".join(parts_of(plan_of(tensors)))


def encoded_size(tensors: Tensors) -> int:
    """Return how many bytes `encode` gives, without reading a payload.

    Raises:
        KilnError: As `encode`, except for bool bytes over 1, which only reading them can tell.

    >>> import numpy, kiln_arrow
    >>> kiln_arrow.encoded_size({"x": numpy.zeros(3)})
    320
    """
    return plan_of(tensors, check_contents=False)[0].length


def encode_into(tensors: Tensors, buffer: Any) -> int:
    """Write the directory of `tensors` to the start of `buffer`, and return its length in bytes.

    Nothing is written when anything is refused. Bytes of `buffer` past the directory stay as they are. Tensors may
    lie in `buffer` themselves: those are copied before the first byte is written.

    Args:
        tensors: As for `encode`.
        buffer: A writable, C-contiguous buffer of at least `encoded_size(tensors)` bytes.

    Raises:
        KilnError: As `encode`; rule `buffer` when the buffer is read-only, not contiguous or too small.

    >>> import numpy, kiln_arrow
    >>> buffer = bytearray(512)
    >>> size = kiln_arrow.encode_into({"x": numpy.arange(3)}, buffer)
    >>> kiln_arrow.decode(buffer[:size])["x"]
    array([0, 1, 2])
    """
    target = writable_bytes(buffer)
    planned = plan_of(tensors)
    length = planned[0].length
    if len(target) < length:
        raise KilnError("buffer", f"expected a buffer of at least {length} bytes, found {len(target)}")
    write(planned, target[:length])
    return length


def plan_of(tensors: Tensors, *, check_contents: bool = True) -> Plan:
    """Return the plan of what `encode` takes; a `Directory` keeps its order, though it is a mapping."""
    if type(tensors) is not dict and isinstance(tensors, Directory):  # the first alone is quick
        tensors = tensors.tensors
    return plan(tensors, check_contents=check_contents)


def decode(buffer: Any, *, copy: bool | None = None) -> Directory:
    """Return the tensors of a buffer that holds exactly one directory, all of it checked.

    For every accepted buffer `encode(decode(buffer)) == buffer`. The whole buffer is checked at once; views are made
    when they are first asked for.

    Args:
        buffer: A C-contiguous bytes-like object.
        copy: As NumPy 2 has it. None: read-only views of `buffer`, and a read-only copy of a tensor whose address
            does not suit its dtype. True: fresh, writable arrays. False: views only.

    Raises:
        KilnError: The bytes are not canonical; the first failure in the specification's order.
        KilnEOFError: The buffer ends too soon; it is an EOFError too.
        ValueError: `copy=False`, but a tensor would have to be copied.

    >>> import numpy, kiln_arrow
    >>> directory = kiln_arrow.decode(kiln_arrow.encode({"x": numpy.arange(3)}))
    >>> directory["x"].flags.writeable, directory["x"].copy().flags.writeable
    (False, True)
    """
    view = readable_bytes(buffer)
    data = buffer if type(buffer) is bytes else view  # slices of bytes are cheaper
    front = read_whole(data)
    return Directory.from_bytes(front, view, 0) if copy is None else Directory(tensors_of(front, view, 0, copy=copy))


def validate(buffer: Any) -> None:
    """Check that `buffer` holds exactly one canonical directory; returns nothing.

    Raises:
        KilnError: As `decode`.

    >>> import kiln_arrow
    >>> kiln_arrow.validate(kiln_arrow.encode({}))
    """
    data = buffer if type(buffer) is bytes else readable_bytes(buffer)
    read_whole(data)


def read_whole(data: bytes | memoryview) -> Front:
    """Return the front of the directory that is all of `data`, with every byte checked."""
    front = read_directory(data, 0)
    if len(data) != front.length:
        sentence = f"expected nothing after the directory, found {len(data) - front.length} bytes"
        raise KilnError("trailing", sentence, offset=front.length)
    return front
