"""torch tensors keep their bits, and those NumPy cannot reach are refused by name."""

import numpy as np
import pytest
import torch

import kiln_arrow
from kiln_arrow import KilnDtypeError, KilnError

pytestmark = pytest.mark.torch

BY_NAME = {
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "c64": torch.complex64,
    "c128": torch.complex128,
}


def tensor_of_bits(name, shape):
    """A tensor of arbitrary bits, and the bytes it holds."""
    dtype = BY_NAME[name]
    size = int(np.prod(shape)) * dtype.itemsize
    if not size:
        return torch.empty(shape, dtype=dtype), b""
    raw = np.random.default_rng(7).integers(0, 2 if name == "bool" else 256, size, np.uint8)
    return torch.from_numpy(raw.copy()).view(dtype).reshape(shape), raw.tobytes()


def test_every_dtype_of_the_table_has_its_torch_dtype():
    assert set(BY_NAME) == {row.name for row in kiln_arrow.DTYPES}


@pytest.mark.parametrize("row", kiln_arrow.DTYPES, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (2, 0, 3), (0,)])
def test_a_torch_tensor_keeps_its_bits(row, shape):
    tensor, raw = tensor_of_bits(row.name, shape)
    found = kiln_arrow.decode(kiln_arrow.encode({"t": tensor}))["t"]
    assert (found.dtype, found.shape, found.tobytes()) == (row.numpy, shape, raw)


@pytest.mark.parametrize("row", kiln_arrow.DTYPES, ids=lambda row: row.name)
def test_a_strided_torch_tensor_is_written_row_major(row):
    tensor, raw = tensor_of_bits(row.name, (4, 6))
    expected = np.frombuffer(raw, row.numpy).reshape(4, 6)
    for view, array in ((tensor.T, expected.T), (tensor[1:, ::2], expected[1:, ::2])):
        assert kiln_arrow.encode({"t": view}) == kiln_arrow.encode({"t": np.ascontiguousarray(array)})
        target = bytearray(kiln_arrow.encoded_size({"t": view}))
        kiln_arrow.encode_into({"t": view}, target)
        assert target == kiln_arrow.encode({"t": view})


def test_lazy_conjugates_and_negatives_are_resolved():
    z = torch.tensor([1 + 2j, 3 - 4j])
    for tensor in (z.conj(), z.conj().imag, torch._neg_view(torch.tensor([1.0, -2.0]))):
        found = kiln_arrow.decode(kiln_arrow.encode({"t": tensor}))["t"]
        assert found.tolist() == tensor.tolist()


def test_a_tensor_that_asks_for_gradients_is_taken():
    tensor = torch.ones(3, requires_grad=True)
    assert kiln_arrow.decode(kiln_arrow.encode({"t": tensor}))["t"].tolist() == [1, 1, 1]
    assert kiln_arrow.encode({"t": torch.nn.Parameter(torch.ones(3))}) == kiln_arrow.encode({"t": tensor})


def test_a_contiguous_tensor_is_written_from_where_it_lies():
    tensor = torch.zeros(3)
    target = torch.zeros(256 + 64, dtype=torch.uint8).numpy()
    kiln_arrow.encode_into({"t": tensor}, target)
    aliasing = torch.from_numpy(target)[:12].view(torch.float32)
    expected = kiln_arrow.encode({"t": aliasing.clone()})
    kiln_arrow.encode_into({"t": aliasing}, target)
    assert bytes(target) == expected


@pytest.mark.parametrize(
    ("tensor", "rule"),
    [
        (torch.empty(3, device="meta"), "device"),
        (torch.eye(3).to_sparse(), "layout"),
        (torch.zeros(3, dtype=torch.uint8).add(2).view(torch.bool), "bool"),
    ],
)
def test_a_tensor_numpy_cannot_have_is_refused_by_name(tensor, rule):
    with pytest.raises(KilnError) as caught:
        kiln_arrow.encode([("fine", torch.ones(1)), ("bad", tensor)])
    assert (caught.value.rule, caught.value.tensor, caught.value.name) == (rule, 1, "bad")


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu])
def test_other_torch_dtypes_are_refused(dtype):
    with pytest.raises(KilnDtypeError, match=str(dtype)):
        kiln_arrow.encode({"t": torch.zeros(3, dtype=torch.uint8).view(dtype)})
