"""Writes the golden cases of Kiln: directories, type text, frozen values and frames.

The bytes come from the layout code in this file, and every refused case states by hand which rule it breaks and where.
`reference/kiln/` reads each of them and has to come to the same, or nothing is written. Neither imports a package of
this project. So the packages and these files confirm each other.

    python golden/generate_kiln.py            write the files
    python golden/generate_kiln.py --check    compare them with what would be written; never writes
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from reference import kiln  # noqa: E402  (found by the line above)

Case = dict[str, Any]

NOTES = {
    "published": "The bytes, or the refusal, are printed in Kiln's source documents.",
    "boundary": "A size at, just below or just above a limit of the format.",
    "hostile-size": "A claimed number far past the buffer: it costs nothing to refuse and nothing may be allocated.",
    "order": "Two faults at once; the one that is reported comes first in the order of the checks.",
    "placement": "Payloads that do not overlap or overflow, but lie where the encoder would not put them.",
    "padding": "Bytes that nothing covers hide data.",
    "names": "Names are bytes of strict UTF-8, compared as bytes and never normalised.",
    "opaque": "A tensor in a named layout, carried as raw bytes.",
    "zero-size": "A tensor without elements.",
    "bits": "Floats whose bits a conversion would change: NaN payloads, signs of zero.",
    "truncated": "A prefix of something valid.",
}

# name: code, item bytes
DTYPES = {
    "bool": (1, 1),
    "i8": (2, 1),
    "i16": (3, 2),
    "i32": (4, 4),
    "i64": (5, 8),
    "u8": (6, 1),
    "u16": (7, 2),
    "u32": (8, 4),
    "u64": (9, 8),
    "f16": (10, 2),
    "bf16": (11, 2),
    "f32": (12, 4),
    "f64": (13, 8),
    "f8e4m3": (14, 1),
    "f8e5m2": (15, 1),
    "c64": (16, 8),
    "c128": (17, 16),
}


def le(size: int, value: int) -> bytes:
    return value.to_bytes(size, "little")


def to_line(data: bytes) -> bytes:
    """Returns `data` with zeros up to the next multiple of 64."""
    return data + bytes(-len(data) % 64)


def header(count: int, name_bytes: int, payload_bytes: int, flags: int = 1) -> bytes:
    return b"KLNT" + le(2, 2) + le(2, flags) + le(8, count) + le(8, name_bytes) + le(8, payload_bytes) + bytes(32)


def descriptor(offset: int, length: int, name: int, layout: int, code: int, dims: list[int]) -> bytes:
    fixed = le(8, offset) + le(8, length) + le(4, name) + le(4, layout) + le(2, code) + le(1, len(dims)) + bytes(37)
    return fixed + b"".join(le(8, dim) for dim in dims) + bytes(64 - 8 * len(dims))


def tensor(dtype: str, dims: list[int], data: bytes, name: str | None = None, layout: str | None = None) -> Case:
    return {"name": name, "dtype": dtype, "shape": [str(dim) for dim in dims], "layout": layout, "data": data.hex()}


def directory(tensors: list[Case]) -> bytes:
    descriptors, names, layouts, payloads = b"", b"", b"", b""
    for entry in tensors:
        name, layout = (entry["name"] or "").encode(), (entry["layout"] or "").encode()
        data = bytes.fromhex(entry["data"])
        payloads = to_line(payloads)
        code, _ = DTYPES[entry["dtype"]]
        dims = [int(dim) for dim in entry["shape"]]
        descriptors += descriptor(len(payloads), len(data), len(name), len(layout), code, dims)
        names += name
        layouts += layout
        payloads += data
    flags = 3 if names else 1
    front = header(len(tensors), len(names + layouts), len(payloads), flags) + descriptors + names + layouts
    return to_line(front) + to_line(payloads)


def patched(data: bytes, *patches: tuple[int, bytes]) -> bytes:
    out = bytearray(data)
    for offset, new in patches:
        assert offset + len(new) <= len(out)
        out[offset : offset + len(new)] = new
    return bytes(out)


def valid(slug: str, comment: str, tensors: list[Case], *flags: str) -> Case:
    data = directory(tensors).hex()
    return {"id": slug, "comment": comment, "flags": list(flags), "hex": data, "result": "valid", "tensors": tensors}


def refused(
    slug: str,
    comment: str,
    data: bytes,
    rule: str,
    offset: int,
    *flags: str,
    tensor: int | None = None,
    name: str | None = None,
) -> Case:
    return {
        "id": slug,
        "comment": comment,
        "flags": list(flags),
        "hex": data.hex(),
        **refusal(rule, offset),
        "tensor": tensor,
        "name": name,
    }


def refusal(rule: str, offset: int) -> Case:
    code = {"eof": "EOF", "schema_hash": "SCHEMA"}.get(rule, "TYPE")
    return {"result": "refused", "code": code, "rule": rule, "offset": offset}


# --- Directories ------------------------------------------------------------------------------------------------------

F8_PAIR = [tensor("f8e4m3", [1], b"\x38"), tensor("f8e5m2", [1], b"\x3c")]

# Two named tensors: descriptors at 64 and 192, names at 320, zeros from 322, payloads at 384 and 448.
NAMED_PAIR = [tensor("u8", [3], b"\1\2\3", "a"), tensor("u16", [2], b"\4\0\5\0", "b")]

# Three bools of one, two and one bytes: descriptors at 64, 192, 320; payloads at 448, 512, 576.
BOOLS = [tensor("bool", [1], b"\1"), tensor("bool", [2], b"\0\1"), tensor("bool", [], b"\0")]

VALUES = {
    "bool": b"\0\1",
    "i8": struct.pack("<2b", -128, 127),
    "i16": struct.pack("<2h", -(2**15), 2**15 - 1),
    "i32": struct.pack("<2i", -(2**31), 2**31 - 1),
    "i64": struct.pack("<2q", -(2**63), 2**63 - 1),
    "u8": b"\0\xff",
    "u16": struct.pack("<2H", 1, 2**16 - 1),
    "u32": struct.pack("<2I", 1, 2**32 - 1),
    "u64": struct.pack("<2Q", 1, 2**64 - 1),
    "f16": le(2, 0x7D01) + le(2, 0x8000),
    "bf16": le(2, 0x7F81) + le(2, 0x8000),
    "f32": le(4, 0x7FA00001) + le(4, 0x80000000),
    "f64": le(8, 0x7FF4000000000001) + le(8, 1 << 63),
    "f8e4m3": b"\xff\x80",
    "f8e5m2": b"\x7d\x80",
    "c64": le(4, 0x7FA00001) + le(4, 0x80000000) + le(4, 0xFFC00001) + le(4, 0),
    "c128": le(8, 0x7FF4000000000001) + le(8, 1 << 63) + le(8, 0xFFF8000000000001) + le(8, 0),
}


def accepted_directories() -> list[Case]:
    cases = [
        valid("kiln-v2-empty", "No tensors: the header alone.", [], "published"),
        valid("kiln-v2-f8-pair", "Two one-byte tensors, the second at payload offset 64.", F8_PAIR, "published"),
    ]
    for name, data in VALUES.items():
        comment = f"Two elements of {name}: its extremes, or a signalling NaN and negative zero."
        flags = ["bits"] if name[0] in "fbc" and name != "bool" else []
        cases.append(valid(f"kiln-v2-dtype-{name}", comment, [tensor(name, [2], data)], *flags))
    for rank in range(9):
        dims = [1] * (rank - 1) + [2] if rank else []
        comment = f"Rank {rank}{': one item' if not rank else ''}."
        entry = tensor("i16", dims, bytes(range(4 if rank else 2)), "x")
        cases.append(valid(f"kiln-v2-rank-{rank}", comment, [entry], "boundary"))
    for length in (0, 1, 63, 64, 65):
        entries = [tensor("u8", [length], b"\xaa" * length), tensor("bool", [1], b"\1")]
        comment = f"A payload of {length} bytes before another."
        cases.append(valid(f"kiln-v2-payload-{length}", comment, entries, "boundary"))
    for length in (1, 63, 64, 65, 128):
        entries = [tensor("u8", [1], b"\7", "n" * length)]
        cases.append(valid(f"kiln-v2-heap-{length}", f"A name heap of {length} bytes.", entries, "boundary", "names"))
    return cases + accepted_names() + accepted_zero_sizes() + accepted_opaques()


def accepted_names() -> list[Case]:
    one = [tensor("u8", [], bytes([value])) for value in range(4)]
    return [
        valid(
            "kiln-v2-names", "Caller's order is kept: b before a.", [{**one[0], "name": "b"}, {**one[1], "name": "a"}]
        ),
        valid(
            "kiln-v2-names-some",
            "Unnamed tensors between named ones take nothing from the heap.",
            [one[0], {**one[1], "name": "x"}, one[2], {**one[3], "name": "y"}],
            "names",
        ),
        valid("kiln-v2-names-none", "Any number of tensors may be unnamed.", one, "names"),
        valid("kiln-v2-name-nul", "NUL is an ordinary character.", [{**one[0], "name": "a\0b"}], "names"),
        valid("kiln-v2-name-bom", "A byte order mark is kept.", [{**one[0], "name": "\ufeffa"}], "names"),
        valid("kiln-v2-name-path", "A name is a label, not a path.", [{**one[0], "name": "../../etc/x"}], "names"),
        valid(
            "kiln-v2-name-forms",
            "Composed and decomposed a-umlaut are two names.",
            [{**one[0], "name": "\u00e4"}, {**one[1], "name": "a\u0308"}],
            "names",
        ),
        valid(
            "kiln-v2-name-edges",
            "First and last code points of one, two, three and four bytes, and those beside the surrogates.",
            [{**one[0], "name": "\x01\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"}],
            "names",
            "boundary",
        ),
    ]


def accepted_zero_sizes() -> list[Case]:
    empty = tensor("f32", [0, 3], b"")
    byte = tensor("u8", [1], b"\x09")
    return [
        valid("kiln-v2-zero-size-first", "A zero-size tensor shares offset 0.", [empty, byte], "zero-size"),
        valid(
            "kiln-v2-zero-size-middle",
            "It takes the next line's offset and no bytes.",
            [byte, empty, byte],
            "zero-size",
        ),
        valid(
            "kiln-v2-zero-size-last", "It lifts payload_bytes to its offset.", [byte, empty], "zero-size", "boundary"
        ),
        valid("kiln-v2-zero-size-only", "No payload at all.", [tensor("c128", [2, 0], b"", "z")], "zero-size"),
        valid(
            "kiln-v2-zero-size-wide",
            "The dims that are not 0 give 2^63 - 1 bytes, the most there may be.",
            [tensor("u8", [0, 2**63 - 1], b"")],
            "zero-size",
            "boundary",
        ),
    ]


def accepted_opaques() -> list[Case]:
    return [
        valid(
            "kiln-v2-opaque",
            "Any byte_length; layout names come after all names in the heap.",
            [tensor("f32", [1000, 1000], b"sparse", "w", "csr"), tensor("u8", [1], b"\1", "x")],
            "opaque",
        ),
        valid(
            "kiln-v2-opaque-unnamed",
            "Layouts do not set the names flag.",
            [tensor("i8", [2], b"", None, "l")],
            "opaque",
        ),
        valid(
            "kiln-v2-opaque-same-layout",
            "Layouts may repeat, and repeat a name.",
            [tensor("u8", [1], b"\1", "q", "q"), tensor("u8", [1], b"\2", None, "q")],
            "opaque",
            "names",
        ),
        valid(
            "kiln-v2-opaque-bool",
            "Opaque bools are not looked at.",
            [tensor("bool", [1], b"\xff\2", None, "b")],
            "opaque",
        ),
        valid(
            "kiln-v2-opaque-huge-dims",
            "Opaque dims have no product.",
            [tensor("c128", [2**64 - 1] * 8, b"\0", None, "t")],
            "opaque",
            "boundary",
        ),
    ]


def refused_headers() -> list[Case]:
    empty = directory([])
    return [
        refused("kiln-v2-no-bytes", "No bytes at all.", b"", "eof", 0, "truncated"),
        refused(
            "kiln-v2-short-header", "One byte short of a header, and its magic wrong.", b"x" * 63, "eof", 63, "order"
        ),
        refused("kiln-v2-magic", "Last byte of the magic in lower case.", patched(empty, (3, b"t")), "magic", 0),
        refused("kiln-v2-version-1", "Version 1.", patched(empty, (4, le(2, 1))), "version", 4),
        refused("kiln-v2-version-3", "Version 3.", patched(empty, (4, le(2, 3))), "version", 4),
        refused("kiln-v2-version-high", "Version 0x0102 is not 2.", patched(empty, (4, b"\2\1")), "version", 4),
        refused("kiln-v2-flags-big-endian", "Little-endian flag clear.", patched(empty, (6, b"\0")), "flags", 6),
        refused("kiln-v2-flags-bit-2", "An unknown flag.", patched(empty, (6, b"\5")), "flags", 6),
        refused("kiln-v2-flags-bit-15", "The highest unknown flag.", patched(empty, (7, b"\x80")), "flags", 6),
        refused("kiln-v2-reserved-first", "First reserved byte set.", patched(empty, (32, b"\1")), "reserved", 32),
        refused("kiln-v2-reserved-last", "Last reserved byte set.", patched(empty, (63, b"\1")), "reserved", 63),
        refused("kiln-v2-none-name-bytes", "Names without tensors.", header(0, 1, 0) + bytes(64), "name_bytes", 16),
        refused(
            "kiln-v2-none-payload-bytes", "Payload without tensors.", header(0, 0, 1) + bytes(64), "payload_bytes", 24
        ),
        refused("kiln-v2-none-names-flag", "Names flag without tensors.", header(0, 0, 0, 3), "flags", 6),
        refused(
            "kiln-v2-order-magic",
            "Magic and version wrong.",
            patched(empty, (0, b"X"), (4, b"\1")),
            "magic",
            0,
            "order",
        ),
        refused("kiln-v2-order-version", "Version and flags.", patched(empty, (4, b"\1\0\0\0")), "version", 4, "order"),
        refused(
            "kiln-v2-order-flags", "Flags and reserved.", patched(empty, (6, b"\0"), (40, b"\1")), "flags", 6, "order"
        ),
        refused(
            "kiln-v2-order-reserved",
            "Reserved set, and more bytes claimed than there are.",
            patched(header(9, 0, 0), (32, b"\1")),
            "reserved",
            32,
            "order",
        ),
        refused(
            "kiln-v2-order-none",
            "Without tensors all three fields are wrong, the reserved bytes right.",
            header(0, 1, 1, 3) + bytes(128),
            "name_bytes",
            16,
            "order",
        ),
        refused(
            "kiln-v2-order-none-reserved",
            "Reserved bytes before what only no tensors forbid.",
            patched(header(0, 1, 1, 3), (33, b"\1")),
            "reserved",
            33,
            "order",
        ),
        refused(
            "kiln-v2-order-none-flag",
            "Payload and names flag.",
            header(0, 0, 1, 3) + bytes(64),
            "payload_bytes",
            24,
            "order",
        ),
    ]


def refused_lengths() -> list[Case]:
    most = 2**57 - 1  # descriptors for this many end one line below 2^64
    pair = directory(F8_PAIR)
    return [
        refused("kiln-v2-count-2-63", "2^63 tensors.", header(2**63, 0, 0), "overflow", 8, "hostile-size"),
        refused("kiln-v2-count-most", "2^64 - 1 tensors.", header(2**64 - 1, 0, 0), "overflow", 8, "hostile-size"),
        refused(
            "kiln-v2-count-2-57",
            "The count whose descriptors reach 2^64.",
            header(2**57, 0, 0),
            "overflow",
            8,
            "boundary",
        ),
        refused(
            "kiln-v2-count-below", "One less: too long, yet below 2^64.", header(most, 0, 0), "eof", 64, "boundary"
        ),
        refused("kiln-v2-names-to-2-64", "One name byte more.", header(most, 1, 0), "overflow", 16, "boundary"),
        refused(
            "kiln-v2-name-bytes-most", "2^64 - 1 name bytes.", header(1, 2**64 - 1, 0), "overflow", 16, "hostile-size"
        ),
        refused("kiln-v2-payload-to-2-64", "One payload byte more.", header(most, 0, 1), "overflow", 24, "boundary"),
        refused(
            "kiln-v2-payload-most", "2^64 - 1 payload bytes.", header(1, 0, 2**64 - 1), "overflow", 24, "hostile-size"
        ),
        refused("kiln-v2-count-memory", "2^40 tensors.", header(2**40, 0, 0), "eof", 64, "hostile-size"),
        refused("kiln-v2-payload-memory", "2^62 payload bytes.", header(1, 0, 2**62), "eof", 64, "hostile-size"),
        refused(
            "kiln-v2-no-descriptor", "A header alone that claims a tensor.", header(1, 0, 0), "eof", 64, "truncated"
        ),
        refused("kiln-v2-one-byte-short", "All but the last byte.", pair[:-1], "eof", 447, "truncated"),
        refused("kiln-v2-no-tail", "All but the zeros after the last payload.", pair[:385], "eof", 385, "truncated"),
        refused(
            "kiln-v2-order-length",
            "A wrong dtype in a directory that is cut short.",
            patched(pair, (88, b"\0"))[:-1],
            "eof",
            447,
            "order",
        ),
    ]


def refused_descriptors() -> list[Case]:
    pair = directory(F8_PAIR)
    named = directory(NAMED_PAIR)
    tight = header(2, 0, 2) + descriptor(0, 1, 0, 0, 14, [1]) + descriptor(1, 1, 0, 0, 15, [1])
    overlap = header(2, 0, 1) + descriptor(0, 1, 0, 0, 14, [1]) + descriptor(0, 1, 0, 0, 15, [1])

    def lone(code: int, dims: list[int], length: int, payload: int = 0) -> bytes:
        return header(1, 0, length) + descriptor(0, length, 0, 0, code, dims) + bytes(payload)

    return [
        refused("kiln-v2-dtype-0", "No dtype has code 0.", patched(pair, (88, b"\0")), "dtype", 88, tensor=0),
        refused(
            "kiln-v2-dtype-18", "The first code past the table.", patched(pair, (216, b"\x12")), "dtype", 216, tensor=1
        ),
        refused("kiln-v2-dtype-high", "The high byte counts.", patched(pair, (89, b"\1")), "dtype", 88, tensor=0),
        refused(
            "kiln-v2-dtype-opaque",
            "Opaque tensors need a known dtype too.",
            patched(directory([tensor("u8", [1], b"\1", None, "l")]), (88, b"\x63")),
            "dtype",
            88,
            "opaque",
            tensor=0,
        ),
        refused("kiln-v2-rank-nine", "Nine dims.", patched(pair, (90, b"\x09")), "rank", 90, "boundary", tensor=0),
        refused("kiln-v2-rank-255", "255 dims.", patched(pair, (218, b"\xff")), "rank", 218, tensor=1),
        refused(
            "kiln-v2-descriptor-reserved-first",
            "First reserved byte.",
            patched(pair, (91, b"\1")),
            "reserved",
            91,
            tensor=0,
        ),
        refused(
            "kiln-v2-descriptor-reserved-last",
            "Last reserved byte.",
            patched(pair, (255, b"\1")),
            "reserved",
            255,
            tensor=1,
        ),
        refused(
            "kiln-v2-dims-past-rank", "A dim of 1 past rank 1.", patched(pair, (136, b"\1")), "dims", 136, tensor=0
        ),
        refused(
            "kiln-v2-dims-last",
            "The eighth dim, in its highest byte.",
            patched(pair, (191, b"\1")),
            "dims",
            184,
            tensor=0,
        ),
        refused(
            "kiln-v2-dims-rank-0", "Rank 0 with its first dim set.", patched(pair, (90, b"\0")), "dims", 128, tensor=0
        ),
        refused(
            "kiln-v2-byte-length-short",
            "Two f16 elements in three bytes.",
            lone(10, [2], 3, 64),
            "byte_length",
            72,
            tensor=0,
        ),
        refused(
            "kiln-v2-byte-length-long", "One element and a byte more.", lone(6, [1], 2, 64), "byte_length", 72, tensor=0
        ),
        refused(
            "kiln-v2-byte-length-zero-size",
            "A byte for no elements.",
            lone(6, [0], 1, 64),
            "byte_length",
            72,
            "zero-size",
            tensor=0,
        ),
        refused(
            "kiln-v2-byte-length-rank-0", "Rank 0 is one item, not none.", lone(6, [], 0), "byte_length", 72, tensor=0
        ),
        refused(
            "kiln-v2-product-2-63",
            "A product of exactly 2^63.",
            lone(6, [2**63], 0),
            "overflow",
            128,
            "hostile-size",
            "boundary",
            tensor=0,
        ),
        refused(
            "kiln-v2-product-wraps",
            "2^32 times 2^32 wraps to 0 in 64 bits.",
            lone(6, [2**32, 2**32], 0),
            "overflow",
            136,
            "hostile-size",
            tensor=0,
        ),
        refused(
            "kiln-v2-product-item",
            "The item size takes part.",
            lone(13, [2**60], 0),
            "overflow",
            128,
            "hostile-size",
            tensor=0,
        ),
        refused(
            "kiln-v2-product-zero-size",
            "A 0 among dims does not excuse the others.",
            lone(13, [0, 2**30, 2**30], 0),
            "overflow",
            144,
            "zero-size",
            tensor=0,
        ),
        refused(
            "kiln-v2-product-below",
            "2^63 - 1 bytes: no overflow, but not what byte_length says.",
            lone(6, [2**63 - 1], 0),
            "byte_length",
            72,
            "boundary",
            tensor=0,
        ),
        refused(
            "kiln-v2-unaligned",
            "The second payload packed right after the first.",
            to_line(tight) + to_line(b"\x38\x3c"),
            "byte_offset",
            192,
            "placement",
            "published",
            tensor=1,
        ),
        refused(
            "kiln-v2-overlap",
            "Both payloads on one byte.",
            to_line(overlap) + to_line(b"\x38"),
            "byte_offset",
            192,
            "placement",
            "published",
            tensor=1,
        ),
        refused(
            "kiln-v2-first-offset",
            "The first payload one line late.",
            patched(pair, (64, le(8, 64))),
            "byte_offset",
            64,
            "placement",
            tensor=0,
        ),
        refused(
            "kiln-v2-hole",
            "The second payload one line late.",
            patched(pair, (192, le(8, 128))),
            "byte_offset",
            192,
            "placement",
            tensor=1,
        ),
        refused(
            "kiln-v2-offset-most",
            "An offset of 2^64 - 1.",
            patched(pair, (192, le(8, 2**64 - 1))),
            "byte_offset",
            192,
            "hostile-size",
            tensor=1,
        ),
        refused(
            "kiln-v2-named-offset",
            "The error names the tensor.",
            patched(named, (192, b"\1")),
            "byte_offset",
            192,
            "names",
            tensor=1,
            name="b",
        ),
        refused(
            "kiln-v2-named-past-heap",
            "A name that would end past the heap is not there to be told.",
            patched(named, (208, le(4, 2)), (216, b"\0")),
            "dtype",
            216,
            "names",
            tensor=1,
        ),
        refused(
            "kiln-v2-named-not-text",
            "A name that is not UTF-8 cannot be told; the descriptor's fault comes first.",
            patched(named, (216, b"\0"), (321, b"\xff")),
            "dtype",
            216,
            "names",
            "order",
            tensor=1,
        ),
        refused(
            "kiln-v2-opaque-offset",
            "Opaque tensors are placed like all others.",
            patched(directory([tensor("u8", [1], b"\1", None, "l")]), (64, b"\1")),
            "byte_offset",
            64,
            "opaque",
            tensor=0,
        ),
        refused(
            "kiln-v2-opaque-length-most",
            "An opaque payload of 2^64 - 1 bytes: its end is not payload_bytes.",
            patched(directory([tensor("u8", [1], b"\1", None, "l")]), (72, le(8, 2**64 - 1))),
            "payload_bytes",
            24,
            "opaque",
            "hostile-size",
        ),
        refused(
            "kiln-v2-opaque-end-past-2-64",
            "After it nothing can be placed.",
            patched(
                directory([tensor("u8", [1], b"\1", None, "l"), tensor("u8", [1], b"\1")]),
                (72, le(8, 2**64 - 1)),
                (192, le(8, 0)),
            ),
            "byte_offset",
            192,
            "opaque",
            "hostile-size",
            tensor=1,
        ),
        refused(
            "kiln-v2-order-dtype", "Dtype and rank.", patched(pair, (88, b"\0\0\x09")), "dtype", 88, "order", tensor=0
        ),
        refused(
            "kiln-v2-order-rank", "Rank and reserved.", patched(pair, (90, b"\x09\1")), "rank", 90, "order", tensor=0
        ),
        refused(
            "kiln-v2-order-descriptor-reserved",
            "Reserved and dims.",
            patched(pair, (91, b"\1"), (136, b"\1")),
            "reserved",
            91,
            "order",
            tensor=0,
        ),
        refused(
            "kiln-v2-order-dims",
            "Dims and byte_length.",
            patched(pair, (72, b"\2"), (136, b"\1")),
            "dims",
            136,
            "order",
            tensor=0,
        ),
        refused(
            "kiln-v2-order-byte-length",
            "byte_length and byte_offset.",
            patched(pair, (64, b"\1"), (72, b"\2")),
            "byte_length",
            72,
            "order",
            tensor=0,
        ),
        refused(
            "kiln-v2-order-tensors",
            "byte_offset of the first, dtype of the second.",
            patched(pair, (64, b"\1"), (216, b"\0")),
            "byte_offset",
            64,
            "order",
            tensor=0,
        ),
    ]


def refused_sums_and_names() -> list[Case]:
    named = directory(NAMED_PAIR)
    triple = directory([tensor("u8", [], b"\1", name) for name in ("a", "b", "a")])
    layouts = directory([tensor("u8", [1], b"\1", "n", "layout")])
    pair = directory(F8_PAIR)

    def name(raw: bytes) -> bytes:
        front = header(1, len(raw), 1, 3) + descriptor(0, 1, len(raw), 0, 6, []) + raw
        return to_line(front) + to_line(b"\1")

    bad = [
        ("surrogate", "A UTF-16 surrogate.", b"\xed\xa0\x80"),
        ("overlong", "NUL in two bytes.", b"\xc0\x80"),
        ("overlong-3", "A slash in three bytes.", b"\xe0\x80\xaf"),
        ("cut", "A character cut short.", b"a\xe2\x82"),
        ("stray", "A continuation byte alone.", b"\x80"),
        ("past-unicode", "A code point above 10FFFF.", b"\xf4\x90\x80\x80"),
        ("latin-1", "Latin-1.", b"caf\xe9"),
    ]
    return [
        refused(
            "kiln-v2-name-bytes-more", "One more than the lengths say.", patched(named, (16, b"\3")), "name_bytes", 16
        ),
        refused("kiln-v2-name-bytes-less", "One less.", patched(named, (16, b"\1")), "name_bytes", 16),
        refused(
            "kiln-v2-name-length-most",
            "A name of 2^32 - 1 bytes.",
            patched(named, (80, le(4, 2**32 - 1))),
            "name_bytes",
            16,
            "hostile-size",
        ),
        refused(
            "kiln-v2-payload-bytes-more",
            "The last zero counted as payload.",
            patched(named, (24, b"\x45")),
            "payload_bytes",
            24,
        ),
        refused(
            "kiln-v2-payload-bytes-less",
            "The last byte not counted.",
            patched(named, (24, b"\x43")),
            "payload_bytes",
            24,
        ),
        refused(
            "kiln-v2-names-flag-clear", "Names without their flag.", patched(named, (6, b"\1")), "flags", 6, "names"
        ),
        refused("kiln-v2-names-flag-set", "The flag without names.", patched(pair, (6, b"\3")), "flags", 6, "names"),
        refused(
            "kiln-v2-names-flag-layout",
            "A layout is no name.",
            patched(directory([tensor("u8", [1], b"\1", None, "l")]), (6, b"\3")),
            "flags",
            6,
            "opaque",
            "names",
        ),
        *[
            refused(f"kiln-v2-utf8-{slug}", comment, name(raw), "utf8", 192, "names", tensor=0)
            for slug, comment, raw in bad
        ],
        refused(
            "kiln-v2-utf8-second",
            "The offset is the second name's first byte.",
            patched(named, (321, b"\xff")),
            "utf8",
            321,
            "names",
            tensor=1,
        ),
        refused(
            "kiln-v2-utf8-layout",
            "A layout's name, in its middle.",
            patched(layouts, (195, b"\xff")),
            "utf8",
            193,
            "opaque",
            tensor=0,
            name="n",
        ),
        refused(
            "kiln-v2-duplicate-name",
            "Two tensors named a.",
            patched(named, (321, b"a")),
            "duplicate_name",
            321,
            "names",
            tensor=1,
            name="a",
        ),
        refused(
            "kiln-v2-duplicate-apart", "First and third.", triple, "duplicate_name", 450, "names", tensor=2, name="a"
        ),
        refused(
            "kiln-v2-heap-pad-first",
            "First byte after the heap.",
            patched(named, (322, b"\1")),
            "padding",
            322,
            "padding",
        ),
        refused(
            "kiln-v2-heap-pad-last",
            "Last byte before the payloads.",
            patched(named, (383, b"\1")),
            "padding",
            383,
            "padding",
        ),
        refused(
            "kiln-v2-order-name-bytes",
            "name_bytes and payload_bytes.",
            patched(named, (16, b"\3"), (24, b"\x45")),
            "name_bytes",
            16,
            "order",
        ),
        refused(
            "kiln-v2-order-payload-bytes",
            "payload_bytes and names flag.",
            patched(named, (24, b"\x45"), (6, b"\1")),
            "payload_bytes",
            24,
            "order",
        ),
        refused(
            "kiln-v2-order-names-flag",
            "Names flag and UTF-8.",
            patched(named, (6, b"\1"), (320, b"\xff")),
            "flags",
            6,
            "order",
        ),
        refused(
            "kiln-v2-order-descriptor-first",
            "A descriptor's fault and name_bytes.",
            patched(named, (16, b"\3"), (192, b"\1")),
            "byte_offset",
            192,
            "order",
            tensor=1,
            name="b",
        ),
        refused(
            "kiln-v2-order-names",
            "A bad name before a duplicate.",
            patched(triple, (449, b"\xff")),
            "utf8",
            449,
            "order",
            tensor=1,
        ),
        refused(
            "kiln-v2-order-duplicate",
            "A duplicate name before a bad layout.",
            patched(
                directory([tensor("u8", [1], b"\1", "a", "l"), tensor("u8", [1], b"\1", "b", "m")]), (321, b"a\xff")
            ),
            "duplicate_name",
            321,
            "order",
            tensor=1,
            name="a",
        ),
        refused(
            "kiln-v2-order-layout",
            "A bad layout before the zeros after the heap.",
            patched(layouts, (193, b"\xff"), (199, b"\1")),
            "utf8",
            193,
            "order",
            tensor=0,
            name="n",
        ),
    ]


def refused_payloads() -> list[Case]:
    pair = directory(F8_PAIR)
    named = directory(NAMED_PAIR)
    bools = directory(BOOLS)
    return [
        refused(
            "kiln-v2-nonzero-pad",
            "The first byte of the gap.",
            patched(pair, (321, b"\1")),
            "padding",
            321,
            "padding",
            "published",
            tensor=1,
        ),
        refused(
            "kiln-v2-gap-last",
            "The last byte of the gap.",
            patched(pair, (383, b"\x80")),
            "padding",
            383,
            "padding",
            tensor=1,
        ),
        refused(
            "kiln-v2-gap-named",
            "The tensor after the gap is named.",
            patched(named, (387, b"\1")),
            "padding",
            387,
            "padding",
            tensor=1,
            name="b",
        ),
        refused(
            "kiln-v2-tail-first",
            "The first byte after the last payload.",
            patched(pair, (385, b"\1")),
            "padding",
            385,
            "padding",
        ),
        refused(
            "kiln-v2-tail-last",
            "The last byte of the directory.",
            patched(pair, (447, b"\1")),
            "padding",
            447,
            "padding",
        ),
        refused("kiln-v2-bool-2", "A bool byte of 2.", patched(bools, (448, b"\2")), "bool", 448, tensor=0),
        refused(
            "kiln-v2-bool-255",
            "The second bool of the second tensor.",
            patched(bools, (513, b"\xff")),
            "bool",
            513,
            tensor=1,
        ),
        refused("kiln-v2-trailing-byte", "A zero byte after the directory.", pair + b"\0", "trailing", 448),
        refused("kiln-v2-trailing-line", "A whole line of zeros after it.", pair + bytes(64), "trailing", 448),
        refused("kiln-v2-trailing-empty", "Something after an empty directory.", directory([]) + b"x", "trailing", 64),
        refused("kiln-v2-trailing-second", "A second directory.", pair + pair, "trailing", 448),
        refused(
            "kiln-v2-order-heap-pad",
            "Zeros after the heap, then the gap.",
            patched(named, (323, b"\1"), (387, b"\1")),
            "padding",
            323,
            "order",
        ),
        refused(
            "kiln-v2-order-bool-gap",
            "A bool before the next gap.",
            patched(bools, (448, b"\2"), (450, b"\1")),
            "bool",
            448,
            "order",
            tensor=0,
        ),
        refused(
            "kiln-v2-order-gap-bool",
            "A gap before the bool after it.",
            patched(bools, (511, b"\1"), (512, b"\2")),
            "padding",
            511,
            "order",
            tensor=1,
        ),
        refused(
            "kiln-v2-order-bool-tail",
            "The last bool before the tail.",
            patched(bools, (576, b"\2"), (600, b"\1")),
            "bool",
            576,
            "order",
            tensor=2,
        ),
        refused(
            "kiln-v2-order-tail",
            "The tail before what follows.",
            patched(bools, (639, b"\1")) + b"\0",
            "padding",
            639,
            "order",
        ),
    ]


def directory_cases() -> list[Case]:
    return [
        *accepted_directories(),
        *refused_headers(),
        *refused_lengths(),
        *refused_descriptors(),
        *refused_sums_and_names(),
        *refused_payloads(),
    ]


# --- Type text --------------------------------------------------------------------------------------------------------

LEAVES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "str", "bytes", "tensors"]


def fnv(tokens: list[str]) -> int:
    state = 14695981039346656037
    for token in tokens:
        for byte in token.encode("ascii") + b"\0":
            state = ((state ^ byte) * 1099511628211) % 2**64
    return state


def type_text(slug: str, comment: str, tokens: str, *flags: str) -> Case:
    """A valid text, given as its tokens between spaces."""
    cut = tokens.split()
    text = "".join(cut)
    hashed = f"{fnv(cut):#018x}"
    base = {"id": slug, "comment": comment, "flags": list(flags), "text": text}
    return {**base, "result": "valid", "tokens": cut, "hash": hashed}


def refused_text(slug: str, comment: str, text: str, rule: str, offset: int, *flags: str) -> Case:
    return {"id": slug, "comment": comment, "flags": list(flags), "text": text, **refusal(rule, offset)}


def type_text_cases() -> list[Case]:
    deep = "list{ " * 64 + "i8 " + ", } " * 64
    deep_options = "option{ list{ " * 32 + "i8 " + ", } " * 64
    return [
        type_text("framed", "The type of the published frame.", "struct{ id : i64 , batch : tensors , }", "published"),
        *[type_text(f"leaf-{word}", f"The leaf {word}.", word) for word in LEAVES],
        type_text("list", "A list.", "list{ f32 , }"),
        type_text("dict", "A dict.", "dict{ bytes , }"),
        type_text("option", "An option.", "option{ str , }"),
        type_text("field-leaf-word", "A field may bear a leaf's word.", "struct{ i64 : i64 , tensors : str , }"),
        type_text(
            "field-opening-word", "Or an opening word.", "struct{ struct : i8 , list : i8 , dict : i8 , option : i8 , }"
        ),
        type_text(
            "field-underscores", "Names may be of underscores and digits.", "struct{ _ : i8 , _0 : i8 , Z_9 : i8 , }"
        ),
        type_text("field-order", "Fields in another order are another type.", "struct{ batch : tensors , id : i64 , }"),
        type_text(
            "option-in-list-in-option", "Options with something between.", "option{ list{ option{ i8 , } , } , }"
        ),
        type_text(
            "nested",
            "Every kind inside another.",
            "struct{ a : list{ dict{ option{ u8 , } , } , } , b : struct{ c : tensors , } , }",
        ),
        type_text("depth-64", "64 open braces.", deep, "boundary"),
        type_text("depth-64-options", "64 open braces, options among them.", deep_options, "boundary"),
        refused_text("depth-65", "65 open braces.", "list{" * 65 + "i8" + ",}" * 65, "depth", 320, "boundary"),
        refused_text("depth-endless", "A thousand open braces.", "list{" * 1000, "depth", 320, "hostile-size"),
        refused_text(
            "depth-struct", "Structs count too.", "struct{a:" * 65 + "i8" + ",}" * 65, "depth", 576, "boundary"
        ),
        refused_text("no-text", "No text.", "", "syntax", 0),
        refused_text("white-space", "White space.", "list{ i8,}", "syntax", 5),
        refused_text("white-space-after", "A line feed at the end.", "i8\n", "trailing", 2),
        refused_text("unknown-word", "f16 is no leaf of type text.", "f16", "syntax", 0),
        refused_text("upper-case", "Words are in lower case.", "I64", "syntax", 0),
        refused_text("longer-word", "A word that begins with a leaf.", "i64x", "syntax", 0),
        refused_text("open-word", "An opening word without its brace.", "list", "syntax", 0),
        refused_text("no-comma", "No comma after the item.", "list{i8}", "syntax", 7),
        refused_text("no-close", "The text ends before the brace.", "list{i8,", "syntax", 8),
        refused_text("two-items", "A list has one item type.", "list{i8,i8,}", "syntax", 8),
        refused_text("empty-list", "A list without its type.", "list{}", "syntax", 5),
        refused_text("empty-struct", "A struct without fields.", "struct{}", "empty_struct", 7),
        refused_text("empty-struct-inside", "The same further in.", "list{struct{},}", "empty_struct", 12),
        refused_text("no-name", "A field without a name.", "struct{:i8,}", "syntax", 7),
        refused_text("digit-name", "A name that begins with a digit.", "struct{0a:i8,}", "syntax", 7),
        refused_text("dash-name", "A name with a dash.", "struct{a-b:i8,}", "syntax", 8),
        refused_text("unicode-name", "A letter outside ASCII.", "struct{\u00e4:i8,}", "syntax", 7),
        refused_text("unicode-digit", "A digit outside ASCII.", "struct{a\u0663:i8,}", "syntax", 8),
        refused_text("no-colon", "A field without a colon.", "struct{a,}", "syntax", 8),
        refused_text("no-type", "A field without a type.", "struct{a:,}", "syntax", 9),
        refused_text("no-last-comma", "The last comma left out.", "struct{a:i8,b:i8}", "syntax", 16),
        refused_text("duplicate-field", "A field name twice.", "struct{a:i8,b:i8,a:i8,}", "duplicate_field", 17),
        refused_text("nested-option", "An option of an option.", "option{option{i8,},}", "nested_option", 7),
        refused_text(
            "nested-option-deepest",
            "An option in an option, and one brace too many.",
            "list{" * 63 + "option{option{i8,},}" + ",}" * 63,
            "nested_option",
            322,
            "order",
        ),
        refused_text(
            "duplicate-field-first",
            "A field name twice, without its colon.",
            "struct{a:i8,a",
            "duplicate_field",
            12,
            "order",
        ),
        refused_text("two-types", "A second type.", "i8i8", "syntax", 0),
        refused_text("after-brace", "Text after the last brace.", "list{i8,}}", "trailing", 9),
        refused_text("nul", "NUL after the type.", "i8\0", "trailing", 2),
    ]


# --- Frozen values and frames -----------------------------------------------------------------------------------------


def text(raw: bytes) -> bytes:
    return le(8, len(raw)) + raw


def frozen(slug: str, comment: str, kind: str, data: bytes, value: Any, *flags: str) -> Case:
    base = {"id": slug, "comment": comment, "flags": list(flags), "type": kind, "hex": data.hex()}
    return {**base, "result": "valid", "value": value}


def refused_frozen(
    slug: str, comment: str, kind: str, data: bytes, rule: str, offset: int, *flags: str, path: str = ""
) -> Case:
    base = {"id": slug, "comment": comment, "flags": list(flags), "type": kind, "hex": data.hex()}
    return {**base, **refusal(rule, offset), "path": path}


def accepted_values() -> list[Case]:
    cases = [frozen("bool-false", "False.", "bool", b"\0", False), frozen("bool-true", "True.", "bool", b"\1", True)]
    for size in (1, 2, 4, 8):
        low, high = -(1 << 8 * size - 1), (1 << 8 * size - 1) - 1
        for slug, value in (("least", low), ("most", high), ("minus-one", -1)):
            data = value.to_bytes(size, "little", signed=True)
            cases.append(frozen(f"i{8 * size}-{slug}", f"{value}.", f"i{8 * size}", data, str(value), "boundary"))
        most = (1 << 8 * size) - 1
        cases.append(frozen(f"u{8 * size}-most", f"{most}.", f"u{8 * size}", le(size, most), str(most), "boundary"))
    for slug, bits in (
        ("one", 0x3F800000),
        ("minus-zero", 0x80000000),
        ("signalling", 0x7FA00001),
        ("nan", 0xFFC12345),
    ):
        cases.append(frozen(f"f32-{slug}", "An f32 keeps its bits.", "f32", le(4, bits), f"{bits:#010x}", "bits"))
    for slug, bits in (("one", 0x3FF0000000000000), ("minus-zero", 1 << 63), ("nan", 0xFFF8000012345678)):
        cases.append(frozen(f"f64-{slug}", "An f64 keeps its bits.", "f64", le(8, bits), f"{bits:#018x}", "bits"))
    pair = directory(NAMED_PAIR)
    keys = ["", "A", "a", "aa", "b", "\u00e4", "\uffff", "\U00010000"]
    dict_bytes = le(8, len(keys)) + b"".join(text(key.encode()) + b"\1" for key in keys)
    return [
        *cases,
        frozen("str-empty", "No text.", "str", text(b""), ""),
        frozen(
            "str",
            "NUL, two and four byte characters.",
            "str",
            text("a\0\u00e4\U0001f525".encode()),
            "a\0\u00e4\U0001f525",
        ),
        frozen("bytes", "Bytes need not be text.", "bytes", text(b"\xff\0"), "ff00"),
        frozen("list-empty", "No items.", "list{i64,}", le(8, 0), []),
        frozen("list", "Two items.", "list{i16,}", le(8, 2) + b"\1\0\xff\xff", ["1", "-1"]),
        frozen("dict-empty", "No entries.", "dict{i8,}", le(8, 0), []),
        frozen("dict", "Keys in UTF-8 byte order.", "dict{i8,}", dict_bytes, [[key, "1"] for key in keys], "names"),
        frozen("option-none", "None.", "option{i64,}", b"\0", None),
        frozen("option-some", "A value.", "option{u8,}", b"\1\7", {"some": "7"}),
        frozen("struct", "Fields in the type's order.", "struct{b:u8,a:bool,}", b"\7\1", [["b", "7"], ["a", True]]),
        frozen("tensors-empty", "An empty directory.", "tensors", directory([]), []),
        frozen("tensors", "A directory.", "tensors", pair, NAMED_PAIR),
        frozen(
            "tensors-unaligned",
            "A directory where the bytes before it leave it, and a field after it.",
            "struct{a:u8,t:tensors,z:u8,}",
            b"\1" + pair + b"\2",
            [["a", "1"], ["t", NAMED_PAIR], ["z", "2"]],
        ),
        frozen(
            "tensors-list", "Directories one after another.", "list{tensors,}", le(8, 2) + pair * 2, [NAMED_PAIR] * 2
        ),
    ]


def refused_values() -> list[Case]:
    pair = directory(NAMED_PAIR)
    two_keys = le(8, 2) + text(b"b") + b"\1"
    return [
        refused_frozen("bool-2", "A bool byte of 2.", "bool", b"\2", "bool", 0),
        refused_frozen("option-2", "An option byte of 2.", "option{i8,}", b"\2\1", "option", 0),
        refused_frozen("nothing", "No bytes.", "i64", b"", "eof", 0, "truncated"),
        refused_frozen("integer-cut", "Seven bytes of an i64.", "i64", bytes(7), "eof", 7, "truncated"),
        refused_frozen("f32-cut", "Three bytes of an f32.", "f32", bytes(3), "eof", 3, "truncated"),
        refused_frozen("f64-cut", "Seven bytes of an f64.", "f64", bytes(7), "eof", 7, "truncated"),
        refused_frozen("option-cut", "An option without its value.", "option{i8,}", b"\1", "eof", 1, "truncated"),
        refused_frozen("struct-cut", "The second field is missing.", "struct{a:u8,b:u8,}", b"\1", "eof", 1, path="b"),
        refused_frozen(
            "str-length", "A text of 2^64 - 1 bytes.", "str", le(8, 2**64 - 1) + b"a", "eof", 9, "hostile-size"
        ),
        refused_frozen("bytes-length", "One byte more than there are.", "bytes", le(8, 2) + b"a", "eof", 9, "boundary"),
        refused_frozen("list-count", "2^63 items.", "list{i64,}", le(8, 2**63) + bytes(64), "eof", 72, "hostile-size"),
        refused_frozen(
            "list-count-first",
            "Too many items for the bytes left, though the first is wrong in itself.",
            "list{bool,}",
            le(8, 3) + b"\2\1",
            "eof",
            10,
            "order",
        ),
        refused_frozen(
            "list-count-fits",
            "As many as fit: the first item decides.",
            "list{bool,}",
            le(8, 2) + b"\2\1",
            "bool",
            8,
            "boundary",
            path="[0]",
        ),
        refused_frozen(
            "list-count-smallest",
            "Nine bytes cannot hold two strings, whose lengths alone take sixteen.",
            "list{str,}",
            le(8, 2) + text(b"a"),
            "eof",
            17,
            "boundary",
        ),
        refused_frozen(
            "list-later",
            "A later item ends too soon.",
            "list{option{i64,},}",
            le(8, 2) + b"\0\1",
            "eof",
            10,
            path="[1]",
        ),
        refused_frozen(
            "list-tensors-count",
            "Directories take 64 bytes at least.",
            "list{tensors,}",
            le(8, 2) + directory([]) + bytes(63),
            "eof",
            135,
            "boundary",
        ),
        refused_frozen(
            "dict-count", "Entries take nine bytes at least.", "dict{i8,}", le(8, 2) + bytes(17), "eof", 25, "boundary"
        ),
        refused_frozen("dict-order", "Keys b, a.", "dict{i8,}", two_keys + text(b"a") + b"\1", "key_order", 26),
        refused_frozen("dict-twice", "Keys b, b.", "dict{i8,}", two_keys + text(b"b") + b"\1", "key_order", 26),
        refused_frozen(
            "dict-empty-key", "The empty key last.", "dict{i8,}", two_keys + text(b"") + b"\1", "key_order", 26
        ),
        refused_frozen(
            "dict-utf16-order",
            "U+10000 before U+FFFF is the order of UTF-16, not of UTF-8.",
            "dict{i8,}",
            le(8, 2) + text(b"\xf0\x90\x80\x80") + b"\1" + text(b"\xef\xbf\xbf") + b"\1",
            "key_order",
            29,
            "names",
        ),
        refused_frozen(
            "dict-key-first",
            "A key is checked before its value.",
            "dict{bool,}",
            two_keys + text(b"a") + b"\2",
            "key_order",
            26,
            "order",
        ),
        refused_frozen(
            "dict-value", "The value of key b.", "dict{bool,}", le(8, 1) + text(b"b") + b"\2", "bool", 17, path="['b']"
        ),
        refused_frozen("str-utf8", "A surrogate.", "str", text(b"a\xed\xa0\x80"), "utf8", 8),
        refused_frozen(
            "dict-key-utf8", "A key that is not UTF-8.", "dict{i8,}", le(8, 1) + text(b"\xff") + b"\1", "utf8", 16
        ),
        refused_frozen(
            "dict-key-utf8-first",
            "A key that is not UTF-8 and not after the one before it.",
            "dict{i8,}",
            two_keys + text(b"a\xff") + b"\1",
            "utf8",
            26,
            "order",
        ),
        refused_frozen("value-trailing", "A byte after the value.", "bool", b"\1\0", "trailing", 1),
        refused_frozen("tensors-trailing", "A byte after the directory.", "tensors", pair + b"\0", "trailing", 512),
        refused_frozen(
            "tensors-cut",
            "The buffer's end, not the directory's.",
            "struct{a:u8,t:tensors,}",
            b"\1" + pair[:-1],
            "eof",
            512,
            "truncated",
            path="t",
        ),
        refused_frozen(
            "tensors-offset",
            "Offsets count from the buffer's start, alignment from the directory's.",
            "struct{a:u8,t:tensors,}",
            b"\1" + patched(pair, (192, b"\1")),
            "byte_offset",
            193,
            path="t",
        ),
        refused_frozen(
            "deep-path",
            "The path leads to the value.",
            "struct{a:list{dict{option{bool,},},},}",
            le(8, 1) + le(8, 1) + text(b"k") + b"\1\2",
            "bool",
            26,
            path="a[0]['k']",
        ),
        refused_frozen("value-of-bad-type", "The type text is wrong.", "i65", b"", "syntax", 0),
    ]


def frame_cases() -> list[Case]:
    kind = "struct{id:i64,batch:tensors,}"
    tokens = ["struct{", "id", ":", "i64", ",", "batch", ":", "tensors", ",", "}"]
    prefix = b"KLN0" + bytes(4) + le(8, fnv(tokens))
    framed = prefix + le(8, 7) + directory([])
    swapped = b"KLN0" + bytes(4) + le(8, fnv(["struct{", "batch", ":", "tensors", ",", "id", ":", "i64", ",", "}"]))
    string = b"KLN0" + bytes(4) + le(8, fnv(["str"]))
    return [
        frozen(
            "kiln-v2-framed", "id 7 and an empty directory.", kind, framed, [["id", "7"], ["batch", []]], "published"
        ),
        frozen("frame-leaf", "A frame before a leaf.", "str", string + text(b"x"), "x"),
        refused_frozen("frame-nothing", "No bytes.", kind, b"", "eof", 0, "truncated"),
        refused_frozen("frame-short", "Fifteen bytes, and a wrong magic.", kind, b"x" * 15, "eof", 15, "order"),
        refused_frozen("frame-magic", "KLN1.", kind, patched(framed, (3, b"1")), "magic", 0),
        refused_frozen("frame-directory", "A directory is no frame.", kind, directory([]), "magic", 0),
        refused_frozen("frame-profile", "Profile 1.", kind, patched(framed, (4, b"\1")), "profile", 4),
        refused_frozen("frame-flags", "A flag, in the first byte.", kind, patched(framed, (5, b"\1")), "flags", 5),
        refused_frozen(
            "frame-flags-high", "A flag, in the second byte.", kind, patched(framed, (6, b"\1")), "flags", 5
        ),
        refused_frozen("frame-reserved", "The reserved byte.", kind, patched(framed, (7, b"\1")), "reserved", 7),
        refused_frozen(
            "frame-schema",
            "Written with the fields in another order.",
            kind,
            swapped + directory([]) + le(8, 7),
            "schema_hash",
            8,
        ),
        refused_frozen(
            "frame-schema-alone",
            "Another type's sixteen bytes and nothing else: no field is read.",
            kind,
            swapped,
            "schema_hash",
            8,
            "order",
        ),
        refused_frozen(
            "frame-order-prefix",
            "Reserved byte and hash.",
            kind,
            patched(framed, (7, b"\1"), (8, b"\0")),
            "reserved",
            7,
            "order",
        ),
        refused_frozen(
            "frame-order-magic",
            "Every field of the first eight.",
            kind,
            b"XLN0\1\1\1\1" + framed[8:],
            "magic",
            0,
            "order",
        ),
        refused_frozen(
            "frame-value",
            "Offsets count from the frame's start.",
            kind,
            patched(framed, (24, b"X")),
            "magic",
            24,
            path="batch",
        ),
        refused_frozen(
            "frame-value-cut", "The value ends too soon.", kind, framed[:-1], "eof", 87, "truncated", path="batch"
        ),
        refused_frozen("frame-prefix-only", "No value.", kind, prefix, "eof", 16, "truncated", path="id"),
        refused_frozen("frame-trailing", "A byte after the value.", kind, framed + b"\0", "trailing", 88),
        refused_frozen("frame-of-bad-type", "The type text comes first.", "struct{}", b"", "empty_struct", 7, "order"),
    ]


def confirm(kind: str, case: Case) -> None:
    """Have the reference read a case, and stop where it comes to something else than the case says."""
    data = bytes.fromhex(case.get("hex", ""))
    found: Case = {"result": "valid"}
    try:
        if kind == "kiln-directory":
            kiln.check_directory(data)
        elif kind == "kiln-typetext":
            found["hash"] = f"{kiln.schema_hash(case['text']):#018x}"
        else:
            {"kiln-frozen": kiln.thaw, "kiln-frame": kiln.unframe}[kind](case["type"], data)
    except kiln.RefusedError as error:
        found = {"result": "refused", **vars(error)}
    wrong = {name: value for name, value in found.items() if name in case and case[name] != value}
    assert not wrong, f"{kind} {case['id']}: the reference finds {wrong}"


def files() -> dict[str, str]:
    contents = {
        "kiln-directory": directory_cases(),
        "kiln-typetext": type_text_cases(),
        "kiln-frozen": [*accepted_values(), *refused_values()],
        "kiln-frame": frame_cases(),
    }
    written = {}
    for kind, cases in contents.items():
        slugs = [case["id"] for case in cases]
        assert len(set(slugs)) == len(slugs), f"an id of {kind} twice"
        used = {flag for case in cases for flag in case["flags"]}
        notes = {flag: note for flag, note in NOTES.items() if flag in used}
        assert used == set(notes), f"a flag of {kind} without a note"
        for case in cases:
            confirm(kind, case)
        document = {"kind": kind, "spec": "docs/spec/kiln.md", "notes": notes, "cases": cases}
        written[f"{kind}.json"] = json.dumps(document, indent=1, ensure_ascii=True) + "\n"
    return written


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: generate_kiln.py [--check]", file=sys.stderr)
        return 2
    stale = []
    for name, content in files().items():
        path = HERE / name
        if not arguments:
            path.write_text(content, encoding="utf-8", newline="\n")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            stale.append(name)
    for name in stale:
        print(f"{name} is missing or is not what golden/generate_kiln.py writes", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
