"""The arrow-digest command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from arrow_digest.arrow0 import ColumnDigest, RecordDigest
from arrow_digest.errors import ArrowDigestError, UnknownFunctionError, UnreadableError, format_path
from arrow_digest.files import Progress, digest_file, digest_stream, hash_file, physical_hash
from arrow_digest.functions import DEFAULT_FUNCTION, DIGEST_FUNCTIONS, digest_function
from arrow_digest.multihash import BASES, Multihash

__all__ = ["main"]

EXIT_OK = 0
EXIT_BAD_INPUT = 2
_EXIT_INTERRUPTED = 130
_EXIT_BROKEN_PIPE = 141


def main() -> None:
    """Run the command, and leave with a status that says what happened and no traceback."""
    try:
        status = command(standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        status = _EXIT_INTERRUPTED
    except _OutputClosedError:
        # Whoever read our output has gone, as `head` does. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _EXIT_BROKEN_PIPE
    sys.exit(status)


class _OutputClosedError(Exception):
    """Nobody reads standard output any more. Not an OSError, which click would turn into status 1."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(version("kiln-arrow"), prog_name="arrow-digest")
def command() -> None:
    """Hash the records of Arrow and Parquet files, however they are written.

    Exit status: 0 success; 1 something differs or is missing; 2 usage, unreadable or unsupported.
    """


def _function_name(_: click.Context, __: click.Parameter, value: str) -> str:
    try:
        return digest_function(value).name
    except UnknownFunctionError as error:
        raise click.BadParameter(str(error)) from error


@command.command(name="hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@click.option("--physical", "kind", flag_value="physical", help="Hash the bytes of the file, whatever it is.")
@click.option("--both", "kind", flag_value="both", help="Print the physical and the logical hash.")
@click.option(
    "--function",
    default=DEFAULT_FUNCTION,
    show_default=True,
    callback=_function_name,
    help=f"Digest function: {', '.join(DIGEST_FUNCTIONS)}.",
)
@click.option("--base", default="base16", show_default=True, type=click.Choice(BASES), help="Multibase encoding.")
@click.option("--columns", is_flag=True, help="Add each leaf column's digest, null count, path and type.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--threads", type=click.IntRange(min=1), help="How many threads to use.  [default: every core]")
def hash_command(
    paths: tuple[str, ...],
    kind: str | None,
    function: str,
    base: str,
    columns: bool,
    as_json: bool,
    threads: int | None,
) -> int:
    """Print the hash of the records in each file: Parquet, Arrow IPC or Feather, told by its content.

    With PATH -, an Arrow IPC stream is read from standard input. A file that cannot be hashed is reported on standard
    error, and the rest are hashed all the same.
    """
    if columns and kind == "physical":
        raise click.UsageError("--columns goes with a logical hash, not with --physical")
    status = EXIT_OK
    with _progress_bar() as bar:
        for path in paths:
            try:
                result = _hash_one(path, kind or "logical", function, threads, bar.follow(path))
            except ArrowDigestError as error:
                bar.clear()
                message = str(error) if isinstance(error, UnreadableError) else f"{path}: {error}"
                click.echo(f"arrow-digest: {_printable(message)}", err=True)
                status = EXIT_BAD_INPUT
                continue
            bar.clear()
            _write(_json_line(result, base, columns) if as_json else _text_lines(result, base, columns))
    return status


def _hash_one(path: str, kind: str, function: str, threads: int | None, progress: Progress | None) -> dict[str, Any]:
    """Return what is printed of one file, in the order of the JSON object."""
    if kind == "physical":
        source: Any = sys.stdin.buffer if path == "-" else path
        return {"path": path, "physical": physical_hash(source, function=function, progress=progress)}
    if kind == "both" and path != "-":
        file = hash_file(path, function=function, threads=threads, progress=progress)
        return {
            "path": path,
            "byte_length": file.byte_length,
            "row_count": file.row_count,
            "physical": file.physical,
            "logical": file.logical,
            "columns": file.columns,
        }
    if kind == "both":
        raise click.UsageError("--both needs a file: standard input can be read once only")
    digest = _digest(path, function, threads, progress)
    return {
        "path": path,
        "row_count": digest.row_count,
        "logical": digest.multihash(),
        "columns": digest.columns(),
    }


def _digest(path: str, function: str, threads: int | None, progress: Progress | None) -> RecordDigest:
    if path == "-":
        return digest_stream(sys.stdin.buffer, "standard input", function=function, threads=threads)
    return digest_file(path, function=function, threads=threads, progress=progress)


def _text_lines(result: dict[str, Any], base: str, columns: bool) -> str:
    lines = [_sum_line(result[kind].encode(base), result["path"]) for kind in ("physical", "logical") if kind in result]
    if columns:
        # As comments, so that whatever reads sums can skip them.
        lines += [
            f"# {column.digest.hex()}  {column.null_count} null  {format_path(column.path)}  "
            f"{_printable(str(column.data_type))}"
            for column in result["columns"]
        ]
    return "".join(f"{line}\n" for line in lines)


def _sum_line(hash_text: str, path: str) -> str:
    """Return a line as sha256sum prints it: a leading backslash marks a name with escapes."""
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{hash_text}  {path}" if escaped == path else f"\\{hash_text}  {escaped}"


def _json_line(result: dict[str, Any], base: str, columns: bool) -> str:
    shown = {key: value.encode(base) if isinstance(value, Multihash) else value for key, value in result.items()}
    shown.pop("columns", None)
    if columns:
        shown["columns"] = [_column_json(column) for column in result["columns"]]
    return json.dumps(shown) + "\n"


def _column_json(column: ColumnDigest) -> dict[str, Any]:
    return {
        "path": list(column.path),
        "type": str(column.data_type),
        "null_count": column.null_count,
        "digest": column.digest.hex(),
    }


def _write(text: str) -> None:
    # Bytes, so that line ends are the same everywhere and a file name that is no text comes out as it is.
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise _OutputClosedError from error


def _printable(text: str) -> str:
    """Return text without anything that could steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class _Bar:
    """A progress bar on standard error, or nothing where that is no terminal."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._percent = -1

    def follow(self, path: str) -> Progress | None:
        if not self._shown:
            return None
        name = _printable(Path(path).name)[:40]

        def tell(done: int, total: int) -> None:
            percent = done * 100 // total
            if percent != self._percent:
                self._percent = percent
                filled = percent * 30 // 100
                click.echo(f"\r\x1b[K[{'#' * filled}{'-' * (30 - filled)}] {percent:3}%  {name}", nl=False, err=True)

        return tell

    def clear(self) -> None:
        if self._shown and self._percent >= 0:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._percent = -1


@contextmanager
def _progress_bar() -> Iterator[_Bar]:
    bar = _Bar(sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.clear()
