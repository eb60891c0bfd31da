"""Digest functions by name, and physical hashes with each of them."""

from __future__ import annotations

import hashlib
import io

import blake3
import numpy as np
import pyarrow as pa
import pytest

from arrow_digest import ArrayDigest, ArrowDigestError, UnknownFunctionError, logical_hash, physical_hash
from arrow_digest.functions import DEFAULT_FUNCTION, DIGEST_FUNCTIONS, digest_function

ORACLES = {"sha2-256": hashlib.sha256, "sha3-256": hashlib.sha3_256, "blake3": blake3.blake3}

MIB = 1 << 20
SIZES = [0, 1, 7, 8, 9, 63, 64, 65, 135, 136, 137, 1023, 1024, 1025, MIB - 1, MIB, MIB + 1, 3 * MIB + 5]


def content(size):
    return np.random.default_rng(size).bytes(size)


def test_the_standard_function_is_sha3_256():
    assert DEFAULT_FUNCTION == "sha3-256"
    assert set(DIGEST_FUNCTIONS) == set(ORACLES)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_hasher_gives_what_the_library_gives_however_it_is_fed(name, threads):
    data = content(3 * MIB + 5)
    hasher = digest_function(name).new(threads)
    for start in range(0, len(data), 777_777):
        hasher.update(data[start : start + 777_777])
    assert hasher.digest() == ORACLES[name](data).digest()
    assert len(hasher.digest()) == digest_function(name).digest_size


@pytest.mark.parametrize("name", ORACLES)
def test_a_copied_hasher_is_independent(name):
    hasher = digest_function(name).new()
    hasher.update(b"front")
    copy = hasher.copy()
    hasher.update(b"back")
    assert copy.digest() == ORACLES[name](b"front").digest()
    assert hasher.digest() == ORACLES[name](b"frontback").digest()


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("size", SIZES)
def test_a_physical_hash_is_the_digest_of_the_bytes(name, size, tmp_path):
    data = content(size)
    path = tmp_path / "bytes"
    path.write_bytes(data)
    expected = ORACLES[name](data).digest()
    for source in (path, str(path), io.BytesIO(data)):
        found = physical_hash(source, function=name)
        assert (found.name, found.digest, found.is_logical) == (name, expected, False)
    with path.open("rb") as file:
        assert physical_hash(file, function=name).digest == expected


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("sha3_256", "sha3-256"),
        ("SHA3-256", "sha3-256"),
        ("SHA3_256", "sha3-256"),
        ("sha3", "sha3-256"),
        (" sha3-256 ", "sha3-256"),
        ("arrow0-sha3-256", "sha3-256"),
        ("sha256", "sha2-256"),
        ("SHA-256", "sha2-256"),
        ("sha_256", "sha2-256"),
        ("sha2_256", "sha2-256"),
        ("sha2", "sha2-256"),
        ("arrow0_sha256", "sha2-256"),
        ("blake-3", "blake3"),
        ("BLAKE3", "blake3"),
        ("blake_3", "blake3"),
        ("blake3-256", "blake3"),
        ("blake", "blake3"),
    ],
)
def test_a_misspelt_function_gets_the_name_that_was_meant(asked, meant):
    with pytest.raises(UnknownFunctionError) as raised:
        digest_function(asked)
    assert raised.value.name == asked
    assert raised.value.suggestion == meant
    assert f"did you mean {meant!r}?" in str(raised.value)


@pytest.mark.parametrize("asked", ["", "md5", "crc32", "xxh3", None, 22, ["sha3-256"], b"sha3-256"])
def test_what_resembles_no_function_gets_the_list_of_names(asked):
    with pytest.raises(UnknownFunctionError) as raised:
        digest_function(asked)
    for name in DIGEST_FUNCTIONS:
        assert name in str(raised.value)


@pytest.mark.parametrize("asked", ["md5", "sha512", "sha3-512", "sha3-224", "blake2b", "shake256", "keccak-256"])
def test_another_function_is_not_passed_off_as_one_of_ours(asked):
    with pytest.raises(UnknownFunctionError) as raised:
        digest_function(asked)
    assert raised.value.suggestion is None


def test_every_entry_point_refuses_an_unknown_function(tmp_path):
    table = pa.table({"a": [1]})
    for call in (
        lambda: logical_hash(table, function="md5"),
        lambda: physical_hash(io.BytesIO(b""), function="md5"),
        lambda: ArrayDigest(pa.int8(), function="md5"),
    ):
        with pytest.raises(ArrowDigestError, match="unknown digest function 'md5'"):
            call()
