"""Whatever a .npz or .safetensors file holds, it is read or refused: no other error, and no warning."""

import io
import random
import zipfile
from collections import Counter

import numpy as np
import pytest
from safetensors.numpy import save

from helpers.mutations import changed
from kiln_arrow.files.other_formats import ExchangeError, read_tensors

COMPRESSIONS = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


def npz(arrays, compression):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", compression) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.save(entry, array)
            archive.writestr(f"{name}.npy", entry.getvalue())
    return sink.getvalue()


def files():
    arrays = {"a": np.arange(200), "b": np.zeros((2, 0), np.float32)}
    made = {name: npz(arrays, compression) for name, compression in COMPRESSIONS.items()}
    return made | {"safetensors": save(arrays, {"note": "x"})}


@pytest.mark.parametrize("form", files())
def test_a_changed_file_of_tensors_is_read_or_refused(form, tmp_path):
    path = tmp_path / ("f.safetensors" if form == "safetensors" else "f.npz")
    content, others = files()[form], list(files().values())
    outcomes = Counter()
    for number in range(600):
        path.write_bytes(changed(content, random.Random(number), others))
        try:
            read_tensors(path)
            outcomes["read"] += 1
        except ExchangeError:
            outcomes["refused"] += 1
    assert outcomes["refused"] > 100
    path.write_bytes(content)
    assert [name for name, _ in read_tensors(path)] == ["a", "b"]


def test_a_file_that_cannot_be_opened_is_not_called_broken(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_tensors(tmp_path / "none.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(IsADirectoryError):
        read_tensors(tmp_path / "folder.npz")


def test_a_header_that_python_2_wrote_is_read_without_a_warning(tmp_path):
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (1L,), }"
    header += b" " * (117 - len(header)) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + (7).to_bytes(8, "little")
    with zipfile.ZipFile(tmp_path / "f.npz", "w") as archive:
        archive.writestr("x.npy", data)
    ((name, array),) = read_tensors(tmp_path / "f.npz")
    assert (name, array.tolist()) == ("x", [7])
