"""Measured figures in the documentation are those of the committed results."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "figures.py"


@pytest.fixture(scope="module")
def figures():
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        spec = importlib.util.spec_from_file_location("figures", SCRIPT)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(SCRIPT.parent))
        sys.modules.pop("tables", None)


RESULTS = {"a": {"sha3-256": {"ratio": 1.9234}, "rows": 1_000_000, "file_bytes": 123_456_789, "same": True}}


def test_the_pages_have_the_figures_of_the_results(figures):
    results = json.loads(figures.RESULTS.read_text())
    assert [fault for page in figures.pages() for fault in figures.check(page, results)] == []


def test_every_page_of_prose_is_watched(figures):
    watched = {page.relative_to(ROOT).as_posix() for page in figures.pages()}
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/benchmarks/index.md"} <= watched
    assert not any(page.startswith("docs/spec/") for page in watched)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.sha3-256.ratio", "1.92"),
        ("a.rows", "1,000,000"),
        ("a.file_bytes", "123 MB"),
        ("a.same", "yes"),
    ],
)
def test_a_figure_is_written_as_a_reader_wants_it(path, expected, figures):
    page = f"It is <!-- figure: {path} -->0<!-- /figure --> here."
    assert figures.substituted(page, RESULTS) == page.replace("-->0<", f"-->{expected}<")


def test_substituting_again_changes_nothing(figures):
    once = figures.substituted("<!-- figure: a.rows --><!-- /figure -->", RESULTS)
    assert figures.substituted(once, RESULTS) == once


@pytest.mark.parametrize(
    "page",
    [
        "<!-- figure: a.missing -->1<!-- /figure -->",
        "<!-- figure: a.sha3-256 -->1<!-- /figure -->",
        "<!-- figure: a.rows.more -->1<!-- /figure -->",
        "<!-- table: missing -->\n<!-- /table -->",
        "<!-- table: grid -->\n<!-- /table -->",
        "<!-- figure: a.rows -->1",
        "1<!-- /figure -->",
        "<!-- table: grid -->",
        "<!-- figure: a.rows -->1<!-- /table -->",
        "<!-- figure: -->1<!-- /figure -->",
    ],
)
def test_a_marker_that_means_nothing_is_an_error(page, figures):
    with pytest.raises(figures.FigureError):
        figures.substituted(page, RESULTS)


def test_markers_in_code_are_shown_and_not_meant(figures):
    page = "`<!-- figure: x -->` and\n```\n<!-- figure: x -->\n```\n"
    assert figures.substituted(page, RESULTS) == page


@pytest.mark.parametrize(
    "claim",
    [
        "1.5 ×",
        "1.5×",
        "3x faster",
        "about 2–3x",
        "2 to 3 × as fast",
        "3 times faster",
        "three times as fast",
        "10-fold faster",
        "twice as fast",
        "half as long",
        "12 % faster",
        "12% less",
        "80 % of the time",
        "1.2 GB/s",
        "450 MiB/s",
        "3 GB per second",
        "60,000 cells a second",
        "5 million rows per second",
        "42 ms",
        "42ms",
        "60 µs",
        "3.5 seconds",
        "0.4 s",
        "15 minutes",
        "13.2 times that",
        "35 percent faster",
        "40% overhead",
        "half the time",
        "double the speed",
        "eleven times faster",
        "5 μs",
    ],
)
@pytest.mark.parametrize(
    "around", ["It takes {} here.", "- {}", "| x | {} |", "**{}**", "({})", "In this line\n{} of it"]
)
def test_a_measured_figure_written_by_hand_is_found(claim, around, figures):
    text = f"First line.\n\n{around.format(claim)}\n"
    found = list(figures.handwritten(text))
    assert len(found) == 1
    assert text.splitlines()[found[0][0] - 1].find(re.match(r"\w+", claim)[0]) >= 0


@pytest.mark.parametrize(
    "text",
    [
        "Row groups have at most 256 MiB, and a cell less than 2 GiB.",
        "A tensor of 3 × 224 × 224, or 64 x 64, at 0x1f.",
        "Python 3.10, pyarrow 22, sha3-256, int32, 20,000 orders, 100 MB a table.",
        "timestamps in seconds become milliseconds; time32 [ms]; 64-bit, 8 lanes, 2 cores.",
        "A 90 % null column.",
        "In the 1980s; section 3 of the specification; see 4.",
        "`took 42 ms` and ``3x``",
        "```\n42 ms\n```",
        "~~~\n42 ms\n~~~",
        "<!-- figure: a.rows -->42 ms<!-- /figure -->",
        "<!-- table: grid -->\n| 42 ms |\n<!-- /table -->",
        "The limit is <!-- fact -->60 seconds<!-- /fact -->.",
        "[a link](https://example.org/42ms/3x)",
        "<!-- 42 ms -->",
        "many times more often",
    ],
)
def test_what_is_no_measurement_is_left_alone(text, figures):
    assert list(figures.handwritten(text)) == []


def test_a_stray_backtick_hides_nothing_in_other_paragraphs(figures):
    assert list(figures.handwritten("stray ` tick\n\nIt takes 5 s.\n\nSee `x`.\n")) == [(3, "5 s")]


def test_the_line_of_a_finding_counts_what_lies_before_it(figures):
    assert list(figures.handwritten("a\n```\n1 ms\n```\n<!--\n-->\nb 7 ms\n")) == [(7, "7 ms")]


@pytest.fixture
def copy_of_the_pages(tmp_path):
    for folder in ("benchmarks", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def run(root, *arguments):
    script = root / "benchmarks" / "figures.py"
    # A script finds the modules beside it, unless the tests of the installed wheel forbid that.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False, env=env)
    return done.returncode, done.stdout + done.stderr


def test_the_check_fails_on_another_number_and_the_script_puts_it_right(copy_of_the_pages):
    page = copy_of_the_pages / "docs" / "benchmarks" / "index.md"
    right = page.read_text()
    page.write_text(re.sub(r"(<!-- figure: headline\.rows -->)[^<]*", r"\g<1>7", right))
    status, output = run(copy_of_the_pages, "--check")
    assert status == 1
    assert "index.md: figures differ from the results" in output
    assert run(copy_of_the_pages)[0] == 0
    assert page.read_text() == right
    assert run(copy_of_the_pages, "--check") == (0, "")


def test_the_check_fails_on_a_figure_that_was_written_by_hand_and_says_where(copy_of_the_pages):
    page = copy_of_the_pages / "README.md"
    lines = page.read_text().count("\n")
    page.write_text(page.read_text() + "\nIt is 3x faster.\n")
    status, output = run(copy_of_the_pages, "--check")
    assert status == 1
    assert f"README.md:{lines + 2}: measured figure written by hand: 3x" in output


def test_new_results_make_the_check_fail_until_the_pages_follow(copy_of_the_pages):
    path = copy_of_the_pages / "docs" / "benchmarks" / "results.json"
    results = json.loads(path.read_text())
    results["headline"]["rows"] += 1
    path.write_text(json.dumps(results))
    assert run(copy_of_the_pages, "--check")[0] == 1
    assert run(copy_of_the_pages)[0] == 0
    assert run(copy_of_the_pages, "--check") == (0, "")


def test_every_picture_is_there_as_svg_and_png():
    folder = ROOT / "docs" / "benchmarks"
    names = {path.stem for path in folder.glob("*.svg")}
    assert names == {path.stem for path in folder.glob("*.png")}
    assert "headline" in names
    shown = set(re.findall(r"\]\((\S+)\.svg\)", (folder / "index.md").read_text()))
    assert shown == names
