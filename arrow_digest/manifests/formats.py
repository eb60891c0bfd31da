"""The manifest format, versions 1 and 2, written and read: see "Manifests" of the specifications.

It is at home here alone. A line of JSON in a list of hashes is an entry of the same form, and is read here too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from arrow_digest.arrays.types import parse_type
from arrow_digest.errors import ArrowDigestError, ManifestError
from arrow_digest.files.facts import FileFacts, expected_hash
from arrow_digest.manifests.folder import local_name, recorded_name
from arrow_digest.public import public
from arrow_digest.rules.rule import ColumnDigest

__all__ = [
    "FORMAT",
    "MOST_BYTES",
    "Listed",
    "ManifestEntry",
    "entry_from_json",
    "facts_json",
    "is_manifest",
    "manifest_text",
    "parse_facts",
    "parse_json",
    "parse_manifest",
    "second_entry",
]

FORMAT = "arrow-digest-manifest"
"""What the member `format` of every manifest says."""

MOST_BYTES = 1 << 30
"""How much of a file is read as a manifest: it bounds the memory that a hostile one can take, and was not measured."""

_LATEST_VERSION = 2
# Other readers of JSON, and other languages, hold no larger whole numbers.
_MOST_COUNT = 2**63 - 1
_INT96_UNITS: dict[str, Int96Unit] = {"ns": "ns", "us": "us"}
# Names of members that `requires` may hold: of the manifest, and of what is in it.
_KNOWN = frozenset({"format", "version", "requires", "root", "int96_unit", "files"}) | {
    *("path", "byte_length", "row_count", "physical", "logical", "note", "columns")
}
# A manifest has its format near its start, or near its end where something sorted its members.
_MARK = f'"{FORMAT}"'.encode()
_MARK_BYTES = 4096


@public
@dataclass(frozen=True)
class ManifestEntry:
    """One file of a manifest, or of a list of hashes.

    Attributes:
        path: Relative to the manifest's folder, with `/` between names; for a line of a list that has none, the line.
        facts: What is recorded of the file.
        note: Why there is no logical hash, or None.
        error: What is wrong with an entry that was read, or None. Checking it gives `UNREADABLE`.
        line: The line of a list that it is on, counted from 1; None in a manifest.
    """

    path: str
    facts: FileFacts
    note: str | None = None
    error: ManifestError | None = None
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Listed:
    """What a manifest or list says.

    Attributes:
        entries: The files.
        is_list: True for a list.
        root: The folder that paths are relative to, relative to the manifest; None for the manifest's own.
        int96_unit: The unit in which INT96 timestamps were read.
    """

    entries: tuple[ManifestEntry, ...]
    is_list: bool
    root: str | None = None
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT


def manifest_text(
    entries: Iterable[ManifestEntry], root: str | None, int96_unit: Int96Unit = DEFAULT_INT96_UNIT
) -> str:
    """Return a manifest as text, of version 1 where that says everything.

    Args:
        entries: The files, in any order.
        root: The folder that paths are relative to, relative to the manifest; None for the manifest's own.
        int96_unit: The unit in which INT96 timestamps were read.
    """
    needed: dict[str, object] = {}
    if root is not None:
        needed["root"] = recorded_name(root)
    if int96_unit != DEFAULT_INT96_UNIT:
        needed["int96_unit"] = int96_unit
    head: dict[str, object] = {"format": FORMAT, "version": 1}
    if needed:
        head.update(version=2, requires=list(needed), **needed)
    lines = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    texts = ",\n".join(_entry_text(entry) for entry in sorted(entries, key=lambda entry: entry.path))
    return f'{{\n{lines} "files": [\n{texts}\n ]\n}}\n'


def _entry_text(entry: ManifestEntry) -> str:
    """Return an entry as JSON, a member a line and a leaf column a line, so that two manifests can be compared."""
    members: dict[str, Any] = {"path": recorded_name(entry.path), **facts_json(entry.facts)}
    if entry.note is not None:
        members["note"] = recorded_name(entry.note)
    columns = members.pop("columns", None)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in members.items()]
    if columns is not None:
        inner = ",\n".join(f"    {json.dumps(column)}" for column in columns)
        lines.append(f'"columns": [\n{inner}\n   ]' if columns else '"columns": []')
    return "  {\n" + ",\n".join(f"   {line}" for line in lines) + "\n  }"


def _column_json(column: ColumnDigest, *, nullability: bool = True) -> dict[str, object]:
    """Return one leaf column as a JSON object.

    Args:
        column: The column.
        nullability: True to say what may be null inside, as manifests do.
    """
    shown: dict[str, object] = {
        "path": list(column.path),
        "type": str(column.data_type),
        "null_count": column.null_count,
        "digest": column.digest.hex(),
    }
    if column.validity_digest is not None:
        shown["validity_digest"] = column.validity_digest.hex()
    if nullability and column.nullable_items:
        shown["nullable_items"] = True
    if nullability and column.nullable_structs:
        shown["nullable_structs"] = True
    return shown


def facts_json(facts: FileFacts, *, base: str = "base16", nullability: bool = True) -> dict[str, object]:
    """Return what is known of a file as a JSON object; what is not known is left out.

    Args:
        facts: What is known.
        base: The multibase encoding of the hashes.
        nullability: True to say of columns what may be null inside, as manifests do.
    """
    columns = None
    if facts.columns is not None:
        columns = [_column_json(column, nullability=nullability) for column in facts.columns]
    shown: dict[str, object] = {
        "byte_length": facts.byte_length,
        "row_count": facts.row_count,
        "physical": None if facts.physical is None else facts.physical.encode(base),
        "logical": None if facts.logical is None else facts.logical.encode(base),
        "columns": columns,
    }
    return {key: value for key, value in shown.items() if value is not None}


def parse_json(text: str) -> Any:
    """Return the value of JSON text.

    Raises:
        ValueError: It is none, names a member twice, or is nested too deeply.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return found


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
    entries = _without_duplicates([entry_from_json(recorded, name, None) for recorded in files], name)
    if version == 1:
        return Listed(entries, is_list=False)
    _require_known(whole.get("requires", []), name)
    unit = whole.get("int96_unit", DEFAULT_INT96_UNIT)
    if not isinstance(unit, str) or unit not in _INT96_UNITS:
        raise ManifestError(name, "format", f"int96_unit: expected 'ns' or 'us', found {unit!r}")
    return Listed(entries, is_list=False, root=_root(whole.get("root"), name), int96_unit=_INT96_UNITS[unit])


