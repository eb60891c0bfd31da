"""What a case of tree0 and bag0 is, and how its arrays are made where arrow0's cases do not show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from arrow0_cases.case import i32, opaque, raw

INTERVALS = Path(__file__).parents[2] / "tests/data/arrow-testing/cpp-21.0.0/generated_interval.stream"


@dataclass(frozen=True)
class TreeCase:
    """One case, of both rule sets unless `only` names one.

    `same_records_as` names earlier cases with the same records, `same_bag_as` those that have the same rows in another
    order. A case with an `error` is refused. A `nested` case has no stream, as none can hold it: its table has no rows
    and one column, a type inside so many wrappings.
    """

    id: str
    comment: str
    flags: tuple[str, ...]
    table: pa.Table | None = None
    same_records_as: tuple[str, ...] = ()
    same_bag_as: tuple[str, ...] = ()
    error: dict[str, Any] | None = None
    slice: tuple[int, int] | None = None
    patches: tuple[tuple[bytes, bytes], ...] = ()
    nested: dict[str, Any] | None = None
    compressed: bool = False
    empty_batch: bool = False
    only: str | None = None

    @property
    def result(self) -> str:
        return "refused" if self.error else "valid"


def sparse(codes: list[int], *named: tuple[str, pa.Array], type_codes: list[int] | None = None) -> pa.Array:
    names, children = [name for name, _ in named], [child for _, child in named]
    return pa.UnionArray.from_sparse(pa.array(codes, pa.int8()), children, names, type_codes)


def dense(
    codes: list[int], offsets: list[int], *named: tuple[str, pa.Array], type_codes: list[int] | None = None
) -> pa.Array:
    names, children = [name for name, _ in named], [child for _, child in named]
    return pa.UnionArray.from_dense(
        pa.array(codes, pa.int8()), pa.array(offsets, pa.int32()), children, names, type_codes
    )


def mapped(offsets: list[int], keys: pa.Array, values: pa.Array, validity: bytes | None = None) -> pa.Array:
    """A map over keys and values; pyarrow has no arrays of maps whose keys have a null, unless an encoding holds it."""
    entries = raw(
        pa.struct([pa.field("key", keys.type, nullable=False), ("value", values.type)]),
        len(keys),
        None,
        children=[keys, values],
    )
    return raw(pa.map_(keys.type, values.type), len(offsets) - 1, validity, i32(*offsets), children=[entries])


def listed(offsets: list[int], items: pa.Array, validity: bytes | None = None) -> pa.Array:
    return raw(pa.list_(items.type), len(offsets) - 1, validity, i32(*offsets), children=[items])


class _Retyped:
    """A batch for pyarrow to import: the buffers of one batch under other types of the same layout."""

    def __init__(self, batch: pa.RecordBatch, schema: pa.Schema) -> None:
        self._batch, self._schema = batch, schema

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self._schema.__arrow_c_schema__(), self._batch.__arrow_c_array__()[1]


def old_intervals(months: pa.Array, days: pa.Array) -> pa.Table:
    """Columns of the two interval types that pyarrow reads and has no arrays of."""
    types = pa.ipc.open_stream(INTERVALS.read_bytes()).schema.types
    schema = pa.schema(list(zip(("year_month", "day_time"), types, strict=True)))
    return pa.Table.from_batches([pa.record_batch(_Retyped(pa.record_batch([months, days], ["a", "b"]), schema))])


# What a `nested` case wraps a type in, by the name that the golden files have for it.
WRAPPINGS: dict[str, Callable[[pa.DataType], pa.DataType]] = {
    "list": pa.list_,
    "struct": lambda t: pa.struct([("x", t)]),
    "map": lambda t: pa.map_(pa.int8(), t),
    "union": lambda t: pa.dense_union([pa.field("x", t)]),
    "dictionary": lambda t: pa.dictionary(pa.int8(), t),
    "extension": lambda t: opaque(pa.nulls(0, t)).type,
}


def nested_table(nested: dict[str, Any]) -> pa.Table:
    """A table of no rows with one column `c`: the wrappings of a `nested` case around an int8, the outermost first."""
    t: pa.DataType = pa.int8()
    for wrapping in reversed(nested["wrappings"]):
        t = reduce(lambda inner, _, wrap=WRAPPINGS[wrapping["type"]]: wrap(inner), range(wrapping["times"]), t)
    return pa.Table.from_batches([], pa.schema([("c", t)]))
