"""Borders and guards of which no other test would miss one: each of these was written for a line that could be changed
without a failure."""

from __future__ import annotations

import json
import os
import struct
from concurrent.futures import Executor, Future
from contextlib import contextmanager, nullcontext

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arrow_digest import (
    Manifest,
    Multihash,
    MultihashError,
    RecordDigest,
    UnreadableError,
    UnsupportedTypeError,
    hash_file,
    logical_hash,
)
from arrow_digest.comparing.round_trips import is_earlier_type
from arrow_digest.manifests.folder import escapes
from arrow_digest.manifests.formats import parse_facts
from arrow_digest.manifests.lists import parse_hash
from arrow_digest.rules.chosen import chosen_rule
from helpers import child
from helpers.files import feather

DIGEST = "0f" * 32


# --- Texts of hashes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1025, 1026, 5000])
def test_a_text_longer_than_any_multihash_is_refused_unread(length):
    with pytest.raises(MultihashError, match="at most 1024 characters") as raised:
        Multihash.parse("z" + "1" * (length - 1))
    assert raised.value.rule == "text"
    with pytest.raises(MultihashError) as raised:
        Multihash.parse("z" + "1" * 1023)
    assert "at most" not in str(raised.value)


@pytest.mark.parametrize("count", [1, 2, 33])
def test_bytes_after_a_digest_are_counted(count):
    with pytest.raises(MultihashError, match=f"(?<!\\d){count} bytes after the digest"):
        Multihash.parse(b"\x16\x20" + bytes(32 + count))


@pytest.mark.parametrize("start", [b"", b"\x16"])
@pytest.mark.parametrize("left", [0, 1, 8, 9, 10, 30])
def test_a_number_that_does_not_end_is_told_from_one_that_is_cut_short(start, left):
    why = f"{left} bytes are left for it" if left < 9 else "it is longer than 9 bytes"
    with pytest.raises(MultihashError, match=f"the number at byte {len(start)} does not end: {why}$") as raised:
        Multihash.parse(start + b"\x80" * left)
    assert raised.value.rule == "varint"


@pytest.mark.parametrize("name", ["code", "digest"])
def test_a_multihash_cannot_be_changed(name):
    found = Multihash(0x16, bytes(32))
    with pytest.raises(AttributeError):
        setattr(found, name, getattr(found, name))


BLANKS = [
    " " + DIGEST,
    DIGEST + " ",
    f"{DIGEST[:32]} {DIGEST[32:]}",
    f"{DIGEST[:2]}\n{DIGEST[2:]}",
    DIGEST[:-2] + "  ",
    f" {DIGEST} ",
]


@pytest.mark.parametrize("text", BLANKS)
def test_blanks_in_a_digest_in_hex_are_refused(text):
    assert parse_hash(DIGEST, 0x16).digest == bytes.fromhex(DIGEST)
    with pytest.raises(MultihashError):
        parse_hash(text, 0x16)


@pytest.mark.parametrize("text", [*BLANKS, DIGEST[:-2] + "0 ", DIGEST[:-2] + " 0", DIGEST[:-2], DIGEST + "00"])
@pytest.mark.parametrize("key", ["digest", "validity_digest"])
def test_blanks_in_a_recorded_column_are_refused(key, text):
    column = {"path": ["a"], "type": "int8", "null_count": 0, "digest": DIGEST, "validity_digest": DIGEST}
    whole = {"logical": str(logical_hash(pa.table({"a": [1]}))), "columns": [column]}
    assert parse_facts(whole).columns[0].digest == bytes.fromhex(DIGEST)
    with pytest.raises(ValueError, match=f"{key}: expected 32 bytes in hex"):
        parse_facts({**whole, "columns": [{**column, key: text}]})


# --- Paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a\0b", "\0", "a/\0/b"])
def test_a_name_with_a_zero_byte_leads_out_of_every_folder(name, tmp_path):
    assert escapes(name, str(tmp_path))
    assert escapes(name, None)
    text = json.dumps({"path": name, "physical": f"f1620{DIGEST}"})
    (result,) = Manifest.loads(text.encode(), root=tmp_path).check(extra=False)
    assert result.error is not None
    assert not result.passed


# --- Files ------------------------------------------------------------------------------------------------------------


class Meddler(Executor):
    """Does the work where it is, the second and each later job inside a context that it is given."""

    def __init__(self, meddling):
        self._meddling = meddling
        self._jobs = 0

    def submit(self, work, /, *arguments):
        with self._meddling() if self._jobs else nullcontext():
            self._jobs += 1
            done = Future()
            done.set_result(work(*arguments))
            return done


