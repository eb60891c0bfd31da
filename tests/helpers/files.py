"""One table in every file format that the package reads."""

from __future__ import annotations

import io
import warnings

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq


def sample_table(rows=40):
    """Numbers with nulls, text, a list and a dictionary, in a file that stays small."""
    return pa.table(
        {
            "number": pa.array([None if i % 7 == 3 else i * i for i in range(rows)], pa.int32()),
            "text": pa.array([None if i % 5 == 2 else "x" * (i % 4) for i in range(rows)]),
            "list": pa.array([[i, i + 1][: i % 3] for i in range(rows)], pa.list_(pa.int64())),
            "word": pa.array([("one", "two", "three")[i % 3] for i in range(rows)]).dictionary_encode(),
        }
    )


def parquet(table, **options):
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def piece_rows(table, least):
    """How many rows a batch or row group of a table has: several pieces of a small table, a hundred of a large one."""
    return max(least, table.num_rows // 100)


def ipc_file(table, *, batch_rows=None, **options):
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=batch_rows or piece_rows(table, 16))
    return sink.getvalue()


def ipc_stream(table, *, batch_rows=None, **options):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=batch_rows or piece_rows(table, 16))
    return sink.getvalue()


def feather(table, *, version=2, **options):
    sink = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # V1 is deprecated, but old files are still of it
        pyarrow.feather.write_feather(table, sink, version=version, **options)
    return sink.getvalue()


FORMATS = {
    "parquet": parquet,
    "parquet-zstd": lambda table: parquet(table, compression="zstd", data_page_version="2.0"),
    "parquet-checksums": lambda table: parquet(table, write_page_checksum=True, row_group_size=piece_rows(table, 11)),
    "ipc-file": ipc_file,
    "ipc-file-lz4": lambda table: ipc_file(table, compression="lz4"),
    "ipc-file-zstd": lambda table: ipc_file(table, compression="zstd"),
    "ipc-stream": ipc_stream,
    "ipc-stream-zstd": lambda table: ipc_stream(table, compression="zstd"),
    "ipc-stream-old": lambda table: ipc_stream(table, use_legacy_format=True),
    "feather": feather,
    "feather-uncompressed": lambda table: feather(table, compression="uncompressed"),
}
