"""Types that other programs change, and what a column's digest was before they did.

Whether the records are the same but for their types is decided by digests alone: every value is taken for its equal in
the earlier type, see `conversion`, and hashed. Where the earlier type is recorded, that one is tried; where it is not,
those that are known to become the type that was found.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from _arrow_io.formats import is_parquet
from _arrow_io.opening import InputFile
from arrow_digest.arrays.batches import joined
from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.nodes import Kind, Node
from arrow_digest.comparing.conversion import NoEqualValueError, convert, nesting
from arrow_digest.files.facts import FileFacts
from arrow_digest.multihash import Multihash
from arrow_digest.reading.sources import read_records
from arrow_digest.rules.arrow0.leaf_columns import Column, leaf_column
from arrow_digest.rules.arrow0.leaves import LeafDigest, update_each
from arrow_digest.rules.arrow0.portable import encode
from arrow_digest.rules.arrow0.types import encode_type, logical_type
from arrow_digest.rules.chosen import rule_of
from arrow_digest.rules.rule import ColumnDigest, Leaf, Rule
from arrow_digest.workers import Pool

__all__ = ["is_earlier_type", "retyped_leaves", "was_only_retyped"]

# By the number of a leaf, the logical types that it may have had.
_Types = Mapping[int, Sequence[pa.DataType]]
# Digests by the number of a leaf and a type.
_Digests = dict[tuple[int, pa.DataType], bytes]

# With many columns of such types there are more ways back than are worth a try.
_MOST_WAYS = 4096

# Zones that Parquet without Arrow's schema gives back as "UTC", and none at all.
_NO_ZONES = (None, "UTC", "+00:00", "Etc/UTC", "Z", "GMT")
_UNITS = ("ns", "us", "ms", "s")
# Files with more timestamps than this are not hashed once for every zone.
_MOST_ZONED_VALUES = 1 << 18


def is_earlier_type(earlier: pa.DataType, found: pa.DataType) -> bool:
    """Return whether a logical type is known to become another on the way through files.

    >>> is_earlier_type(pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns"))
    True
    """
    (depth, earlier), (found_depth, found) = nesting(earlier), nesting(found)
    if depth != found_depth or earlier == found:
        return False
    return earlier in _earlier_types(found) or (pt.is_timestamp(earlier) and pt.is_timestamp(found))


def _earlier_types(found: pa.DataType, zones: Sequence[str | None] = _NO_ZONES) -> list[pa.DataType]:
    """Return the other logical types that are known to become this one; of zones only those that are given."""
    if pt.is_list(found):
        return [pa.list_(inner) for inner in _earlier_types(found.value_type, zones)]
    if pt.is_timestamp(found):
        # Writers without a unit take the nearest that they have; INT96 has nanoseconds, and no zone.
        types = [pa.timestamp(unit, zone) for zone in dict.fromkeys((found.tz, *zones)) for unit in _UNITS]
        return [earlier for earlier in types if earlier != found]
    if pt.is_decimal128(found):
        narrow = [(9, pa.decimal32), (18, pa.decimal64)]
        return [make(found.precision, found.scale) for most, make in narrow if found.precision <= most]
    return list(_EARLIER.get(found, ()))


_EARLIER: Mapping[pa.DataType, tuple[pa.DataType, ...]] = {
    pa.time32("ms"): (pa.time32("s"),),
    pa.time64("us"): (pa.time64("ns"), pa.time32("ms"), pa.time32("s")),
    pa.time64("ns"): (pa.time64("us"), pa.time32("ms"), pa.time32("s")),
    pa.date32(): (pa.date64(),),
    pa.int64(): (pa.uint32(),),
    pa.float32(): (pa.float16(),),
}


def retyped_leaves(
    file: InputFile, wanted: Mapping[int, Sequence[pa.DataType]], rule: Rule
) -> dict[tuple[int, pa.DataType], bytes]:
    """Return digests of leaf columns as if they still had their earlier types.

    Args:
        file: An open file that can be read at any place; it is read from its start.
        wanted: By the number of a leaf, the logical types that it may have had.
        rule: What hashes them.

    Returns:
        The digest by leaf and type, where every value has an equal in that type.
    """
    if not any(wanted.values()):
        return {}
    file.seek(0)
    numbers = sorted(wanted)
    projects = is_parquet(file)
    source = read_records(file, leaves=tuple(numbers) if projects else None)
    leaves = rule.plan(source.schema).leaves
    chosen = dict(zip(numbers, leaves, strict=True)) if projects else {n: leaves[n] for n in numbers}
    groups = [group for n in numbers for group in _groups(n, chosen[n], wanted[n], rule)]
    pool = Pool(1)
    for batch in joined(source.batches, pool.each):
        columns: dict[int, Column] = {}
        described: dict[int, Node] = {}
        for group in groups:
            if group.digests and group.number not in columns:
                first, indices = group.leaf.path[:1], group.leaf.indices
                if indices[0] not in described:
                    described[indices[0]] = describe(batch.column(indices[0]), first)
                columns[group.number] = leaf_column(described[indices[0]], indices)
            if group.digests:
                group.update(columns[group.number], pool)
    return {(group.number, t): digest.digest() for group in groups for t, digest in group.digests.items()}


class _Group:
    """Digests of one leaf under types whose values are the same bytes, as timestamps in many zones are."""

    def __init__(self, number: int, leaf: Leaf, types: Sequence[pa.DataType], rule: Rule) -> None:
        self.number = number
        self.leaf = leaf
        # Where some value has no equal, the column never had that type, and none is left.
        self.digests = {t: LeafDigest(encode_type(t), rule.function, alone=len(types) == 1) for t in types}
        self._change = partial(convert, found=nesting(logical_type(leaf.data_type))[1], wanted=nesting(types[0])[1])

    def update(self, column: Column, pool: Pool) -> None:
        """Feed some rows."""
        try:
            for part in encode(column, self._change):
                node = Node(Kind.FIXED, len(part), part, width=1, values=np.ascontiguousarray(part))
                update_each(list(self.digests.values()), [Column(node)] * len(self.digests), pool)
        except NoEqualValueError:
            self.digests.clear()


def _groups(number: int, leaf: Leaf, types: Sequence[pa.DataType], rule: Rule) -> list[_Group]:
    found = nesting(logical_type(leaf.data_type))
    alike: dict[object, list[pa.DataType]] = {}
    for data_type in types:
        depth, values = nesting(data_type)
        if depth == found[0]:
            alike.setdefault(("timestamp", values.unit) if pt.is_timestamp(values) else values, []).append(data_type)
    return [_Group(number, leaf, some, rule) for some in alike.values()]


def was_only_retyped(file: InputFile, found: FileFacts, expected: Multihash) -> dict[int, pa.DataType]:
    """Return the earlier types, by leaf, under which a file's records have the expected logical hash; empty if none.

    It reads the columns that may have had another type once more, and tries all ways back together; if none is the way,
    once more for timestamps of every zone, one zone for all columns.

    Args:
        file: An open file; only Parquet is looked into.
        found: What its records are.
        expected: The hash to find.
    """
    if not is_parquet(file):
        return {}
    columns = found.columns or ()
    wanted = {n: types for n, column in enumerate(columns) if (types := _earlier_types(column.data_type))}
    way = _way_back(file, found, expected, [wanted])
    zoned = [n for n, column in enumerate(columns) if pt.is_timestamp(nesting(column.data_type)[1])]
    if way or not zoned or len(zoned) * (found.row_count or 0) > _MOST_ZONED_VALUES:
        return way
    ways = []
    for zone in _zones():
        in_zone = {n: _in_zone(columns[n].data_type, zone) for n in zoned}
        ways.append({**wanted, **in_zone})
    return _way_back(file, found, expected, ways)


def _in_zone(found: pa.DataType, zone: str) -> list[pa.DataType]:
    if pt.is_list(found):
        return [pa.list_(inner) for inner in _in_zone(found.value_type, zone)]
    return [pa.timestamp(unit, zone) for unit in _UNITS if (unit, zone) != (found.unit, found.tz)]


def _zones() -> list[str]:
    """Return the names of all zones that this machine knows, and offsets by the quarter of an hour."""
    offsets = (f"{sign}{minutes // 60:02}:{minutes % 60:02}" for sign in "+-" for minutes in range(15, 15 * 60, 15))
    return [*sorted(zoneinfo.available_timezones()), *offsets]


def _way_back(
    file: InputFile,
    found: FileFacts,
    expected: Multihash,
    choices: Sequence[_Types],
) -> dict[int, pa.DataType]:
    """Return the earlier types of the first of several choices that leads to the expected hash; empty if none does."""
    wanted = {n: list(dict.fromkeys(t for types in choices for t in types.get(n, ()))) for n in choices[0]}
    rule = rule_of(expected)
    digests = retyped_leaves(file, wanted, rule)
    if not digests:
        return {}
    file.seek(0)
    plan = rule.plan(read_records(file).schema)
    most = max(_MOST_WAYS // len(choices), 64)
    for types in choices:
        for ways in islice(_ways(digests, types, found.columns or ()), most):
            if rule.combine(plan, [digest for _, digest in ways], found.row_count or 0) == expected.digest:
                return {n: data_type for n, (data_type, _) in enumerate(ways) if data_type is not None}
    return {}


def _ways(
    digests: dict[tuple[int, pa.DataType], bytes],
    wanted: Mapping[int, Sequence[pa.DataType]],
    columns: tuple[ColumnDigest, ...],
) -> Iterator[tuple[tuple[pa.DataType | None, bytes], ...]]:
    """Yield every choice of one type and digest for each leaf; a leaf that keeps its type has None for it."""
    choices = []
    for n, column in enumerate(columns):
        earlier = [(data_type, digests[n, data_type]) for data_type in wanted.get(n, ()) if (n, data_type) in digests]
        # A writer that changes types changes them all, so the ways that change most come first.
        choices.append([*earlier, (None, column.digest)])
    return product(*choices)
