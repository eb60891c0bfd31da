"""What a hash is made of, byte by byte, for people who write another implementation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from arrow_digest.arrays.batches import joined
from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.nodes import Node
from arrow_digest.errors import format_path
from arrow_digest.functions import DEFAULT_FUNCTION
from arrow_digest.multihash import Multihash
from arrow_digest.public import public
from arrow_digest.reading.sources import open_source
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.records import digest_source
from arrow_digest.rules.rule import ColumnDigest, Plan, Rule
from arrow_digest.typing import RecordSource
from arrow_digest.workers import Pool, thread_count

__all__ = ["ColumnExplanation", "Explanation", "explain"]


@public
@dataclass(frozen=True)
class ColumnExplanation:
    """One leaf column.

    Attributes:
        column: Its path, logical type, null count and digest.
        type_bytes: What its digest is fed first.
        first_bytes: The first of the bytes that it is fed after that.
        is_all: True if `first_bytes` is all of them.
    """

    column: ColumnDigest
    type_bytes: bytes
    first_bytes: bytes
    is_all: bool


@public
@dataclass(frozen=True)
class Explanation:
    """What a logical hash is made of. `str` gives it for people, with offsets and hex.

    Attributes:
        row_count: Number of rows.
        fields: Each field's path and the bytes that the combined digest is fed of it: name length, name, level.
        columns: The leaf columns, depth first; their digests are fed after that.
        logical: The hash.
        is_part: True if only some of the fields and leaves are there.
    """

    row_count: int
    fields: tuple[tuple[tuple[str, ...], bytes], ...]
    columns: tuple[ColumnExplanation, ...]
    logical: Multihash
    is_part: bool = False

    def __str__(self) -> str:
        """Return it for people."""
        lines = ["combined digest, fields:"]
        lines += [f"  {data.hex(' ')}  {format_path(path)}, level {len(path) - 1}" for path, data in self.fields]
        for explained in self.columns:
            column = explained.column
            nulls = f"{column.null_count} null of {self.row_count} rows"
            lines += [
                f"leaf {format_path(column.path)}: {column.data_type}, {nulls}",
                f"  type    {explained.type_bytes.hex(' ')}",
                *_hex_lines("  values  ", explained),
                f"  digest  {column.digest.hex()}",
            ]
        if not self.is_part:
            lines.append(f"combined digest, leaves: the {len(self.columns)} digests above, in this order")
        lines.append(f"{self.logical.name}: {self.logical}")
        return "\n".join(lines)


def _hex_lines(head: str, explained: ColumnExplanation) -> list[str]:
    data = explained.first_bytes
    parts = [data[start : start + 16].hex(" ") for start in range(0, len(data), 16)] or ["(none)"]
    if not explained.is_all:
        parts[-1] += " …"
    return [(head if number == 0 else " " * len(head)) + part for number, part in enumerate(parts)]


@public
def explain(
    data: RecordSource,
    *,
    function: str = DEFAULT_FUNCTION,
    byte_count: int = 64,
    threads: int | None = None,
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
) -> Explanation:
    """Return what the logical hash of records is made of.

    Args:
        data: A path, a URI that fsspec opens, or anything that exports Arrow records and can do so twice.
        function: Digest function: `sha3-256` (the standard), `sha2-256` or `blake3`.
        byte_count: How many of the bytes that each leaf is fed are shown.
        threads: How many threads to use; None for every core.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read: `ns`, or `us` where days before
            1677 or after 2262 are among them. A value that does not fit is an error.

    Raises:
        UnreadableError: The file cannot be read.
        UnsupportedTypeError: A column's type has no arrow0 encoding.
        InvalidArrayError: An array points outside its own buffers.
        UnknownFunctionError: No such digest function.
        TypeError: `data` is neither a path nor an exporter.

    >>> import pyarrow as pa
    >>> explained = explain(pa.table({"a": pa.array([1, None], pa.int16())}))
    >>> explained.columns[0].type_bytes.hex(), explained.columns[0].first_bytes.hex()
    ('0100011000000000000000', '010000')
    """
    rule, count = chosen_rule(function), thread_count(threads)
    with open_source(data, threads=count, int96_unit=int96_unit) as source:
        digest = digest_source(source, rule, threads=count)
    with open_source(data, threads=count, int96_unit=int96_unit) as source:
        plan = rule.plan(source.schema)
        streams = _first_bytes(rule, plan, source.batches, byte_count)
    columns = zip(plan.leaves, digest.columns(), streams, strict=True)
    return Explanation(
        row_count=digest.row_count,
        fields=tuple((field.path, field.head) for field in plan.fields),
        columns=tuple(
            ColumnExplanation(column, leaf.encoded_type, data[:byte_count], len(data) <= byte_count)
            for leaf, column, data in columns
        ),
        logical=digest.multihash(),
    )


def _first_bytes(rule: Rule, plan: Plan, batches: Iterable[pa.RecordBatch], byte_count: int) -> list[bytes]:
    """Return at least one byte more of each leaf's stream than is shown, where there is one."""
    streams = [b""] * len(plan.leaves)
    for batch in joined(batches, Pool(1).each):
        wanted = [number for number, data in enumerate(streams) if len(data) <= byte_count]
        if not wanted:
            break
        columns: dict[int, Node] = {}
        for number in wanted:
            leaf, index = plan.leaves[number], plan.leaves[number].indices[0]
            if index not in columns:
                # A row is a byte at least, so no more rows are needed than bytes.
                columns[index] = describe(batch.column(index).slice(0, byte_count + 1), leaf.path[:1])
            streams[number] += _joined_start(rule.stream(columns[index], leaf), byte_count + 1 - len(streams[number]))
    return streams


def _joined_start(parts: Iterable[npt.NDArray[np.uint8]], byte_count: int) -> bytes:
    data = b""
    for part in parts:
        data += bytes(part[: byte_count - len(data)])
        if len(data) >= byte_count:
            break
    return data
