"""The runs of a qualification and its record: a finished run is never made again, one cut short is.

The record on disk names the folder of a run before it begins.  The time that counts is that of finished work.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from mawl.campaigns.qualify.choice import SMOKE
from mawl.campaigns.qualify.work import RunSeen, RunWish, Work
from mawl.errors import InterruptedRunError, UnsuitableMachineError
from mawl.model.qualification import PhaseName, Qualification, QualifyRun, RunPurpose
from mawl.store.qualification import write_qualification


class Runs:
    """The record and the runs in it; ``clock`` counts seconds."""

    def __init__(self, folder: Path, record: Qualification, work: Work, clock: Callable[[], float]) -> None:
        self.folder, self.record, self.work, self._clock = folder, record, work, clock

    def note(self, **changes: object) -> None:
        """Change the record, on disk at once."""
        self.record = msgspec.structs.replace(self.record, **changes)
        write_qualification(self.folder, self.record)

    def make(self, purpose: RunPurpose, position: int, wish: RunWish, *, may_refuse: bool = False) -> None:
        """Make a run, unless it is finished; one that was cut short is made again in another folder."""
        own = [run for run in self.record.runs if (run.purpose, run.position) == (purpose, position)]
        last = own[-1] if own else None
        if last is not None and last.state in ("finished", "refused"):
            return
        if last is not None and self._recovered(last):
            return
        attempt = len(own) + 1
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

    def _recovered(self, run: QualifyRun) -> bool:
        """Whether a run that was going on when qualify was stopped came to its end all the same."""
        if self._finished(run, None):
            return True
        self._replace(run, state="interrupted")
        return False

    def _finished(self, run: QualifyRun, seconds: float | None) -> bool:
        """Note how a run ended; False where it did not come to its end."""
        place = self.folder / run.folder
        outcome = self.work.outcome(place)
        if outcome in (None, "running", "interrupted"):
            return False
        seen = self.work.read(place, self._alone_folders(run), self._repeats(run))
        self._replace(
            run,
            state="finished",
            run_id=seen.run_id,
            outcome=outcome,
            reason=seen.reason,
            seconds=seen.seconds if seconds is None else seconds,
        )
        return True

    def read(self, run: QualifyRun) -> RunSeen:
        """What a finished run shows."""
        return self.work.read(self.folder / run.folder, self._alone_folders(run), self._repeats(run))

    def _alone_folders(self, run: QualifyRun) -> list[Path]:
        """The runs alone whose times are the baseline of a run in the mix."""
        if run.purpose in ("calibration", "alone"):
            return []
        rounds = self.record.runs_for("alone")
        choice = self.record.choice
        assert choice is not None, "a run in the mix comes after the choice"
        if choice.scale == SMOKE:
            rounds = [*self.record.runs_for("calibration"), *rounds]
        return [self.folder / one.folder for one in rounds]

    def _repeats(self, run: QualifyRun) -> int:
        return max(len(self.record.runs_for(run.purpose)), 1)

    def spent(self) -> float:
        """Seconds of finished work: of whole phases, and of the finished runs of those that are not whole."""
        return sum(self.phase_seconds(phase.name) for phase in self.record.phases)

    def phase_seconds(self, name: PhaseName) -> float:
        """Those of a whole phase, or of the finished runs of one that is not whole."""
        phase = self.record.phase(name)
        if phase.state in ("done", "skipped"):
            return phase.seconds
        purpose = {"runs": "measured"}.get(name, name)
        return sum(
            run.seconds or 0.0
            for run in self.record.runs
            if run.purpose == purpose and run.state == "finished"
        )

    def is_over(self, purpose: RunPurpose, position: int) -> bool:
        """Whether a run was made, or refused by the machine."""
        return any(
            (run.purpose, run.position) == (purpose, position) and run.state in ("finished", "refused")
            for run in self.record.runs
        )

    def _replace(self, run: QualifyRun, **changes: object) -> None:
        changed = msgspec.structs.replace(run, **changes)
        self.note(runs=[changed if one.folder == run.folder else one for one in self.record.runs])
