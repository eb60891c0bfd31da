"""Files of any of the formats as records. Files are told apart by their content, never by their suffix.

None is ever held whole, but for Feather V1: Parquet is read page by page, IPC batch by batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from _arrow_io.errors import UnreadableError
from _arrow_io.faults import reading
from _arrow_io.feather_v1 import read_feather_v1
from _arrow_io.footer import require_consistent
from _arrow_io.ipc import FILE_MARK, read_ipc_file, read_ipc_stream
from _arrow_io.opening import InputFile
from _arrow_io.parquet import read_footer, read_parquet
from _arrow_io.source import Source

__all__ = ["count_rows", "is_parquet", "read_file"]


def read_file(file: InputFile, *, threads: int = 1, leaves: Sequence[int] | None = None) -> Source:
    """Return the records of an open file, whose format is told by its first bytes.

    Args:
        file: The file, at its start.
        threads: More than one allows the Parquet reader to decode columns side by side.
        leaves: Which Parquet columns to read, by number in rising order; the bytes of others are not touched. Only for
            a file that `is_parquet`.

    Raises:
        UnreadableError: It is no Arrow data, cut short, of a newer version, or encrypted.
    """
    start = file.peek(8)
    if start.startswith(b"PAR1"):
        return read_parquet(_require_seekable(file, "Parquet"), threads, leaves)
    assert leaves is None
    if start.startswith(b"PARE"):
        if file.make_seekable() and (end := file.read_end(4)) != b"PARE":
            message = f"cut short: encrypted Parquet ends with b'PARE', found {end!r}"
            raise UnreadableError(file.name, "truncated", message)
        raise UnreadableError(file.name, "encrypted", "encrypted Parquet, and no key")
    if start.startswith(FILE_MARK):
        return read_ipc_file(_require_seekable(file, "an Arrow IPC file"))
    if start.startswith(b"FEA1"):
        return _feather_v1(_require_seekable(file, "Feather"))
    return read_ipc_stream(file, start)


def is_parquet(file: InputFile) -> bool:
    """Return whether a file is Parquet that can be read at any place, and go back to its start."""
    if file.seekable_size is not None:
        file.seek(0)
    elif file.bytes_read:
        return False
    return file.peek(4) == b"PAR1" and file.make_seekable()


def count_rows(file: InputFile) -> int:
    """Return how many rows a file holds, from its footer where it has one, without a look at the values.

    Raises:
        UnreadableError: It is no Arrow data, cut short, of a newer version, or encrypted.
    """
    if is_parquet(file):
        with reading(file.name, "Parquet"):
            footer = read_footer(file)
            require_consistent(footer, file.name)
            return footer.row_count
    return sum(batch.num_rows for batch in read_file(file).batches)


def _require_seekable(file: InputFile, what: str) -> InputFile:
    if not file.make_seekable():
        message = f"{what} has to be read from its end, which a pipe does not allow; save it to a file first"
        raise UnreadableError(file.name, "unseekable", message)
    return file


def _feather_v1(file: InputFile) -> Source:
    with reading(file.name, "Feather V1"):
        table = read_feather_v1(file)
    return Source(file.name, table.schema, iter((table,)))
