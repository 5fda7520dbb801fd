"""Run one job of the catalogue, here or in a fresh process, and keep all it reports.

As a script it is that fresh process: an assignment as JSON on standard input, the job's messages as
JSON lines on standard output.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

import mawl
from mawl.base.removal import MARK
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.programs import Program
from mawl.records.model.messages import (
    Answered,
    Assignment,
    Failed,
    FromLauncher,
    StepEnded,
    decode_from_launcher,
    line,
)
from mawl.records.model.records import Answer, StepRecord
from mawl.records.spec.program_options import Options
from mawl.run.launch.setup import ARROW_POOL_VARIABLE, ONE_PASSIVE_THREAD, arrow_pool

SOURCE = Path(mawl.__file__).parents[1]


@dataclass
class Job:
    """What a job reported."""

    assignment: Assignment
    status: int = -1
    steps: list[StepRecord] = field(default_factory=list)
    answer: Answer | None = None
    failed: Failed | None = None

    @property
    def program(self) -> Program:
        return CATALOGUE[self.assignment.program]

    @property
    def places(self) -> list[Path]:
        return [Path(place) for place in (*self.assignment.work, *self.assignment.util)]

    def take(self, message: FromLauncher) -> None:
        if isinstance(message, StepEnded):
            self.steps.append(message.step)
        elif isinstance(message, Answered):
            self.answer = message.answer
        elif isinstance(message, Failed):
            self.failed = message


def assign(
    program: str, scale: float, options: Options, inputs: dict[str, Path], place: Path, volumes: int = 1
) -> Assignment:
    """An assignment with fresh, empty directories under ``place``."""
    places: dict[str, list[str]] = {}
    for role in ("work", "util"):
        places[role] = [str(place / f"{role}-{volume}" / "job") for volume in range(volumes)]
        for directory in places[role]:
            Path(directory).mkdir(parents=True)
            (Path(directory).parent / MARK).touch()
    (place / MARK).touch()
    return Assignment(
        run_id="contract",
        job="job",
        program=program,
        scale=scale,
        seed=20_261_120,
        replica=0,
        options=options,
        inputs={name: str(path) for name, path in inputs.items()},
        results=str(place / "results"),
        work=places["work"],
        util=places["util"],
        log=str(place / "log"),
    )


def run_here(assignment: Assignment, after_step: Callable[[StepRecord, Job], None] | None = None) -> Job:
    """Run a job in this process; ``after_step`` is called between its steps."""
    from mawl.programs.execute import execute

    job = Job(assignment)

    def report(message: FromLauncher) -> None:
        job.take(message)
        if after_step is not None and isinstance(message, StepEnded):
            after_step(message.step, job)

    job.status = execute(assignment, report)
    return job


def run_fresh(assignment: Assignment, wrapper: list[str] | None = None) -> Job:
    """Run a job in a process of its own (under ``wrapper``), as ``--start spawn`` does."""
    # As the launcher has it: Arrow's memory pool, and one thread, since OpenBLAS takes memory for each.
    environment = {**ONE_PASSIVE_THREAD, ARROW_POOL_VARIABLE: arrow_pool(), "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        [*(wrapper or []), sys.executable, __file__],
        input=msgspec.json.encode(assignment),
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
        check=False,
    )
    job = Job(assignment, status=done.returncode)
    for text in done.stdout.splitlines():
        job.take(decode_from_launcher(text))
    return job


def _main() -> int:
    messages = os.dup(1)
    assignment = msgspec.json.decode(sys.stdin.buffer.read(), type=Assignment)
    # What programs and libraries print (HiGHS does) goes to the job's log, and not between the messages.
    os.dup2(os.open(assignment.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1)
    for module in CATALOGUE[assignment.program].imports:
        importlib.import_module(module)
    from mawl.programs.execute import execute

    def report(message: FromLauncher) -> None:
        os.write(messages, line(message))

    return execute(assignment, report)


if __name__ == "__main__":
    # Without interpreter teardown, as a job ends.
    os._exit(_main())
