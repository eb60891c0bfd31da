"""Manifests and lists of hashes as they are written: JSON, JSON a line, and what sha256sum prints."""

from __future__ import annotations

import codecs
import json
import os
import re
from dataclasses import dataclass, replace
from typing import Any

from arrow_digest.errors import ManifestError, MultihashError, UnknownFunctionError
from arrow_digest.functions import DIGEST_FUNCTIONS, digest_function
from arrow_digest.multihash import Multihash, logical_code
from arrow_digest.recorded import parse_facts
from arrow_digest.verify import FileFacts

__all__ = ["FORMAT", "VERSION", "ListEntry", "hash_code", "parse_hash", "parse_list"]

FORMAT = "arrow-digest-manifest"
VERSION = 1

_HEX = re.compile(r"[0-9a-fA-F]+")
# As sha256sum has it: a mark for a name with escapes, the hash, a blank, and a blank or a mark for binary. PowerShell
# and others write one blank.
_LINE = re.compile(r"(?P<mark>\\?)(?P<hash>[^\s\\]+)(?: [ *]|[ \t])(?P<name>.+)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPES = {"\\": "\\", "n": "\n", "r": "\r"}


@dataclass(frozen=True)
class ListEntry:
    """One file of a list.

    Attributes:
        path: The path as it was recorded, or for a line that has none, the line.
        facts: What is recorded, None for an entry that says nothing usable.
        note: Why there is no logical hash.
        error: What is wrong with the entry.
        line: The line it is on, counted from 1; 0 in a manifest.
    """

    path: str
    facts: FileFacts | None
    note: str | None = None
    error: ManifestError | None = None
    line: int = 0


def parse_list(content: bytes, name: str, function: str | None) -> tuple[list[ListEntry], bool]:
    """Return the entries of a manifest or list, and whether it is a list.

    An entry that says nothing usable, or a second one for a file, has an error of its own.

    Args:
        content: The bytes.
        name: How errors name it.
        function: What digests without a code are.

    Raises:
        ManifestError: It is no manifest, cut short, of a newer version, or empty.
        UnknownFunctionError: No such function.
    """
    code = None if function is None else hash_code(function)
    text = _decoded(content, name)
    if text.lstrip().startswith("{"):
        whole = _whole_json(text)
        if isinstance(whole, dict) and "path" not in whole:
            return _required(_manifest_entries(whole, name), name), False
        if whole is None and not _is_json_lines(text):
            raise ManifestError(name, "truncated", "cut short, or broken: it is no JSON")
    return _required(_merged([_parse_line(*line, name, code) for line in _lines(text)], name), name), True


def hash_code(function: str) -> int:
    """Return the multihash code of what a name such as `sha2-256` or `arrow0-sha3-256` stands for.

    Raises:
        UnknownFunctionError: No such function.
    """
    if function.startswith("arrow0-"):
        return logical_code(digest_function(function.removeprefix("arrow0-")))
    try:
        return digest_function(function).code
    except UnknownFunctionError as error:
        known = (*DIGEST_FUNCTIONS, *(f"arrow0-{name}" for name in DIGEST_FUNCTIONS))
        raise UnknownFunctionError(function, known, error.suggestion) from None


def _decoded(content: bytes, name: str) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise ManifestError(name, "format", f"it begins as UTF-16 and is none: {error.reason}") from error
    # As file names are: bytes that are no text stay what they are.
    return os.fsdecode(content.removeprefix(codecs.BOM_UTF8))


def _required(entries: list[ListEntry], name: str) -> list[ListEntry]:
    if not entries:
        raise ManifestError(name, "empty", "nothing to verify: it lists no file")
    return entries


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return found


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _whole_json(text: str) -> Any | None:
    try:
        return _parse_json(text)
    except ValueError:
        return None


def _is_json_lines(text: str) -> bool:
    """Return whether the first line is a whole object about a file."""
    first = _whole_json(text.lstrip().partition("\n")[0])
    return isinstance(first, dict) and "path" in first


def _manifest_entries(whole: dict[str, Any], name: str) -> list[ListEntry]:
    if whole.get("format") != FORMAT:
        raise ManifestError(name, "format", f"no manifest: expected format {FORMAT!r}, found {whole.get('format')!r}")
    version = whole.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ManifestError(name, "format", f"no manifest: expected a version, found {version!r}")
    if version > VERSION:
        raise ManifestError(name, "version", f"made by a newer release: expected version {VERSION}, found {version}")
    files = whole.get("files")
    if not isinstance(files, list):
        raise ManifestError(name, "format", f"files: expected a list, found {type(files).__name__}")
    return _without_duplicates([_json_entry(recorded, name, None) for recorded in files], name)


def _json_entry(recorded: Any, name: str, line: int | None) -> ListEntry:
    path = recorded.get("path") if isinstance(recorded, dict) else None
    shown = path if isinstance(path, str) and path else repr(recorded)[:80]
    try:
        if shown is not path:
            raise ValueError(f"path: expected text, found {path!r}")  # noqa: TRY301
        note = recorded.get("note")
        return ListEntry(path, parse_facts(recorded), note if isinstance(note, str) else None, line=line or 0)
    except ValueError as error:
        return ListEntry(shown, None, error=ManifestError(name, "entry", f"{shown}: {error}", line), line=line or 0)


def _without_duplicates(entries: list[ListEntry], name: str) -> list[ListEntry]:
    first: dict[str, ListEntry] = {}
    kept = []
    for entry in entries:
        key = os.path.normpath(entry.path)
        if key in first:
            message = f"{entry.path}: a second entry for this file"
            entry = replace(entry, facts=None, error=ManifestError(name, "duplicate", message, entry.line or None))
        first.setdefault(key, entry)
        kept.append(entry)
    return kept


def _lines(text: str) -> list[tuple[int, str]]:
    """Return lines with their numbers; a carriage return before the end is the line's, names have theirs escaped."""
    lines = ((number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1))
    return [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]


def _parse_line(number: int, line: str, name: str, code: int | None) -> ListEntry:
    if line.lstrip().startswith("{"):
        try:
            recorded = _parse_json(line)
        except ValueError as error:
            return _unusable(line, f"it is no JSON: {error}", name, number)
        return _json_entry(recorded, name, number)
    match = _LINE.fullmatch(line)
    if match is None:
        return _unusable(line, "expected a hash, two blanks and a file name", name, number)
    try:
        path = _unescaped(match["name"]) if match["mark"] else match["name"]
        found = parse_hash(match["hash"], code)
    except ValueError as error:
        bare = code is None and isinstance(error, MultihashError) and _HEX.fullmatch(match["hash"])
        hint = "--function says what digests without a code are: sha2-256 in what sha256sum prints; " if bare else ""
        return _unusable(match["name"], f"{hint}{error}", name, number)
    facts = FileFacts(logical=found) if found.is_logical else FileFacts(physical=found)
    return ListEntry(path, facts, line=number)


def _unusable(shown: str, message: str, name: str, number: int) -> ListEntry:
    return ListEntry(shown[:200], None, error=ManifestError(name, "entry", message, number), line=number)


def _unescaped(name: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise ValueError(f"the name has an escape that is none, {match[0]!r}")
        return _ESCAPES[match[1]]

    return _ESCAPE.sub(character, name)


def parse_hash(text: str, code: int | None) -> Multihash:
    """Return the hash that text stands for: a multihash, or with `code` a digest in hex alone.

    Raises:
        MultihashError: It is neither.
    """
    if code is not None and _HEX.fullmatch(text) and len(text) % 2 == 0:
        try:
            return Multihash(code, bytes.fromhex(text))
        except MultihashError:
            pass  # as with a code, in hex
    return Multihash.parse(text)


def _merged(entries: list[ListEntry], name: str) -> list[ListEntry]:
    """Join a file's physical and logical hash, which come on a line each."""
    places: dict[str, int] = {}
    merged: list[ListEntry] = []
    for entry in entries:
        key = os.path.normpath(entry.path)
        place = places.setdefault(key, len(merged))
        both = None if place == len(merged) else _joined(merged[place].facts, entry.facts)
        if place == len(merged):
            merged.append(entry)
        elif both is not None:
            merged[place] = replace(merged[place], facts=both)
        elif entry.facts is None:
            merged.append(entry)
        else:
            message = f"{entry.path}: a second entry for this file"
            merged.append(replace(entry, facts=None, error=ManifestError(name, "duplicate", message, entry.line)))
    return merged


def _joined(first: FileFacts | None, second: FileFacts | None) -> FileFacts | None:
    """Return what two lines say together, None where they say the same kind of thing twice."""
    if first is None or second is None:
        return None
    if (first.physical and second.physical) or (first.logical and second.logical):
        return None
    return FileFacts(
        physical=first.physical or second.physical,
        logical=first.logical or second.logical,
        row_count=second.row_count if first.row_count is None else first.row_count,
        byte_length=second.byte_length if first.byte_length is None else first.byte_length,
        columns=second.columns if first.columns is None else first.columns,
    )
