"""forecasting rejects wrong answers that are planted in its models, its forecasts and its passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.programs.forecasting import run as forecasting
from mawl.programs.forecasting import smoothing
from mawl.programs.forecasting.smoothing import MODELS
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, instead, result
from tests.programs.planted import RunJob, job_runner, rejected

Array = NDArray[Any]


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("forecasting", 0.00015, Path(tmp_path_factory.mktemp("forecasting")))


@pytest.fixture(autouse=True)
def few_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasting, "SERIES_OF_A_TOP_SELLER", 40)


def test_the_right_answer_passes(run_job: RunJob) -> None:
    assert run_job().failed is None


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
        f"all series are {model.name}": Fault(smoothing, "MODELS", instead((model,)), "series")
        for model in MODELS
    },
    "parameters are not counted": Fault(
        smoothing, "_criterion", instead(lambda squares, count, parameters: squares), "screened series"
    ),
    "weights are far too large": Fault(smoothing, "_LEVELS", instead((0.95,)), "is wrong"),
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


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_is_rejected(fault: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault].plant(monkeypatch)
    assert FAULTS[fault].said in rejected(run_job())


def test_searches_that_do_not_converge_leave_the_screened_model(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecasting, "select", lambda history, ahead: None)
    job = run_job()
    assert job.answer is not None
    assert job.answer["fits_not_converged"] == 4 * job.answer["searched"]
