"""The arrow-digest command."""

from __future__ import annotations

import io
import os
import sys
import traceback
from contextlib import suppress

import click

from arrow_digest.cli.check_command import check_command
from arrow_digest.cli.diff_command import diff_command
from arrow_digest.cli.explain_command import explain_command
from arrow_digest.cli.hash_command import hash_command
from arrow_digest.cli.manifest_command import manifest_command
from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    EXIT_BROKEN_PIPE,
    EXIT_INTERRUPTED,
    discard,
    printable,
    say,
    show,
)
from arrow_digest.cli.verify_command import verify_command

__all__ = ["main"]


def main() -> None:
    """Run the command, and leave with a status that says what happened."""
    status = _run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # none, or closed
            stream.flush()
    # At once: after an interrupt, Python would wait for threads at work on large files, and one of pyarrow's that still
    # lets go of what it read would abort a process whose Python is ending. Nothing of theirs is wanted any more.
    os._exit(status)


def _run() -> int:
    if sys.stdout is None:
        say("standard output is closed")
        return EXIT_BAD_INPUT
    try:
        status: int = command(prog_name="arrow-digest", standalone_mode=False)
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
    except OSError as error:
        discard(sys.stdout)
        say(f"cannot write: {error.strerror}")
        return EXIT_BAD_INPUT
    except Exception:
        # A fault of ours. Status 1, which Python would leave with, means that something differs.
        show(traceback.format_exc())
        return EXIT_BAD_INPUT
    return status


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.version_option(package_name="kiln-arrow", prog_name="arrow-digest")
def command() -> None:
    """Hash the records of Arrow and Parquet files, however they are written.

    Exit status: 0 success; 1 something differs or is missing; 2 usage, unreadable or unsupported.
    """


for _command in (hash_command, verify_command, manifest_command, check_command, diff_command, explain_command):
    command.add_command(_command)
