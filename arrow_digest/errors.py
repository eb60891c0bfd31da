"""Every exception that arrow_digest raises on purpose.

All of them derive from `ArrowDigestError` and carry what they say as fields, so that a caller never
has to match text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from _arrow_io.errors import ArrowDigestError, UnknownUnitError, UnreadableError, format_path
from arrow_digest.public import public

__all__ = [
    "ArrowDigestError",
    "DigestStateError",
    "ExpectationError",
    "InvalidArrayError",
    "ManifestError",
    "MultihashError",
    "PlatformError",
    "SchemaMismatchError",
    "UnknownFunctionError",
    "UnknownUnitError",
    "UnreadableError",
    "UnsupportedTypeError",
    "WorkerError",
    "format_path",
    "naming",
]


@public
class UnknownFunctionError(ArrowDigestError, ValueError):
    """A digest function that this package does not know.

    Attributes:
        name: What was asked for.
        suggestion: The name of the function that was probably meant, or None.
    """

    def __init__(self, name: object, known: tuple[str, ...], suggestion: str | None) -> None:
        hint = f"; did you mean {suggestion!r}?" if suggestion else ""
        super().__init__(f"unknown digest function {name!r}: expected one of {', '.join(known)}{hint}")
        self.name = name
        self.suggestion = suggestion


@public
class MultihashError(ArrowDigestError, ValueError):
    """Text or bytes that are no multihash of a kind this package knows.

    Attributes:
        rule: The violated rule: `base` (no or unknown multibase prefix), `text` (not the one text of its
            bytes in that base), `varint` (not minimal, too long, or cut short), `code` (unknown hash code),
            `length` (not the code's digest length, or not what follows), `trailing` (bytes after the digest).
        value: What was given.
    """

    def __init__(self, rule: str, message: str, value: str | bytes) -> None:
        super().__init__(f"not a multihash: {message}")
        self.rule = rule
        self.value = value


@public
class UnsupportedTypeError(ArrowDigestError, TypeError):
    """A column of a type that a rule set has no encoding for.

    Attributes:
        path: Field names from the top-level column down.
        data_type: The column's Arrow type.
        rule: `reserved`, `unknown` (the specification does not know it), `records` (an array where records are wanted,
            or the reverse), `depth`, `name` or `time_zone` (not UTF-8), or `variant`.
        reserved: Which of the rule set's reserved types it is or has inside it: `interval`, `struct` (inside a list,
            or alone), `union`, `map` or `duration`; None where something else is wrong with it.
        rule_set: The rule set that has no encoding for it, such as `arrow0`; None where none has.
        source: Which of two sources it is in, as `diff` says; None elsewhere.
    """

    source: str | None = None

    def __init__(
        self,
        path: tuple[str, ...],
        data_type: object,
        rule: str,
        reason: str,
        reserved: str | None = None,
        rule_set: str | None = None,
    ) -> None:
        where = f"column {format_path(path)}" if path else "the array"
        if rule == "records":
            message = reason
        elif rule in ("name", "time_zone"):  # nothing is wrong with the type
            message = f"{where}: {reason}"
        else:
            no_encoding = "" if rule_set is None else f" has no {rule_set} encoding"
            message = f"{where}: type {data_type}{no_encoding}: {reason}"
        super().__init__(message)
        self.path = path
        self.data_type = data_type
        self.rule = rule
        self.reserved = reserved
        self.rule_set = rule_set


@public
class SchemaMismatchError(ArrowDigestError, ValueError):
    """Data whose schema is not the digest's schema.

    Attributes:
        path: The first field that differs.
        expected: Its description in the digest's schema, None where it should not be there.
        found: Its description in the data, None where it is missing.
    """

    def __init__(self, path: tuple[str, ...], expected: str | None, found: str | None) -> None:
        where = f"column {format_path(path)}: " if path else ""
        super().__init__(f"{where}expected {expected or 'no such column'}, found {found or 'no such column'}")
        self.path = path
        self.expected = expected
        self.found = found


@public
class InvalidArrayError(ArrowDigestError, ValueError):
    """An array whose structure is broken: it points outside its own buffers.

    Attributes:
        path: Field names from the top-level column down; empty for an array by itself.
        rule: `buffer`, `offsets`, `views`, `sizes`, `indices`, `run_ends`, `child_length`, `device`, `nulls` or
            `length` (a negative number of slots, or a negative offset).
        slot: The first slot at fault within the array that was checked, None where the fault has no slot.
        source: Which of two sources it is in, as `diff` says; None elsewhere.
    """

    source: str | None = None

    def __init__(self, path: tuple[str, ...], rule: str, message: str, slot: int | None = None) -> None:
        where = f"column {format_path(path)}: " if path else ""
        at = "" if slot is None else f" (slot {slot})"
        super().__init__(f"{where}broken array structure ({rule}): {message}{at}")
        self.path = path
        self.rule = rule
        self.slot = slot


@public
class PlatformError(ArrowDigestError, ImportError):
    """The package cannot be imported on this machine.

    Attributes:
        rule: `byte_order` (the machine is big-endian).
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


@public
class DigestStateError(ArrowDigestError, RuntimeError):
    """A digest cannot do what it is asked to in its present state.

    Attributes:
        rule: `half_way` (an update failed half-way: no hash of a part of the data comes out) or `concurrent` (another
            call, mostly in another thread, is at work on it: that one goes on, this one took nothing).
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


@public
class ExpectationError(ArrowDigestError, ValueError):
    """Something was to be verified against an expectation that cannot be one.

    Attributes:
        rule: `nothing` (no hash to compare with), `kind` (a physical hash given as logical, or the other way round),
            `source` (a physical hash of what has no bytes) or `count` (no length or count).
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


@public
class ManifestError(ArrowDigestError, ValueError):
    """A manifest, or a list of hashes, that is not what one has to be.

    Attributes:
        source: The manifest's path, as text.
        rule: `format`, `truncated`, `version` (made by a newer release), `empty` (nothing to verify), `entry` (an entry
            that says nothing usable), `duplicate` (a second entry for a file), `escape` (a file outside the manifest's
            folder), `requires` (it needs what this release does not know), `exists` (something else has its name) or
            `incomplete` (some file could not be recorded).
        line: The line at fault, counted from 1; None where there is none.
    """

    def __init__(self, source: str, rule: str, message: str, line: int | None = None) -> None:
        at = "" if line is None else f"line {line}: "
        super().__init__(f"{source}: {at}{message}")
        self.source = source
        self.rule = rule
        self.line = line


@public
class WorkerError(ArrowDigestError, RuntimeError):
    """An executor did not do its work: a worker ended, or the executor takes no more.

    Attributes:
        source: The file that was to be worked on, as text.
    """

    def __init__(self, source: str, message: str) -> None:
        super().__init__(f"{source}: {message}")
        self.source = source


# These are defined where files are read, and are no less public than the others.
for _error in (ArrowDigestError, UnreadableError, UnknownUnitError):
    public(_error)


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Have errors that say which column is at fault say as well in which of two sources it is."""
    try:
        yield
    except (InvalidArrayError, UnsupportedTypeError) as error:
        error.source = source
        error.args = (f"{source}: {error}",)
        raise
