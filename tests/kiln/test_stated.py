"""What has nulls or a mask is no tensor, whatever holds it; and NumPy changes no dtype on the way in."""

import ml_dtypes
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kiln_arrow
from kiln_arrow import KilnDtypeError, KilnError

BIG = 2**60 + 1


def taken(tensor):
    """What a tensor is read back as, which every function that takes tensors agrees on."""
    (directory,) = [kiln_arrow.decode(kiln_arrow.encode({"x": tensor}))]
    assert kiln_arrow.array([{"x": tensor}])[0].as_py() == directory
    assert kiln_arrow.thaw("tensors", kiln_arrow.freeze("tensors", {"x": tensor})) == directory
    if directory["x"].ndim:
        stacked = kiln_arrow.to_numpy(kiln_arrow.from_numpy({"x": tensor}))
        assert not len(directory["x"]) or stacked["x"].tobytes() == directory["x"].tobytes()
    return directory["x"]


def refused(tensor):
    """The error of a tensor, which every function that takes tensors agrees on."""
    errors = []
    for function in (
        lambda: kiln_arrow.encode({"x": tensor}),
        lambda: kiln_arrow.encode([("x", tensor)]),
        lambda: kiln_arrow.encoded_size({"x": tensor}),
        lambda: kiln_arrow.encode_into({"x": tensor}, bytearray(1 << 10)),
        lambda: kiln_arrow.array([{"x": tensor}]),
        lambda: kiln_arrow.from_numpy({"x": tensor}),
        lambda: kiln_arrow.freeze("tensors", {"x": tensor}),
        lambda: kiln_arrow.frame("struct{t:tensors,}", {"t": {"x": tensor}}),
    ):
        with pytest.raises(KilnError) as caught:
            function()
        errors.append((caught.value.rule, caught.value.tensor, caught.value.name))
    (same,) = set(errors)
    assert same[1:] == (0, "x")
    return same[0]


def bool8(values):
    return pa.ExtensionArray.from_storage(pa.bool8(), pa.array(values, pa.int8()))


class WithMask(np.ndarray):
    mask = np.array([False, True])


class Stating:
    """Says one dtype and gives another."""

    dtype = np.dtype("float32")

    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2])


class Counting(Stating):
    """Says that it has nulls, as cuDF's columns do; NumPy's dtype does not tell."""

    dtype = np.dtype("int64")
    null_count = 1


WITH_NULLS = {
    "arrow integers": pa.array([BIG, None]),
    "arrow floats": pa.array([1.5, None], pa.float32()),
    "arrow bools": pa.array([True, None]),
    "arrow bool8": bool8([1, None]),
    "arrow nothing but nulls": pa.nulls(2),
    "arrow chunks": pa.chunked_array([[1], [None]]),
    "arrow slice": pa.array([1, 2, None]).slice(1),
    "arrow dictionary, a null index": pa.array([1, None]).dictionary_encode(),
    "arrow dictionary, a null value": pa.DictionaryArray.from_arrays(
        pa.array([0, 1], pa.int8()), pa.array([1.5, None])
    ),
    "arrow runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array([1.5, None])),
    "arrow fixed-size lists": pa.array([[1.5, None]], pa.list_(pa.float64(), 2)),
    "arrow table": pa.table({"a": [1.5, None]}),
    **{
        f"pandas {holder.__name__} of {dtype}": holder(pd.array([1, None], dtype=dtype))
        for dtype in ("Int64", "UInt8", "Float64", "boolean", "int64[pyarrow]", "float32[pyarrow]", "bool[pyarrow]")
        for holder in (pd.Series, pd.Index, pd.array)
    },
    "pandas categories": pd.Series([1.0, None]).astype("category"),
    "pandas frame": pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([1, 2], dtype="Int64")}),
    "polars integers": pl.Series([BIG, None]),
    "polars floats": pl.Series([1.5, None]),
    "polars bools": pl.Series([True, None]),
    "polars arrays": pl.Series([[1.5, None]], dtype=pl.Array(pl.Float64, 2)),
    "polars frame": pl.DataFrame({"a": [1.5, None]}),
    "numpy mask": np.ma.array([1, 2], mask=[False, True]),
    "numpy mask of nothing": np.ma.array([1, 2]),
    "numpy mask, no dims": np.ma.masked,
    "a subclass with a mask": np.array([1, 2]).view(WithMask),
    "a count of nulls": Counting(),
}


@pytest.mark.parametrize("tensor", WITH_NULLS.values(), ids=WITH_NULLS)
def test_nulls_and_masks_are_refused_from_every_container(tensor):
    assert refused(tensor) == "masked"


