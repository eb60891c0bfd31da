"""bag0: the hash of records in any order, each as often as it occurs, from docs/spec/bag0.md, in its sections' order.

A row has bytes, which can be read back, and a digest; digests and how often each occurs are the entries; a tree over
the entries' first bits makes one digest of them, and with the schema the hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from reference.records import Digest, Field, Records, Type, Value, length, text, type_bytes, u64

LEAF_ENTRIES = 1_024

HASH_CODES = {"blake3": 0x32001E, "sha3-256": 0x320016, "sha2-256": 0x320012}

Entry = tuple[bytes, int]  # a row's digest, and how many rows have it


# --- Row bytes --------------------------------------------------------------------------------------------------------


def value_bytes(t: Type, value: Value) -> bytes:
    """The bytes of one value, from whose first byte on it can be read back."""
    if t.layout == "union":
        if value is None:
            return b"\xff"
        child, held = value
        return bytes([child]) + value_bytes(t.children[child].type, held)
    if value is None:
        return b"\x00"
    if t.layout == "bool":
        return b"\x02" if value else b"\x01"
    if t.layout == "fixed":
        return b"".join([b"\x01", value])
    if t.layout == "bytes":
        return b"".join([b"\x01", length(len(value)), value])
    types = [child.type for child in t.children]
    if t.layout == "struct":
        return b"\x01" + b"".join(map(value_bytes, types, value))
    if t.layout == "list":
        return b"\x01" + length(len(value)) + b"".join(value_bytes(types[0], item) for item in value)
    entries = b"".join(b"".join(map(value_bytes, types, entry)) for entry in value)  # of a map, a key and a value
    return b"\x01" + length(len(value)) + entries


def rows(records: Records) -> list[bytes]:
    """The bytes of each row: of its columns' values, in order. Rows without columns have none."""
    return [
        b"".join(
            value_bytes(field.type, values[i]) for field, values in zip(records.fields, records.columns, strict=True)
        )
        for i in range(records.row_count)
    ]


# --- Entries ----------------------------------------------------------------------------------------------------------


def row_digest(h: Digest, row: bytes) -> bytes:
    return h(b"\x04" + row)


def counts(h: Digest, records: Records) -> Counter[bytes]:
    """How many rows have each digest. Parts of a table are joined by adding these."""
    return Counter(row_digest(h, row) for row in rows(records))


def entries_bytes(entries: Iterable[Entry]) -> bytes:
    return b"".join(digest + u64(count) for digest, count in entries)


# --- Bag and table ----------------------------------------------------------------------------------------------------


def bag(h: Digest, entries: Sequence[Entry], level: int = 0) -> bytes:
    """The digest of entries that ascend and share their first `level` bits."""
    if len(entries) <= LEAF_ENTRIES:
        return h(b"\x05" + entries_bytes(entries))
    zeros = [entry for entry in entries if not bit(entry[0], level)]
    ones = [entry for entry in entries if bit(entry[0], level)]
    return h(b"\x06" + bag(h, zeros, level + 1) + bag(h, ones, level + 1))


def bit(digest: bytes, level: int) -> int:
    """Bit 0 is the highest of byte 0."""
    return digest[level // 8] >> 7 - level % 8 & 1


def schema_input(fields: Sequence[Field]) -> bytes:
    return u64(len(fields)) + b"".join(text(field.name) + type_bytes(field.type) for field in fields)


def table_input(fields: Sequence[Field], row_count: int, bag_digest: bytes) -> bytes:
    """What the hash is of: the columns' names and types, how many rows there are, and their bag."""
    return b"\x07" + schema_input(fields) + u64(row_count) + bag_digest


def table_of(h: Digest, fields: Sequence[Field], counted: Counter[bytes]) -> bytes:
    """The hash of counted rows, of one part of a table or of several that were added."""
    return h(table_input(fields, counted.total(), bag(h, sorted(counted.items()))))


def table(h: Digest, records: Records) -> bytes:
    """The hash of records in any order."""
    return table_of(h, records.fields, counts(h, records))
