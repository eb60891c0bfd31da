"""Other ways to hash a table: how fast, and what they tell apart. Each runs in a process and environment of its own."""

from __future__ import annotations

import sys
from typing import Any

from cases import KINDS, PAIRS
from measuring import run_child

# Name, and the environment of each; `here` is the one that measures.
PEERS = {
    "arrow_digest": "here",
    "arrow_digest_sha2": "here",
    "arrow_digest_blake3": "here",
    "starfix_compiled": "starfix_compiled",
    "starfix_current": "starfix_current",
    "pandas": "here",
    "polars": "here",
    "duckdb": "here",
    "ipc_bytes": "here",
}
# Peers for which one digest function is enough, because the others would give the same answers.
JUDGED = [name for name in PEERS if name not in ("arrow_digest_sha2", "arrow_digest_blake3")]
TABLES = ("numbers", "texts", "flat", "mixed")
# A peer that hashes value by value in Python is measured on fewer rows, and so is its floor.
FEWER_ROWS = {"starfix_current": 50}


def _every_case(python: str, what: str, peer: str) -> dict[str, Any]:
    """Return what became of each case, in a new process after every one that ended it."""
    found: dict[str, Any] = {}
    while True:
        lines, status = run_child(python, "peer.py", what, peer, str(len(found)))
        found |= {line.pop("case"): line for line in lines}
        if status == 0:
            return found
        found[f"#{len(found)}"] = {"refused": f"the process ended with status {status}"}


def _stable(python: str, other: str | None, peer: str) -> dict[str, Any]:
    """Return whether another process, and another version, came to the same hashes."""
    first, second = (_every_case(python, "stable", peer) for _ in range(2))
    found: dict[str, Any] = {"processes": first == second}
    if other:
        (versions,), _ = run_child(other, "peer.py", "about", peer)
        found["versions"] = first == _every_case(other, "stable", peer)
        found["other_versions"] = versions
    return found


def _named(found: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the outcomes by case, those that ended their process included."""
    return dict(zip(names, found.values(), strict=True))


def peers(rows: int, rounds: int, pythons: dict[str, str]) -> dict[str, Any]:
    """Return speed and correctness of every peer whose environment is there.

    Args:
        rows: How many rows the tables have.
        rounds: How often each is measured.
        pythons: The interpreter of each environment: `starfix_compiled`, `starfix_current`, and `older`, which has
            older versions of all the others.
    """
    pythons = {"here": sys.executable} | pythons
    found: dict[str, Any] = {
        "questions": {
            "pairs": {name: {"label": pair.label, "same": pair.same} for name, pair in PAIRS.items()},
            "kinds": {name: label for name, (label, _) in KINDS.items()},
        }
    }
    for peer, environment in PEERS.items():
        if environment not in pythons:
            continue
        python = pythons[environment]
        (about,), _ = run_child(python, "peer.py", "about", peer)
        entry: dict[str, Any] = {"versions": about, "speed": {}}
        for table in TABLES:
            few = str(max(rows // FEWER_ROWS.get(peer, 1), 1000))
            lines, status = run_child(python, "peer.py", "speed", peer, table, few, str(rounds))
            outcome = lines[0] if lines else {"refused": f"the process ended with status {status}"}
            entry["speed"][table] = outcome.get("value", {"refused": outcome.get("refused")})
        if peer in JUDGED:
            entry["pairs"] = _named(_every_case(python, "pairs", peer), list(PAIRS))
            entry["kinds"] = _named(_every_case(python, "kinds", peer), list(KINDS))
            other = {"starfix_compiled": "starfix_current", "starfix_current": "starfix_compiled"}.get(peer, "older")
            # Another name of the same distribution has another interface: its other version is the other peer.
            entry["stable"] = _stable(python, pythons.get(other) if other == "older" else None, peer)
        found[peer] = entry
    return found | _reference(pythons)


def _reference(pythons: dict[str, str]) -> dict[str, Any]:
    """Return how the two versions of the reference compare: with each other, and with the specification."""
    if not {"starfix_compiled", "starfix_current"} <= set(pythons):
        return {}
    names = ("starfix_compiled", "starfix_current")
    old, new = (_every_case(pythons[name], "stable", name) for name in names)
    ours = _every_case(sys.executable, "golden", "arrow_digest_sha2")
    theirs = dict(
        zip(ours, _every_case(pythons["starfix_compiled"], "golden", "starfix_compiled").values(), strict=True)
    )
    hashed = [case for case in ours if "value" in theirs[case]]
    departs = [case for case in hashed if theirs[case] != ours[case]]
    facts = {
        "versions_agree": old == new,
        "cases": len(ours),
        "refused": len(ours) - len(hashed),
        "agrees": len(hashed) - len(departs),
        "departs": departs,
    }
    return {"reference": facts}
