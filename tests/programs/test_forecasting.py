"""forecasting rejects wrong answers that are planted in its models, its forecasts and its passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.tsa.exponential_smoothing.ets import ETSModel

from mawl.programs import forecasting
from mawl.programs.forecasting import MODELS, least_square, screen, seasonal_naive, select
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, instead, result
from tests.programs.planted import job_runner

Array = NDArray[Any]


SCALE = 0.00015


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasting, "SERIES_OF_A_TOP_SELLER", 40)


def _next_series(forecasts: Array) -> Array:
    return np.roll(forecasts, 1, axis=0)


def _next_month(forecasts: Array) -> Array:
    return np.roll(forecasts, 1, axis=1)


def _mean(forecasts: Array) -> Array:
    return np.repeat(forecasts.mean(axis=1, keepdims=True), 12, axis=1)


def _noisy(forecasts: Array) -> Array:
    return forecasts + np.random.default_rng(1).normal(0.0, 12.0, forecasts.shape)


def _forecast(change: Callable[[Array], Array]) -> Callable[[Any], Any]:
    """Screened models stay, what they foretell does not."""
    return result(lambda found: (found[0], change(found[1])))


def _that_know(score: Any) -> Any:
    """Forecasts that lean to what came."""
    return lambda self, ahead, months: score(self, 0.6 * ahead + 0.4 * months[:, -12:], months)


def _moved_months(histories: Any) -> Any:
    """The second pass has its months moved on by one."""
    passes: list[int] = []

    def moved(self: Any) -> Any:
        passes.append(len(passes))
        turn = passes[-1]
        return ((numbers, np.roll(months, turn, axis=1)) for numbers, months in histories(self))

    return moved


def _without_forecast(write: Any) -> Any:
    """A writer of forecasts that loses the first of each block."""
    return lambda self, batch: write(self, batch.slice(1) if "ahead_00" in batch.schema.names else batch)


def _twice(score: Any) -> Any:
    """Squared errors that are added up twice."""

    def scored(self: Any, ahead: Array, months: Array) -> None:
        score(self, ahead, months)
        came = months[:, -12:]
        self.squares["forecast"] += np.square(ahead - came).sum(axis=0)

    return scored


EXCESS = "excess error of screened forecasts"
FAULTS = {
    "forecasts are the next series'": Fault(forecasting, "screen", _forecast(_next_series), EXCESS),
    "forecasts are the next month's": Fault(forecasting, "screen", _forecast(_next_month), EXCESS),
    "forecasts are means": Fault(forecasting, "screen", _forecast(_mean), EXCESS),
    "forecasts are noisy": Fault(forecasting, "screen", _forecast(_noisy), EXCESS),
    **{
        f"all series are {model.name}": Fault(forecasting, "MODELS", instead((model,)), "series")
        for model in MODELS
    },
    "parameters are not counted": Fault(
        forecasting, "_criterion", instead(lambda squares, count, parameters: squares), "screened series"
    ),
    "weights are far too large": Fault(forecasting, "_LEVELS", instead((0.95,)), "is wrong"),
    "forecasts know what came": Fault(forecasting._Forecasting, "_score", _that_know, "months to come"),
    "naive forecasts are of another year": Fault(
        forecasting,
        "seasonal_naive",
        instead(lambda history, ahead: history[:, :ahead]),
        "naive forecasts",
    ),
    "the smallest are searched": Fault(
        forecasting, "_largest", given(lambda revenue, count: (-revenue, count)), "least revenue"
    ),
    "months change places": Fault(forecasting._Forecasting, "_histories", _moved_months, "sales held out"),
    "errors are added up twice": Fault(
        forecasting._Forecasting, "_score", _twice, "squared error of all forecasts"
    ),
    "forecasts are lost": Fault(TableWriter, "write", _without_forecast, "number of forecasts"),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}


def test_searches_that_do_not_converge_leave_the_screened_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quicken(monkeypatch)
    monkeypatch.setattr(forecasting, "select", lambda history, ahead: None)
    job = job_runner("forecasting", SCALE, tmp_path)()
    assert job.answer is not None
    assert job.answer["fits_not_converged"] == 4 * job.answer["searched"]


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
    (level,) = forecasting._first_states(history[:, None], MODELS[0], 3)[0][0]
    model = ETSModel(history, error="add", initialization_method="known", initial_level=level)
    squares = [float(np.square(model.smooth([weight]).resid).sum()) for weight in forecasting._LEVELS]
    criterion, forecasts = forecasting._smooth(history[:, None], MODELS[0], 3)
    best = forecasting._LEVELS[int(np.argmin(squares))]
    assert forecasts[0] == pytest.approx(model.smooth([best]).forecast(3))
    assert criterion[0] == pytest.approx(forecasting._criterion(np.array([min(squares)]), 60, 3)[0])


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

    monkeypatch.setattr(forecasting, "ETSModel", Stuck)
    found = select(np.zeros(60), 12)
    assert found is not None
    assert (found[0], found[2]) == (0, 2)
    monkeypatch.setattr(forecasting, "MODELS", MODELS[1:3])
    assert select(np.zeros(60), 12) is None


def test_the_naive_forecast_is_the_last_year() -> None:
    assert seasonal_naive(np.arange(36.0)[None], 12)[0].tolist() == list(range(24, 36))


def test_the_least_square_is_that_of_innovations_that_stay() -> None:
    # By kinds: 215.7, 253.0, 240.8 and 215.7, at 12 units of noise.
    assert least_square() == pytest.approx(229.76, abs=0.01)
