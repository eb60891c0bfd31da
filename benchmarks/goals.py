"""The goals: what pytest-benchmark measured of the test_*.py beside this file, as a short list."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measuring import HERE, significant

# What test_kiln_directory.py calls what it measures, and the name of its bound among the facts.
_NAMED = [
    ("ratio", "floor"),
    ("decode_ratio", "ceiling"),
    ("validate_ratio", "ceiling"),
    ("decode_microseconds", "microseconds_ceiling"),
    ("validate_microseconds", "microseconds_ceiling"),
    ("unseen_decode_microseconds", "microseconds_ceiling"),
    ("unseen_validate_microseconds", "microseconds_ceiling"),
]


def _entries(benchmark: dict[str, Any]) -> list[dict[str, Any]]:
    facts = benchmark["extra_info"]
    name = f"{Path(benchmark['fullname'].split('::')[0]).stem}::{benchmark['name']}"
    if "goal" in facts:
        fact = "microseconds" if "microseconds" in facts else "ratio"
        return [_entry(name, fact, facts[fact], facts["goal"], facts["bound"])]
    return [
        _entry(name, fact, facts[fact], facts[limit], "at least" if limit == "floor" else "at most")
        for fact, limit in _NAMED
        if fact in facts and limit in facts
    ]


def _entry(name: str, fact: str, measured: float, goal: float, bound: str) -> dict[str, Any]:
    met = measured >= goal if bound == "at least" else measured <= goal
    kept = {"name": name, "fact": fact.replace("_", " "), "measured": significant(measured, 3)}
    return kept | {"bound": bound, "goal": goal, "met": met}


def goals(only: str) -> dict[str, Any]:
    """Run the goal benchmarks whose names match, and return what each measured, missed ones included."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        pytest = Path(sys.executable).with_name("pytest")
        command = [str(pytest), str(HERE), "--benchmark-only", "-q", f"--benchmark-json={report}"]
        subprocess.run(command + (["-k", only] if only else []), check=False, cwd=HERE.parent)
        benchmarks = json.loads(report.read_text())["benchmarks"]
    entries = [entry for benchmark in benchmarks for entry in _entries(benchmark)]
    return {"count": len(entries), "met": sum(entry["met"] for entry in entries), "goals": entries}
