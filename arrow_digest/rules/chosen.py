"""Rules by name and by multihash code: names of rule sets and digest functions end here.

Below, and between the modules above, rules are passed as objects. `codes` says which names and codes there are;
here is the rule of each. Rules are made when they are first asked for, so that a rule set that nobody uses is not
imported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from arrow_digest.codes import CODES, NAMES
from arrow_digest.functions import DEFAULT_FUNCTION, DigestFunction, digest_function
from arrow_digest.multihash import Multihash
from arrow_digest.rules.rule import Rule

__all__ = ["DEFAULT_RULE_SET", "chosen_rule", "rule_of"]

DEFAULT_RULE_SET = "arrow0"
"""The standard rule set."""


def _arrow0(function: DigestFunction) -> Rule:
    from arrow_digest.rules.arrow0.rule import Arrow0

    return Arrow0(function)


_RULES: dict[str, Callable[[DigestFunction], Rule]] = {"arrow0": _arrow0}


@cache
def _rule(code: int) -> Rule:
    entry = CODES[code]
    assert entry.rule_set is not None
    return _RULES[entry.rule_set](entry.function)


def chosen_rule(function: str = DEFAULT_FUNCTION, *, rule_set: str = DEFAULT_RULE_SET) -> Rule:
    """Return the rule of that name.

    Args:
        function: The name of a digest function.
        rule_set: The name of a rule set.

    Raises:
        UnknownFunctionError: No such digest function.

    >>> chosen_rule("blake3").name
    'arrow0-blake3'
    """
    return _rule(NAMES[f"{rule_set}-{digest_function(function).name}"].code)


def rule_of(logical: Multihash) -> Rule:
    """Return the rule that a logical hash was made by.

    Raises:
        ValueError: It is a physical hash.

    >>> from arrow_digest import logical_hash
    >>> import pyarrow as pa
    >>> rule_of(logical_hash(pa.table({"a": [1]}))).name
    'arrow0-sha3-256'
    """
    if not logical.is_logical:
        raise ValueError(f"expected a logical hash, found a physical one: {logical}")
    return _rule(logical.code)
