"""What the launcher is given, the marks by which its processes are found, and the pipe to the runner."""

from __future__ import annotations

import os
import select

import msgspec

from mawl.measure.processes import kill_marked, marked_processes
from mawl.records.model.messages import Failed, FromLauncher, LaunchMode, decode_from_launcher, line

RUN_ID_VARIABLE = "MAWL_RUN_ID"
LAUNCHER_VARIABLE = "MAWL_LAUNCHER"
JOB_VARIABLE = "MAWL_JOB"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ONE_PASSIVE_THREAD = {
    **dict.fromkeys(THREAD_VARIABLES, "1"),
    "OMP_WAIT_POLICY": "passive",
    "OPENBLAS_THREAD_TIMEOUT": "4",  # its shortest: 2^4 looks for work, then sleep
}
"""Environment in which a library computes in one thread, and an idle thread of it sleeps."""
ARROW_POOL_VARIABLE = "ARROW_DEFAULT_MEMORY_POOL"
ARROW_POOLS = ("jemalloc", "system")
"""Arrow's memory pool in every program: the first that this Arrow has (docs/design/memory.md).

Arrow reads the variable when it makes its pool, so it is set before the interpreter starts.
"""


def arrow_pool() -> str:
    """The memory pool that programs shall have with the installed Arrow."""
    import pyarrow as pa  # here: launchers of commands read this module and stay small

    return next(pool for pool in ARROW_POOLS if pool in pa.supported_memory_backends())


EXECUTE = "mawl.programs.execute:execute"
"""What runs a job, as module:function: (assignment, report) -> exit status."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """The launcher's only argument, as JSON.

    ``reports`` is the descriptor of the pipe to the runner, ``name`` the value of
    ``MAWL_LAUNCHER``, by which a launcher knows its own strays from those of another one of the
    same run.
    """

    mode: LaunchMode
    run_id: str
    name: str
    reports: int
    runner: int
    """The process at whose death the launcher ends."""
    notices: int | None = None
    """Where people read what the runner says: one that is stopped (SIGSTOP, Ctrl-Z) cannot say so itself."""
    modules: list[str]
    cpus: list[int] | None
    cgroups: list[str]
    execute: str = EXECUTE
    stdio: list[int] | None = None
    """Descriptors that a job gets as its standard input, output and error instead of its log."""


def kill_run(run_id: str) -> int:
    """Kill all of this user's processes with the run's mark and what hangs below, until none is left.

    Returns how many were killed.  The calling process and its ancestors are spared.
    """
    return kill_marked(RUN_ID_VARIABLE, run_id)


def live_runs() -> dict[str, list[int]]:
    """Run ids that living processes of this user carry, and those processes."""
    return marked_processes(RUN_ID_VARIABLE)


PIPE_BUF = select.PIPE_BUF
_SHORTENED = 2000


class Reporter:
    """Writes each message with one ``write``, so that lines of different jobs never mix.

    A line that would be too long for that is replaced by a ``Failed``
    that says so.  A runner that is gone is no error here: the launcher's own end follows.
    """

    def __init__(self, descriptor: int, job: str) -> None:
        self._descriptor, self.job = descriptor, job

    def __call__(self, message: FromLauncher) -> None:
        text = line(message)
        if len(text) > PIPE_BUF and isinstance(message, Failed):
            text = line(msgspec.structs.replace(message, sentence=_shorten(message.sentence)))
        if len(text) > PIPE_BUF:
            kind = type(message).__name__
            sentence = f"the job's message {kind} of {len(text)} bytes is longer than a pipe carries at once"
            text = line(Failed(job=self.job, sentence=f"{sentence} ({PIPE_BUF} bytes); shorten its answer"))
        try:
            os.write(self._descriptor, text)
        except BrokenPipeError:
            return


def _shorten(sentence: str) -> str:
    """Both ends of a long sentence; in ASCII, because JSON may need six bytes for a character."""
    plain = sentence.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'")
    plain = "".join(character if character.isprintable() else " " for character in plain)
    return plain[: _SHORTENED // 2] + " ... " + plain[-_SHORTENED // 2 :]


_READ_BYTES = 1 << 16
_MOST_COMPLAINTS = 100


class Inbox:
    """The reading end of the pipe that a launcher and its jobs share."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = b""
        self._messages: list[FromLauncher] = []
        self.complaints: list[str] = []
        self.ended = False

    def take(self) -> list[FromLauncher]:
        messages, self._messages = self._messages, []
        return messages

    def drain(self) -> list[FromLauncher]:
        """Read what the pipe holds now, without waiting; the new messages (they stay to be taken)."""
        before = len(self._messages)
        while not self.ended:
            try:
                data = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                break
            self.ended = not data
            self._split(data)
        return self._messages[before:]

    def _split(self, data: bytes) -> None:
        *lines, self._pending = (self._pending + data).split(b"\n")
        for text in lines:
            try:
                self._messages.append(decode_from_launcher(text))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                self._complain(text)
        # No message is longer than a pipe takes at once: more is garbage that may never end.
        if self._pending and (self.ended or len(self._pending) > PIPE_BUF):
            self._complain(self._pending)
            self._pending = b""

    def _complain(self, text: bytes) -> None:
        if len(self.complaints) < _MOST_COMPLAINTS:
            start = text[:80].decode("ascii", "replace")
            self.complaints.append(
                f"{len(text)} bytes on the launcher's pipe are no message and were left out: {start!r}"
            )
