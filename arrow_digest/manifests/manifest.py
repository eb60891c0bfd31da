"""Manifests: what the files of a data set are, to be checked later or elsewhere.

A manifest is a JSON file that lies with the data: sorted, one leaf column a line, with paths relative to itself. What
`arrow-digest hash` prints can be checked too, and so can lists as sha256sum writes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from _arrow_io.faults import reading
from _arrow_io.int96 import DEFAULT_INT96_UNIT, Int96Unit, require_int96_unit
from _arrow_io.opening import open_path
from _arrow_io.remote import is_uri, path_names, path_text
from arrow_digest.comparing.verify import Status, Verification, VerifyOptions, failed, verify_file
from arrow_digest.errors import ArrowDigestError, ManifestError, UnreadableError, WorkerError
from arrow_digest.files.facts import FileFacts
from arrow_digest.files.hashing import each_file
from arrow_digest.files.options import HashOptions
from arrow_digest.files.passes import Progress
from arrow_digest.functions import DEFAULT_FUNCTION
from arrow_digest.manifests.folder import (
    absolute,
    can_be_listed,
    escapes,
    files_under,
    join,
    local_root,
    others_under,
    parent,
    relative_path,
    remote_names,
    write_atomically,
)
from arrow_digest.manifests.formats import MOST_BYTES, Listed, ManifestEntry, manifest_text
from arrow_digest.manifests.lists import parse_list
from arrow_digest.manifests.recording import Recorded, Recording, is_manifest_file, record
from arrow_digest.public import public
from arrow_digest.rules.chosen import chosen_rule

__all__ = ["Manifest", "ManifestEntry", "require_replaceable"]

# So many errors are told at once.
_MOST_ERRORS = 20


@public
@dataclass(frozen=True)
class Manifest:
    """What the files of a data set are.

    Attributes:
        root: The folder that paths are relative to, a path or URI.
        entries: The files, sorted by path; those of a list in the list's order.
        source: Where it was read from, as text, or None. It is no part of what it describes.
        is_list: True for a list of hashes, which says nothing about files that are not in it.
        int96_unit: The unit in which INT96 timestamps of Parquet were read.

    >>> import os, shutil
    >>> os.makedirs("data", exist_ok=True)
    >>> _ = shutil.copy("orders.parquet", "data/orders.parquet")
    >>> Manifest.create("data").save("data.manifest.json")
    >>> [(result.path, result.status.value) for result in Manifest.load("data.manifest.json").check()]
    [('orders.parquet', 'identical')]
    """

    root: str
    entries: tuple[ManifestEntry, ...]
    source: str | None = None
    is_list: bool = False
    int96_unit: Int96Unit = DEFAULT_INT96_UNIT

    @classmethod
    def create(
        cls,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        root: str | os.PathLike[str] | None = None,
        function: str = DEFAULT_FUNCTION,
        validity: bool = True,
        allow_outside: bool = False,
        allow_pointers: bool = False,
        exclude: Iterable[str | os.PathLike[str]] = (),
        int96_unit: Int96Unit = DEFAULT_INT96_UNIT,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> Manifest:
        """Return a manifest of all files in a folder and the folders in it, or of the given files.

        A file is recorded as the file it is: the names of folders, as in Hive partitions, are no part of it. One that
        holds no Arrow records, or records without a logical hash, is recorded by its bytes, with a note why. Manifests
        that lie in the folders are left out.

        Args:
            paths: A folder, a file, or several of either, on this machine.
            root: The folder that paths are recorded relative to; by default the folder given, or else the deepest that
                all files are in.
            function: Digest function of both hashes.
            validity: True to record each leaf's validity digest, which tells apart what arrow0 cannot.
            allow_outside: True to record files outside `root`, and links that lead out of it.
            allow_pointers: True to record what Git LFS leaves in place of a file; it is refused otherwise.
            exclude: Files not to record.
            int96_unit: The unit in which INT96 timestamps are read: `ns`, or `us` where days before 1677 or after 2262
                are among them. It is recorded.
            executor: Where the files are hashed; None for a thread for each core.
            progress: Called with the files done and the files to do.

        Raises:
            ManifestError: Some file could not be recorded (`incomplete`, with the first such error as its cause), or
                lies outside `root` (`escape`), or there are none (`empty`).
            UnreadableError: A path is missing or a URI, or a folder cannot be listed.
            UnknownFunctionError: No such digest function.
        """
        options = HashOptions(chosen_rule(function), validity=validity, int96_unit=int96_unit)
        require_int96_unit(int96_unit)
        given = [paths] if isinstance(paths, (str, os.PathLike)) else path_names(paths, "paths")
        left_out = {absolute(path) for path in path_names(exclude, "exclude")}
        for path in given if root is None else [*given, root]:
            _require_local(path)
        files, base = files_under([absolute(path) for path in given], exclude=left_out, follow=allow_outside)
        folder = base if root is None else absolute(root)
        names = sorted(relative_path(path, folder) for path in files)
        if not allow_outside:
            _require_inside(names, folder)
        recording = Recording(str(folder), options, allow_pointers)
        entries = _recorded(names, recording, executor, progress)
        return cls(str(folder), tuple(entries), int96_unit=int96_unit)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the manifest as JSON, whole or not at all.

        It says where the files are, relative to where it is itself. Only another manifest is written over.

        Raises:
            ManifestError: An entry is unusable (`entry`), the files are not on this machine (`escape`), or something
                else has the name (`exists`).
            OSError: It cannot be written.
        """
        require_replaceable(path)
        write_atomically(path, self.dumps(absolute(path).parent).encode())

    def dumps(self, folder: Path | None = None) -> str:
        """Return the manifest as JSON text for a manifest that lies in `folder`, by default its root.

        Raises:
            ManifestError: An entry is unusable (`entry`), or no relative path leads to the files (`escape`).
        """
        for entry in self.entries:
            if entry.error is not None:
                raise ManifestError(entry.path, "entry", f"it cannot be written: {entry.error}")
        root = None
        if folder is not None and str(folder) != self.root:
            if is_uri(self.root):
                raise ManifestError(self.root, "escape", "no path from a manifest here leads to it")
            root = relative_path(Path(self.root), folder)
            if ".." in root.split("/"):  # through links `..` leads elsewhere
                root = relative_path(Path(os.path.realpath(self.root)), Path(os.path.realpath(folder)))
        return manifest_text(self.entries, root, self.int96_unit)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        function: str | None = None,
        root: str | os.PathLike[str] | None = None,
        allow_outside: bool = False,
    ) -> Manifest:
        """Read a manifest, what `arrow-digest hash` prints, or a list as sha256sum writes it.

        Args:
            path: The file, or a URI.
            function: What hex digests without a code are, such as `sha2-256` or `arrow0-sha3-256`.
            root: The folder that paths are relative to: by default the one that the manifest names, or else its own;
                for a list the current one.
            allow_outside: True to look for the files where a manifest says, though that leads out of its own folder.

        Raises:
            ManifestError: It is no manifest, cut short, of a newer version, or there is nothing to verify in it; or the
                folder that it names is outside its own (`escape`).
            UnreadableError: It cannot be read.
            UnknownFunctionError: No such function.
        """
        name = path_text(path)
        with open_path(path) as file, reading(name, "manifest"):
            content = file.read(MOST_BYTES)
        listed = parse_list(content, name, function)
        where = _root_of(listed, name, parent(name), allow_outside=allow_outside) if root is None else path_text(root)
        return cls._of(listed, name, where)

    @classmethod
    def loads(
        cls,
        content: bytes,
        name: str = "manifest",
        *,
        function: str | None = None,
        root: str | os.PathLike[str] | None = None,
        allow_outside: bool = False,
    ) -> Manifest:
        """Read a manifest or list from bytes, as if it lay in the current folder; see `load`."""
        listed = parse_list(content, name, function)
        folder = str(absolute(os.curdir))
        where = _root_of(listed, name, folder, allow_outside=allow_outside) if root is None else path_text(root)
        return cls._of(listed, name, where)

    @classmethod
    def _of(cls, listed: Listed, name: str, root: str) -> Manifest:
        where = local_root(root)
        return cls(
            root=where if is_uri(where) else str(absolute(where)),
            entries=listed.entries,
            source=name,
            is_list=listed.is_list,
            int96_unit=listed.int96_unit,
        )

    def looks_for_others(self, extra: bool | None = None) -> bool:  # noqa: FBT001 -- as it was published
        """Return whether `check` looks for files that are not recorded.

        A list says nothing about them, and the folders of a web server cannot be listed.
        """
        return can_be_listed(self.root) and (extra if extra is not None else not self.is_list)

    def require_listable(self, extra: bool | None) -> None:  # noqa: FBT001 -- as it was published
        """Refuse to look for files that are not recorded where they cannot be known.

        Raises:
            UnreadableError: The folder is on a web server, and `extra` is true (`unlisted`).
        """
        if extra and not self.looks_for_others(extra):
            message = "a web server does not list its files, so it is not known whether there are others"
            raise UnreadableError(self.root, "unlisted", message)

    def check(
        self,
        *,
        extra: bool | None = None,
        allow_outside: bool = False,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Verification]:
        """Return an iterator over what came of each file, in the manifest's order, and then each other file as `EXTRA`.

        Nothing ends the run: what cannot be read, and an entry that says nothing usable, is a result like any other.

        Args:
            extra: Whether to look for files that are not recorded; by default for a manifest, and not for a list, where
                the folder can be listed (`looks_for_others`).
            allow_outside: True to follow paths and links that lead out of the root.
            executor: Where the files are read; None for a thread for each core.
            progress: Called with the files done and the files to do.

        Raises:
            UnreadableError: Other files are to be looked for, and the folder cannot be listed (`unlisted`).
        """
        self.require_listable(extra)
        return self._results(executor, progress, extra=extra, allow_outside=allow_outside)

    def _results(
        self, executor: Executor | None, progress: Progress | None, *, extra: bool | None, allow_outside: bool
    ) -> Iterator[Verification]:
        checking = partial(_check, root=self.root, allow_outside=allow_outside, int96_unit=self.int96_unit)
        for entry, result in each_file(checking, self.entries, executor, progress, name=lambda entry: entry.path):
            yield failed(entry.path, entry.facts, result) if isinstance(result, WorkerError) else result
        if self.looks_for_others(extra):
            yield from self._others(follow=allow_outside)

    def _others(self, *, follow: bool) -> Iterator[Verification]:
        recorded = {os.path.normpath(entry.path) for entry in self.entries}
        for found in self._unrecorded(recorded, follow=follow):
            if isinstance(found, UnreadableError):
                name = found.source if is_uri(self.root) else relative_path(Path(found.source), Path(self.root))
                error = UnreadableError(name, found.rule, str(found).removeprefix(f"{found.source}: "))
                yield failed(name, FileFacts(), error)
            elif not is_manifest_file(join(self.root, found)):
                yield Verification(found, Status.EXTRA, FileFacts(), FileFacts(), "not in the manifest")

    def _unrecorded(self, recorded: set[str], *, follow: bool) -> Iterator[str | UnreadableError]:
        if not is_uri(self.root):
            yield from others_under(Path(self.root), recorded, follow=follow)
            return
        try:
            yield from (name for name in remote_names(self.root) if os.path.normpath(name) not in recorded)
        except UnreadableError as error:
            yield error


