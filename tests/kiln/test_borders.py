"""Numbers at the border: where a view holds its bytes itself, how small a struct can be, which buffer a view is in."""

import numpy as np
import pyarrow as pa
import pytest

import kiln_arrow
from kiln_arrow import KilnEOFError, TensorsType


@pytest.mark.parametrize("length", [0, 11, 12, 13])
def test_views_of_every_length_are_read(length):
    texts = pa.array(["x" * length, "y" * length], pa.string_view())
    frames = kiln_arrow.from_structs(pa.StructArray.from_arrays([texts], ["s"]))
    assert [row["s"] for row in frames.to_pylist()] == ["x" * length, "y" * length]


def test_a_count_of_structs_needs_the_bytes_of_all_their_fields():
    data = (2).to_bytes(8, "little") + bytes(16)
    with pytest.raises(KilnEOFError) as caught:
        kiln_arrow.thaw("list{struct{a:i64,b:i64,},}", data)
    assert caught.value.path == ""  # told by the count, before any item is read
    assert "expected 32 bytes of list items" in str(caught.value)


def test_views_evenly_spaced_in_several_buffers_are_read_from_their_own():
    cells = [kiln_arrow.encode({"x": np.int64([number])}) for number in range(4)]
    size, prefix = len(cells[0]), int.from_bytes(b"KLNT", "little")
    views = np.int32([[size, prefix, which, place * size] for place, which in enumerate([0, 1, 0, 1])])
    data = [b"".join(cells[:3:2][0] if which == 0 else cells[3] for _ in range(4)) for which in (0, 1)]
    storage = pa.Array.from_buffers(pa.binary_view(), 4, [None, pa.py_buffer(views), *map(pa.py_buffer, data)])
    column = TensorsType(pa.binary_view()).wrap_array(storage)
    assert kiln_arrow.to_numpy(column)["x"].tolist() == [[0], [3], [0], [3]]
