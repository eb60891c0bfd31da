"""The core's documentation is whole: every public name has an example, and the specification names every rule."""

import re
from pathlib import Path

import kiln_arrow

SPEC = Path(__file__).parents[2] / "docs" / "spec" / "kiln.md"


def test_every_public_function_and_class_of_the_core_has_a_running_example():
    names = ["encode", "encode_into", "encoded_size", "decode", "validate", "Directory", "Opaque"]
    names += ["schema_hash", "parse_type", "format_type", "freeze", "thaw", "frame", "unframe", "KilnError"]
    for name in names:
        assert ">>> " in getattr(kiln_arrow, name).__doc__, name


def test_the_specification_names_every_rule_and_no_other():
    text = SPEC.read_text(encoding="utf-8")
    assert {rule for rule in kiln_arrow.RULES if f"`{rule}`" not in text} == set()
    tables = re.findall(r"^\|(?:[^|]*\|)* `([a-z0-9_]+)` \|", text, re.MULTILINE)
    assert set(tables) - {"bool", "option"} <= set(kiln_arrow.RULES) | {"str", "list", "dict", "struct", "tensors"}


def test_the_specification_has_the_table_of_dtypes():
    text = SPEC.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d, ]+) \| ([^|]+) \| ([\d, ]+) \|", text, re.MULTILINE)
    found = []
    for codes, names, sizes in rows:
        plain = re.sub(r"\*\*.*?\*\*", "", names)
        for code, name, size in zip(*(part.split(",") for part in (codes, plain)), _each(sizes, codes), strict=True):
            found.append((int(code), name.strip(), int(size)))
    expected = [(row.code, row.name, row.item_size) for row in kiln_arrow.DTYPES]
    assert [row for row in found if row in expected] == expected


def _each(sizes, codes):
    parts = sizes.split(",")
    return parts if len(parts) == len(codes.split(",")) else parts * len(codes.split(","))
