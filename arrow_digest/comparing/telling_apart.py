"""What tells two values apart that differ, where showing both whole would not."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from typing import Any, NamedTuple
from unicodedata import name, normalize

import numpy as np
import numpy.typing as npt
import pyarrow.types as pt

from arrow_digest.comparing.leaf_values import Cells, block, first_difference, only_value
from arrow_digest.comparing.shown_values import json_value, text
from arrow_digest.rules.arrow0.portable import value_bytes

__all__ = ["NO_ROW", "Apart", "Place", "cut", "names_apart", "tell_apart"]

# Longer texts are cut.
_MOST_CHARACTERS = 200
# How much of a long text or of bytes is shown before the first difference, and from there on.
_BEFORE, _AFTER = 20, 60
# Text and bytes up to this long are shown whole.
_WINDOW = 120
# Comparing bytes takes blocks of this size.
_BLOCK = 1 << 16

Place = tuple[tuple[str, int], ...]


class _NoRow(Enum):
    """Stands for the value of a row, or of an item of a list, that is not there."""

    NO_ROW = "no row"

    def __repr__(self) -> str:
        return "NO_ROW"


NO_ROW = _NoRow.NO_ROW
"""Stands for the value of a row that is not there."""


class Apart(NamedTuple):
    """How two values differ.

    Attributes:
        place: Where inside them, from outside in: `("item", 3)` of a list, `("character", 7)` of a text or
            `("byte", 7)`, all counted from 0; empty where both are shown whole.
        texts: Both values there, for people; of text and bytes an excerpt.
        natives: The same for JSON; `NO_ROW` where a list has ended.
    """

    place: Place
    texts: tuple[str, str]
    natives: tuple[Any, Any]


def tell_apart(a: Cells, b: Cells) -> Apart:
    """Return how two single values differ."""
    found = _apart(a, b)
    if a.data_type != b.data_type:
        typed = [f"{words} ({side.data_type})" for words, side in zip(found.texts, (a, b), strict=True)]
        found = found._replace(texts=(typed[0], typed[1]))
    if repr(found.natives[0]) == repr(found.natives[1]):
        found = found._replace(natives=found.texts)
    return found


def cut(words: str) -> str:
    """Return a text for people, cut where it is long."""
    return words if len(words) <= _MOST_CHARACTERS else f"{words[:_MOST_CHARACTERS]}…"


def _apart(a: Cells, b: Cells) -> Apart:
    is_long = any(map(_is_long, (a, b)))
    texts = ("", "") if is_long else (text(a), text(b))
    if is_long or texts[0] == texts[1] or not all(map(str.isascii, texts)) or max(map(len, texts)) > _MOST_CHARACTERS:
        inner = _inner(a, b)
        if inner is not None:
            return inner
    if is_long:
        texts = (text(a), text(b))
    whole = json_value(a), json_value(b)
    natives = tuple(
        value if len(words) <= _MOST_CHARACTERS else cut(words) for value, words in zip(whole, texts, strict=True)
    )
    return Apart((), (cut(texts[0]), cut(texts[1])), (natives[0], natives[1]))


def _is_long(cells: Cells) -> bool:
    """Return whether a value is so large that all of it is not made into text."""
    levels = block(cells)
    return (
        levels is None or levels[-1].slot_count + (0 if levels[-1].payload is None else len(levels[-1].payload)) > 4096
    )


def _inner(a: Cells, b: Cells) -> Apart | None:
    """Return what differs inside two values; None if there is no inside."""
    here, there = only_value(a), only_value(b)
    if here is None or there is None:
        return None
    if here.items is not None and there.items is not None:
        return _items(here.items, there.items)
    if here.items is not None or there.items is not None:
        return None
    if all(pt.is_string(side.data_type) or pt.is_binary(side.data_type) for side in (a, b)):
        is_text = pt.is_string(a.data_type) and pt.is_string(b.data_type)
        return _excerpts(value_bytes(here.node, here.slots), value_bytes(there.node, there.slots), is_text=is_text)
    if a.data_type == b.data_type and pt.is_floating(a.data_type):
        texts = (_with_bits(a), _with_bits(b))
        return Apart((), texts, texts)
    return None


def _items(a: Cells, b: Cells) -> Apart:
    place = first_difference(a, b)
    if place is not None:
        inner = _apart(a.part(place, place + 1), b.part(place, place + 1))
        return inner._replace(place=(("item", place), *inner.place))
    place = min(a.size, b.size)
    sides = [side.part(place, place + 1) if side.size > place else None for side in (a, b)]
    texts = ["no item" if side is None else cut(text(side)) for side in sides]
    natives = [NO_ROW if side is None else json_value(side) for side in sides]
    return Apart((("item", place),), (texts[0], texts[1]), (natives[0], natives[1]))


def _with_bits(cells: Cells) -> str:
    levels = block(cells)
    assert levels is not None
    assert levels[-1].values is not None
    bits = levels[-1].values
    return f"{text(cells)} (bits 0x{int(bits[0]):0{2 * bits.dtype.itemsize}x})"


def _excerpts(a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8], *, is_text: bool) -> Apart:
    place = _first_byte(a, b)
    if is_text:
        with suppress(UnicodeDecodeError):
            return _text_excerpts(a, b, place)
    before = a[:place].tobytes()
    tails = [side[place : place + _WINDOW].tobytes() for side in (a, b)]
    return _excerpt("byte", before, tails, max(len(a), len(b)) - place)


def _text_excerpts(a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8], place: int) -> Apart:
    while place and any(place < len(side) and side[place] & 0xC0 == 0x80 for side in (a, b)):
        place -= 1  # to the start of the character
    tails = []
    for side in (a, b):
        part = side[place : place + 4 * _WINDOW].tobytes()
        tails.append(getincrementaldecoder("utf-8")().decode(part, final=place + len(part) == len(side)))
    return _excerpt("character", a[:place].tobytes().decode(), tails, max(len(a), len(b)) - place)


def _first_byte(a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8]) -> int:
    end = min(len(a), len(b))
    for start in range(0, end, _BLOCK):
        stop = min(start + _BLOCK, end)
        wrong = a[start:stop] != b[start:stop]
        if wrong.any():
            return start + int(np.argmax(wrong))
    return end


def _excerpt(unit: str, before: Any, tails: Sequence[Any], left: int) -> Apart:
    """Return what stands around the place at which two texts, or bytes, begin to differ.

    Args:
        unit: What places are counted in.
        before: What both have before it.
        tails: What each has from there on, at least so much of it as is shown.
        left: How many bytes the longer one has from there on, at least.
    """
    is_whole = len(before) + left <= _WINDOW
    head = before if is_whole else before[-_BEFORE:]
    parts = [head + tail if is_whole else head + tail[:_AFTER] for tail in tails]
    start = "" if len(head) == len(before) else "…"
    ends = ["" if is_whole or len(tail) <= _AFTER else "…" for tail in tails]
    escaped = unit == "character" and _may_look_alike(parts, tails)
    texts = []
    natives = []
    for part, end in zip(parts, ends, strict=True):
        quoted = f"{start}{part!r}{end}"
        texts.append(f"{quoted} ({start}{part!a}{end})" if escaped else quoted)
        natives.append(f"{start}{part.hex() if isinstance(part, bytes) else part}{end}")
    place = () if is_whole else ((unit, len(before)),)
    return Apart(place, (texts[0], texts[1]), (natives[0], natives[1]))


def names_apart(a: str, b: str) -> tuple[str, str]:
    r"""Return two names that differ as people see them, with their code points where they may look the same.

    >>> names_apart("e\u0301", "\xe9")[0].isascii(), names_apart("a", "b")
    (False, ('a', 'b'))
    """
    start = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if not _may_look_alike((a, b), (a[start:], b[start:])):
        return a, b
    return f"{a} ({a!a})", f"{b} ({b!a})"


def _may_look_alike(parts: Sequence[str], tails: Sequence[str]) -> bool:
    """Return whether two texts that differ may be the same to the eye."""
    if all(part.isascii() for part in tails):
        return False
    if len({normalize("NFKC", part) for part in parts}) == 1:
        return True
    # Letters of one script are told apart; those of two, marks, and what cannot be seen may not be.
    first = [tail[:1] for tail in tails]
    return not (all(map(str.isalpha, first)) and len({name(letter, "").partition(" ")[0] for letter in first}) == 1)
