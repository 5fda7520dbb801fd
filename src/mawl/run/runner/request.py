"""The request for a run, and the interfaces through which it reports and opens its gate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec

from mawl.plan.mix import keeps_results
from mawl.plan.needs import programs_in
from mawl.plan.programs import Program
from mawl.plan.workload import JobPlan, Plan
from mawl.records.model.node import LoadBefore
from mawl.records.model.records import JobRecord
from mawl.records.model.run import Alone, FreeSpace, Reference
from mawl.records.spec.program_options import StartMode
from mawl.records.spec.run_spec import RunSpec


class RunRequest(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that decides a run.

    ``inputs`` maps (table, scale, replica) to the directory of that input table; ``cpus`` are the
    processors the jobs may use (None: all).
    """

    run_id: str
    folder: Path
    node: str | None = None
    """What the records call this machine; None: its own name."""
    plan: Plan
    inputs: Mapping[tuple[str, float, int], Path]
    spec: RunSpec = RunSpec()
    """What was asked: limits, cache, start, failure policy.  Its places may be relative, unlike those of the
    volumes that the run is given."""
    cpus: tuple[int, ...] | None = None
    core_speed: float | None = None
    """Of the cores (``core_speed_for``); None: no job asks for it."""
    reference: Reference | None = None
    """Where ``reference_seconds`` come from: by job, as far as they are known."""
    reference_seconds: Mapping[str, float] = {}
    alone: tuple[Alone, ...] = ()
    """Times alone of the plan's jobs, as far as they are known."""
    load_before: LoadBefore | None = None
    free_space: tuple[FreeSpace, ...] = ()

    @cached_property
    def programs(self) -> dict[str, Program]:
        """The declaration of every program, by name."""
        return programs_in(self.plan)

    def keeps_results(self, job: JobPlan) -> bool:
        """Whether what a job puts under data stays after it."""
        return keeps_results(job, keeps_outputs=self.spec.keep_outputs)


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """A running run at one moment; rates are of the last second, application bytes."""

    elapsed_seconds: float
    sessions: int
    open_sessions: int
    """Sessions with jobs that run or wait."""
    jobs: int
    waiting: int
    running: int
    ended: int
    failed: int
    read_bytes_per_second: float
    written_bytes_per_second: float


class Listener(Protocol):
    """Whoever watches a run: told once a second and at each event, and never asked anything."""

    def launching(self, mode: StartMode, jobs: int) -> None:
        """The launcher starts, and ``jobs`` jobs are being made ready for the gate."""

    def status(self, status: Status) -> None:
        """Once a second while jobs run."""

    def job_ended(self, record: JobRecord) -> None:
        """A job has its record."""

    def notice(self, text: str) -> None:
        """Something the user should read: an interrupt understood, jobs being stopped."""


class Opening(Protocol):
    """When the start gate may open: at once, or at a moment that several nodes agree on."""

    def ready(self, jobs: int) -> None:
        """The jobs of the gate are ready and wait."""

    def pause_seconds(self) -> float | None:
        """How long the gate stays shut, as far as is known; 0 when it may open, None before anybody said."""


class AtOnce(Opening):
    """The gate of a run on one machine: open as soon as its jobs are ready."""

    def ready(self, jobs: int) -> None:
        """Nobody waits to hear it."""

    def pause_seconds(self) -> float | None:
        return 0.0


AT_ONCE = AtOnce()
