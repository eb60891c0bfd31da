"""The worked examples of the specifications and of golden/README.md, found in their text.

An example is a paragraph, or an item of a list, that begins with "Example: " and an expression. What follows the
expression says what it gives:

- a colon at the end: the bytes of the ``text`` block below it;
- ``is`` and bytes or another literal;
- ``equals`` or ``differs from`` and another expression;
- ``is refused``, with ``as`` a rule and ``at`` an offset where these are to be checked;
- ``is accepted``.

A line of a block is bytes, two or more spaces, and what they mean; a line of bytes alone goes on in the next one. Where
the first line is "offset  bytes  meaning", each line begins with the place of its bytes, those that are not shown are
0, and the last line, "(end)", says where they stop.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_PARAGRAPHS = re.compile(r"\n\s*\n|\n(?=- )")
_EXAMPLE = re.compile(
    r"(?:- )?Example: `(?P<left>[^`]+)`"
    r"(?:(?P<block>(?:[,;].*)?):"
    r"| (?P<verb>is|equals|differs from) `(?P<right>[^`]+)`(?P<said>[,.;:].*)?"
    r"| is refused(?: as `(?P<rule>\w+)`)?(?: at (?P<offset>\d+))?(?P<why>[,.;:].*)?"
    r"| is (?P<accepted>accepted)(?P<whence>[,.;:].*)?)",
    re.DOTALL,
)
_FENCE = re.compile(r"```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"(?P<bytes>[0-9a-f]{2}(?: [0-9a-f]{2})*)(?:  +(?P<meaning>\S.*))?")


class Example(NamedTuple):
    """One example: the line it begins in, the heading above it, its expression, and what is said of that."""

    line: int
    heading: str
    left: str
    verb: str
    right: str | bytes
    rule: str | None = None
    offset: int | None = None


def block_bytes(block: str) -> bytes:
    """The bytes of a block, or `ValueError` where it is not as the rules above say."""
    lines = block.splitlines()
    if lines == ["(nothing)"]:
        return b""
    if lines[0].split() == ["offset", "bytes", "meaning"]:
        return _placed(lines[1:])
    data = b""
    for line in lines:
        match = _LINE.fullmatch(line)
        if not match or not (match["meaning"] or line != lines[-1]):
            raise ValueError(f"no line of an example: {line!r}")
        data += bytes.fromhex(match["bytes"])
    return data


def _placed(lines: list[str]) -> bytes:
    data = bytearray()
    for line in lines:
        place, _, rest = line.strip().partition("  ")
        if int(place) < len(data):
            raise ValueError(f"behind the line before it: {line!r}")
        data += bytes(int(place) - len(data))
        if not rest.strip().startswith("(end)"):
            data += block_bytes(rest.strip())
        elif line != lines[-1]:
            raise ValueError("an end before the last line")
    if "(end)" not in lines[-1]:
        raise ValueError("no end")
    return bytes(data)


def examples(page: Path) -> list[Example]:
    """Every example of a page, from its top. `ValueError` for what looks like one and is none."""
    text = page.read_text(encoding="utf-8")
    blocks: list[str] = []

    def taken(match: re.Match[str]) -> str:
        blocks.append(match[2] if match[1] == "text" else "")
        return "".join(f"\n<block {len(blocks) - 1}>\n" if match[1] == "text" else "\n") + "\n" * match[0].count("\n")

    found: list[Example] = []
    shown: set[int] = set()
    heading, at = "", 0
    paragraphs = [part for part in _PARAGRAPHS.split(_FENCE.sub(taken, text)) if part.strip()]
    for number, paragraph in enumerate(paragraphs):
        words = re.sub(r"\s+", " ", paragraph.strip())
        if words.startswith("#"):
            heading = words.lstrip("# ")
        if not re.match(r"(- )?Example\b", words):
            if re.search(r"\bExample:|\*Example", words):
                raise ValueError(f"{page.name}: an example inside a paragraph: {words}")
            continue
        match = _EXAMPLE.fullmatch(words)
        if not match:
            raise ValueError(f"{page.name}: not the form of an example: {words}")
        at = text.index("Example: ", at) + 1
        line, left = text.count("\n", 0, at) + 1, match["left"]
        if match["block"] is not None:
            below = re.fullmatch(r"<block (\d+)>", paragraphs[number + 1].strip())
            if not below:
                raise ValueError(f"{page.name}:{line}: no block below the example")
            shown.add(int(below[1]))
            found.append(Example(line, heading, left, "block", block_bytes(blocks[int(below[1])])))
        elif match["verb"]:
            found.append(Example(line, heading, left, match["verb"], match["right"]))
        elif match["accepted"]:
            found.append(Example(line, heading, left, "accepted", ""))
        else:
            offset = None if match["offset"] is None else int(match["offset"])
            found.append(Example(line, heading, left, "refused", "", match["rule"], offset))
    for number, block in enumerate(blocks):
        if block and number not in shown:
            raise ValueError(f"{page.name}: a block without an example: {block[:60]!r}")
    return found
