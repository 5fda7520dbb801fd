"""The runs of a qualification: a finished run is never repeated, an interrupted one is.

The record on disk names the folder of a run before it begins.  Only finished work counts towards the time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from mawl.base.errors import InterruptedRunError, UnsuitableMachineError
from mawl.campaigns.qualify.interface import ObservedRun, RunWish, Work
from mawl.records.model.qualification import PhaseName, Qualification, QualifyRun, RunPurpose, RunState
from mawl.records.store.campaign import write_qualification


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
            if run.state in ("finished", "disturbed", "left out") and run.purpose in purposes
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
