"""Hash one table in memory, from Parquet and on the command line, and compare with the known answer."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import arrow_digest

EXPECTED = "f9680c001205684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a"

table = pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["a", "b", "c"]})
pq.write_table(table, "t.parquet")
found = [
    str(arrow_digest.logical_hash(table)),
    str(arrow_digest.logical_hash("t.parquet")),
    subprocess.run(
        [Path(sys.argv[1]) / "arrow-digest", "hash", "t.parquet"], capture_output=True, text=True, check=True
    ).stdout.split()[0],
]
subprocess.run([Path(sys.argv[1]) / "kiln-arrow", "--version"], capture_output=True, check=True)
if found != [EXPECTED] * 3:
    sys.exit(f"smoke: expected {EXPECTED}, found {found}")
if os.environ.get("ARROW_DIGEST_REQUIRE_NATIVE") and arrow_digest.kernels().name != "native":
    sys.exit(f"smoke: {arrow_digest.kernels()}")
print(f"smoke: Python {sys.version.split()[0]}, pyarrow {pa.__version__}, {arrow_digest.kernels().name} kernels: ok")
