"""tree0: the hash of records in order, from docs/spec/tree0.md, in the order of its sections.

A column is cut into chunks of rows, a chunk has a digest of its streams, a tree joins the chunks' digests to a root,
and the digests of columns make the hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from reference.records import Digest, Field, Records, Type, Value, length, text, type_bytes, u64

CHUNK_ROWS = 16_384

HASH_CODES = {"blake3": 0x31001E, "sha3-256": 0x310016, "sha2-256": 0x310012}


# --- Streams ----------------------------------------------------------------------------------------------------------


def bits(flags: Sequence[bool]) -> bytes:
    """A bit a flag, the lowest first; the last byte is filled with zeros."""
    data = bytearray((len(flags) + 7) // 8)
    for i, flag in enumerate(flags):
        data[i // 8] |= flag << i % 8
    return bytes(data)


def streams(t: Type, slots: Iterable[Value]) -> list[bytes]:
    """The streams of a node and of the nodes below it, for its slots in one chunk.

    The slots of a child are those parts of the parent's slots that hold something, in the parent's order.
    """
    if t.layout == "null":
        return []
    slots = list(slots)
    if t.layout == "union":
        numbers = bytes(0xFF if slot is None else slot[0] for slot in slots)
        selected = [[slot[1] for slot in slots if slot is not None and slot[0] == n] for n in range(len(t.children))]
        return [numbers, *_children(t, selected)]
    flags = [slot is not None for slot in slots]
    valid = [slot for slot in slots if slot is not None]
    return [b"" if all(flags) else bits(flags), *_valid_streams(t, valid)]


def _valid_streams(t: Type, valid: list[Value]) -> list[bytes]:
    if t.layout == "bool":
        return [bits(valid)]
    if t.layout == "fixed":
        return [b"".join(valid)]
    if t.layout == "struct":
        return _children(t, [[slot[n] for slot in valid] for n in range(len(t.children))])
    lengths = b"".join(length(len(slot)) for slot in valid)
    if t.layout == "bytes":
        return [lengths, b"".join(valid)]
    entries = chain.from_iterable(valid)
    if t.layout == "list":
        return [lengths, *_children(t, [entries])]
    keys_and_values = list(entries)
    return [lengths, *_children(t, [[entry[n] for entry in keys_and_values] for n in (0, 1)])]


def _children(t: Type, slots: Iterable[Iterable[Value]]) -> list[bytes]:
    return [stream for child, own in zip(t.children, slots, strict=True) for stream in streams(child.type, own)]


# --- Chunks, root, column, table --------------------------------------------------------------------------------------


def chunk_input(h: Digest, t: Type, rows: Sequence[Value]) -> bytes:
    """What the digest of a chunk is fed."""
    return b"\x00" + u64(len(rows)) + b"".join(h(stream) for stream in streams(t, rows))


def chunks(h: Digest, t: Type, values: Sequence[Value]) -> list[bytes]:
    """The digests of a column's chunks. A range of chunks can be hashed alone: a chunk does not say where it lies."""
    starts = range(0, len(values), CHUNK_ROWS)
    return [h(chunk_input(h, t, values[start : start + CHUNK_ROWS])) for start in starts]


def root(h: Digest, digests: Sequence[bytes]) -> bytes:
    """The root of a tree over chunk digests: to the left as many as the largest power of two below their number."""
    if not digests:
        return h(b"")
    if len(digests) == 1:
        return digests[0]
    left = 1 << (len(digests) - 1).bit_length() - 1
    return h(b"\x01" + root(h, digests[:left]) + root(h, digests[left:]))


def column_input(t: Type, row_count: int, column_root: bytes) -> bytes:
    """What the digest of a column is fed: not its name."""
    return b"\x02" + type_bytes(t) + u64(row_count) + column_root


def column(h: Digest, t: Type, values: Sequence[Value]) -> bytes:
    """The digest of a column."""
    return h(column_input(t, len(values), root(h, chunks(h, t, values))))


def table_input(fields: Sequence[Field], row_count: int, columns: Sequence[bytes]) -> bytes:
    """What the hash is of: the columns' names and digests."""
    named = b"".join(text(field.name) + digest for field, digest in zip(fields, columns, strict=True))
    return b"\x03" + u64(row_count) + u64(len(fields)) + named


def table(h: Digest, records: Records) -> bytes:
    """The hash of records in order."""
    columns = [column(h, field.type, values) for field, values in zip(records.fields, records.columns, strict=True)]
    return h(table_input(records.fields, records.row_count, columns))
