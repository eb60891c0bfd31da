"""How the leaf columns of two sets of records differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from arrow_digest.arrays.schema import Struct
from arrow_digest.comparing.conversion import is_convertible
from arrow_digest.errors import format_path
from arrow_digest.public import public
from arrow_digest.rules.rule import ColumnDigest

__all__ = ["ColumnChange", "column_changes", "describe_changes", "has_other_nulls", "keyed"]

Key = tuple[tuple[str, ...], int]


@public
@dataclass(frozen=True)
class ColumnChange:
    """One leaf column that is not what it was.

    Attributes:
        path: Field names from the top-level column down.
        kind: `removed`, `added`, `type`, `values`, `nulls` (equal digests, and nulls in other rows) or `order` (it has
            another place).
        expected_type: Its logical type on the expected side, None where it is not there.
        found_type: Its logical type on the other side, None where it is not there.
        expected_digest: Its digest on the expected side.
        found_number: Its place among the leaves of the other side.
    """

    path: tuple[str, ...]
    kind: str
    expected_type: pa.DataType | None = None
    found_type: pa.DataType | None = None
    expected_digest: bytes | None = None
    found_number: int | None = None

    @property
    def may_be_retyped(self) -> bool:
        """True if values of the found type can have equals in the expected one."""
        return self.kind == "type" and is_convertible(self.found_type, self.expected_type)

    def __str__(self) -> str:
        """Return the change in words."""
        words = {
            "removed": "is missing",
            "added": "is new",
            "type": f"{self.expected_type} became {self.found_type}",
            "values": "other values",
            "nulls": "nulls in other rows",
            "order": "in another place",
        }
        return f"{format_path(self.path)}: {words[self.kind]}"


_Column = TypeVar("_Column", ColumnDigest, Struct)


def keyed(columns: Iterable[_Column]) -> dict[Key, tuple[int, _Column]]:
    """Return columns with their places by path, the nth of one path by the nth."""
    seen: Counter[tuple[str, ...]] = Counter()
    found = {}
    for number, column in enumerate(columns):
        found[column.path, seen[column.path]] = (number, column)
        seen[column.path] += 1
    return found


def column_changes(expected: tuple[ColumnDigest, ...], found: tuple[ColumnDigest, ...]) -> tuple[ColumnChange, ...]:
    """Return what differs between the leaf columns of two sets of records, in the expected order, what is new last."""
    before, after = keyed(expected), keyed(found)
    changes = []
    for key, (_, old) in before.items():
        if key not in after:
            changes.append(ColumnChange(old.path, "removed", old.data_type, None, old.digest))
            continue
        number, new = after[key]
        kind = _kind(old, new)
        if kind is not None:
            changes.append(ColumnChange(old.path, kind, old.data_type, new.data_type, old.digest, number))
    for key, (number, new) in after.items():
        if key not in before:
            changes.append(ColumnChange(new.path, "added", None, new.data_type, None, number))
    return (*changes, *_moved(before, after))


def _kind(old: ColumnDigest, new: ColumnDigest) -> str | None:
    if old.data_type != new.data_type:
        return "type"
    if old.digest != new.digest:
        return "values"
    return "nulls" if has_other_nulls(old, new) else None


def has_other_nulls(old: ColumnDigest, new: ColumnDigest) -> bool:
    """Return whether nulls are known to be in other rows."""
    if old.null_count != new.null_count:
        return True
    return None not in (old.validity_digest, new.validity_digest) and old.validity_digest != new.validity_digest


def _moved(
    before: Mapping[Key, tuple[int, ColumnDigest]], after: Mapping[Key, tuple[int, ColumnDigest]]
) -> Iterable[ColumnChange]:
    common = [key for key in before if key in after]
    for key, other in zip(common, (key for key in after if key in before), strict=True):
        if key != other:
            number, new = after[key]
            old = before[key][1]
            yield ColumnChange(old.path, "order", old.data_type, new.data_type, old.digest, number)


def describe_changes(changes: tuple[ColumnChange, ...]) -> str:
    """Return changes in words, the first few of them."""
    shown = "; ".join(str(change) for change in changes[:8])
    return shown + (f"; and {len(changes) - 8} more" if len(changes) > 8 else "")
