"""How a process ends that has let pyarrow call Python.

pyarrow reads with threads of its own, and some of them call Python: to read from a file object, to let go of the last
reference to what was read, to ask a type that is defined in Python for its name. A call needs the interpreter. A thread
that asks for it while the interpreter shuts down is ended by Python on the spot, in the middle of C++, and then C++
aborts the whole process, or another thread waits for the ended one for ever. Such threads may still be at work when a
program has come to its last line: a scan that nobody waits for any more goes on, as what follows the head of a dataset
does, and a thread may let go of a file a little after the reader has returned. Arrow neither tells when its threads are
idle nor lets anybody wait for them. That they use no processor does tell.

There is one cure, in two forms. A process of a user waits at its end, while the interpreter is whole, until no other
thread of it runs: `wait_at_exit`. A command has nothing to wait for once its results are written, and ends without
shutting the interpreter down: `leave`.

Measured with pyarrow 26.0.1 on two busy processors, on processes that end after the head of a dataset: with the wait
all of 200 ended with status 0; without it one of 20 still waited after a minute. `make clean-exits` measures it again.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

__all__ = ["leave", "wait_at_exit"]

# How often and how long Arrow's threads have to be seen idle. One look is not enough: a thread that waits for the disk
# or the interpreter uses no processor either. What is read ahead is bounded, and two seconds bound what that may take.
_LOOKS, _LOOK_SECONDS, _LONGEST_WAIT_SECONDS = 3, 0.01, 2.0

_ARROW_CALLS_PYTHON = threading.Event()


def wait_at_exit() -> None:
    """Have this process wait at its end for Arrow's threads; call it when pyarrow is given what it calls back.

    It may be called from any thread, those of Arrow among them, and any number of times.
    """
    _ARROW_CALLS_PYTHON.set()


def leave(status: int) -> NoReturn:
    """End the process at once with what it has written.

    After an interrupt, Python would wait for threads that are at work on large files. Nothing of theirs is wanted any
    more.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # none, or closed
            stream.flush()
    os._exit(status)


@atexit.register
def _wait_for_arrows_threads() -> None:
    if not _ARROW_CALLS_PYTHON.is_set():
        return
    end = time.monotonic() + _LONGEST_WAIT_SECONDS
    idle = 0
    while idle < _LOOKS and time.monotonic() < end:
        before = time.process_time()
        time.sleep(_LOOK_SECONDS)  # without the interpreter's lock, so that whoever waits for it gets it
        is_busy = time.process_time() - before > _LOOK_SECONDS / 10 or _another_thread_runs()
        idle = 0 if is_busy else idle + 1


def _another_thread_runs() -> bool:
    """Return whether another thread of this process runs, waits for a processor or for a disk, where Linux tells."""
    own = str(threading.get_native_id())
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        return False
    for task in tasks.iterdir():
        try:
            state = (task / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:  # the thread has just ended
            continue
        if task.name != own and state in (b"R", b"D"):
            return True
    return False
