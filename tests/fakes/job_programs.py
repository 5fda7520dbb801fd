"""Stand-ins for ``mawl.programs.execute``: a job does what its program's name says, set by ``inputs``.

Put this folder on PYTHONPATH and give ``execute="job_programs:execute"`` to a launcher.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mawl.records.model.messages import Answered, Assignment, FromLauncher, StepEnded
from mawl.records.model.records import StepRecord, Usage

Report = Callable[[FromLauncher], None]


def execute(assignment: Assignment, report: Report) -> int:
    """Run the function of this module that the program's name names."""
    program: Callable[[Assignment, Report], int] = globals()[assignment.program]
    return program(assignment, report)


def answer(assignment: Assignment, report: Report) -> int:
    """One step and an answer of ``characters`` letters; says which job it is in its log."""
    sys.stdout.write(f"job {os.environ['MAWL_JOB']} of run {os.environ['MAWL_RUN_ID']}\n")
    step = StepRecord(
        job=assignment.job, number=1, name="only", kind="data", started_at=1.0, ended_at=2.0, usage=Usage()
    )
    report(StepEnded(step=step))
    letters = "x" * int(assignment.inputs.get("characters", "1"))
    report(Answered(job=assignment.job, answer={"letters": letters}))
    return 0


def pools(assignment: Assignment, report: Report) -> int:
    """Arrow's memory pool in each of two processes that work side by side, as the answer."""
    import pyarrow as pa

    from mawl.programs.toolkit.worker_processes import SideBySide

    steps = SimpleNamespace(add_memory=lambda _: None)
    context: Any = SimpleNamespace(threads=2, divisible_seconds=9.0, steps=steps)
    with SideBySide[int, tuple[str, str]](
        context, lambda _: (str(os.getpid()), pa.default_memory_pool().backend_name), fixed=True
    ) as processes:
        found: dict[str, str] = dict(processes.results([0, 1]))
    report(Answered(job=assignment.job, answer={**found}))
    return 0


def collect(assignment: Assignment, report: Report) -> int:
    """Whether garbage collection is on, as the exit status."""
    return int(gc.isenabled())


def leave(assignment: Assignment, report: Report) -> int:
    """End with an exit status."""
    return int(assignment.inputs["status"])


def die(assignment: Assignment, report: Report) -> int:
    """End by a signal."""
    os.kill(os.getpid(), int(assignment.inputs["signal"]))
    return 0


def fail(assignment: Assignment, report: Report) -> int:
    """Raise."""
    raise RuntimeError("the table is upside down")


def babble(assignment: Assignment, report: Report) -> int:
    """Write what is no message on the launcher's pipe."""
    os.write(vars(report)["_descriptor"], b"this is no message\n")
    return 0


def allocate(assignment: Assignment, report: Report) -> int:
    """Touch a known number of bytes."""
    block = bytearray(int(assignment.inputs["bytes"]))
    for position in range(0, len(block), 4096):
        block[position] = 1
    return 0


def copy(assignment: Assignment, report: Report) -> int:
    """Write a known number of bytes in a child, read them back here."""
    path, size = Path(assignment.inputs["path"]), int(assignment.inputs["bytes"])
    child = os.fork()
    if child == 0:
        with path.open("wb", buffering=0) as file:
            file.write(b"\1" * size)
        os._exit(0)
    os.waitpid(child, 0)
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    return 0


def spin(assignment: Assignment, report: Report) -> int:
    """Spin here, in a child, and in a daemon that ends before this and one that is still there after.

    Each spins until it has used ``seconds`` of CPU, and writes what it used into a file of ``folder``.
    """
    seconds, folder = float(assignment.inputs["seconds"]), Path(assignment.inputs["folder"])
    _daemon(lambda: _spin(seconds, folder / "ended"))
    _daemon(lambda: _spin(seconds, folder / "stays", sleep_seconds=60))
    child = os.fork()
    if child == 0:
        _spin(seconds, folder / "child")
        os._exit(0)
    _spin(seconds, folder / "own")
    began = time.process_time()
    os.waitpid(child, 0)
    while not ((folder / "ended").exists() and (folder / "stays").exists()):
        time.sleep(0.01)
    (folder / "waits").write_text(str(time.process_time() - began))
    return 0


def linger(assignment: Assignment, report: Report) -> int:
    """Sleep, with a child that ignores SIGTERM, a daemon, and a daemon in a cleaned environment.

    Their process ids are files of ``folder``.
    """
    folder = Path(assignment.inputs["folder"])

    def sleep_on(name: str) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (folder / f"{os.getpid()}.{name}").touch()
        time.sleep(60)

    if os.fork() == 0:
        sleep_on("child")
    _daemon(lambda: sleep_on("daemon"))
    command = "touch $0/$$.cleaned; exec sleep 60"
    subprocess.Popen(["env", "-i", "setsid", "sh", "-c", command, str(folder)], start_new_session=True)
    if assignment.inputs.get("ignore"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (folder / f"{os.getpid()}.main").touch()
    time.sleep(60)
    return 0


def _spin(seconds: float, marker: Path, sleep_seconds: float = 0.0) -> None:
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass
    unfinished = marker.with_suffix(".part")
    unfinished.write_text(str(time.process_time() - began))
    unfinished.rename(marker)
    time.sleep(sleep_seconds)


def _daemon(act: Callable[[], object]) -> None:
    """Double fork and a new session: out of the job's session, group and parentage."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            act()
        os._exit(0)
    os.waitpid(child, 0)
