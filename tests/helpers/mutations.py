"""Small files of every format, and the same changes of them on every run.

Run as a program it hashes mutations in a process of its own: a reader that crashes takes nothing else with it.
"""

from __future__ import annotations

import json
import random
import resource
import signal
import sys
from pathlib import Path

import pyarrow as pa

from arrow_digest import ArrowDigestError, hash_file
from helpers.files import feather, ipc_file, ipc_stream, parquet, sample_table

MEMORY_LIMIT = 4 << 30  # of address space, of which importing pyarrow takes a part
SECONDS = 10  # for one file of a few kilobytes


def seeds():
    """The files that are changed."""
    table = sample_table(30)
    nested = pa.table(
        {
            "struct": pa.array([None if i % 4 == 1 else {"a": i, "b": {"c": str(i)}} for i in range(20)]),
            "lists": pa.array([[[i], None, []] if i % 3 else None for i in range(20)]),
            "fixed": pa.array([[i, None] for i in range(20)], pa.list_(pa.int16(), 2)),
            "flag": pa.array([None if i % 5 == 1 else i % 2 == 0 for i in range(20)]),
            "decimal": pa.array(range(20), pa.decimal128(20, 2)),
            "time": pa.array(range(20), pa.timestamp("us", "UTC")),
        }
    )
    layouts = pa.table(
        {
            "view": pa.array(["short", None, "longer than twelve bytes"] * 6, pa.string_view()),
            "list_view": pa.array([[1, 2], None, []] * 6, pa.list_view(pa.int32())),
            "run_end": pa.RunEndEncodedArray.from_arrays(pa.array([3, 17, 18], pa.int32()), pa.array(["x", None, "y"])),
            "large": pa.array([b"a", None, b"bc"] * 6, pa.large_binary()),
            "null": pa.nulls(18),
            "half": pa.array([1.0, None, 2.0] * 6, pa.float16()),
        }
    )
    return [
        parquet(table, compression="none"),
        parquet(table, compression="snappy", data_page_version="2.0", data_page_size=64),
        parquet(nested, compression="none", use_dictionary=False, data_page_version="2.0"),
        parquet(nested, compression="zstd", row_group_size=7),
        parquet(
            table.select(["number"]), compression="none", column_encoding="DELTA_BINARY_PACKED", use_dictionary=False
        ),
        parquet(table.select(["text"]), compression="none", column_encoding="DELTA_BYTE_ARRAY", use_dictionary=False),
        ipc_file(table),
        ipc_file(nested, compression="lz4"),
        ipc_file(layouts),
        ipc_stream(table, compression="zstd"),
        ipc_stream(nested),
        ipc_stream(layouts),
        ipc_stream(table, use_legacy_format=True),
        feather(sample_table().select(["number", "text", "word"]), version=1),
    ]


def mutation(index, files):
    """The content of one changed file; it depends on the number alone."""
    return changed(files[index % len(files)], random.Random(index), files)


def changed(content, chance, others):
    """A file after one change or a few. Parts of `others` may be spliced in."""
    content = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _change(content, chance, others)
    return bytes(content)


def _change(content, chance, others):
    # The start and the end of a file say where everything else is, so most changes are made there.
    size = max(len(content), 1)
    at = chance.choice(
        (chance.randrange(size), chance.randrange(max(size - 700, 0), size), chance.randrange(min(size, 400)))
    )
    match chance.randrange(10):
        case 0 | 1:
            content[at : at + 1] = bytes([(content[at] if at < len(content) else 0) ^ 1 << chance.randrange(8)])
        case 2:
            content[at : at + 1] = bytes([chance.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))])
        case 3:
            width = chance.choice((2, 4, 8))
            number = chance.choice(
                (0, 1, -1, -8, 1 << 14, (1 << 8 * width - 1) - 1, -(1 << 8 * width - 1), size, size * 8)
            )
            content[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "little")
        case 4:
            del content[at : at + chance.randrange(1, 9)]
        case 5:
            del content[at:]
        case 6:
            content[at:at] = chance.randbytes(chance.randrange(1, 9))
        case 7:
            other = chance.randrange(size)
            content[at : at + 8] = content[other : other + 8]
        case 8:  # a part of another file, as long as what it replaces or not
            donor = chance.choice(others)
            start, length = chance.randrange(len(donor)), chance.randrange(1, 65)
            content[at : at + chance.choice((0, length))] = donor[start : start + length]
        case 9:  # a part twice
            length = chance.randrange(1, 65)
            content[at:at] = content[at : at + length]


def outcome(path):
    """What comes of a file: a hash, a refusal, or what should not be."""
    try:
        hash_file(path, threads=1)
    except ArrowDigestError as error:
        return type(error).__name__
    except BaseException as error:
        return f"{type(error).__module__}.{type(error).__qualname__}: {error}"[:300]
    return "hash"


def main(start, stop, folder):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files = seeds()
    path = Path(folder) / "mutation"
    for index in range(start, stop):
        path.write_bytes(mutation(index, files))
        signal.alarm(SECONDS)  # ends the process
        print(json.dumps([index, outcome(path)]), flush=True)
        signal.alarm(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
