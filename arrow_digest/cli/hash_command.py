"""arrow-digest hash: the hash of each of many files."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from _arrow_io.int96 import Int96Unit
from _arrow_io.opening import InputFile
from _arrow_io.terminal import standard_input
from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    EXIT_OK,
    STANDARD_INPUT,
    function_name,
    int96_option,
    path_argument,
    printable,
    progress_bar,
    say,
    write,
    write_json,
)
from arrow_digest.errors import ArrowDigestError, UnreadableError, format_path
from arrow_digest.files.hashing import digest_file, digest_stream, hash_file, physical_hash
from arrow_digest.files.passes import Progress
from arrow_digest.functions import DEFAULT_FUNCTION, DIGEST_FUNCTIONS
from arrow_digest.manifests.formats import column_json
from arrow_digest.multihash import BASES, Multihash
from arrow_digest.rules.records import RecordDigest


@click.command(name="hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=path_argument)
@click.option("--physical", "kind", flag_value="physical", help="Hash the bytes of the file, whatever it is.")
@click.option("--both", "kind", flag_value="both", help="Print the physical and the logical hash.")
@click.option(
    "--function",
    default=DEFAULT_FUNCTION,
    show_default=True,
    callback=function_name,
    help=f"Digest function: {', '.join(DIGEST_FUNCTIONS)}.",
)
@click.option("--base", default="base16", show_default=True, type=click.Choice(BASES), help="Multibase encoding.")
@click.option("--columns", is_flag=True, help="Add each leaf column's digest, null count, path and type.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--threads", type=click.IntRange(min=1), help="How many threads to use.  [default: every core]")
@int96_option()
def hash_command(
    paths: tuple[str, ...],
    kind: str | None,
    function: str,
    base: str,
    columns: bool,
    as_json: bool,
    threads: int | None,
    int96_unit: Int96Unit,
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
    with progress_bar() as bar:
        for path in paths:
            try:
                result = _hash_one(path, kind or "logical", function, threads, bar.follow(path), int96_unit)
            except ArrowDigestError as error:
                bar.clear()
                say(_failure(path, error, columns))
                status = EXIT_BAD_INPUT
                continue
            bar.clear()
            if as_json:
                write_json(_json_object(result, base, columns))
            else:
                write(_text_lines(result, base, columns))
    return status


def _failure(path: str, error: ArrowDigestError, columns: bool) -> str:
    if not isinstance(error, UnreadableError):
        return f"{path}: {error}"
    if columns and error.rule == "missing":
        return f"{error}; --columns takes no names: it is a switch that shows every leaf column"
    return str(error)


def _hash_one(
    path: str, kind: str, function: str, threads: int | None, progress: Progress | None, int96_unit: Int96Unit
) -> dict[str, Any]:
    """Return what is printed of one file, in the order of the JSON object."""
    if kind == "physical":
        source: Any = InputFile(standard_input(), STANDARD_INPUT) if path == "-" else path
        return {"path": path, "physical": physical_hash(source, function=function, progress=progress)}
    if kind == "both":
        file = hash_file(path, function=function, threads=threads, progress=progress, int96_unit=int96_unit)
        return {
            "path": path,
            "byte_length": file.byte_length,
            "row_count": file.row_count,
            "physical": file.physical,
            "logical": file.logical,
            "columns": file.columns,
        }
    digest = _digest(path, function, threads, progress, int96_unit)
    return {
        "path": path,
        "row_count": digest.row_count,
        "logical": digest.multihash(),
        "columns": digest.columns(),
    }


def _digest(
    path: str, function: str, threads: int | None, progress: Progress | None, int96_unit: Int96Unit
) -> RecordDigest:
    if path == "-":
        return digest_stream(
            standard_input(), STANDARD_INPUT, function=function, threads=threads, int96_unit=int96_unit
        )
    return digest_file(path, function=function, threads=threads, progress=progress, int96_unit=int96_unit)


def _text_lines(result: dict[str, Any], base: str, columns: bool) -> bytes:
    lines = [_sum_line(result[kind].encode(base), result["path"]) for kind in ("physical", "logical") if kind in result]
    if columns:
        # As comments, so that whatever reads sums can skip them.
        lines += [
            (
                f"# {column.digest.hex()}  {column.null_count} null  {format_path(column.path)}  "
                f"{printable(str(column.data_type))}"
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


def _json_object(result: dict[str, Any], base: str, columns: bool) -> dict[str, Any]:
    shown = {key: value.encode(base) if isinstance(value, Multihash) else value for key, value in result.items()}
    shown.pop("columns", None)
    if columns:
        shown["columns"] = [column_json(column, nullability=False) for column in result["columns"]]
    return shown
