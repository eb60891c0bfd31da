"""Both packages speak in one way, where a linter has no rule for it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import arrow_digest
import kiln_arrow

ROOT = Path(__file__).parents[1]
PACKAGES = ("_arrow_io", "arrow_digest", "kiln_arrow")
MODULES = sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
PUBLIC = {"_arrow_io": set(), "arrow_digest": set(arrow_digest.__all__), "kiln_arrow": set(kiln_arrow.__all__)}
MOST_PARAMETERS = 5
# What shows values of any type, or takes any object with the buffer protocol, which has no type before Python 3.12, or
# arrays of pyarrow, which publishes no types.
ANY = {
    *("ColumnDifference", "Opaque", "encode_into", "decode", "validate", "DType", "from_numpy", "unframe", "thaw"),
    *("TensorsScalar", "FrameScalar", "from_structs", "array", "to_storage", "from_storage", "to_numpy"),
    *("iter_tensors", "validate_column", "to_structs", "write_table"),
}
# Functions below the border that take more, because the object that they should take has no name yet.
LONG = {
    ("_arrow_io/parquet.py", "__init__"),
    ("arrow_digest/arrays/describe/layouts.py", "_view"),
    ("arrow_digest/arrays/describe/layouts.py", "_settle"),
    ("kiln_arrow/canonical/decoder.py", "_descriptor_error"),
    ("kiln_arrow/canonical/decoder.py", "_check_sums"),
    ("kiln_arrow/canonical/decoder.py", "_read_text"),
    ("kiln_arrow/canonical/decoder.py", "_region_error"),
    ("kiln_arrow/columns/from_structs.py", "_field"),
    ("kiln_arrow/columns/from_structs.py", "_values"),
}

each_module = pytest.mark.parametrize("module", MODULES, ids=str)


@cache
def parsed(module):
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


def is_public(module, node):
    return node.name in PUBLIC[module.parts[0]]


def own_functions(module):
    """The functions of a module with the class that they are in, and whether users call them."""
    for node in parsed(module).body:
        if isinstance(node, ast.FunctionDef):
            yield node, is_public(module, node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    is_own = inner.name.startswith("_") and not inner.name.startswith("__")
                    yield inner, is_public(module, node) and not is_own


def parameters(function):
    named = function.args
    return [p for p in (*named.posonlyargs, *named.args, *named.kwonlyargs) if p.arg not in ("self", "cls")]


def is_command(function):
    return any("click" in ast.unparse(decorator) for decorator in function.decorator_list)


@each_module
def test_a_module_says_what_others_may_take_from_it(module):
    body = parsed(module).body
    assigned = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    names = {target.id for target in assigned if isinstance(target, ast.Name)}
    assert "__all__" in names or len(body) == 1, "a module, except one that is a docstring alone, has __all__"


@each_module
def test_a_docstring_speaks_as_all_others_do(module):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(parsed(module)):
        text = (ast.get_docstring(node) or "") if isinstance(node, kinds) else ""
        assert not re.search(r"^(Examples?|Notes?):", text, re.MULTILINE), "an example stands bare"
        assert not re.match(r"(Returns|Yields|Raises|Gets)\b", text), "a docstring is in the imperative"


@each_module
def test_the_docstring_of_a_constant_stands_behind_it(module):
    assert not re.search(r"^ *#:", (ROOT / module).read_text(encoding="utf-8"), re.MULTILINE)


@each_module
def test_what_users_call_names_the_types_that_it_takes_and_gives(module):
    for node in parsed(module).body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or not is_public(module, node) or node.name in ANY:
            continue
        fields = [inner for inner in node.body if isinstance(inner, ast.AnnAssign)]
        inside = [node] if isinstance(node, ast.FunctionDef) else node.body
        functions = [inner for inner in inside if isinstance(inner, ast.FunctionDef)]
        annotations = [field.annotation for field in fields if not field.target.id.startswith("_")]
        for function in functions:
            if not function.name.startswith("_") or function.name == "__init__":
                annotations += [p.annotation for p in parameters(function)] + [function.returns]
        for annotation in annotations:
            assert annotation is None or not re.search(r"\bAny\b", ast.unparse(annotation)), node.name


@each_module
def test_below_the_public_border_nothing_takes_more_than_five(module):
    for function, is_border in own_functions(module):
        if not is_border and not is_command(function) and (module.as_posix(), function.name) not in LONG:
            assert len(parameters(function)) <= MOST_PARAMETERS, function.name
