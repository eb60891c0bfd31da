"""What Kiln refuses and why: one exception family, three codes, one slug per rule."""

from __future__ import annotations

import reprlib
from typing import Any, ClassVar, Literal, get_args

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
    "below",
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


def below(path: str, step: str) -> str:
    """Return the path of a part: a field, or a path that goes on with one, after a point; what is in brackets without.

    >>> below("batch.rows", "[3]"), below("batch", "rows[3]"), below("", "rows")
    ('batch.rows[3]', 'batch.rows[3]', 'rows')
    """
    return f"{path}.{step}" if path and step[:1] != "[" else path + step


_FIELDS = frozenset({"rule", "sentence", "offset", "tensor", "name", "path", "row"})


class KilnError(ValueError):
    """Bytes or values that are not canonical Kiln.

    An error does not change. Whoever knows more of the place raises a new one, which `placed` returns.

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
        *,
        offset: int | None = None,
        tensor: int | None = None,
        name: str | None = None,
        path: str = "",
        row: int | None = None,
    ) -> None:
        super().__init__(rule, sentence)
        self.rule = rule
        self.sentence = sentence
        self.offset = offset
        self.tensor = tensor
        self.name = name
        self.path = path
        self.row = row

    def __setattr__(self, field: str, value: object) -> None:
        if field in _FIELDS and hasattr(self, field):
            raise AttributeError(f"expected an error to stay as it is, found {field!r} set to something else")
        super().__setattr__(field, value)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {field: getattr(self, field) for field in _FIELDS}
        return _rebuilt, (type(self), fields)

    def placed(self, outer: str = "", **known: Any) -> KilnError:
        """Return the same error with more of its place.

        Args:
            outer: The path down to what the error's own path begins at.
            **known: Any of the fields but `path`, as they are to be.
        """
        fields = {field: getattr(self, field) for field in _FIELDS} | known
        if outer:
            fields["path"] = below(outer, self.path) if self.path else outer
        found: KilnError = _rebuilt(type(self), fields)
        found.__cause__, found.__suppress_context__ = self.__cause__, True
        return found.with_traceback(self.__traceback__)

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


def _rebuilt(kind: type[Any], fields: dict[str, Any]) -> Any:
    return kind(fields.pop("rule"), fields.pop("sentence"), **fields)


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
    return KilnEOFError("eof", sentence, offset=size)
