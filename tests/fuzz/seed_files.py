"""Ten small sound files of each format: what the commands' fuzz changes.

Some are of other writers, from `tests/data` or made by DuckDB and polars. Files are small because every bit of a footer
and of a schema is flipped in its turn. This module is imported in a process that only makes them: its libraries start
threads and register types, which no command is to meet.
"""

from __future__ import annotations

import base64
import io
import json
import tempfile
from contextlib import suppress
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet.encryption as encryption
from safetensors.numpy import save as safetensors_bytes

import kiln_arrow
from arrow_digest import Manifest, UnsupportedTypeError, logical_hash, physical_hash
from fuzz.cases import Seed
from helpers.files import feather, ipc_file, ipc_stream, parquet

DATA = Path(__file__).parents[1] / "data"

_WITHOUT_RECORDS = ("tensor files", "manifests", "lists")
_ENCRYPTED = 5  # the place of the file with an encrypted column, which has records that cannot be read


def _tables() -> list[pa.Table]:
    """Ten tables that hold every kind of layout between them."""
    numbers = pa.array([1, None, 3], pa.int32())
    texts = pa.array(["x", None, "longer than twelve bytes"])
    lists = pa.array([[1, 2], None, []], pa.list_(pa.int16()))
    words = pa.array(["one", None, "one"]).dictionary_encode()
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array(["x", None]))
    columns = [
        {"a": numbers, "s": texts},
        {"l": lists},
        {"t": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "z"}])},
        {"d": words, "r": runs},
        {"v": pa.array(texts.to_pylist(), pa.string_view()), "w": pa.array([b"", None, b"b" * 20], pa.binary_view())},
        {"m": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int8()))},
        {"f": pa.array([[1, 2], None, [3, None]], pa.list_(pa.int8(), 2)), "n": pa.nulls(3)},
        {"e": pa.array([10, None, -1], pa.decimal128(5, 2)), "z": pa.array([0, None, 1], pa.timestamp("us", "UTC"))},
        {"b": pa.array([True, None, False]), "h": pa.array([1.0, None, 2.0], pa.float16())},
        {"y": pa.array([b"ab", None, b"cd"], pa.binary(2)), "u": pa.array([[[1], None]] * 3)},
    ]
    return [pa.table(one) for one in columns]


def _list_views() -> pa.Table:
    types = pa.list_view(pa.int32()), pa.large_list_view(pa.string())
    return pa.table({"v": pa.array([[1, 2], None, []], types[0]), "w": pa.array([["x"], None, ["y", None]], types[1])})


class _Keys(encryption.KmsClient):
    """Wraps keys by writing them out: these files keep nothing secret."""

    def __init__(self, _: object) -> None:
        super().__init__()

    def wrap_key(self, key: bytes, _: str) -> bytes:
        return base64.b64encode(key)

    def unwrap_key(self, key: bytes, _: str) -> bytes:
        return base64.b64decode(key)


def encrypted_columns() -> bytes:
    """A Parquet file whose footer is plain and whose text column is encrypted."""
    wanted = encryption.EncryptionConfiguration(footer_key="f", column_keys={"k": ["s"]}, plaintext_footer=True)
    connection = encryption.KmsConnectionConfig()
    properties = encryption.CryptoFactory(_Keys).file_encryption_properties(connection, wanted)
    return parquet(_tables()[0], encryption_properties=properties, store_schema=False)


def _written_by(write) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write(path)
        return path.read_bytes()


def _duckdb_parquet() -> bytes:
    query = "SELECT i, 'v' || i AS s FROM range(3) t(i)"
    return _written_by(lambda path: duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)"))


def _polars() -> pl.DataFrame:
    return pl.DataFrame({"c": pl.Series(["a", None, "b"], dtype=pl.Categorical), "l": [[1], [], None]})


def _parquet_files() -> list[bytes]:
    tables = _tables()
    return [
        parquet(tables[0], store_schema=False, compression="none"),
        parquet(tables[1], store_schema=False, data_page_version="2.0", write_page_checksum=True),
        parquet(tables[2], store_schema=False, use_dictionary=False, row_group_size=2),
        parquet(tables[3].select(["d"]), compression="zstd"),
        parquet(tables[7], store_schema=False, use_deprecated_int96_timestamps=True, write_statistics=False),
        encrypted_columns(),
        _duckdb_parquet(),
        _written_by(_polars().write_parquet),
        (DATA / "parquet-testing/nulls.snappy.parquet").read_bytes(),
        (DATA / "parquet-testing/null_list.parquet").read_bytes(),
    ]