def _require_known(requires: object, name: str) -> None:
    if not isinstance(requires, list) or not all(isinstance(member, str) for member in requires):
        raise ManifestError(name, "format", f"requires: expected a list of names, found {str(requires)[:80]!r}")
    unknown = sorted(set(requires) - _KNOWN)
    if unknown:
        message = f"made by a newer release: it cannot be checked without knowing {', '.join(map(repr, unknown[:8]))}"
        raise ManifestError(name, "requires", message)


def _root(root: object, name: str) -> str | None:
    if root is None:
        return None
    problem = "expected the path of a folder"
    if isinstance(root, str) and root:
        problem = "expected a path relative to the manifest"
        if not ("\0" in root or "://" in root or root.startswith("/") or os.path.isabs(root)):  # noqa: PTH117
            try:
                return local_name(root)
            except ValueError as error:
                raise ManifestError(name, "format", f"root: {error}") from error
    raise ManifestError(name, "format", f"root: {problem}, found {str(root)[:200]!r}")


def entry_from_json(recorded: Any, name: str, line: int | None) -> ManifestEntry:
    """Return what an entry of a manifest, or a line of a list, says; an unusable one has an error.

    Args:
        recorded: The value of its JSON.
        name: How errors name the manifest or list.
        line: The line of a list that it is on; None in a manifest.
    """
    path = recorded.get("path") if isinstance(recorded, dict) else None
    shown = path if isinstance(path, str) and path else repr(recorded)[:80]
    try:
        if shown is not path:
            raise ValueError(f"path: expected text, found {path!r}")  # noqa: TRY301
        raw = recorded.get("path_bytes") if line is not None else None
        local = local_name(path) if raw is None else os.fsdecode(_name_bytes(raw))
        note = recorded.get("note")
        return ManifestEntry(local, parse_facts(recorded), note if isinstance(note, str) else None, line=line)
    except ValueError as error:
        unusable = ManifestError(name, "entry", f"{shown}: {error}", line)
        return ManifestEntry(shown, FileFacts(), error=unusable, line=line)


