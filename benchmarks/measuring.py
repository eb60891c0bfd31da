"""Measure in turns, in this process or a new one, and say on what machine."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import io
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

ENOUGH_SECONDS = 0.5
HERE = Path(__file__).parent
# The libraries on which the figures depend. Those that are not installed are left out.
LIBRARIES = ["kiln-arrow", "pyarrow", "numpy", "blake3", "starfix", "pandas", "polars", "duckdb", "safetensors"]
FEATURES = ["sha_ni", "avx2", "avx512f", "avx512vl", "avx512bw", "sse4_1", "sha3", "sha2", "sha512", "asimd"]


def take_turns(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the shortest time of each, in seconds. They take turns, so that what slows the machine slows them all.

    Short ones have more rounds than are asked for, as many as half a second holds: what disturbs them weighs more.
    """
    best = dict.fromkeys(runs, float("inf"))
    end = time.perf_counter() + ENOUGH_SECONDS
    while rounds > 0 or time.perf_counter() < end:
        rounds -= 1
        for name, run in runs.items():
            start = time.perf_counter()
            result = run()
            best[name] = min(best[name], time.perf_counter() - start)
            del result  # before the next one's clock starts
    return best


def significant(value: float, digits: int = 4) -> float:
    """Return a number as it is kept: with four digits that mean something."""
    return float(f"{value:.{digits}g}")


def ratio(subject: float, floor: float) -> dict[str, float]:
    """Return how many times the floor's time the subject takes, with both times."""
    kept = {"ratio": subject / floor, "subject_s": subject, "floor_s": floor}
    return {name: significant(value) for name, value in kept.items()}


def ipc_bytes(table: Any) -> bytes:
    """Return a table as an Arrow IPC stream."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def run_child(python: str, script: str, *arguments: str, env: dict[str, str] | None = None) -> tuple[list[Any], int]:
    """Run a script of this folder in a new process; return the JSON lines it printed, and its exit status."""
    command = [python, str(HERE / script), *arguments]
    environment = {**os.environ, "RUST_BACKTRACE": "0", **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if (
        done.returncode == 1
    ):  # a fault of this script: an error that a peer raises is printed as a line, and a crash gives another status
        raise RuntimeError(f"{command}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def peak_bytes() -> int:
    """Return the most memory that this process ever had resident."""
    status = Path("/proc/self/status")
    if status.exists():  # because getrusage counts the memory of the parent process too
        (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def forget_peak() -> None:
    """Let `peak_bytes` begin anew, where the system can: making the data is not part of what is measured."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")


def versions(names: list[str]) -> dict[str, str]:
    """Return the versions of those that are installed."""
    found = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def machine() -> dict[str, Any]:
    """Return what has to be known of a machine to read figures measured on it."""
    import arrow_digest

    described = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    facts = dict(line.split(":", 1) for line in described.splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    flags = set(facts.get("flags", facts.get("Features", "")).split())
    kernels = arrow_digest.kernels()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "cpu": facts.get("model name", platform.processor() or platform.machine()),
        "cpu_features": [feature for feature in FEATURES if feature in flags],
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "kernels": f"{kernels.name}, {kernels.lanes} lanes",
        "versions": {"kiln-arrow": "source tree"} | versions(LIBRARIES),
    }
