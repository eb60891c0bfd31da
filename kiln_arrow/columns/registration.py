"""Making the extension types known to pyarrow, once for the whole process."""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

import pyarrow as pa

from kiln_arrow.columns.extension_types import FRAME, TENSORS, FrameType, TensorsType

__all__ = [
    "register",
    "register_on_import",
    "unregister",
]

_SWITCH = "KILN_ARROW_REGISTER"

_LOCK = threading.Lock()
_LOG = logging.getLogger("kiln_arrow")

# pyarrow registers instances; these stand for their classes.
_TYPES: dict[str, Any] = {TENSORS: TensorsType(), FRAME: FrameType("struct{_:bool,}")}


def register() -> None:
    """Make pyarrow know `kiln.tensors` and `kiln.frame`, so that what it reads from now on has these types.

    Importing `kiln_arrow` does this, unless the environment has `KILN_ARROW_REGISTER=0`. Doing it again, from any
    thread or after a reload, is harmless.

    Raises:
        RuntimeError: Another library has registered a type of its own under one of the names.

    >>> import kiln_arrow
    >>> kiln_arrow.register()
    """
    with _LOCK:
        for name, data_type in _TYPES.items():
            _register_one(name, data_type)


def unregister() -> None:
    """Make pyarrow forget both types: what it reads from now on is plain storage. Arrays at hand stay as they are.

    Types of other libraries under these names are left alone.

    >>> import kiln_arrow, pyarrow
    >>> kiln_arrow.unregister()
    >>> field = pyarrow.field("x", kiln_arrow.TensorsType())
    >>> pyarrow.ipc.read_schema(pyarrow.schema([field]).serialize()).field("x").type
    DataType(binary)
    >>> kiln_arrow.register()
    """
    with _LOCK:
        for name, data_type in _TYPES.items():
            holder = _holder(data_type)
            if holder is not None and _is_ours(holder, data_type):
                pa.unregister_extension_type(name)


def register_on_import() -> None:
    """Register unless the environment says not to; a foreign type under one of the names is logged."""
    if os.environ.get(_SWITCH) == "0":
        return
    try:
        register()
    except RuntimeError as error:
        _LOG.warning("%s", error)


def _register_one(name: str, data_type: Any) -> None:
    try:
        pa.register_extension_type(data_type)
    except pa.ArrowKeyError:
        holder = _holder(data_type)
        if holder is type(data_type):
            return
        if holder is None or not _is_ours(holder, data_type):
            found = "another library" if holder is None else f"{holder.__module__}.{holder.__qualname__}"
            raise RuntimeError(
                f"cannot register the Arrow extension type {name}: {found} has registered a type of that name. "
                f"pyarrow.unregister_extension_type({name!r}) removes it"
            ) from None
        # Ours from before a reload, or imported under another name: the newest holds the name.
        pa.unregister_extension_type(name)
        pa.register_extension_type(data_type)


def _is_ours(holder: type, data_type: Any) -> bool:
    # The class is another one after a reload, or where the package is imported under another name too.
    return bool(getattr(holder, "defined_by", None) == type(data_type).defined_by)


def _holder(data_type: Any) -> type | None:
    """Return the class that pyarrow makes of a field with this type's name; None where that fails.

    pyarrow does not tell who holds a name, so a schema is read to see. Where nobody does, what comes is plain storage.
    """
    schema = pa.schema([pa.field("", data_type)])
    try:
        found: Any = pa.ipc.read_schema(schema.serialize()).field(0).type
    except Exception:  # the hook of a foreign type may raise anything
        return None
    return type(found)