def _name_bytes(text: Any) -> bytes:
    try:
        return bytes.fromhex(text)
    except (TypeError, ValueError) as error:
        raise ValueError(f"path_bytes: expected bytes in hex, found {text!r}") from error


def _without_duplicates(entries: Iterable[ManifestEntry], name: str) -> tuple[ManifestEntry, ...]:
    """Return entries of which a second one for a file has an error."""
    first: set[str] = set()
    kept = []
    for entry in entries:
        key = os.path.normpath(entry.path)
        kept.append(second_entry(entry, name) if key in first else entry)
        first.add(key)
    return tuple(kept)


def second_entry(entry: ManifestEntry, name: str) -> ManifestEntry:
    """Return the second entry for a file as one that says nothing usable: nobody knows which of the two holds."""
    error = ManifestError(name, "duplicate", f"{entry.path}: a second entry for this file", entry.line)
    return replace(entry, facts=FileFacts(), error=error)


def parse_facts(recorded: dict[str, Any]) -> FileFacts:
    """Return what a JSON object says of a file. Members that are not known are not looked at.

    Raises:
        ValueError: It says nothing usable; the text says what is wrong.
    """
    try:
        physical = expected_hash(_text(recorded, "physical"), is_logical=False)
        logical = expected_hash(_text(recorded, "logical"), is_logical=True)
    except ArrowDigestError as error:
        raise ValueError(str(error)) from error
    if physical is None and logical is None:
        raise ValueError("expected a physical or a logical hash, found neither")
    columns = recorded.get("columns")
    if columns is not None and not isinstance(columns, list):
        raise ValueError(f"columns: expected a list, found {type(columns).__name__}")
    if columns is not None and logical is None:
        raise ValueError("columns: expected a logical hash beside them, found none")
    size = 0 if logical is None else logical.function.digest_size
    return FileFacts(
        physical=physical,
        logical=logical,
        row_count=_count(recorded, "row_count"),
        byte_length=_count(recorded, "byte_length"),
        columns=None if columns is None else tuple(_parse_column(column, size) for column in columns),
    )


def _parse_column(recorded: Any, digest_size: int) -> ColumnDigest:
    if not isinstance(recorded, dict):
        raise ValueError(f"columns: expected objects, found {type(recorded).__name__}")  # noqa: TRY004 -- foreign data
    path = recorded.get("path")
    if not isinstance(path, list) or not path or not all(isinstance(name, str) for name in path):
        raise ValueError(f"columns: path: expected a list of names, found {path!r}")
    text = _text(recorded, "type")
    data_type = None if text is None else parse_type(text)
    if data_type is None:
        raise ValueError(f"columns: type: expected a logical type of arrow0, found {text!r}")
    null_count, digest = _count(recorded, "null_count"), _digest(recorded, "digest", digest_size)
    if null_count is None or digest is None:
        raise ValueError("columns: expected a null_count and a digest")
    return ColumnDigest(
        path=tuple(path),
        data_type=data_type,
        null_count=null_count,
        digest=digest,
        validity_digest=_digest(recorded, "validity_digest", digest_size),
        nullable=null_count > 0,  # a manifest does not say what the schema allows, and nothing asks for it
        nullable_items=recorded.get("nullable_items") is True,
        nullable_structs=recorded.get("nullable_structs") is True,
    )


def _text(recorded: dict[str, Any], key: str) -> str | None:
    value = recorded.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key}: expected text, found {value!r}")
    return value


def _count(recorded: dict[str, Any], key: str) -> int | None:
    value = recorded.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_COUNT:
        raise ValueError(f"{key}: expected a whole number of at least 0, found {value!r}")
    return value


def _digest(recorded: dict[str, Any], key: str, size: int) -> bytes | None:
    text = _text(recorded, key)
    if text is None:
        return None
    try:
        digest = bytes.fromhex(text)
    except ValueError:
        digest = b""
    if len(digest) != size or len(text) != 2 * size:
        raise ValueError(f"{key}: expected {size} bytes in hex, found {text!r}")
    return digest
