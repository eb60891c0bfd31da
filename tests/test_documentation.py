"""What the documentation shows is what happens."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
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

import _arrow_io
import arrow_digest
import kiln_arrow
from helpers import pages
from helpers.command import environment, quick_command

ROOT = Path(__file__).parents[1]
PACKAGES = (arrow_digest, kiln_arrow)
TOP = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "golden/README.md", "tests/fuzz/README.md"]
PAGES = [Path(name) for name in TOP]
PAGES += sorted(path.relative_to(ROOT) for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts)
NEEDS = {"docs/how-to/write-another-implementation.md": ["golden"]}  # besides the orders
MODULES = [
    module.name
    for package in (_arrow_io, *PACKAGES)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("._kernels")  # the C library
]


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.fixture
def in_a_folder_with_orders(tmp_path, monkeypatch):
    """The files that the examples name."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["a", "b", "c"]})
    pq.write_table(table, "orders.parquet")
    pyarrow.feather.write_feather(table, "orders.arrow")


@pytest.mark.usefixtures("in_a_folder_with_orders")
@pytest.mark.parametrize("page", [page for page in PAGES if "\n>>> " in text_of(page)], ids=str)
def test_sessions_in_pages_run(page):
    assert doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8").failed == 0


def examples_of(module):
    """The examples of what a module defines, though what is public says the name of its package."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {test.name: test for test in finder.find(module)}
    for name, value in list(vars(module).items()):
        if (inspect.isclass(value) or inspect.isroutine(value)) and f"{module.__name__}.{name}" not in found:
            source = getattr(inspect.unwrap(value), "__globals__", None)
            if source is vars(module) or (inspect.isclass(value) and name in defined(module)):
                found.update((test.name, test) for test in finder.find(value, f"{module.__name__}.{name}", module))
    return [test for test in found.values() if test.examples]


def defined(module):
    """The nodes of a module's source that have a docstring, by their own name."""
    written = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    return {getattr(node, "name", ""): node for node in ast.walk(written) if isinstance(node, DOCUMENTED)}


@pytest.mark.usefixtures("in_a_folder_with_orders")
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner()
    for test in examples_of(module):
        assert runner.run(test).failed == 0, test.name


@pytest.mark.parametrize("name", MODULES)
def test_every_example_in_a_docstring_is_found(name):
    module = importlib.import_module(name)
    written = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    texts = {ast.get_docstring(node) or "" for node in ast.walk(written) if isinstance(node, DOCUMENTED)}
    assert {inspect.cleandoc(test.docstring) for test in examples_of(module)} == {t for t in texts if ">>> " in t}


@pytest.mark.usefixtures("in_a_folder_with_orders")
@pytest.mark.parametrize("page", [page for page in PAGES if pages.blocks(text_of(page))], ids=str)
def test_examples_in_pages_print_what_is_shown(page):
    for name in NEEDS.get(str(page), ()):
        Path(name).symlink_to(ROOT / name)
    lines = {name: shlex.join(quick_command(name)) for name in ("arrow-digest", "kiln-arrow")}
    run = [sys.executable, "-W", "error", pages.__file__, str(ROOT / page), json.dumps(lines)]
    result = subprocess.run(run, capture_output=True, text=True, check=False, env=environment())
    assert result.returncode == 0, result.stderr


def checked(body, folder):
    page = folder / "page.md"
    page.write_text(body, encoding="utf-8")
    return pages.main(str(page))


@pytest.mark.parametrize(
    "body",
    [
        "```python\nprint(1)\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\nprint(1)\n```\nSome words.\n```text\n1\n```\n",
        "```console\n$ echo a\nb\n```\n",
        "```console\n$ echo a\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ false\n$ echo $?\n0\n```\n",
        "```console\n$ (exit 3)\n$ echo a\na\n```\n",
    ],
)
def test_an_example_that_shows_something_else_is_noticed(body, tmp_path):
    assert checked(body, tmp_path)


def test_examples_share_names_and_folders_and_show_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = """
```python
from pathlib import Path
a = 1
```
```console
$ echo a > f && cat f \\
>   f
a
a
$ cat missing
cat: missing: No such file or directory
$ echo $?
1
```
```python
print(a, Path("f").read_text().strip())
```

```text
1 a
```
"""
    assert checked(body, tmp_path) is None


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_name_is_in_the_reference_with_a_docstring(package):
    listed = re.findall(
        rf"(?:auto\w+|py:data):: ({package.__name__}\.\w+)$",
        text_of(Path("docs/reference", f"{package.__name__}.md")),
        re.MULTILINE,
    )
    assert sorted(listed) == sorted(f"{package.__name__}.{name}" for name in package.__all__)
    for name in package.__all__:
        assert getattr(package, name).__doc__, name


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_public_function_and_method_of_a_public_class_has_a_docstring(package):
    for name in package.__all__:
        public = getattr(package, name)
        members = vars(public).items() if inspect.isclass(public) else ()
        for member, value in members:
            own = getattr(value, "__module__", None) == public.__module__ or isinstance(value, property)
            if own and not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert inspect.getdoc(getattr(public, member)), f"{name}.{member}"


def test_the_demo_ends_with_the_hash_that_the_readme_shows(capsys):
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "docs" / "demo.py"), run_name="__main__")
    assert ended.value.code == 0
    hash_line = capsys.readouterr().out.strip().splitlines()[-1]
    assert f"\n{hash_line}\n" in text_of("README.md")


def anchors(page):
    """What GitHub makes of a page's headings."""
    text = pages.BLOCK.sub("", text_of(page))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|mailto:)([^)]+)", text_of(page)):
        path, _, anchor = target.partition("#")
        found = (ROOT / page).parent / path if path else ROOT / page
        assert found.exists(), f"{page}: {target}"
        assert not anchor or anchor in anchors(found.resolve().relative_to(ROOT)), f"{page}: {target}"


def test_contributing_shows_every_room_and_module_of_the_layers_from_the_lowest_up():
    contracts = re.findall(r"layers = \[\n(.*?)\n\]", text_of("pyproject.toml"), re.DOTALL)
    tables = re.findall(r"^\| (\w+), lowest layer first.*?\n\n", text_of("CONTRIBUTING.md"), re.MULTILINE | re.DOTALL)
    assert tables == ["_arrow_io", "arrow_digest", "kiln_arrow"]
    shown = re.findall(r"lowest layer first.*?\n\n", text_of("CONTRIBUTING.md"), re.DOTALL)
    for package, table, contract in zip(tables, shown, contracts, strict=True):
        layers = [re.findall(rf"{package}\.(\w+)", line) for line in reversed(contract.splitlines())]
        height = {module: number for number, modules in enumerate(layers) for module in modules}
        rows = re.findall(r"^\|([^|]*`[^|]*)\|([^|]*)\|$", table, re.MULTILINE)
        rooms = [name for row, _ in rows for name in re.findall(r"`(\w+)`", row)]
        assert sorted(rooms) == sorted(height)
        assert [height[room] for room in rooms] == sorted(height.values())
        for row, text in rows:
            for room in re.findall(r"`(\w+)`", row):
                folder = ROOT / package / room
                modules = {path.stem for path in folder.glob("*.py")} - {"__init__"} if folder.is_dir() else set()
                assert not folder.is_dir() or set(re.findall(r"`(\w+)`", text)) == modules, f"{package}/{room}"
