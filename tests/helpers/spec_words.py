"""The words of the worked examples: what stands around the data in them, worked out twice.

Every word gives what the packages give, once the second opinions that were written from the specifications alone have
said the same.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from functools import reduce
from io import BytesIO
from pathlib import Path

import ml_dtypes
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reference import arrow0, kiln

import arrow_digest as ad
import kiln_arrow
from arrow_digest.rules.arrow0.types import encode_type
from digest import test_golden_data as golden_data
from helpers import files, ipc_bytes
from kiln import test_second_opinion as second_opinion
from kiln_arrow.canonical.typetext import tokens as tokens_of

ROOT = Path(__file__).parents[2]


def by_name(*words):
    return {word.__name__: word for word in words}


def agreed(ours, theirs):
    assert ours == theirs
    return ours


# --- The words of arrow0's examples -----------------------------------------------------------------------------------


def encoded(data_type):
    """The encoding of a type."""
    ours = encode_type(data_type)
    return agreed(ours, arrow0.type_bytes(data_type))


def table_of(column):
    return column if isinstance(column, pa.Table) else pa.table({"c": column})


def values(column):
    """What the digest of a column's only leaf is fed after its type."""
    table = table_of(column)
    (explained,) = ad.explain(table, byte_count=1 << 16, threads=1).columns
    assert explained.is_all
    _, ((_, stream, _),) = arrow0.preimages(table)
    agreed(explained.type_bytes + explained.first_bytes, stream)
    return explained.first_bytes


def fields(schema):
    """What the combined digest is fed of a schema."""
    table = pa.schema(schema).empty_table()
    ours = b"".join(data for _, data in ad.explain(table, threads=1).fields)
    return agreed(ours, arrow0.preimages(table)[0])


def combined(table):
    """What the combined digest is fed."""
    explained = ad.explain(table, byte_count=1 << 16, threads=1)
    schema = b"".join(data for _, data in explained.fields)
    fed = schema + b"".join(column.column.digest for column in explained.columns)
    for column in explained.columns:
        assert column.column.digest == sha3(column.type_bytes + column.first_bytes)
    assert sha3(fed) == explained.logical.digest == arrow0.record_digest(table)
    return fed


def record_hash(table, function="sha3-256"):
    """The hash of a table."""
    return agreed(ad.logical_hash(table, function=function).digest, arrow0.record_digest(table, function))


def validity(column):
    """What the validity digest of a column's only leaf is fed."""
    table = table_of(column)
    _, ((_, _, valid),) = arrow0.preimages(table)
    digest = ad.RecordDigest(table.schema, validity=True)
    digest.update(table)
    assert sha3(bytes(valid)) == digest.columns()[0].validity_digest
    return bytes(valid)


def sha3(data):
    return hashlib.sha3_256(data).digest()


