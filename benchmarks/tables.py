"""The results as Markdown tables. Whatever a table says comes from the results; only words are written here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

FUNCTIONS = ("sha3-256", "sha2-256", "blake3")
PEER_LABELS = {
    "arrow_digest": "arrow_digest, sha3-256",
    "arrow_digest_sha2": "arrow_digest, sha2-256",
    "arrow_digest_blake3": "arrow_digest, blake3",
    "starfix_compiled": "starfix, compiled",
    "starfix_current": "starfix, current",
    "pandas": "pandas",
    "polars": "polars",
    "duckdb": "DuckDB",
    "ipc_bytes": "IPC bytes",
}
WAY_LABELS = {
    "kiln": "kiln.tensors",
    "fixed_shape_tensor": "fixed_shape_tensor",
    "list": "list<float>",
    "safetensors": "safetensors a row",
    "npy": ".npy a row",
    "pickle": "pickle a row",
}
TABLE_LABELS = {"numbers": "numbers", "texts": "texts", "flat": "flat", "mixed": "mixed"}


def shown(value: Any, key: str = "") -> str:
    """Return a value as a reader wants it: three digits, thousands apart, bytes in their unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "shape":
        return " × ".join(map(str, value))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if key.endswith("_bytes") or key == "bytes":
        for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
            if value >= size:
                return f"{value / size:.3g} {unit}"
        return f"{value} bytes"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _foot(results: dict[str, Any]) -> str:
    facts = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return (
        f"*{facts['date']}; {facts['cpu']} ({', '.join(facts['cpu_features'])}), {facts['cores']} cores, "
        f"{facts['system']}; {facts['kernels']}; Python {facts['python']}, {versions}; scale {facts['scale']}.*"
    )


def _headline(results: dict[str, Any]) -> list[str]:
    found = results["headline"]
    rows = []
    for function in FUNCTIONS:
        memory, file, process = (found[function][where] for where in ("memory", "file", "process"))
        rows.append(
            [
                function,
                f"{shown(memory['ratio'])} ({shown(memory['one_thread_ratio'])})",
                f"{shown(file['ratio'])} ({shown(file['one_thread_ratio'])})",
                shown(file["read_ratio"]),
                shown(process["ratio"]),
                shown(process["openssl_ratio"]) if "openssl_ratio" in process else "–",
            ]
        )
    head = ["function", "in memory", "from the file", "against reading it", "whole process", "against `openssl dgst`"]
    return _table(head, rows)


def _grid(results: dict[str, Any]) -> list[str]:
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in results["grid"]["cells"]:
        key = (cell["codec"], cell["dictionary"], cell["row_group_rows"], cell["file_bytes"])
        rows.setdefault(key, {})[cell["function"]] = cell
    lines = []
    for (codec, dictionary, group, size), cells in rows.items():
        name = f"{codec}, {'dictionaries' if dictionary else 'no dictionaries'}, {shown(group)} rows a group"
        ratios = [f"{shown(cells[f]['ratio'])} ({shown(cells[f]['one_thread_ratio'])})" for f in FUNCTIONS]
        lines.append([name, shown(size, "bytes"), *ratios, shown(cells["sha3-256"]["read_ratio"])])
    return _table(["file", "size", *FUNCTIONS, "sha3-256 against reading it"], lines)


def _speeds(results: dict[str, Any]) -> list[str]:
    rows = []
    for peer, label in PEER_LABELS.items():
        if peer not in results["peers"]:
            continue
        cells = []
        for table in TABLE_LABELS:
            speed = results["peers"][peer]["speed"][table]
            refused = "refused" in speed
            cells.append("refused" if refused else f"{shown(speed['ratio'])} ({shown(speed['ready_ratio'])})")
        versions = results["peers"][peer]["versions"]
        own = next((version for name, version in versions.items() if label.lower().startswith(name)), "")
        rows.append([f"{label} {own}".rstrip(), *cells])
    return _table(["", *TABLE_LABELS.values()], rows)


