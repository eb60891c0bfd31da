"""The JSON of a manifest, versions 1 and 2: see "Manifests" of the specifications."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from arrow_digest.comparing.verify import FileFacts
from arrow_digest.errors import ManifestError
from arrow_digest.files.folder import local_name, recorded_name
from arrow_digest.manifests.recorded import facts_json, parse_facts

__all__ = [
    "FORMAT",
    "ListEntry",
    "Listed",
    "entry_from_json",
    "is_manifest",
    "manifest_text",
    "parse_json",
    "parse_manifest",
    "without_duplicates",
]

FORMAT = "arrow-digest-manifest"

_LATEST_VERSION = 2
_INT96_UNITS: dict[str, Int96Unit] = {"ns": "ns", "us": "us"}
# Names of members that `requires` may hold: of the manifest, and of what is in it.
_KNOWN = frozenset({"format", "version", "requires", "root", "int96_unit", "files"}) | {
    *("path", "byte_length", "row_count", "physical", "logical", "note", "columns")
}
# A manifest has its format near its start, or near its end where something sorted its members.
_MARK = f'"{FORMAT}"'.encode()
_MARK_BYTES = 4096


@dataclass(frozen=True)
class ListEntry:
    """One file of a manifest or list.

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


@dataclass(frozen=True)
class Listed:
    """What a manifest or list says.

    Attributes:
        entries: The files.
        is_list: True for a list.
        root: The folder that paths are relative to, relative to the manifest; None for the manifest's own.
        int96_unit: The unit in which INT96 timestamps were read.
    """

    entries: list[ListEntry]
    is_list: bool
    root: str | None = None
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT


def manifest_text(
    files: Iterable[tuple[str, FileFacts, str | None]], root: str | None, int96_unit: Int96Unit = DEFAULT_INT96_UNIT
) -> str:
    """Return a manifest as text, of version 1 where that says everything.

    Args:
        files: Path, facts and note of each.
        root: The folder that paths are relative to, relative to the manifest; None for the manifest's own.
        int96_unit: The unit in which INT96 timestamps were read.
    """
    needed: dict[str, Any] = {}
    if root is not None:
        needed["root"] = recorded_name(root)
    if int96_unit != DEFAULT_INT96_UNIT:
        needed["int96_unit"] = int96_unit
    head: dict[str, Any] = {"format": FORMAT, "version": 1}
    if needed:
        head.update(version=2, requires=list(needed), **needed)
    lines = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    texts = ",\n".join(_entry_text(*file) for file in sorted(files, key=lambda file: file[0]))
    return f'{{\n{lines} "files": [\n{texts}\n ]\n}}\n'


def _entry_text(path: str, facts: FileFacts, note: str | None) -> str:
    """Return an entry as JSON, a member a line and a leaf column a line, so that two manifests can be compared."""
    members: dict[str, Any] = {"path": recorded_name(path), **facts_json(facts)}
    if note is not None:
        members["note"] = recorded_name(note)
    columns = members.pop("columns", None)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in members.items()]
    if columns is not None:
        inner = ",\n".join(f"    {json.dumps(column)}" for column in columns)
        lines.append(f'"columns": [\n{inner}\n   ]' if columns else '"columns": []')
    return "  {\n" + ",\n".join(f"   {line}" for line in lines) + "\n  }"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return found


