"""Type text: the canonical words of a Frozen type, its tokens and its schema hash (spec: type text and schema hash)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

from kiln_arrow.errors import KilnError, shown

__all__ = [
    "LEAF_WORDS",
    "MAX_DEPTH",
    "Dict",
    "Leaf",
    "List",
    "Option",
    "Struct",
    "T",
    "Type",
    "format_type",
    "is_name",
    "parse_type",
    "remembered",
    "schema_hash",
    "tokens",
]

LEAF_WORDS = (
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f32",
    "f64",
    "str",
    "bytes",
    "tensors",
)

MAX_DEPTH = 64

_FNV_BASIS = 14695981039346656037
_FNV_PRIME = 1099511628211
_U64 = (1 << 64) - 1

_OPENING = re.compile(r"(struct|list|dict|option)\{")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Leaf:
    """A type without parts.

    Attributes:
        word: One of `bool`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `str`, `bytes` and `tensors`.
    """

    word: str


@dataclass(frozen=True)
class Struct:
    """Named fields in order, at least one.

    Attributes:
        fields: Name and type of each.

    >>> import kiln_arrow
    >>> kiln_arrow.parse_type("struct{id:i64,}").fields
    (('id', Leaf(word='i64')),)
    """

    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True)
class List:
    """Any number of items of one type, `item`."""

    item: Type


@dataclass(frozen=True)
class Dict:
    """String keys, each with a value of one type, `value`."""

    value: Type


@dataclass(frozen=True)
class Option:
    """A value of the type `value`, or none; that type is not an option itself."""

    value: Type


Type = Leaf | Struct | List | Dict | Option

T = TypeVar("T")

# A program has few types and uses them often, so what follows from a text is remembered. Both bounds keep foreign texts
# from growing this without end. Of longer texts the latest is remembered: parsed anew for each row, one would cost rows
# times text.
_REMEMBERED_COUNT = 256
_REMEMBERED_LENGTH = 4096


def remembered(function: Callable[[str], T]) -> Callable[[str], T]:
    """Return the same function of a type text with its latest results remembered."""
    short = lru_cache(maxsize=_REMEMBERED_COUNT)(function)
    long = lru_cache(maxsize=1)(function)

    @wraps(function)
    def of_text(text: str) -> T:
        if not isinstance(text, str):
            raise TypeError(f"expected a type text, found {type(text).__name__} {shown(text)}")
        return short(text) if len(text) <= _REMEMBERED_LENGTH else long(text)

    return of_text


_OPENING_TOKENS: dict[type[Type], str] = {List: "list{", Dict: "dict{", Option: "option{"}


@remembered
def parse_type(text: str) -> Type:
    """Return the type a canonical type text spells.

    Raises:
        KilnError: The text is not canonical; `offset` is where, in characters from its start.

    >>> import kiln_arrow
    >>> kiln_arrow.parse_type("list{option{i64,},}")
    List(item=Option(value=Leaf(word='i64')))
    """
    parsed, end = _parse_type(text, 0, 0)
    if end != len(text):
        raise KilnError("trailing", f"expected the type text to end, found {shown(text[end:])}", offset=end)
    return parsed


def format_type(kind: Type) -> str:
    """Return the canonical text of a type, such that `parse_type` gives the type back.

    Raises:
        KilnError: The type has no canonical text: a name outside the grammar, a field twice, an option of an option …

    >>> import kiln_arrow
    >>> kiln_arrow.format_type(kiln_arrow.Struct((("id", kiln_arrow.Leaf("i64")),)))
    'struct{id:i64,}'
    """
    text = "".join(tokens(kind))
    if parse_type(text) != kind:
        raise KilnError("syntax", f"expected a type within the grammar, found one whose text is {shown(text)}")
    return text


@remembered
def schema_hash(text: str) -> int:
    """Return the 64-bit FNV-1a hash of a type text's tokens, each followed by a zero byte.

    Raises:
        KilnError: As `parse_type`.

    >>> import kiln_arrow
    >>> hex(kiln_arrow.schema_hash("struct{id:i64,batch:tensors,}"))
    '0xe58aadc7552f0d82'
    """
    state = _FNV_BASIS
    for token in tokens(parse_type(text)):
        for byte in token.encode() + b"\0":
            state = ((state ^ byte) * _FNV_PRIME) & _U64
    return state


def is_name(text: str) -> bool:
    """Return whether a text may name a field."""
    return _WORD.fullmatch(text) is not None


def tokens(kind: Type) -> Iterator[str]:
    """Yield the tokens of a type: an opening word with its brace is one, every other word and mark its own."""
    pending: list[str | Type] = [kind]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Leaf):
            yield item.word
        elif isinstance(item, Struct):
            yield "struct{"
            pending.append("}")
            for name, field in reversed(item.fields):
                pending += [",", field, ":", name]
        elif isinstance(item, (List, Dict, Option)):
            yield _OPENING_TOKENS[type(item)]
            pending += ["}", ",", item.item if isinstance(item, List) else item.value]
        else:
            raise KilnError("syntax", f"expected a type, found {shown(item)}")


def _parse_type(text: str, at: int, depth: int) -> tuple[Type, int]:
    """Parse the type at `at` inside `depth` open braces; returns it and where it ends."""
    opening = _OPENING.match(text, at)
    if opening is None:
        return _parse_leaf(text, at)
    if depth == MAX_DEPTH:
        raise KilnError("depth", f"expected at most {MAX_DEPTH} open braces, found one more", offset=at)
    word, inside = opening[1], opening.end()
    if word == "struct":
        return _parse_fields(text, inside, depth + 1)
    if word == "option" and text.startswith("option{", inside):
        raise KilnError("nested_option", "expected an option of a type that is no option, found option{", offset=inside)
    inner, at = _parse_type(text, inside, depth + 1)
    at = _expect("}", text, _expect(",", text, at))
    return (List(inner) if word == "list" else Dict(inner) if word == "dict" else Option(inner)), at


def _parse_leaf(text: str, at: int) -> tuple[Leaf, int]:
    word = _WORD.match(text, at)
    if word is None or word[0] not in LEAF_WORDS:
        raise _syntax("a type", text, at)
    return Leaf(word[0]), word.end()


def _parse_fields(text: str, at: int, depth: int) -> tuple[Struct, int]:
    if text.startswith("}", at):
        raise KilnError("empty_struct", "expected at least one field, found }", offset=at)
    fields: dict[str, Type] = {}
    while not text.startswith("}", at):
        name = _WORD.match(text, at)
        if name is None:
            raise _syntax("a field's name", text, at)
        if name[0] in fields:
            raise KilnError(
                "duplicate_field", f"expected a name no earlier field has, found {shown(name[0])}", offset=at
            )
        field, end = _parse_type(text, _expect(":", text, name.end()), depth)
        fields[name[0]] = field
        at = _expect(",", text, end)
    return Struct(tuple(fields.items())), at + 1


def _expect(mark: str, text: str, at: int) -> int:
    if not text.startswith(mark, at):
        raise _syntax(shown(mark), text, at)
    return at + 1


def _syntax(expected: str, text: str, at: int) -> KilnError:
    found = shown(text[at : at + 20]) if at < len(text) else "the end"
    return KilnError("syntax", f"expected {expected}, found {found}", offset=at)
