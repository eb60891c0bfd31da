"""Errors: what they say of a place, and that they stay as they were raised."""

from __future__ import annotations

import pickle

import pytest

import kiln_arrow
from kiln_arrow import KilnDtypeError, KilnEOFError, KilnError, KilnSchemaError

FIELDS = {"rule": "bool", "sentence": "s", "offset": 3, "tensor": 1, "name": "x", "path": "a[0]", "row": 7}
KINDS = [KilnError, KilnEOFError, KilnSchemaError, KilnDtypeError]


def error(kind=KilnError, **changed):
    fields = {**FIELDS, **changed}
    return kind(fields.pop("rule"), fields.pop("sentence"), **fields)


def fields_of(found):
    return {field: getattr(found, field) for field in FIELDS}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("field", FIELDS)
def test_no_field_of_an_error_changes(kind, field):
    found = error(kind)
    with pytest.raises(AttributeError, match=field):
        setattr(found, field, "another")
    assert fields_of(found) == FIELDS


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_travels_between_processes_with_all_fields(kind):
    found = pickle.loads(pickle.dumps(error(kind)))
    assert (type(found), fields_of(found), found.code) == (kind, FIELDS, kind.code)
    assert str(found) == str(error(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_with_more_of_its_place_is_a_new_one_of_its_kind_with_the_same_cause(kind):
    first = error(kind, row=None)
    first.__cause__ = cause = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    found = first.placed("column", row=9)
    assert type(found) is kind
    assert found is not first
    assert fields_of(found) == {**FIELDS, "path": "column.a[0]", "row": 9}
    assert fields_of(first) == {**FIELDS, "row": None}
    assert found.__cause__ is cause


@pytest.mark.parametrize(
    ("outer", "path", "expected"),
    [("", "", ""), ("a", "", "a"), ("", "a", "a"), ("a", "b", "a.b"), ("a", "[3]", "a[3]"), ("[3]", "b", "[3].b")],
)
def test_a_path_goes_on_after_a_point_or_with_brackets(outer, path, expected):
    assert error(path=path).placed(outer).path == expected


def test_why_text_was_refused_is_known_outside_of_every_level():
    with pytest.raises(KilnError) as caught:
        kiln_arrow.thaw("list{struct{a:str,},}", b"\1" + bytes(7) + b"\1" + bytes(7) + b"\xff")
    assert (caught.value.rule, caught.value.path) == ("utf8", "[0].a")
    assert isinstance(caught.value.__cause__, UnicodeDecodeError)
