"""arrow-digest check: files against a manifest or a list of hashes."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

import click

from _arrow_io.int96 import Int96Unit
from _arrow_io.remote import is_uri
from arrow_digest.cli.options import int96_option, json_option, recorded_function_option
from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    STANDARD_INPUT,
    exit_status,
    path_argument,
    progress_bar,
    say,
    verification_json,
    write_json,
    write_verification,
)
from arrow_digest.comparing.verify import Status
from arrow_digest.errors import ArrowDigestError, UnknownFunctionError, UnreadableError
from arrow_digest.manifests.folder import absolute, parent
from arrow_digest.manifests.manifest import Manifest

__all__ = ["check_command"]


@click.command(name="check")
@click.argument("manifest", type=path_argument)
@recorded_function_option("What hex digests without a code are")
@click.option(
    "--root",
    type=path_argument,
    help="Folder or URI that paths are relative to.  [default: what the manifest says; for a list, this one]",
)
@click.option("--extra/--no-extra", default=None, help="Report files that are not recorded.  [default: not for a list]")
@click.option("--allow-outside", is_flag=True, help="Follow paths and links that lead out of the root.")
@int96_option(
    None, note="Unit in which INT96 timestamps of Parquet are read.  [default: what the manifest says; for a list, ns]"
)
@click.option("--quiet", is_flag=True, help="Print only what is not identical or equivalent.")
@json_option(a_line=True)
def check_command(
    *,
    manifest: str,
    function: str | None,
    root: str | None,
    extra: bool | None,
    allow_outside: bool,
    int96_unit: Int96Unit | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Check files against MANIFEST: a manifest, what the hash command prints, or a list as sha256sum writes it.

    With MANIFEST -, it is read from standard input. A folder stands for FOLDER.manifest.json beside it, or else for
    manifest.json in it. Where the bytes are identical, the records are not hashed.
    """
    try:
        recorded = _load(manifest, function, root, allow_outside=allow_outside)
        if int96_unit is not None:
            recorded = replace(recorded, int96_unit=int96_unit)
        recorded.require_listable(extra)
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
    is_silent = recorded.is_list or extra is False or recorded.looks_for_others(extra)
    if status or not is_silent:
        counts = ", ".join(f"{statuses[kind]} {kind.value}" for kind in Status if statuses[kind])
        unknown = "" if is_silent else "; extra files were not looked for: a web server does not list its files"
        say(f"{manifest}: {counts}{unknown}")
    return status


def _load(manifest: str, function: str | None, root: str | None, *, allow_outside: bool) -> Manifest:
    if manifest == "-":
        content = b"" if sys.stdin is None else sys.stdin.buffer.read()
        return Manifest.loads(content, STANDARD_INPUT, function=function, root=root, allow_outside=allow_outside)
    try:
        return Manifest.load(manifest, function=function, root=root, allow_outside=allow_outside)
    except UnreadableError as error:
        if error.rule != "directory":
            raise
    beside, inside = _manifests_of(manifest)
    for path in (beside, inside):
        # The folder that is named is the one to check, even if it and its manifest have other names by now.
        of_folder = manifest if path is beside and root is None else root
        try:
            found = Manifest.load(path, function=function, root=of_folder, allow_outside=allow_outside)
        except UnreadableError as error:
            if error.rule not in ("missing", "directory"):
                raise
        else:
            return found if of_folder is root else _as_it_says(found, path, function)
    message = f"is a directory, and there is neither {beside} nor {inside}"
    raise UnreadableError(manifest, "directory", message)


def _as_it_says(found: Manifest, path: str, function: str | None) -> Manifest:
    """Return the manifest beside a folder, which may name no folder and have paths that are relative to its own.

    Args:
        found: The manifest, with paths that are taken for relative to the folder that it is beside.
        path: Where it is.
        function: What hex digests without a code are.
    """
    name = path.rpartition("/")[2].removesuffix(".manifest.json")
    if found.is_list or not all(entry.path.startswith(f"{name}/") for entry in found.entries):
        return found
    its_own = Manifest.load(path, function=function, root=parent(path))
    said = Manifest.load(path, function=function, allow_outside=not is_uri(path))
    return its_own if said.root == its_own.root else found


def _manifests_of(folder: str) -> tuple[str, str]:
    """Return where the manifest of a folder may be: beside it, and in it."""
    name = folder.rstrip("/") if is_uri(folder) else str(absolute(folder))
    return f"{name}.manifest.json", f"{name}/manifest.json"
