"""arrow-digest check: files against a manifest or a list of hashes."""

from __future__ import annotations

import sys
from collections import Counter

import click

from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    STANDARD_INPUT,
    exit_status,
    progress_bar,
    say,
    write_json,
    write_verification,
)
from arrow_digest.errors import ArrowDigestError, UnknownFunctionError
from arrow_digest.manifest import Manifest
from arrow_digest.recorded import verification_json
from arrow_digest.verify import Status


@click.command(name="check")
@click.argument("manifest", type=click.Path(readable=False))
@click.option("--function", help="What hex digests without a code are, such as sha2-256 or arrow0-sha3-256.")
@click.option(
    "--root",
    type=click.Path(readable=False),
    help="Folder or URI that paths are relative to.  [default: the manifest's folder; for a list, this one]",
)
@click.option("--extra/--no-extra", default=None, help="Report files that are not recorded.  [default: not for a list]")
@click.option("--allow-outside", is_flag=True, help="Follow paths and links that lead out of the root.")
@click.option("--quiet", is_flag=True, help="Print only what is not identical or equivalent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def check_command(
    manifest: str,
    function: str | None,
    root: str | None,
    extra: bool | None,
    allow_outside: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Check files against MANIFEST: a manifest, what the hash command prints, or a list as sha256sum writes it.

    With MANIFEST -, it is read from standard input.
    """
    try:
        recorded = _load(manifest, function, root)
    except UnknownFunctionError as error:
        raise click.BadParameter(str(error), param_hint="--function") from error
    except ArrowDigestError as error:
        say(str(error))
        return EXIT_BAD_INPUT
    statuses: Counter[Status] = Counter()
    with progress_bar() as bar:
        results = recorded.check(extra=extra, allow_outside=allow_outside, progress=bar.follow(manifest))
        for result in results:
            statuses[result.status] += 1
            if quiet and result.passed:
                continue
            bar.clear()
            if as_json:
                write_json(verification_json(result))
            else:
                write_verification(result)
    status = exit_status(statuses)
    if status:
        counts = ", ".join(f"{statuses[kind]} {kind.value}" for kind in Status if statuses[kind])
        say(f"{manifest}: {counts}")
    return status


def _load(manifest: str, function: str | None, root: str | None) -> Manifest:
    if manifest != "-":
        return Manifest.load(manifest, function=function, root=root)
    content = b"" if sys.stdin is None else sys.stdin.buffer.read()
    return Manifest.loads(content, STANDARD_INPUT, function=function, root=root)
