"""The arrow-digest command."""

from __future__ import annotations

import click

from _arrow_io.terminal import run
from arrow_digest.cli.check_command import check_command
from arrow_digest.cli.diff_command import diff_command
from arrow_digest.cli.explain_command import explain_command
from arrow_digest.cli.hash_command import hash_command
from arrow_digest.cli.manifest_command import manifest_command
from arrow_digest.cli.verify_command import verify_command

__all__ = ["main"]


def main() -> None:
    """Run the command, and leave with a status that says what happened."""
    run(command, "arrow-digest")


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(package_name="kiln-arrow", prog_name="arrow-digest")
def command() -> None:
    """Hash the records of Arrow and Parquet files, however they are written.

    Exit status: 0 success; 1 something differs or is missing; 2 usage, unreadable or unsupported.
    """


for _command in (hash_command, verify_command, manifest_command, check_command, diff_command, explain_command):
    command.add_command(_command)
