"""Why bytes are refused, and the checks that every part of the format makes."""

from __future__ import annotations

from typing import NoReturn


class RefusedError(Exception):
    """Where and why bytes or text are not Kiln.

    Attributes:
        code: "EOF", "TYPE" or "SCHEMA".
        rule: the slug of the violated rule.
        offset: in the caller's buffer or text.
        tensor: the index of the tensor concerned, if there is one.
        name: the name of that tensor, if it has one that can be read.
    """

    def __init__(self, code: str, rule: str, offset: int, tensor: int | None = None, name: str | None = None) -> None:
        super().__init__(f"{code} {rule} at {offset}" + ("" if tensor is None else f", tensor {tensor} {name!r}"))
        self.code, self.rule, self.offset, self.tensor, self.name = code, rule, offset, tensor, name


def refuse(rule: str, offset: int, tensor: int | None = None, name: str | None = None) -> NoReturn:
    raise RefusedError("TYPE", rule, offset, tensor, name)


def require(data: bytes, end: int) -> None:
    """The buffer must reach to `end`."""
    if end > len(data):
        raise RefusedError("EOF", "eof", len(data))


def unsigned(data: bytes, at: int, width: int) -> int:
    return sum(data[at + i] << 8 * i for i in range(width))


def zeros(data: bytes, start: int, end: int, rule: str, tensor: int | None = None, name: str | None = None) -> None:
    for at in range(start, end):
        if data[at] != 0:
            refuse(rule, at, tensor, name)


def utf8(data: bytes, start: int, end: int, tensor: int | None = None, name: str | None = None) -> str:
    try:
        return data[start:end].decode("utf-8", "strict")
    except UnicodeDecodeError:
        refuse("utf8", start, tensor, name)
