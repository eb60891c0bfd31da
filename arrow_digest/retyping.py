"""Types that change on the way through Parquet, and what a column's digest was before they did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from _arrow_io.formats import is_parquet
from _arrow_io.opening import InputFile
from arrow_digest.arrow0 import ArrayDigest, ColumnDigest, combine
from arrow_digest.chunks import joined
from arrow_digest.columns import LeafPool
from arrow_digest.multihash import Multihash
from arrow_digest.schema import Leaf, flatten, logical_type
from arrow_digest.sources import read_records
from arrow_digest.structure import describe_leaf

__all__ = ["earlier_types", "leaf_array", "retyped_leaves", "was_only_retyped"]

# With many columns of such types there are more ways back than are worth a try.
_MOST_WAYS = 4096

# Zones that Parquet without Arrow's schema gives back as "UTC".
_UTC_NAMES = ("UTC", "+00:00", "Etc/UTC", "Z", "GMT")


def earlier_types(data_type: Any) -> tuple[Any, ...]:
    """Return the logical types that a Parquet file may give back as this one.

    >>> earlier_types(pa.date32())
    (DataType(date64[ms]),)
    """
    if pt.is_list(data_type):
        return tuple(pa.list_(inner) for inner in earlier_types(data_type.value_type))
    if pt.is_timestamp(data_type):
        units = {"ms": ("ms", "s"), "us": ("us", "ns")}.get(data_type.unit, (data_type.unit,))
        zones = _UTC_NAMES if data_type.tz == "UTC" else (data_type.tz,)
        types = [pa.timestamp(unit, zone) for unit in units for zone in zones]
        return tuple(earlier for earlier in types if earlier != data_type)
    if pt.is_decimal128(data_type):
        narrow = [(9, pa.decimal32), (18, pa.decimal64)]
        return tuple(make(data_type.precision, data_type.scale) for most, make in narrow if data_type.precision <= most)
    return _EARLIER.get(data_type, ())


_EARLIER: Mapping[Any, tuple[Any, ...]] = {
    pa.time32("ms"): (pa.time32("s"),),
    pa.time64("us"): (pa.time64("ns"),),
    pa.date32(): (pa.date64(),),
    pa.int64(): (pa.uint32(),),
}


def retyped_leaves(file: InputFile, wanted: Mapping[int, Sequence[Any]], function: str) -> dict[tuple[int, Any], bytes]:
    """Return digests of leaf columns as if they still had their earlier types.

    Args:
        file: An open file that can be read at any place; it is read from its start.
        wanted: By the number of a leaf, the types that it may have had.
        function: Digest function.

    Returns:
        The digest by leaf and type, where every value has that type exactly.
    """
    if not wanted:
        return {}
    file.seek(0)
    numbers = sorted(wanted)
    projects = is_parquet(file)
    source = read_records(file, leaves=tuple(numbers) if projects else None)
    leaves = flatten(source.schema).leaves
    chosen = dict(zip(numbers, leaves, strict=True)) if projects else {n: leaves[n] for n in numbers}
    digests = {(n, data_type): ArrayDigest(data_type, function=function) for n in numbers for data_type in wanted[n]}
    for batch in joined(source.batches, leaves, LeafPool(1).each):
        for number, leaf in chosen.items():
            _feed(digests, number, leaf_array(batch, leaf))
    return {key: digest.digest() for key, digest in digests.items()}


def _feed(digests: dict[tuple[int, Any], ArrayDigest], number: int, array: Any) -> None:
    for key in [key for key in digests if key[0] == number]:
        earlier = _cast(array, key[1])
        if earlier is None:  # some value does not fit, so the column never had that type
            del digests[key]
        else:
            digests[key].update(earlier)


def _cast(array: Any, data_type: Any) -> Any | None:
    try:
        return array.cast(logical_type(array.type)).cast(data_type)
    except (pa.ArrowException, OverflowError):
        return None


def leaf_array(batch: Any, leaf: Leaf) -> Any:
    """Return one leaf column of a record batch as an array in which the nulls of the structs above it are its own.

    Raises:
        InvalidArrayError: It points outside its buffers.
    """
    array = batch.column(leaf.indices[0])
    describe_leaf(array, leaf.indices, leaf.path)
    for index in leaf.indices[1:]:
        array = pc.struct_field(_decoded(array), [index])
    return _decoded(array)


def _decoded(array: Any) -> Any:
    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif pt.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif pt.is_run_end_encoded(array.type):
            array = pc.run_end_decode(array)
        else:
            return array


def was_only_retyped(file: InputFile, columns: tuple[ColumnDigest, ...], expected: Multihash) -> dict[int, Any]:
    """Return the earlier types, by leaf, under which a file's records have the expected logical hash; empty if none.

    It reads the columns that may have had another type once more, and tries all ways back together.
    """
    wanted = {n: types for n, column in enumerate(columns) if (types := earlier_types(column.data_type))}
    if not wanted or not is_parquet(file):
        return {}
    digests = retyped_leaves(file, wanted, expected.function.name)
    file.seek(0)
    flat = flatten(read_records(file).schema)
    for ways in islice(_ways(digests, wanted, columns), _MOST_WAYS):
        if combine(flat, [digest for _, digest in ways], expected.function) == expected.digest:
            return {n: data_type for n, (data_type, _) in enumerate(ways) if data_type is not None}
    return {}


def _ways(
    digests: dict[tuple[int, Any], bytes], wanted: Mapping[int, Sequence[Any]], columns: tuple[ColumnDigest, ...]
) -> Iterator[tuple[tuple[Any, bytes], ...]]:
    """Yield every choice of one type and digest for each leaf; a leaf that keeps its type has None for it."""
    choices = []
    for n, column in enumerate(columns):
        earlier = [(data_type, digests[n, data_type]) for data_type in wanted.get(n, ()) if (n, data_type) in digests]
        # A writer that changes types changes them all, so the ways that change most come first.
        choices.append([*earlier, (None, column.digest)])
    return product(*choices)
