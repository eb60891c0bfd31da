"""arrow-digest manifest: record what the files of a folder are."""

from __future__ import annotations

from pathlib import Path

import click

from arrow_digest.cli.terminal import (
    EXIT_BAD_INPUT,
    EXIT_OK,
    function_name,
    printable,
    progress_bar,
    say,
    write,
    write_json,
)
from arrow_digest.errors import ArrowDigestError
from arrow_digest.functions import DEFAULT_FUNCTION, DIGEST_FUNCTIONS
from arrow_digest.manifest import Manifest


@click.command(name="manifest")
@click.argument("folder", type=click.Path(readable=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(readable=False),
    help="Where to write the manifest; - for standard output.  [default: manifest.json in the folder]",
)
@click.option(
    "--function",
    default=DEFAULT_FUNCTION,
    show_default=True,
    callback=function_name,
    help=f"Digest function: {', '.join(DIGEST_FUNCTIONS)}.",
)
@click.option("--no-validity", is_flag=True, help="Leave out the digests that tell nulls from values.")
@click.option("--allow-outside", is_flag=True, help="Record files that links lead to outside the folder.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def manifest_command(
    folder: str, output: str | None, function: str, no_validity: bool, allow_outside: bool, as_json: bool
) -> int:
    """Record every file in FOLDER and the folders in it: length, rows, hashes, and each leaf column.

    A file without Arrow records is recorded by its bytes. If any file cannot be read, no manifest is written.
    """
    target = str(Path(folder) / "manifest.json") if output is None else output
    if not Path(target).parent.is_dir() and Path(folder).exists():
        say(f"{target}: no such folder")
        return EXIT_BAD_INPUT
    try:
        with progress_bar() as bar:
            manifest = Manifest.create(
                folder,
                function=function,
                validity=not no_validity,
                allow_outside=allow_outside,
                exclude=[] if target == "-" else [target],
                progress=bar.follow(folder),
            )
        if target == "-":
            write(manifest.dumps().encode())
            return EXIT_OK
        manifest.save(target)
    except ArrowDigestError as error:
        say(str(error))
        return EXIT_BAD_INPUT
    except OSError as error:
        say(f"{target}: cannot be written: {error.strerror}")
        return EXIT_BAD_INPUT
    bytes_only = [entry for entry in manifest.entries if entry.note is not None]
    if as_json:
        notes = [{"path": entry.path, "note": entry.note} for entry in bytes_only]
        write_json({"manifest": target, "files": len(manifest.entries), "bytes_only": notes})
        return EXIT_OK
    for entry in bytes_only:
        write(f"{printable(entry.path)}: by its bytes alone: {printable(entry.note or '')}\n".encode())
    files = f"{len(manifest.entries):,} {'file' if len(manifest.entries) == 1 else 'files'}"
    write(f"{printable(target)}: {files}\n".encode())
    return EXIT_OK
