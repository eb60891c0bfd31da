"""Measured figures and tables in Markdown come from the committed results, and from nowhere else.

    python benchmarks/figures.py            writes them into the pages
    python benchmarks/figures.py --check    fails where a page has another, or one written by hand

In a page, a figure stands between two comments, which GitHub and Sphinx do not show, and is named by its path in
`docs/benchmarks/results.json`:

    It takes <!-- figure: headline.sha3-256.file.ratio -->1.92<!-- /figure --> times as long.

A table of `tables.py` has lines of its own between `<!-- table: NAME -->` and `<!-- /table -->`. A number that looks
measured but is a limit or a definition is said to be one: `<!-- fact -->50 ms<!-- /fact -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tables import shown, table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "benchmarks" / "results.json"

_FIGURE = re.compile(r"<!-- figure: (?P<path>\S+) -->(?P<text>[^<]*)<!-- /figure -->")
_TABLE = re.compile(r"<!-- table: (?P<name>\S+) -->\n(?P<text>.*?)<!-- /table -->", re.DOTALL)
_MARKER = re.compile(r"<!-- /?(?:figure|table)\b[^>]*-->")
# In these places a number is not a claim: figures that are substituted, declared facts, code, comments, link targets.
_NO_PROSE = re.compile(
    r"<!-- figure:.*?<!-- /figure -->|<!-- table:.*?<!-- /table -->|<!-- fact -->.*?<!-- /fact -->|<!--.*?-->"
    r"|^(?P<fence>```+|~~~+).*?^(?P=fence)|(?P<tick>`+)[^`](?:(?!\n[ \t]*\n).)*?(?P=tick)|\]\([^)\s]*\)",
    re.DOTALL | re.MULTILINE,
)
_NUMBER = r"(?<![\w.,])\d[\d.,]*(?:\s*(?:to|-|–)\s*\d[\d.,]*)?"
_WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|fifty|(?:a )?hundred|(?:a )?thousand"
_COMPARED = (
    r"(?:faster|slower|quicker|cheaper|smaller|larger|as\s+(?:fast|slow|long|much)|less|more|the\s+(?:time|speed))"
)
_MEASURED = [
    # 1.5 ×, 3x, but neither 2 × 3 nor 0x1f
    rf"{_NUMBER}\s*(?:×|x)(?!\w)(?!\s*\d)",
    rf"(?:{_NUMBER}|\b(?:{_WORDS}))[\s-]*(?:times|fold)\s+{_COMPARED}\b",
    rf"{_NUMBER}\s*(?:times|fold)\s+(?:that|those|sha|blake|the\s+floor)|{_NUMBER}\s*percent\b",
    rf"{_NUMBER}\s*%\s*overhead|saves\s+{_NUMBER}\s*%|\b(?:eleven|ten)[- ](?:times|fold)\b",
    r"\b(?:half|a\s+third|a\s+quarter)\s+(?:of\s+)?the\s+time\b|\bdouble\s+the\s+speed\b|\border\s+of\s+magnitude\b",
    r"\b(?:twice|thrice|half)\s+as\s+(?:fast|slow|long|quick)\b|\btwice\s+the\s+(?:speed|time)\b",
    rf"{_NUMBER}\s*%\s*(?:(?:of|in)\s+)?{_COMPARED}\b",
    rf"{_NUMBER}\s*(?:[kKMGT]i?)?(?:B|bytes?|bits?)\s*(?:/\s*s\b|per\s+second|a\s+second)",
    rf"{_NUMBER}\s*(?:(?:thousand|million|billion)\s+)?(?:\w+\s+)?(?:a|per)\s+second\b|{_NUMBER}\s*(?:\w+\s*)?/\s*s\b",
    rf"{_NUMBER}\s*(?:[nµμum]s|(?<!\d{{4}})s|(?:nano|micro|milli)?seconds?|minutes?)\b",
]
HANDWRITTEN = re.compile("|".join(f"(?:{pattern})" for pattern in _MEASURED))


class FigureError(ValueError):
    """A page names a figure or table that is not there, or a marker does not pair."""


def pages(root: Path = ROOT) -> list[Path]:
    """Return the pages that are watched: all prose but the specifications, which state and do not measure."""
    found = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    found += sorted((root / "docs").rglob("*.md"))
    return [page for page in found if page.exists() and root / "docs" / "spec" not in page.parents]


def figure(path: str, results: dict[str, Any]) -> str:
    """Return a figure of the results as text.

    Raises:
        FigureError: There is none of this path.
    """
    value: Any = results
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            raise FigureError(f"figure {path}: no {key!r} in the results")
        value = value[key]
    if isinstance(value, dict) or value is None:
        raise FigureError(f"figure {path}: expected one value, found {type(value).__name__}")
    return shown(value, path.rsplit(".", 1)[-1])


def _table_text(name: str, results: dict[str, Any]) -> str:
    try:
        return table(name, results)
    except KeyError as error:
        raise FigureError(f"table {name}: no {error} in the results, or no such table") from None


def substituted(text: str, results: dict[str, Any]) -> str:
    """Return a page with every figure and table as the results have it.

    Raises:
        FigureError: A name is unknown, or a marker is without its other half.
    """
    text = _TABLE.sub(
        lambda m: f"<!-- table: {m['name']} -->\n{_table_text(m['name'], results)}\n<!-- /table -->", text
    )
    text = _FIGURE.sub(lambda m: f"<!-- figure: {m['path']} -->{figure(m['path'], results)}<!-- /figure -->", text)
    left = _TABLE.sub("", _FIGURE.sub("", _NO_MARKERS.sub("", text)))
    if stray := _MARKER.search(left):
        raise FigureError(f"{stray[0]}: without its other half")
    return text


# Markers inside code are shown to the reader, and are not substituted.
_NO_MARKERS = re.compile(r"^(```+|~~~+).*?^\1|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def handwritten(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of everything in prose that reads like a measurement but is no substitution."""
    prose = _NO_PROSE.sub(lambda match: re.sub(r"[^\n]", "\0", match[0]), text)
    for match in HANDWRITTEN.finditer(prose):
        yield prose.count("\n", 0, match.start()) + 1, " ".join(match[0].split())


def check(page: Path, results: dict[str, Any]) -> list[str]:
    """Return what is wrong with a page, one line for each fault."""
    text = page.read_text(encoding="utf-8")
    faults = [f"{page}:{line}: measured figure written by hand: {found}" for line, found in handwritten(text)]
    try:
        if substituted(text, results) != text:
            faults.append(f"{page}: figures differ from the results; run python benchmarks/figures.py")
    except FigureError as error:
        faults.append(f"{page}: {error}")
    return faults


def main(arguments: list[str]) -> int:
    """Write the figures into the pages, or check that they are there; return the exit status."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    if arguments == ["--check"]:
        faults = [fault for page in pages() for fault in check(page, results)]
        print(*faults, sep="\n", end="\n" if faults else "")
        return 1 if faults else 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        changed = substituted(text, results)
        if changed != text:
            page.write_text(changed, encoding="utf-8")
            print(f"figures: {page.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
