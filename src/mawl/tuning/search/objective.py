"""The cost of a run for an objective: a logarithm, less is better."""

from __future__ import annotations

from math import expm1, log, log1p

from mawl.tuning.search.records import Objective


def cost_of(objective: Objective, value: float | None) -> float | None:
    """The logarithm of the figure, with its sign turned where more is better; None where it is none."""
    if value is None or not value > 0:
        return None
    return -log(value) if objective.more_is_better else log(value)


def change_ratio(objective: Objective, difference: float) -> float:
    """Candidate over baseline less 1, of the figure, from a difference of costs."""
    return expm1(-difference if objective.more_is_better else difference)


def least_difference(objective: Objective, gain_ratio: float) -> float:
    """The difference of costs, above 0, of a gain: the figure less, or more, by that share."""
    return log1p(gain_ratio) if objective.more_is_better else -log1p(-gain_ratio)
