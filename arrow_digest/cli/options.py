"""Options that several commands have, the same for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from arrow_digest.errors import UnknownFunctionError
from arrow_digest.functions import DEFAULT_FUNCTION, DIGEST_FUNCTIONS, digest_function

__all__ = ["function_option", "int96_option", "json_option", "recorded_function_option", "threads_option"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def function_option() -> Callable[[_Command], _Command]:
    """Return the option that says which digest function hashes."""
    return click.option(
        "--function",
        default=DEFAULT_FUNCTION,
        show_default=True,
        callback=_function_name,
        help=f"Digest function: {', '.join(DIGEST_FUNCTIONS)}.",
    )


def _function_name(_: click.Context, __: click.Parameter, value: str) -> str:
    try:
        return digest_function(value).name
    except UnknownFunctionError as error:
        raise click.BadParameter(str(error)) from error


def recorded_function_option(what: str) -> Callable[[_Command], _Command]:
    """Return the option that says what digests without a code are.

    Args:
        what: What the help says of it, such as "What hex digests without a code are".
    """
    return click.option("--function", help=f"{what}, such as sha2-256 or arrow0-sha3-256.")


def int96_option(default: Int96Unit | None = DEFAULT_INT96_UNIT, *, note: str = "") -> Callable[[_Command], _Command]:
    """Return the option that says in which unit INT96 timestamps are read.

    Args:
        default: The unit where nobody says one; None where that is not known before something is read.
        note: What the help says of that.
    """
    return click.option(
        "--int96",
        "int96_unit",
        default=default,
        show_default=default is not None,
        type=click.Choice(get_args(Int96Unit)),
        help=note or "Unit in which INT96 timestamps of Parquet are read; us for days before 1677 or after 2262.",
    )


def threads_option() -> Callable[[_Command], _Command]:
    """Return the option that says how many threads work."""
    return click.option("--threads", type=click.IntRange(min=1), help="How many threads to use.  [default: every core]")


def json_option(*, a_line: bool = False) -> Callable[[_Command], _Command]:
    """Return the option that asks for JSON.

    Args:
        a_line: True for an object a line, one for each file.
    """
    return click.option(
        "--json", "as_json", is_flag=True, help=f"Print {'one JSON object a line' if a_line else 'a JSON object'}."
    )