def require_replaceable(path: str | os.PathLike[str]) -> None:
    """Refuse to write a manifest over anything but another one.

    Raises:
        ManifestError: Something else has the name (`exists`), or it is a URI.
    """
    name = path_text(path)
    if is_uri(name):
        raise ManifestError(name, "exists", "a manifest is written to this machine: writing to a URI is not supported")
    place = Path(name)
    if place.is_dir():
        raise ManifestError(name, "exists", "is a directory")
    if place.exists() and not (place.is_file() and is_manifest_file(os.path.realpath(name))):
        raise ManifestError(
            name, "exists", "it is there and is no manifest: it is not written over; choose another name"
        )


def _require_local(path: str | os.PathLike[str]) -> None:
    if is_uri(path_text(path)):
        message = "a folder given by a URI cannot be recorded: record it where it is local"
        raise UnreadableError(path_text(path), "protocol", message)


def _require_inside(names: Iterable[str], folder: Path) -> None:
    for name in names:
        if escapes(name, str(folder)):
            raise ManifestError(name, "escape", f"it is outside {folder}, or a link that leads there")


def _recorded(
    names: Sequence[str], recording: Recording, executor: Executor | None, progress: Progress | None
) -> list[ManifestEntry]:
    """Return what is recorded of each file. Manifests of this package are left out.

    Raises:
        ManifestError: Some file could not be recorded (`incomplete`), or there are none (`empty`).
    """
    entries = []
    errors: list[ArrowDigestError] = []
    for name, result in each_file(partial(record, recording=recording), names, executor, progress):
        if not isinstance(result, Recorded):
            errors.append(result)
        elif result.facts is not None:
            entries.append(ManifestEntry(name, result.facts, result.note))
    if errors:
        raise _incomplete(recording.root, errors)
    if not entries:
        raise ManifestError(recording.root, "empty", "there is no file to record")
    return entries


