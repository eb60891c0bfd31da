"""kiln-arrow inspect: the tensors of each cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from _arrow_io.terminal import EXIT_OK, printable
from kiln_arrow.canonical.arrays import Opaque
from kiln_arrow.canonical.directory import Directory, decode
from kiln_arrow.canonical.dtypes import from_numpy
from kiln_arrow.canonical.frame import form_of
from kiln_arrow.cli.terminal import (
    EXIT_BAD_CELLS,
    complain,
    file_argument,
    one_row,
    require_row,
    write_text,
)
from kiln_arrow.columns.cells import CellArray
from kiln_arrow.columns.extension_types import FRAME
from kiln_arrow.columns.nested import cell_arrays
from kiln_arrow.errors import KilnError, below, shown
from kiln_arrow.files.reading import Batch, opened

__all__ = [
    "inspect_command",
]


@click.command(name="inspect")
@file_argument
@click.option("--column", help="Only this column; plain bytes are taken for tensors.")
@click.option("--row", type=click.IntRange(min=0), help="Only this row.")
def inspect_command(file: str, column: str | None, row: int | None) -> int:
    """List the tensors of each cell in FILE: row, bytes, dtype and dims, column and name."""
    status, count = EXIT_OK, 0
    with opened(file, column) as source:
        for batch in source.batches:
            count += batch.num_rows
            chosen = batch if row is None else one_row(batch, row)
            for place, data, leaf in _cells(chosen):
                if not _list_cell(file, place, data, leaf):
                    status = EXIT_BAD_CELLS
    require_row(file, row, count)
    return status


def _cells(batch: Batch) -> Iterator[tuple[str, memoryview | None, CellArray]]:
    """Yield the place of each cell, row by row where columns are flat, its bytes, and the array it is of."""
    found = [(name, leaf) for name, values in batch.columns for leaf in cell_arrays(values)]
    by_row: list[list[tuple[str, memoryview | None, CellArray]]] = [[] for _ in range(batch.num_rows)]
    for name, leaf in found:
        path = leaf.path_in(name)
        before, number = -1, 0
        for cell, data in enumerate(leaf.cells):
            row = leaf.row(cell)
            number = number + 1 if row == before else 0
            before = row
            item = "" if leaf.rows is None else f"[{number}]"
            by_row[row].append((f"{batch.first + row:>8}  {printable(path)}{item}", data, leaf))
    for cells in by_row:
        yield from cells


def _list_cell(file: str, place: str, data: memoryview | None, leaf: CellArray) -> bool:
    """Write a cell's lines; returns False where it is malformed, which is said on standard error."""
    try:
        lines = list(_lines(place, data, leaf))
    except KilnError as error:
        complain(f"{file}: row {place.strip()}: {error.rule}: {error}")
        return False
    write_text("".join(f"{line}\n" for line in lines))
    return True


def _lines(place: str, data: memoryview | None, leaf: CellArray) -> Iterator[str]:
    """Yield a line for each tensor of a cell, or one that says that there is none."""
    if data is None:
        yield f"{place}  null"
        return
    if leaf.type.extension_name == FRAME:
        directories = list(_directories(form_of(leaf.type.type_text).read(data), ""))
    else:
        directories = [("", decode(data))]
    count = 0
    for path, directory in directories:
        for name, tensor in directory.tensors:
            count += 1
            is_opaque = isinstance(tensor, Opaque)
            row = from_numpy(tensor.dtype)
            form = f"{row.name if row else tensor.dtype}[{','.join(map(str, tensor.shape))}]"
            size = len(tensor.data) if isinstance(tensor, Opaque) else tensor.nbytes
            layout = f"  layout {shown(tensor.layout)}" if isinstance(tensor, Opaque) and is_opaque else ""
            label = "unnamed" if name is None else shown(name)
            yield f"{place}  {size:>12}  {form:<20}  {printable(path) + '  ' if path else ''}{label}{layout}"
    if not count:
        yield f"{place}  no tensors"


def _directories(value: Any, path: str) -> Iterator[tuple[str, Directory]]:
    """Yield every directory in a thawed value with its path."""
    if isinstance(value, Directory):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _directories(item, below(path, str(key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _directories(item, f"{path}[{index}]")
