"""Files that other projects publish: which agree, which are refused and why, all in bounded time and memory."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import arrow_digest as ad
from helpers import child

DATA = Path(__file__).parent.parent / "data"
IPC = DATA / "arrow-testing" / "cpp-21.0.0"
PARQUET = DATA / "parquet-testing"

RESERVED = {  # by the file's name: the first column at fault, and which reserved type it has
    IPC / "generated_duration": (("f1",), "duration"),
    IPC / "generated_interval": (("f5",), "interval"),
    IPC / "generated_interval_mdn": (("f1",), "interval"),
    IPC / "generated_map": (("map_nullable",), "map"),
    IPC / "generated_map_non_canonical": (("map_other_names",), "map"),
    IPC / "generated_recursive_nested": (("structs_list",), "struct"),
    IPC / "generated_union": (("sparse_1",), "union"),
    PARQUET / "nested_maps.snappy": (("a",), "map"),
    PARQUET / "nonnullable.impala": (("Int_Map",), "map"),
    PARQUET / "nullable.impala": (("int_map",), "map"),
    PARQUET / "repeated_no_annotation": (("phoneNumbers", "phone"), "struct"),
}
PAIRS = sorted(path.with_suffix("") for path in IPC.glob("*.stream"))
MUST_AGREE = {
    "page versions and codecs": sorted((DATA / "duckdb-compression").iterdir()),
    "no batches and batches without rows": sorted(
        [*IPC.glob("generated_primitive_no_batches.*"), *IPC.glob("generated_primitive_zerolength.*")]
    ),
    "encodings of tiny pages": [PARQUET / "alltypes_tiny_pages.parquet", PARQUET / "alltypes_tiny_pages_plain.parquet"],
    "page checksums": sorted(PARQUET.glob("datapage_v1-*")),
    "framings of lz4": sorted(PARQUET.glob("*lz4*_compressed.parquet")),
    "bloom filters": sorted(PARQUET.glob("data_index_bloom_*")),
    "physical types of decimals": [PARQUET / "int32_decimal.parquet", PARQUET / "byte_array_decimal.parquet"],
    "encodings of text that is not UTF-8": sorted((DATA / "text").glob("invalid_utf8_*")),
    "a suffix in capitals": [DATA / "text" / "CASE_INSENSITIVE.PARQUET", DATA / "text" / "fixed.parquet"],
}
SIZES = {"page versions and codecs": 12, "no batches and batches without rows": 4, "framings of lz4": 3}
SIZES |= {"encodings of text that is not UTF-8": 3}


@pytest.mark.parametrize("name", MUST_AGREE)
def test_the_same_records_in_other_bytes_agree(name):
    files = MUST_AGREE[name]
    assert len(files) == SIZES.get(name, 2)
    found = [ad.hash_file(path) for path in files]
    assert len({hashes.logical for hashes in found}) == 1
    assert len({hashes.physical for hashes in found}) == len({path.read_bytes() for path in files})
    tables = {ad.logical_hash(pq.ParquetFile(path).read()) for path in files if path.suffix.lower() == ".parquet"}
    assert tables <= {found[0].logical}


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair not in RESERVED], ids=lambda path: path.name)
def test_an_ipc_file_and_a_stream_of_the_same_records_agree(pair):
    file, stream = (ad.hash_file(f"{pair}{suffix}") for suffix in (".arrow_file", ".stream"))
    assert (file.logical, file.row_count, file.columns) == (stream.logical, stream.row_count, stream.columns)
    assert file.physical != stream.physical


def test_every_pair_of_ipc_files_is_there():
    assert len(PAIRS) == 31
    assert all(Path(f"{pair}.arrow_file").exists() for pair in PAIRS)


def test_byte_stream_split_columns_hold_the_values_of_the_plain_ones():
    found = ad.hash_file(PARQUET / "byte_stream_split_extended.gzip.parquet")
    digests = {column.path[0]: (column.digest, column.null_count) for column in found.columns}
    names = {name.removesuffix("_plain") for name in digests if name.endswith("_plain")}
    assert len(names) == 7
    for name in names:
        assert digests[f"{name}_plain"] == digests[f"{name}_byte_stream_split"]
    assert len({digests[f"{name}_plain"] for name in names}) == 7


@pytest.mark.parametrize("path", RESERVED, ids=lambda path: path.name)
def test_a_file_with_a_reserved_type_is_refused_by_column_and_type(path):
    suffixes = (".arrow_file", ".stream") if path.parent == IPC else (".parquet",)
    for suffix in suffixes:
        with pytest.raises(ad.UnsupportedTypeError) as caught:
            ad.hash_file(f"{path}{suffix}")
        assert (caught.value.path, caught.value.reserved) == RESERVED[path]
        assert str(caught.value.data_type) in str(caught.value)


def test_every_other_file_has_a_hash():
    """No file is forgotten: what is not refused by type has one, and reads as pyarrow reads it."""
    others = [path for path in sorted(PARQUET.iterdir()) if path.with_suffix("") not in RESERVED]
    others.remove(PARQUET / "int96_from_spark.parquet")  # it holds timestamps that fit no unit
    assert len(others) == 19
    for path in others:
        table = pq.ParquetFile(path).read()
        found = ad.hash_file(path)
        assert (found.logical, found.row_count) == (ad.logical_hash(table), table.num_rows)
        assert found.physical == ad.physical_hash(path)


BAD = {
    "ARROW-GH-41317.parquet": ("UnsupportedTypeError", "reserved"),
    "ARROW-GH-41321.parquet": ("UnsupportedTypeError", "reserved"),
    "ARROW-GH-43605.parquet": None,
    "ARROW-GH-45185.parquet": ("UnreadableError", "corrupt"),
    "ARROW-GH-47662.parquet": ("UnreadableError", "corrupt"),
    "ARROW-RS-GH-6229-DICTHEADER.parquet": ("UnreadableError", "corrupt"),
    "ARROW-RS-GH-6229-LEVELS.parquet": ("UnsupportedTypeError", "reserved"),
    "PARQUET-1481.parquet": ("UnreadableError", "corrupt"),
    "broken_structure.parquet": ("UnreadableError", "corrupt"),
    "firstmarker.parquet": ("UnreadableError", "corrupt"),
    "footerlengthzero.parquet": ("UnreadableError", "corrupt"),
    "garbledfooter.parquet": ("UnreadableError", "corrupt"),
    "hugefooter.parquet": ("UnreadableError", "corrupt"),
    "missingmagicatend.parquet": ("UnreadableError", "truncated"),
    "missingmagicatfront.parquet": ("UnreadableError", "format"),
    "rle_malicious_bitwidth.parquet": ("UnreadableError", "corrupt"),
    "schema_v6.arrow": ("UnreadableError", "version"),
    "twomarkers.parquet": ("UnreadableError", "corrupt"),
    "variant_malicious.parquet": ("UnsupportedTypeError", "variant"),
    "encrypt_columns_and_footer.parquet.encrypted": ("UnreadableError", "encrypted"),
    "encrypt_columns_plaintext_footer.parquet.encrypted": ("UnreadableError", "encrypted"),
    "uniform_encryption.parquet.encrypted": ("UnreadableError", "encrypted"),
}


@pytest.fixture(scope="module")
def outcomes():
    """What hashing each bad file gives, in a process that may take 512 MiB more than it has at the start."""
    files = sorted(path for folder in ("bad", "encrypted") for path in (DATA / folder).iterdir())
    found = child.each([str(path) for path in files], _HASH, memory=1 << 29, seconds=60)
    return {path.name: outcome for path, outcome in zip(files, found, strict=True)}


_HASH = """
found = arrow_digest.hash_file(item, threads=1)
return found.row_count
"""


def test_every_bad_file_is_known(outcomes):
    assert outcomes.keys() == BAD.keys()


@pytest.mark.parametrize("name", [name for name, expected in BAD.items() if expected])
def test_a_bad_file_is_refused_for_its_reason(name, outcomes):
    outcome = outcomes[name]
    assert (outcome.get("error"), outcome.get("rule")) == BAD[name], outcome
    if BAD[name][0] == "UnreadableError":
        assert outcome["source"].endswith(name)
        assert name in outcome["message"]
    else:
        assert outcome["path"]


def test_a_file_that_only_looks_bad_is_read_to_its_end(outcomes):
    assert outcomes["ARROW-GH-43605.parquet"] == {"hash": "21186"}
