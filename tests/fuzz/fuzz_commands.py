"""Every command on changed files, in processes whose end is noticed.

    python tests/fuzz/fuzz_commands.py                       every bit of footers and schemas, and 200,000 mutations
    python tests/fuzz/fuzz_commands.py --every 139 --mutations 3000
                                                             a fixed sample

Every case has a number, on which alone it depends, and on the seed of the mutations. Cases are run a few hundred to a
process, forked from one that has imported everything. Where a process dies, the next one goes on with the next command.
The exit status is 0 where nothing was found and 1 otherwise; what was found is in a folder, each file with a line that
says what it did.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
sys.path[:0] = [str(TESTS)] if os.environ.get("KILN_TEST_INSTALLED") else [str(TESTS), str(ROOT)]

import arrow_digest.cli  # noqa: E402, F401  # the path is set above; here, so that no process has to import it again
from fuzz import command_runs  # noqa: E402
from fuzz.cases import Plan, Seed  # noqa: E402

CASES_A_PROCESS = 300
CPU_SECONDS = 10  # for one command on a file of a kilobyte; time on the processor does not depend on other load
SECONDS = 120  # within which a process has to end even if it only waits
ADDRESS_SPACE = (
    6 << 30
)  # a second limit, in case the first fails: memory in use is limited by `command_runs.MOST_BYTES`
KEPT = 5  # files of one kind of finding


@dataclass
class Task:
    """Cases that one process is given, and how far it came.

    Attributes:
        steps: Which of `command_runs.STEPS` it does.
        cases: Their numbers.
        done: How many steps are done, counted over all cases.
        answers: The fingerprints of the answers of native kernels, which others are held against.
    """

    steps: str
    cases: list[int]
    done: int = 0
    answers: dict[tuple[int, str], int] = field(default_factory=dict)

    def places(self) -> Iterator[tuple[int, str]]:
        """Every step of every case from where it stands."""
        steps = command_runs.STEPS[self.steps]
        for number in range(self.done, len(self.cases) * len(steps)):
            yield self.cases[number // len(steps)], steps[number % len(steps)]


def work(plan: Plan, task: Task, folder: Path, shared: Path, log: int) -> None:
    """Do a task, and write a line for each step when it is done. Runs in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    os.environ["ARROW_DIGEST_KERNELS"] = "portable" if task.steps == "portable" else "native"
    capture = command_runs.Capture()
    runs, now = None, -1
    for index, step in task.places():
        if index != now:
            seed, content = plan.case(index)
            case = command_runs.Case(index, seed, folder, shared)
            shutil.rmtree(folder / "set", ignore_errors=True)
            (folder / "set").mkdir()
            Path(case.path).write_bytes(content)
            runs, now = command_runs.Runs(case, capture), index
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        line = json.dumps([index, step, *runs.step(step)])
        os.write(log, line.encode() + b"\n")
        if command_runs.peak() > command_runs.MOST_BYTES:
            return  # else the memory of one command would count for the next


class Report:
    """Counts what commands came to, and keeps what was found."""

    def __init__(self, plan: Plan, keep: Path) -> None:
        self._plan = plan
        self._keep = keep
        self._outcomes: dict[str, Counter[str]] = {}
        self._kinds: Counter[str] = Counter()

    def count(self, steps: str, index: int, step: str, outcome: str, wrong: str) -> None:
        row = f"{step} (portable)" if steps == "portable" else step
        self._outcomes.setdefault(row, Counter())[outcome] += 1
        if wrong:
            self._outcomes[row]["found"] += 1
            self._found(index, row, wrong)

    def _found(self, index: int, row: str, wrong: str) -> None:
        seed, content = self._plan.case(index)
        kind = re.sub(r"[0-9]+|'[^']*'|/\S+", "…", f"{row}: {wrong}")[:100] + seed.format
        self._kinds[kind] += 1
        if self._kinds[kind] > KEPT:
            return
        self._keep.mkdir(parents=True, exist_ok=True)
        name = f"{index}-{seed.name}"
        (self._keep / name).write_bytes(content)
        line = json.dumps({"file": name, "format": seed.format, "command": row, "found": wrong})
        with (self._keep / "found.jsonl").open("a") as file:
            file.write(line + "\n")
        print(line, flush=True)

    @property
    def findings(self) -> int:
        return sum(self._kinds.values())

    def table(self, cases: int, seconds: float) -> str:
        columns = ["0", "1", "2", *sorted({name for row in self._outcomes.values() for name in row} - set("012"))]
        lines = [f"{cases:,} cases in {seconds:,.0f} s, {self.findings:,} findings", ""]
        lines.append(f"| {'command':20} | " + " | ".join(f"{name:>9}" for name in columns) + " |")
        lines.append(f"|:{'-' * 20}-|" + "|".join("-" * 10 + ":" for _ in columns) + "|")
        for row, counts in self._outcomes.items():
            lines.append(f"| {row:20} | " + " | ".join(f"{counts[name]:>9,}" for name in columns) + " |")
        return "\n".join(lines)


