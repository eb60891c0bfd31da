"""Whatever a file holds, it is hashed or refused: no other error, no crash, no endless work."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa

from arrow_digest import logical_hash
from helpers import mutations
from helpers.command import run_python

COUNT = 3000
OUTCOMES = {"hash", "UnreadableError", "InvalidArrayError", "UnsupportedTypeError"}

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from helpers import mutations
mutations.main(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
"""

# Before pyarrow 23 a record batch that claims 2**40 buffers for its view columns ends the process with std::bad_alloc:
# the claim is believed before this package sees anything of the batch.
BELIEVES_BUFFER_COUNTS = int(pa.__version__.split(".")[0]) < 23


def outcomes(start, stop, folder):
    """What comes of each mutation, by its number; a crash or a timeout counts as one, and the rest goes on."""
    found = {}
    while start < stop:
        tests = Path(mutations.__file__).parents[1]
        child = run_python(RUN, tests, str(start), str(stop), folder, timeout=300)
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
