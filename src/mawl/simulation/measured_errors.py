"""The forecasts that were compared with measured times, one by one, and what they say of the next one."""

from __future__ import annotations

import math
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

DRAWN_BEDS: dict[TimeFigure, tuple[float, ...]] = {
    "time.elapsed_seconds": (
        *(-0.161, -0.069, -0.042, 0.074, 0.027, -0.004, -0.017, -0.021, -0.002),
        *(-0.007, 0.010, 0.042, -0.203, -0.008, 0.011, 0.008, 0.011, 0.004),
        *(0.145, 0.188, -0.013, -0.035, -0.003, -0.019, -0.016, 0.017, 0.108),
        *(0.014, 0.005, 0.013, -0.018, 0.026, -0.010, -0.041, 0.017, -0.022),
        *(-0.005, -0.006, -0.006, 0.038, 0.173, 0.037, -0.001, -0.013, 0.005),
        *(0.116, -0.075, 0.004, -0.084, -0.044, -0.060, 0.000, -0.072, 0.004),
        *(-0.017, -0.010, 0.009, -0.041, 0.009, 0.005, -0.062, 0.009, 0.008),
        *(0.011, -0.002, -0.034, 0.059, -0.008, 0.016, 0.104, 0.013, 0.000),
        *(0.000, 0.004, 0.004, -0.076, 0.134, 0.047, -0.022, 0.044, 0.008),
        *(0.091, 0.055, 0.050, -0.098, -0.032, 0.004, 0.020, 0.038, 0.029),
        *(0.006, 0.032, 0.006, -0.008, 0.086, 0.007, -0.001, -0.236, 0.003),
        *(0.013, -0.001, 0.005, 0.004, 0.038, 0.000, -0.039, 0.058, 0.069),
        *(-0.021, -0.172, -0.141, -0.077, 0.065, -0.034, -0.026, 0.100, -0.026),
        *(-0.038, -0.011, -0.008, -0.176, 0.018, 0.101, 0.103, 0.004, 0.054),
        *(-0.019, -0.001, 0.000, -0.033, 0.007, -0.014, -0.029, 0.078, 0.056),
        *(-0.003, -0.020, -0.005, 0.003, 0.076, -0.022, 0.070, -0.005, 0.042),
        *(-0.136, -0.212, 0.013, -0.013, -0.014, -0.005, 0.185, 0.019, 0.024),
    ),
    "time.real_time_seconds": (
        *(-0.014, -0.002, 0.060, 0.036, 0.058, 0.006, -0.019, 0.000, 0.055),
        *(0.033, -0.026, -0.147, -0.181, -0.012, 0.003, 0.019, 0.014, -0.062),
        *(0.177, 0.095, -0.001, -0.003, 0.012, 0.042, 0.110, 0.143, 0.192),
        *(-0.006, -0.038, -0.111, 0.026, -0.020, -0.011, 0.013, 0.013, 0.068),
        *(-0.010, -0.005, -0.007, 0.036, 0.113, -0.112, -0.021, -0.016, -0.012),
        *(-0.012, -0.006, 0.046, -0.200, 0.231, 0.126, -0.010, 0.004, 0.022),
        *(-0.015, -0.014, 0.012, -0.066, -0.089, 0.002, -0.215, 0.034, 0.052),
        *(0.105, 0.025, -0.175, 0.051, -0.005, -0.112, 0.166, -0.116, 0.001),
        *(0.007, 0.005, 0.009, -0.078, 0.145, 0.006, 0.019, 0.030, 0.023),
        *(0.162, 0.083, 0.174, -0.015, 0.040, 0.072, 0.041, 0.089, 0.003),
        *(0.011, 0.032, 0.028, -0.008, 0.025, 0.014, -0.003, -0.086, 0.021),
        *(0.020, -0.051, 0.005, 0.005, -0.052, 0.003, -0.046, 0.041, 0.044),
        *(0.155, -0.149, -0.067, -0.066, 0.041, -0.034, 0.003, 0.298, 0.005),
        *(-0.002, -0.012, -0.105, -0.055, 0.104, 0.100, 0.032, 0.002, 0.156),
        *(-0.022, -0.002, -0.004, -0.004, 0.026, 0.025, 0.006, 0.118, 0.098),
        *(-0.037, -0.014, -0.020, -0.021, 0.044, -0.051, 0.007, -0.023, -0.004),
        *(-0.097, -0.191, 0.058, 0.011, 0.008, 0.015, 0.178, 0.091, 0.097),
    ),
}
"""The same of each forecast of a drawn bed (docs/reference/drawn-forecasts.md), in its order."""

PUBLISHED_SYSTEMS: dict[str, float] = {
    "dl980-flash-30": 0.44,
    "s822-hybrid-20": -0.21,
    "e880-xiv-plain-30": -0.19,
    "e880-xiv-compressed-30": -0.19,
    "e880-ess-40gbe-4x30": 0.13,
    "e880-ess-56gbe-4x30": 0.28,
    "e980-fs9150-4": -0.36,
}
"""The same of the papers' systems that the model was not fitted on, by the time that the paper prints: real
time of all jobs, else elapsed, else active (docs/reference/published-forecasts.md)."""


def measured_ratios(errors: Sequence[float]) -> list[float]:
    """Measured over forecast times, the smallest first."""
    return sorted(1.0 / (1.0 + error) for error in errors)


def bed_ratios(figure: TimeFigure) -> list[float]:
    """Measured over forecast times of all forecasts of lab beds and drawn beds, the smallest first."""
    return measured_ratios((*LAB_BEDS[figure], *DRAWN_BEDS[figure]))


RANGE_RATIO = 0.9
"""A range of forecasts holds the measured time at least so often, where enough forecasts were checked."""


def central_range(ratios: Sequence[float], probability: float = RANGE_RATIO) -> tuple[float, float]:
    """The factors of a forecast between which the measured figure lies with at least ``probability``.

    Between the ``k``-th smallest and the ``k``-th largest of ``n`` sorted ratios lies the next one with
    ``(n + 1 - 2 k) / (n + 1)``, by the reasoning of :func:`probability_within`; ``k`` is the largest that
    gives the probability.  If ``n`` is too small for it, they are the smallest and the largest.  They are
    rounded outward to 0.01.
    """
    kept = max(int((len(ratios) + 1) * (1.0 - probability) / 2.0 + 1e-9), 1)
    return math.floor(ratios[kept - 1] * 100.0) / 100.0, math.ceil(ratios[-kept] * 100.0) / 100.0


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
