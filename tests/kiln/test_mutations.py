"""Whatever is done to valid bytes, they are refused for a reason or canonical."""

import random
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

import kiln_arrow
from kiln.mutations import FakeTorchTensor, check, mutated, seeds


def test_seeds_are_accepted():
    outcomes = [check(seed) for seed in seeds() if seed[0] < 4]
    assert set(outcomes) == {"accepted"}


def test_a_short_run_of_mutations_keeps_every_property_and_reaches_every_rule(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=FakeTorchTensor))
    rng = random.Random(20260)
    pool = list(seeds())
    reached = Counter()
    for _ in range(20_000):
        data = mutated(rng.choice(pool), rng)
        rule = check(data)
        reached[rule] += 1
        if rng.random() < 0.02:
            pool.append(data)
    assert set(reached) == {*kiln_arrow.RULES, "accepted"}


@pytest.mark.parametrize("seed", [pytest.param(seed, id=str(index)) for index, seed in enumerate(seeds())])
def test_every_strict_prefix_of_valid_bytes_ends_too_soon(seed):
    kind, data = seed[0], seed[1:]
    if kind == 0:
        prefixes = [data[:length] for length in range(len(data))]
        read = kiln_arrow.decode
    elif kind in (2, 3):
        from kiln.mutations import TYPE_TEXTS

        text, data = TYPE_TEXTS[data[0]], data[1:]
        prefixes = [data[:length] for length in range(len(data))]
        function = kiln_arrow.thaw if kind == 2 else kiln_arrow.unframe

        def read(prefix):
            return function(text, prefix)
    else:
        return
    for prefix in prefixes:
        with pytest.raises(kiln_arrow.KilnEOFError) as caught:
            read(prefix)
        assert caught.value.offset == len(prefix)
