"""What both commands share: how they end, and what they write. Results go to standard output, the rest to the other."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NoReturn

import click

from _arrow_io.errors import UnreadableError
from _arrow_io.leaving import leave
from _arrow_io.opening import InputFile, guarding, open_path
from _arrow_io.remote import is_uri

__all__ = [
    "EXIT_BAD_INPUT",
    "EXIT_BROKEN_PIPE",
    "EXIT_INTERRUPTED",
    "EXIT_OK",
    "STANDARD_INPUT",
    "discard",
    "open_argument",
    "path_argument",
    "printable",
    "run",
    "show",
    "standard_input",
    "write",
]

EXIT_OK = 0
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

STANDARD_INPUT = "standard input"


def run(command: click.Command, program: str, expected: tuple[type[Exception], ...] = ()) -> NoReturn:
    """Run a command, and leave with a status that says what happened, never with a traceback for what is expected.

    Args:
        command: What gives the exit status.
        program: Its name.
        expected: Errors that say all there is to say; each is a line on standard error and the status of bad input.
    """
    leave(_status(command, program, expected))


def _status(command: click.Command, program: str, expected: tuple[type[Exception], ...]) -> int:
    if sys.stdout is None:
        say(program, "standard output is closed")
        return EXIT_BAD_INPUT
    try:
        status: int = command(prog_name=program, standalone_mode=False)
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        show("".join(f"{printable(line)}\n" for line in text.getvalue().splitlines()))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except SystemExit:  # click's answer where whoever reads our output has gone, as `head` does
        discard(sys.stdout)
        return EXIT_BROKEN_PIPE
    except expected as error:
        say(program, str(error))
        return EXIT_BAD_INPUT
    except OSError as error:
        discard(sys.stdout)
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        say(program, f"{where}cannot write: {error.strerror or error}")
        return EXIT_BAD_INPUT
    except Exception:
        # A fault of ours. Status 1, which Python would leave with, means that something differs or is malformed.
        show(traceback.format_exc())
        return EXIT_BAD_INPUT
    return status


def discard(stream: Any) -> None:
    """Send what is still in a stream's buffer nowhere: Python flushes it at exit, and would complain again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def show(text: str) -> None:
    """Write to standard error, if that can be done: the exit status says the rest."""
    try:
        click.echo(text, nl=False, err=True)
    except OSError:
        discard(sys.stderr)


def say(program: str, message: str) -> None:
    """Write one line to standard error, which begins with the name of the program."""
    show(f"{program}: {printable(message)}\n")


def write(line: bytes) -> None:
    """Write a result to standard output, at once."""
    # Bytes, so that line ends are the same everywhere and a file name that is no text comes out as it is.
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def printable(text: str) -> str:
    """Return text without anything that could steer a terminal."""
    with suppress(UnicodeError):
        # Where the locale takes names for ASCII, they are shown as the UTF-8 that they are all the same.
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def standard_input() -> IO[bytes]:
    """Return standard input, unbuffered.

    Raises:
        UnreadableError: It is closed.
    """
    if sys.stdin is None:
        raise UnreadableError(STANDARD_INPUT, "io", "it is closed")
    # Without a buffer what follows a stream stays in the pipe for whoever reads next.
    return os.fdopen(sys.stdin.fileno(), "rb", buffering=0, closefd=False)


@contextmanager
def open_argument(path: str) -> Iterator[InputFile]:
    """Open what an argument names: standard input for `-`, else a path or URI.

    Raises:
        UnreadableError: It cannot be opened, or changed while it was open.
    """
    if path == "-":
        with guarding(InputFile(standard_input(), STANDARD_INPUT)) as file:
            yield file
    else:
        with open_path(path) as file:
            yield file


def path_argument(path: str) -> str:
    """Return what an argument names, as click's type of it: what is there is meant, though it may begin like a URI.

    >>> path_argument("memory://orders.parquet")
    'memory://orders.parquet'
    """
    return os.path.join(os.curdir, path) if is_uri(path) and os.path.lexists(path) else path  # noqa: PTH118
