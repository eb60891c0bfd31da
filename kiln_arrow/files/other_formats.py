"""Tensors in the files of others: NumPy's .npz, and safetensors. Names of tensors are never used as paths."""

from __future__ import annotations

import errno
import io
import json
import lzma
import os
import struct
import warnings
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from kiln_arrow.canonical.arrays import Opaque
from kiln_arrow.canonical.directory import Directory
from kiln_arrow.canonical.dtypes import DTYPES, from_numpy
from kiln_arrow.errors import shown
from kiln_arrow.files.whole_files import whole_file

__all__ = [
    "FORMATS",
    "ExchangeError",
    "read_tensors",
    "write_tensors",
]

FORMATS = (".npz", ".safetensors")
"""Endings of the files that can be read and written."""

_NPY = ".npy"

# Deflate makes nothing more than about a thousand times smaller, so that a claim of more is none to allocate on.
_LARGEST_DEFLATION = 1040

# What zipfile, the decompressors under it and NumPy raise of an archive that is broken. bzip2 says so by an OSError
# without a number, and a place before the file's start is an invalid argument.
_BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(ValueError, EOFError, NotImplementedError, RuntimeError, MemoryError),
)
_ERRNO_OF_BROKEN_ARCHIVES = (None, errno.EINVAL)

_DTYPE_OF_SAFETENSORS = {
    "BOOL": "bool",
    **{f"{sign}{bits}": f"{sign.lower()}{bits}" for sign in "IU" for bits in (8, 16, 32, 64)},
    "F16": "f16",
    "BF16": "bf16",
    "F32": "f32",
    "F64": "f64",
    "F8_E4M3": "f8e4m3",
    "F8_E5M2": "f8e5m2",
    "C64": "c64",
}

_BY_NAME = {row.name: row for row in DTYPES}
_SAFETENSORS_NAMES = frozenset(_DTYPE_OF_SAFETENSORS.values())


class ExchangeError(ValueError):
    """A file that cannot be read, or tensors that a format cannot hold."""


def read_tensors(path: Path) -> list[tuple[str, NDArray[Any]]]:
    """Return name and array of each tensor in a file, sorted by name bytes; its ending says what it is.

    Nothing is unpickled, and nothing allocated on a size that the file's own length does not bear out.

    Raises:
        ExchangeError: The file is not what its ending says, or holds what no directory can.
        OSError: It cannot be read.
    """
    read = {".npz": _read_npz, ".safetensors": _read_safetensors}.get(path.suffix)
    if read is None:
        raise ExchangeError(f"expected a file ending in {' or '.join(FORMATS)}")
    return sorted(read(path), key=lambda entry: entry[0].encode("utf-8", "surrogatepass"))


def _read_npz(path: Path) -> list[tuple[str, NDArray[Any]]]:
    tensors = []
    try:
        with zipfile.ZipFile(path) as archive:
            left = path.stat().st_size * _LARGEST_DEFLATION  # for all members, which may share their bytes
            for member in archive.infolist():
                if not member.filename.endswith(_NPY):
                    raise ExchangeError(f"expected only arrays in it, found {shown(member.filename)}")
                name = member.filename.removesuffix(_NPY)
                with archive.open(member) as file:
                    array = _read_npy(file, member, left)
                left -= array.nbytes
                tensors.append((name, array))
    except OSError as error:
        if error.errno not in _ERRNO_OF_BROKEN_ARCHIVES:
            raise
        raise ExchangeError(f"it is no .npz file: {error.strerror or error}") from error
    except _BROKEN_ARCHIVE as error:
        if isinstance(error, ExchangeError):
            raise
        raise ExchangeError(f"it is no .npz file: {error}") from error
    return tensors


