"""Work done in a child process under limits, so that a crash, a hang or a flood of memory is seen and survived.

Time is limited as time of the processor, because that does not depend on what else the machine does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from helpers.command import LIMIT_SECONDS

ROOT = Path(__file__).parent.parent

_PRELUDE = """
import json, resource, sys
sys.path[:0] = json.loads(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[3]),) * 2)
import numpy, pyarrow, pyarrow.parquet, pyarrow.feather, arrow_digest

def limit(extra):
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def outcome(work, *args):
    try:
        return {"hash": str(work(*args))}
    except arrow_digest.ArrowDigestError as error:
        fields = {name: getattr(error, name, None) for name in ("rule", "path", "slot", "source")}
        return {"error": type(error).__name__, "message": str(error), **fields}
    except BaseException as error:
        return {"error": "untyped " + type(error).__name__, "message": str(error)}
"""


def _command(code: str, argument: Any, seconds: int) -> list[str]:
    paths = [path for path in sys.path if path]
    return [sys.executable, "-c", _PRELUDE + code, json.dumps(paths), json.dumps(argument), str(seconds)]


# pyarrow's other allocators reserve address space before they need it, and a limit on address space would count that.
def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", **(more or {})}


def run(code: str, argument: Any = None, *, seconds: int = 60, environment: Mapping[str, str] | None = None) -> Any:
    """What the code leaves in `result`, given `argument`. It has `limit(bytes)`, `peak()` and `outcome(work, …)`."""
    whole = f"argument = json.loads(sys.argv[2])\n{code}\nprint(json.dumps(result))\n"
    done = subprocess.run(
        _command(whole, argument, seconds),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
        env=_environment(environment),
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout)


_EACH = """
if json.loads(sys.argv[2])["memory"]:  # not where a sanitizer has its own memory
    limit(json.loads(sys.argv[2])["memory"])
def work(item):
{body}
for item in json.loads(sys.argv[2])["items"]:
    print(json.dumps(outcome(work, item)), flush=True)
"""


def each(
    items: Sequence[Any],
    body: str,
    *,
    memory: int | None = 3 << 29,
    seconds: int = 60,
    environment: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """What `body`, the inside of a function of `item`, gives for each of the items, in as few processes as it can.

    An item at which the process dies, or uses up its `seconds` on the processor, gets `{"error": "crash"}` with the
    reason.
    """
    outcomes: list[dict[str, Any]] = []
    code = _EACH.format(body="\n".join("    " + line for line in body.strip().splitlines()))
    while len(outcomes) < len(items):
        left = list(items[len(outcomes) :])
        command = _command(code, {"memory": memory, "items": left}, seconds)
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=LIMIT_SECONDS,
                check=False,
                env=_environment(environment),
            )
            output, reason = done.stdout, f"exit status {done.returncode}: {done.stderr[-500:]}"
        except subprocess.TimeoutExpired as late:
            output, reason = (late.stdout or b"").decode(), f"more than {LIMIT_SECONDS} seconds"
        found = [json.loads(line) for line in output.splitlines()]
        outcomes += found
        if len(found) < len(left):
            outcomes.append({"error": "crash", "message": reason})
    return outcomes
