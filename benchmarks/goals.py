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
_NAMED = [("ratio", "floor"), ("decode_ratio", "ceiling"), ("validate_ratio", "ceiling")]


def _entries(benchmark: dict[str, Any]) -> list[dict[str, Any]]:
    facts = benchmark["extra_info"]
    name = f"{Path(benchmark['fullname'].split('::')[0]).stem}::{benchmark['name']}"
    if "goal" in facts:
        measured = facts.get("ratio", facts.get("microseconds"))
        at_least = (measured >= facts["goal"]) == facts["met"] and measured != facts["goal"]
        unit = "µs" if "microseconds" in facts else "ratio"
        return [_entry(name, measured, facts["goal"], unit, at_least, facts["met"])]
    found = []
    for fact, bound in _NAMED:
        if fact in facts and bound in facts:
            met = facts[fact] >= facts[bound] if bound == "floor" else facts[fact] <= facts[bound]
            label = name if fact == "ratio" else f"{name} {fact.removesuffix('_ratio')}"
            found.append(_entry(label, facts[fact], facts[bound], "ratio", bound == "floor", met))
    return found


def _entry(name: str, measured: float, goal: float, unit: str, at_least: bool, met: bool) -> dict[str, Any]:
    bound = "at least" if at_least else "at most"
    return {"name": name, "measured": significant(measured, 3), "bound": bound, "goal": goal, "unit": unit, "met": met}


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
