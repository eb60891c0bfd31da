"""The commands as processes: the console scripts of an installed package, else the source.

Where a quick answer is wanted (`KILN_TEST_EXAMPLES=few`) most of them are copies of a process that is there already.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from functools import cache
from pathlib import Path

import arrow_digest
from helpers import warm
from helpers.examples import FEW

PACKAGE_PARENT = Path(arrow_digest.__file__).resolve().parents[1]
IS_INSTALLED = Path(sysconfig.get_path("purelib")).resolve() == PACKAGE_PARENT

if IS_INSTALLED:
    COMMAND = [str(Path(sys.executable).with_name("arrow-digest"))]
else:
    COMMAND = [sys.executable, "-c", "from arrow_digest.cli import main; main()"]

_TEMPORARY = tempfile.gettempdir()  # before a test says that it is elsewhere

LIMIT_SECONDS = 600
"""When a test gives up waiting for a process. Only one that never ends takes so long, however busy the machine is."""


def environment(**changes):
    """The environment of a child: this one, the package that these tests import, and `changes`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    # Tests of the installed package may be run from the source tree. Python must not import the tree instead then.
    source = {"PYTHONSAFEPATH": "1"} if IS_INSTALLED else {"PYTHONPATH": str(PACKAGE_PARENT)}
    return {**kept, **source, **changes}


@cache
def quick_command(program):
    """Return how a command is run soonest: with few examples as a copy of a process that has imported it, else anew.

    A warning is an error in kiln-arrow.
    """
    strict = ["-W", "error"] if program == "kiln-arrow" else []
    if not (FEW and hasattr(os, "fork")):
        code = "from kiln_arrow.cli import main; main()"
        return [sys.executable, *strict, "-c", code] if program == "kiln-arrow" else COMMAND
    folder = tempfile.TemporaryDirectory(dir=_TEMPORARY)
    path = str(Path(folder.name, program))
    server = subprocess.Popen(
        [sys.executable, *strict, warm.__file__, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert server.stdout.readline() == b"ready\n"
    owner = os.getpid()

    def end():
        if os.getpid() == owner:
            server.communicate()
            folder.cleanup()

    atexit.register(end)
    return [sys.executable, "-I", "-S", warm.__file__, path, program]


def arrow_digest_command(*arguments, env=None, **options):
    """Run the command to its end. Output is bytes; standard input is empty unless `input` or `stdin` says otherwise."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    # A copy has the encodings of the process that it is copied from, which the environment may be about to change.
    line = [*(COMMAND if env else quick_command("arrow-digest")), *map(os.fspath, arguments)]
    return subprocess.run(line, env=environment(**env or {}), timeout=LIMIT_SECONDS, check=False, **options)


def interruptible_command(*arguments, **options):
    """Start the command so that an interrupt reaches it.

    What a shell runs in the background ignores interrupts, and so would a command that is started there.
    """

    def heed_interrupts():
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    options.setdefault("stderr", subprocess.PIPE)
    line = [*COMMAND, *map(os.fspath, arguments)]
    return subprocess.Popen(line, env=environment(), preexec_fn=heed_interrupts, **options)


def wait_until_open(process, paths):
    """Wait until a process has one of the files open, so that its command is at work; fail if it ends before that."""
    wanted = {os.path.realpath(path) for path in paths}
    while process.poll() is None:
        for link in Path(f"/proc/{process.pid}/fd").glob("*"):
            try:
                if str(link.readlink()) in wanted:
                    return
            except OSError:  # closed by now
                continue
        time.sleep(0.001)
    raise AssertionError(f"ended with {process.returncode} before it opened any of {wanted}")


def shell(script, *arguments, env=None, **options):
    """Run a bash script in which `arrow-digest` runs the command and `"$@"` are the arguments."""
    count = len(COMMAND)
    wrapper = f'command=("${{@:1:{count}}}"); shift {count}; arrow-digest() {{ "${{command[@]}}" "$@"; }}\n'
    options.setdefault("stdin", subprocess.DEVNULL)
    line = ["bash", "-c", wrapper + script, "bash", *COMMAND, *map(os.fspath, arguments)]
    return subprocess.run(
        line, env=environment(**env or {}), timeout=LIMIT_SECONDS, capture_output=True, check=False, **options
    )


def run_python(code, *arguments, env=None, **options):
    """Run Python code in a child that imports the same package. Output is bytes."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("timeout", LIMIT_SECONDS)
    line = [sys.executable, "-c", code, *map(os.fspath, arguments)]
    return subprocess.run(line, env=environment(**env or {}), capture_output=True, check=False, **options)
