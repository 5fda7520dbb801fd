"""What a search makes better, and the cost of a run: a logarithm, less is better."""

from __future__ import annotations

from math import exp, expm1, log, log1p

import msgspec

from mawl.errors import UsageError


class Objective(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the summary (dotted path); ``more`` tells whether more of it is better."""

    name: str
    title: str
    figure: str
    more: bool
    any_sessions: bool
    """Whether runs of other numbers of sessions, and so of other work, may be held against each other."""

    def cost(self, value: float | None) -> float | None:
        """The logarithm of the figure, with its sign turned where more is better; None where it is none."""
        if value is None or not value > 0:
            return None
        return -log(value) if self.more else log(value)

    def change_ratio(self, difference: float) -> float:
        """Candidate over baseline less 1, of the figure, from a difference of costs."""
        return expm1(-difference if self.more else difference)

    def least_difference(self, gain_ratio: float) -> float:
        """The difference of costs, above 0, of a gain: the figure less, or more, by that share."""
        return log1p(gain_ratio) if self.more else -log1p(-gain_ratio)

    def figure_of(self, cost: float) -> float:
        """The figure of a cost."""
        return exp(-cost if self.more else cost)


OBJECTIVES: dict[str, Objective] = {
    one.name: one
    for one in (
        Objective(
            name="response-time",
            title="response time of the workload",
            figure="time.real_time_seconds",
            more=False,
            any_sessions=False,
        ),
        Objective(
            name="elapsed",
            title="elapsed time",
            figure="time.elapsed_seconds",
            more=False,
            any_sessions=False,
        ),
        Objective(
            name="sustained",
            title="sustained throughput of the programs",
            figure="io.application.sustained.total_bytes_per_second",
            more=True,
            any_sessions=True,
        ),
        Objective(
            name="cpu-real", title="CPU/real", figure="cpu_real_ratio.of_sums", more=True, any_sessions=True
        ),
    )
}


def objective(name: str) -> Objective:
    """The objective of that name."""
    if name not in OBJECTIVES:
        raise UsageError(f"{name} is no objective", cure=f"choose from: {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]
