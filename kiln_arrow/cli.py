"""The kiln-arrow command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from _arrow_io.errors import UnreadableError
from _arrow_io.terminal import EXIT_OK, path_argument, printable, run, say, show, write
from kiln_arrow.canonical.arrays import Opaque
from kiln_arrow.canonical.directory import Directory, decode
from kiln_arrow.canonical.dtypes import from_numpy
from kiln_arrow.canonical.frame import form_of
from kiln_arrow.columns.cells import Leaf, bad_cells, leaves
from kiln_arrow.columns.extension_types import FRAME, TENSORS, TensorsType
from kiln_arrow.columns.from_tensors import array
from kiln_arrow.errors import KilnError, below, shown
from kiln_arrow.files.other_formats import FORMATS, ExchangeError, read_tensors, write_tensors
from kiln_arrow.files.parquet import write_tables
from kiln_arrow.files.reading import Batch, ColumnError, Opened, opened
from kiln_arrow.files.whole_files import whole_file

__all__ = ["main"]

_EXIT_BAD_CELLS = 1

# Cells of imported files are written when they come to about this many bytes.
_IMPORTED_AT_ONCE = 128 << 20

_PATH = click.Path(dir_okay=False)
_FILE = click.argument("file", type=path_argument)


# What these say is all there is to say.
_EXPECTED = (UnreadableError, ColumnError, ExchangeError, KilnError)


def main() -> None:
    """Run the command and leaves with a status that says what happened, without a traceback."""
    run(command, "kiln-arrow", _EXPECTED)


def _version() -> str:
    try:
        return version("kiln-arrow")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(_version(), prog_name="kiln-arrow")
def command() -> None:
    """Look into the tensors in Parquet and Arrow files, check them, and bring them in and out.

    Exit status: 0 success; 1 cells are malformed; 2 usage, unreadable or unsupported.
    """


@command.command()
@_FILE
@click.option("--column", help="Only this column; plain bytes are taken for tensors.")
@click.option("--row", type=click.IntRange(min=0), help="Only this row.")
def inspect(file: str, column: str | None, row: int | None) -> int:
    """List the tensors of each cell in FILE: row, bytes, dtype and dims, column and name."""
    status, count = EXIT_OK, 0
    with opened(file, column) as source:
        for batch in source.batches:
            count += batch.num_rows
            chosen = batch if row is None else _one_row(batch, row)
            for place, data, leaf in _cells(chosen):
                if not _list_cell(file, place, data, leaf):
                    status = _EXIT_BAD_CELLS
    _require_row(file, row, count)
    return status


@command.command()
@_FILE
@click.option("--column", help="Only this column; plain bytes are taken for tensors.")
def validate(file: str, column: str | None) -> int:
    """Check every cell of FILE, and name row, column, tensor and rule of each that is malformed."""
    cells = bad = 0
    with opened(file, column) as source, _progress(source) as tell:
        for batch in source.batches:
            for name, values in batch.columns:
                for leaf in leaves(values):
                    cells += len(leaf.cells) - leaf.cells.null_count
                    for error in bad_cells(leaf):
                        bad += 1
                        found = error.placed(name, row=batch.first + (error.row or 0))
                        _write(f"{printable(file)}: {found.rule}: {printable(str(found))}\n")
            tell()
    _write(f"{printable(file)}: {cells} cells, {bad} bad\n")
    return _EXIT_BAD_CELLS if bad else EXIT_OK


@command.command(name="import")
@click.argument("files", nargs=-1, required=True, type=_PATH)
@click.option("--output", "-o", required=True, type=_PATH, help="The Parquet file to write; it must not be there.")
@click.option("--column", default="tensors", show_default=True, help="Name of the column of tensors.")
def import_command(files: tuple[str, ...], output: str, column: str) -> int:
    """Write each of FILES, .npz or .safetensors, as one row of a Parquet file.

    The column `file` has the name of the file a row is from.
    """
    schema = pa.schema([("file", pa.string()), (column, TensorsType())])
    with _writing(), whole_file(output, replace=False) as temporary, _share(output) as tell:
        write_tables(_imported(files, schema, tell), schema, temporary, {})
    return EXIT_OK


class _OutputError(ExchangeError):
    """What is written cannot be; it is named, and not what is read."""


@contextmanager
def _writing() -> Iterator[None]:
    """Have an error of what is written name what is written, where an error of what is read would name that."""
    try:
        yield
    except OSError as error:
        raise _OutputError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


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


@command.command()
@_FILE
@click.option("--output", "-o", required=True, type=click.Path(file_okay=False), help="The folder to write to.")
@click.option("--column", help="The column of tensors; plain bytes are taken for tensors.  [default: the only one]")
@click.option("--row", type=click.IntRange(min=0), help="Only this row.")
@click.option("--format", "form", default="npz", show_default=True, type=click.Choice([f[1:] for f in FORMATS]))
def export(file: str, output: str, column: str | None, row: int | None, form: str) -> int:
    """Write the tensors of each cell in FILE to a file of its own, named by the number of its row.

    Null cells are left out. No file that is there already is written over.
    """
    folder, count = Path(output), 0
    with opened(file, column) as source, _progress(source) as tell:
        _require_tensors(file, source)
        for batch in source.batches:
            count += batch.num_rows
            ((_, values),) = batch.columns
            for index, data in enumerate(leaves(values)[0].cells, batch.first):
                if data is None or row not in (None, index):
                    continue
                try:
                    with _writing():
                        folder.mkdir(parents=True, exist_ok=True)
                        write_tensors(decode(data), folder / f"{index:08}.{form}")
                except KilnError as error:
                    _complain(f"{file}: {error.rule}: {error.placed(row=index)}")
                    return _EXIT_BAD_CELLS
                except _OutputError as error:
                    raise ExchangeError(str(error)) from error
                except ExchangeError as error:
                    raise ExchangeError(f"{file}: row {index}: {error}") from error
            tell()
    _require_row(file, row, count)
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


def _one_row(batch: Batch, row: int) -> Batch:
    """Return the part of a batch that has a row, or nothing of it."""
    here = batch.first <= row < batch.first + batch.num_rows
    start, count = (row - batch.first, 1) if here else (0, 0)
    return Batch(row, count, [(name, values.slice(start, count)) for name, values in batch.columns])


def _require_row(file: str, row: int | None, count: int) -> None:
    if row is not None and row >= count:
        raise ColumnError(f"{file}: expected a row below {count}, found {row}")


def _cells(batch: Batch) -> Iterator[tuple[str, memoryview | None, Leaf]]:
    """Yield the place of each cell, row by row where columns are flat, its bytes, and the array it is of."""
    found = [(name, leaf) for name, values in batch.columns for leaf in leaves(values)]
    by_row: list[list[tuple[str, memoryview | None, Leaf]]] = [[] for _ in range(batch.num_rows)]
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


def _list_cell(file: str, place: str, data: memoryview | None, leaf: Leaf) -> bool:
    """Write a cell's lines; returns False where it is malformed, which is said on standard error."""
    try:
        lines = list(_lines(place, data, leaf))
    except KilnError as error:
        _complain(f"{file}: row {place.strip()}: {error.rule}: {error}")
        return False
    _write("".join(f"{line}\n" for line in lines))
    return True


def _lines(place: str, data: memoryview | None, leaf: Leaf) -> Iterator[str]:
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


def _write(text: str) -> None:
    write(text.encode("utf-8", "surrogateescape"))


def _complain(text: str) -> None:
    say("kiln-arrow", text)


@contextmanager
def _progress(source: Opened) -> Iterator[Callable[[], None]]:
    """Keep a line on standard error that says how much of a file was read, where that is a terminal."""
    file = source.file
    with _share(file.name) as tell:
        # A reader may read some bytes twice.
        size = file.seekable_size
        yield lambda: tell(min(file.bytes_read, size), size) if size else None


@contextmanager
def _share(name: str) -> Iterator[Callable[[int, int], None]]:
    """Keep a line on standard error that says how far the command is, where that is a terminal."""
    is_shown = sys.stderr is not None and sys.stderr.isatty()
    label = printable(Path(name).name)[:40]

    def tell(done: int, total: int) -> None:
        if is_shown:
            show(f"\r\x1b[K{done * 100 // total:3}%  {label}")

    try:
        yield tell
    finally:
        if is_shown:
            show("\r\x1b[K")
