"""A real launcher with short words for tests."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mawl.records.model.messages import Assignment, FromLauncher, Reaped, Start, Started
from mawl.records.model.records import Usage
from mawl.records.spec.program_options import Options
from mawl.run.launch.client import Launcher

PATIENCE_SECONDS = 30.0


Figure = TypeVar("Figure", int, float)


def known(value: Figure | None) -> Figure:
    """A figure that must have been measured."""
    assert value is not None
    return value


def assignment(folder: Path, job: str, program: str = "answer", /, **inputs: object) -> Assignment:
    """An assignment that a stand-in program understands; its log lies in ``folder``."""
    return Assignment(
        run_id="test",
        job=job,
        program=program,
        scale=1.0,
        seed=1,
        replica=0,
        options=Options(),
        inputs={name: str(value) for name, value in inputs.items()},
        results=str(folder / "results"),
        work=[],
        util=[],
        log=str(folder / f"{job}.log"),
    )


def known_usage(usage: Usage | None) -> Usage:
    """A usage that must have been told."""
    assert usage is not None
    return usage


class Bench:
    """A launcher with short words for tests."""

    def __init__(self, launcher: Launcher, folder: Path) -> None:
        self.launcher, self.folder = launcher, folder
        self.messages: list[FromLauncher] = []

    def start(self, job: str, program: str = "answer", gate: str | None = None, **inputs: object) -> None:
        """Start a stand-in program."""
        self.launcher.send(Start(assignment=assignment(self.folder, job, program, **inputs), gate=gate))

    def command(self, job: str, *command: str, gate: str | None = None) -> None:
        """Start a command."""
        self.launcher.send(Start(assignment=assignment(self.folder, job), command=list(command), gate=gate))

    def until(self, enough: Callable[[], object]) -> list[FromLauncher]:
        """Receive until a condition holds; every message so far."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        self.messages += self.launcher.receive()
        while not enough():
            assert time.monotonic() < deadline, f"still waiting; so far: {self.messages}"
            select.select([self.launcher], [], [], 0.1)
            self.messages += self.launcher.receive()
        return self.messages

    def of(self, kind: type, job: str | None = None) -> list:  # type: ignore[type-arg]
        """Messages of a kind, of one job or all."""
        return [m for m in self.messages if isinstance(m, kind) and job in (None, getattr(m, "job", None))]

    def reaped(self, job: str) -> Reaped:
        """Wait for a job's end."""
        self.until(lambda: self.of(Reaped, job))
        record = self.of(Reaped, job)[0]
        assert isinstance(record, Reaped)
        return record

    def used_cpu_seconds(self, job: str) -> float:
        """CPU of a job's whole tree after its start-up, once it has ended."""
        whole: float = known(self.reaped(job).usage.cpu_seconds)
        startup: float = known(known_usage(self.of(Started, job)[0].used).cpu_seconds)
        return whole - startup

    def peak_bytes(self, job: str) -> int:
        """The largest resident size of a job's tree, once it has ended."""
        return known(self.reaped(job).usage.os_memory_bytes)

    def wait_for_files(self, *patterns: str) -> list[int]:
        """Wait until a file of each pattern lies in the folder; the process ids that begin their names."""
        self.until(lambda: all(any(self.folder.glob(pattern)) for pattern in patterns))
        return [int(path.name.split(".")[0]) for pattern in patterns for path in self.folder.glob(pattern)]
