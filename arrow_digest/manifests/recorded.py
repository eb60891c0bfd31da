"""What is recorded of a file, as JSON."""

from __future__ import annotations

from typing import Any

from arrow_digest.arrays.schema import parse_type
from arrow_digest.comparing.verify import FileFacts, Verification, expected_hash
from arrow_digest.errors import ArrowDigestError
from arrow_digest.rules.records import ColumnDigest

__all__ = ["column_json", "facts_json", "parse_facts", "verification_json"]

_MOST = 2**63 - 1


def column_json(column: ColumnDigest, *, nullability: bool = True) -> dict[str, Any]:
    """Return one leaf column as the JSON object that `--json` has, and manifests with what may be null inside."""
    shown: dict[str, Any] = {
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


def facts_json(facts: FileFacts) -> dict[str, Any]:
    """Return what is known of a file as a JSON object; what is not known is left out."""
    shown: dict[str, Any] = {
        "byte_length": facts.byte_length,
        "row_count": facts.row_count,
        "physical": None if facts.physical is None else str(facts.physical),
        "logical": None if facts.logical is None else str(facts.logical),
        "columns": None if facts.columns is None else [column_json(column) for column in facts.columns],
    }
    return {key: value for key, value in shown.items() if value is not None}


def verification_json(result: Verification) -> dict[str, Any]:
    """Return a verification as a JSON object."""
    shown: dict[str, Any] = {
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


def _without_columns(facts: FileFacts) -> dict[str, Any]:
    shown = facts_json(facts)
    shown.pop("columns", None)
    return shown


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
        nullable=null_count > 0,
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
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
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
