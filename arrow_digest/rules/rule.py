"""What a rule set is to everything above it: two protocols, and the plain records that they speak in.

A rule set says what the logical hash of records is. `Rule` is a rule set with its digest function: it plans the hash of
a schema, starts digests, and combines them. `Leaves` are the digests of the leaves in progress, which advance together
over the same rows. What a leaf is, is for the rule set to say: it may be a field at any depth, or a whole column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arrow_digest.arrays.nodes import Node
from arrow_digest.arrays.schema import Struct, structs
from arrow_digest.errors import SchemaMismatchError, format_path
from arrow_digest.functions import DigestFunction
from arrow_digest.public import public
from arrow_digest.workers import Pool

__all__ = ["ColumnDigest", "Leaf", "Leaves", "Plan", "PlannedField", "Rule", "require_same"]


class PlannedField(NamedTuple):
    """One field of a schema at any depth, as a rule set hashes it.

    Attributes:
        path: Field names from the top-level column down.
        indices: Field indices from the top-level column down.
        data_type: The field's Arrow type.
        encoded_type: The rule set's encoding of the type; None for a struct, whose fields follow.
        head: What the digest of the records is fed of the field itself, such as its name.
    """

    path: tuple[str, ...]
    indices: tuple[int, ...]
    data_type: pa.DataType
    encoded_type: bytes | None
    head: bytes


class Leaf(NamedTuple):
    """A field that has a digest of its own.

    Attributes:
        path: Field names from the top-level column down.
        indices: Field indices from the top-level column down.
        data_type: The leaf's Arrow type.
        encoded_type: The rule set's encoding of the type.
    """

    path: tuple[str, ...]
    indices: tuple[int, ...]
    data_type: pa.DataType
    encoded_type: bytes


@dataclass(frozen=True)
class Plan:
    """How a rule set hashes records of one schema.

    Attributes:
        schema: The schema.
        fields: Every field that the hash names, depth first.
        leaves: The fields that have a digest, depth first.
    """

    schema: pa.Schema
    fields: tuple[PlannedField, ...]
    leaves: tuple[Leaf, ...]

    @cached_property
    def heads(self) -> bytes:
        """What the digest of the records is fed of all fields."""
        return b"".join(field.head for field in self.fields)

    @cached_property
    def structs(self) -> tuple[Struct, ...]:
        """The structs that have no digest of their own, depth first."""
        return structs(
            tuple((field.path, field.indices) for field in self.fields if field.encoded_type is None),
            tuple(leaf.indices for leaf in self.leaves),
        )

    @property
    def childless(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the structs without fields, depth first."""
        outer = {field.indices[:-1] for field in self.fields}
        return tuple(struct.path for struct in self.structs if struct.indices not in outer)


@public
@dataclass(frozen=True)
class ColumnDigest:
    """What one leaf column adds to a record digest.

    Attributes:
        path: Field names from the top-level column down.
        data_type: The leaf's logical type, a `pyarrow.DataType`.
        null_count: Number of null rows; nulls of the structs above count.
        digest: The digest of type and values.
        validity_digest: The digest of one byte a row, 1 where there is a value and 0 where there is none; None
            unless it was asked for. It tells apart what arrow0 cannot, for every leaf that is no list.
        nullable: True if the schema allows null rows, in the leaf or in a struct above it.
        nullable_items: True for a list whose items, at any depth, may be null.
        nullable_structs: True if a struct above the leaf may be null. For arrow0, and in the validity digest, a null
            struct is one whose fields are all null.

    >>> from arrow_digest import RecordDigest
    >>> digest = RecordDigest(pa.schema([("a", pa.int32())]))
    >>> digest.update(pa.table({"a": pa.array([1, None], pa.int32())}))
    >>> (column,) = digest.columns()
    >>> column.path, column.null_count, column.nullable
    (('a',), 1, True)
    """

    path: tuple[str, ...]
    data_type: pa.DataType
    null_count: int
    digest: bytes
    validity_digest: bytes | None = None
    nullable: bool = True
    nullable_items: bool = False
    nullable_structs: bool = False


