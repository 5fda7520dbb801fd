"""Makes a run in a child process: the spec goes in as JSON, the result comes back as JSON.

Each child has a fresh zygote, so each repeat has its own address-space layout (docs/design/launch.md), and
what kills a run does not kill the process that asked for it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from mawl.base.errors import InterruptedRunError, MawlError, UsageError
from mawl.base.process import die_with_parent
from mawl.measure.processes import uninterrupted
from mawl.records.model.campaign import Arm, Campaign
from mawl.records.spec.task import Task, TaskAnswer
from mawl.records.store.files import FACTS

LOOK_SECONDS = 0.25
LARGEST_ANSWER_BYTES = 2**16
CHILD = (sys.executable, "-m", "mawl.commands.child")


def run_task(
    task: Task,
    log: Path,
    *,
    directory: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    inside: Sequence[str] = (),
    kept_open: Sequence[int] = (),
    look: Callable[[], None] = lambda: None,
    patience: float | None = None,
    program: Sequence[str] = CHILD,
) -> TaskAnswer:
    """Do a task in a process of its own and wait for its answer.

    What it says of its progress goes to the end of ``log``.  ``directory`` is what relative paths of the spec
    mean, ``inside`` what the command line begins with (``ip netns exec NAME``), ``kept_open`` are descriptors
    that it holds as long as it lives.  ``look`` is called every ``LOOK_SECONDS`` meanwhile, and what it
    raises stops the process, as does an interrupt; one that does not end in ``patience`` seconds then is
    killed. Raises ``InterruptedRunError`` where a signal ended it, and MawlError where it
    ended without an answer.
    """
    parent = os.getpid()
    process: subprocess.Popen[bytes] | None = None
    try:
        with log.open("ab") as file, uninterrupted():
            process = subprocess.Popen(
                [*inside, *program],
                cwd=directory,
                env=None if environment is None else dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                pass_fds=tuple(kept_open),
                # Ctrl-C on a terminal reaches this process alone, which passes it on once.
                process_group=0,
                preexec_fn=lambda: die_with_parent(parent, signal.SIGTERM),
            )
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        _hand_over(process.stdin, task)
        while True:
            try:
                process.wait(timeout=LOOK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                look()
    except BaseException:
        if process is not None:
            with process.stdout or contextlib.nullcontext():
                _stop(process, patience)
        raise
    with process.stdout as answers:
        look()
        return _read(answers, process.returncode, log)


def _hand_over(to: IO[bytes], task: Task) -> None:
    try:
        with to:
            to.write(msgspec.json.encode(task))
    except BrokenPipeError:
        pass  # it ended before it read its task: how, its exit status says


def _read(answers: IO[bytes], status: int, log: Path) -> TaskAnswer:
    # It has ended: what it wrote is there, and whoever else may hold the pipe is not waited for.
    os.set_blocking(answers.fileno(), False)
    try:
        line = os.read(answers.fileno(), LARGEST_ANSWER_BYTES)
        return msgspec.json.decode(line, type=TaskAnswer)
    except (BlockingIOError, msgspec.MsgspecError):
        pass
    if status < 0 or status == 130:
        raise InterruptedRunError(f"the run's process was ended by {_signal(status)}")
    raise MawlError(
        f"the run's process ended with status {status} and without an answer",
        where=str(log),
        cure="see there what it said last",
    )


def _signal(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else "an interrupt"


def _stop(process: subprocess.Popen[bytes], patience: float | None) -> None:
    """Ask it to end at once and wait for that; interrupts meanwhile, or the end of patience, kill it."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=patience)
    except BaseException as error:
        process.kill()
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise


LARGEST_LOG_BYTES = 2**20


class MawlRun:
    """Makes runs of a campaign; what a run says of its progress goes into a log beside its folder."""

    def __init__(self, record: Campaign, show: Callable[[str], None]) -> None:
        """``show`` gets what a run says of its progress."""
        self._record, self._show = record, show

    def __call__(self, arm: Arm, folder: Path, lock: int) -> None:
        assert arm.spec is not None, "a campaign of an older format is not continued"
        log = folder.with_name(f"{folder.name}.log")
        log.write_bytes(b"")
        shown = 0

        def look() -> None:
            nonlocal shown
            shown = self._tell(log, shown)

        answer = run_task(
            Task(spec=msgspec.structs.replace(arm.spec, output=str(folder), html=False)),
            log,
            directory=self._record.directory,
            environment=without_settings(os.environ),
            kept_open=(lock,),
            look=look,
        )
        if answer.status == 130:
            raise InterruptedRunError(f"run {folder.name} was stopped")
        if answer.failure is None or (folder / FACTS).exists():
            return
        error = answer.failure.error()
        if isinstance(error, UsageError):
            raise UsageError(f"run {folder.name} cannot be made", why=str(error))
        raise error

    def _tell(self, log: Path, shown: int) -> int:
        """Show what the log has beyond ``shown`` bytes; how much has been shown now."""
        with log.open("rb") as file:
            file.seek(shown)
            text = file.read(LARGEST_LOG_BYTES)
        whole = text.rfind(b"\n") + 1
        for line in text[:whole].decode(errors="replace").splitlines():
            self._show(line)
        return shown + whole


def without_settings(present: Mapping[str, str]) -> dict[str, str]:
    """An environment without mawl's settings: all that decides the run is in its spec."""
    return {name: value for name, value in present.items() if not name.startswith("MAWL_")}
