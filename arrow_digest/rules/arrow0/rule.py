"""The rule set arrow0: what stands before the leaves, and how their digests combine.

Implements "Record batches" of the arrow0 specification.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import lib

from arrow_digest.arrays.nodes import Node
from arrow_digest.arrays.schema import walk
from arrow_digest.arrays.types import unwrap
from arrow_digest.codes import NAMES
from arrow_digest.errors import UnsupportedTypeError
from arrow_digest.functions import DigestFunction
from arrow_digest.rules.arrow0 import ambiguity
from arrow_digest.rules.arrow0.leaf_columns import leaf_column
from arrow_digest.rules.arrow0.leaves import Arrow0Leaves
from arrow_digest.rules.arrow0.portable import encode
from arrow_digest.rules.arrow0.types import RULE_SET, encode_type, is_flat, logical_type
from arrow_digest.rules.rule import ColumnDigest, Leaf, Plan, PlannedField
from arrow_digest.workers import Pool

__all__ = ["Arrow0"]


@dataclass(frozen=True)
class Arrow0:
    """The rule set arrow0 with a digest function.

    Attributes:
        function: The digest function.
    """

    function: DigestFunction

    @property
    def rule_set(self) -> str:
        """The name of the rule set."""
        return RULE_SET

    @property
    def name(self) -> str:
        """The full name, such as `arrow0-sha3-256`."""
        return f"{RULE_SET}-{self.function.name}"

    @property
    def code(self) -> int:
        """The multihash code of its hashes."""
        return NAMES[self.name].code

    def plan(self, schema: pa.Schema) -> Plan:
        """Return how records of a schema are hashed.

        Raises:
            UnsupportedTypeError: A column's type, or one inside it, has no arrow0 encoding, or a name is not UTF-8.
        """
        return _plan(schema)

    def plan_array(self, data_type: pa.DataType) -> Plan:
        """Return how an array is hashed: a plan of one leaf, whose path is empty.

        Raises:
            UnsupportedTypeError: The type, or one inside it, has no arrow0 encoding; also that of a struct.
        """
        if unwrap(data_type).id == lib.Type_STRUCT:
            reason = "a struct has no digest of its own; RecordDigest takes records"
            raise UnsupportedTypeError((), data_type, "records", reason, "struct", RULE_SET)
        leaf = Leaf((), (0,), data_type, encode_type(data_type))
        return Plan(pa.schema([]), (), (leaf,))

    def logical_type(self, data_type: pa.DataType) -> pa.DataType:
        """Return the plainest Arrow type that has the same arrow0 encoding."""
        return logical_type(data_type)

    def start(self, plan: Plan, pool: Pool, *, validity: bool = False) -> Arrow0Leaves:
        """Start the digests of a plan's leaves."""
        return Arrow0Leaves(plan, self.function, pool, validity=validity)

    def combine(self, plan: Plan, digests: Sequence[bytes], row_count: int) -> bytes:
        """Return the digest of records from those of their leaf columns, depth first; rows are not counted."""
        combined = self.function.new()
        combined.update(plan.heads)
        for digest in digests:
            combined.update(digest)
        return combined.digest()

    def stream(self, column: Node, leaf: Leaf) -> Iterator[npt.NDArray[np.uint8]]:
        """Return the bytes that a leaf's digest is fed for some rows; each piece is good until the next."""
        return encode(leaf_column(column, leaf.indices))

    def hides(
        self, recorded: Sequence[ColumnDigest] | None, found: Sequence[ColumnDigest]
    ) -> tuple[tuple[str, ...], ...]:
        """Return the paths of the leaves in which equal hashes may hide a difference."""
        return tuple(ambiguity.hidden(recorded, found))

    def may_hide(self, a: ColumnDigest, b: ColumnDigest) -> bool:
        """Return whether the values of two leaves with equal digests may differ; nulls of structs are left aside."""
        return ambiguity.may_hide(a, b)


# The schema of flat types planned last, and its plan: small tables come many of a kind. Not of other types: pyarrow
# takes dictionaries of extensions for equal that are over different storage.
_latest: tuple[pa.Schema, Plan] = (pa.schema([]), Plan(pa.schema([]), (), ()))


def _plan(schema: pa.Schema) -> Plan:
    global _latest
    known, plan = _latest  # one look, so that threads do not see halves of two
    if not schema.equals(known):
        plan = _planned(schema)
        if all(is_flat(field.data_type) for field in plan.fields):
            _latest = schema, plan
    return plan


def _planned(schema: pa.Schema) -> Plan:
    fields = []
    for path, indices, data_type, base_type, above in walk(schema):
        encoded = None if base_type.id == lib.Type_STRUCT else encode_type(data_type, path, above)
        name = path[-1].encode("utf-8")
        head = struct.pack("<Q", len(name)) + name + struct.pack("<Q", len(path) - 1)
        fields.append(PlannedField(path, indices, data_type, encoded, head))
    leaves = (
        Leaf(field.path, field.indices, field.data_type, field.encoded_type)
        for field in fields
        if field.encoded_type is not None
    )
    return Plan(schema, tuple(fields), tuple(leaves))