class Leaves(Protocol):
    """The digests of a plan's leaves in progress. All of them advance together, over the same rows."""

    def update(self, columns: Sequence[Node]) -> None:
        """Feed the same rows of every top-level column. All is done on return, also when some of it raises.

        Args:
            columns: The description of each.
        """

    def digests(self) -> tuple[bytes, ...]:
        """Return the digest of every leaf, in the order of the plan."""

    def columns(self) -> tuple[ColumnDigest, ...]:
        """Return what each leaf adds to the hash, in the order of the plan."""

    def copy(self) -> Leaves:
        """Return independent digests in the same state."""


class Rule(Protocol):
    """A rule set with a digest function. Rules are immutable, and there is one object of each."""

    @property
    def name(self) -> str:
        """The full name, such as `arrow0-sha3-256`."""

    @property
    def rule_set(self) -> str:
        """The name of the rule set, such as `arrow0`."""

    @property
    def code(self) -> int:
        """The multihash code of its hashes."""

    @property
    def function(self) -> DigestFunction:
        """The digest function."""

    def plan(self, schema: pa.Schema) -> Plan:
        """Return how records of a schema are hashed.

        Raises:
            UnsupportedTypeError: The rule set has no encoding for a column's type, or for one inside it.
        """

    def plan_array(self, data_type: pa.DataType) -> Plan:
        """Return how an array that is no records is hashed: a plan of one leaf, whose path is empty.

        Raises:
            UnsupportedTypeError: The rule set has no encoding for the type, or for one inside it.
        """

    def logical_type(self, data_type: pa.DataType) -> pa.DataType:
        """Return the plainest Arrow type whose values hash as those of a type do."""

    def start(self, plan: Plan, pool: Pool, *, validity: bool = False) -> Leaves:
        """Start the digests of a plan's leaves.

        Args:
            plan: One of this rule's plans.
            pool: The threads that may work on them.
            validity: True to digest each leaf's row validity too.
        """

    def combine(self, plan: Plan, digests: Sequence[bytes], row_count: int) -> bytes:
        """Return the digest of records from those of the plan's leaves."""

    def stream(self, column: Node, leaf: Leaf) -> Iterator[npt.NDArray[np.uint8]]:
        """Return the bytes that a leaf's digest is fed for some rows; each piece is good until the next.

        Args:
            column: The description of the top-level column that the leaf is in.
            leaf: A leaf of one of this rule's plans.
        """

    def hides(
        self, recorded: Sequence[ColumnDigest] | None, found: Sequence[ColumnDigest]
    ) -> tuple[tuple[str, ...], ...]:
        """Return the paths of the leaves in which equal hashes may hide a difference.

        Args:
            recorded: The leaves of the records that were hashed before, None where only their hash is known.
            found: The leaves of records with the same hash.
        """

    def may_hide(self, a: ColumnDigest, b: ColumnDigest) -> bool:
        """Return whether the values of two leaves with equal digests may differ; nulls of structs are left aside."""


def require_same(rule: Rule, expected: Plan, found: Plan) -> None:
    """Refuse other fields: names, levels, order or logical types.

    Raises:
        SchemaMismatchError: The first field that differs.
    """
    if expected is found:
        return
    for before, after in zip(expected.fields, found.fields, strict=False):
        if (before.path, before.encoded_type) != (after.path, after.encoded_type):
            raise SchemaMismatchError(before.path, _field_text(rule, before), _field_text(rule, after))
    if len(expected.fields) > len(found.fields):
        missing = expected.fields[len(found.fields)]
        raise SchemaMismatchError(missing.path, _field_text(rule, missing), None)
    if len(expected.fields) < len(found.fields):
        extra = found.fields[len(expected.fields)]
        raise SchemaMismatchError(extra.path, None, _field_text(rule, extra))


def _field_text(rule: Rule, field: PlannedField) -> str:
    """Return name and logical type, as errors show them."""
    kind = "struct" if field.encoded_type is None else rule.logical_type(field.data_type)
    return f"{format_path(field.path)}: {kind}"
