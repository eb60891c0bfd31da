"""kiln-arrow validate: every malformed cell."""

from __future__ import annotations

import click

from _arrow_io.terminal import EXIT_OK, printable
from kiln_arrow.cli.terminal import (
    EXIT_BAD_CELLS,
    file_argument,
    reading_progress,
    write_text,
)
from kiln_arrow.columns.checked_cells import bad_cells
from kiln_arrow.columns.nested import cell_arrays
from kiln_arrow.files.reading import opened

__all__ = [
    "validate_command",
]


@click.command(name="validate")
@file_argument
@click.option("--column", help="Only this column; plain bytes are taken for tensors.")
def validate_command(file: str, column: str | None) -> int:
    """Check every cell of FILE, and name row, column, tensor and rule of each that is malformed."""
    cells = bad = 0
    with opened(file, column) as source, reading_progress(source) as tell:
        for batch in source.batches:
            for name, values in batch.columns:
                for leaf in cell_arrays(values):
                    cells += len(leaf.cells) - leaf.cells.null_count
                    for error in bad_cells(leaf):
                        bad += 1
                        found = error.placed(name, row=batch.first + (error.row or 0))
                        write_text(f"{printable(file)}: {found.rule}: {printable(str(found))}\n")
            tell()
    write_text(f"{printable(file)}: {cells} cells, {bad} bad\n")
    return EXIT_BAD_CELLS if bad else EXIT_OK
