"""``mawl`` as a process of its own, forked from one that has imported it: a command without 0.3 s of imports.

A command is a real process with its own directory, environment, streams and exit status. Only its modules
were loaded before.  What must be loaded anew (a variable of Python or of the loader, a hidden module) and
what is watched while it runs wants ``Popen``.
"""

from __future__ import annotations

import array
import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NoReturn

STREAMS = ("stdout", "stderr")
PRELOADED = (
    *("bokeh.embed", "numpy", "pyarrow.parquet", "mawl.reports.html.report"),
    *("mawl.commands.local_run", "mawl.commands.campaign", "mawl.commands.cluster_run"),
)
"""What commands load when they need it, besides the modules of the verbs."""
_LONGEST_REQUEST = 2**20


class Warm:
    """The process that forks; it ends when it is closed, or when this process does."""

    def __init__(self) -> None:
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = here
        with there:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.wait()

    def run(
        self, arguments: Sequence[str], directory: Path, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """``mawl`` with these arguments; ``TimeoutExpired`` where it takes too long."""
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        outputs = [os.memfd_create(name) for name in STREAMS]
        try:
            with here, there:
                request = json.dumps([list(arguments), str(directory), dict(environment)]).encode()
                descriptors = array.array("i", [there.fileno(), *outputs])
                self._socket.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
                there.close()
                here.settimeout(timeout)
                pid = int(here.recv(64))
                try:
                    status = int(here.recv(64))
                except TimeoutError:
                    os.kill(pid, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(["mawl", *arguments], timeout) from None
            texts = [os.pread(output, os.fstat(output).st_size, 0).decode() for output in outputs]
        finally:
            for output in outputs:
                os.close(output)
        return subprocess.CompletedProcess(["mawl", *arguments], status, *texts)


@cache
def warm() -> Warm:
    """One for all tests of this process."""
    return Warm()


def needs_own_interpreter(environment: Mapping[str, str]) -> bool:
    """Whether a variable is one that Python or the loader reads at its start, other than it is here."""
    names = {name for name in {*environment, *os.environ} if name.startswith(("PYTHON", "LD_"))}
    return any(environment.get(name) != os.environ.get(name) for name in names)


def _serve(listener: socket.socket) -> None:
    """Fork a command for each request until the other end is closed."""
    from mawl.commands.verbs import VERBS, build_parser

    build_parser(VERBS)
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        request, ancillary, _, _ = listener.recvmsg(_LONGEST_REQUEST, socket.CMSG_SPACE(3 * 4))
        if not request:
            return
        descriptors = array.array("i", ancillary[0][2][: 3 * 4])
        if os.fork() == 0:
            listener.close()
            _attend(json.loads(request), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _reap(_: int, __: object) -> None:
    """Take the processes that have ended off the kernel's list: their CPU time counts as this one's."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _attend(request: tuple[list[str], str, dict[str, str]], answer: int, output: int, errors: int) -> None:
    """Fork the command, wait for its end and tell its status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(answer)
        _become(request, output, errors)
    with socket.socket(fileno=answer) as told:
        told.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        told.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: tuple[list[str], str, dict[str, str]], output: int, errors: int) -> NoReturn:
    """Be the command, which ends this process."""
    import mawl
    from mawl.commands.main import entry

    arguments, directory, environment = request
    for descriptor, target in ((output, 1), (errors, 2)):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [str(Path(mawl.__file__).with_name("__main__.py")), *arguments]
    entry()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
