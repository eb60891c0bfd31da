"""Benchmarks are ratios: each measures its subject and its floor in turn, in one run, and prints both and the ratio."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest


def best_of_each(
    subject: Callable[[], Any], floor: Callable[[], Any], rounds: int, clock: Callable[[], float]
) -> tuple[float, float]:
    """Return the shortest time of each, in seconds, measured in turn so that noise meets both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for measured, run in zip(times, (subject, floor), strict=True):
            start = clock()
            run()
            measured.append(clock() - start)
    return min(times[0]), min(times[1])


@pytest.fixture
def against_floor(benchmark: Any, request: pytest.FixtureRequest) -> Callable[..., float]:
    """Measure a subject against a floor; the ratio goes into the benchmark's record and to the terminal."""

    def measure(
        subject: Callable[[], Any],
        floor: Callable[[], Any],
        *,
        goal: float,
        speed: bool = True,
        rounds: int = 5,
        unit_bytes: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> float:
        """Return floor time over subject time where speed counts, else subject time over floor time.

        `goal` is the least ratio of speeds, or the greatest ratio of times. What runs on one thread is best measured
        with `time.process_time`, which other programs on the machine do not change.
        """
        subject()
        floor()
        subject_time, floor_time = best_of_each(subject, floor, rounds, clock)
        ratio = floor_time / subject_time if speed else subject_time / floor_time
        met = ratio >= goal if speed else ratio <= goal
        bound = "at least" if speed else "at most"
        benchmark.extra_info.update(ratio=round(ratio, 3), goal=goal, bound=bound, met=met)
        benchmark.extra_info.update(subject_s=subject_time, floor_s=floor_time, bytes=unit_bytes)
        rate = f", {unit_bytes / subject_time / 1e9:.2f} GB/s" if unit_bytes else ""
        terminal = request.config.get_terminal_writer()
        terminal.line(
            f"\n{request.node.name}: {ratio:.2f} ({bound} {goal:g}: {'met' if met else 'MISSED'}{rate})", red=not met
        )
        benchmark.pedantic(subject, rounds=1, iterations=1)
        return ratio

    return measure
