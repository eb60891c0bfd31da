"""Files of other formats, told by how they begin, and what to do with each."""

from __future__ import annotations

import re

from _arrow_io.errors import UnreadableError

__all__ = ["START_BYTES", "foreign_format", "has_foreign_mark"]

START_BYTES = 512
"""How much of a file's start tells its format: the mark of tar is the last to come, after 257 bytes."""

_TRIED = "tried Parquet, Arrow IPC file, Arrow IPC stream, Feather"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"

_DECOMPRESS = "decompress it first"
_UNPACK = "take the files out of it first"
_CONVERT = "read it with what knows the format, and write it as Parquet or Arrow IPC"

# How files begin: where the mark stands, the mark, what it is of, and what helps.
_MARKS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x1f\x8b", "gzip", _DECOMPRESS),
    (0, b"BZh", "bzip2", _DECOMPRESS),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard", _DECOMPRESS),
    (0, b"\xfd7zXZ\0", "xz", _DECOMPRESS),
    (0, b"\x04\x22\x4d\x18", "LZ4", _DECOMPRESS),
    (0, b"\xff\x06\0\0sNaPpY", "Snappy", _DECOMPRESS),
    (0, b"PK\3\4", "a ZIP archive", _UNPACK),
    (0, b"PK\5\6", "an empty ZIP archive", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"Obj\x01", "Avro", _CONVERT),
    (0, b"ORC", "ORC", _CONVERT),
    (0, b"SQLite format 3\0", "an SQLite database", _CONVERT),
    (8, b"DUCK", "a DuckDB database", _CONVERT),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5", _CONVERT),
    (0, b"CDF\x01", "NetCDF", _CONVERT),
    (0, b"CDF\x02", "NetCDF", _CONVERT),
    (0, b"SEQ\x06", "a Hadoop sequence file", _CONVERT),
    (0, b"VTXF", "Vortex", _CONVERT),
    (0, b"\x93NUMPY", "a NumPy array", _CONVERT),
    (0, b"%PDF-", "a PDF document", "it holds no records"),
    (0, b"\x89PNG", "a PNG image", "it holds no records"),
    (0, b"\xff\xd8\xff", "a JPEG image", "it holds no records"),
    (0, b"\x7fELF", "a program", "it holds no records"),
)

_LANCE, _PARQUET = b"LANC", b"PAR1"
# A pickle of protocol 2 to 5; from 4 on, a frame follows.
_PICKLE = re.compile(rb"\x80(?:[\x02\x03][\(\]\}c]|[\x04\x05]\x95)")
_PAGE = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
# Text in an older encoding has few bytes that are no UTF-8; so has text that is cut inside a character.
_LEAST_TEXT = 0.7
_CONTROLS = re.compile(r"[^\t\n\f\r\x20-\x7e\x80-\U0010ffff]")


def foreign_format(name: str, start: bytes, end: bytes = b"") -> UnreadableError:
    """Return the error that says what a file without Arrow data is instead.

    Args:
        name: The file, for the error.
        start: Its first bytes, up to `START_BYTES`.
        end: Its last four bytes, where they are at hand: some formats have their mark there.
    """
    if not start:
        return UnreadableError(name, "format", f"empty ({_TRIED})")
    if start.startswith(_LFS_POINTER):
        message = "a Git LFS pointer in place of the file: run git lfs pull"
        return UnreadableError(name, "lfs_pointer", message)
    what, advice = _by_mark(start, end) or _by_text(start) or ("", "")
    if what:
        return UnreadableError(name, "format", f"no Arrow data but {what}: {advice} ({_TRIED})")
    return UnreadableError(name, "format", f"no Arrow data: it begins with {start[:8]!r} ({_TRIED})")


def has_foreign_mark(start: bytes) -> bool:
    """Return whether a file's first eight bytes have the mark of another format."""
    return any(place == 0 and start.startswith(mark[:8]) for place, mark, _, _ in _MARKS)


def _by_mark(start: bytes, end: bytes) -> tuple[str, str] | None:
    for place, mark, what, advice in _MARKS:
        if start[place : place + len(mark)] == mark:
            return what, advice
    if end == _PARQUET:
        return "the end of a Parquet file", "its beginning is lost, so fetch or copy it again"
    if end == _LANCE:
        return "a file of a Lance data set", _CONVERT
    if _PICKLE.match(start):
        return "a Python pickle", "unpickle it where its origin is trusted, and write it as Parquet or Arrow IPC"
    if start[8:9] == b"{" and start[4:8] == bytes(4) and b'"' in start[9:12]:
        return "safetensors", "kiln-arrow import reads it"
    if len(start) > 8 and not any(start):
        return "zeros", "a copy or a download may have reserved its place and not have filled it"
    return None


def _by_text(start: bytes) -> tuple[str, str] | None:
    """Return what a text is, which may be in an older encoding, and is cut somewhere."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text in UTF-16", "text has no types: read it first, for instance with pyarrow.csv"
    text = start.decode("utf-8", "ignore").removeprefix("\ufeff")
    if len(text.encode()) < len(start) * _LEAST_TEXT:
        return None
    if _CONTROLS.search(text):
        return None
    first = text.lstrip()
    if _PAGE.match(first.encode()):
        return "a web page (HTML)", "perhaps what a server answers in place of a file, such as an error or a log-in"
    if first.startswith("<?xml") or re.match(r"<\w+[\s/>]", first):
        return "XML", "perhaps what a server answers in place of a file, such as an error"
    if re.match(r'[\[{]\s*(?:["\]\}\[{]|-?\d|true|false|null)', first):
        return "JSON", "JSON has few types: read it first, for instance with pyarrow.json"
    if re.search(r"[,;\t|]", first.partition("\n")[0]):
        return "text, such as CSV", "CSV has no types: read it first, for instance with pyarrow.csv"
    return "text", "it holds no records with types"
