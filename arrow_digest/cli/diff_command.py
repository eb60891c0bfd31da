"""arrow-digest diff: where two files differ."""

from __future__ import annotations

import click

from _arrow_io.int96 import Int96Unit
from arrow_digest.cli.options import int96_option, json_option, threads_option
from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    EXIT_DIFFERENT,
    EXIT_OK,
    path_argument,
    say,
    write_json,
    write_lines,
)
from arrow_digest.comparing.diff import NO_ROW, ColumnDifference, Difference, diff
from arrow_digest.errors import ArrowDigestError

__all__ = ["diff_command"]


@click.command(name="diff")
@click.argument("a", type=path_argument)
@click.argument("b", type=path_argument)
@json_option()
@threads_option()
@int96_option()
def diff_command(*, a: str, b: str, as_json: bool, threads: int | None, int96_unit: Int96Unit) -> int:
    """Say how the records of files A and B differ: schema, row count, and in each column the first differing row."""
    if "-" in (a, b):
        raise click.UsageError("diff needs two files: standard input can be read once only")
    try:
        found = diff(a, b, threads=threads, int96_unit=int96_unit)
    except ArrowDigestError as error:
        say(str(error))
        return EXIT_BAD_INPUT
    if as_json:
        write_json(_as_json(found))
    else:
        write_lines(str(found))
    return EXIT_OK if found.equal else EXIT_DIFFERENT


def _as_json(found: Difference) -> dict[str, object]:
    return {
        "a": found.a,
        "b": found.b,
        "equal": found.equal,
        "row_counts": list(found.row_counts),
        "removed": [{"path": list(path), "type": str(data_type)} for path, data_type in found.removed],
        "added": [{"path": list(path), "type": str(data_type)} for path, data_type in found.added],
        "renamed": [{"from": list(old), "to": list(new)} for old, new in found.renamed],
        "retyped": [{"path": list(path), "from": str(old), "to": str(new)} for path, old, new in found.retyped],
        "reordered": [list(path) for path in found.reordered],
        "columns": [_column_json(column) for column in found.columns],
    }


def _column_json(column: ColumnDifference) -> dict[str, object]:
    """Return one column; the value of a row that is not there is left out."""
    shown: dict[str, object] = {"path": list(column.path), "row": column.row}
    if column.row is None:
        return {**shown, "is_certain": column.is_certain}
    if column.place:
        shown["place"] = [list(step) for step in column.place]
    values = {"a": column.a_json, "b": column.b_json}
    return {**shown, **{side: value for side, value in values.items() if value is not NO_ROW}}
