"""Manifests: what the files of a data set are, to be checked later or elsewhere.

A manifest is a JSON file that lies with the data: sorted, one leaf column a line, with paths relative to itself. What
`arrow-digest hash` prints can be checked too, and so can lists as sha256sum writes them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from _arrow_io.faults import reading
from _arrow_io.opening import open_path
from _arrow_io.remote import is_uri
from arrow_digest.atomic import write_atomically
from arrow_digest.columns import thread_count
from arrow_digest.errors import (
    ArrowDigestError,
    InvalidArrayError,
    ManifestError,
    UnreadableError,
    UnsupportedTypeError,
    WorkerError,
)
from arrow_digest.executors import run_each, started
from arrow_digest.files import hash_file
from arrow_digest.folder import absolute, escapes, files_under, join, parent, path_names, relative_path
from arrow_digest.functions import DEFAULT_FUNCTION, digest_function
from arrow_digest.lists import FORMAT, VERSION, ListEntry, parse_list
from arrow_digest.multihash import Multihash
from arrow_digest.passes import Progress, digest_bytes
from arrow_digest.recorded import facts_json
from arrow_digest.verify import FileFacts, Status, Verification, failed, verify_file

__all__ = ["Manifest", "ManifestEntry"]

# No manifest is longer; a claim on memory ends here.
_MOST_BYTES = 1 << 30

# How Arrow data begin, so that a broken file of it is not taken for something else.
_MAGIC = (b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")


@dataclass(frozen=True)
class ManifestEntry:
    """One file of a manifest.

    Attributes:
        path: Relative to the manifest's folder, with `/` between names.
        facts: What is recorded of the file.
        note: Why there is no logical hash, or None.
        error: What is wrong with an entry that was read, or None. Checking it gives `UNREADABLE`.
    """

    path: str
    facts: FileFacts
    note: str | None = None
    error: ManifestError | None = None


@dataclass(frozen=True)
class Manifest:
    """What the files of a data set are.

    Attributes:
        root: The folder that paths are relative to, a path or URI.
        entries: The files, sorted by path; those of a list in the list's order.
        source: Where it was read from, as text, or None. It is no part of what it describes.
        is_list: True for a list of hashes, which says nothing about files that are not in it.

    >>> import os, shutil
    >>> os.makedirs("data", exist_ok=True)
    >>> _ = shutil.copy("orders.parquet", "data/orders.parquet")
    >>> Manifest.create("data").save("data/manifest.json")
    >>> [(result.path, result.status.value) for result in Manifest.load("data/manifest.json").check()]
    [('orders.parquet', 'identical')]
    """

    root: str
    entries: tuple[ManifestEntry, ...]
    source: str | None = None
    is_list: bool = False

    @classmethod
    def create(
        cls,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        root: str | os.PathLike[str] | None = None,
        function: str = DEFAULT_FUNCTION,
        validity: bool = True,
        allow_outside: bool = False,
        exclude: Iterable[str | os.PathLike[str]] = (),
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> Manifest:
        """Return a manifest of all files in a folder and the folders in it, or of the given files.

        A file is recorded as the file it is: the names of folders, as in Hive partitions, are no part of it. One that
        holds no Arrow records, or records without a logical hash, is recorded by its bytes, with a note why.

        Args:
            paths: A folder, a file, or several of either.
            root: The folder that paths are recorded relative to; by default the folder given, or else the deepest that
                all files are in.
            function: Digest function of both hashes.
            validity: True to record each leaf's validity digest, which tells apart what arrow0 cannot.
            allow_outside: True to record files outside `root`, and links that lead out of it.
            exclude: Files not to record, such as the manifest itself.
            executor: Where the files are hashed; None for a thread for each core.
            progress: Called with the files done and the files to do.

        Raises:
            ManifestError: Some file could not be recorded (`incomplete`, with the first such error as its cause), or
                lies outside `root` (`escape`), or there are none (`empty`).
            UnknownFunctionError: No such digest function.
        """
        digest_function(function)
        given = [paths] if isinstance(paths, (str, os.PathLike)) else path_names(paths, "paths")
        left_out = {absolute(path) for path in path_names(exclude, "exclude")}
        files, base = files_under([absolute(path) for path in given], exclude=left_out, follow=allow_outside)
        folder = base if root is None else absolute(root)
        names = [relative_path(path, folder) for path in files]
        if not names:
            raise ManifestError(str(folder), "empty", "there is no file to record")
        for name in names:
            if not allow_outside and escapes(name, str(folder)):
                raise ManifestError(name, "escape", f"it is outside {folder}, or a link that leads there")
        work = partial(_record, root=str(folder), function=function, validity=validity)
        entries: list[ManifestEntry] = []
        errors: list[ArrowDigestError] = []
        with started(executor, min(thread_count(None), len(names))) as workers:
            for done, (_, result) in enumerate(run_each(work, sorted(names), workers, str), 1):
                if isinstance(result, ManifestEntry):
                    entries.append(result)
                else:
                    errors.append(result)
                if progress is not None:
                    progress(done, len(names))
        if errors:
            raise _incomplete(str(folder), errors)
        return cls(str(folder), tuple(entries))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the manifest as JSON, whole or not at all. Paths are written relative to where it is.

        Raises:
            ManifestError: An entry is unusable (`entry`), or a file is outside the manifest's folder (`escape`).
            OSError: It cannot be written.
        """
        write_atomically(path, self.dumps(absolute(path).parent).encode())

    def dumps(self, folder: Path | None = None) -> str:
        """Return the manifest as JSON text for a manifest that lies in `folder`, by default its root.

        Raises:
            ManifestError: An entry is unusable (`entry`), or a file that is in the root is not in `folder` (`escape`).
        """
        entries = []
        for entry in self.entries:
            if entry.error is not None:
                raise ManifestError(entry.path, "entry", f"it cannot be written: {entry.error}")
            name = entry.path
            if folder is not None and str(folder) != self.root:
                name = relative_path(absolute(join(self.root, entry.path)), folder)
                if escapes(name, None) and not escapes(entry.path, None):
                    raise ManifestError(entry.path, "escape", f"it is not in the folder of the manifest, {folder}")
            entries.append(replace(entry, path=name))
        files = ",\n".join(_entry_text(entry) for entry in sorted(entries, key=lambda entry: entry.path))
        return f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "files": [\n{files}\n ]\n}}\n'

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        function: str | None = None,
        root: str | os.PathLike[str] | None = None,
    ) -> Manifest:
        """Read a manifest, what `arrow-digest hash` prints, or a list as sha256sum writes it.

        Args:
            path: The file, or a URI.
            function: What hex digests without a code are, such as `sha2-256` or `arrow0-sha3-256`.
            root: The folder that paths are relative to: by default the manifest's own, for a list the current one.

        Raises:
            ManifestError: It is no manifest, cut short, of a newer version, or there is nothing to verify in it.
            UnreadableError: It cannot be read.
            UnknownFunctionError: No such function.
        """
        name = os.fsdecode(path)
        with open_path(path) as file, reading(name, "manifest"):
            content = file.read(_MOST_BYTES)
        manifest = cls.loads(content, name, function=function, root=root)
        return manifest if root is not None or manifest.is_list else replace(manifest, root=parent(name))

    @classmethod
    def loads(
        cls,
        content: bytes,
        name: str = "manifest",
        *,
        function: str | None = None,
        root: str | os.PathLike[str] | None = None,
    ) -> Manifest:
        """Read a manifest or list from bytes; arguments and errors are those of `load`."""
        entries, is_list = parse_list(content, name, function)
        folder = os.fsdecode(root if root is not None else os.curdir)
        return cls(
            folder if is_uri(folder) else str(absolute(folder)),
            tuple(_entry(entry) for entry in entries),
            name,
            is_list,
        )

    def check(
        self,
        *,
        extra: bool | None = None,
        allow_outside: bool = False,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Verification]:
        """Yield what came of each file, in the manifest's order, then each file that is not in it as `EXTRA`.

        Nothing ends the run: what cannot be read, and an entry that says nothing usable, is a result like any other.

        Args:
            extra: Whether to look for files that are not recorded; by default for a manifest, and not for a list.
                Remote folders are not looked into.
            allow_outside: True to follow paths and links that lead out of the root.
            executor: Where the files are read; None for a thread for each core.
            progress: Called with the files done and the files to do.
        """
        work = partial(_check, root=self.root, allow_outside=allow_outside)
        with started(executor, min(thread_count(None), len(self.entries) or 1)) as workers:
            results = run_each(work, self.entries, workers, lambda entry: entry.path)
            for done, (entry, result) in enumerate(results, 1):
                yield failed(entry.path, entry.facts, result) if isinstance(result, WorkerError) else result
                if progress is not None:
                    progress(done, len(self.entries))
        if (extra if extra is not None else not self.is_list) and not is_uri(self.root):
            yield from self._extra(allow_outside)

    def _extra(self, follow: bool) -> Iterator[Verification]:
        folder = Path(self.root)
        exclude = {absolute(self.source)} if self.source is not None else set()
        recorded = {os.path.normpath(entry.path) for entry in self.entries}
        try:
            files, _ = files_under([folder], exclude=exclude, follow=follow)
        except UnreadableError as error:
            yield failed(error.source, FileFacts(), error)
            return
        for name in sorted(relative_path(path, folder) for path in files):
            if os.path.normpath(name) not in recorded:
                yield Verification(name, Status.EXTRA, FileFacts(), FileFacts(), "not in the manifest")


