"""Coverage-guided fuzzing of Kiln's decoders and encoders (needs `pip install atheris`).

    python tests/fuzz/fuzz_kiln.py             a million mutations, and on until every rule is reached 1,000 times
    python tests/fuzz/fuzz_kiln.py --mutations 100000 --reach 10

Valid inputs are the seeds. Mutations know the format's fields; atheris keeps those that reach new code and builds on
them. The properties are those of tests/kiln/mutations.py. At the end it prints how often each rule refused something.
It exits with 0 when all properties held and every rule was reached often enough, and not with 0 otherwise; the input
that broke a property is then in a file named crash-….
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

with atheris.instrument_imports(include=["kiln_arrow"]):
    import kiln_arrow

from kiln.mutations import PROPERTIES, FakeTorchTensor, check, mutated, seeds  # noqa: E402  # the path is set above

KINDS = ("directory", "type text", "frozen", "frame", "encoder")
assert len(KINDS) == len(PROPERTIES)

MAX_LENGTH = 4096


class Run:
    """One run: counts what each input came to, and ends it when it has reached enough."""

    def __init__(self, mutations: int, reach: int) -> None:
        self.mutations = mutations
        self.reach = reach
        self.done = 0
        self.reached: Counter[tuple[int, str]] = Counter()
        self.seeds = list(seeds())
        self.started = time.monotonic()

    def mutate(self, data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.3:  # kinds that soon reach no new code get their share of inputs too
            kind = rng.randrange(len(KINDS))
            data = rng.choice([start for start in self.seeds if start[0] == kind])
        return mutated(data, rng)[:max_size]

    def one_input(self, data: bytes) -> None:
        try:
            self.reached[data[0] % len(KINDS) if data else 0, check(data)] += 1
        except BaseException:
            self.print_table()
            raise
        self.done += 1
        if self.done % 1000 == 0 and self.done >= self.mutations and self.rarest() >= self.reach:
            self.end(0)
        if self.done >= 20 * self.mutations:
            self.end(1)

    def rarest(self) -> int:
        return min(self.count(rule) for rule in kiln_arrow.RULES)

    def count(self, rule: str) -> int:
        return sum(self.reached[kind, rule] for kind in range(len(KINDS)))

    def end(self, status: int) -> None:
        self.print_table()
        sys.stdout.flush()
        os._exit(status)  # libFuzzer ends the process in the same way

    def print_table(self) -> None:
        seconds = time.monotonic() - self.started
        print(f"\n{self.done:,} mutations in {seconds:,.0f} s, Python {sys.version.split()[0]}, atheris\n")
        print(f"| {'rule':15} | {' | '.join(f'{kind:>9}' for kind in KINDS)} | {'all':>9} |")
        print(f"|:{'-' * 15}-|{'|'.join(['-' * 10 + ':'] * (len(KINDS) + 1))}|")
        for rule in (*kiln_arrow.RULES, "accepted"):
            cells = " | ".join(f"{self.reached[kind, rule]:>9,}" for kind in range(len(KINDS)))
            print(f"| {rule:15} | {cells} | {self.count(rule):>9,} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutations", type=int, default=1_000_000, help="how many inputs to try at least")
    parser.add_argument("--reach", type=int, default=1_000, help="how often every rule must be reached")
    parser.add_argument("--seed", type=int, default=1, help="seed of libFuzzer's random numbers")
    options = parser.parse_args()
    # A stand-in, so that tensors on a device are met without torch.
    sys.modules["torch"] = SimpleNamespace(Tensor=FakeTorchTensor)  # type: ignore[assignment]
    run = Run(options.mutations, options.reach)
    with tempfile.TemporaryDirectory() as corpus:
        for index, seed in enumerate(run.seeds):
            (Path(corpus) / f"seed-{index:03}").write_bytes(seed)
        arguments = [sys.argv[0], corpus, f"-max_len={MAX_LENGTH}", f"-seed={options.seed}", "-verbosity=0"]
        atheris.Setup(arguments, run.one_input, custom_mutator=run.mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
