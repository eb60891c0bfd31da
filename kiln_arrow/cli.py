"""The kiln-arrow command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from kiln_arrow.arrays import Opaque
from kiln_arrow.cells import Leaf, bad_cells, cells_of, leaves
from kiln_arrow.creation import array
from kiln_arrow.directory import Directory, decode
from kiln_arrow.dtypes import from_numpy
from kiln_arrow.errors import KilnError, shown
from kiln_arrow.exchange import FORMATS, ExchangeError, read_tensors, write_tensors
from kiln_arrow.extension import FRAME, TENSORS, TensorsType, is_kiln
from kiln_arrow.files import Source, UnreadableError, opened
from kiln_arrow.frame import unframe
from kiln_arrow.parquet import write_tables
from kiln_arrow.registration import register

__all__ = ["main"]

_EXIT_OK = 0
_EXIT_BAD_CELLS = 1
_EXIT_BAD_INPUT = 2
_EXIT_INTERRUPTED = 130
_EXIT_BROKEN_PIPE = 141

# Cells of imported files are written when they come to about this many bytes.
_IMPORTED_AT_ONCE = 128 << 20

_PATH = click.Path(dir_okay=False)


class _OutputClosedError(Exception):
    """Whoever read standard output has gone. Not an OSError, which click would turn into status 1."""


def main() -> None:
    """Runs the command and leaves with a status that says what happened, without a traceback."""
    status = _EXIT_BAD_INPUT
    try:
        register()
        status = command(prog_name="kiln-arrow", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (UnreadableError, ExchangeError, OSError, RuntimeError) as error:
        _complain(str(error))
    except KilnError as error:  # of an array that points outside its file
        _complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        status = _EXIT_INTERRUPTED
    except _OutputClosedError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _EXIT_BROKEN_PIPE
    sys.exit(status)


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
@click.argument("file", type=_PATH)
@click.option("--column", help="Only this column; plain bytes are taken for tensors.")
@click.option("--row", type=click.IntRange(min=0), help="Only this row.")
def inspect(file: str, column: str | None, row: int | None) -> int:
    """List the tensors of each cell in FILE: row, bytes, dtype and dims, column and name."""
    status = _EXIT_OK
    last = -1
    with opened(file, column) as source:
        for first, batch in _numbered(source):
            last = first + batch.num_rows - 1
            if row is not None:
                if not first <= row <= last:
                    continue
                batch = batch.slice(row - first, 1)
            base = first if row is None else row
            for place, data, leaf in _cells(batch, base):
                if not _list_cell(file, place, data, leaf):
                    status = _EXIT_BAD_CELLS
    if row is not None and row > last:
        raise UnreadableError(f"{file}: expected a row below {last + 1}, found {row}")
    return status


@command.command()
@click.argument("file", type=_PATH)
@click.option("--column", help="Only this column; plain bytes are taken for tensors.")
def validate(file: str, column: str | None) -> int:
    """Check every cell of FILE, and name row, column, tensor and rule of each that is malformed."""
    cells = bad = 0
    with opened(file, column) as source, _progress(file, source.row_count) as tell:
        for first, batch in _numbered(source):
            for name, values in zip(batch.schema.names, batch.columns, strict=True):
                for leaf in leaves(values):
                    cells += len(leaf.storage) - leaf.storage.null_count
                    for error in bad_cells(leaf):
                        bad += 1
                        error.path = f"{name}.{error.path}" if error.path else name
                        error.row = first + (error.row or 0)
                        _write(f"{_printable(file)}: {error.rule}: {_printable(str(error))}\n")
            tell(first + batch.num_rows)
    _write(f"{_printable(file)}: {cells} cells, {bad} bad\n")
    return _EXIT_BAD_CELLS if bad else _EXIT_OK


@command.command(name="import")
@click.argument("files", nargs=-1, required=True, type=_PATH)
@click.option("--output", "-o", required=True, type=_PATH, help="The Parquet file to write; it must not be there.")
@click.option("--column", default="tensors", show_default=True, help="Name of the column of tensors.")
def import_command(files: tuple[str, ...], output: str, column: str) -> int:
    """Write each of FILES, .npz or .safetensors, as one row of a Parquet file.

    The column `file` has the name of the file a row is from.
    """
    if Path(output).exists():
        raise ExchangeError(f"{output}: it is there already")
    schema = pa.schema([("file", pa.string()), (column, TensorsType())])
    with _progress(output, len(files)) as tell:
        write_tables(_imported(files, schema, tell), schema, output, {})
    return _EXIT_OK


def _imported(files: Iterable[str], schema: pa.Schema, tell: Callable[[int], None]) -> Iterator[pa.Table]:
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
        tell(count)
    if names:
        yield pa.Table.from_arrays([pa.array(names), pa.chunked_array(cells)], schema=schema)


@command.command()
@click.argument("file", type=_PATH)
@click.option("--output", "-o", required=True, type=click.Path(file_okay=False), help="The folder to write to.")
@click.option("--column", help="The column of tensors; plain bytes are taken for tensors.  [default: the only one]")
@click.option("--row", type=click.IntRange(min=0), help="Only this row.")
@click.option("--format", "form", default="npz", show_default=True, type=click.Choice([f[1:] for f in FORMATS]))
def export(file: str, output: str, column: str | None, row: int | None, form: str) -> int:
    """Write the tensors of each cell in FILE to a file of its own, named by the number of its row.

    Null cells are left out. No file that is there already is written over.
    """
    folder = Path(output)
    last = -1
    with opened(file, column) as source, _progress(file, source.row_count) as tell:
        for first, batch in _numbered(source):
            last = first + batch.num_rows - 1
            values = _only_tensors(batch, file)
            for index, data in enumerate(cells_of(leaves(values)[0].storage)):
                if data is None or row not in (None, first + index):
                    continue
                folder.mkdir(parents=True, exist_ok=True)
                try:
                    write_tensors(decode(data), folder / f"{first + index:08}.{form}")
                except KilnError as error:
                    error.row = first + index
                    _complain(f"{file}: {error.rule}: {error}")
                    return _EXIT_BAD_CELLS
                except ExchangeError as error:
                    raise ExchangeError(f"{file}: row {first + index}: {error}") from error
            tell(last + 1)
    if row is not None and row > last:
        raise UnreadableError(f"{file}: expected a row below {last + 1}, found {row}")
    return _EXIT_OK


def _only_tensors(batch: pa.RecordBatch, file: str) -> pa.Array:
    values = [column for column in batch.columns if is_kiln(column.type) and column.type.extension_name == TENSORS]
    if len(values) != 1 or batch.num_columns != 1:
        found = ", ".join(
            f"{name}: {column.type}" for name, column in zip(batch.schema.names, batch.columns, strict=True)
        )
        raise UnreadableError(f"{file}: expected one column of kiln.tensors, found {found}; --column names one")
    return values[0]


def _numbered(source: Source) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yields each batch with the number of its first row."""
    first = 0
    for batch in source.batches:
        yield first, batch
        first += batch.num_rows


