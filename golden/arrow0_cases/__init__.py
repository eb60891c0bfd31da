"""The cases of arrow0.json in code: what goes in, and why a correct implementation could get it wrong."""

from __future__ import annotations

from arrow0_cases import flat, nested, published, records, refused
from arrow0_cases.case import Case
from arrow0_cases.notes import NOTES

__all__ = ["NOTES", "all_cases"]


def all_cases() -> list[Case]:
    """Every case, in the order of the file. Ids never change and never come to mean something else."""
    families = (
        published.published,
        *(flat.numbers, flat.times, flat.bitmaps, flat.slices, flat.garbage, flat.text),
        *(nested.lists, nested.structs),
        *(records.encodings, records.records, records.collisions),
        *(refused.reserved, refused.broken, refused.streams),
    )
    return [case for family in families for case in family()]
