"""The one table of hash codes: every digest function and every rule set with a digest function, by name and by code.

The codes are those of the Open Data Fabric: a digest function's own code for physical hashes, and the rule set's base
more for logical hashes with that function. The table stands this low because `Multihash` reads and names codes without
knowing any rule; `rules.chosen` has the rule that belongs to each rule set named here.
"""

from __future__ import annotations

from dataclasses import dataclass

from arrow_digest.errors import UnknownFunctionError
from arrow_digest.functions import DIGEST_FUNCTIONS, DigestFunction, digest_function

__all__ = ["CODES", "NAMES", "RULE_SETS", "HashCode", "hash_code"]

RULE_SETS: dict[str, int] = {"arrow0": 0x300000}
"""What is added to a digest function's code, by the name of the rule set."""


@dataclass(frozen=True)
class HashCode:
    """What one code stands for.

    Attributes:
        name: The code's name, such as `sha3-256` or `arrow0-sha3-256`.
        code: The multihash code.
        function: The digest function under the hash.
        rule_set: The name of the rule set of a logical hash, None for a physical hash.
    """

    name: str
    code: int
    function: DigestFunction
    rule_set: str | None = None


_ALL = (
    *(HashCode(name, function.code, function) for name, function in DIGEST_FUNCTIONS.items()),
    *(
        HashCode(f"{rule_set}-{name}", base + function.code, function, rule_set)
        for rule_set, base in RULE_SETS.items()
        for name, function in DIGEST_FUNCTIONS.items()
    ),
)

NAMES: dict[str, HashCode] = {entry.name: entry for entry in _ALL}
"""Every code by its name."""

CODES: dict[int, HashCode] = {entry.code: entry for entry in _ALL}
"""Every code by its number."""


def hash_code(name: str) -> HashCode:
    """Return what a name such as `sha2-256` or `arrow0-sha3-256` stands for.

    Raises:
        UnknownFunctionError: No such name; the error suggests the one that was probably meant.

    >>> hex(hash_code("arrow0-sha3-256").code)
    '0x300016'
    """
    known = NAMES.get(name)
    if known is not None:
        return known
    rule_set, _, function = name.partition("-")
    if rule_set in RULE_SETS:
        return NAMES[f"{rule_set}-{digest_function(function).name}"]  # which raises, and suggests a function
    try:
        return NAMES[digest_function(name).name]
    except UnknownFunctionError as error:
        raise UnknownFunctionError(name, tuple(NAMES), error.suggestion) from None