def _ipc_files() -> list[bytes]:
    tables = _tables()
    return [
        *(ipc_file(table, batch_rows=2) for table in tables[:7]),
        ipc_file(_list_views()),
        ipc_file(pa.table({"a": pa.array([], pa.int64())})),
        _written_by(_polars().write_ipc),
    ]


def _ipc_streams() -> list[bytes]:
    return [ipc_stream(table, batch_rows=2) for table in (*_tables()[1:], _list_views())]


def _legacy_streams() -> list[bytes]:
    return [ipc_stream(table, batch_rows=2, use_legacy_format=True) for table in _tables()]


def _feather_files() -> list[bytes]:
    values = [
        pa.array([1, None, 3], pa.int8()),
        pa.array([1, 2, 3], pa.uint64()),
        pa.array([1.5, None, 2.5]),
        pa.array([True, None, False]),
        pa.array(["a", None, "bcd"]),
        pa.array([b"a", None, b"bcd"]),
        pa.array(["one", None, "one"]).dictionary_encode(),
        pa.array([0, None, 1], pa.timestamp("ms")),
        pa.array([0, None, 1], pa.date32()),
        pa.array([0, None, 1], pa.timestamp("us", "UTC")),
    ]
    return [feather(pa.table({"c": column, "d": values[0]}), version=1) for column in values]


def _compressed_files() -> list[bytes]:
    tables = _tables()
    return [
        *(ipc_file(table, compression="lz4") for table in tables[:3]),
        *(ipc_file(table, compression="zstd") for table in tables[3:5]),
        *(ipc_stream(table, compression="lz4") for table in tables[5:7]),
        *(ipc_stream(table, compression="zstd") for table in tables[7:9]),
        feather(tables[0]),
    ]


def _kiln_files() -> list[bytes]:
    cells = [{"a": np.arange(3, dtype=np.int16)}, None, {"x": np.float32(1), "y": np.zeros((0, 2))}]
    column = kiln_arrow.array(cells)
    views, large = (
        kiln_arrow.TensorsType(storage).wrap_array(pa.array(column.storage.to_pylist(), storage))
        for storage in (pa.binary_view(), pa.large_binary())
    )
    listed = pa.ListArray.from_arrays(pa.array([0, 2, 2, 3], pa.int32()), column)
    struct_of = pa.StructArray.from_arrays([column, pa.array([1, 2, 3])], ["t", "i"])
    frame_type = kiln_arrow.FrameType("struct{i:i64,t:tensors,}")
    frames = [kiln_arrow.frame(frame_type.type_text, {"i": i, "t": {"a": np.arange(i)}}) for i in range(2)]
    framed = frame_type.wrap_array(pa.array([*frames, None], pa.binary()))
    plain = pa.table({"t": column})
    return [
        _written_by(lambda path: kiln_arrow.write_table(plain, path)),
        _written_by(lambda path: kiln_arrow.write_table(pa.table({"t": listed}), path)),
        ipc_stream(plain, batch_rows=2),
        ipc_stream(pa.table({"t": listed})),
        ipc_stream(pa.table({"t": struct_of})),
        ipc_stream(pa.table({"v": views, "t": large})),
        ipc_stream(pa.table({"f": framed})),
        ipc_stream(pa.table({"d": pa.DictionaryArray.from_arrays(pa.array([0, None, 2], pa.int8()), column)})),
        ipc_file(plain),
        ipc_file(pa.table({"t": views}), compression="zstd"),
    ]


def _tensor_files() -> list[tuple[str, bytes]]:
    arrays = {"a": np.arange(3, dtype=np.int16), "b": np.float64(1.5), "c": np.zeros((2, 0), np.uint8)}
    kept: list[tuple[str, bytes]] = []
    for save in (np.savez, np.savez_compressed):
        for names in ("a", "b", "ab"):
            sink = io.BytesIO()
            save(sink, **{name: arrays[name] for name in names})
            kept.append((".npz", sink.getvalue()))
    for names in ("a", "c", "ac", "abc"):
        chosen = {name: np.asarray(arrays[name]) for name in names}
        kept.append((".safetensors", safetensors_bytes(chosen, {"note": "x"} if names == "abc" else None)))
    return kept


def write_root(folder: Path) -> None:
    """Write the folder that the manifests and lists are of."""
    (folder / "sub").mkdir(parents=True)
    (folder / "a.parquet").write_bytes(parquet(_tables()[0]))
    (folder / "sub" / "b.arrows").write_bytes(ipc_stream(_tables()[1]))
    for name in ("note.txt", "back\\slash.txt"):
        (folder / name).write_bytes(b"no records\n")


