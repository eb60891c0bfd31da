"""A command run in a copy of a process that has imported it already, which takes a tenth of the time of a new one.

Most of what a command takes is the import of pyarrow. A server imports the command's package once, and forks for every
call. A client stands for the command: it hands over its arguments, environment, folder and standard streams, and ends
as the copy ends. So the command has a process of its own, and whoever runs it sees no difference but the time.

Run as a program this file is the server, or where a command follows the socket, the client.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

_SIZE_BYTES = 8


def _received(connection):
    start, descriptors, _, _ = socket.recv_fds(connection, _SIZE_BYTES, 3)
    content = b""
    while len(content) < int.from_bytes(start, "little"):
        content += connection.recv(1 << 20)
    return json.loads(content), descriptors


def _client(path, program, arguments):
    folder = os.getcwd()  # noqa: PTH109 -- pathlib takes as long to import as all the rest
    call = {"program": program, "arguments": arguments, "folder": folder, "environment": dict(os.environ)}
    content = json.dumps(call).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [len(content).to_bytes(_SIZE_BYTES, "little")], [0, 1, 2])
        connection.sendall(content)
        for descriptor in (0, 1, 2):
            os.close(descriptor)  # else the other end of a pipe would not see that the command has closed it
        status = int(connection.recv(16))
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _become(call, descriptors):
    """Make this process what a new one with the client's arguments would be, with its streams as Python opens them."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.argv = [call["program"], *call["arguments"]]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        new = open(  # noqa: SIM115
            number,
            "r" if number == 0 else "w",
            buffering=1 if number == 2 or os.isatty(number) else -1,
            encoding=old.encoding,
            errors=old.errors,
            closefd=False,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _serve_one(connection, main):
    """Run the command in a process of its own, and tell the client how that ends."""
    call, descriptors = _received(connection)
    process = os.fork()
    if process == 0:
        connection.close()
        status = 1
        try:
            _become(call, descriptors)
            main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(status)
    for descriptor in descriptors:
        os.close(descriptor)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    connection.sendall(str(status).encode())


def _serve(path):
    """Serve until standard input ends, which it does when the process ends that started this one."""
    import select
    from importlib import import_module

    programs = {"arrow-digest": "arrow_digest.cli", "kiln-arrow": "kiln_arrow.cli"}
    program = os.path.basename(path)  # noqa: PTH119 -- nothing that a client does not need is imported above
    main = import_module(programs[program]).main
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while listener in select.select([listener, 0], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _serve_one(connection, main)
                os._exit(0)
            connection.close()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        _serve(sys.argv[1])
    else:
        _client(sys.argv[1], sys.argv[2], sys.argv[3:])