def _incomplete(folder: str, errors: list[ArrowDigestError]) -> ManifestError:
    first = errors[0]
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    error = ManifestError(folder, "incomplete", f"not every file can be recorded: {first}{more}")
    error.__cause__ = first
    return error


def _entry(entry: ListEntry) -> ManifestEntry:
    return ManifestEntry(entry.path, entry.facts or FileFacts(), entry.note, entry.error)


def _entry_text(entry: ManifestEntry) -> str:
    """Return an entry as JSON, a member a line and a leaf column a line, so that two manifests can be compared."""
    members: dict[str, Any] = {"path": entry.path, **facts_json(entry.facts)}
    if entry.note is not None:
        members["note"] = entry.note
    columns = members.pop("columns", None)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in members.items()]
    if columns is not None:
        inner = ",\n".join(f"    {json.dumps(column)}" for column in columns)
        lines.append(f'"columns": [\n{inner}\n   ]' if columns else '"columns": []')
    return "  {\n" + ",\n".join(f"   {line}" for line in lines) + "\n  }"


def _record(name: str, root: str, function: str, validity: bool) -> ManifestEntry | ArrowDigestError:
    path = join(root, name)
    try:
        found = hash_file(path, function=function, validity=validity, threads=1)
    except (UnreadableError, UnsupportedTypeError, InvalidArrayError) as error:
        return _record_bytes(name, path, function, error)
    facts = FileFacts(found.physical, found.logical, found.row_count, found.byte_length, found.columns)
    return ManifestEntry(name, facts)


