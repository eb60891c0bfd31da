"""The logical hash of one array, of record batches as they come, and of a whole table or file, under any rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from _arrow_io.faults import reading
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit
from _arrow_io.source import Source
from arrow_digest.arrays.batches import joined
from arrow_digest.arrays.describe import describe
from arrow_digest.arrays.types import unwrap
from arrow_digest.errors import SchemaMismatchError
from arrow_digest.functions import DEFAULT_FUNCTION
from arrow_digest.multihash import Multihash
from arrow_digest.public import public
from arrow_digest.reading.sources import open_source, read_producer
from arrow_digest.rules.chosen import chosen_rule
from arrow_digest.rules.exclusive import ExclusiveDigest
from arrow_digest.rules.rule import ColumnDigest, Leaves, Plan, Rule, require_same
from arrow_digest.typing import ArrayExporter, ArrowSchemaExportable, RecordExporter, RecordSource
from arrow_digest.workers import Pool, thread_count

__all__ = ["ArrayDigest", "RecordDigest", "digest_source", "logical_hash"]


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
    rule, count = chosen_rule(function), thread_count(threads)
    with open_source(data, threads=count, int96_unit=int96_unit) as source:
        return digest_source(source, rule, threads=count).multihash()


def digest_source(source: Source, rule: Rule, *, threads: int, validity: bool = False) -> RecordDigest:
    """Return a digest that was fed all of a source."""
    digest = RecordDigest._of(_started(rule, rule.plan(source.schema), threads=threads, validity=validity))
    digest._feed(source.batches)
    return digest


@dataclass
class _State:
    """What a digest in progress is made of: a rule, what it hashes, and the digests of the leaves.

    Attributes:
        rule: The rule.
        plan: What is hashed.
        leaves: The digests of the plan's leaves.
        pool: The threads that work on them.
        row_count: How many rows were fed.
    """

    rule: Rule
    plan: Plan
    leaves: Leaves
    pool: Pool
    row_count: int = 0

    def copy(self) -> _State:
        """Return an independent state that says the same. Threads are shared, since they remember nothing."""
        return _State(self.rule, self.plan, self.leaves.copy(), self.pool, self.row_count)


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
        rule = chosen_rule(function)
        # Only foreign types go through the C interface, which ends texts at a NUL.
        plan = rule.plan_array(data_type if isinstance(data_type, pa.DataType) else pa.field(data_type).type)
        pool = Pool(1)
        self._begin(_State(rule, plan, rule.start(plan, pool), pool))

    def _begin(self, state: _State) -> None:
        super().__init__()
        self._state = state

    @property
    def name(self) -> str:
        """The name of the hash, such as `arrow0-sha3-256`."""
        return self._state.rule.name

    @property
    def digest_size(self) -> int:
        """Digest length in bytes."""
        return self._state.rule.function.digest_size

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
            self._require_type(data_type)
            columns = [describe(chunk) for chunk in chunks]
            self._spoiled = True
            for column in columns:
                self._state.leaves.update([column])
            self._spoiled = False

    def _require_type(self, data_type: pa.DataType) -> None:
        rule, expected = self._state.rule, self._state.plan.leaves[0]
        is_struct = pa.types.is_struct(unwrap(data_type))
        if is_struct or rule.plan_array(data_type).leaves[0].encoded_type != expected.encoded_type:
            logical = (str(rule.logical_type(data_type)) for data_type in (expected.data_type, data_type))
            raise SchemaMismatchError((), *logical)

    def digest(self) -> bytes:
        """Return the digest of everything fed so far.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            return self._state.leaves.digests()[0]

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
            other = ArrayDigest.__new__(ArrayDigest)
            other._begin(self._state.copy())
            return other


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
        rule = chosen_rule(function)
        # Only foreign schemas go through the C interface, which ends names at a NUL.
        if hasattr(schema, "__arrow_c_stream__") or hasattr(schema, "__arrow_c_array__"):
            raise TypeError(
                f"expected a schema, found records ({type(schema).__name__}): give their schema, then update"
            )
        plan = rule.plan(schema if isinstance(schema, pa.Schema) else pa.schema(schema))
        self._begin(_started(rule, plan, threads=thread_count(threads), validity=validity))

    @classmethod
    def _of(cls, state: _State) -> RecordDigest:
        digest = cls.__new__(cls)
        digest._begin(state)
        return digest

    def _begin(self, state: _State) -> None:
        super().__init__()
        self._state = state

    @property
    def name(self) -> str:
        """The name of the hash, such as `arrow0-sha3-256`."""
        return self._state.rule.name

    @property
    def digest_size(self) -> int:
        """Digest length in bytes."""
        return self._state.rule.function.digest_size

    @property
    def row_count(self) -> int:
        """Number of rows fed so far."""
        return self._state.row_count

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
            state = self._state
            return state.rule.combine(state.plan, state.leaves.digests(), state.row_count)

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
        return Multihash(self._state.rule.code, self.digest())

    def columns(self) -> tuple[ColumnDigest, ...]:
        """Return each leaf column's path, type, null count and digest, depth first.

        Where two record digests differ, the leaves that differ are the ones whose digests do.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            return self._state.leaves.columns()

    def copy(self) -> RecordDigest:
        """Return an independent digest in the same state.

        Raises:
            DigestStateError: An update failed half-way, or is at work in another thread.
        """
        with self._reading():
            return RecordDigest._of(self._state.copy())

    def _require_schema(self, schema: pa.Schema) -> None:
        rule, plan = self._state.rule, self._state.plan
        require_same(rule, plan, rule.plan(schema))

    def _feed(self, batches: Iterable[pa.RecordBatch | pa.Table]) -> None:
        """Feed batches of one source, whose schema is the digest's."""
        state = self._state
        paths = [(name,) for name in state.plan.schema.names]
        for batch in joined(batches, state.pool.each):
            # All of a batch is checked before any of it is fed.
            columns = list(map(describe, batch.columns, paths))
            # From here on a failure, now or in a later batch, leaves a part: no hash of it may come out.
            self._spoiled = True
            state.leaves.update(columns)
            state.row_count += batch.num_rows
        self._spoiled = False


def _started(rule: Rule, plan: Plan, *, threads: int, validity: bool) -> _State:
    pool = Pool(threads)
    return _State(rule, plan, rule.start(plan, pool, validity=validity), pool)


def _array_chunks(array: pa.Array) -> tuple[Any, list[Any]]:
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
