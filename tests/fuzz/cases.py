"""The cases of the commands' fuzz: sound files, and what each number changes in one of them."""

from __future__ import annotations

import bisect
import random
import re
import struct
from dataclasses import dataclass
from itertools import accumulate

from helpers.mutations import changed

_TEXT_TOKEN = re.compile(rb'"[^"]*"|-?[0-9]+|[a-z]+|[^\s\w]')
_TEXTS = (
    *(b"null", b"true", b"0", b"-1", b"1e999", b"NaN", b"9" * 30, b"18446744073709551616", b"1.5", b"[]", b"{}"),
    *(b'""', b'"\\ud800"', b'"\\u0000"', b'"../a.parquet"', b'"/etc/passwd"', b'"sub"', b'"a\\nb"', b"[" * 2000),
    *(b'{"path":"a.parquet"}', b"\xff", b"\\", b"\n", b"\xef\xbb\xbf", b"#", b"sha256:"),
)


@dataclass(frozen=True)
class Seed:
    """One sound file.

    Attributes:
        format: Which of the formats it is of.
        name: Its file name, which tells it from every other.
        content: Its bytes.
        logical: Its logical hash, empty for what has none.
        physical: The hash of its bytes.
        recorded: A manifest or a list of a folder that holds it alone; empty where it is one itself.
        check_options: Options that `check` needs to read it, where it is a manifest or a list.
    """

    format: str
    name: str
    content: bytes
    logical: str
    physical: str
    recorded: str
    check_options: tuple[str, ...] = ()


class Plan:
    """All cases by number: below 0 the files as they are, then the flips of single bits, then mutations."""

    def __init__(self, seeds: list[Seed], every: int, mutations: int, seed: int) -> None:
        self.seeds = seeds
        self._seed = seed
        self._flips = [flips(one) for one in seeds]
        self._ends = list(accumulate(map(len, self._flips)))
        self.flips = self._ends[-1]
        self.cases = [
            *range(-len(seeds), 0),
            *range(0, self.flips, every),
            *range(self.flips, self.flips + mutations),
        ]

    def case(self, index: int) -> tuple[Seed, bytes]:
        """What a case is made from, and the changed content."""
        if index < 0:
            return self.seeds[index], self.seeds[index].content
        if index < self.flips:
            place = bisect.bisect_right(self._ends, index)
            seed = self.seeds[place]
            bit = self._flips[place][index - (self._ends[place - 1] if place else 0)]
            content = bytearray(seed.content)
            content[bit >> 3] ^= 1 << (bit & 7)
            return seed, bytes(content)
        number = index - self.flips
        seed = self.seeds[number % len(self.seeds)]
        chance = random.Random(f"{self._seed}:{number}")
        if seed.format in ("manifests", "lists") and chance.random() < 0.5:
            return seed, _changed_text(seed.content, chance)
        return seed, changed(seed.content, chance, [one.content for one in self.seeds])

    def with_records(self, cases: list[int]) -> list[int]:
        """Those of the cases that are made from files with records: nothing else comes to the kernels."""
        return [index for index in cases if self.case(index)[0].logical]


def _changed_text(content: bytes, chance: random.Random) -> bytes:
    """A text in which words were replaced, left out or doubled."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        tokens = list(_TEXT_TOKEN.finditer(content)) or [re.search(b"", content)]
        token, other = chance.choice(tokens), chance.choice(tokens)
        new = chance.choice((chance.choice(_TEXTS), other[0], b"", token[0] * 2))
        content = content[: token.start()] + new + content[token.end() :]
    return content


def flips(seed: Seed) -> list[int]:
    """The number of every bit of the footer and the schema: of what says how the rest is to be read."""
    return [8 * place + bit for start, stop in _regions(seed) for place in range(start, stop) for bit in range(8)]


def _regions(seed: Seed) -> list[tuple[int, int]]:
    content, size = seed.content, len(seed.content)
    if content[:4] == b"PAR1":
        return [(0, 4), (size - 8 - struct.unpack_from("<I", content, size - 8)[0], size)]
    if content[:6] == b"ARROW1":
        (footer,) = struct.unpack_from("<i", content, size - 10)
        return [(0, 8 + _message_bytes(content, 8)), (size - 10 - footer, size)]
    if content[:4] == b"FEA1":
        return [(0, 8), (size - 8 - struct.unpack_from("<I", content, size - 8)[0], size)]
    if seed.name.endswith(".safetensors"):
        return [(0, 8 + struct.unpack_from("<Q", content)[0])]
    if seed.format in ("manifests", "lists"):
        return [(0, min(size, 1000))]
    if seed.name.endswith(".npz"):
        return [(0, size)]
    return [(0, _message_bytes(content, 0))]


def _message_bytes(content: bytes, at: int) -> int:
    """The length of an encapsulated message's prefix and metadata, of the new form or the old."""
    (first,) = struct.unpack_from("<I", content, at)
    return 8 + struct.unpack_from("<I", content, at + 4)[0] if first == 0xFFFFFFFF else 4 + first
