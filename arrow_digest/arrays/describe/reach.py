"""Which slots of an array rows come to: what lies under a null, or where nothing points, is never looked at.

A structure that is sound everywhere is judged without asking. Only where something is wrong it has to be known whether
a row comes there, and so the answer is a function that is called then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from arrow_digest.arrays.nodes import Kind, Node, unpack

__all__ = ["Mask", "Reach", "every_slot", "held", "inside", "selected"]

Mask = npt.NDArray[np.bool_]
# Gives one bool a slot, or None where rows come to all of them.
Reach = Callable[[], Mask | None]


def every_slot() -> Mask | None:
    """Return that rows come to every slot."""
    return None


def held(node: Node, reach: Reach) -> Mask | None:
    """Return which slots hold a value that a row comes to, or None for all of them."""
    seen = reach()
    if node.validity is None:
        return seen
    valid = unpack(node.validity, node.length)
    return valid if seen is None else valid & seen


def inside(node: Node, reach: Reach, count: int) -> Reach:
    """Return which of the `count` slots of a node's child rows come to.

    Args:
        node: A struct, list, map, dictionary or run-end node whose own values are sound; each child of a struct has
            the same answer.
        reach: Which of its slots rows come to.
        count: How many slots its child has.
    """
    return partial(_child_slots, node, reach, count)


def selected(node: Node, reach: Reach, number: int, count: int) -> Reach:
    """Return which of the `count` slots of one child of a union rows come to.

    Args:
        node: A union whose own values are sound.
        reach: Which of its slots rows come to.
        number: The child's number.
        count: How many slots the child has.
    """
    return partial(_selected_slots, node, reach, number, count)


def _selected_slots(node: Node, reach: Reach, number: int, count: int) -> Mask:
    seen = held(node, reach)
    chosen: Mask = node.values == number
    chosen = chosen if seen is None else chosen & seen
    if node.kind is Kind.SPARSE_UNION:
        return chosen
    child = np.zeros(count, np.bool_)
    child[node.sizes[chosen]] = True
    return child


def _child_slots(node: Node, reach: Reach, count: int) -> Mask | None:
    seen = held(node, reach)
    if node.kind is Kind.STRUCT:
        return seen
    if node.kind in (Kind.LIST, Kind.MAP, Kind.FIXED_LIST):
        return None if seen is None else np.repeat(seen, node.width if node.width else np.diff(node.values))
    slots = np.arange(node.length) if seen is None else np.flatnonzero(seen)
    if node.kind is Kind.LIST_VIEW:
        # Where more lists begin than have ended, there is one.
        slots = slots[node.sizes[slots] > 0]
        starts = node.values[slots] - node.origin
        begun = np.bincount(starts, minlength=count + 1) - np.bincount(starts + node.sizes[slots], minlength=count + 1)
        covered: Mask = np.cumsum(begun[:count]) > 0
        return covered
    child = np.zeros(count, np.bool_)
    if node.kind is Kind.DICTIONARY:
        child[node.values[slots].astype(np.int64)] = True
    else:
        child[np.searchsorted(node.values, slots + node.origin, side="right")] = True
    return child
