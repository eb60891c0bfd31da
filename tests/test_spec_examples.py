"""Every worked example in the specifications, and in golden/README.md, is what happens.

Each is worked out twice: by the packages, and by the second opinions that were written from the specifications alone.
helpers/spec_examples.py says what an example looks like, and helpers/spec_words.py what the words in it mean.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reference.records import RefusedError

import arrow_digest as ad
import kiln_arrow
from helpers.spec_examples import examples
from helpers.spec_words import ARROW0, COLUMNS, FILES, GOLDEN, KILN, by_id
from helpers.tree_words import TREES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs/spec/arrow0.md", ROOT / "docs/spec/kiln.md", ROOT / "docs/spec/kiln-in-arrow.md"]
TREE_PAGES = [ROOT / "docs/spec/tree0.md", ROOT / "docs/spec/bag0.md"]
README = ROOT / "golden/README.md"

# These sections need no example, because other sections show every rule that is in them.
WITHOUT_RULES = {
    *("arrow0: the logical hash of records", "From a table to a hash", "Value encoding"),
    *("Kiln", "Kiln in Arrow", "What is published and what is not"),
    *("tree0: the hash of records in order", "bag0: the hash of records in any order"),
}

REFUSALS = (ad.ArrowDigestError, kiln_arrow.KilnError, RefusedError)

NAMESPACES = dict(zip([*PAGES, *TREE_PAGES, README], [ARROW0, KILN, COLUMNS, TREES, TREES, GOLDEN], strict=True))


def rule_of(error):
    return getattr(error, "reserved", None) or getattr(error, "rule", None)


def value_of(text, names):
    """What an expression gives; one that begins with `name =` is also there for those after it."""
    name, text = re.fullmatch(r"(?:([a-z]\w*) = )?(.*)", text, re.DOTALL).groups()
    value = eval(text, names)  # the repository's own documentation
    if name:
        names[name] = value
    return value


def check_refused(example, names):
    value = None
    try:
        value = value_of(example.left, names)
    except REFUSALS as error:
        found = rule_of(error), getattr(error, "offset", None)
    else:
        assert isinstance(value, dict), f"accepted: {value!r:.200}"
        assert value["result"] == "refused", "a golden case that is accepted"
        found = value.get("rule") or value["error"]["kind"], value.get("offset")
    assert found[0] == example.rule
    if example.offset is not None:
        assert found[1] == example.offset


def check(example, names):
    if example.verb == "refused":
        check_refused(example, names)
        return
    value = value_of(example.left, names)
    if example.verb == "block":
        value = bytes.fromhex(value) if isinstance(value, str) else value
        assert value.hex(" ") == example.right.hex(" ")
    elif example.verb == "is":
        is_hex = isinstance(value, bytes)
        assert (value.hex(" ") == example.right) if is_hex else (value == value_of(example.right, names))
    elif example.verb == "equals":
        assert value == value_of(example.right, names)
    elif example.verb == "differs from":
        assert value != value_of(example.right, names)
    else:
        assert example.verb == "accepted"


@pytest.mark.parametrize("page", NAMESPACES, ids=lambda page: page.name)
def test_every_worked_example_is_what_happens(page):
    names = dict(NAMESPACES[page])
    wrong = []
    for example in examples(page):
        try:
            check(example, names)
        except Exception as error:  # all that is wrong with a page is told at once
            wrong.append(
                f"{page.relative_to(ROOT)}:{example.line}: {example.left}\n    {type(error).__name__}: {error}"
            )
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", [*PAGES, *TREE_PAGES], ids=lambda page: page.name)
def test_every_section_of_rules_has_a_worked_example(page):
    shown = {example.heading for example in examples(page)}
    headings = re.findall(r"^#+ (.*)", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)
    assert [heading for heading in headings if heading not in shown | WITHOUT_RULES] == []


@pytest.mark.parametrize("page", NAMESPACES, ids=lambda page: page.name)
def test_no_bytes_are_shown_outside_of_examples(page):
    outside = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^ {4}.*\b[0-9a-f]{2} [0-9a-f]{2}\b.*", outside, re.MULTILINE) == []


def test_the_readme_orders_cases_and_flags_that_there_are():
    text = README.read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \|[^|]*\|(.*)\|$", text, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    known = {path.name for path in README.parent.glob("*.json")}
    for file in FILES:
        for name, case in by_id(file).items():
            known |= {name, *case.get("flags", ())}
    assert len(named) >= 40
    beginnings = {name[:-1] for name in named if name.endswith("…")}
    assert {name for name in named if not name.endswith("…")} <= known
    assert {name for name in beginnings if not any(each.startswith(name) for each in known)} == set()


# No bytes on a page can show these rules: they are about a device, and about cells of more than 2 GiB.
NOT_SHOWN = {"device", "size"}


def test_every_rule_slug_has_an_example_that_is_refused_by_it():
    shown = {example.rule for page in PAGES[1:] for example in examples(page)}
    assert {*kiln_arrow.RULES, *kiln_arrow.COLUMN_RULES} - shown == NOT_SHOWN


@pytest.mark.parametrize(
    "text",
    [
        "Example: `a` is what it is.",
        "Example: `a`:\n\nno block",
        "Words. Example: `a` is `b`.",
        "```text\n00  nobody's\n```",
        "Example: `a`:\n\n```text\n00\n01  one\n```x",
        "Example: `a`:\n\n```text\n0g  no digit\n```",
        "Example: `a`:\n\n```text\noffset  bytes  meaning\n0  00  one\n```",
        "Example: `a`:\n\n```text\noffset  bytes  meaning\n0  00 00  two\n1  00  overlaps\n2  (end)\n```",
    ],
)
def test_what_only_looks_like_an_example_is_an_error(text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text + "\n")
    with pytest.raises(ValueError, match=r"page\.md|line|block|end|invalid"):
        examples(page)
