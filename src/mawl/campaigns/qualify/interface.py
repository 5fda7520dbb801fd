"""The engine's view of the machine, and its runs: a finished run is never repeated, an interrupted one is.

Tests put a fake in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from mawl.base.errors import InterruptedRunError, UnsuitableMachineError
from mawl.records.model.qualification import (
    ENDED_STATES,
    CacheMode,
    Fits,
    PhaseName,
    Qualification,
    QualifyNode,
    QualifyRun,
    RunPurpose,
    RunState,
)
from mawl.records.model.records import RunOutcome
from mawl.records.spec.program_options import Role
from mawl.records.store.campaign import write_qualification


class WritableSpace(msgspec.Struct, frozen=True, kw_only=True):
    """A file system under the roles: its kind, and what may still be written there, by so many nodes."""

    roles: list[Role]
    directories: list[str]
    free_bytes: int
    kind: str | None = None
    unwritable: list[str] = []
    nodes: int = 1


class ObservedMachine(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the machine shows.  ``cores`` are those that jobs may use.

    ``uncached`` is False, with ``uncached_reason``, where ``--cache none`` cannot hold.  Where there are
    ``nodes``, cores and memory are those of the node that has fewest.  ``places`` says what each directory
    lies on, ``made`` which directories the user named that were not there.
    """

    cores: int
    memory_bytes: int
    systems: list[WritableSpace]
    uncached: bool = True
    uncached_reason: str | None = None
    has_fio: bool = True
    notices: list[str] = []
    nodes: list[QualifyNode] = []
    places: list[str] = []
    made: list[str] = []


class Mix(msgspec.Struct, frozen=True, kw_only=True):
    """The forecast of one run: elapsed and active seconds, and W."""

    elapsed_seconds: float
    active_seconds: float
    slowdown: float


class Model(Protocol):
    """What the calibration makes of this machine: forecasts of runs at any scale and number of sessions.

    ``overhead_seconds`` is what a run takes beyond its jobs, ``input_bytes_per_second`` how fast input tables
    are made, ``core_speed`` this core's over that of the reference times.  ``mutual_slowing_ratio`` is the
    CPU seconds of jobs in the mix over those of the same jobs alone; jobs of ``cpu_seconds`` and ``mix`` are
    slowed by it.  The reach is that of the
    calibration, None where it was not measured.  ``others_cpu_ratio`` is the share of all processor time
    that other work used during the calibration, None where it is not known.
    """

    overhead_seconds: float
    input_bytes_per_second: float
    core_speed: float
    mutual_slowing_ratio: float | None
    others_cpu_ratio: float | None
    read_reach_ratio: float | None
    write_reach_ratio: float | None

    def cpu_seconds(self, program: str, scale: float) -> float:
        """Of one job on a core of this machine, without start-up and verification."""

    def mix(self, sessions: int, scale: float) -> Mix:
        """One measured run."""


class RunWish(msgspec.Struct, frozen=True, kw_only=True):
    """One run to make: the mix in so many sessions, or (None) each program alone.

    Where there are several nodes, it is on one of them or on ``all_nodes``.
    """

    sessions: int | None
    scale: float
    cache: CacheMode
    all_nodes: bool = False


class ObservedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished run shows; ``slowdown`` is None where W is not known.

    ``others_cpu_ratio`` is the share of all processor time that other work used, None where not known.
    ``disturbance`` says what other work did, where that was too much, and ``heavy`` the processes that
    used most, in words.
    """

    run_id: str
    outcome: RunOutcome
    reason: str | None
    seconds: float
    elapsed_seconds: float | None
    active_seconds: float | None
    slowdown: float | None
    bad_jobs: int = 0
    others_cpu_ratio: float | None = None
    disturbance: str | None = None
    heavy: list[str] = []


class Work(Protocol):
    """The machine under test, and what is known of it from folders."""

    def look(self) -> ObservedMachine:
        """What the machine is; raises MawlError where mawl cannot work on it."""

    def probe(self, folder: Path, seconds: float, streams: int, finished: Callable[[], None]) -> str:
        """Probe each target for so many seconds in all, as far as its file is not in the folder yet.

        ``streams`` are the requests that the load can have under way.  Calls ``finished`` after each target.
        A sentence on what was found; the whole lies in ``probe.json``.
        """

    def generate(self, wish: RunWish, log: Path) -> None:
        """Make the input tables of a run, as far as they are not there."""

    def run(self, wish: RunWish, folder: Path, log: Path) -> None:
        """Make a run in a folder that is not there yet; raises what stops it before its end."""

    def outcome(self, folder: Path) -> RunOutcome | None:
        """What became of the run in a folder; None where it did not begin or is no run."""

    def read(self, folder: Path, repeats: int) -> ObservedRun:
        """What a finished run shows; ``repeats``, the runs of its kind, become a part of its facts."""

    def model(self, calibration: Path, mix: Path, probe: Path) -> Model:
        """Forecasts from both runs of the calibration, and from the probe where there is one."""

    def fitting(self, runs: Sequence[Path], probe: Path, sessions: int, answer_bound: float) -> Fits:
        """The number of sessions that fits, forecast from measured runs of so many sessions."""


class Runs:
    """The record and the runs in it; ``clock`` counts seconds, ``show`` gets what a person reads."""

    def __init__(
        self,
        folder: Path,
        record: Qualification,
        work: Work,
        clock: Callable[[], float],
        show: Callable[[str], None],
    ) -> None:
        self.folder, self.record, self.work, self._clock, self._show = folder, record, work, clock, show

    def note(self, **changes: object) -> None:
        self.record = msgspec.structs.replace(self.record, **changes)
        write_qualification(self.folder, self.record)

    def make(
        self,
        purpose: RunPurpose,
        position: int,
        wish: RunWish,
        *,
        may_refuse: bool = False,
        may_repeat: Callable[[float], bool] = lambda _: False,
        further: bool = False,
    ) -> None:
        """Make a run, unless it is finished; one that was cut short is made again in another folder.

        A run beside too much other work is made again once, if ``may_repeat`` says that there is time for its
        seconds.  A ``further`` run, which the answer can do without, is left out where it stays so, unless
        jobs of it failed.
        """
        while not self._is_made(purpose, position, may_repeat, further=further):
            self._attempt(purpose, position, wish, may_refuse=may_refuse)

    def _attempts(self, purpose: RunPurpose, position: int) -> list[QualifyRun]:
        return [run for run in self.record.runs if (run.purpose, run.position) == (purpose, position)]

    def _is_made(
        self, purpose: RunPurpose, position: int, may_repeat: Callable[[float], bool], *, further: bool
    ) -> bool:
        """Whether a run is over; notes how the last attempt ended where that is not known yet.

        Whether a disturbed run is made again or left out is decided before the next run begins, and never
        later.
        """
        attempts = self._attempts(purpose, position)
        if not attempts or attempts[-1].state in ("interrupted", "disturbed"):
            return False
        last = attempts[-1]
        if last.state == "left out":
            return True
        if last.state == "running":
            if not self._finished(last, None):
                self._replace(last, state="interrupted")
                return False
            last = self._attempts(purpose, position)[-1]
        if last.disturbance is None or self.record.runs[-1] != last:
            return True
        if any(run.state == "disturbed" for run in attempts) or not may_repeat(last.seconds or 0.0):
            if further and last.outcome == "completed":
                self._set_aside(last, "left out", f"{last.disturbance}, so the run does not count")
            return True
        self._set_aside(last, "disturbed", f"{last.disturbance}, so the run was made again")
        return False

    def _set_aside(self, run: QualifyRun, state: RunState, why: str) -> None:
        self._replace(run, state=state, reason=why)
        self._show(f"  {why}")

    def _attempt(self, purpose: RunPurpose, position: int, wish: RunWish, *, may_refuse: bool) -> None:
        attempt = len(self._attempts(purpose, position)) + 1
        name = f"{purpose}-{position}" + (f"-{attempt}" if attempt > 1 else "")
        run = QualifyRun(
            folder=f"runs/{name}",
            purpose=purpose,
            position=position,
            sessions=wish.sessions or 1,
            state="running",
        )
        place, began = self.folder / run.folder, self._clock()
        place.parent.mkdir(exist_ok=True)
        self.note(runs=[*self.record.runs, run])
        try:
            self.work.run(wish, place, self.folder / f"{name}.log")
        except UnsuitableMachineError as error:
            if not may_refuse or self.work.outcome(place) is not None:
                raise
            self._replace(run, state="refused", reason=str(error))
            return
        if not self._finished(run, self._clock() - began):
            raise InterruptedRunError(f"run {name} was stopped")

    def _finished(self, run: QualifyRun, seconds: float | None) -> bool:
        place = self.folder / run.folder
        outcome = self.work.outcome(place)
        if outcome in (None, "running", "interrupted"):
            return False
        seen = self.work.read(place, self._repeats(run))
        self._replace(
            run,
            state="finished",
            run_id=seen.run_id,
            outcome=outcome,
            reason=seen.reason,
            others_cpu_ratio=seen.others_cpu_ratio,
            disturbance=seen.disturbance,
            seconds=seen.seconds if seconds is None else seconds,
        )
        return True

    def read(self, run: QualifyRun) -> ObservedRun:
        return self.work.read(self.folder / run.folder, self._repeats(run))

    def _repeats(self, run: QualifyRun) -> int:
        return max(len(self.record.runs_for(run.purpose)), 1)

    def spent(self) -> float:
        """Seconds of finished work: of phases that are done, and of ended runs in the others."""
        return sum(self.phase_seconds(phase.name) for phase in self.record.phases)

    def phase_seconds(self, name: PhaseName) -> float:
        """Those of a phase that is done, else those of its runs that came to their end.

        A probe that was stopped counts the targets that were finished.
        """
        phase = self.record.phase(name)
        if phase.state in ("done", "skipped") or name == "probe":
            return phase.seconds
        purposes = ("measured", "one-node", "search") if name == "runs" else (name, f"{name}-mix")
        return sum(
            run.seconds or 0.0
            for run in self.record.runs
            if run.state in ENDED_STATES and run.purpose in purposes
        )

    def begun(self, purpose: RunPurpose, position: int) -> QualifyRun | None:
        return next(iter(self._attempts(purpose, position)), None)

    def is_over(self, purpose: RunPurpose, position: int) -> bool:
        over = ("finished", "refused", "left out")
        return any(run.state in over for run in self._attempts(purpose, position))

    def forget_calibration(self, why: str) -> None:
        """It is made again when the qualification goes on, and its seconds do not count."""
        for run in self.record.runs:
            if run.purpose in ("calibration", "calibration-mix"):
                self._replace(run, state="interrupted", reason=why)

    def _replace(self, run: QualifyRun, **changes: object) -> None:
        changed = msgspec.structs.replace(run, **changes)
        self.note(runs=[changed if one.folder == run.folder else one for one in self.record.runs])
