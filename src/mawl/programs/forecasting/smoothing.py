"""Exponential smoothing of monthly series: four models with additive errors, the best by AICc.

Many series at once over a grid of weights (``screen``), or one by maximum likelihood
(``select``), which takes a thousand times as long.  Models are numbered as in ``MODELS``.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from statsmodels.tsa.exponential_smoothing.ets import ETSModel

Numbers = NDArray[np.float64]

SEASON = 12


@dataclass(frozen=True)
class SmoothingModel:
    """A model: its options in statsmodels, what it estimates, and the weights that a screen tries."""

    name: str
    options: dict[str, object]
    parameters: int
    """Weights, first states and the variance."""
    slopes: tuple[float, ...] = (0.0,)
    dampings: tuple[float, ...] = (1.0,)
    seasons: tuple[float, ...] = (0.0,)

    @property
    def has_slope(self) -> bool:
        return "trend" in self.options

    @property
    def has_season(self) -> bool:
        return "seasonal" in self.options


_LEVELS = (0.1, 0.3, 0.5)
_SLOPES = (0.005, 0.02, 0.08)
MODELS = (
    SmoothingModel("simple", {}, 3),
    SmoothingModel("trend", {"trend": "add"}, 5, slopes=_SLOPES),
    SmoothingModel(
        "damped", {"trend": "add", "damped_trend": True}, 6, slopes=_SLOPES, dampings=(0.8, 0.9, 0.97)
    ),
    SmoothingModel("seasonal", {"seasonal": "add", "seasonal_periods": SEASON}, 15, seasons=(0.0, 0.1, 0.3)),
)


def screen(history: Numbers, ahead: int) -> tuple[NDArray[np.intp], Numbers]:
    """The best model of each series, and its forecasts: (series,) and (series, ahead).

    ``history`` is (series, months); first states are read off the first months.
    """
    series = len(history)
    best = np.full(series, np.inf)
    models, forecasts = np.zeros(series, np.intp), np.zeros((series, ahead))
    for number, model in enumerate(MODELS):
        criterion, found = _smooth(np.ascontiguousarray(history.T), model, ahead)
        better = criterion < best
        best[better], models[better], forecasts[better] = criterion[better], number, found[better]
    return models, forecasts


def select(history: Numbers, ahead: int) -> tuple[int, Numbers, int] | None:
    """The best model of one series, its forecasts (ahead,), and how many fits did not converge.

    None where no fit converged.
    """
    best, failed = np.inf, 0
    found: tuple[int, Numbers] | None = None
    with warnings.catch_warnings():
        # A fit that does not converge is counted, and its model not chosen.
        warnings.simplefilter("ignore")
        for number, model in enumerate(MODELS):
            fitted = ETSModel(history, error="add", **model.options).fit(disp=False)
            if not fitted.mle_retvals["converged"] or not np.isfinite(fitted.aicc):
                failed += 1
            elif fitted.aicc < best:
                best, found = fitted.aicc, (number, np.asarray(fitted.forecast(ahead), np.float64))
    return None if found is None else (*found, failed)


def seasonal_naive(history: Numbers, ahead: int) -> Numbers:
    """The same months of the last year: (series, ahead), for at most a year ahead."""
    return history[:, history.shape[1] - SEASON :][:, :ahead]


def _smooth(months: Numbers, model: SmoothingModel, ahead: int) -> tuple[Numbers, Numbers]:
    """AICc and forecasts of each series at its best weights; ``months`` is (months, series)."""
    weights = _weights(model)
    level_weight, slope_weight, damping, season_weight = weights.T[:, :, None]
    count, series = months.shape
    level, slope, season = _first_states(months, model, len(weights))
    squares = np.zeros((len(weights), series))
    for month in range(count):
        expected = level
        if model.has_slope:
            slope = slope * damping
            expected = level = level + slope
        if model.has_season:
            expected = level + season[month % SEASON]
        error = months[month] - expected
        squares += error * error
        level = level + level_weight * error
        if model.has_slope:
            slope = slope + slope_weight * error
        if model.has_season:
            season[month % SEASON] += season_weight * error
    best = squares.argmin(axis=0)
    each = np.arange(series)
    forecasts = np.empty((series, ahead))
    level, slope, damped = level[best, each], slope[best, each], damping[best, 0]
    for step in range(ahead):
        slope = slope * damped
        level = level + slope
        forecasts[:, step] = level + season[(count + step) % SEASON, best, each]
    return _criterion(squares[best, each], count, model.parameters), forecasts


def _weights(model: SmoothingModel) -> Numbers:
    """Weights that a screen tries: (choices, 4), of level and slope, damping, of the season."""
    return np.array(list(itertools.product(_LEVELS, model.slopes, model.dampings, model.seasons)))


def _first_states(months: Numbers, model: SmoothingModel, weights: int) -> tuple[Numbers, Numbers, Numbers]:
    """Level, slope and season before the first month, for each choice of weights."""
    series = months.shape[1]
    slope = np.zeros((weights, series))
    season = np.zeros((SEASON, weights, series))
    level = months[: SEASON // 2].mean(axis=0)
    if model.has_slope:
        early = np.arange(SEASON) - (SEASON - 1) / 2
        rise = early @ months[:SEASON] / (early @ early)
        # A slope whose mean over the first year, damped from month to month, is what the months rose by.
        damped = _weights(model)[:, 2:3] ** np.arange(1, SEASON + 1)
        slope += rise / damped.mean(axis=1, keepdims=True)
        level = months[:SEASON].mean(axis=0) - slope * damped.cumsum(axis=1).mean(axis=1, keepdims=True)
    elif model.has_season:
        years = months[: 3 * SEASON].reshape(3, SEASON, series)
        level = years[0].mean(axis=0)
        season += (years - years.mean(axis=1, keepdims=True)).mean(axis=0)[:, None, :]
    return np.broadcast_to(level, (weights, series)), slope, season


def _criterion(squares: Numbers, count: int, parameters: int) -> Numbers:
    """Akaike's criterion with the correction for short series."""
    correction = 2.0 * parameters * (parameters + 1) / (count - parameters - 1)
    found: Numbers = count * np.log(squares / count) + 2.0 * parameters + correction
    return found
