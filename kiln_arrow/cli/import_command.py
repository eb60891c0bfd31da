"""kiln-arrow import: files of other formats as the rows of a Parquet file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from _arrow_io.terminal import EXIT_OK
from kiln_arrow.cli.terminal import (
    FILE_NAME,
    share_done,
    writing_output,
)
from kiln_arrow.columns.extension_types import TensorsType
from kiln_arrow.columns.from_tensors import array
from kiln_arrow.errors import KilnError
from kiln_arrow.files.other_formats import ExchangeError, read_tensors
from kiln_arrow.files.parquet import write_tables
from kiln_arrow.files.whole_files import whole_file

__all__ = [
    "import_command",
]

# Cells of imported files are written when they come to about this many bytes.
_IMPORTED_AT_ONCE = 128 << 20


@click.command(name="import")
@click.argument("files", nargs=-1, required=True, type=FILE_NAME)
@click.option("--output", "-o", required=True, type=FILE_NAME, help="The Parquet file to write; it must not be there.")
@click.option("--column", default="tensors", show_default=True, help="Name of the column of tensors.")
def import_command(files: tuple[str, ...], output: str, column: str) -> int:
    """Write each of FILES, .npz or .safetensors, as one row of a Parquet file.

    The column `file` has the name of the file a row is from.
    """
    schema = pa.schema([("file", pa.string()), (column, TensorsType())])
    with writing_output(), whole_file(output, replace=False) as temporary, share_done(output) as tell:
        write_tables(_imported(files, schema, tell), schema, temporary, {})
    return EXIT_OK


def _imported(files: Sequence[str], schema: pa.Schema, tell: Callable[[int, int], None]) -> Iterator[pa.Table]:
    names: list[str] = []
    cells: list[Any] = []
    size = 0
    for count, file in enumerate(files, 1):
        try:
            tensors = read_tensors(Path(file))
            cell = array([tensors])
        except (ExchangeError, KilnError) as error:
            raise ExchangeError(f"{file}: {error}") from error
        names.append(Path(file).name.encode("utf-8", "replace").decode())
        cells.append(cell)
        size += cell.nbytes
        if size > _IMPORTED_AT_ONCE:
            yield pa.Table.from_arrays([pa.array(names), pa.chunked_array(cells)], schema=schema)
            names, cells, size = [], [], 0
        tell(count, len(files))
    if names:
        yield pa.Table.from_arrays([pa.array(names), pa.chunked_array(cells)], schema=schema)
