"""One table written in many ways: the bytes of the files differ, the hash of the records does not.

Run by `make demo`. Everything is made here, in a temporary folder.
"""

from __future__ import annotations

import datetime
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import arrow_digest


def orders(rows: int) -> pa.Table:
    """Return made-up orders: numbers, text, a date, lists and nulls."""
    rng = np.random.default_rng(7)
    names = np.array(["Ada", "Grace", "Edsger", "Barbara", "Alan"])
    start = datetime.date(2024, 1, 1)
    return pa.table(
        {
            "order": pa.array(range(rows), pa.int64()),
            "customer": pa.array(rng.choice(names, rows)),
            "price": pa.array(rng.integers(100, 100_000, rows) / 100, mask=rng.random(rows) < 0.1),
            "shipped": pa.array([start + datetime.timedelta(days=int(d)) for d in rng.integers(0, 365, rows)]),
            "items": pa.array([list(range(int(n))) for n in rng.integers(0, 5, rows)], pa.list_(pa.int32())),
        }
    )


def write_in_many_ways(table: pa.Table, folder: Path) -> list[tuple[str, Path]]:
    """Write the table again and again; return what was done, and where it is."""
    encoded = table.set_column(1, "customer", table["customer"].dictionary_encode())
    ways = {
        "Parquet, snappy": lambda p: pq.write_table(table, p),
        "Parquet, zstd, rows in groups of 999": lambda p: pq.write_table(
            table, p, compression="zstd", row_group_size=999
        ),
        "Parquet, gzip, no dictionaries": lambda p: pq.write_table(table, p, compression="gzip", use_dictionary=False),
        "Parquet, delta and split encodings": lambda p: pq.write_table(
            table,
            p,
            use_dictionary=False,
            column_encoding={"order": "DELTA_BINARY_PACKED", "price": "BYTE_STREAM_SPLIT"},
        ),
        "Parquet, small v2 pages, not compressed": lambda p: pq.write_table(
            table, p, compression="none", data_page_version="2.0", data_page_size=4096
        ),
        "Arrow IPC file, dictionary column": lambda p: pyarrow.feather.write_feather(encoded, p, compression="lz4"),
    }
    written = []
    for number, (what, write) in enumerate(ways.items()):
        path = folder / f"orders-{number}"
        write(str(path))
        written.append((what, path))
    return written


def main() -> int:
    """Print both hashes of every file; return 0 if the physical ones all differ and the logical ones agree."""
    with tempfile.TemporaryDirectory() as folder:
        written = write_in_many_ways(orders(20_000), Path(folder))
        hashes = [(what, arrow_digest.hash_file(path)) for what, path in written]

    print("One table of 20,000 orders, written in six ways\n")
    print(f"{'how it was written':42}{'bytes':>9}  {'physical hash (bytes)':24}logical hash (records)")
    for what, file in hashes:
        print(f"{what:42}{file.byte_length:>9,}  {str(file.physical)[:20] + '…':24}{str(file.logical)[:28]}…")

    physical = {file.physical for _, file in hashes}
    logical = {file.logical for _, file in hashes}
    print(f"\n{len(physical)} physical hashes, {len(logical)} logical hash:\n{logical.pop()}")
    return 0 if len(physical) == len(hashes) and not logical else 1


if __name__ == "__main__":
    sys.exit(main())
