"""The fuzz of the commands finds what it looks for: here commands do on purpose what they never may."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fuzz.cases import Seed
from fuzz.command_runs import Case, Result, contradiction, says_broken
from helpers.command import environment, run_python
from helpers.files import FORMATS, sample_table

TESTS = Path(__file__).parent
# The children import the harness too.
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(TESTS), environment().get("PYTHONPATH", "")])}

RUN = """
import sys
import fuzz.command_runs, fuzz.fuzz_commands
sys.path.insert(0, sys.argv[1])
fuzz.command_runs._ENTRY_POINTS = {"arrow-digest": "planted", "kiln-arrow": "planted"}
fuzz.fuzz_commands.CPU_SECONDS = 1
made_seeds = fuzz.fuzz_commands.made_seeds
fuzz.fuzz_commands.made_seeds = lambda shared: made_seeds(shared)[:1]
sys.argv = ["fuzz_commands.py", "--every", "1000000000", "--mutations", "0", "--workers", "2", "--keep", sys.argv[2]]
sys.exit(fuzz.fuzz_commands.main())
"""

PLANTED = """
import os, signal, sys

def main():
    program, command = os.path.basename(sys.argv[0]), " ".join(sys.argv[1:3])
    match sys.argv[1]:
        case "hash" if sys.argv[2] != "--physical" and os.environ["ARROW_DIGEST_KERNELS"] == "native":
            return answer('{"logical": "f00"}')
        case "hash":
            return answer('{"logical": "f01"}')
        case "verify":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "diff":
            while True:
                pass
        case "explain":
            raise ValueError("of ours")
        case "manifest":
            held = b"x" * (800 << 20)
            return answer("{}")
        case "check":
            print("Traceback (most recent call last):", file=sys.stderr)
            return os._exit(2)
        case "inspect":
            sys.exit(3)
        case "validate":
            print(f"{program}: one\\n{program}: two", file=sys.stderr)
            sys.exit(2)
        case "export":
            sys.exit(1)
        case "import":
            print(f"{program}: it went wrong", file=sys.stderr)
            sys.exit(0)

def answer(line):
    print(line)
    os._exit(0)
"""

FOUND = {
    "hash (portable)": "another answer than with native kernels",
    "verify": "ended by SIGSEGV",
    "diff": "ended by SIGPROF",
    "explain": "raised ValueError: of ours",
    "manifest": "MiB of memory",
    "check": "untidy: Traceback",
    "inspect": "exit status 3",
    "validate": "a failure in 2 lines",
    "export": "status 1 without a word",
    "import": "success with a complaint: kiln-arrow: it went wrong",
}


def test_what_a_command_may_never_do_is_found_and_the_other_commands_run_all_the_same(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED)
    done = run_python(RUN, tmp_path, tmp_path / "kept", env=ENVIRONMENT)
    assert done.returncode == 1, done.stderr.decode()
    lines = [json.loads(line) for line in (tmp_path / "kept" / "found.jsonl").read_text().splitlines()]
    found = {}
    for line in lines:
        if not line["file"].startswith("0-"):
            continue
        found[line["command"]] = line["found"]
        assert (tmp_path / "kept" / line["file"]).exists()
    for command, what in FOUND.items():
        assert what in found.get(command, ""), command


def test_a_case_depends_on_its_number_and_the_seed_alone():
    code = """
import sys, zlib
from pathlib import Path
from fuzz.cases import Plan, Seed
seeds = [Seed("lists", "0.txt", b"f00  a\\n", "", "", ""), Seed("tensor files", "1.npz", bytes(range(64)), "", "", "")]
plan = Plan(seeds, 7, 200, int(sys.argv[1]))
print(zlib.crc32(b"|".join(plan.case(index)[1] for index in plan.cases)))
"""
    answers = [run_python(code, seed, env=ENVIRONMENT).stdout for seed in ("1", "1", "2")]
    assert answers[0] == answers[1] != answers[2] != b""


def test_every_flip_changes_one_bit_and_no_two_are_the_same():
    code = """
from fuzz.cases import Plan, Seed
seeds = [Seed("lists", "0.txt", b"f00  a\\n", "", "", ""), Seed("manifests", "1.json", b"{}", "", "", "")]
plan = Plan(seeds, 1, 0, 1)
changed = [plan.case(index) for index in plan.cases if index >= 0]
assert len({content for _, content in changed}) == 8 * (7 + 2)
for seed, content in changed:
    pairs = zip(seed.content, content, strict=True)
    assert sum((a ^ b).bit_count() for a, b in pairs) == 1
"""
    done = run_python(code, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("form", FORMATS)
def test_a_sound_file_is_told_from_one_that_was_cut(form, tmp_path):
    content = FORMATS[form](sample_table())
    path = tmp_path / "file"
    path.write_bytes(content)
    assert says_broken(str(path)) == ""
    path.write_bytes(content[: len(content) // 2])
    assert says_broken(str(path)) != ""


@pytest.mark.parametrize(
    ("answers", "is_possible"),
    [
        ({"hash": 0, "verify": 0, "diff": 0}, True),
        ({"hash": 0, "verify": 0, "diff": 1}, True),  # of what a hash cannot tell
        ({"hash": 0, "verify": 1, "diff": 0}, False),
        ({"hash": 2, "verify": 2, "diff": 2}, True),
        ({"hash": 2, "verify": 1, "diff": 2}, True),  # the file is known to be another
        ({"hash": 2, "verify": 0, "diff": 2}, False),
        ({"hash": 2, "verify": 2, "diff": 0}, False),
        ({"hash": 2, "verify": 2, "diff": 1}, False),
    ],
)
def test_commands_that_contradict_each_other_are_told(answers, is_possible, tmp_path):
    case = Case(0, Seed("lists", "0", b"", "f00", "", ""), tmp_path, tmp_path)
    stdout = {"hash": b"f00  0\n"} if answers["hash"] == 0 else {}
    results = {name: Result(status, stdout.get(name, b""), "") for name, status in answers.items()}
    assert (contradiction(case, results) == "") is is_possible


def test_a_difference_that_diff_does_not_see_is_told(tmp_path):
    case = Case(0, Seed("lists", "0", b"", "f00", "", ""), tmp_path, tmp_path)
    results = {"hash": Result(0, b"f01  0\n", ""), "verify": Result(1, b"", ""), "diff": Result(0, b"", "")}
    assert contradiction(case, results) == "diff finds no difference, and hash does"
