"""The kiln-arrow command."""

from __future__ import annotations

import click

from _arrow_io.errors import UnreadableError
from _arrow_io.terminal import run
from kiln_arrow import __version__
from kiln_arrow.cli.export_command import export_command
from kiln_arrow.cli.import_command import import_command
from kiln_arrow.cli.inspect_command import inspect_command
from kiln_arrow.cli.validate_command import validate_command
from kiln_arrow.errors import KilnError
from kiln_arrow.files.other_formats import ExchangeError
from kiln_arrow.files.reading import ColumnError

__all__ = ["main"]

# What these say is all there is to say.
_EXPECTED = (UnreadableError, ColumnError, ExchangeError, KilnError)


def main() -> None:
    """Run the command, and leave with a status that says what happened, without a traceback."""
    run(command, "kiln-arrow", _EXPECTED)


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(__version__, prog_name="kiln-arrow")
def command() -> None:
    """Look into the tensors in Parquet and Arrow files, check them, and bring them in and out.

    Exit status: 0 success; 1 cells are malformed; 2 usage, unreadable or unsupported.
    """


for _command in (inspect_command, validate_command, import_command, export_command):
    command.add_command(_command)