def _cells(batch: pa.RecordBatch, base: int) -> Iterator[tuple[str, memoryview | None, Leaf]]:
    """Yields the place of each cell, row by row where columns are flat, its bytes, and the array it is of."""
    found = [
        (name, leaf) for name, values in zip(batch.schema.names, batch.columns, strict=True) for leaf in leaves(values)
    ]
    by_row: list[list[tuple[str, memoryview | None, Leaf]]] = [[] for _ in range(batch.num_rows)]
    for name, leaf in found:
        path = f"{name}.{leaf.path}" if leaf.path else name
        before, number = -1, 0
        for cell, data in enumerate(cells_of(leaf.storage)):
            row = leaf.row(cell)
            number = number + 1 if row == before else 0
            before = row
            item = "" if leaf.rows is None else f"[{number}]"
            by_row[row].append((f"{base + row:>8}  {_printable(path)}{item}", data, leaf))
    for cells in by_row:
        yield from cells


def _list_cell(file: str, place: str, data: memoryview | None, leaf: Leaf) -> bool:
    """Writes a cell's lines; returns False where it is malformed, which is said on standard error."""
    try:
        lines = list(_lines(place, data, leaf))
    except KilnError as error:
        _complain(f"{file}: row {place.strip()}: {error.rule}: {error}")
        return False
    _write("".join(f"{line}\n" for line in lines))
    return True


def _lines(place: str, data: memoryview | None, leaf: Leaf) -> Iterator[str]:
    """Yields a line for each tensor of a cell, or one that says that there is none."""
    if data is None:
        yield f"{place}  null"
        return
    if leaf.type.extension_name == FRAME:
        directories = list(_directories(unframe(leaf.type.type_text, data), ""))
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
            yield f"{place}  {size:>12}  {form:<20}  {_printable(path) + '  ' if path else ''}{label}{layout}"
    if not count:
        yield f"{place}  no tensors"


def _directories(value: Any, path: str) -> Iterator[tuple[str, Directory]]:
    """Yields every directory in a thawed value with its path."""
    if isinstance(value, Directory):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _directories(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _directories(item, f"{path}[{index}]")


def _write(text: str) -> None:
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise _OutputClosedError from error


def _complain(text: str) -> None:
    click.echo(f"kiln-arrow: {_printable(text)}", err=True)


def _printable(text: str) -> str:
    """Returns text without anything that could steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


@contextmanager
def _progress(name: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A line on standard error that says how far the command is, where that is a terminal."""
    is_shown = sys.stderr.isatty()
    label = _printable(Path(name).name)[:40]

    def tell(done: int) -> None:
        if is_shown:
            share = f"{done * 100 // total:3}%" if total else f"{done}"
            click.echo(f"\r\x1b[K{share}  {label}", nl=False, err=True)

    try:
        yield tell
    finally:
        if is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)
