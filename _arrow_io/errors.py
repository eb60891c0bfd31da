"""The errors of reading, and their base.

They are public in `arrow_digest`. They stand here because what raises them stands here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ArrowDigestError", "UnknownUnitError", "UnreadableError", "format_path"]

# The rules that say nothing against a file. Every other rule is of a broken file, of something else, or of a failure
# to read, after which nothing is known of the file.
_SOUND_RULES = frozenset({"encrypted", "version", "codec", "summary", "unsupported"})


class ArrowDigestError(Exception):
    """Base of every error that arrow_digest raises on purpose.

    >>> from arrow_digest import ArrowDigestError, hash_file
    >>> try:
    ...     hash_file("missing")
    ... except ArrowDigestError as error:
    ...     print(type(error).__name__, error.rule)
    UnreadableError missing
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes with all fields, whatever the arguments of the subclass are."""
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[ArrowDigestError], args: tuple[Any, ...], fields: dict[str, Any]) -> ArrowDigestError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class UnreadableError(ArrowDigestError, ValueError):
    """A source that cannot be read as what it has to be, to its end.

    Attributes:
        source: The path or a name for the source, as text.
        rule: `missing`, `directory`, `permission`, `io`, `pipe`, `format` (no Arrow data), `lfs_pointer` (what Git LFS
            leaves in place of a file), `truncated`, `trailing`, `corrupt`, `row_count`, `changed`, `unseekable`,
            `memory`, `protocol` (a URI that nothing here opens), `escape` (outside the folder it has to be in), `int96`
            (a timestamp of that type does not fit the unit that it is read in), or one of a sound file: `encrypted`,
            `version` (of its format), `codec` (that pyarrow is built without), `summary` (of other Parquet files, no
            records of its own) or `unsupported` (anything else that pyarrow does not read).
        column: Field names from the top-level column down to what is wrong; None where that is no one column.
        row: The row, counted from 0; None where it is not known.
    """

    def __init__(
        self, source: str, rule: str, message: str, *, column: tuple[str, ...] | None = None, row: int | None = None
    ) -> None:
        super().__init__(f"{source}: {message}")
        self.source = source
        self.rule = rule
        self.column = column
        self.row = row

    @property
    def is_sound(self) -> bool:
        """True if the file is Arrow or Parquet data and nothing is wrong with it, but it cannot be read here.

        >>> UnreadableError("part.parquet", "codec", "it is compressed with LZO").is_sound
        True
        >>> UnreadableError("part.parquet", "truncated", "cut short").is_sound
        False
        """
        return self.rule in _SOUND_RULES


class UnknownUnitError(ArrowDigestError, ValueError):
    """A unit that INT96 timestamps are not read in.

    Attributes:
        unit: What was asked for.
    """

    def __init__(self, unit: object, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown int96_unit {unit!r}: expected one of {', '.join(known)}")
        self.unit = unit


def format_path(path: tuple[str, ...]) -> str:
    r"""Return a column path as text: names joined by dots, a name that would be ambiguous in quotes.

    >>> format_path(("user", "first.name"))
    'user."first.name"'
    """
    return ".".join(_quoted(name) if _is_ambiguous(name) else name for name in path)


def _is_ambiguous(name: str) -> bool:
    return name == "" or not name.isprintable() or any(character in '."\\ ' for character in name)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in escaped)
    return f'"{printable}"'
