"""What the commands of kiln-arrow share: their arguments, what they write, and how far they are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from _arrow_io.terminal import path_argument, printable, say, show, write
from kiln_arrow.files.other_formats import ExchangeError
from kiln_arrow.files.reading import Batch, ColumnError, Opened

__all__ = [
    "EXIT_BAD_CELLS",
    "FILE_NAME",
    "OutputError",
    "complain",
    "file_argument",
    "one_row",
    "reading_progress",
    "require_row",
    "share_done",
    "write_text",
    "writing_output",
]

EXIT_BAD_CELLS = 1

FILE_NAME = click.Path(dir_okay=False)

file_argument = click.argument("file", type=path_argument)


class OutputError(ExchangeError):
    """What is written cannot be; it is named, and not what is read."""


@contextmanager
def writing_output() -> Iterator[None]:
    """Have an error of what is written name what is written, where an error of what is read would name that."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def one_row(batch: Batch, row: int) -> Batch:
    """Return the part of a batch that has a row, or nothing of it."""
    here = batch.first <= row < batch.first + batch.num_rows
    start, count = (row - batch.first, 1) if here else (0, 0)
    return Batch(row, count, [(name, values.slice(start, count)) for name, values in batch.columns])


def require_row(file: str, row: int | None, count: int) -> None:
    if row is not None and row >= count:
        raise ColumnError(f"{file}: expected a row below {count}, found {row}")


def write_text(text: str) -> None:
    write(text.encode("utf-8", "surrogateescape"))


def complain(text: str) -> None:
    say("kiln-arrow", text)


@contextmanager
def reading_progress(source: Opened) -> Iterator[Callable[[], None]]:
    """Keep a line on standard error that says how much of a file was read, where that is a terminal."""
    file = source.file
    with share_done(file.name) as tell:
        # A reader may read some bytes twice.
        size = file.seekable_size
        yield lambda: tell(min(file.bytes_read, size), size) if size else None


@contextmanager
def share_done(name: str) -> Iterator[Callable[[int, int], None]]:
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
