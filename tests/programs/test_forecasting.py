"""forecasting rejects wrong answers that are planted in its models, its forecasts and its passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.programs import forecast_checks, forecasting, smoothing
from mawl.programs.smoothing import MODELS
from mawl.tables.arrow import TableWriter
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


@pytest.mark.parametrize("wrong", [_next_series, _next_month, _mean, _noisy])
def test_forecasts_of_other_series_or_months_are_rejected(
    wrong: Callable[[Array], Array], run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    def screen(history: Array, ahead: int) -> tuple[Array, Array]:
        models, forecasts = smoothing.screen(history, ahead)
        return models, wrong(forecasts)

    monkeypatch.setattr(forecasting, "screen", screen)
    assert "excess error of screened forecasts" in rejected(run_job())


@pytest.mark.parametrize("number", range(4))
def test_one_model_for_all_is_rejected(number: int, run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smoothing, "MODELS", MODELS[number : number + 1])
    assert "series" in rejected(run_job())


def test_a_criterion_that_does_not_count_parameters_is_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smoothing, "_criterion", lambda squares, count, parameters: squares)
    assert "screened series" in rejected(run_job())


def test_weights_that_are_far_too_large_are_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smoothing, "_LEVELS", (0.95,))
    assert "is wrong" in rejected(run_job())


def test_forecasts_that_know_what_came_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = forecasting._Forecasting._score

    def score(self: Any, ahead: Array, months: Array) -> None:
        right(self, 0.6 * ahead + 0.4 * months[:, -12:], months)

    monkeypatch.setattr(forecasting._Forecasting, "_score", score)
    assert "months to come" in rejected(run_job())


def test_a_naive_forecast_of_another_year_is_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecasting, "seasonal_naive", lambda history, ahead: history[:, :ahead])
    assert "naive forecasts" in rejected(run_job())


def test_the_smallest_in_the_place_of_the_largest_are_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = forecasting._largest
    monkeypatch.setattr(forecasting, "_largest", lambda revenue, count: right(-revenue, count))
    assert "least revenue" in rejected(run_job())


def test_months_that_changed_places_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = forecasting._Forecasting._histories

    passes = iter((0, 1))

    def histories(self: Any) -> Iterator[tuple[Array, Array]]:
        turn = next(passes)
        for numbers, months in right(self):
            yield numbers, np.roll(months, turn, axis=1)

    monkeypatch.setattr(forecasting._Forecasting, "_histories", histories)
    assert "sales held out" in rejected(run_job())


def test_a_forecast_that_is_lost_is_missed(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = TableWriter.write

    def write(self: TableWriter, batch: Any) -> None:
        right(self, batch.slice(1) if "ahead_00" in batch.schema.names else batch)

    monkeypatch.setattr(TableWriter, "write", write)
    assert "number of forecasts" in rejected(run_job())


def test_errors_that_are_added_up_twice_are_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = forecast_checks.check_error
    monkeypatch.setattr(
        forecasting, "check_error", lambda what, squares, series: right(what, 2.0 * squares, series)
    )
    assert "squared error of all forecasts" in rejected(run_job())


def test_searches_that_do_not_converge_leave_the_screened_model(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecasting, "select", lambda history, ahead: None)
    job = run_job()
    assert job.answer is not None
    assert job.answer["fits_not_converged"] == 4 * job.answer["searched"]
