"""What is known of a file: the one description that hashing, verification, manifests and the commands speak in."""

from __future__ import annotations

from dataclasses import dataclass, field

from arrow_digest.errors import ExpectationError
from arrow_digest.multihash import Multihash
from arrow_digest.public import public
from arrow_digest.rules.records import RecordDigest
from arrow_digest.rules.rule import ColumnDigest

__all__ = ["FileFacts", "FileHash", "expected_hash", "facts_of"]


@public
@dataclass(frozen=True)
class FileFacts:
    """What is recorded of a file, or was found; None for what is not known.

    Attributes:
        physical: The hash of the bytes.
        logical: The arrow0 hash of the records.
        row_count: Number of rows.
        byte_length: Length in bytes.
        columns: Each leaf column's path, type, null count and digests.
    """

    physical: Multihash | None = None
    logical: Multihash | None = None
    row_count: int | None = None
    byte_length: int | None = None
    columns: tuple[ColumnDigest, ...] | None = None


@public
@dataclass(frozen=True, kw_only=True)
class FileHash(FileFacts):
    """What a file is, byte for byte and record for record: all of its facts are known.

    Attributes:
        path: The path as it was given.
        byte_length: The file's length in bytes.
        row_count: Number of rows.
        physical: The hash of the bytes.
        logical: The arrow0 hash of the records.
        columns: Each leaf column's path, type, null count and digest.

    >>> from arrow_digest import hash_file
    >>> found = hash_file("orders.parquet")
    >>> found.path, found.row_count, found.facts.row_count
    ('orders.parquet', 3, 3)
    """

    path: str
    byte_length: int = field()
    row_count: int = field()
    physical: Multihash = field()
    logical: Multihash = field()
    columns: tuple[ColumnDigest, ...] = field()

    @property
    def facts(self) -> FileFacts:
        """The same without the path, so that files of other places compare equal."""
        return FileFacts(
            physical=self.physical,
            logical=self.logical,
            row_count=self.row_count,
            byte_length=self.byte_length,
            columns=self.columns,
        )


def facts_of(records: RecordDigest) -> FileFacts:
    """Return what a digest knows of the records that it was fed."""
    return FileFacts(logical=records.multihash(), row_count=records.row_count, columns=records.columns())


def expected_hash(value: Multihash | str | bytes | None, *, is_logical: bool) -> Multihash | None:
    """Return a hash of the kind that is expected.

    Raises:
        ExpectationError: It is of the other kind.
        MultihashError: It is no multihash.
    """
    if value is None:
        return None
    parsed = value if isinstance(value, Multihash) else Multihash.parse(value)
    if parsed.is_logical != is_logical:
        kinds = ("physical", "logical")
        message = f"not comparable: expected a {kinds[is_logical]} hash, found a {kinds[not is_logical]} one"
        raise ExpectationError("kind", f"{message} ({parsed.name})")
    return parsed