def read(data):
    """The hash of the records in a file's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "records")
        file.write_bytes(data)
        return ad.logical_hash(file).digest


def published(name):
    """The bytes of a file that others publish to test readers with."""
    (path,) = (ROOT / "tests" / "data").rglob(name)
    return path.read_bytes()


def multihash(name, digest):
    """A hash with its code, in bytes."""
    codes = {f"arrow0-{function}": code for function, code in arrow0.HASH_CODES.items()}
    code = {**codes, "sha2-256": 0x12, "sha3-256": 0x16, "blake3": 0x1E}[name]
    made = ad.Multihash(code, digest)
    assert golden_data.multihash(made.encode(), {code}) == (code, digest)
    assert made.name == name
    return bytes(made)


def parse(text):
    """The bytes of a hash written as text."""
    codes = {*arrow0.HASH_CODES.values(), 0x12, 0x16, 0x1E}
    try:
        code, digest = golden_data.multihash(text, codes)
    except golden_data.Refused as refused:
        with pytest.raises(ad.MultihashError) as caught:
            ad.Multihash.parse(text)
        agreed(caught.value.rule, str(refused))
        raise caught.value from None
    parsed = ad.Multihash.parse(text)
    assert (parsed.code, parsed.digest) == (code, digest)
    return bytes(parsed)


def array(data_type, length, *buffers, null_count=-1, children=None):
    """An array made of buffers: None for none, or NumPy arrays and bytes."""
    made = [None if buffer is None else pa.py_buffer(buffer) for buffer in buffers]
    return pa.Array.from_buffers(data_type, length, made, null_count, children=children)


def damaged(column, buffer=None, put=b"", *, length=None, node=0, null_count=None):
    """A table out of an IPC stream in which something was changed.

    Numbers are put into a buffer, or its length is set; without a buffer, an array's length or null count is.
    Buffers and arrays are counted depth first.
    """
    stream = ipc_bytes.Stream(ipc_bytes.write([pa.record_batch({"c": column})]))
    if buffer is None:
        stream.node(node, length=length, null_count=null_count)
    else:
        put = bytes(put)
        stream.buffer(buffer, length=length).put(buffer, f"{len(put)}B", *put)
    return pa.ipc.open_stream(bytes(stream)).read_all()


def lists_in_lists(count):
    """So many levels of lists around an int8."""
    return reduce(lambda inner, _: pa.list_(inner), range(count), pa.int8())


ARROW0 = {
    "pa": pa,
    "np": np,
    "stream": ipc_bytes.write,
    **by_name(files.parquet, files.feather, published),
    **by_name(encoded, values, fields, combined, validity, record_hash, sha3, read, multihash, parse),
    **by_name(array, damaged, lists_in_lists),
}


# --- The words of Kiln's examples -------------------------------------------------------------------------------------


def as_bytes(data):
    return bytes.fromhex(data) if isinstance(data, str) else bytes(data)


def encode(tensors):
    """The directory of some tensors."""
    data = kiln_arrow.encode(tensors)
    assert second_opinion.agree_on_directory(data)[0] == "accepted"
    assert second_opinion.seen(kiln_arrow.Directory(_pairs(tensors)).tensors) == kiln.check_directory(data)
    return data


def _pairs(tensors):
    """The tensors in the order in which a directory has them, and as NumPy has them in memory."""
    pairs = sorted(tensors.items(), key=lambda pair: pair[0].encode()) if isinstance(tensors, dict) else tensors
    return [
        (name, tensor if isinstance(tensor, kiln_arrow.Opaque) else np.asarray(tensor, tensor.dtype.newbyteorder("<")))
        for name, tensor in pairs
    ]


def payload(tensor):
    """The payload of a tensor that is alone in a directory."""
    data = encode([(None, tensor)])
    (entry,) = kiln.check_directory(data)
    start = 256 if entry.layout else 192
    return agreed(data[start : start + len(entry.payload)], entry.payload)


def decode(data):
    """The tensors in a directory."""
    second_opinion.agree_on_directory(as_bytes(data))
    return kiln_arrow.decode(as_bytes(data))


def changed(data, at, put):
    """The same bytes but for some of them."""
    put = bytes.fromhex(put)
    return data[:at] + put + data[at + len(put) :]


def u64(*numbers):
    """Numbers of eight bytes, as hex."""
    return b"".join(number.to_bytes(8, "little") for number in numbers).hex()


def parse_type(text):
    """A parsed type text."""
    second_opinion.agree_on_type_text(text)
    return kiln_arrow.parse_type(text)


def tokens(text):
    """What the schema hash is fed."""
    fed = b"".join(token.encode() + b"\0" for token in tokens_of(parse_type(text)))
    state = 14695981039346656037
    for byte in fed:
        state = (state ^ byte) * 1099511628211 % 2**64
    assert state == kiln_arrow.schema_hash(text) == kiln.schema_hash(text)
    return fed


def schema_hash(text):
    """The schema hash of a type."""
    return agreed(kiln_arrow.schema_hash(text), kiln.schema_hash(text))


def freeze(text, value):
    """The bytes of a value."""
    data = kiln_arrow.freeze(text, value)
    assert second_opinion.agree_on_value(text, data)[0] == "accepted"
    assert kiln_arrow.freeze(text, kiln_arrow.thaw(text, data)) == data
    return data


def thaw(text, data):
    """The value of a type that bytes hold."""
    second_opinion.agree_on_value(text, as_bytes(data))
    return kiln_arrow.thaw(text, as_bytes(data))


def frame(text, value):
    """The bytes of a frame and its value."""
    data = kiln_arrow.frame(text, value)
    assert second_opinion.agree_on_frame(text, data)[0] == "accepted"
    return data


def unframe(text, data):
    """The value behind a frame."""
    second_opinion.agree_on_frame(text, as_bytes(data))
    return kiln_arrow.unframe(text, as_bytes(data))


KILN = {
    "pa": pa,
    "np": np,
    "ml_dtypes": ml_dtypes,
    "kiln_arrow": kiln_arrow,
    **by_name(kiln_arrow.Opaque, encode, payload, decode, changed, u64, parse_type, tokens, schema_hash),
    **by_name(freeze, thaw, frame, unframe),
}


# --- The words of the examples about columns --------------------------------------------------------------------------


def metadata(data_type):
    """What a schema says of an extension type."""
    return data_type.__arrow_ext_serialize__()


def text_of(fields):
    """The type text of the frames that a struct with these Arrow fields becomes."""
    text = kiln_arrow.from_structs(pa.nulls(0, pa.struct(list(fields)))).type.type_text
    kiln.parse_type(text)
    return text


def cell(column, row):
    """The bytes of one cell."""
    data = kiln_arrow.to_storage(pa.table({"c": column})).column(0)[row].as_py()
    if isinstance(column.type, kiln_arrow.FrameType):
        assert second_opinion.agree_on_frame(column.type.type_text, data)[0] == "accepted"
    else:
        assert second_opinion.agree_on_directory(data)[0] == "accepted"
    return data


def of_type(metadata, *cells):
    """What a reader makes of a column of binary cells whose field has this metadata."""
    marks = {"ARROW:extension:name": "kiln.tensors", "ARROW:extension:metadata": metadata}
    schema = pa.schema([pa.field("c", pa.binary(), metadata=marks)])
    batch = pa.record_batch([pa.array(cells, pa.binary())], schema)
    return pa.ipc.open_stream(ipc_bytes.write([batch])).read_all().column(0)


def stored(column):
    """The last bytes of a Parquet file's first page: a length of four bytes and the cell."""
    sink = BytesIO()
    kiln_arrow.write_table(pa.table({"c": column}), sink)
    data, expected = sink.getvalue(), cell(column, 0)
    chunk = pq.ParquetFile(BytesIO(data)).metadata.row_group(0).column(0)
    end = chunk.data_page_offset + chunk.total_compressed_size
    page = data[end - len(expected) - 4 : end]
    assert page[4:] == expected
    return page


COLUMNS = {**KILN, **by_name(metadata, text_of, cell, of_type, stored, damaged, lists_in_lists)}


# --- The words of golden/README.md: the files, by id ------------------------------------------------------------------


def by_id(name):
    cases = json.loads((ROOT / f"golden/{name}.json").read_text(encoding="utf-8"))["cases"]
    return {case["id"]: case for case in cases}


FILES = ("arrow0", "multihash", "kiln-directory", "kiln-typetext", "kiln-frozen", "kiln-frame")


def concat(*parts):
    return b"".join(bytes.fromhex(part) for part in parts)


def changed_case(case, at, put):
    return changed(bytes.fromhex(case["hex"]), at, put)


GOLDEN = {
    "changed": changed_case,
    **by_name(sha3, decode, concat),
    **{name.replace("-", "_"): by_id(name) for name in FILES},
}