def parse_json(text: str) -> Any:
    """Return the value of JSON text.

    Raises:
        ValueError: It is none, names a member twice, or is nested too deeply.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def is_manifest(content: bytes) -> bool:
    """Return whether a file is a manifest, whatever its name is."""
    if not content.lstrip().startswith(b"{") or not (_MARK in content[:_MARK_BYTES] or _MARK in content[-_MARK_BYTES:]):
        return False
    try:
        whole = parse_json(content.decode("utf-8", "surrogateescape"))
    except ValueError:
        return False
    return isinstance(whole, dict) and whole.get("format") == FORMAT and isinstance(whole.get("files"), list)


def parse_manifest(whole: Mapping[str, Any], name: str) -> Listed:
    """Return what a manifest says. Members that are not known, and need not be, are not looked at.

    Raises:
        ManifestError: It is no manifest, of a newer version, or needs what is not known here.
    """
    if whole.get("format") != FORMAT:
        raise ManifestError(name, "format", f"no manifest: expected format {FORMAT!r}, found {whole.get('format')!r}")
    version = whole.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ManifestError(name, "format", f"no manifest: expected a version, found {version!r}")
    if version > _LATEST_VERSION:
        message = f"made by a newer release: expected version {_LATEST_VERSION} at most, found {version}"
        raise ManifestError(name, "version", message)
    files = whole.get("files")
    if not isinstance(files, list):
        raise ManifestError(name, "format", f"files: expected a list, found {type(files).__name__}")
    entries = without_duplicates([entry_from_json(recorded, name, None) for recorded in files], name)
    if version == 1:
        return Listed(entries, is_list=False)
    _require_known(whole.get("requires", []), name)
    unit = whole.get("int96_unit", DEFAULT_INT96_UNIT)
    if not isinstance(unit, str) or unit not in _INT96_UNITS:
        raise ManifestError(name, "format", f"int96_unit: expected 'ns' or 'us', found {unit!r}")
    return Listed(entries, False, _root(whole.get("root"), name), _INT96_UNITS[unit])


def _require_known(requires: Any, name: str) -> None:
    if not isinstance(requires, list) or not all(isinstance(member, str) for member in requires):
        raise ManifestError(name, "format", f"requires: expected a list of names, found {str(requires)[:80]!r}")
    unknown = sorted(set(requires) - _KNOWN)
    if unknown:
        message = f"made by a newer release: it cannot be checked without knowing {', '.join(map(repr, unknown[:8]))}"
        raise ManifestError(name, "requires", message)


def _root(root: Any, name: str) -> str | None:
    if root is None:
        return None
    problem = ""
    if not isinstance(root, str) or not root:
        problem = "expected the path of a folder"
    elif "\0" in root or "://" in root or root.startswith("/") or os.path.isabs(root):  # noqa: PTH117
        problem = "expected a path relative to the manifest"
    if problem:
        raise ManifestError(name, "format", f"root: {problem}, found {str(root)[:200]!r}")
    try:
        return local_name(root)
    except ValueError as error:
        raise ManifestError(name, "format", f"root: {error}") from error


def entry_from_json(recorded: Any, name: str, line: int | None) -> ListEntry:
    """Return an entry of a manifest, or of a line of a list."""
    path = recorded.get("path") if isinstance(recorded, dict) else None
    shown = path if isinstance(path, str) and path else repr(recorded)[:80]
    try:
        if shown is not path:
            raise ValueError(f"path: expected text, found {path!r}")  # noqa: TRY301
        raw = recorded.get("path_bytes") if line is not None else None
        local = local_name(path) if raw is None else os.fsdecode(_name_bytes(raw))
        note = recorded.get("note")
        return ListEntry(local, parse_facts(recorded), note if isinstance(note, str) else None, line=line or 0)
    except ValueError as error:
        return ListEntry(shown, None, error=ManifestError(name, "entry", f"{shown}: {error}", line), line=line or 0)


def _name_bytes(text: Any) -> bytes:
    try:
        return bytes.fromhex(text)
    except (TypeError, ValueError) as error:
        raise ValueError(f"path_bytes: expected bytes in hex, found {text!r}") from error


def without_duplicates(entries: list[ListEntry], name: str) -> list[ListEntry]:
    """Return entries of which a second one for a file has an error."""
    first: set[str] = set()
    kept = []
    for entry in entries:
        key = os.path.normpath(entry.path)
        if key in first:
            message = f"{entry.path}: a second entry for this file"
            entry = replace(entry, facts=None, error=ManifestError(name, "duplicate", message, entry.line or None))
        first.add(key)
        kept.append(entry)
    return kept
