"""arrow0: the logical hash of one array, of record batches as they come, and of a whole table or file.

Implements "Record batches" of the arrow0 specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from _arrow_io.faults import reading
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from _arrow_io.source import Source
from arrow_digest.arrays.batches import joined
from arrow_digest.arrays.describe import describe, describe_leaf
from arrow_digest.arrays.nodes import Column
from arrow_digest.arrays.schema import (
    FlatSchema,
    Struct,
    encode_type,
    flatten,
    logical_type,
    nullability,
    structs,
    unwrap,
)
from arrow_digest.errors import SchemaMismatchError, UnsupportedTypeError
from arrow_digest.functions import DEFAULT_FUNCTION, DigestFunction, digest_function
from arrow_digest.multihash import Multihash, logical_code
from arrow_digest.public import public
from arrow_digest.reading.sources import open_source, read_producer
from arrow_digest.rules.arrow0.leaves import LeafDigest, LeafPool, thread_count
from arrow_digest.rules.exclusive import ExclusiveDigest
from arrow_digest.typing import ArrayExporter, ArrowSchemaExportable, RecordExporter, RecordSource

__all__ = ["ArrayDigest", "ColumnDigest", "RecordDigest", "logical_hash"]


@public
def logical_hash(
    data: RecordSource,
    *,
    function: str = DEFAULT_FUNCTION,
    threads: int | None = None,
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
) -> Multihash:
    """Return the arrow0 logical hash of records.

    The hash is the same however the records are batched, sliced, encoded, compressed or laid out; it
    depends on the order of rows and columns, on column names and on logical types.

    Args:
        data: Anything that exports Arrow records (`__arrow_c_stream__` or `__arrow_c_array__`: pyarrow, polars,
            DuckDB, pandas), or a path to a Parquet, Arrow IPC or Feather file.
        function: Digest function: `sha3-256` (the standard), `sha2-256` or `blake3`.
        threads: How many threads to use; None for every core. The hash does not depend on it.
        int96_unit: The unit in which timestamps of Parquet's old type INT96 are read: `ns`, or `us` where days before
            1677 or after 2262 are among them. A value that does not fit is an error.

    Raises:
        UnsupportedTypeError: A column's type has no arrow0 encoding.
        UnreadableError: The file is no Arrow data, cut short, or broken.
        InvalidArrayError: An array points outside its own buffers.
        UnknownFunctionError: No such digest function.
        TypeError: `data` is neither a path nor an exporter.

    >>> str(logical_hash(pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["a", "b", "c"]})))
    'f9680c001205684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a'
    """
    count = thread_count(threads)
    with open_source(data, threads=count, int96_unit=int96_unit) as source:
        return digest_source(source, function=function, threads=count).multihash()


def digest_source(source: Source, *, function: str, threads: int, validity: bool = False) -> RecordDigest:
    """Return a digest that was fed all of a source."""
    digest = RecordDigest(source.schema, function=function, threads=threads, validity=validity)
    digest._feed(source.batches)
    return digest


def combine(flat: FlatSchema, leaf_digests: Sequence[bytes], function: DigestFunction) -> bytes:
    """Return the digest of records from those of their leaf columns, depth first."""
    combined = function.new()
    combined.update(flat.preamble)
    for digest in leaf_digests:
        combined.update(digest)
    return combined.digest()


@public
class ArrayDigest(ExclusiveDigest):
    """The digest of one array: its type, then its values.

    Equal for every layout and encoding of the same values. It has hashlib's surface. One call at a time feeds it: the
    order of what is fed is the hash, so a call that comes while another feeds is refused and takes nothing.

    Args:
        data_type: The `pyarrow.DataType`, or any object with `__arrow_c_schema__`.
        function: Digest function: `sha3-256`, `sha2-256` or `blake3`.

    Raises:
        UnsupportedTypeError: The type, or one inside it, has no arrow0 encoding.
        UnknownFunctionError: No such digest function.

    >>> digest = ArrayDigest(pa.int32())
    >>> digest.update(pa.array([1, 2, 3], pa.int32()))
    >>> digest.hexdigest()[:8]
    '95d11399'
    """

    def __init__(self, data_type: ArrowSchemaExportable, *, function: str = DEFAULT_FUNCTION) -> None:
        super().__init__()
        self._function = digest_function(function)
        # Only foreign types go through the C interface, which ends texts at a NUL.
        self._type = data_type if isinstance(data_type, pa.DataType) else pa.field(data_type).type
        if pa.types.is_struct(unwrap(self._type)):
            reason = "a struct has no digest of its own; RecordDigest takes records"
            raise UnsupportedTypeError((), self._type, "records", reason, "struct")
        self._encoded_type = encode_type(self._type)
        self._leaf = LeafDigest(self._encoded_type, self._function, alone=True)

    @property
    def name(self) -> str:
        """The name of the hash, such as `arrow0-sha3-256`."""
        return f"arrow0-{self._function.name}"

    @property
    def digest_size(self) -> int:
        """Digest length in bytes."""
        return self._function.digest_size

    def update(self, array: ArrayExporter) -> None:
        """Feed an array's values.

        Args:
            array: A `pyarrow.Array` or `ChunkedArray`, or any object that exports one; of the digest's type, in any
                layout or encoding.

        Raises:
            SchemaMismatchError: It is of another type.
            InvalidArrayError: It points outside its own buffers. Nothing of it was fed.
            UnreadableError: Its producer failed. Nothing of it was fed.
            DigestStateError: An earlier update failed half-way, or another call is at work on the digest.
        """
        with self._feeding():
            data_type, chunks = _array_chunks(array)
            found = None if pa.types.is_struct(unwrap(data_type)) else encode_type(data_type)
            if found != self._encoded_type:
                raise SchemaMismatchError((), str(logical_type(self._type)), str(logical_type(data_type)))
            columns = [Column(describe(chunk)) for chunk in chunks]
            self._spoiled = True
            for column in columns:
                self._leaf.update(column)
            self._spoiled = False

    def digest(self) -> bytes:
        """Return the digest of everything fed so far.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            return self._leaf.digest()

    def hexdigest(self) -> str:
        """Return `digest()` as lower-case hex.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        return self.digest().hex()

    def copy(self) -> ArrayDigest:
        """Return an independent digest in the same state.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            other = object.__new__(ArrayDigest)
            other.__dict__.update(self._attributes_of_copy())
            other._leaf = self._leaf.copy()
            return other


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

    >>> digest = RecordDigest(pa.schema([("a", pa.int32())]))
    >>> digest.update(pa.table({"a": pa.array([1, None], pa.int32())}))
    >>> (column,) = digest.columns()
    >>> column.path, column.null_count, column.nullable
    (('a',), 1, True)
    """

    path: tuple[str, ...]
    data_type: Any
    null_count: int
    digest: bytes
    validity_digest: bytes | None = None
    nullable: bool = True
    nullable_items: bool = False
    nullable_structs: bool = False


@public
class RecordDigest(ExclusiveDigest):
    """The arrow0 logical hash of record batches as they come.

    It has hashlib's surface. Memory stays constant: every batch is fed when it comes. One call at a time feeds it: the
    order of what is fed is the hash, so a call that comes while another feeds is refused and takes nothing.

    Args:
        schema: The `pyarrow.Schema`, or any object with `__arrow_c_schema__`.
        function: Digest function: `sha3-256`, `sha2-256` or `blake3`.
        threads: How many threads to use; None for every core.
        validity: True to digest each leaf's row validity too, see `columns`.

    Raises:
        UnsupportedTypeError: A column's type has no arrow0 encoding.
        UnknownFunctionError: No such digest function.

    >>> schema = pa.schema([("a", pa.int32()), ("b", pa.string())])
    >>> digest = RecordDigest(schema)
    >>> digest.update(pa.record_batch({"a": pa.array([1, 2], pa.int32()), "b": ["a", "b"]}))
    >>> digest.update(pa.record_batch({"a": pa.array([3], pa.int32()), "b": pa.array(["c"]).dictionary_encode()}))
    >>> digest.hexdigest()[:8]
    '5684f7bf'
    """

    def __init__(
        self,
        schema: ArrowSchemaExportable,
        *,
        function: str = DEFAULT_FUNCTION,
        threads: int | None = None,
        validity: bool = False,
    ) -> None:
        super().__init__()
        self._function = digest_function(function)
        # Only foreign schemas go through the C interface, which ends names at a NUL.
        if hasattr(schema, "__arrow_c_stream__") or hasattr(schema, "__arrow_c_array__"):
            raise TypeError(
                f"expected a schema, found records ({type(schema).__name__}): give their schema, then update"
            )
        self._schema = schema if isinstance(schema, pa.Schema) else pa.schema(schema)
        self._flat = flatten(self._schema)
        self._pool = LeafPool(thread_count(threads))
        count = len(self._flat.leaves)
        spare = max(self._pool.threads // max(count, 1), 1)
        self._leaves = [
            LeafDigest(leaf.encoded_type, self._function, threads=spare, validity=validity, alone=count == 1)
            for leaf in self._flat.leaves
        ]
        self._row_count = 0

    @property
    def name(self) -> str:
        """The name of the hash, such as `arrow0-sha3-256`."""
        return f"arrow0-{self._function.name}"

    @property
    def digest_size(self) -> int:
        """Digest length in bytes."""
        return self._function.digest_size

    @property
    def row_count(self) -> int:
        """Number of rows fed so far."""
        return self._row_count

    def update(self, data: RecordExporter) -> None:
        """Feed records.

        Args:
            data: A `pyarrow.RecordBatch` or `Table`, or any object that exports records. It must have the digest's
                columns in order; another layout or encoding of the same types is fine.

        Raises:
            SchemaMismatchError: Other names, order, columns or logical types. Nothing was fed.
            InvalidArrayError: An array points outside its own buffers.
            UnreadableError: The producer of the records failed.
            UnsupportedTypeError: It exports one array, and no records.
            DigestStateError: An earlier update failed half-way, or another call is at work on the digest.
            TypeError: It exports nothing.
        """
        with self._feeding():
            source = read_producer(data)
            self._require_schema(source.schema)
            self._feed(source.batches)

    def digest(self) -> bytes:
        """Return the digest of everything fed so far.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            return combine(self._flat, [leaf.digest() for leaf in self._leaves], self._function)

    def hexdigest(self) -> str:
        """Return `digest()` as lower-case hex.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        return self.digest().hex()

    def multihash(self) -> Multihash:
        """Return `digest()` with the code that says what it is.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        return Multihash(logical_code(self._function), self.digest())

    def columns(self) -> tuple[ColumnDigest, ...]:
        """Return each leaf column's path, type, null count and digest, depth first.

        Where two record digests differ, the leaves that differ are the ones whose digests do.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            return tuple(
                ColumnDigest(
                    leaf.path,
                    logical_type(leaf.data_type),
                    digest.null_count,
                    digest.digest(),
                    digest.validity_digest(),
                    *nullability(self._schema, leaf.indices),
                )
                for leaf, digest in zip(self._flat.leaves, self._leaves, strict=True)
            )

    def structs(self) -> tuple[Struct, ...]:
        """Return the structs of the records, which have no digest of their own, depth first."""
        return structs(self._flat)

    def copy(self) -> RecordDigest:
        """Return an independent digest in the same state.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            other = object.__new__(RecordDigest)
            other.__dict__.update(self._attributes_of_copy())
            other._leaves = [leaf.copy() for leaf in self._leaves]
            return other

    def _require_schema(self, schema: Any) -> None:
        self._flat.require_same(flatten(schema))

    def _feed(self, batches: Iterable[Any]) -> None:
        """Feed batches of one source, whose schema is the digest's."""
        leaves = self._flat.leaves
        for batch in joined(batches, leaves, self._pool.each):
            # All of a batch is checked before any of it is fed.
            columns = [describe_leaf(batch.column(leaf.indices[0]), leaf.indices, leaf.path) for leaf in leaves]
            # From here on a failure, now or in a later batch, leaves a part: no hash of it may come out.
            self._spoiled = True
            self._pool.update(self._leaves, columns)
            self._row_count += batch.num_rows
        self._spoiled = False


def _array_chunks(array: Any) -> tuple[Any, list[Any]]:
    """Return the type and the pieces of what exports an array or a stream of arrays."""
    name = type(array).__name__
    if hasattr(array, "__arrow_c_array__"):
        with reading(name, "array"):
            whole = array if isinstance(array, pa.Array) else pa.array(array)
        return whole.type, [whole]
    if hasattr(array, "__arrow_c_stream__"):
        with reading(name, "stream of arrays"):
            chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array(array)
        return chunked.type, chunked.chunks
    raise TypeError(f"expected an object that exports an Arrow array, found {name}")
