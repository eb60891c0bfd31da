"""`kiln.tensors` and `kiln.frame` as Arrow extension types (spec: in Arrow)."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from typing import Any

import pyarrow as pa

from _arrow_io.leaving import wait_at_exit
from kiln_arrow.canonical.directory import decode
from kiln_arrow.canonical.frame import unframe
from kiln_arrow.canonical.typetext import Struct, parse_type, schema_hash
from kiln_arrow.errors import KilnError
from kiln_arrow.foreign.structure import measured

__all__ = [
    "FRAME",
    "STORAGES",
    "TENSORS",
    "FrameArray",
    "FrameScalar",
    "FrameType",
    "TensorsArray",
    "TensorsScalar",
    "TensorsType",
    "is_kiln",
]


TENSORS = "kiln.tensors"
FRAME = "kiln.frame"

STORAGES = (pa.binary(), pa.large_binary(), pa.binary_view())
"""What may hold cells, the default first."""

_TENSORS_METADATA = b'{"version":2}'
# A type text has no character that JSON escapes, so the metadata of a frame is this around the text.
_FRAME_PREFIX, _FRAME_SUFFIX = b'{"type":"', b'","version":2}'

_LOG = logging.getLogger("kiln_arrow")


# pyarrow publishes no types, so that mypy cannot see what these classes extend.


class TensorsScalar(pa.ExtensionScalar):  # type: ignore[misc]
    """One cell of a `kiln.tensors` column."""

    def as_py(self, **_: Any) -> Any:
        """Return the cell as a `Directory` of read-only views, checked as `decode` checks; None for a null.

        Raises:
            KilnError: The cell is malformed.
        """
        value = self.value
        return None if value is None or not value.is_valid else decode(value.as_buffer())

    def __reduce__(self) -> tuple[Any, ...]:  # the inherited one would build the scalar from what as_py returns
        return _scalar, (self.type, _bytes_of(self))

    def __repr__(self) -> str:  # the inherited one shows every byte
        return _repr_of(self)


class FrameScalar(pa.ExtensionScalar):  # type: ignore[misc]
    """One cell of a `kiln.frame` column."""

    def as_py(self, **_: Any) -> Any:
        """Return the cell's value as `thaw` gives it, a dict in field order; None for a null.

        Raises:
            KilnError: The cell is malformed.
        """
        value = self.value
        return None if value is None or not value.is_valid else unframe(self.type.type_text, value.as_buffer())

    def __reduce__(self) -> tuple[Any, ...]:
        return _scalar, (self.type, _bytes_of(self))

    def __repr__(self) -> str:
        return _repr_of(self)


def _bytes_of(scalar: Any) -> bytes | None:
    return None if scalar.value is None else scalar.value.as_py()


def _scalar(data_type: pa.DataType, data: bytes | None) -> Any:
    return pa.scalar(data, data_type)


def _repr_of(scalar: Any) -> str:
    value = scalar.value
    found = "null" if value is None or not value.is_valid else f"{value.as_buffer().size} bytes"
    return f"<kiln_arrow.{type(scalar).__name__}: {found}>"


class _KilnArray(pa.ExtensionArray):  # type: ignore[misc]
    def to_pylist(self, **options: Any) -> list[Any]:
        """Return each row's `as_py()`, once the offsets are known to lie within the column's buffers.

        Raises:
            KilnError: The Arrow array points outside its buffers, or a cell is malformed.
        """
        measured(self)
        values: list[Any] = super().to_pylist(**options)
        return values


class TensorsArray(_KilnArray):
    """A column of tensor directories; `to_pylist` gives a `Directory` for each row, None for a null.

    >>> import numpy, kiln_arrow
    >>> column = kiln_arrow.from_numpy({"x": numpy.arange(2)})
    >>> type(column).__name__, column.to_pylist()[1]["x"]
    ('TensorsArray', array(1))
    """


class FrameArray(_KilnArray):
    """A column of framed values; `to_pylist` gives the value of each row, None for a null.

    >>> import kiln_arrow
    >>> kiln_arrow.array([{"id": 7}, None], type=kiln_arrow.FrameType("struct{id:i64,}")).to_pylist()
    [{'id': 7}, None]
    """


class TensorsType(pa.ExtensionType):  # type: ignore[misc]
    """The type of a column whose cells are tensor directories: any number of tensors of any shape and dtype a row.

    Args:
        storage: `pyarrow.binary()`, `large_binary()` or `binary_view()`. A chunk over large_binary may pass 2 GiB, but
            pyarrow 26 corrupts memory when it joins a table with one: use `to_storage` before a join.

    Raises:
        KilnError: Another storage; rule `arrow_type`.

    >>> import kiln_arrow
    >>> kiln_arrow.TensorsType().storage_type
    DataType(binary)
    """

    defined_by = "kiln_arrow", TENSORS

    def __init__(self, storage: pa.DataType = STORAGES[0]) -> None:
        super().__init__(_checked(storage), TENSORS)

    def __arrow_ext_serialize__(self) -> bytes:
        return _TENSORS_METADATA

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, metadata: bytes) -> pa.DataType:
        return _interned(cls, storage, metadata)

    @classmethod
    def _from_metadata(cls, storage: pa.DataType, metadata: bytes) -> TensorsType:
        if metadata != _TENSORS_METADATA:
            raise KilnError("arrow_type", f"expected metadata {_TENSORS_METADATA!r}, found {metadata[:80]!r}")
        return cls(storage)

    def __arrow_ext_class__(self) -> type[TensorsArray]:
        return TensorsArray

    def __arrow_ext_scalar_class__(self) -> type[TensorsScalar]:
        return TensorsScalar

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorsType) and self.storage_type == other.storage_type

    def __hash__(self) -> int:
        return hash((TENSORS, self.storage_type))

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorsType, (self.storage_type,)


class FrameType(pa.ExtensionType):  # type: ignore[misc]
    """The type of a column whose cells are frames, all of one type.

    Attributes:
        type_text: The canonical type text; the type is a struct.

    Args:
        type_text: Canonical text of a struct.
        storage: As for `TensorsType`.

    Raises:
        KilnError: Another storage, or a type that is no struct (rule `arrow_type`); a text that is not canonical.

    >>> import kiln_arrow
    >>> kiln_arrow.FrameType("struct{id:i64,batch:tensors,}").type_text
    'struct{id:i64,batch:tensors,}'
    """

    defined_by = "kiln_arrow", FRAME

    def __init__(self, type_text: str, storage: pa.DataType = STORAGES[0]) -> None:
        if not isinstance(parse_type(type_text), Struct):
            raise KilnError("arrow_type", f"expected the type text of a struct, found {type_text[:80]!r}")
        self.type_text = type_text  # before the inherited __init__, which asks for the metadata
        super().__init__(_checked(storage), FRAME)

    def __arrow_ext_serialize__(self) -> bytes:
        return _FRAME_PREFIX + self.type_text.encode() + _FRAME_SUFFIX

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, metadata: bytes) -> pa.DataType:
        return _interned(cls, storage, metadata)

    @classmethod
    def _from_metadata(cls, storage: pa.DataType, metadata: bytes) -> FrameType:
        text = metadata[len(_FRAME_PREFIX) : -len(_FRAME_SUFFIX)]
        if metadata != _FRAME_PREFIX + text + _FRAME_SUFFIX:
            expected = (_FRAME_PREFIX + b"struct{...}" + _FRAME_SUFFIX).decode()
            raise KilnError("arrow_type", f"expected metadata {expected}, found {metadata[:80]!r}")
        return cls(text.decode("ascii", "replace"), storage)

    def __arrow_ext_class__(self) -> type[FrameArray]:
        return FrameArray

    def __arrow_ext_scalar_class__(self) -> type[FrameScalar]:
        return FrameScalar

    @property
    def schema_hash(self) -> int:
        """The 64-bit schema hash that each cell's frame bears."""
        return schema_hash(self.type_text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FrameType):
            return False
        return self.storage_type == other.storage_type and self.type_text == other.type_text

    def __hash__(self) -> int:
        return hash((FRAME, self.storage_type, self.type_text))

    def __reduce__(self) -> tuple[Any, ...]:
        return FrameType, (self.type_text, self.storage_type)


