"""The examples of a page, run from its top to its end in the current folder.

Python blocks share their names. A block has to print what the `text` block right after it shows, or nothing. Of a
console block every line after `$ ` is run by bash, goes on in lines that start with `> `, and has to print what follows
it, errors included. It has to succeed, unless the next line is `echo $?`.

Run as a program it needs neither pytest nor the other modules here: warnings and threads of an example stay in a
process of their own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = {
    "arrow-digest": '-c "from arrow_digest.cli import main; main()"',
    "kiln-arrow": '-c "from kiln_arrow.cli import main; main()"',
    "python": "",
}
ASKS_FOR_STATUS = "echo $?"


@dataclass
class Block:
    """An example: its language, its text, its first line, and what the page says it prints."""

    language: str
    body: str
    line: int
    printed: str = ""


def blocks(text):
    """The examples of a page, in order; the sessions of doctest are run by doctest."""
    found = []
    end = 0
    for match in BLOCK.finditer(text):
        language, body = match["language"], match["body"]
        if language == "text" and found and found[-1].language == "python" and not text[end : match.start()].strip():
            found[-1].printed = body
        elif language in ("python", "console") and not body.startswith(">>> "):
            found.append(Block(language, body, text.count("\n", 0, match.start()) + 2))
            end = match.end()
    return found


def run_python(block, page, names):
    """Run a block; return what it prints."""
    code = compile("\n" * (block.line - 1) + block.body, page, "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)
    return printed.getvalue()


def run_console(block, folder):
    """Run a block's commands in one shell; return each command with its output and its status."""
    examples = re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]
    commands = []
    for example in examples:
        lines = example.splitlines()
        count = next((i for i, line in enumerate(lines[1:], 1) if not line.startswith("> ")), len(lines))
        commands.append("\n".join([lines[0], *(line[2:] for line in lines[1:count])]))
    # The status of a command is set again, so that the next command can print it with `echo $?`.
    after = "status=$?; printf '\\1%d\\2' $status; (exit $status)"
    script = "\n".join(["exec 2>&1", *(f"{command}\n{after}" for command in commands)])
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    run = ["bash", "-c", script]
    result = subprocess.run(run, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, check=False)
    parts = re.findall(r"(.*?)\1(\d+)\2".replace(r"\1", "\1").replace(r"\2", "\2"), result.stdout.decode(), re.DOTALL)
    assert len(parts) == len(commands), result.stdout.decode()
    return [(command, output, int(status)) for command, (output, status) in zip(commands, parts, strict=True)]


def check_console(block, folder):
    """Return what is wrong with what a block shows, if anything."""
    run = run_console(block, folder)
    said = "".join(f"$ {command}\n".replace("\n", "\n> ")[:-2] + output for command, output, _ in run)
    if said != block.body:
        return f"shown:\n{block.body}\nprinted:\n{said}"
    for number, (command, _, status) in enumerate(run):
        asked = number + 1 < len(run) and run[number + 1][0] == ASKS_FOR_STATUS
        if status and not asked:
            return f"{command}: status {status}"
    return None


def main(page, lines=None):
    """Run a page; return what is wrong with it, if anything.

    Args:
        page: Its path.
        lines: How commands are run, by name, where not as in `COMMANDS`.
    """
    names = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in COMMANDS.items():
            script = Path(folder, name)
            line = (lines or {}).get(name, f'"{sys.executable}" {arguments}')
            script.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
            script.chmod(0o755)
        for block in blocks(Path(page).read_text(encoding="utf-8")):
            wrong = None
            if block.language == "console":
                wrong = check_console(block, folder)
            elif (printed := run_python(block, page, names)) != block.printed:
                wrong = f"shown:\n{block.printed}\nprinted:\n{printed}"
            if wrong:
                return f"{page}:{block.line}: {wrong}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else None))
