"""arrow-digest hash: the hash of each of many files."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import click

from _arrow_io.int96 import Int96Unit
from _arrow_io.opening import InputFile
from _arrow_io.terminal import standard_input
from arrow_digest.cli.options import function_option, int96_option, json_option, threads_option
from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    EXIT_OK,
    STANDARD_INPUT,
    path_argument,
    printable,
    progress_bar,
    say,
    say_of,
    write,
    write_json,
)
from arrow_digest.errors import ArrowDigestError, UnreadableError, format_path
from arrow_digest.files.facts import FileFacts, facts_of
from arrow_digest.files.hashing import digest_file, digest_stream, hash_alone, physical_hash
from arrow_digest.files.options import HashOptions
from arrow_digest.files.passes import Progress
from arrow_digest.manifests.formats import facts_json
from arrow_digest.multihash import BASES
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.workers import thread_count

__all__ = ["hash_command"]


@click.command(name="hash")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=path_argument)
@click.option("--physical", "kind", flag_value="physical", help="Hash the bytes of the file, whatever it is.")
@click.option("--both", "kind", flag_value="both", help="Print the physical and the logical hash.")
@function_option()
@click.option("--base", default="base16", show_default=True, type=click.Choice(BASES), help="Multibase encoding.")
@click.option("--columns", is_flag=True, help="Add each leaf column's digest, null count, path and type.")
@json_option(a_line=True)
@threads_option()
@int96_option()
def hash_command(
    *,
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
    options = HashOptions(chosen_rule(function), thread_count(threads), int96_unit=int96_unit)
    status = EXIT_OK
    with progress_bar() as bar:
        for path in paths:
            try:
                found = _hash_one(path, kind, options, bar.follow(path))
            except ArrowDigestError as error:
                bar.clear()
                if columns and isinstance(error, UnreadableError) and error.rule == "missing":
                    say(f"{error}; --columns takes no names: it is a switch that shows every leaf column")
                else:
                    say_of(path, error)
                status = EXIT_BAD_INPUT
                continue
            bar.clear()
            shown = found if columns else replace(found, columns=None)
            if as_json:
                write_json({"path": path, **facts_json(shown, base=base, nullability=False)})
            else:
                write(_text_lines(path, shown, base))
    return status


def _hash_one(path: str, kind: str | None, options: HashOptions, progress: Progress | None) -> FileFacts:
    """Return what is asked for of one input."""
    if kind == "physical":
        source = InputFile(standard_input(), STANDARD_INPUT) if path == "-" else path
        return FileFacts(physical=physical_hash(source, function=options.rule.function.name, progress=progress))
    if kind == "both":
        return hash_alone(path, options, progress).facts
    if path == "-":
        return facts_of(digest_stream(standard_input(), STANDARD_INPUT, options))
    return facts_of(digest_file(path, options, progress))


def _text_lines(path: str, found: FileFacts, base: str) -> bytes:
    hashes = (multihash for multihash in (found.physical, found.logical) if multihash is not None)
    lines = [_sum_line(multihash.encode(base), path) for multihash in hashes]
    # As comments, so that whatever reads sums can skip them.
    lines += [
        (
            f"# {column.digest.hex()}  {column.null_count} null  {format_path(column.path)}  "
            f"{printable(str(column.data_type))}"
        ).encode()
        for column in found.columns or ()
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
