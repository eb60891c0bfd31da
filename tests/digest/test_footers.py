"""Footers of Parquet: read within the bytes there are, never believed, and never the end of the process."""

from __future__ import annotations

import base64
import contextlib
import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arrow_digest
from _arrow_io.footer import parse_footer, rewritten
from _arrow_io.thrift import CompactReader, encode_struct
from arrow_digest import UnreadableError
from helpers import child, footers

DATA = Path(__file__).parent.parent / "data"
FILES = sorted(path for path in DATA.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"PAR1")


def sound(path):
    try:
        return pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid):
        return None


def test_a_footer_is_understood_as_pyarrow_understands_it():
    seen = 0
    for path in FILES:
        metadata = sound(path)
        if metadata is None or "encrypted" in path.name:
            continue
        seen += 1
        content = path.read_bytes()
        footer = parse_footer(content[footers.footer_place(content) : -8])
        columns = [metadata.schema.column(n) for n in range(metadata.num_columns)]
        assert [".".join(leaf.path) for leaf in footer.leaves] == [column.path for column in columns]
        assert [leaf.is_repeated for leaf in footer.leaves] == [column.max_repetition_level > 0 for column in columns]
        assert footer.row_count == metadata.num_rows
        for number, group in enumerate(footer.row_groups):
            theirs = metadata.row_group(number)
            assert group.row_count == theirs.num_rows
            for place, chunk in enumerate(group.chunks):
                column = theirs.column(place)
                assert chunk.value_count == column.num_values
                assert chunk.uncompressed_size == column.total_uncompressed_size
                assert chunk.has_dictionary == column.has_dictionary_page
    assert seen > 40


def test_a_footer_that_is_not_changed_is_the_same_bytes():
    content = footers.parquet(pa.table({"a": pa.array([1], pa.int8()), "b": ["x"]}))
    footer = content[footers.footer_place(content) : -8]
    assert rewritten(parse_footer(footer), frozenset(), 0) == footer


@given(st.binary(max_size=200))
def test_any_bytes_are_a_footer_or_refused(data):
    with contextlib.suppress(ValueError):
        parse_footer(data)


@given(st.dictionaries(st.integers(1, 15), st.integers(-(2**31), 2**31 - 1) | st.binary(max_size=300), max_size=8))
def test_a_structure_is_read_as_it_was_written(fields):
    reader = CompactReader(encode_struct(fields))
    handlers = {
        number: (8, reader.binary) if isinstance(value, bytes) else (5, reader.integer)
        for number, value in fields.items()
    }
    assert reader.struct(handlers) == fields
    skipping = CompactReader(encode_struct(fields))
    assert skipping.struct({}) == {}
    assert skipping.place == reader.place


def test_a_claim_of_many_items_takes_no_memory():
    with pytest.raises(ValueError, match="claims a list of 2147483647 items"):
        parse_footer(b"\x19\xfc\xff\xff\xff\xff\x07" + bytes(100))


class _Keys(pe.KmsClient):
    def __init__(self, _):
        super().__init__()

    def wrap_key(self, key, _):
        return base64.b64encode(key)

    def unwrap_key(self, key, _):
        return base64.b64decode(key)


def test_an_encrypted_column_under_a_plain_footer_is_named(tmp_path):
    table = pa.table({"x": [1, 2, 3], "s": ["a", "b", "c"]})
    properties = pe.CryptoFactory(_Keys).file_encryption_properties(
        pe.KmsConnectionConfig(),
        pe.EncryptionConfiguration(footer_key="f", column_keys={"k": ["s"]}, plaintext_footer=True),
    )
    path = tmp_path / "encrypted.parquet"
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    outcome = child.run("result = outcome(arrow_digest.logical_hash, argument)", str(path))
    assert (outcome["error"], outcome["rule"]) == ("UnreadableError", "encrypted")
    with pytest.raises(UnreadableError, match="column s is encrypted, and no key") as caught:
        arrow_digest.hash_file(path)
    assert caught.value.column == ("s",)
    assert caught.value.is_sound


FLIP = """
path, bit = item
with open(path, "rb") as file:
    content = bytearray(file.read())
content[bit // 8] ^= 1 << bit % 8
with open(path + ".changed", "wb") as file:
    file.write(content)
return arrow_digest.logical_hash(path + ".changed", threads=1)
"""

