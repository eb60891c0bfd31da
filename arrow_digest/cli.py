"""The arrow-digest command."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from arrow_digest.arrow0 import ColumnDigest, RecordDigest
from arrow_digest.errors import ArrowDigestError, UnknownFunctionError, UnreadableError, format_path
from arrow_digest.files import Progress, digest_file, digest_stream, hash_file, physical_hash
from arrow_digest.functions import DEFAULT_FUNCTION, DIGEST_FUNCTIONS, digest_function
from arrow_digest.inputs import InputFile
from arrow_digest.multihash import BASES, Multihash

__all__ = ["main"]

EXIT_OK = 0
EXIT_BAD_INPUT = 2
_EXIT_INTERRUPTED = 130
_EXIT_BROKEN_PIPE = 141

_STANDARD_INPUT = "standard input"


def main() -> None:
    """Run the command, and leave with a status that says what happened."""
    sys.exit(_run())


def _run() -> int:
    if sys.stdout is None:
        _say("standard output is closed")
        return EXIT_BAD_INPUT
    try:
        status: int = command(prog_name="arrow-digest", standalone_mode=False)
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        _show("".join(f"{_printable(line)}\n" for line in text.getvalue().splitlines()))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _EXIT_INTERRUPTED
    except SystemExit:  # click's answer where whoever reads our output has gone, as `head` does
        _discard(sys.stdout)
        return _EXIT_BROKEN_PIPE
    except OSError as error:
        _discard(sys.stdout)
        _say(f"cannot write: {error.strerror}")
        return EXIT_BAD_INPUT
    except Exception:
        # A fault of ours. Status 1, which Python would leave with, means that something differs.
        _show(traceback.format_exc())
        return EXIT_BAD_INPUT
    return status


def _discard(stream: Any) -> None:
    """Send what is still in a stream's buffer nowhere: Python flushes it at exit, and would complain again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show(text: str) -> None:
    """Write to standard error, if that can be done: the exit status says the rest."""
    try:
        click.echo(text, nl=False, err=True)
    except OSError:
        _discard(sys.stderr)


def _say(message: str) -> None:
    _show(f"arrow-digest: {_printable(message)}\n")


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(package_name="kiln-arrow", prog_name="arrow-digest")
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
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(readable=False))
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
    if kind == "both" and "-" in paths:
        raise click.UsageError("--both needs a file: standard input can be read once only")
    status = EXIT_OK
    with _progress_bar() as bar:
        for path in paths:
            try:
                result = _hash_one(path, kind or "logical", function, threads, bar.follow(path))
            except ArrowDigestError as error:
                bar.clear()
                _say(str(error) if isinstance(error, UnreadableError) else f"{path}: {error}")
                status = EXIT_BAD_INPUT
                continue
            bar.clear()
            _write(_json_line(result, base, columns) if as_json else _text_lines(result, base, columns))
    return status


def _hash_one(path: str, kind: str, function: str, threads: int | None, progress: Progress | None) -> dict[str, Any]:
    """Return what is printed of one file, in the order of the JSON object."""
    if kind == "physical":
        source: Any = InputFile(_standard_input(), _STANDARD_INPUT) if path == "-" else path
        return {"path": path, "physical": physical_hash(source, function=function, progress=progress)}
    if kind == "both":
        file = hash_file(path, function=function, threads=threads, progress=progress)
        return {
            "path": path,
            "byte_length": file.byte_length,
            "row_count": file.row_count,
            "physical": file.physical,
            "logical": file.logical,
            "columns": file.columns,
        }
    digest = _digest(path, function, threads, progress)
    return {
        "path": path,
        "row_count": digest.row_count,
        "logical": digest.multihash(),
        "columns": digest.columns(),
    }


def _digest(path: str, function: str, threads: int | None, progress: Progress | None) -> RecordDigest:
    if path == "-":
        return digest_stream(_standard_input(), _STANDARD_INPUT, function=function, threads=threads)
    return digest_file(path, function=function, threads=threads, progress=progress)


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:
        raise UnreadableError(_STANDARD_INPUT, "io", "it is closed")
    # Without a buffer what follows a stream stays in the pipe for whoever reads next.
    return os.fdopen(sys.stdin.fileno(), "rb", buffering=0, closefd=False)


def _text_lines(result: dict[str, Any], base: str, columns: bool) -> bytes:
    lines = [_sum_line(result[kind].encode(base), result["path"]) for kind in ("physical", "logical") if kind in result]
    if columns:
        # As comments, so that whatever reads sums can skip them.
        lines += [
            (
                f"# {column.digest.hex()}  {column.null_count} null  {format_path(column.path)}  "
                f"{_printable(str(column.data_type))}"
            ).encode()
            for column in result["columns"]
        ]
    return b"".join(line + b"\n" for line in lines)


def _sum_line(hash_text: str, path: str) -> bytes:
    """Return a line as sha256sum prints it: a leading backslash marks a name with escapes."""
    escaped = path.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "" if escaped == path else "\\"
    if sys.stdout.isatty():
        # As ls does: what could steer the terminal is not shown. In a file or pipe the name stays what it is.
        escaped = "".join(c if c.isprintable() else "?" for c in escaped)
    return f"{mark}{hash_text}  ".encode() + os.fsencode(escaped)


def _json_line(result: dict[str, Any], base: str, columns: bool) -> bytes:
    shown = {key: value.encode(base) if isinstance(value, Multihash) else value for key, value in result.items()}
    shown.pop("columns", None)
    if columns:
        shown["columns"] = [_column_json(column) for column in result["columns"]]
    return json.dumps(shown).encode() + b"\n"


def _column_json(column: ColumnDigest) -> dict[str, Any]:
    return {
        "path": list(column.path),
        "type": str(column.data_type),
        "null_count": column.null_count,
        "digest": column.digest.hex(),
    }


def _write(line: bytes) -> None:
    # Bytes, so that line ends are the same everywhere and a file name that is no text comes out as it is.
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


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
                _show(f"\r\x1b[K[{'#' * filled}{'-' * (30 - filled)}] {percent:3}%  {name}")

        return tell

    def clear(self) -> None:
        if self._shown and self._percent >= 0:
            _show("\r\x1b[K")
            self._percent = -1


@contextmanager
def _progress_bar() -> Iterator[_Bar]:
    bar = _Bar(sys.stderr is not None and sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.clear()