def _root_of(listed: Listed, name: str, folder: str, *, allow_outside: bool) -> str:
    """Return the folder that paths are relative to, where nobody says another.

    Args:
        listed: What a manifest or list says.
        name: How errors name it.
        folder: The folder or URI that it is in.
        allow_outside: True if the manifest may name a folder outside its own.
    """
    if listed.is_list:
        return os.curdir
    if listed.root is None:
        return folder
    return _named_root(name, local_root(folder), listed.root, allow_outside=allow_outside)


def _named_root(name: str, folder: str, root: str, *, allow_outside: bool) -> str:
    """Return the folder that a manifest names, which has to be in the manifest's own unless that is allowed."""
    is_remote = is_uri(folder)
    is_outside = escapes(root, None if is_remote else folder)
    if is_outside and (not allow_outside or is_remote):
        where = root if is_remote else os.path.normpath(os.path.join(os.path.realpath(folder), root))  # noqa: PTH118
        message = (
            f"its files are in {where}, outside its own folder: say the folder (--root), or allow it (--allow-outside)"
        )
        raise ManifestError(name, "escape", message)
    if is_remote:
        return folder if os.path.normpath(root) == "." else join(folder, os.path.normpath(root))
    return os.path.join(os.path.realpath(folder) if is_outside else folder, root)  # noqa: PTH118


def _incomplete(folder: str, errors: list[ArrowDigestError]) -> ManifestError:
    shown = "; ".join(str(error) for error in errors[:_MOST_ERRORS])
    more = f"; and {len(errors) - _MOST_ERRORS} more" if len(errors) > _MOST_ERRORS else ""
    hint = ""
    if any(getattr(error, "rule", None) == "lfs_pointer" for error in errors):
        hint = " (or allow pointers: --allow-pointers)"
    error = ManifestError(folder, "incomplete", f"not every file can be recorded: {shown}{more}{hint}")
    error.__cause__ = errors[0]
    return error


def _check(entry: ManifestEntry, *, root: str, allow_outside: bool, int96_unit: Int96Unit) -> Verification:
    if entry.error is not None:
        return failed(entry.path, entry.facts, entry.error)
    if not allow_outside and escapes(entry.path, root):
        message = "outside the manifest's folder, or a link that leads there; it was not looked at"
        return failed(entry.path, entry.facts, UnreadableError(entry.path, "escape", message))
    result = verify_file(join(root, entry.path), entry.facts, VerifyOptions(int96_unit=int96_unit))
    return replace(result, path=entry.path)
