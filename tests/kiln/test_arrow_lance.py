"""Lance keeps the type. Collected where KILN_TEST_LANCE=1, as pylance is large."""

from __future__ import annotations

import lance
import numpy as np
import pyarrow as pa

import kiln_arrow


def test_lance_keeps_the_type(tmp_path):
    table = pa.table({"id": [1, 2, 3], "c": kiln_arrow.from_numpy({"x": np.arange(6).reshape(3, 2)})})
    lance.write_dataset(table, tmp_path / "t.lance")
    found = lance.dataset(tmp_path / "t.lance").to_table()
    assert found["c"].type == table["c"].type
    assert kiln_arrow.to_numpy(found["c"])["x"].tolist() == [[0, 1], [2, 3], [4, 5]]
