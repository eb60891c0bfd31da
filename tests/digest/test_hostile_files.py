"""Whatever a file holds, it is hashed or refused: no other error, no crash, no endless work."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from arrow_digest import ArrowDigestError, logical_hash
from helpers import mutations
from helpers.command import LIMIT_SECONDS, environment, run_python
from helpers.examples import examples
from helpers.files import ipc_file, ipc_stream

COUNT = examples(3000)
OUTCOMES = {"hash", "UnreadableError", "InvalidArrayError", "UnsupportedTypeError"}

RUN = """
import sys
from helpers import mutations
mutations.main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
"""
# The children import the helpers too.
TESTS = {"PYTHONPATH": os.pathsep.join([str(Path(mutations.__file__).parents[1]), environment().get("PYTHONPATH", "")])}

# Where memory is limited, a record batch that claims millions of buffers for a view column ends the process with
# std::bad_alloc in pyarrow 22, and is refused by pyarrow 26. It happens before this package sees anything of the batch.
BELIEVES_BUFFER_COUNTS = int(pa.__version__.split(".")[0]) < 26


def outcomes(start, stop, folder):
    """What comes of each mutation, by its number; a crash or a timeout counts as one, and the rest goes on."""
    found = {}
    while start < stop:
        child = run_python(RUN, str(start), str(stop), folder, timeout=LIMIT_SECONDS, env=TESTS)
        found.update(json.loads(line) for line in child.stdout.splitlines())
        if child.returncode == 0:
            break
        start = start + 1 if not found else max(found) + 1
        found[start] = f"ended by {child.returncode}: {child.stderr.decode(errors='replace')[-200:]}"
        start += 1
    return found


def test_a_changed_file_is_hashed_or_refused(tmp_path):
    found = outcomes(0, COUNT, tmp_path)
    assert sorted(found) == list(range(COUNT))
    other = {index: outcome for index, outcome in found.items() if outcome not in OUTCOMES}
    if BELIEVES_BUFFER_COUNTS:
        other = {index: outcome for index, outcome in other.items() if "std::bad_alloc" not in outcome}
    assert other == {}
    # The changes are neither all fatal nor all without effect.
    counts = Counter(found.values())
    assert counts["UnreadableError"] > COUNT / 4
    assert counts["InvalidArrayError"] > COUNT / 100
    assert counts["hash"] > COUNT / 20


def test_the_files_that_are_changed_are_sound(tmp_path):
    for content in mutations.seeds():
        (tmp_path / "seed").write_bytes(content)
        assert mutations.outcome(tmp_path / "seed") == "hash"


def test_a_change_depends_on_its_number_alone():
    files = mutations.seeds()
    assert [mutations.mutation(n, files) for n in range(100)] == [mutations.mutation(n, files) for n in range(100)]


def test_mutations_of_one_table_have_its_hash_or_another(tmp_path):
    """A reader that ignored what it read would pass the other tests."""
    content = mutations.seeds()[0]
    (tmp_path / "seed").write_bytes(content)
    expected = logical_hash(tmp_path / "seed")
    at = content.index(b"three")
    (tmp_path / "seed").write_bytes(content[:at] + b"threE" + content[at + 5 :])
    assert logical_hash(tmp_path / "seed") != expected


@pytest.mark.parametrize("level", ["outer", "inner"])
@pytest.mark.parametrize("rows", [3, 40, 5000])
def test_an_offset_that_leaves_its_child_is_refused_in_batches_of_any_size(rows, level, tmp_path):
    offsets = {"outer": np.arange(0, 2 * rows + 1, 2, dtype=np.int32), "inner": np.arange(2 * rows + 1, dtype=np.int32)}
    inner = pa.ListArray.from_arrays(pa.array(offsets["inner"]), pa.array(range(2 * rows)))
    table = pa.table({"lists": pa.ListArray.from_arrays(pa.array(offsets["outer"]), inner)})
    content = ipc_stream(pa.concat_tables([table, table]), batch_rows=rows)
    broken = offsets[level].copy()
    broken[len(broken) // 2] = 1 << 28  # the last one still is what it should be
    assert content.count(offsets[level].tobytes()) == 2
    path = tmp_path / "broken"
    path.write_bytes(content.replace(offsets[level].tobytes(), broken.tobytes()))
    code = "import sys; from helpers import mutations; print(mutations.outcome(sys.argv[1]))"
    child = run_python(code, path, env=TESTS)
    assert (child.returncode, child.stdout) == (0, b"InvalidArrayError\n"), child.stderr[-500:]


@pytest.mark.parametrize("form", [ipc_file, ipc_stream])
def test_a_time_zone_that_is_no_text_is_refused(form, tmp_path):
    content = form(pa.table({"t": pa.array([1], pa.timestamp("s", "Zulux"))}))
    assert content.count(b"Zulux") in (1, 2)
    path = tmp_path / "zone"
    path.write_bytes(content.replace(b"Zulux", b"Zul\xffx"))
    with pytest.raises(ArrowDigestError):
        logical_hash(path)


@pytest.mark.parametrize("rows", [10, 100_000])
def test_views_in_small_batches_are_hashed(rows, tmp_path):
    table = pa.table({"view": pa.array([f"longer than twelve bytes {i}" for i in range(rows)], pa.string_view())})
    path = tmp_path / "views"
    path.write_bytes(ipc_stream(table, batch_rows=max(rows // 100, 3)))
    assert logical_hash(path) == logical_hash(pa.table({"view": table["view"].cast(pa.string())}))
