"""The footer of a Parquet file, read here because pyarrow ends the process over some broken ones.

pyarrow gives a file's metadata column by column, and translates no exception of C++ on that way: an encrypted column,
or one flipped bit in a column's statistics, ends in SIGABRT. What has to be known of a footer before it is read comes
from here instead, and is compared: counts of rows and values that contradict each other are refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from _arrow_io.errors import UnreadableError, format_path
from _arrow_io.thrift import BINARY, BYTE, I32, I64, LIST, STRUCT, CompactReader, encode_struct, encode_varint, zigzag

__all__ = ["BYTE_ARRAY", "Chunk", "Footer", "Leaf", "RowGroup", "parse_footer", "require_consistent", "rewritten"]

_BOOLEAN, _INT32, _INT64, _INT96, _FLOAT, _DOUBLE, BYTE_ARRAY, _FIXED_LEN_BYTE_ARRAY = range(8)

_REPEATED = 2
_MOST_SCHEMA_DEPTH = 1000

# Numbers of converted types, and of the members of the union of logical types.
_NARROW_CONVERTED = {11: (8, False), 12: (16, False), 15: (8, True), 16: (16, True)}
_INTEGER, _UNKNOWN, _VARIANT, _DECIMAL = 10, 11, 16, 5
_CONVERTED_DECIMAL = 5


class Leaf(NamedTuple):
    """A column as the schema describes it.

    Attributes:
        path: Names from the root's child down.
        physical_type: The number of its physical type.
        length: Bytes of a value of FIXED_LEN_BYTE_ARRAY.
        is_repeated: True if a row may hold any number of its values.
        is_decimal: True if it is annotated as one.
        raw: How it is to be read if pyarrow would not say that a value does not fit what the column is annotated as:
            the element of the schema without its annotation, or None.
        span: Where its element of the schema begins and ends.
    """

    path: tuple[str, ...]
    physical_type: int
    length: int
    is_repeated: bool
    is_decimal: bool
    raw: bytes | None
    span: tuple[int, int]


class Chunk(NamedTuple):
    """A column in a row group.

    Attributes:
        is_elsewhere: True if it is in another file.
        is_encrypted: True if it needs a key.
        is_described: True if the rest is known: a key may be needed for that, too.
        physical_type: The number of its physical type.
        value_count: How many values and nulls its pages hold.
        value_count_span: Where that number begins and ends.
        uncompressed_size: Bytes of its pages once they are no longer compressed.
        has_dictionary: True if it begins with a dictionary page.
        has_data: True if it is said where its first data page is; a chunk of no values need not have one.
        start: Where its first page is.
        compressed_size: Bytes of its pages as they lie there.
    """

    is_elsewhere: bool
    is_encrypted: bool
    is_described: bool
    physical_type: int
    value_count: int
    value_count_span: tuple[int, int]
    uncompressed_size: int
    has_dictionary: bool
    has_data: bool
    start: int
    compressed_size: int


class RowGroup(NamedTuple):
    """A row group, with as many chunks as the schema has leaves."""

    chunks: list[Chunk]
    row_count: int
    row_count_span: tuple[int, int]


class Footer(NamedTuple):
    """What is needed of a footer.

    Attributes:
        data: Its bytes.
        leaves: The columns of the schema, depth first.
        variants: Names of groups of the logical type Variant.
        row_groups: In order.
        row_count: Of all row groups.
        row_count_span: Where that number begins and ends.
        created_by: Which program wrote it, as it says.
    """

    data: bytes
    leaves: list[Leaf]
    variants: tuple[str, ...]
    row_groups: list[RowGroup]
    row_count: int
    row_count_span: tuple[int, int]
    created_by: bytes


def parse_footer(data: bytes) -> Footer:
    """Return what a footer says.

    Args:
        data: The footer, without its length and the mark at its end. A signature may follow it.

    Raises:
        ValueError: It is no footer, or its columns are no tree, or no row group fits them.
    """
    try:
        fields = _fields(CompactReader(data))
    except IndexError as error:
        raise ValueError("its footer is cut short") from error
    for number, what in ((2, "schema"), (3, "count of rows"), (4, "row groups")):
        if number not in fields:
            raise ValueError(f"its footer has no {what}")
    row_count, *span = fields[3]
    leaves, variants = _leaves(fields[2])
    for number, group in enumerate(fields[4]):
        if len(group.chunks) != len(leaves):
            raise ValueError(f"row group {number} has {len(group.chunks)} columns, the schema {len(leaves)}")
        for leaf, chunk in zip(leaves, group.chunks, strict=True):
            if chunk.is_described and chunk.physical_type != leaf.physical_type:
                where = f"column {format_path(leaf.path)} in row group {number}"
                raise ValueError(
                    f"{where} is of physical type {chunk.physical_type}, in the schema {leaf.physical_type}"
                )
    return Footer(data, leaves, variants, fields[4], row_count, (span[0], span[1]), fields.get(6, b""))


def require_consistent(footer: Footer, name: str) -> None:
    """Refuse a footer whose counts of rows and values contradict each other.

    Raises:
        UnreadableError: They do.
    """
    counted = sum(group.row_count for group in footer.row_groups)
    if counted != footer.row_count or any(group.row_count < 0 for group in footer.row_groups):
        message = f"broken Parquet: its footer says {footer.row_count} rows, its row groups {counted}"
        raise UnreadableError(name, "row_count", message)
    for number, group in enumerate(footer.row_groups):
        for leaf, chunk in zip(footer.leaves, group.chunks, strict=True):
            too_few = chunk.value_count < group.row_count
            if chunk.is_described and (too_few or (chunk.value_count != group.row_count and not leaf.is_repeated)):
                where = f"column {format_path(leaf.path)} has {chunk.value_count} values in row group {number}"
                message = f"broken Parquet: {where}, which has {group.row_count} rows"
                raise UnreadableError(name, "row_count", message, column=leaf.path)


def rewritten(footer: Footer, raw: frozenset[int], more: int) -> bytes:
    """Return a footer for pyarrow to read by, of which everything is as it was but for the following.

    Args:
        footer: The footer.
        raw: Numbers of leaves that are read as they are stored, without their annotations.
        more: How many more rows, and values of each chunk, are claimed than there are. pyarrow stops at what a footer
            claims, so that pages which hold more would go unnoticed otherwise.
    """
    edits = [(footer.leaves[number].span, footer.leaves[number].raw or b"") for number in raw]
    if more:
        edits.append((footer.row_count_span, _number(footer.row_count + more * len(footer.row_groups))))
        for group in footer.row_groups:
            edits.append((group.row_count_span, _number(group.row_count + more)))
            if _chunk_sizes_are_exact(footer.created_by):
                with_data = (chunk for chunk in group.chunks if chunk.has_data)
                edits += [(chunk.value_count_span, _number(chunk.value_count + more)) for chunk in with_data]
    parts, last = [], 0
    for (start, end), new in sorted(edits):
        parts += [footer.data[last:start], new]
        last = end
    return b"".join(parts) + footer.data[last:]


def _chunk_sizes_are_exact(created_by: bytes) -> bool:
    # Before version 1.2.9 parquet-mr did not count the header of the dictionary page. pyarrow reads a little beyond the
    # end of such a chunk, and would take the next one's first page for its own.
    return not created_by.startswith((b"parquet-mr version 1.0", b"parquet-mr version 1.1", b"parquet-mr version 1.2"))


def _number(value: int) -> bytes:
    return encode_varint(zigzag(value))


def _fields(reader: CompactReader) -> dict[int, Any]:
    """Return the wanted fields of the footer. What reads each is made once: a large footer has many of them."""
    integer = (I32, reader.integer)
    long = (I64, reader.integer)
    placed = (I64, reader.integer_and_place)
    text = (BINARY, reader.binary)
    presence = (STRUCT, reader.presence)
    of_integer = {1: (BYTE, reader.byte)}
    of_logical = {
        _INTEGER: (STRUCT, lambda: reader.struct(of_integer)),
        **dict.fromkeys((_UNKNOWN, _VARIANT, _DECIMAL), presence),
    }
    of_element = {
        **dict.fromkeys((1, 2, 3, 5, 6, 9), integer),
        4: text,
        10: (STRUCT, lambda: reader.struct(of_logical)),
    }
    of_metadata = {1: integer, 5: placed, 6: long, 7: long, 9: long, 11: long}
    of_chunk = {1: text, 3: (STRUCT, lambda: reader.struct(of_metadata)), 8: presence}
    of_group = {1: (LIST, lambda: reader.list_of(STRUCT, lambda: _chunk(reader.struct(of_chunk)))), 3: placed}

    def element() -> tuple[dict[int, Any], tuple[int, int]]:
        start = reader.place
        return reader.struct(of_element), (start, reader.place)

    return reader.struct(
        {
            2: (LIST, lambda: reader.list_of(STRUCT, element)),
            3: placed,
            4: (LIST, lambda: reader.list_of(STRUCT, lambda: _row_group(reader.struct(of_group)))),
            6: text,
        }
    )


def _leaves(elements: list[tuple[dict[int, Any], tuple[int, int]]]) -> tuple[list[Leaf], tuple[str, ...]]:
    """Return the leaves of the tree that its elements describe, a parent before its children; and the variants."""
    if not elements:
        raise ValueError("its footer has an empty schema")
    leaves, variants = [], []
    # Of each: children to come, path, whether it may be repeated.
    open_groups: list[tuple[int, tuple[str, ...], bool]] = [(elements[0][0].get(5, 0), (), False)]
    for fields, span in elements[1:]:
        while open_groups and not open_groups[-1][0]:
            open_groups.pop()
        if not open_groups:
            raise ValueError("its footer has elements of the schema that belong to no group")
        left, parents, repeated = open_groups[-1]
        open_groups[-1] = (left - 1, parents, repeated)
        path = (*parents, fields.get(4, b"").decode("utf-8", "replace"))
        repeated = repeated or fields.get(3) == _REPEATED
        if 1 in fields:
            leaves.append(_leaf(fields, span, path, repeated=repeated))
            continue
        if _VARIANT in fields.get(10, {}):
            variants.append(path[-1])
        if len(path) > _MOST_SCHEMA_DEPTH:
            raise ValueError(f"its schema is nested more than {_MOST_SCHEMA_DEPTH} deep")
        open_groups.append((fields.get(5, 0), path, repeated))
    if any(left for left, *_ in open_groups):
        raise ValueError("its footer has groups in the schema with fewer children than they claim")
    return leaves, tuple(variants)


def _leaf(fields: dict[int, Any], span: tuple[int, int], path: tuple[str, ...], *, repeated: bool) -> Leaf:
    physical_type, logical = fields[1], fields.get(10, {})
    is_narrow = fields.get(6) in _NARROW_CONVERTED or logical.get(_INTEGER, {}).get(1) in (8, 16)
    plain: dict[int, int | bytes] = {number: fields[number] for number in (1, 2, 3, 4, 9) if number in fields}
    raw = None
    if physical_type == _INT96:
        raw = encode_struct({**plain, 1: _FIXED_LEN_BYTE_ARRAY, 2: 12})
    elif (physical_type == _INT32 and is_narrow) or _UNKNOWN in logical:
        raw = encode_struct(plain)
    is_decimal = _DECIMAL in logical or fields.get(6) == _CONVERTED_DECIMAL
    return Leaf(path, physical_type, fields.get(2, 0), repeated, is_decimal, raw, span)


def _row_group(fields: dict[int, Any]) -> RowGroup:
    if 1 not in fields or 3 not in fields:
        raise ValueError("its footer has a row group without columns or without a count of rows")
    row_count, start, end = fields[3]
    return RowGroup(fields[1], row_count, (start, end))


def _chunk(fields: dict[int, Any]) -> Chunk:
    described = fields.get(3, {})
    value_count, start, end = described.get(5, (0, 0, 0))
    return Chunk(
        is_elsewhere=bool(fields.get(1)),
        is_encrypted=8 in fields,
        is_described=5 in described,
        physical_type=described.get(1, -1),
        value_count=value_count,
        value_count_span=(start, end),
        uncompressed_size=described.get(6, 0),
        has_dictionary=11 in described,
        has_data=described.get(9, 0) > 0,
        start=min((described[number] for number in (9, 11) if described.get(number, 0) > 0), default=0),
        compressed_size=described.get(7, 0),
    )
