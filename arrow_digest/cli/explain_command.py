"""arrow-digest explain: what a file's logical hash is made of."""

from __future__ import annotations

from dataclasses import replace

import click

from _arrow_io.int96 import Int96Unit
from arrow_digest.cli.options import function_option, int96_option, json_option
from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    EXIT_OK,
    path_argument,
    say_of,
    write_json,
    write_lines,
)
from arrow_digest.comparing.explain import Explanation, explain
from arrow_digest.errors import ArrowDigestError, format_path

__all__ = ["explain_command"]


@click.command(name="explain")
@click.argument("file", type=path_argument)
@click.option("--column", help="Only this leaf column, named as --columns of the hash command names it.")
@click.option(
    "--bytes", "byte_count", default=64, show_default=True, type=click.IntRange(0, 1 << 20), help="Bytes shown."
)
@function_option()
@json_option()
@int96_option()
def explain_command(
    *, file: str, column: str | None, byte_count: int, function: str, as_json: bool, int96_unit: Int96Unit
) -> int:
    """Show what the logical hash of FILE is made of: schema, types, the first bytes and the digest of each leaf column.

    It is for people who write another implementation.
    """
    if file == "-":
        raise click.UsageError("explain needs a file: standard input can be read once only")
    try:
        explained = explain(file, function=function, byte_count=byte_count, int96_unit=int96_unit)
    except ArrowDigestError as error:
        say_of(file, error)
        return EXIT_BAD_INPUT
    if column is not None:
        explained = _only(explained, column)
    if as_json:
        write_json(_as_json(explained))
    else:
        write_lines(str(explained))
    return EXIT_OK


def _only(explained: Explanation, column: str) -> Explanation:
    chosen = tuple(leaf for leaf in explained.columns if format_path(leaf.column.path) == column)
    if not chosen:
        names = ", ".join(format_path(leaf.column.path) for leaf in explained.columns)
        raise click.BadParameter(f"no leaf column {column!r}: expected one of {names}", param_hint="--column")
    paths = [chosen[0].column.path[: depth + 1] for depth in range(len(chosen[0].column.path))]
    fields = tuple(field for field in explained.fields if field[0] in paths)
    return replace(explained, fields=fields, columns=chosen, is_part=True)


def _as_json(explained: Explanation) -> dict[str, object]:
    return {
        "row_count": explained.row_count,
        "fields": [{"path": list(path), "bytes": data.hex()} for path, data in explained.fields],
        "columns": [
            {
                "path": list(leaf.column.path),
                "type": str(leaf.column.data_type),
                "null_count": leaf.column.null_count,
                "type_bytes": leaf.type_bytes.hex(),
                "first_bytes": leaf.first_bytes.hex(),
                "is_all": leaf.is_all,
                "digest": leaf.column.digest.hex(),
            }
            for leaf in explained.columns
        ],
        "logical": str(explained.logical),
    }
