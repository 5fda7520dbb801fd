"""The best simple rule, the roofline, which ``mawl size`` prints next to the model.

Over all counted figures of the papers' pairs the model, fitted without the paper, is nearer than the rules.
For some of the papers a rule is nearer (docs/reference/published-forecasts.md, Compared with simple rules).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mawl.simulation.forecast import Base
from mawl.simulation.system import System
from mawl.whatif.baselines import storage_seconds

UNSEEN_ERROR = 0.15
ROOFLINE_ERROR = 0.28
"""Mean |ln(predicted/published)| of all counted pairs, of the model (unseen) and of the rule."""

MOST_BY_RULE = 10**9
"""The most sessions that the rule answers."""

WAYS = {"read": "read", "write": "written"}


@dataclass(frozen=True, kw_only=True)
class RooflineRule:
    """The figure of a run grows with the shortest time that a system needs for its jobs' work.

    That time is the longer of CPU seconds over what the cores do, and bytes at devices over what devices,
    links and fabric move (Williams, Waterman and Patterson 2009).  ``least`` is the least that the figure
    can be: 1 for a slowdown.
    """

    base: Base
    sessions: int
    measured: float
    least: float

    @property
    def known(self) -> bool:
        """Whether the run shows any work at all."""
        return self._seconds(self.base.own, self.sessions) > 0.0

    def figure(self, system: System, sessions: int) -> float:
        """The figure of so many sessions on each node."""
        ratio = self._seconds(system, sessions) / self._seconds(self.base.own, self.sessions)
        return max(self.measured * ratio, self.least)

    def most_sessions(self, system: System, bound: float) -> int:
        """The most sessions on each node with a figure within the bound; 0 if one session exceeds it."""
        if self.least > bound:
            return 0
        one = self.measured * self._seconds(system, 1) / self._seconds(self.base.own, self.sessions)
        return math.floor(min(bound / one, MOST_BY_RULE)) if one else MOST_BY_RULE

    def _seconds(self, system: System, sessions: int) -> float:
        """What one node needs for its share of the measured work, in so many sessions."""
        plans = len(self.base.plans)
        moved: dict[tuple[str, str], float] = {}
        cpu = 0.0
        for step in (step for job in self.base.demand.jobs.values() for step in job.steps):
            cpu += step.cpu_seconds
            for flow in step.flows:
                key = flow.role, WAYS[flow.direction]
                moved[key] = moved.get(key, 0.0) + flow.device_bytes
        share = sessions / self.sessions / plans
        first, nodes = system.nodes[0], system.node_count
        shared = {key: size * share for key, size in moved.items()}
        processors = cpu * share / (first.cores * first.core_speed)
        return max(storage_seconds(system, shared, nodes), processors)


def rule_of(base: Base, sessions: int, measured: float, *, least: float) -> RooflineRule | None:
    """The rule for a run; None if the run shows no work."""
    rule = RooflineRule(base=base, sessions=sessions, measured=measured, least=least)
    return rule if rule.known else None