WITHOUT = {
    "arrow integers": (pa.array([BIG, 1]), np.array([BIG, 1])),
    "arrow chunks": (pa.chunked_array([[1.5], [2.5]]), np.array([1.5, 2.5])),
    "arrow slice past a null": (pa.array([None, 1]).slice(1), np.array([1])),
    "arrow dictionary": (pa.array([7, 7]).dictionary_encode(), np.array([7, 7])),
    "arrow bool8": (bool8([1, 0]), np.array([True, False])),
    "arrow NaN": (pa.array([float("nan")]), np.array([np.nan])),
    "arrow half floats": (pa.array(np.float16([1])), np.float16([1])),
    "arrow, empty": (pa.array([], pa.int8()), np.int8([])),
    "arrow table of one dtype": (pa.table({"a": [1], "b": [2]}), np.array([[1, 2]])),
    "pandas NaN": (pd.Series([1.5, np.nan]), np.array([1.5, np.nan])),
    "pandas frame with NaN": (pd.DataFrame({"a": [1.5, np.nan]}), np.array([[1.5], [np.nan]])),
    "pandas NaN over arrow": (pd.Series(pd.arrays.ArrowExtensionArray(pa.array([np.nan]))), np.array([np.nan])),
    "pandas integers": (pd.Series([BIG, 1], dtype="Int64"), np.array([BIG, 1])),
    "pandas integers over arrow": (pd.Series([BIG, 1], dtype="int64[pyarrow]"), np.array([BIG, 1])),
    "pandas categories": (pd.Series([1, 2]).astype("category"), np.array([1, 2])),
    "pandas sparse": (pd.Series(pd.arrays.SparseArray([0, 1])), np.array([0, 1])),
    "polars integers": (pl.Series([BIG, 1]), np.array([BIG, 1])),
    "polars NaN": (pl.Series([1.5, np.nan]), np.array([1.5, np.nan])),
    "polars bools": (pl.Series([True, False]), np.array([True, False])),
    "polars arrays": (pl.Series([[BIG, 1]], dtype=pl.Array(pl.Int64, 2)), np.array([[BIG, 1]])),
    "polars frame of one dtype": (pl.DataFrame({"a": [1], "b": [2]}), np.array([[1, 2]])),
    "numpy scalar": (np.float32(1.5), np.array(1.5, np.float32)),
    "numpy, no dims": (np.array(5), np.array(5)),
    "numpy NaN": (np.array([np.nan]), np.array([np.nan])),
}


@pytest.mark.parametrize(("tensor", "expected"), WITHOUT.values(), ids=WITHOUT)
def test_what_has_no_nulls_goes_in_with_its_dtype_and_its_digits(tensor, expected):
    found = taken(tensor)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    assert found.shape == expected.shape


OTHER_DTYPES = {
    "arrow table": pa.table({"a": [1], "b": [1.5]}),
    "pandas frame": pd.DataFrame({"a": [BIG], "b": [1.5]}),
    "polars frame": pl.DataFrame({"a": [BIG], "b": [1.5]}),
    "polars decimals": pl.Series([1]).cast(pl.Decimal(10, 2)),
    "arrow decimals": pa.array([1]).cast(pa.decimal128(20, 0)),
    "arrow dates": pa.array([1], pa.date32()),
    "arrow text": pa.array(["1"]),
    "arrow lists": pa.array([[1]]),
    "an object that gives another dtype": Stating(),
    "objects": np.array([1, None], object),
    "a list": [1, None],
    "None": None,
    "NA": pd.NA,
    "an arrow scalar": pa.scalar(1),
}


@pytest.mark.parametrize("tensor", OTHER_DTYPES.values(), ids=OTHER_DTYPES)
def test_no_dtype_changes_on_the_way_in(tensor):
    assert refused(tensor) == "dtype"


def test_the_error_names_both_dtypes():
    with pytest.raises(KilnDtypeError, match="Stating states, float32, found int64") as caught:
        kiln_arrow.encode({"x": Stating()})
    assert (caught.value.rule, caught.value.tensor, caught.value.name) == ("dtype", 0, "x")


@pytest.mark.parametrize(
    "mask",
    [
        pa.array([True, None]),
        pl.Series([True, None]),
        pd.array([True, None], dtype="boolean"),
        np.ma.array([True, False], mask=[False, True]),
        [True, None],
    ],
)
def test_a_mask_of_rows_has_no_nulls_either(mask):
    with pytest.raises(KilnError):
        kiln_arrow.from_numpy({"x": np.arange(2)}, mask=mask)


@pytest.mark.parametrize("mask", [[True, False], pa.array([True, False]), pl.Series([True, False])])
def test_a_mask_of_rows_may_come_from_anybody(mask):
    assert kiln_arrow.from_numpy({"x": np.arange(2)}, mask=mask).is_valid().to_pylist() == [False, True]


def test_an_opaque_payload_has_no_mask():
    with pytest.raises(KilnError) as caught:
        kiln_arrow.Opaque("uint8", (2,), "raw", np.ma.array(np.uint8([1, 2]), mask=[0, 1]))
    assert caught.value.rule == "masked"


def test_an_arrow_array_that_points_outside_its_buffers_is_refused_before_numpy_reads_it():
    indices = pa.Array.from_buffers(pa.int32(), 2, [None, pa.py_buffer(np.int32([0, 1 << 30]))])
    outside = pa.DictionaryArray.from_arrays(indices, pa.array([1.5]), safe=False)
    assert refused(outside) == "arrow"


@pytest.mark.parametrize("kind", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_the_dtypes_of_ml_dtypes_go_in_in_any_byte_order(kind):
    array = np.array([[1.5, -2], [0, 3]], kind)
    swapped = array.astype(array.dtype.newbyteorder(">"))
    found = taken(swapped)
    assert found.dtype == array.dtype
    assert found.tobytes() == array.tobytes()
    assert kiln_arrow.encode({"x": swapped[::-1].T}) == kiln_arrow.encode({"x": array[::-1].T})