def test_workers_that_read_two_states_of_a_file_give_no_hash(tmp_path):
    path, other = tmp_path / "f", tmp_path / "g"
    for target, values in ((path, [1, 2]), (other, [3, 4])):
        pq.write_table(pa.table({"a": values}), target, write_statistics=False, compression="none")
    before, times = path.read_bytes(), path.stat()
    assert len(before) == other.stat().st_size
    assert hash_file(path, executor=Meddler(nullcontext)) == hash_file(path)

    @contextmanager
    def changed_meanwhile():
        path.write_bytes(other.read_bytes())
        os.utime(path, ns=(1, 1))
        yield
        path.write_bytes(before)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    with pytest.raises(UnreadableError) as raised:
        hash_file(path, executor=Meddler(changed_meanwhile))
    assert raised.value.rule == "changed"


OUTSIDE = [(9, 8), (8, 9), (16, 1), (-1, 8), (8, -1), (1 << 40, 8), (8, 1 << 62), ((1 << 63) - 1, 8), (-(1 << 63), 8)]


@pytest.mark.parametrize(("offset", "size"), OUTSIDE)
def test_an_array_of_feather_v1_ends_before_the_metadata_to_the_byte(offset, size, tmp_path):
    content = feather(pa.table({"c": pa.array([7], pa.int64())}), version=1)
    # Offset, number of values and size of the one array; what follows its 8 bytes is the metadata.
    described = content.index(struct.pack("<qq", 8, 1))
    path = tmp_path / "f"

    def write(offset, size):
        changed = bytearray(content)
        struct.pack_into("<q", changed, described, offset)
        struct.pack_into("<q", changed, described + 16, size)
        path.write_bytes(changed)

    write(8, 8)
    assert logical_hash(path) == logical_hash(pa.table({"c": pa.array([7], pa.int64())}))
    write(offset, size)
    with pytest.raises(UnreadableError, match=f"{size} bytes at byte {offset} reach outside"):
        logical_hash(path)


# --- Processes --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_pool_whose_threads_all_run_starts_others_in_a_forked_process():
    found = child.run(
        """
import os, signal, threading, warnings
from arrow_digest.workers import Pool
warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
pool = Pool(2)
together = threading.Barrier(2)
pool.each(lambda _: together.wait(), 2)  # both threads are there, so that no call starts another one
process = os.fork()
if process == 0:
    signal.alarm(30)  # ends a process that waits for threads that are not there
    os._exit(0 if pool.each(lambda index: index, 2) == [0, 1] else 1)
result = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
"""
    )
    assert found == 0


# --- Rules of columns -------------------------------------------------------------------------------------------------


def digest_of(array, **options):
    (found,) = digest_columns(pa.table({"c": array}), **options)
    return found


def digest_columns(table, **options):
    digest = RecordDigest(table.schema, **options)
    digest.update(table)
    return digest.columns()


def test_whether_columns_may_hide_a_difference_does_not_depend_on_which_is_first():
    items = pa.list_(pa.field("item", pa.int8(), nullable=False))
    columns = {
        "values": digest_of(pa.array([1, 2], pa.int8())),
        "nulls": digest_of(pa.array([1, None], pa.int8())),
        "nulls, told": digest_of(pa.array([1, None], pa.int8()), validity=True),
        "nulls elsewhere, told": digest_of(pa.array([None, 1], pa.int8()), validity=True),
        "lists": digest_of(pa.array([[1], []], items)),
        "lists of nullable items": digest_of(pa.array([[1], []], pa.list_(pa.int8()))),
        "bools": digest_of(pa.array([True, None])),
    }
    may_hide = {
        (a, b): chosen_rule().may_hide(columns[a], columns[b])
        for a in columns
        for b in columns
        if "bools" not in (a, b)
    }
    assert all(may_hide[a, b] == may_hide[b, a] for a, b in may_hide)
    assert not may_hide["values", "values"]
    assert may_hide["values", "nulls"]
    assert may_hide["lists", "lists of nullable items"]
    assert not may_hide["lists", "lists"]
    assert not may_hide["nulls, told", "nulls, told"]
    assert may_hide["nulls, told", "nulls elsewhere, told"]
    assert not chosen_rule().may_hide(columns["bools"], columns["bools"])


def in_structs(depth):
    data_type = pa.int8()
    for _ in range(depth):
        data_type = pa.struct([("x", data_type)])
    return pa.schema([("c", data_type)])


def test_as_many_structs_as_a_type_may_have_hash_and_no_more():
    (leaf,) = chosen_rule().plan(in_structs(127)).leaves
    assert len(leaf.path) == 128  # 127 structs and what is in them
    for depth in (128, 129, 500):
        with pytest.raises(UnsupportedTypeError) as raised:
            chosen_rule().plan(in_structs(depth))
        assert raised.value.rule == "depth"


@pytest.mark.parametrize("precision", range(1, 39))
def test_a_decimal_was_a_narrower_one_only_where_its_precision_fits(precision):
    found = pa.decimal128(precision, 2)
    for narrow, most in ((pa.decimal32, 9), (pa.decimal64, 18)):
        for other in range(1, most + 1):
            is_same = other == precision
            assert is_earlier_type(narrow(other, 2), found) == is_same
            assert not is_earlier_type(narrow(other, 1), found)
