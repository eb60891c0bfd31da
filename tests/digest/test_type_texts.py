"""Types as texts and back, which manifests lean on; what of a leaf may be null; and where two schemas part."""

from __future__ import annotations

import pyarrow as pa
import pytest

from arrow_digest import SchemaMismatchError
from arrow_digest.arrays.schema import nullability
from arrow_digest.arrays.types import MAX_NESTING, parse_type
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.rule import require_same

PLAIN = [
    *(pa.null(), pa.bool_(), pa.string(), pa.binary(), pa.float16(), pa.float32(), pa.float64()),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
    *(
        pa.timestamp(unit, zone)
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "+05:30", "a, tz=b", "x]")
    ),
    *(pa.decimal32(9, 2), pa.decimal64(18, -3), pa.decimal128(38, 38), pa.decimal128(1, 0), pa.decimal256(76, -76)),
]


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
@pytest.mark.parametrize("data_type", PLAIN, ids=str)
def test_a_type_comes_back_from_its_text(data_type, depth):
    for _ in range(depth):
        data_type = pa.list_(data_type)
    assert parse_type(str(data_type)) == data_type


def in_lists(depth):
    return "list<item: " * depth + "int8" + ">" * depth


def test_as_many_lists_as_a_type_may_have_come_back_and_no_more():
    assert str(parse_type(in_lists(MAX_NESTING - 1))) == in_lists(MAX_NESTING - 1)
    assert str(parse_type(in_lists(MAX_NESTING))) == in_lists(MAX_NESTING)
    assert parse_type(in_lists(MAX_NESTING + 1)) is None
    assert parse_type(in_lists(100_000)) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "int",
            "int8 ",
            " int8",
            "INT8",
            "string_view",
            "large_string",
            "halffloat2",
            "list",
            "struct<a: int8>",
        ),
        *("list<item: int8", "list<item: int8>>", "int8>", "list<element: int8>", "list<item: >", "list<item: list>"),
        *(
            "timestamp",
            "timestamp[m]",
            "timestamp[us, tz=UTC",
            "timestamp[us tz=UTC]",
            "timestamp[us, UTC]",
            "timestamp[]",
        ),
        *("decimal128(5, 2", "decimal128(5,2)", "decimal128(0, 0)", "decimal128(39, 0)", "decimal32(10, 0)"),
        *("decimal(5, 2)", "decimal16(5, 2)", "decimal64(19, 0)", "decimal256(77, 0)", "decimal128(5, 2000)"),
        *(
            "timestamp[]",
            "struct<a: int8>",
            "decimal128(-5, 2)",
            "decimal128(1000, 2)",
            "dictionary<values=string, indices=int8, ordered=0>",
        ),
    ],
)
def test_a_text_of_no_logical_type_is_told(text):
    assert parse_type(text) is None


def leaf(fields, rows, items=False, structs=False):
    """A schema of one column, and what may be null of its leaf."""
    return fields, rows, items, structs


def field(data_type, nullable, name="x"):
    return pa.field(name, data_type, nullable=nullable)


def struct(data_type, nullable):
    return pa.struct([field(data_type, nullable)])


def listed(data_type, nullable):
    return pa.list_(field(data_type, nullable, "item"))


INT = pa.int8()
RULE = chosen_rule()

NULLABLE = [
    leaf(field(INT, False), False),
    leaf(field(INT, True), True),
    leaf(field(struct(INT, False), False), False),
    leaf(field(struct(INT, True), False), True),
    leaf(field(struct(INT, False), True), True, structs=True),
    leaf(field(struct(INT, True), True), True, structs=True),
    leaf(field(struct(struct(INT, False), True), False), True, structs=True),
    leaf(field(struct(struct(INT, False), False), True), True, structs=True),
    leaf(field(struct(struct(INT, True), False), False), True),
    leaf(field(listed(INT, False), False), False),
    leaf(field(listed(INT, True), False), False, items=True),
    leaf(field(listed(INT, False), True), True),
    leaf(field(listed(listed(INT, True), False), False), False, items=True),
    leaf(field(listed(listed(INT, False), True), False), False, items=True),
    leaf(field(listed(listed(INT, False), False), False), False),
    leaf(field(struct(listed(INT, True), False), True), True, items=True, structs=True),
]


@pytest.mark.parametrize(("column", "rows", "items", "structs"), NULLABLE)
def test_what_of_a_leaf_may_be_null(column, rows, items, structs):
    schema = pa.schema([column])
    (found,) = RULE.plan(schema).leaves
    assert nullability(schema, found.indices) == (rows, items, structs)


def test_the_first_field_in_which_two_schemas_part_is_named():
    a, b, other = pa.field("a", pa.int8()), pa.field("b", pa.int8()), pa.field("b", pa.int16())
    one, both, retyped = (RULE.plan(pa.schema(fields)) for fields in ([a], [a, b], [a, other]))
    none = RULE.plan(pa.schema([]))
    require_same(RULE, both, RULE.plan(pa.schema([a, b])))
    for expected, found, path in [
        (one, both, ("b",)),
        (both, one, ("b",)),
        (both, retyped, ("b",)),
        (none, one, ("a",)),
        (one, none, ("a",)),
    ]:
        with pytest.raises(SchemaMismatchError) as raised:
            require_same(RULE, expected, found)
        assert raised.value.path == path
