"""Writing Parquet with settings that suit tensors (spec: in Arrow)."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from kiln_arrow.columns.extension_types import is_kiln
from kiln_arrow.columns.nested import cell_arrays, has_kiln
from kiln_arrow.columns.retype import measured_for_pyarrow
from kiln_arrow.columns.storage_arrays import LIMIT
from kiln_arrow.errors import KilnError
from kiln_arrow.files.whole_files import whole_file
from kiln_arrow.foreign.structure import children_of, is_encoded
from kiln_arrow.limits import Budget

__all__ = [
    "ROW_GROUP_BYTES",
    "write_table",
    "write_tables",
]

ROW_GROUP_BYTES = 256 << 20
"""No row group is larger, unless one row is."""

# A writer looks at sizes once a batch; a page must end well below the 2 GiB that its header can say.
_BATCH_BYTES = 64 << 20
_BATCH_ROWS = 1024

# pyarrow reads cells in half the time when a column chunk is one page, as it never has to move what it has gathered.
# The size of pages is one for all columns: the others must be so small that theirs stay small too. Whoever reads page
# by page holds one, so small cells, where it saves little, keep small pages.
_OTHERS_SHARE = 16
_LARGE_ROW = 1 << 10

_DEFAULT_CODEC = "snappy"


def write_table(table: pa.Table, where: Any, **options: Any) -> None:
    """Write a table as Parquet, its Kiln columns in a way that reads fast.

    The columns of cells are uncompressed, as tensors seldom shrink, and without dictionary or statistics, which would
    make filters on a dataset fail. Row groups have at most 256 MiB, or one row, and where cells of more than a kilobyte
    are nearly all of a table, each of their column chunks is one page. All other columns are written as
    `pyarrow.parquet.write_table` does.

    Args:
        table: The table.
        where: A path or a file object.
        **options: As for `pyarrow.parquet.write_table`. What a dict or list among them says of a Kiln column by its
            Parquet path, such as `images.list.element`, holds; `row_group_size` bounds rows as well.

    Raises:
        KilnError: A cell of 2 GiB or more, which Parquet cannot hold (rule `size`, with its `row`); a type that it
            cannot hold, such as a dictionary of cells (rule `arrow_type`); or any column points outside its buffers
            (rule `arrow`). Whatever fails, a local file is written whole or stays as it was.

    >>> import io, numpy, pyarrow, pyarrow.parquet, kiln_arrow
    >>> column = kiln_arrow.from_numpy({"x": numpy.zeros((10, 3))})
    >>> file = io.BytesIO()
    >>> kiln_arrow.write_table(pyarrow.table({"input": column}), file)
    >>> pyarrow.parquet.read_table(file)["input"].type == column.type
    True
    """
    write_tables([table], table.schema, where, options)


def write_tables(tables: Iterable[pa.Table], schema: pa.Schema, where: Any, options: dict[str, Any]) -> None:
    """Write tables of one schema one after another as `write_table` does one; the first comes before the file does."""
    for field in schema:
        _require_writable(field.type, field.name)
    rest = iter(tables)
    table = next(rest, None)
    sizes = _sizes_of(table)
    settings = _settings(schema, options, sizes)
    row_limit = settings.pop("row_group_size", None)
    if row_limit is not None and row_limit < 1:
        raise ValueError(f"expected row_group_size of at least 1, found {row_limit}")
    with _whole(where, options) as target, pq.ParquetWriter(target, schema, **settings) as writer:
        while table is not None:
            for first, last in _row_groups(sizes.rows, row_limit):
                writer.write_table(table.slice(first, last - first), row_group_size=max(last - first, 1))
            table = next(rest, None)
            sizes = _sizes_of(table)


def _whole(where: Any, options: dict[str, Any]) -> contextlib.AbstractContextManager[Any]:
    """Return a context with what to write to: for a local file another name, which becomes its name in the end."""
    is_local = isinstance(where, (str, os.PathLike)) and "://" not in os.fspath(where)
    if not is_local or options.get("filesystem") is not None or (Path(where).exists() and not Path(where).is_file()):
        return contextlib.nullcontext(where)
    return whole_file(where, replace=True)


def _require_writable(data_type: pa.DataType, path: str) -> None:
    """Refuse what pyarrow's writer refuses only after it has begun, or does not survive."""
    if pa.types.is_fixed_size_list(data_type) and data_type.list_size == 0:
        raise KilnError("arrow_type", "expected lists of a fixed size above 0, found lists of size 0", path=path)
    if is_encoded(data_type) and has_kiln(data_type):
        sentence = f"expected cells that Parquet can hold, found {data_type!s:.200}; take the cells out of it first"
        raise KilnError("arrow_type", sentence, path=path)
    for child in children_of(data_type):
        _require_writable(child, path)


class _Sizes(NamedTuple):
    rows: NDArray[np.int64]  # about how many bytes each row has
    largest: int  # the bytes of the largest cell
    others: int  # about how many bytes the columns without cells have


