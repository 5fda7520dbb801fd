"""How many sessions fit on a system, by simulation that is brought to the slowdown that a run showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from mawl.plan.mix import FEWEST_SESSIONS
from mawl.simulation.forecast import Base, Question, predict
from mawl.simulation.system import System
from mawl.spec.record import MOST_SESSIONS


@dataclass(kw_only=True)
class Fitting:
    """``alone`` are the times alone by program, ``measured`` the slowdown of the run with ``sessions``.

    The simulated slowdown of the run itself is brought to ``measured``, and all others by the same factor.
    """

    base: Base
    alone: Mapping[str, float]
    sessions: int
    measured: float
    _known: dict[tuple[int, int], tuple[System, float]] = field(default_factory=dict)

    def slowdown(self, system: System, sessions: int) -> float:
        """The median slowdown of so many sessions on a system, as brought to what was measured."""
        return (
            self.measured * self._simulated(system, sessions) / self._simulated(self.base.own, self.sessions)
        )

    def most_sessions(self, system: System, most_slowdown: float) -> int | None:
        """The most sessions whose slowdown is within the bound; None where not even the fewest are."""
        low, high = FEWEST_SESSIONS - 1, self.sessions
        while high <= MOST_SESSIONS and self.slowdown(system, high) <= most_slowdown:
            low, high = high, min(2 * high, MOST_SESSIONS) if high < MOST_SESSIONS else MOST_SESSIONS + 1
        while high - low > 1:
            middle = (low + high) // 2
            carried = self.slowdown(system, middle) <= most_slowdown
            low, high = (middle, high) if carried else (low, middle)
        return low if low >= FEWEST_SESSIONS else None

    def _simulated(self, system: System, sessions: int) -> float:
        key = (id(system), sessions)
        if key not in self._known:
            _, outcome = predict(self.base, Question(system=system, sessions=sessions))
            slowdowns = [
                (job.ended - job.started) / self.alone[job.plan.program]
                for job in outcome.jobs
                if self.alone.get(job.plan.program)
            ]
            # The system is kept, so that no other gets its id.
            self._known[key] = system, median(slowdowns) if slowdowns else 1.0
        return self._known[key][1]
