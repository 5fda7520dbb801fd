"""How many sessions fit on a system, by simulation that is brought to the figure that a run showed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import geometric_mean

from mawl.plan.mix import FEWEST_SESSIONS
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.forecast import Base, Question, predict
from mawl.simulation.system import System
from mawl.spec.record import MOST_SESSIONS


@dataclass(kw_only=True)
class FittedFigure(ABC):
    """A figure that must stay within a bound; ``measured`` is that of the run with ``sessions``.

    The simulated figure of the run itself is brought to ``measured``, and all others by the same factor.
    ``fewest`` and ``most`` are the sessions that a search may try; ``kept_reach``: as in
    :class:`~mawl.simulation.forecast.Question`.
    """

    base: Base
    sessions: int
    measured: float
    fewest: int = FEWEST_SESSIONS
    most: int = MOST_SESSIONS
    kept_reach: bool = False
    _known: dict[tuple[int, int], tuple[System, float]] = field(default_factory=dict)

    @abstractmethod
    def of(self, outcome: SimulationOutcome) -> float:
        """The figure of one simulated run, above 0."""

    def figure(self, system: System, sessions: int) -> float:
        """The figure of so many sessions on a system, as brought to what was measured."""
        return self._brought(self._simulated(system, sessions))

    def figure_of(self, outcome: SimulationOutcome) -> float:
        """The figure of a simulated run, as brought to what was measured."""
        return self._brought(self.of(outcome))

    def most_sessions(self, system: System, bound: float) -> int | None:
        """The most sessions whose figure is within the bound; None if even the fewest exceed it."""
        low, high = self.fewest - 1, min(max(self.sessions, self.fewest), self.most)
        while high <= self.most and self.figure(system, high) <= bound:
            low, high = high, min(2 * high, self.most) if high < self.most else self.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            carried = self.figure(system, middle) <= bound
            low, high = (middle, high) if carried else (low, middle)
        return low if low >= self.fewest else None

    def outcome(self, system: System, sessions: int) -> SimulationOutcome:
        """The simulation of so many sessions on a system."""
        question = Question(system=system, sessions=sessions, kept_reach=self.kept_reach)
        return predict(self.base, question)[1]

    def _brought(self, simulated: float) -> float:
        return self.measured * simulated / self._simulated(self.base.own, self.sessions)

    def _simulated(self, system: System, sessions: int) -> float:
        key = (id(system), sessions)
        if key not in self._known:
            # The system is kept, so that no other gets its id.
            self._known[key] = system, self.of(self.outcome(system, sessions))
        return self._known[key][1]


@dataclass(kw_only=True)
class Fitting(FittedFigure):
    """The median slowdown; ``alone`` are the times alone by program.

    It grows as the geometric mean of the simulated slowdowns does: a median over twenty programs jumps from
    one to the next (docs/design/qualify-answer.md).
    """

    alone: Mapping[str, float]

    def of(self, outcome: SimulationOutcome) -> float:
        """The geometric mean of real time in the mix over real time alone; 1 if no time alone is known."""
        slowdowns = [
            (job.ended - job.started) / self.alone[job.plan.program]
            for job in outcome.jobs
            if self.alone.get(job.plan.program) and job.ended > job.started
        ]
        return geometric_mean(slowdowns) if slowdowns else 1.0

    def slowdown(self, system: System, sessions: int) -> float:
        """The median slowdown of so many sessions on a system, scaled to the measured one."""
        return self.figure(system, sessions)


@dataclass(kw_only=True)
class FittedElapsed(FittedFigure):
    """Seconds from the first start to the last end."""

    def of(self, outcome: SimulationOutcome) -> float:
        """Elapsed seconds of the simulated run."""
        return outcome.elapsed_seconds
