"""Smoothing: models found again, forecasts continue what was, one series as in statsmodels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from statsmodels.tsa.exponential_smoothing.ets import ETSModel

from mawl.programs.forecasting import smoothing
from mawl.programs.forecasting.run import least_square
from mawl.programs.forecasting.smoothing import MODELS, screen, seasonal_naive, select

MONTHS = np.arange(60)
SHAPES = {
    "simple": np.zeros(60),
    "trend": 6.0 * MONTHS,
    "damped": 300.0 * (1.0 - 0.9**MONTHS),
    "seasonal": 60.0 * np.sin(2 * np.pi * MONTHS / 12),
}


@pytest.mark.parametrize("number", range(4))
def test_a_clear_shape_is_found_by_both(number: int) -> None:
    shape = SHAPES[MODELS[number].name]
    noise = np.random.default_rng(number).normal(0.0, 8.0, (6, 60))
    history = 1_000.0 + shape + noise
    models, forecasts = screen(history, 12)
    assert (models == number).sum() >= 5
    assert forecasts.shape == (6, 12)
    found = select(history[0], 12)
    assert found is not None
    assert found[0] == number
    assert found[1] == pytest.approx(forecasts[0], abs=15.0)


def test_a_screen_smooths_as_statsmodels_does() -> None:
    history = 500.0 + np.random.default_rng(5).normal(0.0, 10.0, 60)
    (level,) = smoothing._first_states(history[:, None], MODELS[0], 3)[0][0]
    model = ETSModel(history, error="add", initialization_method="known", initial_level=level)
    squares = [float(np.square(model.smooth([weight]).resid).sum()) for weight in smoothing._LEVELS]
    criterion, forecasts = smoothing._smooth(history[:, None], MODELS[0], 3)
    best = smoothing._LEVELS[int(np.argmin(squares))]
    assert forecasts[0] == pytest.approx(model.smooth([best]).forecast(3))
    assert criterion[0] == pytest.approx(smoothing._criterion(np.array([min(squares)]), 60, 3)[0])


def test_a_fit_that_does_not_converge_is_counted_and_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck:
        def __init__(self, *given: Any, **options: Any) -> None:
            self.stuck = "trend" in options

        def fit(self, disp: bool) -> Any:
            return SimpleNamespace(
                mle_retvals={"converged": not self.stuck},
                aicc=-1.0 if self.stuck else 1.0,
                forecast=np.zeros,
            )

    monkeypatch.setattr(smoothing, "ETSModel", Stuck)
    found = select(np.zeros(60), 12)
    assert found is not None
    assert (found[0], found[2]) == (0, 2)
    monkeypatch.setattr(smoothing, "MODELS", MODELS[1:3])
    assert select(np.zeros(60), 12) is None


def test_the_naive_forecast_is_the_last_year() -> None:
    assert seasonal_naive(np.arange(36.0)[None], 12)[0].tolist() == list(range(24, 36))


def test_the_least_square_is_that_of_innovations_that_stay() -> None:
    # By kinds: 215.7, 253.0, 240.8 and 215.7, at 12 units of noise.
    assert least_square() == pytest.approx(229.76, abs=0.01)