def run(plan: Plan, report: Report, workers: int, folder: Path) -> None:
    """Run all cases on so many processes at a time."""
    shared = folder / "shared"
    logs = [folder / f"log{slot}" for slot in range(workers)]
    waiting = [
        Task(steps, plan.cases[start : start + CASES_A_PROCESS])
        for start in range(0, len(plan.cases), CASES_A_PROCESS)
        for steps in ("kiln-arrow", "native")
    ][::-1]
    at_work: dict[int, tuple[int, Task]] = {}  # by process
    free = list(range(workers))
    gc.freeze()
    said = time.monotonic()
    while waiting or at_work:
        while waiting and free:
            slot, task = free.pop(), waiting.pop()
            logs[slot].write_bytes(b"")
            at_work[_forked(plan, task, folder / f"worker{slot}", shared, logs[slot])] = slot, task
        process, status = os.wait()
        slot, task = at_work.pop(process)
        free.append(slot)
        follow_up = _ended(plan, task, status, logs[slot], report)
        if follow_up is not None:
            waiting.append(follow_up)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"{len(waiting) * CASES_A_PROCESS // 2:,} cases to come", file=sys.stderr, flush=True)


def _forked(plan: Plan, task: Task, folder: Path, shared: Path, log: Path) -> int:
    folder.mkdir(exist_ok=True)
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    leave = os._exit  # because the commands replace it when they end
    status = 99
    try:
        work(plan, task, folder, shared, os.open(log, os.O_WRONLY | os.O_APPEND))
        status = 0
    finally:
        leave(status)


def _ended(plan: Plan, task: Task, status: int, log: Path, report: Report) -> Task | None:
    """Count what a process did; return what is left of its task, or what comes after it."""
    places = task.places()
    for line in log.read_bytes().splitlines():
        index, step, outcome, answer, wrong = json.loads(line)
        assert next(places) == (index, step)
        if task.steps == "native":
            task.answers[index, step] = answer
        elif not wrong and task.answers.get((index, step), answer) != answer:
            wrong = "another answer than with native kernels"
        report.count(task.steps, index, step, outcome, wrong)
        task.done += 1
    culprit = next(places, None)
    if status and culprit is not None:
        number = os.waitstatus_to_exitcode(status)
        how = signal.Signals(-number).name if number < 0 else f"status {number}"
        # The time that pyarrow itself takes to read the file does not count for a command.
        report.count(task.steps, *culprit, "ended", "" if culprit[1] == command_runs.ORACLE else f"ended by {how}")
        task.done += 1
    if next(task.places(), None) is not None:
        return task
    return Task("portable", plan.with_records(task.cases), answers=task.answers) if task.steps == "native" else None


def _make_seeds(shared: Path) -> list[Seed]:
    from fuzz import seed_files

    logging.disable()  # of what kiln_arrow says of a column that is broken on purpose
    seed_files.write_root(shared / "root")
    seeds = seed_files.seeds(shared / "root")
    for seed in seeds:
        (shared / seed.name).write_bytes(seed.content)
        (shared / f"{seed.name}.recorded").write_text(seed.recorded)
    return seeds


def made_seeds(shared: Path) -> list[Seed]:
    """The sound files, made in another process: threads of this one would not survive a fork."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        return pool.submit(_make_seeds, shared).result()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="take each so manyeth flip of a bit")
    parser.add_argument("--mutations", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1, help="of the mutations")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz-commands", help="folder for what is found")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    shutil.rmtree(options.keep, ignore_errors=True)
    started = time.monotonic()
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as name:
        folder = Path(name)
        plan = Plan(made_seeds(folder / "shared"), options.every, options.mutations, options.seed)
        report = Report(plan, options.keep)
        run(plan, report, options.workers, folder)
    print(report.table(len(plan.cases), time.monotonic() - started))
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
