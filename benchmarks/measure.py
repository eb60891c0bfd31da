"""Measure everything, and keep it as one JSON file. `render.py` makes tables and pictures of it.

python benchmarks/measure.py [--scale small|bench|full] [--only SUITE ...] [--peer NAME=PYTHON ...] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from goals import goals
from grid import grid, headline
from growth import growth
from kiln_columns import kiln_columns
from measuring import HERE, machine
from peers import peers

RESULTS = HERE.parent / "docs" / "benchmarks" / "results.json"


class Scale(NamedTuple):
    """How much is measured. What is measured does not depend on it."""

    grid_rows: int
    headline_rows: int
    peer_rows: int
    most_rows: int
    tensor_share: float
    rounds: int
    goals: str = ""


SCALES = {
    "small": Scale(64_000, 64_000, 20_000, 10**5, 0.02, 2, goals="many_files or decode_and_validate"),
    # About 100 MB a table, and one of 1 GB.
    "bench": Scale(800_000, 8_000_000, 800_000, 10**7, 1, 3),
    "full": Scale(2_000_000, 16_000_000, 4_000_000, 10**8, 1, 7),
}


def suites(scale: Scale, pythons: dict[str, str], folder: Path) -> dict[str, Callable[[], Any]]:
    """Return what there is to measure, by its key in the results."""
    return {
        "headline": lambda: headline(scale.headline_rows, scale.rounds, folder),
        "grid": lambda: grid(scale.grid_rows, scale.rounds, folder),
        "peers": lambda: peers(scale.peer_rows, scale.rounds, pythons),
        "growth": lambda: growth(scale.rounds, scale.most_rows),
        "kiln": lambda: kiln_columns(scale.tensor_share, scale.rounds, folder),
        "goals": lambda: goals(scale.goals),
    }


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Measure everything, and keep it as one JSON file.")
    parser.add_argument("--scale", choices=SCALES, default="bench")
    parser.add_argument("--only", action="append", help="a suite; the others stay as the file has them")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    results = json.loads(options.output.read_text()) if options.only and options.output.exists() else {}
    results["machine"] = machine() | {"scale": options.scale}
    results.setdefault("seconds", {})
    with tempfile.TemporaryDirectory() as folder:
        pythons = dict(peer.split("=", 1) for peer in options.peer)
        for name, measure in suites(SCALES[options.scale], pythons, Path(folder)).items():
            if options.only and name not in options.only:
                continue
            start = time.perf_counter()
            results[name] = measure()
            results["seconds"][name] = round(time.perf_counter() - start, 1)
            print(f"{name}: {results['seconds'][name]} s", file=sys.stderr, flush=True)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    options.output.write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
