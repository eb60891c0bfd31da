"""Files of any format that the shared reader knows, as batches of their Kiln columns: every column that is marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa

from _arrow_io.formats import is_parquet, read_file
from _arrow_io.opening import InputFile
from _arrow_io.source import Source
from _arrow_io.terminal import open_argument
from kiln_arrow.columns.marks import keeping_marks, label, marked_type, tensors_over
from kiln_arrow.columns.nested import has_kiln
from kiln_arrow.columns.retype import retyped
from kiln_arrow.errors import KilnError
from kiln_arrow.foreign.structure import measured

__all__ = [
    "Batch",
    "ColumnError",
    "Opened",
    "opened",
]


class ColumnError(ValueError):
    """A file without the column that is asked for, or with one that is marked as Kiln's and cannot be looked at."""


class Batch(NamedTuple):
    """Some rows of a file: the number of the first, how many, and each column that was chosen, with its label."""

    first: int
    num_rows: int
    columns: list[tuple[str, pa.Array]]


class Opened(NamedTuple):
    """An open file: the labels and types of the chosen columns, its batches, and the file for who tells of progress."""

    columns: list[tuple[str, pa.DataType]]
    batches: Iterator[Batch]
    file: InputFile


class _Column(NamedTuple):
    number: int
    label: str
    type: pa.DataType


@contextmanager
def opened(path: str, column: str | None) -> Iterator[Opened]:
    """Open a file for all of its Kiln columns, or for one that is named, whose plain bytes are taken for directories.

    Raises:
        ColumnError: It is not there, or cannot be looked at.
        UnreadableError: The file cannot be read to its end; here, or when the batches are read.
    """
    with open_argument(path) as file, ExitStack() as stack:
        columnar = is_parquet(file)
        stack.enter_context(keeping_marks(in_metadata=columnar))
        source = read_file(file)
        try:
            chosen = _chosen(source.schema, column)
        except KilnError as error:
            raise ColumnError(f"{file.name}: a column that is marked as Kiln's cannot be looked at: {error}") from error
        except ColumnError as error:
            raise ColumnError(f"{file.name}: {error}") from error
        places = [c.number for c in chosen]
        if columnar and len(chosen) < len(source.schema):  # the others are not read
            file.seek(0)
            source, places = read_file(file, leaves=_leaves(source.schema.types, places)), list(range(len(places)))
        yield Opened([(c.label, c.type) for c in chosen], _batches(source, chosen, places), file)


def _chosen(schema: pa.Schema, column: str | None) -> list[_Column]:
    """Return the columns that are marked, or the one that is asked for."""
    columns = list(map(_Column, range(len(schema)), _labels(schema), schema.types))
    if column is not None:
        named = [c for c in columns if c.label == column]
        if len(named) != 1:
            alike = [c.label for c in columns if label(schema.field(c.number)) == column]
            hint = f": name one of {', '.join(alike)}" if alike else ""
            raise ColumnError(f"expected one column {column!r}, found {len(alike)}{hint}")
        (wanted,) = named
        data_type = marked_type(schema.field(wanted.number))
        if not has_kiln(data_type):
            try:
                data_type = tensors_over(data_type)
            except KilnError:
                raise ColumnError(f"column {column!r} holds {data_type}, neither Kiln cells nor bytes") from None
        return [wanted._replace(type=data_type)]
    typed = [c._replace(type=marked_type(schema.field(c.number))) for c in columns]
    chosen = [c for c in typed if has_kiln(c.type)]
    if not chosen:
        raise ColumnError(f"none of its {len(columns)} columns is marked as Kiln's; --column takes one of plain bytes")
    return chosen


def _labels(schema: pa.Schema) -> list[str]:
    """Return the name of each column, with its number where several have it."""
    names = [label(field) for field in schema]
    return [f"{name}#{index}" if names.count(name) > 1 else name for index, name in enumerate(names)]


def _leaves(types: Sequence[pa.DataType], columns: Sequence[int]) -> list[int]:
    """Return the numbers of the Parquet columns that some columns of these types are stored as."""
    starts = list(accumulate(map(_leaf_count, types), initial=0))
    return [leaf for column in columns for leaf in range(starts[column], starts[column + 1])]


def _leaf_count(data_type: Any) -> int:
    """Return how many Parquet columns an Arrow column is stored as."""
    if isinstance(data_type, pa.BaseExtensionType):
        return _leaf_count(data_type.storage_type)
    if pa.types.is_dictionary(data_type):
        return _leaf_count(data_type.value_type)
    return sum(_leaf_count(data_type.field(index).type) for index in range(data_type.num_fields)) or 1


def _batches(source: Source, chosen: list[_Column], places: list[int]) -> Iterator[Batch]:
    first = 0
    for records in source.batches:
        for batch in records.to_batches() if isinstance(records, pa.Table) else (records,):
            struct = batch.to_struct_array()  # a batch gives no column whose name is not UTF-8
            columns = [
                (column.label, _typed(struct.field(place), column, source.name))
                for column, place in zip(chosen, places, strict=True)
            ]
            yield Batch(first, batch.num_rows, columns)
            first += batch.num_rows


def _typed(array: pa.Array, column: _Column, name: str) -> pa.Array:
    """Return an array with the types that its marks stand for."""
    try:
        measured(array)  # what is taken for another type is followed
        return retyped(array, column.type)
    except KilnError as error:
        raise ColumnError(f"{name}: column {column.label!r}: {error}") from error
