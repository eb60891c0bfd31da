"""arrow-digest verify: one file against what is expected of it."""

from __future__ import annotations

import re

import click

from _arrow_io.int96 import Int96Unit
from arrow_digest.cli.options import int96_option, json_option, recorded_function_option, threads_option
from arrow_digest.cli.terminal import (
    exit_status,
    path_argument,
    progress_bar,
    verification_json,
    write_json,
    write_verification,
)
from arrow_digest.codes import hash_code
from arrow_digest.comparing.verify import verify
from arrow_digest.errors import ExpectationError, MultihashError, UnknownFunctionError
from arrow_digest.files.facts import expected_hash
from arrow_digest.manifests.lists import parse_hash
from arrow_digest.multihash import Multihash
from arrow_digest.rules.chosen import chosen_rule

__all__ = ["verify_command"]


@click.command(name="verify")
@click.argument("file", type=path_argument)
@click.option("--physical", metavar="MULTIHASH", help="Expected hash of the bytes.")
@click.option("--logical", metavar="MULTIHASH", help="Expected hash of the records.")
@recorded_function_option("What a hex digest without a code is")
@click.option("--rows", "row_count", type=click.IntRange(min=0), help="Expected number of rows.")
@click.option("--bytes", "byte_length", type=click.IntRange(min=0), help="Expected length in bytes.")
@json_option()
@threads_option()
@int96_option()
def verify_command(
    *,
    file: str,
    physical: str | None,
    logical: str | None,
    function: str | None,
    row_count: int | None,
    byte_length: int | None,
    as_json: bool,
    threads: int | None,
    int96_unit: Int96Unit,
) -> int:
    """Say whether FILE is what it is expected to be, byte for byte or record for record.

    The bytes are compared first. If they are equal, whatever else is expected has to agree with them; if they are not,
    the same records in other bytes are equivalent.
    """
    if file == "-":
        raise click.UsageError("verify needs a file; to check a list of files from standard input use check -")
    if physical is None and logical is None:
        raise click.UsageError("nothing to verify: give --logical or --physical")
    with progress_bar() as bar:
        result = verify(
            file,
            physical=_expected(physical, function, "--physical"),
            logical=_expected(logical, function, "--logical"),
            row_count=row_count,
            byte_length=byte_length,
            every_claim=True,
            threads=threads,
            progress=bar.follow(file),
            int96_unit=int96_unit,
        )
    if as_json:
        write_json(verification_json(result))
    else:
        write_verification(result)
    return exit_status([result.status])


_BARE_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
_LOGICAL_HINT = (
    "64 hex digits alone: put 'f9680c00120' before an arrow0-sha3-256 of records, or say --function arrow0-sha3-256; "
    "what sha256sum prints is a hash of bytes: --physical"
)


def _expected(value: str | None, function: str | None, option: str) -> Multihash | None:
    """Return the hash that an option gives; the kind of a digest without a code is that of the option."""
    if value is None:
        return None
    is_logical = option == "--logical"
    try:
        return expected_hash(parse_hash(value, _code(function, is_logical=is_logical)), is_logical=is_logical)
    except UnknownFunctionError as error:
        raise click.BadParameter(str(error), param_hint="--function") from error
    except MultihashError as error:
        message = str(error)
        if function is None and _BARE_DIGEST.fullmatch(value):
            message = _LOGICAL_HINT if is_logical else f"{error}; or say --function sha2-256"
        raise click.BadParameter(message, param_hint=option) from error
    except ExpectationError as error:
        raise click.BadParameter(str(error), param_hint=option) from error


def _code(function: str | None, *, is_logical: bool) -> int | None:
    """Return the code of a digest without one; a digest function alone stands for the standard rule set with it."""
    if function is None:
        return None
    named = hash_code(function)
    return chosen_rule(named.function.name).code if is_logical and named.rule_set is None else named.code