SHAPES = {
    "text": (pa.table({"s": ["a", "b", None]}), {}),
    "lists": (pa.table({"l": [[1, 2], None, [3]]}), {}),
    "structs": (pa.table({"s": [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}]}), {}),
    "narrow": (pa.table({"a": pa.array([1, -2, None], pa.int8()), "n": pa.nulls(3)}), {}),
    "int96": (pa.table({"t": pa.array([1, None], pa.timestamp("ns"))}), {"use_deprecated_int96_timestamps": True}),
    "groups": (pa.table({"i": list(range(10)), "s": list("abcdefghij")}), {"row_group_size": 3}),
    "pages": (pa.table({"s": [["q"] * (i % 3) for i in range(10)]}), {"data_page_version": "2.0"}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_flipped_bit_of_a_footer_ends_the_process(tmp_path, shape):
    table, options = SHAPES[shape]
    path = tmp_path / "x.parquet"
    pq.write_table(table, path, **options)
    content = path.read_bytes()
    bits = range(8 * footers.footer_place(content), 8 * len(content), 13)
    found = child.each([(str(path), bit) for bit in bits], FLIP, memory=4 << 30, seconds=300)
    errors = {outcome.get("error") for outcome in found}
    assert errors <= {None, "UnreadableError", "UnsupportedTypeError", "InvalidArrayError"}
    assert "UnreadableError" in errors


ROWS = {
    "flat": pa.table({"c": pa.array(range(40))}),
    "lists": pa.table({"c": pa.array([[number] for number in range(40)])}),
    "two columns": pa.table({"c": range(40), "d": range(40)}),
    "text": pa.table({"c": [str(number) for number in range(40)]}),
}


def counts(content):
    """Where a footer says 40."""
    return [n for n in range(footers.footer_place(content), len(content) - 8) if content[n : n + 2] == b"\x16\x50"]


@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("claimed", [39, 41, 20, 0])
def test_counts_of_rows_that_contradict_each_other_or_the_pages_are_refused(tmp_path, shape, claimed):
    """However many of the counts in a footer say something else: all of them together, too."""
    content = footers.parquet(ROWS[shape])
    places = counts(content)
    assert len(places) == 2 + ROWS[shape].num_columns
    path = tmp_path / "x.parquet"
    for some in itertools.chain.from_iterable(itertools.combinations(places, k) for k in range(1, len(places) + 1)):
        changed = bytearray(content)
        for place in some:
            changed[place + 1] = 2 * claimed
        path.write_bytes(changed)
        with pytest.raises(UnreadableError) as caught:
            arrow_digest.hash_file(path)
        assert caught.value.rule == "row_count", some


def test_a_damaged_page_is_blamed_on_its_column(tmp_path):
    table = pa.table({"a": list(range(100)), "b": pa.array(range(1000, 1100), pa.int64())})
    content = footers.parquet(table, write_page_checksum=True, row_group_size=50)
    place = content.index((1070).to_bytes(8, "little"))
    path = tmp_path / "x.parquet"
    path.write_bytes(content[:place] + b"\xff" + content[place + 1 :])
    with pytest.raises(UnreadableError, match=r"column b, row group 1: broken Parquet: .*CRC") as caught:
        arrow_digest.logical_hash(path)
    assert (caught.value.rule, caught.value.column) == ("corrupt", ("b",))


def test_a_name_that_is_not_utf_8_is_blamed_as_a_name(tmp_path):
    content = footers.parquet(pa.table({"name": [1]}))
    path = tmp_path / "x.parquet"
    path.write_bytes(content.replace(b"name", b"n\xffme"))
    with pytest.raises(arrow_digest.ArrowDigestError, match="UTF-8"):
        arrow_digest.logical_hash(path)


def test_a_summary_of_other_files_is_sound_and_no_records(tmp_path):
    table = pa.table({"a": [1, 2, 3]})
    collected = []
    pq.write_table(table, tmp_path / "part.parquet", metadata_collector=collected)
    collected[0].set_file_path("part.parquet")
    pq.write_metadata(table.schema, tmp_path / "_metadata", metadata_collector=collected)
    with pytest.raises(UnreadableError, match="a summary of other Parquet files") as caught:
        arrow_digest.logical_hash(tmp_path / "_metadata")
    assert (caught.value.rule, caught.value.is_sound) == ("summary", True)


def test_columns_of_two_names_and_names_with_dots_are_read_as_they_lie_there(tmp_path):
    text = pa.array(["x", "y", "x", None] * 100)
    table = pa.Table.from_arrays([text, pa.array(range(400)), text], ["a.b", "c", "c"])
    pq.write_table(table, tmp_path / "x.parquet")
    assert arrow_digest.logical_hash(tmp_path / "x.parquet") == arrow_digest.logical_hash(table)
