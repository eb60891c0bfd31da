"""Schemas that pyarrow takes for equal though they hold other fields: it does not look into extension types there."""

from __future__ import annotations

import pyarrow as pa
import pytest

import arrow_digest as ad


def table(name):
    struct = pa.struct([(name, pa.int8())])
    values = pa.ExtensionArray.from_storage(pa.opaque(struct, "kind", "vendor"), pa.array([{name: 1}], struct))
    return pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), values)})


@pytest.mark.parametrize("is_beside_others", [False, True])
def test_their_hashes_differ_whichever_comes_first(is_beside_others):
    def hash_of(name):
        columns = table(name)
        return ad.logical_hash(columns.append_column("flat", [[1]]) if is_beside_others else columns)

    first = [hash_of(name) for name in "ab"]
    again = [hash_of(name) for name in "ba"]
    assert first == again[::-1]
    assert first[0] != first[1]


def test_one_is_refused_where_the_other_is_expected():
    digest = ad.RecordDigest(table("a").schema)
    digest.update(table("a"))
    with pytest.raises(ad.SchemaMismatchError) as caught:
        digest.update(table("b"))
    assert caught.value.path == ("c", "a")
