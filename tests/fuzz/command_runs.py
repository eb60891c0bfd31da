"""Every command on one changed file, by its entry point, inside the process that calls this; and what is wrong with it.

What has to hold: the exit status is 0, 1 or 2; a failure is one line on standard error, or a line of results that says
so; JSON is JSON; commands do not contradict each other; and no file has a hash of which pyarrow says that it is broken.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import resource
import shutil
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from fuzz.cases import Seed

# What pyarrow's full validation asks for and docs/spec/arrow0.md does not: text is hashed as the bytes that it is, a
# null count only says whether there is a bitmap, and neither a long view's prefix nor what pads a short view is looked
# at; and a decimal, a date or a time of day is the number that its bytes are, also where its type promises less.
_NOT_ASKED_FOR = re.compile(
    r"Invalid UTF8|null_count value \(\d+\) doesn't match actual number|padding bytes were not all zero|prefix"
    r"|does not fit in precision|does not represent a whole number of days|not within the acceptable range"
)

MOST_BYTES = 768 << 20  # of memory in use, of which importing pyarrow and the rest takes about 150 MB


@dataclass(frozen=True)
class Case:
    """One changed file.

    Attributes:
        index: Its number.
        seed: What it was made from.
        folder: A folder of the worker's own, where it is the one file of the folder `set`.
        shared: The folder of the sound files.
    """

    index: int
    seed: Seed
    folder: Path
    shared: Path

    @property
    def path(self) -> str:
        return str(self.folder / "set" / self.seed.name)

    @property
    def as_json(self) -> list[str]:
        return ["--json"] if self.index % 4 == 0 else []

    @property
    def expected(self) -> list[str]:
        return ["--logical", self.seed.logical] if self.seed.logical else ["--physical", self.seed.physical]


def _hash(case: Case) -> list[str]:
    return [case.path, *case.as_json]


def _hash_physical(case: Case) -> list[str]:
    return ["--physical", case.path, *case.as_json]


def _verify(case: Case) -> list[str]:
    return [case.path, *case.expected, *case.as_json]


def _diff(case: Case) -> list[str]:
    sides = [case.path, str(case.shared / case.seed.name)]
    return [*(reversed(sides) if case.index % 2 else sides), *case.as_json]


def _explain(case: Case) -> list[str]:
    return [case.path, *case.as_json]


def _manifest(case: Case) -> list[str]:
    return [str(case.folder / "set"), "-o", "-"]


def _check(case: Case) -> list[str]:
    if case.seed.recorded:
        recorded = str(case.shared / f"{case.seed.name}.recorded")
        return [recorded, "--root", str(case.folder / "set"), *case.as_json]
    return [case.path, "--root", str(case.shared / "root"), *case.seed.check_options]


def _only_path(case: Case) -> list[str]:
    return [case.path]


def _export(case: Case) -> list[str]:
    return [case.path, "-o", str(case.folder / "out")]


def _import(case: Case) -> list[str]:
    return [case.path, "-o", str(case.folder / "out.parquet")]


@dataclass(frozen=True)
class Command:
    """One command: `name` begins with its own name, `arguments` are what it gets."""

    program: str
    name: str
    arguments: Callable[[Case], list[str]]


COMMANDS = (
    Command("arrow-digest", "hash", _hash),
    Command("arrow-digest", "hash --physical", _hash_physical),
    Command("arrow-digest", "verify", _verify),
    Command("arrow-digest", "diff", _diff),
    Command("arrow-digest", "explain", _explain),
    Command("arrow-digest", "manifest", _manifest),
    Command("arrow-digest", "check", _check),
    Command("kiln-arrow", "inspect", _only_path),
    Command("kiln-arrow", "validate", _only_path),
    Command("kiln-arrow", "export", _export),
    Command("kiln-arrow", "import", _import),
)
_ENTRY_POINTS = {"arrow-digest": "arrow_digest.cli", "kiln-arrow": "kiln_arrow.cli"}


class _Left(BaseException):
    """The command left with a status."""

    def __init__(self, status: int) -> None:
        self.status = status


def _leave(status: int) -> None:
    raise _Left(status)


@dataclass(frozen=True)
class Result:
    """What a command did: its status, None where something was raised instead, and what it wrote."""

    status: int | None
    stdout: bytes
    stderr: str

    @property
    def fingerprint(self) -> int:
        """Equal for equal answers."""
        return zlib.crc32(f"{self.status}".encode() + self.stdout)


class Capture:
    """Runs commands with their output, that of C++ included, in files in memory."""

    def __init__(self) -> None:
        self._out, self._err = os.memfd_create("stdout"), os.memfd_create("stderr")
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115  # of the process, to its end
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "wb", closefd=False), write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "wb", closefd=False), write_through=True, errors="backslashreplace")
        os._exit = _leave  # type: ignore[assignment]  # how arrow-digest leaves

    def run(self, program: str, arguments: list[str]) -> Result:
        for number, file in ((1, self._out), (2, self._err)):
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            os.dup2(file, number)
        sys.argv = [program, *arguments]
        raised = ""
        status: Any = None
        try:
            importlib.import_module(_ENTRY_POINTS[program]).main()
        except _Left as left:
            status = left.status
        except SystemExit as left:
            status = left.code
        except BaseException as error:
            raised = f"raised {type(error).__qualname__}: {error}\n"
        stdout = os.pread(self._out, 1 << 24, 0)
        stderr = os.pread(self._err, 1 << 24, 0).decode(errors="backslashreplace")
        return Result(status, stdout, stderr + raised)


def complaint(command: Command, case: Case, result: Result) -> str:
    """What is wrong with how a command answered; nothing for nothing."""
    lines = result.stderr.splitlines()
    if result.status not in (0, 1, 2):
        return f"exit status {result.status}: {lines[-1:]}"
    untidy = [line for line in lines if not line.startswith(f"{command.program}: ")]
    if untidy:
        return f"untidy: {untidy[0][:200]}"
    if result.status == 0 and lines and command.name != "manifest":
        return f"success with a complaint: {lines[0][:200]}"
    says_in_results = command.name in ("verify", "check") and result.stdout
    if result.status == 2 and len(lines) != 1 and not (says_in_results and not lines) and command.name != "inspect":
        return f"a failure in {len(lines)} lines"
    if result.status == 1 and not lines and not result.stdout:
        return "status 1 without a word"
    return _refusal(command, case, result) or _bad_output(command, case, result)


def _refusal(command: Command, case: Case, result: Result) -> str:
    """What a command says of a file as it was made that it should take; nothing for nothing."""
    form, has_records = case.seed.format, bool(case.seed.logical)
    is_taken = {
        **dict.fromkeys(("hash", "explain", "diff"), has_records),
        **dict.fromkeys(("inspect", "validate"), form == "Kiln columns"),
        "manifest": form != "manifests",  # of the project's own there is nothing to record
        "export": False,  # of what has one column of tensors; others are refused
        "import": form == "tensor files",
    }
    if case.index >= 0 or result.status == 0 or not is_taken.get(command.name, True):
        return ""
    return f"a sound file is refused: {result.status} {result.stdout[:100]!r} {result.stderr[:200]}"


def _bad_output(command: Command, case: Case, result: Result) -> str:
    if command.name == "manifest" and result.status != 0 and result.stdout:
        return "a manifest of what failed"
    is_json = "--json" in command.arguments(case) or command.name == "manifest"
    if is_json and result.stdout:
        parts = [result.stdout] if command.name == "manifest" else result.stdout.splitlines()
        try:
            for part in parts:
                json.loads(part.decode("utf-8"))
        except ValueError as error:
            return f"no JSON: {error}"
    is_hash = command.name.startswith("hash") and not is_json
    if is_hash and result.stdout and not re.fullmatch(rb"f[0-9a-f]+  [^\n]+\n", result.stdout):
        return "no line with a hash"
    if command.name.startswith("hash") and bool(result.stdout) != (result.status == 0):
        return "a hash of what failed, or none of what did not"
    return ""


def contradiction(case: Case, results: dict[str, Result]) -> str:
    """What two commands say of one file and cannot both be true; nothing for nothing."""
    hashed, verified, compared = (results[name].status for name in ("hash", "verify", "diff"))
    if not case.seed.logical:
        return ""
    is_equal = case.seed.logical.encode() in results["hash"].stdout
    if is_equal and verified != 0:
        return "the hash is as expected, and verify does not say so"
    if hashed == 2 and verified == 0:
        return "there is no hash, and verify says that it is as expected"
    if hashed == 2 and compared != 2:
        return "there is no hash, and diff compares"
    if compared == 0 and not is_equal:
        return "diff finds no difference, and hash does"
    return ""


def says_broken(path: str) -> str:
    """Why pyarrow does not read a file to its end or finds its data invalid; nothing for nothing."""
    try:
        with Path(path).open("rb") as file:
            magic = file.read(6)
        if magic[:4] == b"PAR1":
            table = pq.ParquetFile(path, page_checksum_verification=True).read()
        elif magic[:4] == b"FEA1":
            table = pyarrow.feather.read_table(path)
        elif magic == b"ARROW1":
            table = pa.ipc.open_file(path).read_all()
        else:
            table = pa.ipc.open_stream(Path(path).read_bytes()).read_all()
        table.validate(full=True)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        return "" if _NOT_ASKED_FOR.search(str(error)) else f"{type(error).__name__}: {error}"[:300]
    return ""


# After the commands: whether they agree, and what pyarrow says where there is a hash.
AGREEMENT, ORACLE = "agreement", "pyarrow itself"
# What one process does. The two programs are kept apart, because the types that kiln_arrow registers change what
# pyarrow reads for the other.
STEPS = {
    "native": (*(one.name for one in COMMANDS if one.program == "arrow-digest"), AGREEMENT, ORACLE),
    "portable": ("hash", "diff", "explain"),  # the other commands take the same bytes from the kernels
    "kiln-arrow": tuple(one.name for one in COMMANDS if one.program == "kiln-arrow"),
}
_BY_NAME = {command.name: command for command in COMMANDS}


class Runs:
    """The steps of one case after the other."""

    def __init__(self, case: Case, capture: Capture) -> None:
        self._case = case
        self._capture = capture
        self._results: dict[str, Result] = {}

    def step(self, name: str) -> tuple[str, int, str]:
        """The outcome of a step for the table, its fingerprint, and what is wrong with it."""
        if name == AGREEMENT:
            # Where a process died half-way, the next one does not know the results before that.
            is_known = {"hash", "verify", "diff"} <= self._results.keys()
            return "asked" if is_known else "not asked", 0, contradiction(self._case, self._results) if is_known else ""
        if name == ORACLE:
            if "hash" not in self._results or self._results["hash"].status != 0:
                return "not asked", 0, ""
            reason = says_broken(self._case.path)
            return ("refuses", 0, f"there is a hash, and pyarrow says {reason}") if reason else ("reads", 0, "")
        command = _BY_NAME[name]
        before = peak()
        result = self._capture.run(command.program, [name.split()[0], *command.arguments(self._case)])
        if command.program == "kiln-arrow":
            self._clean()
        wrong = complaint(command, self._case, result)
        if peak() > max(MOST_BYTES, before):
            wrong = wrong or f"{peak() >> 20} MiB of memory"
        self._results[name] = result
        return str(result.status), result.fingerprint, wrong

    def _clean(self) -> None:
        shutil.rmtree(self._case.folder / "out", ignore_errors=True)
        (self._case.folder / "out.parquet").unlink(missing_ok=True)


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
