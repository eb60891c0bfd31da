"""Parquet as a schema and batches of moderate size, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from _arrow_io.batch_rows import BatchRows
from _arrow_io.errors import UnreadableError, format_path
from _arrow_io.faults import first_line, reading
from _arrow_io.footer import BYTE_ARRAY, Footer, RowGroup, parse_footer, require_consistent, rewritten
from _arrow_io.levels import value_counts
from _arrow_io.opening import InputFile, arrow_file
from _arrow_io.source import Source
from _arrow_io.stored import as_annotated
from _arrow_io.threads import read_ahead

__all__ = ["leaf_sizes", "read_footer", "read_parquet"]

_MARK = b"PAR1"

# With threads, so many are decoded while one is used: decoding and hashing each leave cores idle at their ends.
_BATCHES_AHEAD = 2
# A column chunk with a dictionary that takes less per value holds indices all through.
_INDEX_BYTES = 4
# All column readers together buffer about this much.
_READ_BYTES = 32 << 20
# What pyarrow says of a batch whose values take more than one array of offsets can hold.
_TOO_LARGE = ("chunked array outputs", "overflow")
# What is wrong with one column, and not with the file as a whole.
_RULES_OF_COLUMNS = ("corrupt", "codec", "unsupported", "row_count")


def read_parquet(file: InputFile, threads: int, leaves: Sequence[int] | None) -> Source:
    with reading(file.name, "Parquet"):
        footer = read_footer(file)
    chosen = range(len(footer.leaves)) if leaves is None else leaves
    _require_readable(footer, chosen, file.name)
    raw = frozenset(number for number in chosen if footer.leaves[number].raw is not None)
    as_indices = _dictionary_columns(footer)
    handle = arrow_file(file)
    with reading(file.name, "Parquet"):
        parquet = _open(file, handle, footer, rewritten(footer, raw, 1), as_indices)
        schema = _schema(parquet, leaves)
        if raw:
            described = _open(file, handle, footer, footer.data, as_indices)
            schema = _schema(described, leaves)
    batch_rows = BatchRows(file, parquet.metadata, footer, chosen, frozenset(as_indices))
    is_ahead = threads > 1 and footer.row_count > batch_rows.most
    reader = _Reader(file.name, parquet, footer, leaves, threads, batch_rows)
    batches = reader.batches(_BATCHES_AHEAD if is_ahead else 0)
    if raw:
        batches = _annotated(batches, schema, file.name)
    if is_ahead:
        batches = read_ahead(batches, _BATCHES_AHEAD)
        file.stop_reading.append(batches.close)
    return Source(file.name, schema, (batch for batch in batches if batch is not None), footer.variants)


def read_footer(file: InputFile) -> Footer:
    """Return the footer of an open file that begins as Parquet does.

    Raises:
        UnreadableError: It does not end as Parquet does.
        ValueError: Its footer is broken.
    """
    assert file.seekable_size is not None
    if file.seekable_size < len(_MARK) + 4:
        raise ValueError(f"a file of {file.seekable_size} bytes, in which no footer has room")
    tail = file.read_end(8)
    end = tail[4:]
    if end == b"PARE":
        raise UnreadableError(file.name, "encrypted", "encrypted Parquet, and no key")
    if end != _MARK:
        raise UnreadableError(file.name, "truncated", f"cut short: Parquet ends with {_MARK!r}, found {end!r}")
    length = int.from_bytes(tail[:4], "little")
    if length > file.seekable_size - len(_MARK) - 8:
        raise ValueError(f"its footer would be {length} bytes long, in a file of {file.seekable_size}")
    return parse_footer(file.read_end(length + 8)[:length])


def leaf_sizes(footer: Footer) -> list[int]:
    """Return how many bytes each leaf takes in all row groups, not compressed."""
    sizes = [0] * len(footer.leaves)
    for group in footer.row_groups:
        for number, chunk in enumerate(group.chunks):
            sizes[number] += chunk.uncompressed_size
    return sizes


def _open(file: InputFile, handle: Any, footer: Footer, data: bytes, as_indices: list[int]) -> Any:
    """Return pyarrow's reader of a file, for which a footer is given to it."""
    whole = b"".join((_MARK, data, len(data).to_bytes(4, "little"), _MARK))
    metadata = pq.read_metadata(pa.BufferReader(whole))
    if (metadata.num_columns, metadata.num_row_groups) != (len(footer.leaves), len(footer.row_groups)):
        raise ValueError("its footer can be understood in two ways")
    return pq.ParquetFile(
        handle,
        metadata=metadata,
        read_dictionary=as_indices,
        pre_buffer=False,
        buffer_size=min(max(_READ_BYTES // max(metadata.num_columns, 1), 1 << 14), 1 << 20),
        coerce_int96_timestamp_unit=file.int96_unit,
        page_checksum_verification=True,
    )


def _schema(parquet: Any, leaves: Sequence[int] | None) -> Any:
    if leaves is None:
        return parquet.schema_arrow
    return parquet.reader.read_row_groups([], column_indices=list(leaves)).schema


def _require_readable(footer: Footer, chosen: Sequence[int], name: str) -> None:
    """Refuse a file whose pages are not all in it, or need a key."""
    if footer.row_count and not footer.row_groups:
        raise UnreadableError(name, "summary", "a summary of other Parquet files, no records of its own")
    for group in footer.row_groups:
        for number in chosen:
            leaf, chunk = footer.leaves[number], group.chunks[number]
            if chunk.is_elsewhere:
                raise UnreadableError(name, "summary", "a summary of other Parquet files, no records of its own")
            if chunk.is_encrypted:
                message = f"column {format_path(leaf.path)} is encrypted, and no key"
                raise UnreadableError(name, "encrypted", message, column=leaf.path)
            if not chunk.is_described:
                message = f"broken Parquet: nothing is said of a chunk of column {format_path(leaf.path)}"
                raise UnreadableError(name, "corrupt", message, column=leaf.path)


def _annotated(batches: Iterator[Any], schema: Any, name: str) -> Iterator[Any]:
    row = 0
    for batch in batches:
        if batch is None:
            yield None
            continue
        yield as_annotated(batch, schema, name, row)
        row += batch.num_rows


def _dictionary_columns(footer: Footer) -> list[int]:
    """Return the text and binary columns that are best read as they lie there: as indices into a dictionary.

    They hash as their values all the same, and take less time and memory. A column whose dictionary became too large
    while it was written holds its values plainly from there on; making indices for those would cost more than it saves.
    """
    numbers = []
    for number, leaf in enumerate(footer.leaves):
        if leaf.physical_type == BYTE_ARRAY and len(leaf.path) == 1 and not leaf.is_repeated:
            chunks = [group.chunks[number] for group in footer.row_groups]
            # A plain value takes four bytes and its own; an index takes up to four, and mostly two.
            if chunks and all(
                chunk.has_dictionary and chunk.uncompressed_size < _INDEX_BYTES * chunk.value_count for chunk in chunks
            ):
                numbers.append(number)
    return numbers


class _Reader:
    """Reads the row groups of a file in order, in batches of rows.

    pyarrow is given a footer that claims one more row in each group than there is: it stops at what a footer claims,
    and pages that hold more would go unnoticed. It takes a group for read once one column gives no rows. So no batch
    ends exactly where the group does: that another column goes on would go unnoticed there.
    """

    def __init__(
        self,
        name: str,
        parquet: Any,
        footer: Footer,
        leaves: Sequence[int] | None,
        threads: int,
        batch_rows: BatchRows,
    ) -> None:
        self.batch_rows = batch_rows
        self._name = name
        self._reader = parquet.reader
        self._footer = footer
        self._leaves = None if leaves is None else list(leaves)
        self._use_threads = threads > 1
        chosen = range(len(footer.leaves)) if leaves is None else leaves
        self._repeated = [(place, n) for place, n in enumerate(chosen) if footer.leaves[n].is_repeated]

    def batches(self, pauses: int) -> Iterator[Any]:
        """Yield all batches, and None so many times before one of a single row, because a row may take a lot of memory.

        Whoever reads ahead by as many items then holds no more than one such batch beside the one that is decoded.
        """
        require_consistent(self._footer, self._name)
        if not self._footer.leaves:
            return
        for number, group in enumerate(self._footer.row_groups):
            yield from self._group(number, group, pauses)

    def _group(self, number: int, group: RowGroup, pauses: int) -> Iterator[Any]:
        done = 0
        self.batch_rows.enter(number)
        while True:
            try:
                for batch in self._from_row(number, group, done, pauses):
                    done += 0 if batch is None else batch.num_rows
                    yield batch
            except _TooLargeError as error:  # noqa: PERF203 -- it is raised for very large cells alone
                if self.batch_rows.now == 1:
                    raise self._blamed(_unsupported(error.error), number) from error.error
                self.batch_rows.shrink()
            else:
                return

    def _from_row(self, number: int, group: RowGroup, start: int, pauses: int) -> Iterator[Any]:
        done = 0
        counts: list[int] = []
        with self._blaming(number):
            batches = self._reader.iter_batches(
                self.batch_rows.now, row_groups=[number], column_indices=self._leaves, use_threads=self._use_threads
            )
        while True:
            left = group.row_count - done
            before = {leaf: counts[place] for place, leaf in self._repeated} if counts else {}
            with reading(self._name, "Parquet"):
                wanted = self.batch_rows.fitting(done, left, before)
            if done < start:
                wanted = min(wanted, start - done)
            if wanted == 1 < left:
                yield from repeat(None, pauses)
            self._reader.set_batch_size(wanted + 1 if wanted == left else wanted)
            with self._blaming(number):
                batch = next(batches, None)
            if batch is None:
                break
            done += batch.num_rows
            if done > group.row_count:
                break
            if self._repeated:
                found = [count for column in batch.columns for count in value_counts(column)]
                counts = [a + b for a, b in zip(counts, found, strict=True)] if counts else found
            if done > start:
                yield batch
                self.batch_rows.learn(batch)
        if done != group.row_count:
            seen = _some(done, group.row_count)
            message = f"its footer says {group.row_count} rows in row group {number}, its pages hold {seen}"
            raise self._blamed(UnreadableError(self._name, "row_count", f"broken Parquet: {message}"), number)
        self._require_value_counts(number, group, counts)

    def _require_value_counts(self, number: int, group: RowGroup, counts: list[int]) -> None:
        """Refuse lists of which values are missing, or are too many: all rows may be there all the same."""
        for place, leaf in self._repeated:
            expected, found = group.chunks[leaf].value_count, counts[place] if counts else 0
            if found != expected:
                path = self._footer.leaves[leaf].path
                where = f"column {format_path(path)}, row group {number}"
                message = f"{where}: broken Parquet: its footer says {expected} values, its pages hold {found}"
                raise UnreadableError(self._name, "row_count", message, column=path)

    @contextmanager
    def _blaming(self, number: int) -> Iterator[None]:
        """Name the column in what goes wrong in a row group, where one alone goes wrong by itself."""
        try:
            with reading(self._name, "Parquet"):
                yield
        except UnreadableError as error:
            if isinstance(error.__cause__, pa.ArrowException) and any(w in str(error.__cause__) for w in _TOO_LARGE):
                raise _TooLargeError(error) from error
            raise self._blamed(error, number) from error.__cause__

    def _blamed(self, error: UnreadableError, number: int) -> UnreadableError:
        if error.rule not in _RULES_OF_COLUMNS:
            return error
        rows = self._footer.row_groups[number].row_count
        for leaf in range(len(self._footer.leaves)) if self._leaves is None else self._leaves:
            path = self._footer.leaves[leaf].path
            where = f"column {format_path(path)}, row group {number}"
            try:
                with reading(self._name, "Parquet"):
                    found = self._count_rows(number, leaf)
            except UnreadableError as single:
                wrong = error if error.rule == "unsupported" else single
                reason = str(wrong).removeprefix(f"{self._name}: ")
                return UnreadableError(self._name, wrong.rule, f"{where}: {reason}", column=path)
            if found != rows:
                message = f"{where}: broken Parquet: its footer says {rows} rows, its pages hold {_some(found, rows)}"
                return UnreadableError(self._name, "row_count", message, column=path)
        return error

    def _count_rows(self, number: int, leaf: int) -> int:
        size = self.batch_rows.now
        return sum(b.num_rows for b in self._reader.iter_batches(size, row_groups=[number], column_indices=[leaf]))


def _some(found: int, rows: int) -> str:
    """Return a count of rows for people: no more than one is ever read beyond those there should be."""
    return str(found) if found <= rows else "more"


def _unsupported(error: UnreadableError) -> UnreadableError:
    reason = first_line(error.__cause__ or error)
    message = f"one row holds more than pyarrow reads at once: {reason}"
    return UnreadableError(error.source, "unsupported", message)


class _TooLargeError(Exception):
    """Fewer rows at a time may be read where these could not."""

    def __init__(self, error: UnreadableError) -> None:
        super().__init__(str(error))
        self.error = error
