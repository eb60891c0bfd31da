"""The logical hash against the physical one: the same files, the same digest function, the same run."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import blake3
import pyarrow.parquet as pq

import arrow_digest as ad
from data import mixed
from measuring import ipc_bytes, ratio, significant, take_turns

FUNCTIONS: dict[str, Callable[[], Any]] = {
    "sha3-256": hashlib.sha3_256,
    "blake3": blake3.blake3,
    "sha2-256": hashlib.sha256,
}
HASH_A_FILE = """
import hashlib, sys
if sys.argv[1] == "blake3":
    import blake3
    digest = blake3.blake3()
else:
    digest = hashlib.new({"sha3-256": "sha3_256", "sha2-256": "sha256"}[sys.argv[1]])
with open(sys.argv[2], "rb", buffering=0) as file:
    while part := file.read(1 << 20):
        digest.update(part)
print(digest.hexdigest())
"""


def _physical(path: Path, function: str) -> str:
    """Hash a file as one does without this package."""
    digest = FUNCTIONS[function]()
    buffer = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(memoryview(buffer)[:count])
    return digest.hexdigest()


def _command() -> list[str]:
    """Return the installed command, or the same from the source tree."""
    script = Path(sys.executable).with_name("arrow-digest")
    return [str(script)] if script.exists() else [sys.executable, "-c", "from arrow_digest.cli import main; main()"]


def _process(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _from_file(path: Path, function: str, rounds: int) -> dict[str, Any]:
    best = take_turns(
        {
            "subject": lambda: ad.logical_hash(path, function=function),
            "floor": lambda: _physical(path, function),
            "one_thread": lambda: ad.logical_hash(path, function=function, threads=1),
            "read": lambda: pq.read_table(path),
        },
        rounds,
    )
    more = {
        "one_thread_ratio": ratio(best["one_thread"], best["floor"])["ratio"],
        "read_ratio": ratio(best["subject"], best["read"])["ratio"],
        "read_s": significant(best["read"]),
    }
    return ratio(best["subject"], best["floor"]) | more


def _in_memory(table: Any, serialised: bytes, function: str, rounds: int) -> dict[str, Any]:
    best = take_turns(
        {
            "subject": lambda: ad.logical_hash(table, function=function),
            "floor": lambda: FUNCTIONS[function](serialised).digest(),
            "one_thread": lambda: ad.logical_hash(table, function=function, threads=1),
        },
        rounds,
    )
    more = {"one_thread_ratio": ratio(best["one_thread"], best["floor"])["ratio"]}
    return ratio(best["subject"], best["floor"]) | more


def _cold_process(path: Path, function: str, rounds: int) -> dict[str, Any]:
    runs = {
        "subject": lambda: _process(*_command(), "hash", "--function", function, str(path)),
        "floor": lambda: _process(sys.executable, "-c", HASH_A_FILE, function, str(path)),
    }
    openssl = shutil.which("openssl")
    option = {"sha3-256": "-sha3-256", "sha2-256": "-sha256"}.get(function)
    if openssl and option:
        runs["openssl"] = lambda: _process(openssl, "dgst", option, str(path))
    best = take_turns(runs, rounds)
    more = {"openssl_ratio": ratio(best["subject"], best["openssl"])["ratio"]} if "openssl" in best else {}
    return ratio(best["subject"], best["floor"]) | more


def headline(rows: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Measure one table as pyarrow writes it: in memory, from the file, and as whole processes."""
    table = mixed(rows)
    path = folder / "headline.parquet"
    pq.write_table(table, path)
    found: dict[str, Any] = {"rows": rows, "memory_bytes": table.nbytes, "file_bytes": path.stat().st_size}
    serialised = ipc_bytes(table)
    for function in FUNCTIONS:
        found[function] = {"memory": _in_memory(table, serialised, function, rounds)}
    del table, serialised
    for function in FUNCTIONS:
        found[function]["file"] = _from_file(path, function, rounds)
        found[function]["process"] = _cold_process(path, function, rounds)
    path.unlink()
    # All functions read the same file, which is a floor for each of them.
    read = min(found[function]["file"]["read_s"] for function in FUNCTIONS)
    for function in FUNCTIONS:
        found[function]["file"]["read_ratio"] = ratio(found[function]["file"]["subject_s"], read)["ratio"]
    return found


@contextlib.contextmanager
def _written(table: Any, path: Path, **options: Any) -> Iterator[Path]:
    pq.write_table(table, path, **options)
    yield path
    path.unlink()


def grid(rows: int, rounds: int, folder: Path) -> dict[str, Any]:
    """Measure one table in every combination of codec, dictionaries and row group size, and count the hashes."""
    table = mixed(rows)
    found: dict[str, Any] = {"rows": rows, "memory_bytes": table.nbytes}
    cells: list[dict[str, Any]] = []
    physical: set[str] = set()
    logical: set[str] = {str(ad.logical_hash(table))}
    for codec in ("snappy", "zstd"):
        for dictionary in (True, False):
            for group in (rows // 64, rows // 8, rows):
                options = {"compression": codec, "use_dictionary": dictionary, "row_group_size": group}
                with _written(table, folder / "grid.parquet", **options) as path:
                    physical.add(_physical(path, "sha3-256"))
                    logical.add(str(ad.logical_hash(path)))
                    facts = {"codec": codec, "dictionary": dictionary, "row_group_rows": group}
                    facts["file_bytes"] = path.stat().st_size
                    cells += [facts | {"function": f} | _from_file(path, f, rounds) for f in FUNCTIONS]
    found["files"] = len(cells) // len(FUNCTIONS)
    found["physical_hashes"], found["logical_hashes"] = len(physical), len(logical)
    for function in FUNCTIONS:
        ratios = [cell["ratio"] for cell in cells if cell["function"] == function]
        found[function] = {"least_ratio": min(ratios), "greatest_ratio": max(ratios)}
        read_ratios = [cell["read_ratio"] for cell in cells if cell["function"] == function]
        found[function] |= {"least_read_ratio": min(read_ratios), "greatest_read_ratio": max(read_ratios)}
    return found | {"cells": cells}
