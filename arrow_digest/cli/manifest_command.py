"""arrow-digest manifest: record what the files of a folder are."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import replace
from pathlib import Path

import click

from _arrow_io.faults import unreadable
from _arrow_io.int96 import Int96Unit
from _arrow_io.remote import is_uri
from arrow_digest.cli.options import function_option, int96_option, json_option
from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    EXIT_OK,
    path_argument,
    printable,
    progress_bar,
    say,
    write,
    write_json,
)
from arrow_digest.errors import ArrowDigestError, ManifestError
from arrow_digest.manifests.manifest import Manifest, require_replaceable

__all__ = ["manifest_command"]


@click.command(name="manifest")
@click.argument("folder", type=path_argument)
@click.option(
    "-o",
    "--output",
    type=click.Path(readable=False),
    help="Where to write the manifest; - for standard output.  [default: FOLDER.manifest.json, beside the folder]",
)
@function_option()
@click.option("--no-validity", is_flag=True, help="Leave out the digests that tell nulls from values.")
@click.option("--allow-outside", is_flag=True, help="Record files that links lead to outside the folder.")
@click.option("--allow-pointers", is_flag=True, help="Record Git LFS pointers, which stand in place of files.")
@int96_option()
@json_option()
def manifest_command(
    *,
    folder: str,
    output: str | None,
    function: str,
    no_validity: bool,
    allow_outside: bool,
    allow_pointers: bool,
    int96_unit: Int96Unit,
    as_json: bool,
) -> int:
    """Record every file in FOLDER and the folders in it: length, rows, hashes, and each leaf column.

    A file without Arrow records is recorded by its bytes. If any file cannot be read, no manifest is written. Manifests
    in the folder are left out. With -o -, the manifest is one for a place in the folder itself.
    """
    target = _beside(folder) if output is None else output
    try:
        if target != "-":
            _require_place(target)
        if Path(folder).exists() and not Path(folder).is_dir() and not is_uri(folder):
            say(f"{folder}: not a folder; to record one file use the hash command")
            return EXIT_BAD_INPUT
        with progress_bar() as bar:
            manifest = Manifest.create(
                folder,
                function=function,
                validity=not no_validity,
                allow_outside=allow_outside,
                allow_pointers=allow_pointers,
                exclude=[] if target == "-" else [target],
                int96_unit=int96_unit,
                progress=bar.follow(folder),
            )
        manifest = _without_output(manifest, is_manifest=target == "-")
        if target != "-":
            manifest.save(target)
    except ArrowDigestError as error:
        say(str(error))
        return EXIT_BAD_INPUT
    except OSError as error:
        say(f"{target}: cannot be written: {error.strerror}")
        return EXIT_BAD_INPUT
    _report(manifest, target, as_json=as_json)
    return EXIT_OK


def _beside(folder: str) -> str:
    """Return where the manifest of a folder goes: readers of data sets would take it for data if it lay inside."""
    path = Path(folder)
    if is_uri(folder):
        return "-"  # it is refused as what it is
    if path.name in ("", ".."):
        raise click.UsageError(f"{folder} has no name to put .manifest.json after: say where with -o")
    return str(path.with_name(f"{path.name}.manifest.json"))


def _require_place(target: str) -> None:
    require_replaceable(target)
    if not Path(target).parent.is_dir():
        raise ManifestError(target, "exists", "no such folder")


def _without_output(manifest: Manifest, *, is_manifest: bool) -> Manifest:
    """Return the manifest without the file that standard output goes to, if that is in the folder.

    Raises:
        ManifestError: Something other than the manifest is written there: it would differ at the first check.
        UnreadableError: A file that was recorded is not there any more.
    """
    written = {}
    for stream in (sys.stdout, sys.stderr):
        try:
            status = os.fstat(stream.fileno())
        except (AttributeError, OSError, ValueError):  # none, or closed
            continue
        if stat.S_ISREG(status.st_mode):
            written[status.st_dev, status.st_ino] = stream
    kept = []
    for entry in manifest.entries if written else ():
        path = Path(manifest.root, entry.path)
        try:
            status = path.stat()
        except OSError as error:  # it was read a moment ago
            raise unreadable(str(path), error) from error
        stream = written.get((status.st_dev, status.st_ino))
        if stream is None:
            kept.append(entry)
        elif stream is sys.stderr or not is_manifest:
            raise ManifestError(entry.path, "incomplete", "it is where the output goes: send that elsewhere")
    if not written:
        return manifest
    if not kept:
        raise ManifestError(manifest.root, "empty", "there is no file to record")
    return replace(manifest, entries=tuple(kept))


def _report(manifest: Manifest, target: str, *, as_json: bool) -> None:
    bytes_only = [entry for entry in manifest.entries if entry.note is not None]
    if target == "-":
        write(manifest.dumps().encode())
    elif as_json:
        notes = [{"path": entry.path, "note": entry.note} for entry in bytes_only]
        write_json({"manifest": target, "files": len(manifest.entries), "bytes_only": notes})
        return
    for entry in bytes_only:
        say(f"{entry.path}: by its bytes alone: {entry.note}")
    if target != "-":
        files = f"{len(manifest.entries):,} {'file' if len(manifest.entries) == 1 else 'files'}"
        write(f"{printable(target)}: {files}\n".encode())
