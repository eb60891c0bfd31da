"""diff against a slow second opinion, over tables of every type and layout, equal or with one change at any depth."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.types as pt
from hypothesis import given, settings
from hypothesis import strategies as st

from arrow_digest import diff
from helpers.examples import examples
from helpers.layouts import Noise, blind, build, is_list, random_value, read
from helpers.strategies import encodings, plain, same_records, seeds, tables


def rows_of(table):
    """Neutral values of every column."""
    return [[value for chunk in column.chunks for value in read(chunk)] for column in table.columns]


def parts(data_type, values, path):
    """Yield every struct and leaf below: path, whether it is a struct, and its value in every row."""
    if not pt.is_struct(data_type):
        yield path, False, values
        return
    yield path, True, values
    for index in range(data_type.num_fields):
        field = data_type.field(index)
        inner = [None if value is None else value[str(index)] for value in values]
        yield from parts(field.type, inner, (*path, field.name))


def expected_differences(a, b):
    """The first row of every leaf that differs, and of every struct whose nulls nothing above or inside it shows."""
    both = []
    for table in (a, b):
        columns = zip(table.schema, rows_of(table), strict=True)
        both.append([part for field, values in columns for part in parts(plain(field.type), values, (field.name,))])
    pairs = list(zip(*both, strict=True))
    found = []
    for place, ((path, is_struct, here), (_, _, there)) in enumerate(pairs):
        rows = [row for row, (x, y) in enumerate(zip(here, there, strict=True)) if differs(x, y, is_struct)]
        if is_struct:
            inside = [part for part in inner_pairs(pairs, place) if not part[0][1]]
            rows = [row for row in rows if not any(differs(x[2][row], y[2][row], False) for x, y in inside)]
            above = parent(pairs, place)
            rows = [row for row in rows if above is None or not differs(above[0][2][row], above[1][2][row], True)]
        if rows:
            found.append((path, rows[0]))
    return found


def differs(x, y, is_struct):
    return (x is None) != (y is None) if is_struct else x != y


def inner_pairs(pairs, place):
    depth = len(pairs[place][0][0])
    for pair in pairs[place + 1 :]:
        if len(pair[0][0]) <= depth:
            return
        yield pair


def parent(pairs, place):
    depth = len(pairs[place][0][0])
    return next((pair for pair in reversed(pairs[:place]) if len(pair[0][0]) < depth), None) if depth > 1 else None


def changed(value, data_type, rng):
    """Another value of a plain type, changed at any depth; the same one where there is no other."""
    if value is not None and rng.random() < 0.8:
        if pt.is_struct(data_type) and data_type.num_fields:
            index = rng.randrange(data_type.num_fields)
            return {**value, str(index): changed(value[str(index)], data_type.field(index).type, rng)}
        if is_list(data_type) and value:
            index = rng.randrange(len(value))
            inner = changed(value[index], data_type.value_type, rng)
            return [*value[:index], inner, *value[index + 1 :]]
    return None if value is not None and rng.random() < 0.6 else random_value(blind(data_type), rng, 0.0)


@st.composite
def changed_tables(draw, table):
    """The table with one value changed, in other layouts throughout."""
    columns = rows_of(table)
    rng = random.Random(draw(seeds))
    place = rng.randrange(len(columns))
    row = rng.randrange(table.num_rows)
    columns[place][row] = changed(columns[place][row], plain(table.schema.field(place).type), rng)
    arrays, fields = [], []
    for field, values in zip(table.schema, columns, strict=True):
        data_type = draw(encodings(field.type, values))
        arrays.append(build(values, data_type, Noise(draw(seeds), slack=True, garbage=True)))
        fields.append(pa.field(field.name, data_type))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def places(found):
    return sorted((column.path, column.row) for column in found.columns)


def assert_told_apart(found):
    for column in found.columns:
        assert column.a_text != column.b_text
        assert repr(column.a_json) != repr(column.b_json)
        assert not column.a_text.startswith("NO_ROW")
    assert str(found)


@given(st.data())
def test_the_same_records_in_another_form_are_the_same(data):
    table = data.draw(tables())
    other = data.draw(same_records(table))
    found = diff(table, other, threads=1)
    assert found.equal, str(found)


@settings(max_examples=examples(200))
@given(st.data())
def test_one_change_is_found_where_it_is_and_nothing_besides(data):
    table = data.draw(tables().filter(lambda t: t.num_rows and t.num_columns))
    other = data.draw(changed_tables(table))
    found = diff(table, other, threads=1)
    assert places(found) == sorted(expected_differences(table, other))
    assert_told_apart(found)
    back = diff(other, table, threads=1)
    assert places(back) == places(found)
    assert [(column.b_text, column.a_text) for column in back.columns] == [
        (column.a_text, column.b_text) for column in found.columns
    ]


@given(st.data())
def test_any_two_columns_of_other_types_are_compared_without_a_fault(data):
    """Columns of one name and any types: which differ, the same from either side, and never an exception."""
    a, b = data.draw(tables(max_columns=1)), data.draw(tables(max_columns=1))
    a, b = (table.rename_columns(["c"] * table.num_columns) for table in (a, b))
    rows = min(a.num_rows, b.num_rows)
    found, back = diff(a.slice(0, rows), b.slice(0, rows)), diff(b.slice(0, rows), a.slice(0, rows))
    assert places(found) == places(back)
    assert_told_apart(found)
