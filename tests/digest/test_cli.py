"""The arrow-digest command, run as a process of its own."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import pty
import signal
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest

import arrow_digest
from arrow_digest import Multihash, RecordDigest, hash_file, logical_hash, physical_hash
from helpers.command import (
    COMMAND,
    IS_INSTALLED,
    LIMIT_SECONDS,
    arrow_digest_command,
    environment,
    interruptible_command,
    run_python,
    shell,
)
from helpers.files import FORMATS, ipc_stream, parquet, sample_table

TABLE = sample_table()
LOGICAL = str(logical_hash(TABLE)).encode()
EMPTY = hashlib.sha3_256(b"").hexdigest().encode()

# Names that a shell, a terminal or a list of sums could stumble over, as sha256sum writes them.
ODD_NAMES = {
    b"plain.parquet": b"plain.parquet",
    b"two  spaces ": b"two  spaces ",
    b"-dash": b"-dash",
    b"--physical": b"--physical",
    b"#hash": b"#hash",
    b"back\\slash": b"back\\\\slash",
    b"new\nline": b"new\\nline",
    b"back\\and\nnew": b"back\\\\and\\nnew",
    b"tab\tbell\a": b"tab\tbell\a",
    b"\x1b[31mred": b"\x1b[31mred",
    b"\xff\xfe\x80": b"\xff\xfe\x80",
    "\u00fcml\u00e4ut \u65e5\u672c \u202e".encode(): "\u00fcml\u00e4ut \u65e5\u672c \u202e".encode(),
}


@pytest.fixture
def folder(tmp_path):
    """A folder with one good file of every format, and files of many kinds that are not."""
    for form, content in FORMATS.items():
        (tmp_path / form).write_bytes(content(TABLE))
    return tmp_path


# --- What is printed --------------------------------------------------------------------------------------------------


def test_every_format_is_hashed_to_the_same_line_as_sha256sum_prints_it(folder):
    result = arrow_digest_command("hash", *FORMATS, cwd=folder)
    assert result.stdout.splitlines() == [LOGICAL + b"  " + name.encode() for name in FORMATS]
    assert result.stdout.endswith(b"\n")
    assert (result.stderr, result.returncode) == (b"", 0)


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C.UTF-8"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "utf-16"},
    ],
)
def test_odd_names_are_printed_as_sha256sum_prints_them(env, tmp_path):
    for name in ODD_NAMES:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    arguments = ["--physical", "--function", "sha2-256", "--", *map(os.fsdecode, ODD_NAMES)]
    result = arrow_digest_command("hash", *arguments, cwd=tmp_path, env=env)
    assert (result.stderr, result.returncode) == (b"", 0)
    lines = []
    for name, written in ODD_NAMES.items():
        mark = b"" if written == name else b"\\"
        lines.append(mark + b"f1220" + hashlib.sha256(name).hexdigest().encode() + b"  " + written + b"\n")
    assert result.stdout == b"".join(lines)
    theirs = subprocess.run(["sha256sum", "--", *ODD_NAMES], cwd=tmp_path, capture_output=True, check=True).stdout
    assert result.stdout.replace(b"f1220", b"") == theirs


def test_a_carriage_return_in_a_name_is_escaped(tmp_path):
    (tmp_path / "car\rriage").write_bytes(b"")
    result = arrow_digest_command("hash", "--physical", "car\rriage", cwd=tmp_path)
    assert result.stdout == b"\\f1620" + EMPTY + b"  car\\rriage\n"


def test_json_gives_any_name_back(tmp_path):
    for name in ODD_NAMES:
        (tmp_path / os.fsdecode(name)).write_bytes(name)
    result = arrow_digest_command("hash", "--physical", "--json", "--", *map(os.fsdecode, ODD_NAMES), cwd=tmp_path)
    found = [json.loads(line.decode("utf-8")) for line in result.stdout.splitlines()]
    # What is no UTF-8 is beside its nearest text, byte by byte.
    assert [bytes.fromhex(line.get("path_bytes", line["path"].encode().hex())) for line in found] == list(ODD_NAMES)
    assert {Multihash.parse(line["physical"]).digest for line in found} == {
        hashlib.sha3_256(name).digest() for name in ODD_NAMES
    }


def test_physical_hashes_are_of_the_bytes_of_anything(folder):
    (folder / "empty").write_bytes(b"")
    (folder / "junk").write_bytes(b"\0junk")
    names = ["empty", "junk", "parquet", "ipc-stream"]
    result = arrow_digest_command("hash", "--physical", *names, cwd=folder)
    assert result.stdout.decode() == "".join(f"{physical_hash(folder / name)}  {name}\n" for name in names)
    assert (result.stderr, result.returncode) == (b"", 0)


def test_both_hashes_are_two_lines_or_one_object(folder):
    expected = hash_file(folder / "parquet")
    result = arrow_digest_command("hash", "--both", "parquet", cwd=folder)
    assert result.stdout.decode() == f"{expected.physical}  parquet\n{expected.logical}  parquet\n"
    result = arrow_digest_command("hash", "--both", "--json", "parquet", cwd=folder)
    assert json.loads(result.stdout) == {
        "path": "parquet",
        "byte_length": (folder / "parquet").stat().st_size,
        "row_count": 40,
        "physical": str(expected.physical),
        "logical": str(expected.logical),
    }


@pytest.mark.parametrize("function", ["sha3-256", "sha2-256", "blake3"])
def test_the_function_is_named_by_the_hash(function, folder):
    result = arrow_digest_command("hash", "--both", "--function", function, "parquet", cwd=folder)
    physical, logical = (Multihash.parse(line.split()[0].decode()) for line in result.stdout.splitlines())
    assert physical == physical_hash(folder / "parquet", function=function)
    assert logical == logical_hash(TABLE, function=function)
    assert (physical.name, logical.name) == (function, f"arrow0-{function}")


@pytest.mark.parametrize("base", ["base58btc", "base64urlpad"])
def test_the_base_is_what_was_asked_for(base, folder):
    result = arrow_digest_command("hash", "--base", base, "parquet", cwd=folder)
    assert result.stdout.decode() == f"{logical_hash(TABLE).encode(base)}  parquet\n"


def test_names_after_columns_are_told_that_it_is_a_switch(folder):
    result = arrow_digest_command("hash", "--columns", "number,text", "parquet", cwd=folder)
    assert result.returncode == 2
    assert b"number,text: no such file; --columns takes no names" in result.stderr
    assert b"--columns" not in arrow_digest_command("hash", "number,text", cwd=folder).stderr


def test_columns_say_what_each_leaf_adds(folder):
    digest = RecordDigest(TABLE.schema)
    digest.update(TABLE)
    result = arrow_digest_command("hash", "--columns", "parquet", cwd=folder)
    first, *lines = result.stdout.decode().splitlines()
    assert first == f"{LOGICAL.decode()}  parquet"
    assert lines == [
        f"# {column.digest.hex()}  {column.null_count} null  {column.path[0]}  {column.data_type}"
        for column in digest.columns()
    ]
    result = arrow_digest_command("hash", "--columns", "--json", "--threads", "1", "parquet", cwd=folder)
    assert json.loads(result.stdout)["columns"] == [
        {
            "path": list(column.path),
            "type": str(column.data_type),
            "null_count": column.null_count,
            "digest": column.digest.hex(),
        }
        for column in digest.columns()
    ]


def test_nothing_of_a_column_name_steers_a_terminal(tmp_path):
    names = ["\x1b[2J", "new\nline", "\x9b31m", "\u202e", "", "a.b", "\r"]
    good = pa.table([pa.array([1], pa.timestamp("s", "\x1b[1m"))] * len(names), names=names)
    bad = pa.table({"\x1b]0;title\a\n": pa.array([1], pa.duration("s"))})
    (tmp_path / "good").write_bytes(ipc_stream(good))
    (tmp_path / "bad\x1b[31m\n").write_bytes(ipc_stream(bad))
    result = arrow_digest_command("hash", "--columns", "good", "bad\x1b[31m\n", cwd=tmp_path)
    assert len(result.stdout.splitlines()) == 1 + len(names)
    assert len(result.stderr.splitlines()) == 1
    assert b"duration" in result.stderr
    for text in (result.stdout.decode(), result.stderr.decode()):
        assert all(c.isprintable() for line in text.split("\n") for c in line)
    assert result.returncode == 2


# --- Bad files among good ones ----------------------------------------------------------------------------------------


def test_bad_files_are_reported_and_the_rest_is_hashed(folder):
    (folder / "folder.parquet").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    (folder / "empty").write_bytes(b"")
    (folder / "four").write_bytes(b"PAR1")
    (folder / "text.csv").write_bytes(b"a,b\n1,2\n")
    (folder / "cut.parquet").write_bytes((folder / "parquet").read_bytes()[:-1])
    (folder / "cut.arrows").write_bytes((folder / "ipc-stream").read_bytes()[:-8])
    (folder / "more.arrows").write_bytes((folder / "ipc-stream").read_bytes() + b"\0")
    (folder / "closed.parquet").write_bytes(b"PARE" + bytes(20) + b"PARE")
    (folder / "map.arrows").write_bytes(ipc_stream(pa.table({"m": pa.array([], pa.map_(pa.int8(), pa.int8()))})))
    said = {
        "missing": "no such file",
        "folder.parquet": "is a directory",
        "dangling": "no such file",
        "empty": "empty",
        "four": "broken Parquet",
        "text.csv": "tried Parquet, Arrow IPC file, Arrow IPC stream, Feather",
        "cut.parquet": "cut short",
        "cut.arrows": "cut short",
        "more.arrows": "1 bytes after the end of the stream",
        "closed.parquet": "encrypted Parquet, and no key",
        "map.arrows": "column m: type map<int8, int8> has no arrow0 encoding",
    }
    for options in ([], ["--both"]):
        paths = ["parquet", *said, "ipc-file"]
        result = arrow_digest_command("hash", *options, *paths, cwd=folder)
        assert result.returncode == 2
        assert result.stdout.count(LOGICAL) == 2
        assert len(result.stdout.splitlines()) == (4 if options == ["--both"] else 2)
        lines = result.stderr.decode().splitlines()
        assert len(lines) == len(said)
        for line, (name, message) in zip(lines, said.items(), strict=True):
            assert line.startswith(f"arrow-digest: {name}: ")
            assert message in line
    # Bytes are bytes: all that can be opened has a physical hash.
    result = arrow_digest_command("hash", "--physical", *said, cwd=folder)
    assert len(result.stdout.splitlines()) == len(said) - 3
    assert len(result.stderr.splitlines()) == 3
    assert result.returncode == 2


AS_NOBODY = """
import os, shutil, sys
import numpy.ma
import pyarrow.compute
from arrow_digest.cli import main
# All modules are there by now: whoever we are to be may not read the interpreter's files.
# What is imported when the first file is hashed, by some versions of pyarrow, may lie where nobody else may read.
import arrow_digest
arrow_digest.hash_file("parquet")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.argv[0] = "arrow-digest"
main()
"""


def test_what_may_not_be_read_is_reported(folder):
    (folder / "locked").write_bytes((folder / "parquet").read_bytes())
    (folder / "locked").chmod(0)
    (folder / "room").mkdir()
    (folder / "room" / "file").write_bytes(b"")
    (folder / "room").chmod(0)
    folder.chmod(0o755)
    try:
        result = run_python(AS_NOBODY, "hash", "locked", "room", "room/file", "parquet", cwd=folder)
    finally:
        (folder / "room").chmod(0o755)
    assert result.stdout == LOGICAL + b"  parquet\n"
    assert result.stderr.decode().splitlines() == [
        f"arrow-digest: {name}: permission denied" for name in ("locked", "room", "room/file")
    ]
    assert result.returncode == 2


ABORTING = """
import atexit, os
from arrow_digest.cli import main
atexit.register(os.abort)
main()
"""


def test_what_happens_while_python_ends_has_no_say_in_the_status(folder):
    assert run_python(ABORTING, "hash", "parquet", cwd=folder).returncode == 0
    assert run_python(ABORTING, "hash", "missing", cwd=folder).returncode == 2


LETTING_GO = """
import atexit, sys, threading
ending, gone = threading.Event(), threading.Event()
atexit.register(lambda: print(gone.is_set()))
import arrow_digest
arrow_digest.logical_hash(sys.argv[1])
threading.Thread(target=lambda: ending.wait() and gone.set(), daemon=True).start()
atexit.register(ending.set)
"""


def test_a_process_that_read_a_file_lets_threads_have_python_before_it_ends(folder):
    assert run_python(LETTING_GO, "parquet", cwd=folder).stdout == b"True\n"


SOON = """
import sys
from _arrow_io import opening
from arrow_digest.cli import main
opening._PIPE_PATIENCE = 0.2
sys.argv[0] = "arrow-digest"
main()
"""


def test_a_pipe_that_nobody_writes_to_is_reported_and_the_rest_is_hashed(folder):
    os.mkfifo(folder / "fifo")
    for options in ([], ["--physical"]):
        result = run_python(SOON, "hash", *options, "fifo", "parquet", cwd=folder)
        assert len(result.stdout.splitlines()) == 1
        assert result.stderr.startswith(b"arrow-digest: fifo: a pipe that nobody opened for writing")
        assert len(result.stderr.splitlines()) == 1
        assert result.returncode == 2


@pytest.mark.parametrize("path", ["data/bad", "data/encrypted"])
def test_every_broken_or_encrypted_file_is_refused_in_a_line(path, request):
    names = sorted((request.config.rootpath / "tests" / path).iterdir())
    fine = [name for name in names if name.name == "ARROW-GH-43605.parquet"]  # odd, but sound
    result = arrow_digest_command("hash", *names)
    assert len(names) > len(fine)
    assert len(result.stdout.splitlines()) == len(fine)
    lines = result.stderr.decode().splitlines()
    assert [line.split(": ")[1] for line in lines] == [str(name) for name in names if name not in fine]
    if path == "data/encrypted":
        assert all("encrypted" in line and "no key" in line for line in lines)
    assert result.returncode == 2


# --- Standard input and pipes -----------------------------------------------------------------------------------------


def test_standard_input_is_read_as_a_stream(folder):
    for form in ("ipc-stream", "ipc-stream-old"):
        result = arrow_digest_command("hash", "-", input=(folder / form).read_bytes())
        assert (result.stdout, result.stderr, result.returncode) == (LOGICAL + b"  -\n", b"", 0)


def test_any_way_of_piping_gives_the_hash_of_the_file_or_a_refusal(folder):
    result = shell(
        """
        cat ipc-stream | arrow-digest hash /dev/stdin
        arrow-digest hash <(cat ipc-stream)
        arrow-digest hash - < parquet
        arrow-digest hash /dev/stdin < parquet
        { sleep 0.3; cat ipc-stream; } | arrow-digest hash -
        """,
        cwd=folder,
    )
    assert [line.split()[0] for line in result.stdout.splitlines()] == [LOGICAL] * 5
    assert (result.stderr, result.returncode) == (b"", 0)
    result = shell('cat parquet | arrow-digest hash -; echo "$?"; arrow-digest hash <(cat ipc-file)', cwd=folder)
    assert result.stdout == b"2\n"
    assert result.stderr.startswith(b"arrow-digest: standard input: ")
    assert result.stderr.count(b"which a pipe does not allow") == 2
    assert result.returncode == 2


def test_a_physical_hash_of_a_pipe_is_that_of_its_bytes_even_of_none(folder):
    result = shell(
        """
        true | arrow-digest hash --physical -
        true | arrow-digest hash --physical /dev/stdin
        arrow-digest hash --physical <(true)
        arrow-digest hash --physical - < /dev/null
        cat parquet | arrow-digest hash --physical -
        """,
        cwd=folder,
    )
    expected = [b"f1620" + EMPTY] * 4 + [str(physical_hash(folder / "parquet")).encode()]
    assert [line.split()[0] for line in result.stdout.splitlines()] == expected
    assert (result.stderr, result.returncode) == (b"", 0)


def test_what_follows_a_stream_is_left_for_whoever_reads_next(folder):
    result = shell(
        "cat ipc-stream ipc-stream-old parquet | { arrow-digest hash -; arrow-digest hash -; cat; }", cwd=folder
    )
    assert result.stdout == (LOGICAL + b"  -\n") * 2 + (folder / "parquet").read_bytes()
    result = shell("cat ipc-stream ipc-stream-old | arrow-digest hash - -", cwd=folder)
    assert result.stdout == (LOGICAL + b"  -\n") * 2


def test_a_part_of_a_stream_is_never_hashed(folder):
    content = (folder / "ipc-stream").read_bytes()
    for part in (b"", content[:100], content[:-8]):
        result = arrow_digest_command("hash", "-", input=part)
        assert (result.stdout, result.returncode) == (b"", 2)
        assert result.stderr.startswith(b"arrow-digest: standard input: ")
        assert len(result.stderr.splitlines()) == 1


# --- Where output goes ------------------------------------------------------------------------------------------------


def test_a_reader_that_leaves_early_ends_the_command_without_a_word(folder):
    result = shell(
        'arrow-digest hash "$@" | head -1; echo "${PIPESTATUS[0]}"',
        *["parquet"] * 300,
        cwd=folder,
        env={"PYTHONUNBUFFERED": "1"},
    )
    assert result.stdout == LOGICAL + b"  parquet\n141\n"
    assert result.stderr == b""
    result = shell('arrow-digest --help | true; echo "${PIPESTATUS[0]}"', cwd=folder)
    assert result.stderr == b""


def test_output_that_cannot_be_written_is_an_error_in_a_line(folder):
    for redirect in (">/dev/full", ">&-"):
        result = shell(f"arrow-digest hash parquet {redirect}", cwd=folder)
        assert result.returncode == 2
        assert result.stderr.startswith(b"arrow-digest: ")
        assert len(result.stderr.splitlines()) == 1


def test_without_standard_error_the_status_still_says_it(folder):
    for redirect in ("2>&-", "2>/dev/full"):
        result = shell(f"arrow-digest hash parquet missing ipc-file {redirect}", cwd=folder)
        assert result.stdout == LOGICAL + b"  parquet\n" + LOGICAL + b"  ipc-file\n"
        assert result.returncode == 2
    assert shell("arrow-digest hash parquet missing <&- >&- 2>&-", cwd=folder).returncode == 2


def test_a_closed_standard_input_is_reported(folder):
    result = shell("arrow-digest hash - parquet <&-", cwd=folder)
    assert result.stdout == LOGICAL + b"  parquet\n"
    assert result.stderr == b"arrow-digest: standard input: it is closed\n"
    assert result.returncode == 2


def on_a_terminal(arguments, *, stdout_too, cwd):
    """Run the command with standard error, and perhaps standard output, on a terminal: what each was given."""
    ours, theirs = pty.openpty()
    stdout = theirs if stdout_too else subprocess.PIPE
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=theirs, cwd=cwd, env=environment()
    )
    os.close(theirs)
    shown = []

    def read():
        try:
            while data := os.read(ours, 1 << 16):
                shown.append(data)
        except OSError:  # Linux reports this when the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    output, _ = process.communicate(timeout=LIMIT_SECONDS)
    reader.join()
    os.close(ours)
    return output, b"".join(shown), process.returncode


def test_progress_is_shown_on_a_terminal_and_taken_away(tmp_path):
    table = pa.table({"a": np.random.default_rng(1).integers(0, 1 << 62, 1_000_000)})
    (tmp_path / "big\x1b[31m").write_bytes(parquet(table, use_dictionary=False))
    output, shown, status = on_a_terminal(["hash", "--both", "big\x1b[31m", "no"], stdout_too=False, cwd=tmp_path)
    assert [line.split(b"  ")[1] for line in output.splitlines()] == [b"big\x1b[31m"] * 2
    assert status == 2
    assert b" 50%" in shown
    assert b"100%" in shown
    assert b"\x1b[31m" not in shown
    bar, message = shown.rsplit(b"\r\x1b[K", 1)
    assert b"%" in bar
    assert message.strip() == b"arrow-digest: no: no such file"
    # The same without a terminal.
    result = arrow_digest_command("hash", "--both", "big\x1b[31m", cwd=tmp_path)
    assert result.stderr == b""
    assert result.stdout == output


def test_nothing_of_a_file_name_steers_a_terminal(tmp_path):
    name = "\x1b[31mred\r\t\u202e"
    (tmp_path / name).write_bytes(parquet(TABLE))
    _, shown, status = on_a_terminal(["hash", name, name + "\x1b"], stdout_too=True, cwd=tmp_path)
    text = shown.decode().replace("\r\x1b[K", "").replace("\r\n", "\n")
    assert all(c.isprintable() for line in text.split("\n") for c in line)
    assert "?[31mred\\r??" in text
    assert status == 2


# --- Wrong use --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing command"),
        (["nonsense"], "No such command"),
        (["hash"], "Missing argument"),
        (["hash", "--nonsense", "parquet"], "No such option"),
        (["hash", "--function", "sha3_256", "parquet"], "did you mean 'sha3-256'?"),
        (["hash", "--function", "md5", "parquet"], "sha2-256, sha3-256, blake3"),
        (["hash", "--base", "base36", "parquet"], "base58btc"),
        (["hash", "--threads", "0", "parquet"], "--threads"),
        (["hash", "--physical", "--columns", "parquet"], "--columns"),
        (["hash", "parquet", "--both", "-"], "--both"),
        (["hash", "--\x1b[31m", "parquet"], r"\x1b[31m"),
    ],
)
def test_wrong_use_is_status_2_and_prints_nothing_else(arguments, said, folder):
    result = arrow_digest_command(*arguments, cwd=folder)
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.startswith(b"Usage: arrow-digest")
    assert said in result.stderr.decode()
    assert b"\x1b" not in result.stderr
    assert b"Traceback" not in result.stderr


def test_help_says_what_there_is():
    result = arrow_digest_command("hash", "--help")
    for option in ("--physical", "--both", "--function", "--base", "--columns", "--json", "PATH"):
        assert option in result.stdout.decode()
    assert (result.stderr, result.returncode) == (b"", 0)
    result = arrow_digest_command("--help")
    assert b"Exit status" in result.stdout
    assert result.returncode == 0


def test_the_version_is_the_distributions(tmp_path):
    if IS_INSTALLED:
        version, env = importlib.metadata.version("kiln-arrow"), {}
    else:
        version = "1.2.3"
        (tmp_path / "kiln_arrow-1.2.3.dist-info").mkdir()
        metadata = f"Metadata-Version: 2.1\nName: kiln-arrow\nVersion: {version}\n"
        (tmp_path / "kiln_arrow-1.2.3.dist-info" / "METADATA").write_text(metadata)
        env = {"PYTHONPATH": os.pathsep.join([environment()["PYTHONPATH"], str(tmp_path)])}
    result = arrow_digest_command("--version", env=env)
    assert result.stdout.decode() == f"arrow-digest, version {version}\n"


def test_an_interrupt_ends_the_command_without_a_traceback(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    process = interruptible_command("hash", "fifo", cwd=tmp_path, stdout=subprocess.PIPE)
    # Opening waits for a reader: then the command is at work.
    with (tmp_path / "fifo").open("wb", buffering=0) as writer:
        writer.write(ipc_stream(TABLE)[:100])
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=LIMIT_SECONDS)
    assert stdout == b""
    assert stderr.strip() == b""
    assert process.returncode == 130


def test_the_command_is_that_of_the_package_under_test():
    code = "import arrow_digest; print(arrow_digest.__file__)"
    assert run_python(code).stdout.decode().strip() == arrow_digest.__file__
    assert sys.executable.encode() in run_python("import sys; print(sys.executable)").stdout
