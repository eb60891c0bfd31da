"""The pages for maintainers name what is there: files, functions, limits with their values, and every test file."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "development"
PAGES = sorted(FOLDER.glob("*.md"))
PACKAGES = ("_arrow_io", "arrow_digest", "kiln_arrow")
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LIMITS = re.findall(r"^\| [^|]+ \| ([^|]+) \| `([^`|]+)` \|", (FOLDER / "limits.md").read_text("utf-8"), re.MULTILINE)
# Constants of these names bound something, so the page has them.
BOUND = re.compile(r"^(_?(?:MAX|MOST|LIMIT|LEAST|LARGEST)(?:_\w+)?)(?:: [^=]+)? = ", re.MULTILINE)
# No numbers of bytes, rows or levels: a share of characters.
NO_COUNTS = {"_arrow_io.foreign._LEAST_TEXT"}


def number(text):
    """What a value of the table says."""
    match = re.fullmatch(r"(\d[\d,]*)(?: (KiB|MiB|GiB))?", text)
    if match:
        return int(match[1].replace(",", "")) * UNITS.get(match[2], 1)
    power = re.fullmatch(r"2\^(\d+) - 1", text)
    assert power, f"no number: {text}"
    return 2 ** int(power[1]) - 1


def constant(name):
    """The value of a constant, of a Python module or of an enum in a C file."""
    if ": " not in name:
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute)
    path, attribute = name.split(": ")
    (value,) = re.findall(rf"\b{attribute} = ([\d <]+)[,\s}}]", (ROOT / path).read_text("utf-8"))
    first, _, shift = value.partition("<<")
    return int(first) << int(shift or 0)


@pytest.mark.parametrize(("value", "name"), LIMITS, ids=[name for _, name in LIMITS])
def test_a_limit_is_what_the_page_says(value, name):
    assert constant(name) == number(value)


def test_every_constant_that_is_named_as_a_bound_is_on_the_page():
    shown = {name for _, name in LIMITS}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            names = {f"{module}.{name}" for name in BOUND.findall(path.read_text("utf-8"))}
            assert names - NO_COUNTS <= shown, f"docs/development/limits.md has no line for {names - shown - NO_COUNTS}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_that_a_page_names_is_there(page):
    for name in re.findall(
        r"`((?:\.ci|_arrow_io|arrow_digest|benchmarks|docs|golden|kiln_arrow|tests)/[^`: ]*)`", page.read_text("utf-8")
    ):
        assert list(ROOT.glob(name.rstrip("/"))), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_function_that_a_page_names_with_its_file_is_in_it(page):
    text = re.sub(r"\s+", " ", page.read_text("utf-8"))
    found = re.findall(r"`([\w.]+)` (?:\(|in )`([\w/.]+\.(?:py|c|h))`", text)
    for name, path in found:
        for part in name.split("."):
            defined = rf"^\s*(?:(?:def|class) {part}\b|{part}\b.*=)|\b{part}\("
            assert re.search(defined, (ROOT / path).read_text("utf-8"), re.MULTILINE), f"{path}: {part}"


def test_every_test_file_is_in_the_table_of_laws_once():
    text = (FOLDER / "testing.md").read_text("utf-8")
    rows = re.findall(r"^\|.*\|$", text, re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(tests/[\w/]*test_\w+\.py)`", row)]
    assert sorted(listed) == sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/**/test_*.py"))
