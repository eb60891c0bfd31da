"""What arrow0 cannot tell apart, pinned so that nobody mends it by accident, and what it must."""

from __future__ import annotations

import pyarrow as pa
import pytest

import arrow_digest as ad

PUBLISHED = [
    (pa.uint8(), [None, 1], [0, 1]),
    (pa.int8(), [None], [0]),
    (pa.int32(), [None] * 4, [0]),
    (pa.string(), [None] * 8, [""]),
    (pa.string(), [*[None] * 8, ""], ["", *[None] * 8]),
    (pa.int32(), [256, None], [None, 1]),
    (pa.list_(pa.int8()), [[0]], [[None]]),
    (pa.list_(pa.int8()), [None] * 8, [[]]),
    (pa.struct([("x", pa.int8())]), [None], [{"x": None}]),
    (pa.binary(), [b"", None], [None, b""]),
    (pa.float64(), [0.0], [None] * 8),
    (pa.null(), [None], [None]),
]


def digest_of(data_type: pa.DataType, rows: list, **options: bool) -> ad.RecordDigest:
    digest = ad.RecordDigest(pa.schema([("c", data_type)]), **options)
    digest.update(pa.table({"c": pa.array(rows, data_type)}))
    return digest


@pytest.mark.parametrize(("data_type", "left", "right"), PUBLISHED, ids=str)
@pytest.mark.parametrize("function", ["sha3-256", "sha2-256", "blake3"])
def test_these_records_share_a_hash(data_type, left, right, function):
    tables = [pa.table({"c": pa.array(rows, data_type)}) for rows in (left, right)]
    assert ad.logical_hash(tables[0], function=function) == ad.logical_hash(tables[1], function=function)


@pytest.mark.parametrize(("data_type", "left", "right"), [row for row in PUBLISHED if row[1] != row[2]], ids=str)
def test_the_validity_of_rows_tells_most_of_them_apart(data_type, left, right):
    """For every leaf that is no list. A struct that is null is not told from one whose fields are."""
    digests = [digest_of(data_type, rows, validity=True).columns()[0].validity_digest for rows in (left, right)]
    same_validity = pa.types.is_struct(data_type) or left == [[0]]
    assert (digests[0] == digests[1]) == same_validity


def test_where_one_column_ends_and_the_next_begins_is_told():
    pairs = [
        (pa.table({"a": ["ab"], "b": ["c"]}), pa.table({"a": ["a"], "b": ["bc"]})),
        (pa.table({"ab": ["c"]}), pa.table({"a": ["bc"]})),
        (pa.table({"a": [["x"], ["y"]]}), pa.table({"a": [["x", "y"], []]})),
        (pa.table({"a": [b"a", b"b"]}), pa.table({"a": [b"ab", b""]})),
        (pa.table({"a": pa.array([1, 0], pa.int8())}), pa.table({"a": pa.array([1], pa.int16())})),
        (pa.table({"a": [[1], [2, 3]]}), pa.table({"a": [[1, 2], [3]]})),
        (pa.table({"a": [1, 2], "b": [3, 4]}), pa.table({"a": [1, 3], "b": [2, 4]})),
    ]
    for left, right in pairs:
        assert ad.logical_hash(left) != ad.logical_hash(right)


def test_bool_columns_and_columns_without_nulls_are_safe():
    rows = [[a, b] for a in (True, False, None) for b in (True, False, None)] + [[a] for a in (True, False, None)]
    assert len({digest_of(pa.bool_(), flags).digest() for flags in rows}) == len(rows)
    numbers = [[a, b] for a in range(4) for b in range(4)] + [[a] for a in range(4)] + [[]]
    assert len({digest_of(pa.int16(), values).digest() for values in numbers}) == len(numbers)
