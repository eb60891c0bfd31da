"""Arrow IPC files and streams as a schema and batches. One that ends early, or goes on after its end, is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from _arrow_io.errors import UnreadableError
from _arrow_io.faults import reading
from _arrow_io.foreign import START_BYTES, foreign_format, has_foreign_mark
from _arrow_io.opening import InputFile, arrow_file
from _arrow_io.source import Source

__all__ = ["FILE_MARK", "read_batches", "read_ipc_file", "read_ipc_stream"]

FILE_MARK = b"ARROW1"
"""How an Arrow IPC file begins and ends."""

_STREAM_END = b"\xff\xff\xff\xff\0\0\0\0"
_STREAM_END_OLD = b"\0\0\0\0"
# No schema message of a stream that cannot be measured is longer.
_METADATA_LIMIT = 1 << 28


def read_ipc_file(file: InputFile) -> Source:
    end = file.read_end(len(FILE_MARK))
    if end != FILE_MARK:
        message = f"cut short: an Arrow IPC file ends with {FILE_MARK!r}, found {end!r}"
        raise UnreadableError(file.name, "truncated", message)
    with reading(file.name, "Arrow IPC file"):
        reader = pa.ipc.open_file(arrow_file(file))
    return Source(file.name, reader.schema, _ipc_file_batches(reader, file.name))


def _ipc_file_batches(reader: Any, name: str) -> Iterator[Any]:
    for index in range(reader.num_record_batches):
        with reading(name, "Arrow IPC file"):
            batch = reader.get_batch(index)
        yield batch


def read_ipc_stream(file: InputFile, start: bytes) -> Source:
    _require_stream_start(file, start)
    with _blaming_the_end(file), reading(file.name, "Arrow IPC stream"):
        reader = pa.ipc.open_stream(arrow_file(file))
    return Source(file.name, reader.schema, _ipc_stream_batches(reader, file))


def _require_stream_start(file: InputFile, start: bytes) -> None:
    """Refuse what cannot be a stream, so that no length is taken from something else."""
    marked = start[:4] == _STREAM_END[:4]
    length = int.from_bytes(start[4:8] if marked else start[:4], "little")
    limit = file.seekable_size if file.seekable_size is not None else _METADATA_LIMIT
    if marked and length > limit:
        message = f"cut short: the stream's first message is {length} bytes long, the file {limit}"
        raise UnreadableError(file.name, "truncated", message)
    # Without the mark the length stands first, and the place of the message's root within it follows.
    has_root = marked or 4 <= int.from_bytes(start[4:8], "little") < length
    if len(start) < 8 or not 0 < length <= limit or not has_root or has_foreign_mark(start):
        end = b"" if file.seekable_size is None else file.read_end(4)
        raise foreign_format(file.name, file.peek(START_BYTES), end)


def _ipc_stream_batches(reader: Any, file: InputFile) -> Iterator[Any]:
    with _blaming_the_end(file):
        yield from read_batches(reader, file.name, "Arrow IPC stream")
    if file.hit_end or not (file.tail == _STREAM_END or file.tail.endswith(_STREAM_END_OLD)):
        raise UnreadableError(file.name, "truncated", "cut short: the stream has no end-of-stream marker")
    if file.seekable_size is not None and file.tell() != file.seekable_size:
        message = f"{file.seekable_size - file.tell()} bytes after the end of the stream"
        raise UnreadableError(file.name, "trailing", message)


@contextmanager
def _blaming_the_end(file: InputFile) -> Iterator[None]:
    try:
        yield
    except UnreadableError as error:
        if error.rule != "corrupt" or not file.hit_end:
            raise
        reason = str(error).removeprefix(f"{file.name}: ")
        raise UnreadableError(file.name, "truncated", f"cut short inside a message ({reason})") from error


def read_batches(reader: Any, name: str, what: str) -> Iterator[Any]:
    while True:
        with reading(name, what):
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
        if not batch.schema.equals(reader.schema):
            raise UnreadableError(name, "corrupt", f"broken {what}: a batch has another schema than the stream")
        yield batch