def _checked(storage: pa.DataType) -> pa.DataType:
    if storage not in STORAGES:
        raise KilnError("arrow_type", f"expected binary, large_binary or binary_view as storage, found {storage!s:.80}")
    return storage


# Types read from files are kept, and each is handed out again. It saves time, as pyarrow asks for the type of every row
# of a column that is iterated. It also keeps Arrow's threads from dropping the last reference to a type defined in
# Python, for which they need the interpreter, at a time when it shuts down: that aborts the process. The bounds keep
# foreign metadata from filling the memory.
_KEPT: dict[Hashable, pa.DataType] = {}
_KEPT_COUNT = 4096
_KEPT_SIZE = 1 << 16


def _interned(cls: Any, storage: pa.DataType, metadata: bytes) -> pa.DataType:
    """Return the type of foreign metadata over a storage; the storage itself where they do not fit.

    pyarrow calls this from its own threads while it reads a schema. Were an error to leave it, the whole file would be
    unreadable, so that nothing is raised or warned.
    """
    # The storage's text tells apart the storages that are accepted; of others only the refusal is kept.
    accepted = storage in STORAGES
    key = (cls, storage.id if accepted else None, metadata)
    kept = _KEPT.get(key)
    if kept is not None:
        return storage if kept is _REFUSED else kept
    wait_at_exit()  # Arrow's threads hold a type that is defined in Python from here on
    found: pa.DataType
    try:
        found = cls._from_metadata(storage, metadata)
    except KilnError as error:
        _log_refusal(cls, error)
        found = _REFUSED
    if len(_KEPT) < _KEPT_COUNT and len(metadata) <= _KEPT_SIZE:
        found = _KEPT.setdefault(key, found)
    return storage if found is _REFUSED else found


_REFUSED = pa.null()  # stands for a refusal among what is kept


def _log_refusal(cls: Any, error: KilnError) -> None:
    try:
        _LOG.warning("a column marked as Kiln's %s is read as plain storage: %s", cls.__name__, error)
    except Exception:  # a logging filter may raise anything, and nothing may leave pyarrow's hook
        return


def is_kiln(data_type: pa.DataType) -> bool:
    """Return whether a type is one of Kiln's two.

    Told by name and storage rather than by class, as after a reload two classes of the same name are about.
    """
    return type(data_type) in (TensorsType, FrameType) or (
        isinstance(data_type, pa.BaseExtensionType)
        and data_type.extension_name in (TENSORS, FRAME)
        and data_type.storage_type in STORAGES
    )
