"""Pairs of tables, and whether a hash of records ought to be the same for both.

What a peer makes of them is found by running it; only the question is written here. The last tables are questions of
their own: is there a hash at all?
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


class Pair(NamedTuple):
    """Two tables, made when asked for."""

    label: str
    same: bool
    make: Callable[[], tuple[Any, Any]]


def _base(rows: int = 200) -> Any:
    return pa.table(
        {
            "n": pa.array([i * 7 if i % 5 else None for i in range(rows)], pa.int64()),
            "f": pa.array([i / 3 for i in range(rows)]),
            "s": pa.array([f"text {i % 17}" if i % 4 else None for i in range(rows)]),
        }
    )


def _replace(table: Any, name: str, column: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, column)


def _ints(*values: Any, kind: Any = None) -> Any:
    return pa.table({"a": pa.array(values, kind or pa.int32())})


def _strings(*values: Any) -> Any:
    return pa.table({"a": pa.array(values, pa.string())})


def _chunked() -> tuple[Any, Any]:
    table = _base()
    return table, pa.concat_tables([table.slice(start, 13) for start in range(0, len(table), 13)])


def _dictionary() -> tuple[Any, Any]:
    table = _base()
    return table, _replace(table, "s", table["s"].combine_chunks().dictionary_encode())


def _sliced() -> tuple[Any, Any]:
    rows = _base(203)
    return pa.table(rows.slice(3).to_pydict(), rows.schema), rows.slice(3)


def _garbage(kind: Any, plain: Any, dirty: Any) -> tuple[Any, Any]:
    """Return two arrays of the same values, over other bytes under the null in the middle."""
    validity = pa.py_buffer(bytes([0b101]))

    def column(buffers: Any) -> Any:
        return pa.table({"a": pa.Array.from_buffers(kind, 3, [validity, *map(pa.py_buffer, buffers)])})

    return column(plain), column(dirty)


def _garbage_numbers() -> tuple[Any, Any]:
    return _garbage(pa.int64(), [np.array([1, 0, 3])], [np.array([1, 99, 3])])


def _garbage_texts() -> tuple[Any, Any]:
    plain = [np.array([0, 1, 1, 2], np.int32), b"ac"]
    return _garbage(pa.string(), plain, [np.array([0, 1, 4, 5], np.int32), b"aXYZc"])


def _garbage_lists() -> tuple[Any, Any]:
    plain = pa.ListArray.from_buffers(
        pa.list_(pa.int32()),
        2,
        [pa.py_buffer(bytes([0b01])), pa.py_buffer(np.array([0, 2, 2], np.int32))],
        children=[pa.array([1, 2], pa.int32())],
    )
    dirty = pa.ListArray.from_buffers(
        pa.list_(pa.int32()),
        2,
        [pa.py_buffer(bytes([0b01])), pa.py_buffer(np.array([0, 2, 4], np.int32))],
        children=[pa.array([1, 2, 8, 9], pa.int32())],
    )
    return pa.table({"a": plain}), pa.table({"a": dirty})


def _validity_bitmap() -> tuple[Any, Any]:
    data = pa.py_buffer(np.array([1, 2, 3]))
    with_bitmap = pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b"\x07"), data])
    return pa.table({"a": pa.array([1, 2, 3])}), pa.table({"a": with_bitmap})


def _parquet(**options: Any) -> tuple[Any, Any]:
    file = io.BytesIO()
    pq.write_table(_base(), file, **options)
    return _base(), pq.read_table(file)


def _nullability() -> tuple[Any, Any]:
    table = _base()
    fields = [pa.field("n", pa.int64()), pa.field("f", pa.float64(), nullable=False), pa.field("s", pa.string())]
    return table, table.cast(pa.schema(fields))


def _moved(row: int) -> tuple[Any, Any]:
    """Return a table cut in two, and the same with one number changed in the row."""
    table = _base()
    floats = table["f"].to_pylist()
    floats[row] += 1
    changed = _replace(table, "f", pa.array(floats))
    return tuple(pa.concat_tables([t.slice(0, 100), t.slice(100)]) for t in (table, changed))  # type: ignore[return-value]


def _struct(values: Any) -> Any:
    return pa.table({"a": pa.array(values, pa.struct([("x", pa.int32())]))})


def _null_struct_over(value: int) -> Any:
    child = pa.array([value, 2])
    return pa.table({"a": pa.StructArray.from_arrays([child], ["x"], mask=pa.array([True, False]))})


PAIRS: dict[str, Pair] = {
    "chunks": Pair("other chunks", True, _chunked),
    "dictionary": Pair("dictionary-encoded text", True, _dictionary),
    "slice": Pair("a slice, or a copy of its rows", True, _sliced),
    "garbage_numbers": Pair("other bytes under a null number", True, _garbage_numbers),
    "garbage_texts": Pair("other bytes under a null text", True, _garbage_texts),
    "garbage_lists": Pair("other items under a null list", True, _garbage_lists),
    "garbage_structs": Pair(
        "other values under a null struct", True, lambda: (_null_struct_over(1), _null_struct_over(9))
    ),
    "bitmap": Pair("no nulls, with and without a validity bitmap", True, _validity_bitmap),
    "large_string": Pair(
        "string and large_string", True, lambda: (_base(), _replace(_base(), "s", _base()["s"].cast(pa.large_string())))
    ),
    "string_view": Pair(
        "string and string_view", True, lambda: (_base(), _replace(_base(), "s", _base()["s"].cast(pa.string_view())))
    ),
    "parquet": Pair("written as Parquet and read", True, _parquet),
    "nullability": Pair("a column declared as not nullable", True, _nullability),
    "metadata": Pair("schema metadata", True, lambda: (_base(), _base().replace_schema_metadata({"k": "v"}))),
    "value": Pair("one value changed", False, lambda: _moved(50)),
    "later_value": Pair("one value changed, in a later chunk", False, lambda: _moved(150)),
    "rename": Pair("a column renamed", False, lambda: (_base(), _base().rename_columns(["n", "g", "s"]))),
    "column_order": Pair("columns in another order", False, lambda: (_base(), _base().select(["s", "n", "f"]))),
    "row_order": Pair("rows in another order", False, lambda: (_base(), _base().take(pa.array(range(199, -1, -1))))),
    "row_twice": Pair(
        "two equal rows added", False, lambda: (_base(), pa.concat_tables([_base(), *[_base()[:1]] * 2]))
    ),
    "columns_swapped": Pair(
        "two values swapped between columns",
        False,
        lambda: (pa.table({"a": [1, 2], "b": [3, 4]}), pa.table({"a": [3, 2], "b": [1, 4]})),
    ),
    "text_border": Pair("a letter moved to the next text", False, lambda: (_strings("ab", "c"), _strings("a", "bc"))),
    "integer_width": Pair(
        "the same numbers, int32 and int64", False, lambda: (_ints(1, 2), _ints(1, 2, kind=pa.int64()))
    ),
    "integer_sign": Pair(
        "the same numbers, int32 and uint32", False, lambda: (_ints(1, 2), _ints(1, 2, kind=pa.uint32()))
    ),
    "time_zone": Pair(
        "the same moments, with a time zone and without",
        False,
        lambda: (_ints(1, 2, kind=pa.timestamp("us")), _ints(1, 2, kind=pa.timestamp("us", "UTC"))),
    ),
    "negative_zero": Pair(
        "0.0 and -0.0", False, lambda: (_ints(0.0, kind=pa.float64()), _ints(-0.0, kind=pa.float64()))
    ),
    "null_zero": Pair("a null and 0 (int32)", False, lambda: (_ints(1, None, 2), _ints(1, 0, 2))),
    "null_zero_int8": Pair(
        "a null and 0 (int8)", False, lambda: (_ints(1, None, kind=pa.int8()), _ints(1, 0, kind=pa.int8()))
    ),
    "null_moved": Pair("[256, null] and [null, 1] (int32)", False, lambda: (_ints(256, None), _ints(None, 1))),
    "null_text": Pair("a null and an empty text", False, lambda: (_strings("a", None), _strings("a", ""))),
    "null_texts": Pair("eight null texts and one empty text", False, lambda: (_strings(*[None] * 8), _strings(""))),
    "null_struct": Pair(
        "a null struct and a struct of a null", False, lambda: (_struct([None]), _struct([{"x": None}]))
    ),
}

# Is there a hash of such a column at all?
KINDS: dict[str, tuple[str, Callable[[], Any]]] = {
    "list": ("list<int64>", lambda: pa.table({"a": [[1, 2], [], None]})),
    "fixed_size_list": ("fixed_size_list", lambda: pa.table({"a": pa.array([[1, 2]], pa.list_(pa.int32(), 2))})),
    "list_of_list": ("list<list<string>>", lambda: pa.table({"a": [[["x"], []], None]})),
    "struct": ("struct", lambda: pa.table({"a": [{"x": 1, "y": "z"}, None]})),
    "list_of_struct": ("list<struct>", lambda: pa.table({"a": [[{"x": 1}]]})),
    "map": ("map", lambda: pa.table({"a": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32()))})),
    "decimal": ("decimal128", lambda: pa.table({"a": pa.array([1, None], pa.decimal128(20, 2))})),
    "float16": ("float16", lambda: pa.table({"a": pa.array(np.array([1, 2], np.float16))})),
    "binary": ("binary", lambda: pa.table({"a": [b"\xff", None]})),
    "duration": ("duration", lambda: pa.table({"a": pa.array([1], pa.duration("us"))})),
    "null": ("null", lambda: pa.table({"a": pa.nulls(3)})),
    "run_end": ("run-end encoded", lambda: pa.table({"a": pa.RunEndEncodedArray.from_arrays([2], [1])})),
    "no_rows": ("no rows", lambda: _base()[:0]),
}