def _read_npy(file: Any, member: zipfile.ZipInfo, most: int) -> NDArray[Any]:
    version = npy.read_magic(file)
    read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read_header is None:
        raise ExchangeError(f"expected a plain array under {shown(member.filename)}, found .npy version {version}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of headers that Python 2 wrote, and reads them
        shape, is_fortran, dtype = read_header(file)
    if from_numpy(dtype) is None:
        raise ExchangeError(f"expected a dtype that directories have under {shown(member.filename)}, found {dtype}")
    count = 1
    for dim in shape:
        count *= dim
    claimed = count * dtype.itemsize
    if min(shape, default=0) < 0 or claimed > member.file_size or claimed > most:
        raise ExchangeError(f"{shown(member.filename)} claims {claimed} bytes, which the file does not hold")
    data = file.read(claimed + 1)
    if len(data) != claimed:
        raise ExchangeError(f"expected {claimed} bytes under {shown(member.filename)}, found another number")
    flat: NDArray[Any] = np.frombuffer(data, dtype, count)
    return flat.reshape(shape, order="F" if is_fortran else "C")


def _read_safetensors(path: Path) -> list[tuple[str, NDArray[Any]]]:
    safetensors = _safetensors()
    data = path.read_bytes()
    _require_keys_once(data)
    try:
        found = safetensors.deserialize(data)
    except safetensors.SafetensorError as error:
        raise ExchangeError(f"it is no safetensors file: {error}") from error
    tensors = []
    for name, tensor in found:
        row = _BY_NAME.get(_DTYPE_OF_SAFETENSORS.get(tensor["dtype"], ""))
        if row is None:
            raise ExchangeError(f"expected a dtype that directories have for {shown(name)}, found {tensor['dtype']}")
        flat: NDArray[Any] = np.frombuffer(tensor["data"], row.numpy)
        tensors.append((name, flat.reshape(tensor["shape"])))
    return tensors


def _require_keys_once(data: bytes) -> None:
    """Refuse a safetensors header with a key twice, of which the library takes the last and drops the others."""
    try:
        json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")], object_pairs_hook=_without_duplicates)
    except ExchangeError:
        raise
    except (ValueError, RecursionError):  # no header: the library says why
        return


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ExchangeError(f"expected every key once in its header, found {shown(key)} twice")
        found[key] = value
    return found


def _safetensors() -> Any:
    try:
        import safetensors
    except ImportError:
        raise ExchangeError("safetensors is not installed: pip install 'kiln-arrow[safetensors]'") from None
    return safetensors


def write_tensors(directory: Directory, path: Path) -> None:
    """Write the tensors of a directory to a new file; its ending says as what.

    Raises:
        ExchangeError: The format cannot hold them; nothing was written.
        FileExistsError: There is such a file already.
        OSError: It cannot be written; nothing of it is left.
    """
    data = {".npz": _npz, ".safetensors": _to_safetensors}[path.suffix](_plain_tensors(directory))
    with whole_file(path, replace=False) as temporary:
        temporary.write_bytes(data)


def _plain_tensors(directory: Directory) -> list[tuple[str, NDArray[Any]]]:
    tensors = []
    for index, (name, tensor) in enumerate(directory.tensors):
        if name is None:
            raise ExchangeError(f"tensor {index} has no name, which the format needs")
        if isinstance(tensor, Opaque):
            raise ExchangeError(f"tensor {index} {shown(name)} is in layout {shown(tensor.layout)}, not a plain array")
        tensors.append((name, tensor))
    return tensors


def _npz(tensors: list[tuple[str, NDArray[Any]]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, tensor in tensors:
            row = from_numpy(tensor.dtype)
            if row is None or not row.is_numpys_own:
                raise ExchangeError(f"NumPy's files have no {tensor.dtype}, which {shown(name)} is; use safetensors")
            if _leaves_its_folder(name):
                raise ExchangeError(
                    f"{shown(name)} is no name for a member of an archive, as it may be unpacked as a path"
                )
            with archive.open(zipfile.ZipInfo(name + _NPY), "w", force_zip64=True) as member:
                npy.write_array(member, tensor, allow_pickle=False)
    return buffer.getvalue()


def _leaves_its_folder(name: str) -> bool:
    windows = PureWindowsPath(name)
    return bool(
        "\0" in name
        or name != name.strip()
        or windows.anchor
        or PurePosixPath(name).is_absolute()
        or ".." in windows.parts
        or os.fspath(PurePosixPath(name)) != name
    )


def _to_safetensors(tensors: list[tuple[str, NDArray[Any]]]) -> bytes:
    _safetensors()
    from safetensors.numpy import save

    for name, tensor in tensors:
        row = from_numpy(tensor.dtype)
        if row is None or row.name not in _SAFETENSORS_NAMES:
            raise ExchangeError(f"safetensors has no {tensor.dtype}, which {shown(name)} is")
        if name == "__metadata__":
            raise ExchangeError("safetensors keeps the name '__metadata__' to itself")
    try:
        data: bytes = save(dict(tensors))
    except Exception as error:  # whatever else the library refuses, under errors of its own
        raise ExchangeError(f"safetensors refuses these tensors: {error}") from error
    return data
