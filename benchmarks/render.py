"""Draw the pictures of `docs/benchmarks/results.json`, as SVG and PNG beside it. Measures nothing.

python benchmarks/render.py [RESULTS [FOLDER]]
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt

from figures import RESULTS
from tables import FUNCTIONS, PEER_LABELS, WAY_LABELS, shown

# The colours of Okabe and Ito, which colour-blind readers can tell apart too.
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#767676"
STYLE = {
    "svg.hashsalt": "kiln-arrow",  # the same results make the same file
    "svg.fonttype": "path",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": "#333333",
    "figure.dpi": 100,
    "figure.constrained_layout.use": True,
}
WIDTH = 8.0  # inches, 800 pixels: as wide as GitHub shows a README


def _bars(
    axes: Any,
    labels: Sequence[str],
    values: Sequence[float | None],
    colours: Sequence[str],
    limit: float,
    marks: Sequence[float] = (),
) -> None:
    """Draw ratios from zero, each with its number. What reaches past the limit ends there, and its number says so.

    Marks, one a bar, are drawn across them.
    """
    for place, (value, colour) in enumerate(zip(values, colours, strict=True)):
        if value is None:
            axes.text(limit * 0.01, place, "refused", va="center", color=GREY, style="italic")
            continue
        axes.barh(place, min(value, limit), color=colour, height=0.68)
        end = max([value, *marks[place : place + 1]])
        text, inside = shown(float(value)), end > limit * 0.8
        axes.text(
            min(end, limit) + limit * (-0.015 if inside else 0.015),
            place,
            f"{text} ▸" if value > limit else text,
            va="center",
            ha="right" if inside else "left",
            color="white" if inside else "black",
            bbox=None if inside else {"facecolor": "white", "edgecolor": "none", "pad": 1},
            zorder=3,
        )
    for place, mark in enumerate(marks):
        axes.plot([mark] * 2, [place - 0.34, place + 0.34], color=ORANGE, linewidth=3, zorder=4)
    axes.axvline(1, color="black", linewidth=1, linestyle=(0, (4, 2)))
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(0, limit)
    axes.tick_params(axis="y", length=0)


def _headline(results: dict[str, Any]) -> Any:
    found = results["headline"]
    figure, both = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    panels = (
        ("memory", "In memory", "the same table's IPC bytes"),
        ("file", "From a Parquet file", "the file's bytes"),
    )
    for axes, (where, title, floor) in zip(both, panels, strict=True):
        ratios = [found[function][where]["ratio"] for function in FUNCTIONS]
        reading = [found[f]["file"]["ratio"] / found[f]["file"]["read_ratio"] for f in FUNCTIONS]
        marks = reading if where == "file" else []
        _bars(axes, FUNCTIONS, ratios, [BLUE] * 3, max([*ratios, *marks, 1.2]) * 1.3, marks)
        if where == "file":
            axes.set_xlabel(f"time, as a multiple of hashing {floor}\n(orange: reading the file, without hashing)")
        else:
            axes.set_xlabel(f"time, as a multiple of hashing\n{floor}")
        axes.set_title(title)
    size = f"{shown(found['memory_bytes'], 'bytes')} in memory, {shown(found['file_bytes'], 'bytes')} as a file"
    figure.suptitle(f"The logical hash of {shown(found['rows'])} records ({size})", x=0.01, ha="left", fontsize=11)
    return figure


def _grid(results: dict[str, Any]) -> Any:
    cells = results["grid"]["cells"]
    names = list(dict.fromkeys((c["codec"], c["dictionary"], c["row_group_rows"]) for c in cells))
    labels = [f"{codec}, {'dictionaries' if d else 'plain'}, {shown(group)} rows" for codec, d, group in names]
    figure, panels = plt.subplots(1, 3, figsize=(WIDTH, 3.9), sharey=True)
    for axes, function in zip(panels, FUNCTIONS, strict=True):
        ratios = [c["ratio"] for c in cells if c["function"] == function]
        _bars(axes, labels, ratios, [BLUE] * len(ratios), max([*ratios, 1.2]) * 1.05)
        axes.set_title(function)
    figure.supxlabel("time, as a multiple of hashing the file's bytes with the same function", fontsize=10)
    return figure


def _peers(results: dict[str, Any]) -> Any:
    found = results["peers"]
    names = [peer for peer in PEER_LABELS if peer in found]
    colours = [BLUE if peer.startswith("arrow_digest") else GREY for peer in names]
    figure, all_axes = plt.subplots(2, 2, figsize=(WIDTH, 5.6), sharey=True)
    titles = {
        "numbers": "Numbers, no nulls",
        "texts": "Short texts",
        "flat": "Mixed, flat",
        "mixed": "Mixed, with lists, a struct, decimals",
    }
    for axes, (table, title) in zip(all_axes.flat, titles.items(), strict=True):
        ratios = [found[peer]["speed"][table].get("ratio") for peer in names]
        # The peer that hashes value by value in Python is left out: beside it the other bars would be too short to see.
        within = sorted(ratio for ratio in ratios if ratio is not None)[:-2]
        _bars(axes, [PEER_LABELS[peer] for peer in names], ratios, colours, max([*within, 1.2]) * 1.25)
        axes.set_title(title)
    for axes in all_axes[1]:
        axes.set_xlabel("time, as a multiple of sha2-256\nof the table's IPC bytes")
    return figure


_CURVES = {
    "rows": ("Rows, streamed", "rows", 1.0),
    "columns": ("Columns of 10,000 rows", "columns", 1.0),
    "chunks": ("100,000 rows in chunks", "chunks", None),
    "lists": ("Nested lists", "depth", 0.0),
    "structs": ("Nested structs", "depth", 0.0),
}


def _slope(axes: Any, sizes: Sequence[float], start: float, slope: float, label: str) -> None:
    line = [start * (size / sizes[0]) ** slope for size in sizes]
    axes.plot(sizes, line, color="black", linewidth=1, linestyle=(0, (4, 2)), label=label)


def _curves(results: dict[str, Any], draw: Callable[[Any, str, list[dict[str, Any]], float | None], None]) -> Any:
    figure, all_axes = plt.subplots(2, 3, figsize=(WIDTH, 5.2))
    for axes, (what, (title, label, slope)) in zip(all_axes.flat, _CURVES.items(), strict=False):
        points = results["growth"][what]
        axes.set_xscale("log", base=2 if label == "depth" else 10)
        axes.set_yscale("log")
        draw(axes, what, points, slope)
        axes.set_title(title)
        axes.set_xlabel(label)
        axes.grid(color="#e6e6e6", linewidth=0.6)
        axes.minorticks_off()
        if label == "depth":
            axes.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
        low, high = axes.get_ylim()
        if high / low < 100:  # a flat curve is not to look like a steep one
            middle = (low * high) ** 0.5
            axes.set_ylim(middle / 10, middle * 10)
    handles, labels = all_axes.flat[0].get_legend_handles_labels()
    all_axes.flat[5].axis("off")
    all_axes.flat[5].legend(handles, labels, loc="center left", frameon=False)
    return figure


def _growth_time(results: dict[str, Any]) -> Any:
    def draw(axes: Any, what: str, points: list[dict[str, Any]], slope: float | None) -> None:
        sizes = [p["size"] for p in points]
        axes.plot(sizes, [p["subject_s"] for p in points], "o-", color=BLUE, markersize=4, label="logical hash")
        floor = [p["floor_s"] for p in points]
        axes.plot(sizes, floor, "s-", color=ORANGE, markersize=4, label="sha3-256 of as many bytes")
        if slope is None:  # few chunks cost less than the rows, so the curve is flat; many chunks cost in proportion
            _slope(axes, sizes[:4], points[0]["subject_s"], 0.0, "expected slope")
            _slope(axes, sizes[-2:], points[-1]["subject_s"] * sizes[-2] / sizes[-1], 1.0, "expected slope")
        else:
            anchor = -1 if slope else 0  # the point at which fixed costs matter least
            start = points[anchor]["subject_s"] * (sizes[0] / sizes[anchor]) ** slope
            _slope(axes, sizes, start, slope, "expected slope")

    figure = _curves(results, draw)
    for axes in figure.axes[0::3]:
        axes.set_ylabel("seconds")
    return figure


def _growth_memory(results: dict[str, Any]) -> Any:
    def draw(axes: Any, what: str, points: list[dict[str, Any]], slope: float | None) -> None:
        sizes = [p["size"] for p in points]
        data = [p["bytes"] / 1e6 for p in points]
        # The system measures memory in pages. Less than a page is drawn as one page.
        peak = [max(p["peak_bytes"] / 1e6, 0.1) for p in points]
        axes.plot(sizes, peak, "o-", color=BLUE, markersize=4, label="peak memory of the hash,\non top of the data")
        axes.plot(sizes, data, "s-", color=ORANGE, markersize=4, label="the data")
        if what in (
            "columns",
            "chunks",
        ):  # each column or chunk has a description; few of them take no memory that could be measured
            _slope(axes, sizes[-3:], peak[-1] * sizes[-3] / sizes[-1], 1.0, "expected slope")
        else:
            _slope(axes, sizes, statistics.median(peak), 0.0, "expected slope")

    figure = _curves(results, draw)
    for axes in figure.axes[0::3]:
        axes.set_ylabel("MB")
    return figure


def _kiln(results: dict[str, Any]) -> Any:
    forms, steps = results["kiln"], ("build", "write", "read", "out")
    titles = {"build": "Build", "write": "Write Parquet", "read": "Read Parquet", "out": "NumPy out"}
    figure, all_axes = plt.subplots(len(forms), 4, figsize=(WIDTH, 6.4), sharey=True)
    colours = [BLUE] + [GREY] * (len(WAY_LABELS) - 1)
    for row, form in zip(all_axes, forms.values(), strict=True):
        for axes, step in zip(row, steps, strict=True):
            ratios = [form["ways"][way][step]["ratio"] for way in WAY_LABELS]
            limit = min(max([*ratios, 1.2]) * 1.35, 12.0)
            _bars(axes, list(WAY_LABELS.values()), ratios, colours, limit)
            axes.set_title(titles[step] if form is next(iter(forms.values())) else "")
        row[0].set_ylabel(f"{shown(form['cells'])} of\n{shown(form['shape'], 'shape')}")
    figure.supxlabel("time, as a multiple of copying, writing or reading the tensors' bytes", fontsize=10)
    return figure


PICTURES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "headline": _headline,
    "grid": _grid,
    "peers": _peers,
    "growth-time": _growth_time,
    "growth-memory": _growth_memory,
    "kiln": _kiln,
}


def main(results: str = str(RESULTS), folder: str = str(RESULTS.parent)) -> None:
    found = json.loads(Path(results).read_text(encoding="utf-8"))
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            figure = draw(found)
            figure.savefig(Path(folder) / f"{name}.svg", metadata={"Date": None, "Creator": None})
            figure.savefig(Path(folder) / f"{name}.png", metadata={"Software": None})
            plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:])
