"""arrow-digest verify: one file against what is expected of it."""

from __future__ import annotations

import click

from arrow_digest.cli.terminal import exit_status, progress_bar, write_json, write_verification
from arrow_digest.errors import ExpectationError, MultihashError
from arrow_digest.multihash import Multihash
from arrow_digest.recorded import verification_json
from arrow_digest.verify import expected_hash, verify


def _logical(_: click.Context, __: click.Parameter, value: str | None) -> Multihash | None:
    return _hash(value, is_logical=True)


def _physical(_: click.Context, __: click.Parameter, value: str | None) -> Multihash | None:
    return _hash(value, is_logical=False)


def _hash(value: str | None, *, is_logical: bool) -> Multihash | None:
    try:
        return expected_hash(value, is_logical=is_logical)
    except (MultihashError, ExpectationError) as error:
        raise click.BadParameter(str(error)) from error


@click.command(name="verify")
@click.argument("file", type=click.Path(readable=False))
@click.option("--physical", metavar="MULTIHASH", callback=_physical, help="Expected hash of the bytes.")
@click.option("--logical", metavar="MULTIHASH", callback=_logical, help="Expected hash of the records.")
@click.option("--rows", "row_count", type=click.IntRange(min=0), help="Expected number of rows.")
@click.option("--bytes", "byte_length", type=click.IntRange(min=0), help="Expected length in bytes.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@click.option("--threads", type=click.IntRange(min=1), help="How many threads to use.  [default: every core]")
def verify_command(
    file: str,
    physical: Multihash | None,
    logical: Multihash | None,
    row_count: int | None,
    byte_length: int | None,
    as_json: bool,
    threads: int | None,
) -> int:
    """Say whether FILE is what it is expected to be, byte for byte or record for record.

    The bytes are compared first; if they are equal, the records are not hashed. A length that differs matters only
    where the records are not asked for.
    """
    if file == "-":
        raise click.UsageError("verify needs a file; to check a list of files from standard input use check -")
    if physical is None and logical is None:
        raise click.UsageError("nothing to verify: give --logical or --physical")
    with progress_bar() as bar:
        result = verify(
            file,
            physical=physical,
            logical=logical,
            row_count=row_count,
            byte_length=byte_length,
            threads=threads,
            progress=bar.follow(file),
        )
    if as_json:
        write_json(verification_json(result))
    else:
        write_verification(result)
    return exit_status([result.status])
