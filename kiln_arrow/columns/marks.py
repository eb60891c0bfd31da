"""What a file marks as Kiln's, kept even where it does not fit, so that no marked column is taken for another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from kiln_arrow.columns.arrow_types import with_fields
from kiln_arrow.columns.extension_types import FRAME, STORAGES, TENSORS, FrameType, TensorsType
from kiln_arrow.columns.registration import register, unregister
from kiln_arrow.errors import KilnError

__all__ = ["keeping_marks", "label", "marked_type", "tensors_over", "unmarked"]

# Where Arrow keeps an extension type in a field whose reader does not know it.
_NAME_KEY, _METADATA_KEY = b"ARROW:extension:name", b"ARROW:extension:metadata"

_CLASSES: dict[bytes, Any] = {TENSORS.encode(): TensorsType, FRAME.encode(): FrameType}
_PREFIX = b"kiln."


class _Mark(pa.ExtensionType):  # type: ignore[misc]
    """A mark as a file has it, over any storage and with any metadata."""

    NAME = ""

    def __init__(self, storage: pa.DataType, metadata: bytes) -> None:
        self.metadata = metadata  # before the inherited __init__, which asks for it
        super().__init__(storage, self.NAME)

    def __arrow_ext_serialize__(self) -> bytes:
        return self.metadata

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, metadata: bytes) -> pa.DataType:
        return cls(storage, metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.storage_type, self.metadata)


class _TensorsMark(_Mark):
    NAME = TENSORS


class _FrameMark(_Mark):
    NAME = FRAME


@contextmanager
def keeping_marks(*, in_metadata: bool) -> Iterator[None]:
    """Make pyarrow keep every mark in what it reads, where `marked_type` finds it.

    The types themselves are unknown to it meanwhile: it would read a column whose mark does not fit as plain storage,
    and drop the mark.

    Args:
        in_metadata: True for Parquet: the marks stay in the metadata of the fields, which is all that pyarrow has of
            them. False for Arrow data: pyarrow keeps no metadata of the values of runs, so types that fit every mark
            stand in.

    Raises:
        RuntimeError: Another library has registered a type of its own under one of the names.
    """
    register()
    unregister()
    marks = [] if in_metadata else [kind(pa.null(), b"") for kind in (_TensorsMark, _FrameMark)]
    for mark in marks:
        pa.register_extension_type(mark)
    try:
        yield
    finally:
        for mark in marks:
            pa.unregister_extension_type(mark.extension_name)
        register()


def label(field: pa.Field) -> str:
    """Return a field's name, whatever bytes it has, as text for people."""
    try:
        name: str = field.name
    except UnicodeDecodeError as error:
        return bytes(error.object).decode("utf-8", "backslashreplace")
    return name


def unmarked(field: pa.Field) -> pa.Field:
    """Return a field without the metadata that marks it."""
    kept = {key: value for key, value in (field.metadata or {}).items() if key not in (_NAME_KEY, _METADATA_KEY)}
    return field.with_metadata(kept or None)


def marked_type(field: pa.Field, path: str = "") -> pa.DataType:
    """Return a field's type with the Kiln types in the places that are marked, at any depth.

    Raises:
        KilnError: What is marked cannot be looked at: another version, another storage, a name that is not known here,
            or a place that is not looked into; rule `arrow_type`, with the field's `path`.
    """
    path = ".".join(filter(None, (path, label(field))))
    metadata = field.metadata or {}
    try:
        return _marked(field.type, metadata.get(_NAME_KEY, b""), metadata.get(_METADATA_KEY, b""), path)
    except KilnError as error:
        raise error if error.path else error.placed(path) from error.__cause__


def _marked(data_type: pa.DataType, name: bytes, metadata: bytes, path: str) -> pa.DataType:
    if isinstance(data_type, _Mark):
        return _over(data_type.storage_type, _CLASSES[data_type.NAME.encode()], data_type.metadata)
    if not name.startswith(_PREFIX):
        return _inside(data_type, path)
    if name not in _CLASSES:
        expected = " or ".join(kind.decode() for kind in _CLASSES)
        raise KilnError("arrow_type", f"expected {expected}, found a column marked as {name!r:.80}")
    return _over(data_type, _CLASSES[name], metadata)


def tensors_over(data_type: pa.DataType) -> pa.DataType:
    """Return the type of bytes, or of a dictionary or runs of bytes, with the bytes as `kiln.tensors`.

    Raises:
        KilnError: They are no bytes; rule `arrow_type`.
    """
    return _over(data_type, TensorsType, TensorsType().__arrow_ext_serialize__())


def _over(data_type: pa.DataType, kind: Any, metadata: bytes) -> pa.DataType:
    # The mark of a dictionary's values, or those of runs, stands at the field in a file.
    if pa.types.is_dictionary(data_type) or pa.types.is_run_end_encoded(data_type):
        return with_fields(data_type, lambda values: values.with_type(_over(values.type, kind, metadata)))
    if data_type not in STORAGES:
        raise KilnError("arrow_type", f"expected bytes as storage, found {data_type!s:.200}")
    found: pa.DataType = kind._from_metadata(data_type, metadata)
    return found


def _inside(data_type: pa.DataType, path: str) -> pa.DataType:
    if isinstance(data_type, pa.BaseExtensionType):
        inner = _inside(data_type.storage_type, path)
        return data_type if inner == data_type.storage_type else inner
    found = with_fields(data_type, lambda child: unmarked(child.with_type(marked_type(child, path))))
    if pa.types.is_union(data_type) and any(
        marked_type(data_type.field(index), path) != data_type.field(index).type
        for index in range(data_type.num_fields)
    ):
        raise KilnError("arrow_type", "expected Kiln's cells outside unions, found some in one", path=path)
    return found
