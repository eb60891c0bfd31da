"""Lists of hashes by this command and by others: a manifest, JSON a line, and what sha256sum prints."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from arrow_digest.codes import hash_code
from arrow_digest.errors import ManifestError, MultihashError
from arrow_digest.files.facts import FileFacts
from arrow_digest.manifests.folder import local_name
from arrow_digest.manifests.formats import (
    FORMAT,
    Listed,
    ManifestEntry,
    entry_from_json,
    parse_json,
    parse_manifest,
    second_entry,
)
from arrow_digest.multihash import Multihash

__all__ = ["parse_hash", "parse_list"]

# No hash of a known kind has a shorter text.
_LEAST_HASH = 32
_HASH = re.compile(r"[0-9A-Za-z_:=+/-]+")
_HEX = re.compile(r"[0-9a-fA-F]+")
# Of every function that is known here.
_BARE_DIGEST = re.compile(r"[0-9a-fA-F]{64}")
# As sha256sum has it: a mark for a name with escapes, the hash, a blank, and a blank or a mark for binary. PowerShell
# and others write one blank.
_LINE = re.compile(r"(?P<mark>\\?)(?P<hash>[^\s\\]+)(?: [ *]|[ \t])(?P<name>.+)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_ESCAPES = {"\\": "\\", "n": "\n", "r": "\r"}


def parse_list(content: bytes, name: str, function: str | None) -> Listed:
    """Return what a manifest or list says.

    An entry that says nothing usable, or a second one for a file, has an error of its own.

    Args:
        content: The bytes.
        name: How errors name it.
        function: What digests without a code are.

    Raises:
        ManifestError: It is no manifest, cut short, of a newer version, or empty.
        UnknownFunctionError: No such function.
    """
    code = None if function is None else hash_code(function).code
    text = _decoded(content, name)
    if text.lstrip().startswith("{"):
        whole = _whole_json(text)
        if isinstance(whole, dict) and ("path" not in whole or whole.get("format") == FORMAT):
            listed = parse_manifest(whole, name)
            _require_some(listed.entries, name)
            return listed
        if whole is None and not _is_json_lines(text):
            raise ManifestError(name, "truncated", f"cut short, or broken: it is no JSON: {_json_problem(text)}")
    if "\0" in text:
        raise ManifestError(name, "format", "neither a manifest nor a list of hashes: it is no text")
    lines = _lines(text)
    if lines and not any(_may_be_entry(line) for _, line in lines):
        message = f"neither a manifest nor a list of hashes: line {lines[0][0]} begins with {lines[0][1][:16]!r}"
        raise ManifestError(name, "format", message)
    entries = _merged([_parse_line(number, line, name, code) for number, line in lines], name)
    _require_some(entries, name)
    return Listed(entries, is_list=True)


def _may_be_entry(line: str) -> bool:
    """Return whether a line looks like one of a list, be it a wrong one."""
    if line.startswith('{"'):
        return True
    match = _LINE.fullmatch(line)
    return match is not None and len(match["hash"]) >= _LEAST_HASH and _HASH.fullmatch(match["hash"]) is not None


def _decoded(content: bytes, name: str) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if content.startswith(mark):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise ManifestError(name, "format", f"it begins as UTF-16 and is none: {error.reason}") from error
    # As JSON is, whatever the locale says; bytes of names that are no text stay what they are.
    return content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def _require_some(entries: Sequence[ManifestEntry], name: str) -> None:
    if not entries:
        raise ManifestError(name, "empty", "nothing to verify: it lists no file")


def _json_problem(text: str) -> str:
    try:
        parse_json(text)
    except ValueError as error:
        return str(error)
    return ""


def _whole_json(text: str) -> Any | None:
    try:
        return parse_json(text)
    except ValueError:
        return None


def _is_json_lines(text: str) -> bool:
    """Return whether the first line is a whole object about a file."""
    first = _whole_json(text.lstrip().partition("\n")[0])
    return isinstance(first, dict) and "path" in first


def _lines(text: str) -> list[tuple[int, str]]:
    """Return lines with their numbers; a carriage return before the end is the line's, names have theirs escaped."""
    lines = ((number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1))
    return [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]


def _parse_line(number: int, line: str, name: str, code: int | None) -> ManifestEntry:
    if line.lstrip().startswith("{"):
        try:
            recorded = parse_json(line)
        except ValueError as error:
            return _unusable(line, f"it is no JSON: {error}", name, number)
        return entry_from_json(recorded, name, number)
    match = _LINE.fullmatch(line)
    if match is None:
        return _unusable(line, "expected a hash, two blanks and a file name", name, number)
    try:
        path = local_name(_unescaped(match["name"]) if match["mark"] else match["name"])
        found = parse_hash(match["hash"], code)
    except ValueError as error:
        bare = code is None and isinstance(error, MultihashError) and _BARE_DIGEST.fullmatch(match["hash"])
        hint = "--function says what digests without a code are: sha2-256 in what sha256sum prints; " if bare else ""
        return _unusable(match["name"], f"{hint}{error}", name, number)
    facts = FileFacts(logical=found) if found.is_logical else FileFacts(physical=found)
    return ManifestEntry(path, facts, line=number)


def _unusable(shown: str, message: str, name: str, number: int) -> ManifestEntry:
    return ManifestEntry(shown[:200], FileFacts(), error=ManifestError(name, "entry", message, number), line=number)


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


def _merged(entries: Iterable[ManifestEntry], name: str) -> tuple[ManifestEntry, ...]:
    """Join a file's physical and logical hash, which come on a line each."""
    places: dict[str, int] = {}
    merged: list[ManifestEntry] = []
    for entry in entries:
        place = places.setdefault(os.path.normpath(entry.path), len(merged))
        if place == len(merged) or entry.error is not None:
            merged.append(entry)
            continue
        first = merged[place]
        both = None if first.error is not None else _joined(first.facts, entry.facts)
        if both is None:
            merged.append(second_entry(entry, name))
        else:
            merged[place] = replace(first, facts=both)
    return tuple(merged)


def _joined(first: FileFacts, second: FileFacts) -> FileFacts | None:
    """Return what two lines say together, None where they say the same kind of thing twice."""
    if (first.physical and second.physical) or (first.logical and second.logical):
        return None
    return FileFacts(
        physical=first.physical or second.physical,
        logical=first.logical or second.logical,
        row_count=second.row_count if first.row_count is None else first.row_count,
        byte_length=second.byte_length if first.byte_length is None else first.byte_length,
        columns=second.columns if first.columns is None else first.columns,
    )