def _sizes_of(table: pa.Table | None) -> _Sizes:
    """Return the sizes in a table, none of whose cells is too large for Parquet."""
    rows: NDArray[np.int64] = np.zeros(0 if table is None else table.num_rows, np.int64)
    largest = others = 0
    budget = Budget()
    for name, column in [] if table is None else zip(table.column_names, table.columns, strict=True):
        base = 0
        for chunk in column.chunks:
            size = measured_for_pyarrow(chunk)
            if not has_kiln(column.type):
                others += size
                rows[base : base + len(chunk)] += -(-size // max(len(chunk), 1))
            for leaf in cell_arrays(chunk, budget):
                lengths = leaf.cells.sizes()
                longest = int(lengths.max(initial=0))
                if longest > LIMIT:
                    sentence = f"expected cells below 2 GiB, as Parquet can hold no more, found {longest} bytes"
                    raise KilnError(
                        "size", sentence, path=leaf.path_in(name), row=base + leaf.row(int(lengths.argmax()))
                    )
                largest = max(largest, longest)
                if leaf.rows is None:
                    rows[base : base + len(chunk)] += lengths
                else:
                    np.add.at(rows, base + leaf.rows, lengths)
            base += len(chunk)
    return _Sizes(rows, largest, others)


def _row_groups(sizes: NDArray[np.int64], row_limit: int | None) -> Iterator[tuple[int, int]]:
    """Yield first and last row of each group, the last not included; one empty group where there are no rows."""
    ends = np.cumsum(sizes)
    first = before = 0
    while True:
        last = max(int(np.searchsorted(ends, before + ROW_GROUP_BYTES, side="right")), min(first + 1, len(sizes)))
        if row_limit is not None:
            last = min(last, first + row_limit)
        yield first, last
        if last == len(sizes):
            return
        first, before = last, int(ends[last - 1])


def _settings(schema: pa.Schema, options: dict[str, Any], sizes: _Sizes) -> dict[str, Any]:
    """Return the writer's settings: those given, with the columns of cells left out unless they are named."""
    settings = dict(options)
    if sizes.largest:
        settings.setdefault("write_batch_size", max(1, min(_BATCH_ROWS, _BATCH_BYTES // sizes.largest)))
    kiln, others = _leaf_paths(schema, options)
    if not kiln:
        return settings
    codec = options.get("compression", _DEFAULT_CODEC)
    if not isinstance(codec, dict):
        codec = {**dict.fromkeys(others, codec or "NONE"), **dict.fromkeys(kiln, "NONE")}
    settings["compression"] = codec
    # A page that is compressed is taken as a whole, so it had better be small.
    plain = all(str(codec.get(path, "NONE")).upper() in {"NONE", "UNCOMPRESSED"} for path in kiln)
    total = int(sizes.rows.sum())
    if plain and total > max(_LARGE_ROW * len(sizes.rows), _OTHERS_SHARE * sizes.others):
        settings.setdefault("data_page_size", ROW_GROUP_BYTES)
    level = options.get("compression_level")
    if level is not None and not isinstance(level, dict):
        settings["compression_level"] = dict.fromkeys(others, level)
    if options.get("write_statistics", True) is True:
        settings["write_statistics"] = others
    if options.get("use_dictionary", True) is True:
        # A column with an encoding of its own has no dictionary.
        encoded = options.get("column_encoding") or ()
        settings["use_dictionary"] = [path for path in others if path not in encoded]
    return settings


def _leaf_paths(schema: pa.Schema, options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Return the Parquet paths of the columns of cells, and those of all other leaves."""
    if not any(has_kiln(field.type) for field in schema):
        return [], []
    naming = {key: options[key] for key in ("use_compliant_nested_type", "version", "flavor") if key in options}
    file = io.BytesIO()
    # How a schema becomes paths is the writer's business, so it is asked.
    pq.ParquetWriter(file, schema, **naming).close()
    found = pq.ParquetFile(file).schema
    paths = [found.column(index).path for index in range(len(found.names))]
    kiln = [leaf for field in schema for leaf in _leaf_kinds(field.type)]
    return (
        [path for path, is_cells in zip(paths, kiln, strict=True) if is_cells],
        [path for path, is_cells in zip(paths, kiln, strict=True) if not is_cells],
    )


def _leaf_kinds(data_type: pa.DataType) -> Iterator[bool]:
    """Yield for each leaf of a type, in the order Parquet has them, whether it holds cells."""
    if is_kiln(data_type):
        yield True
    elif isinstance(data_type, pa.BaseExtensionType):
        yield from _leaf_kinds(data_type.storage_type)
    elif pa.types.is_dictionary(data_type):
        yield from _leaf_kinds(data_type.value_type)
    elif not data_type.num_fields:
        yield False
    else:
        for index in range(data_type.num_fields):
            yield from _leaf_kinds(data_type.field(index).type)
