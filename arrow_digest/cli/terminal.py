"""What the commands of arrow-digest write, besides what both commands share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from _arrow_io.terminal import EXIT_BAD_INPUT, EXIT_OK, STANDARD_INPUT, path_argument, printable, show, write
from _arrow_io.terminal import say as say_as
from arrow_digest.comparing.verify import Status, Verification
from arrow_digest.errors import ArrowDigestError, UnreadableError
from arrow_digest.files.facts import FileFacts
from arrow_digest.files.passes import Progress
from arrow_digest.manifests.formats import facts_json

__all__ = [
    "EXIT_BAD_INPUT",
    "EXIT_DIFFERENT",
    "EXIT_OK",
    "STANDARD_INPUT",
    "Bar",
    "exit_status",
    "path_argument",
    "printable",
    "progress_bar",
    "say",
    "say_of",
    "verification_json",
    "write",
    "write_json",
    "write_lines",
    "write_verification",
]

EXIT_DIFFERENT = 1


def say(message: str) -> None:
    """Write one line to standard error."""
    say_as("arrow-digest", message)


def say_of(path: str, error: ArrowDigestError) -> None:
    """Write what went wrong with a file on one line to standard error; an error of reading names the file itself."""
    say(str(error) if isinstance(error, UnreadableError) else f"{path}: {error}")


def write_lines(text: str) -> None:
    """Write text for people to standard output."""
    write("".join(f"{printable(line)}\n" for line in text.split("\n")).encode())


def write_json(value: dict[str, object]) -> None:
    """Write one JSON object on a line of standard output.

    It is Unicode always. A path that is no UTF-8 has replacement characters, and its bytes in hex beside it.
    """
    write(json.dumps(_as_unicode(value)).encode() + b"\n")


def _as_unicode(value: object) -> object:
    if isinstance(value, str):
        return _name_bytes(value).decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        return [_as_unicode(item) for item in value]
    if not isinstance(value, dict):
        return value
    shown: dict[str, object] = {}
    for key, item in value.items():
        shown[key] = _as_unicode(item)
        if key == "path" and isinstance(item, str):
            content = _name_bytes(item)
            if content.decode("utf-8", "replace").encode() != content:
                shown["path_bytes"] = content.hex()
    return shown


def _name_bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "replace")


def exit_status(results: Iterable[Status]) -> int:
    """Return the status that the worst of results has: 2 for what is not known, 1 for what differs."""
    worst = EXIT_OK
    for result in results:
        if result in (Status.UNREADABLE, Status.UNSUPPORTED):
            return EXIT_BAD_INPUT
        if result not in (Status.IDENTICAL, Status.EQUIVALENT):
            worst = EXIT_DIFFERENT
    return worst


def verification_json(result: Verification) -> dict[str, object]:
    """Return a verification as a JSON object."""
    shown: dict[str, object] = {
        "path": result.path,
        "status": result.status.value,
        "reason": result.reason,
        "expected": _without_columns(result.expected),
        "found": _without_columns(result.found),
    }
    if result.changes:
        shown["changes"] = [
            {
                "path": list(change.path),
                "kind": change.kind,
                "expected_type": None if change.expected_type is None else str(change.expected_type),
                "found_type": None if change.found_type is None else str(change.found_type),
            }
            for change in result.changes
        ]
    if result.weak_columns:
        shown["weak_columns"] = [list(path) for path in result.weak_columns]
    if result.error is not None:
        shown["error"] = {"type": type(result.error).__name__, "rule": getattr(result.error, "rule", None)}
    return shown


def _without_columns(facts: FileFacts) -> dict[str, object]:
    shown = facts_json(facts)
    shown.pop("columns", None)
    return shown


_COLOURS = {Status.IDENTICAL: "green", Status.EQUIVALENT: "green", Status.UNREADABLE: "yellow"}


def write_verification(result: Verification) -> None:
    """Write a result as a line for people, its status in colour on a terminal."""
    status = result.status.value
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        status = click.style(status, fg=_COLOURS.get(result.status, "red"))
    write(f"{printable(result.path)}: {status}: {printable(result.reason)}\n".encode())


class Bar:
    """A progress bar on standard error, or nothing where that is no terminal."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._percent = -1

    def follow(self, path: str) -> Progress | None:
        """Return what tells the bar of progress on a file or folder."""
        if not self._shown:
            return None
        name = printable(Path(path).name)[:40]

        def tell(done: int, total: int) -> None:
            percent = done * 100 // total
            if percent != self._percent:
                self._percent = percent
                filled = percent * 30 // 100
                show(f"\r\x1b[K[{'#' * filled}{'-' * (30 - filled)}] {percent:3}%  {name}")

        return tell

    def clear(self) -> None:
        """Take the bar away, so that something else can be written."""
        if self._shown and self._percent >= 0:
            show("\r\x1b[K")
            self._percent = -1


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """Give a bar, which is gone afterwards."""
    bar = Bar(shown=sys.stderr is not None and sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.clear()
