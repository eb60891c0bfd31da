"""Hypothesis strategies: Arrow tables of every type, and the changes that must not change their hash.

`column_types` are those that arrow0 covers, `any_types` all.

Tables come in every physical layout. A seed of 0 is plain and seeds shrink towards it, so failures shrink to few
columns, few rows and few oddities. `reslice`, `rechunk`, `reencode` and `garbage_under_nulls` take a table and give a
strategy of tables that hold the same records.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from hypothesis import strategies as st

from helpers.layouts import BLIND_TEXT, Noise, blind, build, is_list, random_value, read, union_type, write

ROW_COUNTS = (0, 1, 2, 7, 8, 9, 63, 64, 65)
COLUMN_NAMES = ("a", "b", "", "é", "e\u0301", "a.b", "名前", "x" * 300, "nul\0nul")
TIME_UNITS = ("s", "ms", "us", "ns")
ZONES = (None, "UTC", "+00:00", "Europe/Berlin", "Nowhere/At_All")
INDEX_TYPES = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
DECIMALS = ((pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76))

seeds = st.integers(0, 2**16)


# --- Types ------------------------------------------------------------------------------------------------------------


@st.composite
def decimal_types(draw: Any) -> pa.DataType:
    make, digits = draw(st.sampled_from(DECIMALS))
    precision = draw(st.integers(1, digits))
    return make(precision, draw(st.integers(-3, precision)))


def fixed_width_types() -> st.SearchStrategy[pa.DataType]:
    """Every type whose values are bytes of one width."""
    numbers = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    floats = [pa.float16(), pa.float32(), pa.float64()]
    dates = [pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    timestamps = st.builds(pa.timestamp, st.sampled_from(TIME_UNITS), st.sampled_from(ZONES))
    return st.one_of(st.sampled_from([*numbers, *floats, *dates]), decimal_types(), timestamps)


def flat_types() -> st.SearchStrategy[pa.DataType]:
    return st.one_of(st.sampled_from([pa.string(), pa.binary(), pa.bool_(), pa.null()]), fixed_width_types())


def list_types(items: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    return st.one_of(st.builds(pa.list_, items), st.builds(pa.list_, items, st.integers(0, 3)))


def leaf_types() -> st.SearchStrategy[pa.DataType]:
    """Types of one leaf column: flat, or lists of lists of … flat, not struct."""
    return st.recursive(flat_types(), list_types, max_leaves=3)


def struct_types(children: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    return st.lists(st.tuples(st.sampled_from(COLUMN_NAMES[:-1]), children), max_size=3).map(
        lambda fields: pa.struct([pa.field(name, t) for name, t in fields])
    )


def column_types() -> st.SearchStrategy[pa.DataType]:
    """Types in their plain layout; a fixed-size list says that all lists have one length."""
    return st.recursive(leaf_types(), struct_types, max_leaves=4)


def union_types(children: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    def made(mode: str, drawn: list[pa.DataType], codes: list[int]) -> pa.DataType:
        return union_type(mode, [(COLUMN_NAMES[i % 4], t) for i, t in enumerate(drawn)], codes[: len(drawn)])

    codes = st.lists(st.integers(0, 127), min_size=3, max_size=3, unique=True)
    return st.builds(made, st.sampled_from(("sparse", "dense")), st.lists(children, min_size=1, max_size=3), codes)


def map_types(children: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    keys = children.filter(lambda t: not pt.is_null(t))  # pyarrow has no map of keys that are null
    return st.builds(pa.map_, keys, children)


def any_types() -> st.SearchStrategy[pa.DataType]:
    """Types of any kind and nesting, in their plain layout."""
    others = [pa.month_day_nano_interval(), *(pa.duration(unit) for unit in TIME_UNITS)]
    fitting = flat_types().filter(lambda t: not (pt.is_decimal256(t) and t.precision <= 38))  # any bits fit the others
    flat = st.one_of(st.sampled_from(others), fitting)

    def deeper(children: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
        return st.one_of(list_types(children), struct_types(children), map_types(children), union_types(children))

    return st.recursive(flat, deeper, max_leaves=4)


def reserved_types() -> st.SearchStrategy[pa.DataType]:
    """Types without an arrow0 encoding, alone, in lists, in structs, under dictionaries and extensions."""
    flat = st.sampled_from(
        [
            *(pa.duration(unit) for unit in TIME_UNITS),
            pa.month_day_nano_interval(),
            pa.map_(pa.string(), pa.int8()),
            pa.dense_union([pa.field("x", pa.int8())]),
            pa.sparse_union([pa.field("x", pa.int8()), pa.field("y", pa.string())]),
            pa.list_(pa.struct([("x", pa.int8())])),
            pa.list_(pa.struct([])),
            pa.list_(pa.dictionary(pa.int8(), pa.struct([("x", pa.int8())]))),
        ]
    )

    def deeper(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
        return st.one_of(
            st.builds(pa.list_, inner),
            st.builds(pa.large_list_view, inner),
            st.builds(pa.list_, inner, st.just(0)),
            inner.map(lambda t: pa.struct([("ok", pa.int8()), ("bad", t)])),
            inner.map(lambda t: pa.dictionary(pa.int8(), t)),
            inner.map(lambda t: pa.run_end_encoded(pa.int16(), t)),
            inner.map(opaque),
        )

    return st.recursive(flat, deeper, max_leaves=1)


def opaque(storage: pa.DataType) -> pa.DataType:
    """An extension type over any storage; this one is part of Arrow, so nothing has to be registered."""
    return pa.opaque(storage, "kind", "vendor")


# --- Encodings --------------------------------------------------------------------------------------------------------


def plain(t: pa.DataType) -> pa.DataType:
    """The type `t` encodes, in its plain layout."""
    if isinstance(t, pa.BaseExtensionType):
        return plain(t.storage_type)
    if pt.is_dictionary(t) or pt.is_run_end_encoded(t):
        return plain(t.value_type)
    if is_list(t):
        return pa.list_(plain(t.value_type))
    if pt.is_struct(t):
        return pa.struct([pa.field(t.field(i).name, plain(t.field(i).type)) for i in range(t.num_fields)])
    if pt.is_map(t):
        return pa.map_(plain(t.key_type), plain(t.item_type))
    if pt.is_union(t):
        fields = [(t.field(i).name, plain(t.field(i).type)) for i in range(t.num_fields)]
        return union_type("sparse", fields, list(range(t.num_fields)))
    if any(test(t) for test, _ in BLIND_TEXT):
        return pa.string()
    if pt.is_fixed_size_binary(t) or pt.is_large_binary(t) or pt.is_binary_view(t):
        return pa.binary()
    return t


@st.composite
def encodings(draw: Any, t: pa.DataType, values: list[Any]) -> pa.DataType:
    """Another encoding of `t` that can hold these neutral values."""
    encoded = draw(_layouts(plain(t), values))
    if pt.is_union(encoded) and None in values:
        encoded = pa.dictionary(pa.int16(), encoded)  # an index is all that can make a union null
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 1, 2)))):
        wrap = draw(st.sampled_from(("dictionary", "run ends", "extension")))
        if isinstance(encoded, pa.BaseExtensionType) and wrap != "run ends":
            continue  # the C data interface has no dictionary and no extension over an extension
        if wrap == "dictionary":
            index_types = INDEX_TYPES if len(values) < 64 else INDEX_TYPES[1:4] + INDEX_TYPES[5:]
            encoded = pa.dictionary(draw(st.sampled_from(index_types)), encoded, draw(st.booleans()))
        elif wrap == "run ends":
            if pt.is_run_end_encoded(encoded):
                continue  # run ends of run ends do not exist
            encoded = pa.run_end_encoded(draw(st.sampled_from((pa.int16(), pa.int32(), pa.int64()))), encoded)
        else:
            encoded = opaque(encoded)
    return encoded


@st.composite
def _layouts(draw: Any, t: pa.DataType, values: list[Any]) -> pa.DataType:
    present = [v for v in values if v is not None]
    if pt.is_struct(t):
        fields = []
        for i in range(t.num_fields):
            inner = draw(encodings(t.field(i).type, [v[str(i)] for v in present]))
            fields.append(pa.field(t.field(i).name, inner))
        return pa.struct(fields)
    if pt.is_map(t):
        entries = [entry for v in present for entry in v]
        key, item = (draw(encodings(each, [e[i] for e in entries])) for i, each in ((0, t.key_type), (1, t.item_type)))
        return pa.map_(key, item, draw(st.booleans()))
    if pt.is_union(t):
        fields = []
        for i in range(t.num_fields):
            inner = draw(encodings(t.field(i).type, [v for number, v in present if number == i]))
            fields.append((t.field(i).name, inner))
        codes = draw(st.lists(st.integers(0, 127), min_size=len(fields), max_size=len(fields), unique=True))
        return union_type(draw(st.sampled_from(("sparse", "dense"))), fields, codes)
    if pt.is_list(t):
        inner = draw(encodings(t.value_type, [item for v in present for item in v]))
        item = pa.field(draw(st.sampled_from(("item", "element", ""))), inner)
        makers = [pa.list_, pa.large_list, pa.list_view, pa.large_list_view]
        return draw(st.sampled_from([*makers, *_one_size(present, pa.list_)]))(item)
    if pt.is_string(t):
        return draw(st.sampled_from((pa.string(), pa.large_string(), pa.string_view())))
    if pt.is_binary(t):
        fixed = [make(0) for make in _one_size(present, lambda _, size: pa.binary(size))]
        return draw(st.sampled_from([pa.binary(), pa.large_binary(), pa.binary_view(), *fixed]))
    return t


def _one_size(present: list[Any], make: Callable[[Any, int], pa.DataType]) -> list[Callable[[Any], pa.DataType]]:
    """A maker of the fixed-size layout, if the values have one size (any, if there are none)."""
    sizes = {len(v) for v in present} or {2}
    return [lambda item: make(item, min(sizes))] if len(sizes) == 1 else []


# --- Tables -----------------------------------------------------------------------------------------------------------


def _noise(draw: Any, slack: bool = True, garbage: bool = True) -> Noise:
    seed = draw(seeds)
    return Noise(seed, slack=slack and seed > 0, garbage=garbage and seed > 0)


def _borders(draw: Any, rows: int) -> list[int]:
    return [0, *sorted(draw(st.lists(st.integers(0, rows), max_size=4))), rows]


def _build_chunks(draw: Any, values: list[Any], t: pa.DataType, borders: list[int]) -> pa.ChunkedArray:
    return pa.chunked_array([build(values[a:b], t, _noise(draw)) for a, b in pairwise(borders)], type=t)


@st.composite
def arrays(draw: Any, types: st.SearchStrategy[pa.DataType] | None = None, *, blinded: bool = False) -> pa.Array:
    """One array of any column type (or of `types`), in any layout; on request under the blind form of its type."""
    rows = draw(st.sampled_from(ROW_COUNTS))
    values, t = draw(_values_and_type(column_types() if types is None else types, rows))
    return write(values, blind(t), _noise(draw)) if blinded else build(values, t, _noise(draw))


@st.composite
def _values_and_type(draw: Any, types: st.SearchStrategy[pa.DataType], rows: int) -> tuple[list[Any], pa.DataType]:
    t = draw(types)
    rng, nulls = random.Random(draw(seeds)), draw(st.sampled_from((0.0, 0.2, 0.9)))
    few = [random_value(blind(t), rng, nulls) for _ in range(max(rows, 1))]
    if draw(st.booleans()):  # repeated values: what dictionaries and runs are for
        few = few[: 1 + rows // 8]
    values = [rng.choice(few) for _ in range(rows)]
    return values, draw(encodings(t, values))


@st.composite
def tables(draw: Any, types: st.SearchStrategy[pa.DataType] | None = None, max_columns: int = 3) -> pa.Table:
    """Tables of any column types (or of `types`) in any layout, chunked at other rows in every column."""
    rows = draw(st.sampled_from(ROW_COUNTS))
    fields, columns = [], []
    for _ in range(draw(st.integers(0, max_columns))):
        values, t = draw(_values_and_type(column_types() if types is None else types, rows))
        columns.append(_build_chunks(draw, values, t, _borders(draw, rows)))
        nullable = pt.is_null(t) or any(v is None for v in values) or draw(st.booleans())
        fields.append(pa.field(draw(st.sampled_from(COLUMN_NAMES)), t, nullable=nullable))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


# --- The same records in another form ---------------------------------------------------------------------------------


def _same_types(table: pa.Table, rewrite: Callable[[pa.Array], pa.Array]) -> pa.Table:
    columns = [pa.chunked_array([rewrite(chunk) for chunk in c.chunks], type=c.type) for c in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


@st.composite
def reslice(draw: Any, table: pa.Table) -> pa.Table:
    """Every chunk a slice of a longer array, with other rows before and after it, on every level of nesting."""
    return _same_types(table, lambda chunk: build(read(chunk), chunk.type, Noise(draw(seeds), slack=True)))


@st.composite
def garbage_under_nulls(draw: Any, table: pa.Table) -> pa.Table:
    """Other bytes wherever no value is; see `Noise`."""
    return _same_types(table, lambda chunk: build(read(chunk), chunk.type, Noise(draw(seeds), garbage=True)))


@st.composite
def rechunk(draw: Any, table: pa.Table) -> pa.Table:
    """Other chunks, also empty ones, cut where each column likes; the arrays are slices of the ones that were there."""
    columns = []
    for column in table.columns:
        borders = _borders(draw, table.num_rows)
        parts = [column.slice(a, b - a).chunks for a, b in pairwise(borders)]
        columns.append(pa.chunked_array([chunk for part in parts for chunk in part], type=column.type))
    return pa.Table.from_arrays(columns, schema=table.schema)


@st.composite
def reencode(draw: Any, table: pa.Table) -> pa.Table:
    """Every column in another encoding of its type, on every level, with metadata that says nothing."""
    fields, columns = [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        values = [value for chunk in column.chunks for value in read(chunk)]
        t = draw(encodings(field.type, values))
        columns.append(_build_chunks(draw, values, t, _borders(draw, len(values))))
        fields.append(pa.field(field.name, t, metadata={"note": "another encoding"}))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata={"writer": "another"}))


def same_records(table: pa.Table) -> st.SearchStrategy[pa.Table]:
    """Any of the changes above."""
    return st.one_of(reslice(table), garbage_under_nulls(table), rechunk(table), reencode(table))