def _record_bytes(name: str, path: str, function: str, error: ArrowDigestError) -> ManifestEntry | ArrowDigestError:
    """Record a file without records by its bytes; a broken or vanished file is an error."""
    chosen = digest_function(function)
    try:
        with open_path(path) as file:
            if not _has_no_records(error, file.peek(8)):
                return error
            digest, length = digest_bytes(file, path, chosen.new())
    except ArrowDigestError as second:
        return second
    facts = FileFacts(physical=Multihash(chosen.code, digest), byte_length=length)
    return ManifestEntry(name, facts, note=str(error).removeprefix(f"{path}: "))


def _has_no_records(error: ArrowDigestError, start: bytes) -> bool:
    if isinstance(error, UnsupportedTypeError):
        return True
    if not isinstance(error, UnreadableError):
        return False
    # What does not begin as Arrow data do was tried as a stream of an old form, and failed in any way.
    return error.rule in ("format", "encrypted") or (error.rule != "changed" and not start.startswith(_MAGIC))


def _check(entry: ManifestEntry, root: str, allow_outside: bool) -> Verification:
    if entry.error is not None:
        return failed(entry.path, entry.facts, entry.error)
    if not allow_outside and escapes(entry.path, root):
        message = "outside the manifest's folder, or a link that leads there; it was not looked at"
        return failed(entry.path, entry.facts, UnreadableError(entry.path, "escape", message))
    result = verify_file(join(root, entry.path), entry.facts, threads=1)
    return replace(result, path=entry.path)
