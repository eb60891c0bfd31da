"""How many of 200 processes that read Parquet with Kiln's types registered end with status 0.

python benchmarks/clean_exits.py [COUNT]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

import kiln_arrow

# Most of the dataset is still being read when the process ends.
READER = "import sys, kiln_arrow, pyarrow.dataset as ds; ds.dataset(sys.argv[1]).head(3)"


def ends_well(path: Path) -> bool:
    try:
        return subprocess.run([sys.executable, "-c", READER, path], check=False, timeout=60).returncode == 0
    except subprocess.TimeoutExpired:  # it waits for a thread that has ended
        return False


def main(count: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        column = kiln_arrow.from_numpy({"x": np.zeros((20_000, 100))})
        kiln_arrow.write_table(pa.table({"n": range(20_000), "c": column}), path, row_group_size=500)
        clean = sum(ends_well(path) for _ in range(count))
    print(f"{clean} of {count} processes ended with status 0")
    return 0 if clean == count else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
