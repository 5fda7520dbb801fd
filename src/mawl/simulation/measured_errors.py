"""The forecasts that were compared with measured times, one by one, and what they say of the next one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

TimeFigure = Literal["time.real_time_seconds", "time.elapsed_seconds"]

LAB_BEDS: dict[TimeFigure, tuple[float, ...]] = {
    "time.elapsed_seconds": (
        *(-0.238, -0.168, -0.211),
        *(-0.032, -0.033, -0.063, -0.010, -0.050, 0.008),
        *(0.067, 0.001, 0.003, -0.017),
        *(0.005, -0.036, -0.029, -0.055, -0.005, -0.016, -0.041, 0.026),
        *(0.083, -0.071),
    ),
    "time.real_time_seconds": (
        *(-0.272, -0.191, -0.204),
        *(0.053, 0.120, 0.164, 0.046, 0.108, 0.182),
        *(0.079, 0.028, 0.013, 0.011),
        *(0.009, 0.013, 0.076, 0.116, 0.000, 0.003, 0.067, 0.140),
        *(0.088, -0.060),
    ),
}
"""Forecast over measured, less 1, of each arm that was forecast (docs/reference/forecasts.md), in its order.

``time.real_time_seconds`` is the sum over the jobs, so its error is that of a slowdown: the times alone are
the same on both sides.
"""

PUBLISHED_SYSTEMS: dict[str, float] = {
    "dl980-flash-30": 0.58,
    "s822-hybrid-20": -0.19,
    "e880-xiv-plain-30": -0.16,
    "e880-xiv-compressed-30": -0.15,
    "e880-ess-40gbe-4x30": 0.16,
    "e880-ess-56gbe-4x30": 0.30,
    "e980-fs9150-4": -0.39,
}
"""The same of the papers' systems that the model was not fitted on, by the time that the paper prints: real
time of all jobs, else elapsed, else active (docs/reference/published-forecasts.md)."""


def measured_ratios(errors: Sequence[float]) -> list[float]:
    """Measured over forecast times, the smallest first."""
    return sorted(1.0 / (1.0 + error) for error in errors)


def probability_within(forecast: float, bound: float, ratios: Sequence[float]) -> float:
    """The least probability that the measured figure is within ``bound`` where ``forecast`` was forecast.

    Of ``n`` checked forecasts ``k`` would have kept the bound if their measured figure had been as far from
    ``forecast`` as it was: ``k / (n + 1)``.  It holds for any distribution if the next forecast is like those
    that were checked (exchangeable): then its error has each of the ``n + 1`` ranks with equal probability
    (Wilks, Annals of Mathematical Statistics 12, 1941; Vovk, Gammerman and Shafer 2005).  So it is 0 or more,
    and never 1.
    """
    return sum(forecast * ratio <= bound for ratio in ratios) / (len(ratios) + 1)


def highest_probability(ratios: Sequence[float]) -> float:
    """What :func:`probability_within` gives if every checked forecast would have kept the bound."""
    return len(ratios) / (len(ratios) + 1)


def margin_for(probability: float, ratios: Sequence[float]) -> float | None:
    """By what a bound must be divided for :func:`probability_within` to give at least ``probability``.

    None if all of the checked forecasts together give less.
    """
    for kept, ratio in enumerate(sorted(ratios), start=1):
        if kept / (len(ratios) + 1) >= probability:
            return ratio
    return None
