"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import arrow_digest
import kiln_arrow
from helpers.command import environment

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT) for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)
MODULES = [
    module.name
    for package in (arrow_digest, kiln_arrow)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


@pytest.fixture
def in_a_folder_with_orders(tmp_path, monkeypatch):
    """The files that the examples name."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["a", "b", "c"]})
    pq.write_table(table, "orders.parquet")
    pyarrow.feather.write_feather(table, "orders.arrow")


def pages(language):
    """Every page's blocks of a language, joined: a page is read from its top."""
    found = []
    for page in PAGES:
        bodies = [match["body"] for match in BLOCK.finditer((ROOT / page).read_text()) if match["language"] == language]
        bodies = [body for body in bodies if not body.startswith(">>> ")]
        if bodies:
            found.append(pytest.param("".join(bodies), id=str(page)))
    return found


@pytest.mark.usefixtures("in_a_folder_with_orders")
@pytest.mark.parametrize("page", [page for page in PAGES if "\n>>> " in (ROOT / page).read_text()], ids=str)
def test_sessions_in_pages_run(page):
    assert doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8").failed == 0


@pytest.mark.usefixtures("in_a_folder_with_orders")
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, raise_on_error=True).failed == 0


def test_every_public_name_has_a_docstring():
    for package in (arrow_digest, kiln_arrow):
        for name in getattr(package, "__all__", []):
            assert getattr(package, name).__doc__, f"{package.__name__}.{name}"


@pytest.mark.usefixtures("in_a_folder_with_orders")
@pytest.mark.parametrize("body", pages("python"))
def test_python_examples_run(body):
    run = [sys.executable, "-W", "error", "-c", body]
    result = subprocess.run(run, capture_output=True, text=True, check=False, env=environment())
    assert result.returncode == 0, result.stderr


@pytest.mark.usefixtures("in_a_folder_with_orders")
@pytest.mark.parametrize("body", pages("console"))
def test_commands_print_what_is_shown(body):
    for example in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, expected = example.partition("\n")
        program, *arguments = shlex.split(line)
        module = program.replace("-", "_")
        run = [sys.executable, "-c", f"from {module}.cli import main; main()", *arguments]
        result = subprocess.run(run, capture_output=True, text=True, check=False, env=environment())
        assert (result.stdout, result.returncode) == (expected, 0), result.stderr


def test_the_demo_ends_with_the_hash_that_the_readme_shows(capsys):
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "docs" / "demo.py"), run_name="__main__")
    assert ended.value.code == 0
    hash_line = capsys.readouterr().out.strip().splitlines()[-1]
    assert f"\n{hash_line}\n" in (ROOT / "README.md").read_text()


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, Path("CONTRIBUTING.md"), Path("golden/README.md")]:
        text = (ROOT / page).read_text()
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
