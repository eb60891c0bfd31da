"""kiln-arrow export: the tensors of each cell as a file of another format."""

from __future__ import annotations

from pathlib import Path

import click
import pyarrow as pa

from _arrow_io.terminal import EXIT_OK
from kiln_arrow.canonical.directory import decode
from kiln_arrow.cli.terminal import (
    EXIT_BAD_CELLS,
    OutputError,
    complain,
    file_argument,
    reading_progress,
    require_row,
    writing_output,
)
from kiln_arrow.columns.extension_types import TENSORS
from kiln_arrow.columns.nested import cell_arrays
from kiln_arrow.errors import KilnError
from kiln_arrow.files.other_formats import FORMATS, ExchangeError, write_tensors
from kiln_arrow.files.reading import ColumnError, Opened, opened

__all__ = [
    "export_command",
]


@click.command(name="export")
@file_argument
@click.option("--output", "-o", required=True, type=click.Path(file_okay=False), help="The folder to write to.")
@click.option("--column", help="The column of tensors; plain bytes are taken for tensors.  [default: the only one]")
@click.option("--row", type=click.IntRange(min=0), help="Only this row.")
@click.option("--format", "form", default="npz", show_default=True, type=click.Choice([f[1:] for f in FORMATS]))
def export_command(file: str, output: str, column: str | None, row: int | None, form: str) -> int:
    """Write the tensors of each cell in FILE to a file of its own, named by the number of its row.

    Null cells are left out. No file that is there already is written over.
    """
    folder, count = Path(output), 0
    with opened(file, column) as source, reading_progress(source) as tell:
        _require_tensors(file, source)
        for batch in source.batches:
            count += batch.num_rows
            ((_, values),) = batch.columns
            for index, data in enumerate(cell_arrays(values)[0].cells, batch.first):
                if data is None or row not in (None, index):
                    continue
                try:
                    with writing_output():
                        folder.mkdir(parents=True, exist_ok=True)
                        write_tensors(decode(data), folder / f"{index:08}.{form}")
                except KilnError as error:
                    complain(f"{file}: {error.rule}: {error.placed(row=index)}")
                    return EXIT_BAD_CELLS
                except OutputError as error:
                    raise ExchangeError(str(error)) from error
                except ExchangeError as error:
                    raise ExchangeError(f"{file}: row {index}: {error}") from error
            tell()
    require_row(file, row, count)
    return EXIT_OK


def _require_tensors(file: str, source: Opened) -> None:
    columns = [(name, _decoded(data_type)) for name, data_type in source.columns]
    if [getattr(data_type, "extension_name", None) for _, data_type in columns] != [TENSORS]:
        found = ", ".join(f"{name}: {data_type!s:.200}" for name, data_type in columns)
        raise ColumnError(f"{file}: expected one column of kiln.tensors, found {found}; --column names one")


def _decoded(data_type: pa.DataType) -> pa.DataType:
    """Return the type of what a dictionary or runs stand for."""
    is_encoded = pa.types.is_dictionary(data_type) or pa.types.is_run_end_encoded(data_type)
    return data_type.value_type if is_encoded else data_type