def _manifests(root: Path) -> list[tuple[bytes, tuple[str, ...]]]:
    sub = root / "sub"
    texts = [
        Manifest.create(root).dumps(),
        Manifest.create(root, validity=False).dumps(),
        Manifest.create(root, function="blake3").dumps(),
        Manifest.create(sub).dumps().replace("b.arrows", "sub/b.arrows"),
        Manifest.create(root, exclude=[root / "a.parquet", sub / "b.arrows"]).dumps(),
    ]
    # Other writers may write the same with other white space, other escapes, fewer members, or unknown members.
    whole = [json.loads(text) for text in texts]
    few = {**whole[0], "files": whole[0]["files"][:1]}
    return [
        *((text.encode(), ()) for text in texts[:3]),
        (json.dumps(whole[1]).encode(), ()),
        *((text.encode(), ("--no-extra",)) for text in texts[3:]),
        (json.dumps(whole[3], indent=1, sort_keys=True).encode(), ("--no-extra",)),
        (json.dumps(few).encode(), ("--no-extra",)),
        (json.dumps({**few, "made_by": ["somebody", {"else": None}]}).encode(), ("--no-extra",)),
        (json.dumps(whole[3]).replace("sub/b", "s\\u0075b/b").encode("utf-8-sig"), ("--no-extra",)),
    ]


def _lists(root: Path) -> list[tuple[bytes, tuple[str, ...]]]:
    names = ["a.parquet", "sub/b.arrows", "note.txt"]
    sums = {name: str(physical_hash(root / name, function="sha2-256")) for name in names}
    records = {name: str(logical_hash(root / name)) for name in names[:2]}
    bare = ("--function", "sha2-256")
    lines = [json.dumps({"path": name, "logical": value}) for name, value in records.items()]
    return [
        ("".join(f"{value}  {name}\n" for name, value in records.items()).encode(), ()),
        ("".join(f"{value}  {name}\n" for name, value in sums.items()).encode(), ()),
        ("".join(f"{value[5:]}  {name}\n" for name, value in sums.items()).encode(), bare),
        ("".join(f"{value[5:]} *{name}\r\n" for name, value in sums.items()).encode(), bare),
        (f"\\{sums['note.txt'][5:]}  back\\\\slash.txt\n".encode(), bare),
        (f"{sums['note.txt'][5:]}  note.txt".encode(), (*bare, "--no-extra")),
        ("".join(f"{line}\n" for line in lines).encode(), ()),
        (json.dumps({"path": names[0], "physical": sums[names[0]], "row_count": 3}).encode(), ()),
        (f"# a comment\n{records[names[0]]}  {names[0]}\n\n".encode(), ("--json",)),
        (f"{logical_hash(root / names[0]).encode('base32')}  {names[0]}\n".encode(), ()),
    ]


def seeds(root: Path) -> list[Seed]:
    """All of them. `root` has been written by `write_root`."""
    contents: list[tuple[str, str, bytes, tuple[str, ...] | None]] = [
        *(("Parquet", ".parquet", content, None) for content in _parquet_files()),
        *(("IPC file", ".arrow", content, None) for content in _ipc_files()),
        *(("IPC stream", ".arrows", content, None) for content in _ipc_streams()),
        *(("IPC stream, legacy", ".arrows", content, None) for content in _legacy_streams()),
        *(("Feather V1", ".feather", content, None) for content in _feather_files()),
        *(("IPC, compressed", ".arrow", content, None) for content in _compressed_files()),
        *(("Kiln columns", ".kiln", content, None) for content in _kiln_files()),
        *(("tensor files", suffix, content, None) for suffix, content in _tensor_files()),
        *(("manifests", ".json", content, options) for content, options in _manifests(root)),
        *(("lists", ".txt", content, options) for content, options in _lists(root)),
    ]
    return [_seed(number, *one) for number, one in enumerate(contents)]


def _seed(number: int, form: str, suffix: str, content: bytes, check_options: tuple[str, ...] | None) -> Seed:
    name = f"{number:03}{suffix}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        physical, logical, recorded = str(physical_hash(path)), "", ""
        if form not in _WITHOUT_RECORDS and number != _ENCRYPTED:
            with suppress(UnsupportedTypeError):  # of the map
                logical = str(logical_hash(path))
        if check_options is None:
            recorded = Manifest.create(folder).dumps() if number != _ENCRYPTED else f"{physical}  {name}\n"
    return Seed(form, name, content, logical, physical, recorded, check_options or ())
