"""The forecasts that were compared with measured times, one by one, and what they say of the next one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

TimeFigure = Literal["time.real_time_seconds", "time.elapsed_seconds"]

BedKind = Literal["uncached", "cached", "memory"]
"""Runs that kept files out of the page cache; runs that used it; those of them that had other memory."""

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
the same on both sides.  The runs used the page cache, and nothing is written behind on most of the beds.
"""

UNCACHED_BEDS: dict[TimeFigure, tuple[float, ...]] = {
    "time.elapsed_seconds": (
        *(0.077, 0.019, -0.003, -0.014, -0.037, -0.002, -0.001, 0.025, 0.018),
        *(0.004, 0.002, -0.036, 0.047, 0.027, 0.058, -0.032, -0.000, -0.013),
        *(0.008, -0.019, -0.012, -0.021, 0.026, -0.010, -0.047, 0.007, -0.036),
        *(0.012, 0.054, 0.001, -0.002, 0.015, 0.003, 0.014, -0.037, -0.010),
        *(-0.009, -0.068, 0.000, -0.017, -0.010, 0.009, -0.047, 0.009, 0.003),
        *(0.025, 0.009, -0.034, 0.065, -0.006, 0.005, 0.102, 0.004, 0.000),
        *(-0.153, 0.007, -0.054, -0.021, 0.042, 0.008, 0.095, 0.057, 0.055),
        *(0.021, 0.018, 0.031, 0.007, 0.032, 0.006, -0.021, -0.057, -0.004),
        *(0.010, 0.002, 0.002, 0.006, 0.006, 0.000, -0.059, -0.018, 0.010),
        *(-0.075, 0.066, -0.034, -0.034, -0.021, -0.026, -0.035, -0.010, -0.017),
        *(0.013, 0.004, 0.001, -0.018, -0.001, 0.000, -0.032, 0.009, -0.014),
        *(0.040, -0.013, -0.005, 0.008, -0.033, -0.022, 0.021, -0.005, 0.041),
    ),
    "time.real_time_seconds": (
        *(0.024, 0.461, -0.018, -0.007, -0.008, 0.063, 0.015, -0.019, -0.148),
        *(0.012, -0.001, -0.041, 0.071, 0.004, 0.106, -0.022, 0.013, 0.008),
        *(-0.005, -0.010, -0.082, -0.011, -0.036, -0.021, -0.017, 0.021, 0.287),
        *(0.022, 0.029, -0.022, -0.025, -0.026, -0.011, -0.023, -0.004, 0.026),
        *(0.056, 0.005, 0.018, -0.015, -0.014, 0.012, -0.070, -0.091, 0.003),
        *(0.030, -0.080, -0.153, 0.031, -0.005, 0.196, 0.148, -0.051, 0.005),
        *(-0.140, 0.040, -0.073, 0.022, 0.027, 0.006, 0.192, 0.042, 0.111),
        *(-0.008, 0.015, -0.027, 0.010, 0.027, -0.002, -0.014, -0.049, 0.011),
        *(0.020, -0.046, 0.003, 0.006, -0.012, 0.005, -0.031, 0.003, 0.024),
        *(-0.061, 0.029, -0.033, -0.133, -0.011, -0.119, 0.001, -0.003, -0.110),
        *(-0.039, 0.010, 0.001, -0.022, -0.002, -0.004, -0.024, 0.013, -0.009),
        *(-0.008, -0.013, 0.010, -0.021, -0.076, -0.042, -0.020, -0.023, 0.000),
    ),
}
"""The same of each forecast of a drawn bed (docs/reference/drawn-forecasts.md), in its order, whose run kept
files out of the page cache: other rates, devices, cores, latencies.
"""

MEMORY_BEDS: dict[TimeFigure, tuple[float, ...]] = {
    "time.elapsed_seconds": (
        *(-0.157, -0.065, -0.036, -0.203, -0.008, 0.011, -0.015, 0.019, 0.110),
        *(-0.005, -0.006, -0.006, -0.091, -0.050, -0.063, -0.062, 0.009, 0.008),
        *(0.000, 0.004, 0.003, -0.096, -0.029, 0.006, -0.001, -0.236, 0.003),
        *(-0.020, -0.169, -0.138, -0.176, 0.018, 0.101, -0.028, 0.081, 0.059),
        *(-0.132, -0.208, 0.019, -0.013, -0.014, -0.005, 0.185, 0.019, 0.024),
    ),
    "time.real_time_seconds": (
        *(-0.068, -0.067, -0.043, -0.175, -0.005, 0.010, 0.043, 0.074, 0.094),
        *(-0.010, -0.005, -0.007, -0.270, 0.118, -0.006, -0.215, 0.034, 0.052),
        *(0.007, 0.004, 0.009, -0.062, -0.021, 0.010, -0.034, -0.115, -0.011),
        *(0.136, -0.190, -0.111, -0.055, 0.104, 0.100, -0.024, 0.069, 0.050),
        *(-0.144, -0.244, -0.019, 0.017, 0.014, 0.021, 0.178, 0.091, 0.097),
    ),
}
"""The same of those whose run used the page cache and had other memory."""

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


_BEDS: dict[BedKind, dict[TimeFigure, tuple[float, ...]]] = {
    "uncached": UNCACHED_BEDS,
    "cached": LAB_BEDS,
    "memory": MEMORY_BEDS,
}


def bed_ratios(kind: BedKind, figure: TimeFigure) -> list[float]:
    """Measured over forecast times of all forecasts of a kind that beds were run for, the smallest first."""
    return measured_ratios(_BEDS[kind][figure])


def published_ratios() -> list[float]:
    """The same of the papers' systems that the model was not fitted on."""
    return measured_ratios(tuple(PUBLISHED_SYSTEMS.values()))


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
