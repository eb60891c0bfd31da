"""How files are hashed: what public functions take as flat options, as one object."""

from __future__ import annotations

from dataclasses import dataclass

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from arrow_digest.rules.rule import Rule

__all__ = ["HashOptions"]


@dataclass(frozen=True)
class HashOptions:
    """How a file is hashed. It travels to the workers of an executor.

    Attributes:
        rule: The rule of the logical hash; its digest function is that of the physical hash too.
        threads: How many threads to use.
        validity: True to digest each leaf's row validity too.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read.
    """

    rule: Rule
    threads: int = 1
    validity: bool = False
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT
