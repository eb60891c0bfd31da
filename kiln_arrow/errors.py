"""What Kiln refuses and why: one exception family, three codes, one slug per rule."""

from __future__ import annotations

import reprlib
from typing import ClassVar, Literal, get_args

__all__ = [
    "COLUMN_RULES",
    "RULES",
    "Code",
    "ColumnRule",
    "KilnDtypeError",
    "KilnEOFError",
    "KilnError",
    "KilnSchemaError",
    "Rule",
    "end_of_buffer",
    "shown",
]

Code = Literal["TYPE", "SCHEMA", "EOF"]

Rule = Literal[
    # Bytes end too soon, or go on too long.
    "eof",
    "trailing",
    # Directory.
    "magic",
    "version",
    "flags",
    "reserved",
    "overflow",
    "dtype",
    "rank",
    "dims",
    "byte_length",
    "byte_offset",
    "name_bytes",
    "payload_bytes",
    "utf8",
    "duplicate_name",
    "padding",
    "bool",
    # Type text.
    "syntax",
    "empty_struct",
    "duplicate_field",
    "nested_option",
    "depth",
    # Frozen bytes.
    "option",
    "key_order",
    # Frame.
    "profile",
    "schema_hash",
    # What an encoder is given.
    "entry",
    "name",
    "array",
    "masked",
    "device",
    "layout",
    "value",
    "range",
    "field",
    "buffer",
]

ColumnRule = Literal["arrow", "arrow_type", "null", "ragged", "size", "expansion"]

RULES: tuple[Rule, ...] = get_args(Rule)
"""Every rule slug, as documentation, golden cases and errors spell it."""

COLUMN_RULES: tuple[ColumnRule, ...] = get_args(ColumnRule)
"""The same for what only columns are held to."""

_SHOWN_CHARACTERS = 80
_SHOWN_PATH = 200

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = _SHOWN_CHARACTERS


def shown(value: object) -> str:
    """Return `value` escaped and shortened, fit for one line of a message."""
    if isinstance(value, bytes):
        value = value[:_SHOWN_CHARACTERS]
    try:
        return _short.repr(value)
    except Exception:  # a foreign repr may raise anything, and Python's own refuses integers of many digits
        return f"<{type(value).__name__}>"


def _shortened(path: str) -> str:
    # Names of fields may be as long as a file: a message about each row had better not repeat them whole.
    return path if len(path) <= 2 * _SHOWN_PATH else f"{path[:_SHOWN_PATH]}…{path[-_SHOWN_PATH:]}"


class KilnError(ValueError):
    """Bytes or values that are not canonical Kiln.

    Attributes:
        code: `"TYPE"`, `"SCHEMA"` or `"EOF"`.
        rule: Slug of the violated rule, one of `RULES` or `COLUMN_RULES`.
        sentence: What was expected and what was found.
        offset: Byte offset in the caller's buffer (character offset for type text); None when encoding.
        tensor: Index of the tensor at fault, in directory order, or None.
        name: Name of that tensor where it has one that can be read, or None.
        path: Place inside a frozen value, such as `batch.rows[3]['key']`; empty at the top. In a nested column or an
            Arrow type, where it lies below the top.
        row: Index of the row at fault in a column, or None.

    >>> import kiln_arrow
    >>> try:
    ...     kiln_arrow.decode(b"KLNT")
    ... except kiln_arrow.KilnError as error:
    ...     print(error.code, error.rule, error.offset)
    EOF eof 4
    """

    code: ClassVar[Code] = "TYPE"

    def __init__(
        self,
        rule: Rule | ColumnRule,
        sentence: str,
        offset: int | None = None,
        tensor: int | None = None,
        name: str | None = None,
        path: str = "",
        row: int | None = None,
    ) -> None:
        super().__init__(rule, sentence, offset, tensor, name, path, row)
        self.rule = rule
        self.sentence = sentence
        self.offset = offset
        self.tensor = tensor
        self.name = name
        self.path = path
        self.row = row

    def __str__(self) -> str:
        places = []
        if self.row is not None:
            places.append(f"row {self.row}")
        if self.path:
            places.append(f"in {_shortened(self.path)}")
        if self.tensor is not None:
            places.append(f"tensor {self.tensor}" if self.name is None else f"tensor {self.tensor} {shown(self.name)}")
        if self.offset is not None:
            places.append(f"at byte {self.offset}")
        return f"{self.sentence} ({', '.join(places)})" if places else self.sentence


class KilnEOFError(KilnError, EOFError):
    """The bytes read so far call for more than the buffer has."""

    code = "EOF"


class KilnSchemaError(KilnError):
    """A frame was written for another type; none of its fields was read.

    >>> import kiln_arrow
    >>> try:
    ...     kiln_arrow.unframe("list{i8,}", kiln_arrow.frame("list{str,}", ["a"]))
    ... except kiln_arrow.KilnSchemaError as error:
    ...     print(error.code, error.rule)
    SCHEMA schema_hash
    """

    code = "SCHEMA"


class KilnDtypeError(KilnError, TypeError):
    """A dtype outside the table."""


def end_of_buffer(required: int, start: int, size: int, what: str) -> KilnEOFError:
    """Return the error for a buffer of `size` bytes that ends before `start + required`."""
    sentence = f"expected {required} bytes of {what} at byte {start}, found {max(size - start, 0)}"
    return KilnEOFError("eof", sentence, size)
