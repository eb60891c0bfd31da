"""The cases of tree0.json and bag0.json in code: what goes in, and why a correct implementation could get it wrong."""

from __future__ import annotations

from tree_cases import encodings, flat, maps_and_unions, nested, refused, tables, text
from tree_cases.case import TreeCase, nested_table
from tree_cases.flags import FLAGS
from tree_cases.published import PUBLISHED
from tree_cases.refused import UNSEEN

__all__ = ["FLAGS", "PUBLISHED", "UNSEEN", "TreeCase", "all_cases", "nested_table"]


def all_cases() -> list[TreeCase]:
    """Every case, in the order of the files. Ids never change and never come to mean something else."""
    families = (
        *(flat.numbers, flat.bools, text.text, flat.decimals, flat.times, flat.slices),
        *(nested.lists, nested.structs, maps_and_unions.maps, maps_and_unions.unions, encodings.encodings),
        *(tables.tables, tables.chunks, tables.bags, tables.lengths, tables.depths),
        *(refused.schemas, refused.values, refused.broken),
    )
    return [case for family in families for case in family()]