def _judged(results: dict[str, Any]) -> dict[str, Any]:
    return {peer: results["peers"][peer] for peer in PEER_LABELS if "pairs" in results["peers"].get(peer, {})}


def _verdicts(results: dict[str, Any], same: bool) -> list[str]:
    judged = _judged(results)
    rows = []
    for pair, question in results["peers"]["questions"]["pairs"].items():
        if question["same"] == same:
            outcomes = [entry["pairs"][pair] for entry in judged.values()]
            rows.append([question["label"], *(_mark(outcome, same) for outcome in outcomes)])
    return _table(["", *(PEER_LABELS[peer].split(", sha3")[0] for peer in judged)], rows)


def _mark(outcome: dict[str, Any], expected: bool) -> str:
    return "refused" if "refused" in outcome else "✓" if outcome["value"] == expected else "**✗**"


def _kinds(results: dict[str, Any]) -> list[str]:
    judged = _judged(results)
    questions = results["peers"]["questions"]["kinds"].items()
    rows = [[label, *(_mark(e["kinds"][kind], True) for e in judged.values())] for kind, label in questions]
    return _table(["", *(PEER_LABELS[peer].split(", sha3")[0] for peer in judged)], rows)


def _stability(results: dict[str, Any]) -> list[str]:
    rows = []
    for peer, entry in _judged(results).items():
        stable = entry["stable"]
        if "versions" in stable:
            changed = [
                f"{name} {old} and {entry['versions'][name]}"
                for name, old in stable["other_versions"].items()
                if entry["versions"].get(name) not in (None, old)
            ]
            versions = f"{shown(stable['versions'])} ({', '.join(changed) or 'the same versions'})"
        elif peer.startswith("starfix") and "reference" in results["peers"]:
            versions = f"{shown(results['peers']['reference']['versions_agree'])} (compiled and current)"
        else:
            versions = "not measured"
        rows.append([PEER_LABELS[peer].split(", sha3")[0], shown(stable["processes"]), versions])
    return _table(["", "in another process", "with other versions"], rows)


def _growth(results: dict[str, Any]) -> list[str]:
    rows = [
        [f"{what} {shown(p['size'])}", shown(p["bytes"], "bytes"), shown(p["ratio"]), shown(p["peak_bytes"], "bytes")]
        for what, points in results["growth"].items()
        for p in points
    ]
    return _table(["", "data", "times sha3-256 of as many bytes", "memory on top"], rows)


def _kiln(results: dict[str, Any]) -> list[str]:
    rows = []
    for form in results["kiln"].values():
        shape = shown(form["shape"], "shape")
        for way, label in WAY_LABELS.items():
            facts = form["ways"][way]
            steps = [shown(facts[step]["ratio"]) for step in ("build", "write", "read", "out")]
            size = shown(facts["file_bytes"] / form["tensor_bytes"])
            rows.append([f"{shown(form['cells'])} of {shape}: {label}", *steps, size, shown(facts["same_tensors"])])
    return _table(["float32", "build", "write", "read", "NumPy out", "file against tensors", "same tensors back"], rows)


def _goals(results: dict[str, Any]) -> list[str]:
    rows = []
    for goal in results["goals"]["goals"]:
        name = goal["name"].replace("|", "\\|").replace("<", "&lt;")
        met = "met" if goal["met"] else "**missed**"
        rows.append([name, goal["fact"], f"{goal['bound']} {goal['goal']:g}", f"{goal['measured']:g}", met])
    return _table(["benchmark", "what", "goal", "measured", ""], rows)


TABLES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "headline": _headline,
    "grid": _grid,
    "speeds": _speeds,
    "same": lambda results: _verdicts(results, True),
    "different": lambda results: _verdicts(results, False),
    "kinds": _kinds,
    "stability": _stability,
    "growth": _growth,
    "kiln": _kiln,
    "goals": _goals,
}


def table(name: str, results: dict[str, Any]) -> str:
    """Return a table with the machine at its foot.

    Raises:
        KeyError: No such table, or the results lack what it shows.
    """
    return "\n".join([*TABLES[name](results), "", _foot(results)])
