"""What is said of one array in every way in which it can come: all have to say the same."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from reference import arrow0

import arrow_digest as ad
from helpers.hostile import Hostile
from helpers.ipc_bytes import Stream, write

# How many damaged streams are read of each array.
DAMAGES = 3


class Disagreement(AssertionError):
    """Two ways gave different answers, or an answer is wrong."""


def answer(work: Any) -> tuple[str, str]:
    """Return what a call gives: a hash, or the error's type and rule."""
    try:
        return "hash", str(work())
    except ad.ArrowDigestError as error:
        return type(error).__name__, str(getattr(error, "rule", ""))


def judge(seed: int) -> list[tuple[str, str]]:
    """Draw an array, ask for its hash in every way, and return the answers, which do not depend on the kernels.

    Raises:
        Disagreement: The array alone, joined, sliced, in a digest and explained are not judged alike. Or the hash
            is not that of the slow second opinion.
    """
    rng = np.random.default_rng(seed)
    array = Hostile(rng, float(rng.choice([0, 0.03, 0.1, 0.3]))).array()
    table = pa.table({"c": array})
    found = answer(lambda: ad.logical_hash(table, threads=1))
    for name, other in _other_ways(array, table, rng):
        # An array may have two faults. Which of them is found first depends on where a slice begins.
        if other[0] != found[0] or (found[0] == "hash" and other != found):
            raise Disagreement(f"alone: {found}, {name}: {other}")
    _require_same_of_copies(array, table)
    if found[0] == "hash":
        _require_second_opinion(array, table, found[1])
    elif found[0] != "InvalidArrayError":
        raise Disagreement(f"an array in memory is refused as {found}")
    return [found, *_damaged(Hostile(rng, 0, portable=True).array(), rng)]


def _other_ways(array: pa.Array, table: pa.Table, rng: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    yield "a stream", answer(lambda: ad.logical_hash(table.to_reader(), threads=1))
    yield "a digest", answer(lambda: _fed(table, table).multihash())
    yield "explained", answer(lambda: ad.explain(table, threads=1).logical)
    cut = int(rng.integers(len(array) + 1))
    parts = [array.slice(0, cut), array.slice(cut)]
    for name, chunks in ("two slices", parts), ("two slices and an empty one", [*parts, array.slice(0, 0)]):
        with suppress(pa.ArrowInvalid):  # pyarrow looks at the first and last offset of each slice
            chunked = pa.table({"c": pa.chunked_array(chunks)})
            yield name, answer(lambda chunked=chunked: ad.logical_hash(chunked, threads=1))


def _require_same_of_copies(array: pa.Array, table: pa.Table) -> None:
    """Whether copies are joined or taken one after the other, their hash, or what is wrong with them, is the same."""
    one_by_one = answer(lambda: _fed(table, table, table).multihash())
    copies = pa.table({"c": pa.chunked_array([array] * 2)})
    for joined in (copies, copies.to_reader()):
        found = answer(lambda joined=joined: ad.logical_hash(joined, threads=1))
        if found != one_by_one:
            raise Disagreement(f"one by one: {one_by_one}, joined: {found}")


def _require_second_opinion(array: pa.Array, table: pa.Table, found: str) -> None:
    expected = arrow0.record_digest(table).hex()
    if not found.endswith(expected):
        raise Disagreement(f"the second opinion is {expected}, found {found}")
    if not pt.is_struct(arrow0.decoded_type(array.type)):
        digest = ad.ArrayDigest(array.type)
        digest.update(array)
        if digest.digest() != _fed(table, table).columns()[0].digest:
            raise Disagreement("ArrayDigest gives another digest than the column has")


def _fed(table: pa.Table, *data: Any) -> ad.RecordDigest:
    digest = ad.RecordDigest(table.schema, threads=1)
    for records in data:
        digest.update(records)
    return digest


def _damaged(array: pa.Array, rng: Any) -> list[tuple[str, str]]:
    """Return the answers to streams of the array whose message lies about lengths and places."""
    if len(array) == 0 or not _is_valid(array):
        return []
    try:
        whole = write([pa.record_batch({"c": array})])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return []
    answers: list[tuple[str, str]] = []
    # There may be any number of values that take no memory, and hashing a huge number of them takes very long.
    takes_room = not any(text in str(array.type) for text in ("null", "[0]", "struct<>"))
    for _ in range(DAMAGES):
        stream = Stream(whole)
        for _ in range(int(rng.choice([1, 1, 2, 3]))):
            _lie(stream, rng, takes_room)
        answers.append(answer(lambda data=bytes(stream): ad.logical_hash(_opened(data), threads=1)))
    return answers


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _opened(data: bytes) -> Any:
    try:
        return pa.ipc.open_stream(io.BytesIO(data))
    except (pa.ArrowInvalid, OSError) as error:
        raise ad.UnreadableError("stream", "corrupt", str(error)) from error


def _lie(stream: Stream, rng: Any, takes_room: bool) -> None:
    number = int(rng.choice([-1, 0, 0, 1, 2, 3, 7, 8, 16, 64, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63)]))
    what = rng.choice(["length", "nulls", "buffer", "buffer", "place", "rows"])
    if what in ("rows", "length") and not takes_room:
        number = min(number, 100)
    if what == "rows":
        stream.rows(number)
        stream.node(0, length=number)
    elif what in ("length", "nulls"):
        node = int(rng.integers(stream.node_count))
        stream.node(node, **{"length" if what == "length" else "null_count": number})
    elif stream.buffer_count:
        buffer = int(rng.integers(stream.buffer_count))
        stream.buffer(buffer, **({"length": number} if what == "buffer" else {"offset": number & ~7}))
