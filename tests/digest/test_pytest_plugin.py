"""The fixture assert_same_records, in test runs of their own."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.command import environment, run_python

IS_REGISTERED = any(entry.value == "arrow_digest.pytest_plugin" for entry in entry_points(group="pytest11"))

if not IS_REGISTERED:  # as an entry point would
    from arrow_digest.pytest_plugin import assert_same_records  # noqa: F401

TESTS = """
import pyarrow as pa, pyarrow.parquet as pq

A = pa.table({"n": [1, 2, 3], "s": ["a", "b", "c"]})

def test_same(assert_same_records, tmp_path):
    pq.write_table(A, tmp_path / "f", compression="zstd")
    assert_same_records(A, tmp_path / "f")
    assert_same_records(A, A.slice(0))

def test_other(assert_same_records):
    assert_same_records(A, A.set_column(1, "s", pa.array(["a", "x", "c"])))

def test_unreadable(assert_same_records):
    assert_same_records(A, "missing")
"""


@pytest.fixture
def outcome(tmp_path):
    (tmp_path / "test_it.py").write_text(TESTS)
    plugin = [] if IS_REGISTERED else ["-p", "arrow_digest.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, "test_it.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment())


def test_equal_records_pass_and_others_fail_with_what_differs(outcome):
    assert outcome.returncode == 1
    assert "2 failed, 1 passed" in outcome.stdout
    assert "s: row 1: 'b' became 'x'" in outcome.stdout
    assert "missing: no such file" in outcome.stdout


def test_a_failure_shows_the_line_of_the_test_that_calls(outcome):
    lines = TESTS.splitlines()
    number = next(n for n, line in enumerate(lines, 1) if line.startswith("def test_other")) + 1
    assert f"test_it.py:{number}: Failed" in outcome.stdout
    assert f">       {lines[number - 1].strip()}" in outcome.stdout
    assert "pytest_plugin.py" not in outcome.stdout.partition("def test_unreadable")[0]


def test_the_plugin_costs_no_import_before_a_test_asks_for_it():
    code = "import sys, arrow_digest.pytest_plugin; print([m for m in ('numpy', 'pyarrow') if m in sys.modules])"
    assert run_python(code).stdout == b"[]\n"


def test_public_names_are_there_when_they_are_asked_for():
    code = """
from arrow_digest.comparing.explain import explain
import arrow_digest
assert arrow_digest.explain is explain
assert set(arrow_digest.__all__) <= set(dir(arrow_digest))
assert all(getattr(arrow_digest, name) is not None for name in arrow_digest.__all__)
try:
    arrow_digest.no_such_name
except AttributeError as error:
    print(error)
"""
    assert run_python(code).stdout == b"module 'arrow_digest' has no attribute 'no_such_name'\n"


def test_the_fixture_works_in_this_run_too(tmp_path, assert_same_records):
    table = pa.table({"a": [1, None]})
    pq.write_table(table, tmp_path / "f")
    assert_same_records(table, tmp_path / "f")
    with pytest.raises(pytest.fail.Exception, match="a: row 1: null became 2"):
        assert_same_records(table, pa.table({"a": [1, 2]}))
