"""A schema as a walk over its fields, at any depth but not into lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
from pyarrow import lib

from arrow_digest.arrays.types import LISTS, unwrap, unwrapped
from arrow_digest.errors import UnsupportedTypeError

__all__ = ["Field", "Nullability", "Struct", "nullability", "structs", "walk"]


class Field(NamedTuple):
    """One field of a schema at any depth.

    Attributes:
        path: Field names from the top-level column down; its length less one is the nesting level.
        indices: Field indices from the top-level column down.
        data_type: The field's type.
        base_type: The type under its extensions and encodings.
        above: How many levels of nesting are above its type: structs, and their encodings.
    """

    path: tuple[str, ...]
    indices: tuple[int, ...]
    data_type: pa.DataType
    base_type: pa.DataType
    above: int


class Struct(NamedTuple):
    """A column that is a struct, at any depth but not in a list.

    Attributes:
        path: Field names from the top-level column down.
        indices: Field indices from the top-level column down.
        leaves: The numbers of the leaf columns inside it; none where it has no fields but such structs.
    """

    path: tuple[str, ...]
    indices: tuple[int, ...]
    leaves: tuple[int, ...]


class Nullability(NamedTuple):
    """What a schema says of nulls in a leaf column.

    Attributes:
        rows: Whether rows may be null, in the leaf or in a struct above it.
        items: Whether items of its lists, at any depth, may be null.
        structs: Whether a struct above it may be null.
    """

    rows: bool
    items: bool
    structs: bool


def walk(schema: pa.Schema) -> Iterator[Field]:
    """Yield every field of a schema, depth first.

    Raises:
        UnsupportedTypeError: A name is not UTF-8, or a type has too many levels.

    >>> [field.path for field in walk(pa.schema([("a", pa.struct([("b", pa.int8())]))]))]
    [('a',), ('a', 'b')]
    """
    return _walk(schema, (), (), 0)


def _walk(
    parent: pa.Schema | pa.StructType, path: tuple[str, ...], indices: tuple[int, ...], above: int
) -> Iterator[Field]:
    count = len(parent) if isinstance(parent, pa.Schema) else parent.num_fields
    for index in range(count):
        field = parent.field(index)
        try:
            name = field.name
        except UnicodeDecodeError as error:
            here = (*path, f"#{index}")
            reason = f"its name is not UTF-8 ({error.reason})"
            raise UnsupportedTypeError(here, field.type, "name", reason) from None
        here, places = (*path, name), (*indices, index)
        base, level = unwrapped(field.type, here, above)
        yield Field(here, places, field.type, base, above)
        if base.id == lib.Type_STRUCT:
            yield from _walk(base, here, places, level)


def structs(
    fields: Sequence[tuple[tuple[str, ...], tuple[int, ...]]], leaves: Sequence[tuple[int, ...]]
) -> tuple[Struct, ...]:
    """Return structs with the leaf columns inside them.

    Args:
        fields: Path and indices of each struct.
        leaves: The indices of each leaf column.

    >>> structs([(("s",), (1,))], [(0,), (1, 0)])
    (Struct(path=('s',), indices=(1,), leaves=(1,)),)
    """
    inside: dict[tuple[int, ...], list[int]] = {}
    for number, leaf in enumerate(leaves):
        for depth in range(1, len(leaf)):
            inside.setdefault(leaf[:depth], []).append(number)
    return tuple(Struct(path, indices, tuple(inside.get(indices, ()))) for path, indices in fields)


def nullability(schema: pa.Schema, indices: tuple[int, ...]) -> Nullability:
    """Return what a schema says of nulls in a leaf column.

    Args:
        schema: The schema.
        indices: Field indices from the top-level column down to the leaf.

    >>> nullability(pa.schema([pa.field("a", pa.list_(pa.int8()), nullable=False)]), (0,))
    Nullability(rows=False, items=True, structs=False)
    """
    rows = structs = False
    parent = schema
    for index in indices:
        field = parent.field(index)
        structs, rows = rows, rows or field.nullable
        parent = unwrap(field.type)
    items = False
    inner = parent
    while inner.id in LISTS:
        items = items or inner.value_field.nullable
        inner = unwrap(inner.value_type)
    return Nullability(rows, items, structs)
