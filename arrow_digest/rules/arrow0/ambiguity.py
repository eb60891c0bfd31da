"""What arrow0 cannot tell apart: see the section of that name in the arrow0 specification.

A null is one zero byte, and so some values begin like nulls. Equal digests of such a column do not say that nulls and
values are in the same rows; its null count, and above all the digest of its row validity, say more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.types as pt

from arrow_digest.rules.rule import ColumnDigest

__all__ = ["hidden", "may_hide"]


def _tells_nulls(data_type: pa.DataType) -> bool:
    """Return whether no value of a type is encoded to bytes that begin as a null's do: bools, and where all is null."""
    return bool(pt.is_boolean(data_type) or pt.is_null(data_type))


def may_hide(a: ColumnDigest, b: ColumnDigest) -> bool:
    """Return whether the values of two leaves with equal digests may differ; nulls of structs are left aside."""
    if _tells_nulls(a.data_type):
        return False
    if a.nullable_items or b.nullable_items:
        return True
    if None not in (a.validity_digest, b.validity_digest):
        return a.validity_digest != b.validity_digest
    return bool(a.null_count or b.null_count)


def hidden(recorded: Sequence[ColumnDigest] | None, found: Sequence[ColumnDigest]) -> Iterator[tuple[str, ...]]:
    """Yield the leaves in which what arrow0 cannot tell apart was not told apart by anything else."""
    # Equal logical hashes mean the same leaves in the same order.
    for number, column in enumerate(found):
        known = None if recorded is None else recorded[number]
        if column.null_count and (column.nullable_structs or (known is not None and known.nullable_structs)):
            yield column.path  # a null struct, or a struct of nulls
        elif known is not None:
            if may_hide(known, column):
                yield column.path
        elif column.nullable_items or (column.nullable and not _tells_nulls(column.data_type)):
            yield column.path
