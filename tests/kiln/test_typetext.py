"""Type text: one text per type, hashed token by token."""

import itertools
import subprocess
import sys
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiln_arrow
from kiln_arrow import Dict, KilnError, Leaf, List, Option, Struct
from kiln_arrow.canonical.typetext import LEAF_WORDS

PUBLISHED = 0xE58AADC7552F0D82

field_names = st.one_of(st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,8}\Z"), st.sampled_from([*LEAF_WORDS, "struct"]))


def _with_parts(inner):
    fields = st.lists(st.tuples(field_names, inner), min_size=1, max_size=4, unique_by=lambda field: field[0])
    return st.one_of(
        fields.map(lambda pairs: Struct(tuple(pairs))),
        inner.map(List),
        inner.map(Dict),
        inner.filter(lambda kind: not isinstance(kind, Option)).map(Option),
    )


types = st.recursive(st.sampled_from(LEAF_WORDS).map(Leaf), _with_parts, max_leaves=12)


@given(types)
def test_a_type_is_what_its_text_parses_to(kind):
    text = kiln_arrow.format_type(kind)
    assert kiln_arrow.parse_type(text) == kind
    assert kiln_arrow.format_type(kiln_arrow.parse_type(text)) == text


@given(types, types)
def test_types_hash_alike_only_when_they_are_equal(one, other):
    one_text, other_text = kiln_arrow.format_type(one), kiln_arrow.format_type(other)
    hashes_equal = kiln_arrow.schema_hash(one_text) == kiln_arrow.schema_hash(other_text)
    assert hashes_equal == (one == other)


@given(types, st.data())
def test_every_strict_prefix_of_a_type_text_is_refused_unless_it_is_a_type_itself(kind, data):
    text = kiln_arrow.format_type(kind)
    prefix = text[: data.draw(st.integers(0, len(text) - 1))]
    if prefix not in LEAF_WORDS:
        with pytest.raises(KilnError) as caught:
            kiln_arrow.parse_type(prefix)
        assert caught.value.code == "TYPE"
        assert caught.value.offset <= len(prefix)


def fnv(tokens):
    state = 14695981039346656037
    for byte in b"".join(token.encode() + b"\0" for token in tokens):
        state = (state ^ byte) * 1099511628211 % 2**64
    return state


def test_no_other_cutting_of_the_published_text_gives_the_published_hash():
    # Every word and mark of the text on its own; a cutting joins some neighbours.
    atoms = ["struct", "{", "id", ":", "i64", ",", "batch", ":", "tensors", ",", "}"]
    found = []
    for joins in itertools.product([False, True], repeat=len(atoms) - 1):
        tokens = [atoms[0]]
        for join, atom in zip(joins, atoms[1:], strict=True):
            if join:
                tokens[-1] += atom
            else:
                tokens.append(atom)
        if fnv(tokens) == PUBLISHED:
            found.append(tokens)
    assert found == [["struct{", "id", ":", "i64", ",", "batch", ":", "tensors", ",", "}"]]
    assert kiln_arrow.schema_hash("struct{id:i64,batch:tensors,}") == PUBLISHED


@pytest.mark.parametrize(
    "kind",
    [
        Leaf("f16"),
        Leaf("i8,}"),
        Struct(()),
        Struct((("a", Leaf("i8")), ("a", Leaf("i8")))),
        Struct((("a:i8,b", Leaf("i8")),)),
        Struct((("\u00e4", Leaf("i8")),)),
        Option(Option(Leaf("i8"))),
    ],
)
def test_a_type_outside_the_grammar_has_no_text(kind):
    with pytest.raises(KilnError):
        kiln_arrow.format_type(kind)


def test_types_nested_without_end_are_refused_not_followed():
    kind = Leaf("i8")
    for _ in range(100_000):
        kind = List(kind)
    with pytest.raises(KilnError) as caught:
        kiln_arrow.format_type(kind)
    assert caught.value.rule == "depth"
    while isinstance(kind, List):  # taken apart by hand, as its own end would recurse
        kind = kind.item


def test_a_hundred_thousand_open_braces_are_refused_not_followed():
    for function in (kiln_arrow.parse_type, kiln_arrow.schema_hash, lambda text: kiln_arrow.thaw(text, b"")):
        with pytest.raises(KilnError) as caught:
            function("list{" * 100_000)
        assert (caught.value.rule, caught.value.offset) == ("depth", 320)


def test_hashes_do_not_depend_on_the_hash_seed():
    script = "import kiln_arrow; print(kiln_arrow.schema_hash('struct{id:i64,batch:tensors,}'))"
    for seed in ("1", "2"):
        result = subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        )
        assert int(result.stdout) == PUBLISHED


def test_long_type_texts_are_not_kept():
    size = 100_000
    tracemalloc.start()
    for number in range(40):
        name = f"a{number:0{size}}"
        assert kiln_arrow.thaw(f"struct{{{name}:i8,}}", b"\0") == {name: 0}
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 5 * size


@pytest.mark.parametrize("text", [None, 5, b"i8", ["i8"]])
def test_what_is_no_text_is_a_type_error(text):
    for function in (kiln_arrow.parse_type, kiln_arrow.schema_hash, lambda text: kiln_arrow.thaw(text, b"\0")):
        with pytest.raises(TypeError, match="expected a type text, found"):
            function(text)
