"""Speed of tensor directories as ratios to a floor measured in the same run.

    python -m pytest benchmarks/test_kiln_directory.py --benchmark-only

Every case alternates between the two things it compares, so that what slows the machine slows both, and takes the
fastest of many rounds of each. The ratio and its floor or ceiling are printed and kept in `extra_info`; a ratio on
the wrong side fails.
"""

import gc
import time

import numpy as np
import pytest
from safetensors.numpy import load, save

import kiln_arrow
from kiln_arrow.canonical.decoder import _REMEMBERED

MIB = 1 << 20
# Bytes of each payload, and how many there are.
PAYLOADS = [(MIB, 1), (MIB, 3), (4 * MIB, 1), (4 * MIB, 3), (16 * MIB, 1), (64 * MIB, 1)]

ENCODE_FLOOR = 0.8
ENCODE_INTO_FLOOR = 0.7
DECODE_MICROSECONDS = 15.0
OF_SAFETENSORS = 0.5

# Elements of three f32 tensors: nothing, gaps before and after every payload, no gaps, and payloads of 4 MB each.
ELEMENTS = [0, 1, 16, 1000, 100_000, 1_000_000]


def fastest(*functions, seconds=2.0, calls=1):
    """Returns the least seconds a call of each function takes, its rounds taken in turns."""
    best = [float("inf")] * len(functions)
    gc.collect()
    gc.disable()
    try:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for index, function in enumerate(functions):
                start = time.perf_counter()
                for _ in range(calls):
                    function()
                best[index] = min(best[index], (time.perf_counter() - start) / calls)
    finally:
        gc.enable()
    return best


def report(benchmark, capsys, facts, bounds):
    """Keeps and prints what was measured, and fails where a ratio is on the wrong side of its bound."""
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{benchmark.name}: " + ", ".join(f"{name} {value:.3g}" for name, value in facts.items()))
    for name, least, most in bounds:
        assert least <= facts[name] <= most, f"{name}: expected {least} to {most}, found {facts[name]:.3g}"


def source_and_tensors(size, count):
    """Bytes, and tensors that lie in them, so that both sides find them in the same caches."""
    source = np.ones(size * count, np.uint8)
    return source, {f"t{index}": source[index * size : (index + 1) * size] for index in range(count)}


def three(elements):
    return {name: np.arange(elements, dtype=np.float32) for name in ("weight", "bias", "scale")}


@pytest.mark.parametrize(("size", "count"), PAYLOADS)
def test_encode_against_a_copy_to_bytes(benchmark, capsys, size, count):
    source, tensors = source_and_tensors(size, count)
    memory = memoryview(source)
    floor, ours = fastest(lambda: bytes(memory), lambda: kiln_arrow.encode(tensors))
    benchmark.pedantic(kiln_arrow.encode, (tensors,), rounds=3)
    facts = {"bytes_seconds": floor, "encode_seconds": ours, "ratio": floor / ours, "floor": ENCODE_FLOOR}
    report(benchmark, capsys, facts, [("ratio", ENCODE_FLOOR, float("inf"))])


@pytest.mark.parametrize(("size", "count"), PAYLOADS)
def test_encode_into_against_a_warm_copy(benchmark, capsys, size, count):
    source, tensors = source_and_tensors(size, count)
    buffer = bytearray(kiln_arrow.encoded_size(tensors))
    target = np.frombuffer(buffer, np.uint8)[
        : source.size
    ]  # the same memory pages, because NumPy would allocate huge pages
    floor, ours = fastest(lambda: np.copyto(target, source), lambda: kiln_arrow.encode_into(tensors, buffer))
    benchmark.pedantic(kiln_arrow.encode_into, (tensors, buffer), rounds=3)
    facts = {"copy_seconds": floor, "encode_into_seconds": ours, "ratio": floor / ours, "floor": ENCODE_INTO_FLOOR}
    report(benchmark, capsys, facts, [("ratio", ENCODE_INTO_FLOOR, float("inf"))])


def fresh(function):
    """The same function for a directory whose like was never seen."""

    def call():
        _REMEMBERED.clear()
        function()

    return call


@pytest.mark.parametrize("elements", ELEMENTS)
def test_decode_and_validate_against_safetensors(benchmark, capsys, elements):
    tensors = three(elements)
    data, theirs = kiln_arrow.encode(tensors), save(tensors)
    floor, decode, validate, views, unseen, unseen_validate = fastest(
        lambda: load(theirs),
        lambda: kiln_arrow.decode(data),
        lambda: kiln_arrow.validate(data),
        lambda: kiln_arrow.decode(data).tensors,
        fresh(lambda: kiln_arrow.decode(data)),
        fresh(lambda: kiln_arrow.validate(data)),
        calls=100 if elements < 100_000 else 3,
    )
    benchmark(kiln_arrow.decode, data)
    facts = {
        "safetensors_microseconds": floor * 1e6,
        "decode_microseconds": decode * 1e6,
        "validate_microseconds": validate * 1e6,
        "unseen_decode_microseconds": unseen * 1e6,
        "unseen_validate_microseconds": unseen_validate * 1e6,
        "decode_ratio": decode / floor,
        "validate_ratio": validate / floor,
        "decode_and_views_ratio": views / floor,
        "unseen_decode_ratio": unseen / floor,
        "ceiling": OF_SAFETENSORS,
        "microseconds_ceiling": DECODE_MICROSECONDS,
    }
    bounds = [
        ("decode_microseconds", 0, DECODE_MICROSECONDS),
        ("validate_microseconds", 0, DECODE_MICROSECONDS),
        ("unseen_decode_microseconds", 0, DECODE_MICROSECONDS),
        ("unseen_validate_microseconds", 0, DECODE_MICROSECONDS),
        ("decode_ratio", 0, OF_SAFETENSORS),
        ("validate_ratio", 0, OF_SAFETENSORS),
    ]
    report(benchmark, capsys, facts, bounds)


@pytest.mark.parametrize("size", [64, 64 * 1024, 16 * MIB])
def test_validating_bools_against_reading_them(benchmark, capsys, size):
    """The bytes of bools are looked at by NumPy's vectorised maximum, not one by one."""
    data = kiln_arrow.encode({"mask": np.ones(size, bool)})
    raw = np.frombuffer(data, np.uint8)
    floor, ours = fastest(lambda: raw.max(), lambda: kiln_arrow.validate(data))
    benchmark(kiln_arrow.validate, data)
    facts = {"max_seconds": floor, "validate_seconds": ours, "ratio": floor / ours, "overhead_seconds": ours - floor}
    report(benchmark, capsys, facts, [])
