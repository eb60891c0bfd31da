"""Type text and schema hash."""

from __future__ import annotations

import re
from typing import NamedTuple

from .refusal import refuse

INTEGERS = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8}
FLOATS = {"f32": 4, "f64": 8}
LEAVES = {"bool", *INTEGERS, *FLOATS, "str", "bytes", "tensors"}


class Type(NamedTuple):
    """A parsed type: `kind` is a leaf's word or struct, list, dict, option; `fields` are a struct's names and types."""

    kind: str
    item: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at, self.open = text, 0, 0
        self.tokens: list[str] = []

    def word(self) -> str:
        """The run of word characters here; nothing is taken."""
        match = re.compile(r"[A-Za-z0-9_]*").match(self.text, self.at)
        return match.group() if match else ""

    def take(self, token: str) -> None:
        if not self.text.startswith(token, self.at):
            refuse("syntax", self.at)
        self.tokens.append(token)
        self.at += len(token)

    def type(self, inside: str = "") -> Type:
        start, word = self.at, self.word()
        if word in LEAVES:
            self.take(word)
            return Type(word)
        if word not in ("struct", "list", "dict", "option"):
            refuse("syntax", start)
        if not self.text.startswith("{", start + len(word)):
            refuse("syntax", start)
        if word == inside == "option":
            refuse("nested_option", start)
        if self.open == 64:
            refuse("depth", start)
        self.take(word + "{")
        self.open += 1
        result = self.struct() if word == "struct" else Type(word, self.one(word))
        self.take("}")
        self.open -= 1
        return result

    def one(self, inside: str) -> Type:
        item = self.type(inside)
        self.take(",")
        return item

    def struct(self) -> Type:
        if self.text.startswith("}", self.at):
            refuse("empty_struct", self.at)
        fields: list[tuple[str, Type]] = []
        while not self.text.startswith("}", self.at):
            name = self.word()
            if not name or name[0].isdigit():
                refuse("syntax", self.at)
            if any(name == other for other, _ in fields):
                refuse("duplicate_field", self.at)
            self.take(name)
            self.take(":")
            fields.append((name, self.one("struct")))
        return Type("struct", fields=tuple(fields))


def _parse(text: str) -> tuple[Type, list[str]]:
    parser = _Parser(text)
    result = parser.type()
    if parser.at != len(text):
        refuse("trailing", parser.at)
    return result, parser.tokens


def parse_type(text: str) -> Type:
    """The type a canonical text names, or a `RefusedError` with the offset in the text."""
    return _parse(text)[0]


def schema_hash(text: str) -> int:
    """FNV-1a 64 over the tokens of a type text, each followed by a zero byte.

    >>> hex(schema_hash("struct{id:i64,batch:tensors,}"))
    '0xe58aadc7552f0d82'
    """
    state = 14695981039346656037
    for token in _parse(text)[1]:
        for byte in (*token.encode("ascii"), 0):
            state = (state ^ byte) * 1099511628211 % (1 << 64)
    return state
