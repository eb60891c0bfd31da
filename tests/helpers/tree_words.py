"""The words of the worked examples about tree0 and bag0, as every implementation in `IMPLEMENTATIONS` gives them.

The reference comes first. An implementation has a method of each word's name; what it gives has to be what the
reference gives, and where that refuses, it has to refuse by the same rule. To have the examples run by another
implementation, put an object with these methods into the list.
"""

from __future__ import annotations

import pyarrow as pa
from reference import bag0, records, tree0
from reference.arrays import records as records_of
from tree_cases.case import dense, listed, mapped, sparse

from helpers.spec_words import array, by_name, damaged, lists_in_lists

BLAKE3 = records.FUNCTIONS["blake3"]


def table_of(column):
    return column if isinstance(column, pa.Table) else pa.table({"c": column})


class Reference:
    """The words as golden/reference has them."""

    refusals = (records.RefusedError,)

    def encoded(self, data_type):
        """The bytes of a type."""
        return records.type_bytes(records.type_of(data_type, ("c",)))

    def streams(self, column):
        """The streams of a column's first chunk."""
        t, values = self._only_column(column)
        return tree0.streams(t, values[: tree0.CHUNK_ROWS])

    def of_chunk(self, column):
        """What the digest of a column's first chunk is fed."""
        t, values = self._only_column(column)
        return tree0.chunk_input(BLAKE3, t, values[: tree0.CHUNK_ROWS])

    def chunks(self, column):
        """The digests of a column's chunks."""
        return tree0.chunks(BLAKE3, *self._only_column(column))

    def root(self, digests):
        """The root over chunk digests."""
        return tree0.root(BLAKE3, digests)

    def of_column(self, column):
        """What the digest of a column is fed."""
        t, values = self._only_column(column)
        return tree0.column_input(t, len(values), tree0.root(BLAKE3, tree0.chunks(BLAKE3, t, values)))

    def of_tree0(self, table):
        """What the hash tree0 is of."""
        hashed = records_of(table)
        columns = [tree0.column(BLAKE3, f.type, v) for f, v in zip(hashed.fields, hashed.columns, strict=True)]
        return tree0.table_input(hashed.fields, hashed.row_count, columns)

    def tree0(self, table, function="blake3"):
        """The hash tree0."""
        return tree0.table(records.FUNCTIONS[function], records_of(table_of(table)))

    def rows(self, table):
        """The bytes of each row."""
        return bag0.rows(records_of(table_of(table)))

    def entries(self, table):
        """The distinct rows' digests, ascending, and how many rows have each."""
        return sorted(bag0.counts(BLAKE3, records_of(table_of(table))).items())

    def bag(self, entries):
        """The digest of entries."""
        return bag0.bag(BLAKE3, entries)

    def of_bag0(self, table):
        """What the hash bag0 is of."""
        hashed = records_of(table_of(table))
        return bag0.table_input(hashed.fields, hashed.row_count, self.bag(self.entries(table)))

    def bag0(self, table, function="blake3"):
        """The hash bag0."""
        return bag0.table(records.FUNCTIONS[function], records_of(table_of(table)))

    def as_map(self, column):
        """The bytes of each row of a list of structs when it is read as a map of the same layout."""
        pair = column.type.value_type
        schema = pa.schema([("c", pa.map_(pair.field(0).type, pair.field(1).type))])
        return bag0.rows(records_of(table_of(column), schema))

    def _only_column(self, column):
        hashed = records_of(table_of(column))
        (field,), (values,) = hashed.fields, hashed.columns
        return field.type, values


IMPLEMENTATIONS = [Reference()]


def outcome(implementation, name, arguments, options):
    """What an implementation gives for a word, or the error with which it refuses."""
    try:
        return getattr(implementation, name)(*arguments, **options), None
    except implementation.refusals as refusal:
        return None, refusal


def word(name):
    """A word on whose meaning all implementations agree."""

    def agreed(*arguments, **options):
        (given, refusal), *others = [outcome(each, name, arguments, options) for each in IMPLEMENTATIONS]
        for other, other_refusal in others:
            assert getattr(other_refusal, "rule", None) == getattr(refusal, "rule", None)
            assert other == given
        if refusal is not None:
            raise refusal
        return given

    return agreed


def joined(column):
    """The streams of a column's first chunk, one after the other."""
    return b"".join(word("streams")(column))


def only_row(table):
    """The bytes of the only row."""
    (row,) = word("rows")(table)
    return row


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def multihash(name, digest):
    """A hash with its code, in bytes."""
    rules, function = name.split("-", 1)
    code = {"tree0": tree0, "bag0": bag0}[rules].HASH_CODES[function]
    return varint(code) + varint(len(digest)) + digest


def blake3(data):
    return BLAKE3(data)


WORDS = [name for name in vars(Reference) if not name.startswith("_") and name != "refusals"]

TREES = {
    "pa": pa,
    "length": records.length,
    **{name: word(name) for name in WORDS},
    **by_name(joined, only_row, multihash, blake3, array, damaged, lists_in_lists, sparse, dense, listed, mapped),
}
