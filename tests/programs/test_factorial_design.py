"""factorial_design rejects wrong answers that are planted in its tests, its designs and its passes."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.regression.linear_model import WLS

from mawl.plan.inputs.experiment_runs import FACTORS
from mawl.programs import factorial, factorial_design
from mawl.programs.groups import as_batch as right_batch
from mawl.programs.optimal_design import Candidates
from mawl.tables.arrow import TableWriter
from tests.programs.planted import RunJob, job_runner, rejected

Array = NDArray[Any]


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("factorial_design", 0.0003, Path(tmp_path_factory.mktemp("factorial_design")))


@pytest.fixture(autouse=True)
def few_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factorial_design, "_STARTS", 2)


def test_the_right_answer_passes(run_job: RunJob) -> None:
    assert run_job().failed is None


def test_factors_in_another_order_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factorial_design, "FACTORS", FACTORS[::-1])
    assert "is wrong" in rejected(run_job())


@pytest.mark.parametrize(
    ("significance", "said"), [(0.0, "number of terms found"), (0.5, "found that are not there")]
)
def test_tests_that_find_nothing_or_anything_are_rejected(
    significance: float, said: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factorial, "SIGNIFICANCE", significance)
    assert said in rejected(run_job())


@pytest.mark.parametrize(
    ("limit", "said"), [(50.0, "number of clear differences"), (0.3, "compared that have no effect")]
)
def test_comparisons_by_another_limit_are_rejected(
    limit: float, said: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factorial, "critical_range", lambda freedom: limit)
    assert said in rejected(run_job())


@pytest.mark.parametrize("factor", [0.8, 1.3])
def test_an_error_variance_that_is_off_is_rejected(
    factor: float, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = WLS.fit

    def fit(self: Any, **options: Any) -> Any:
        options["cov_kwds"] = {"scale": options["cov_kwds"]["scale"] * factor}
        return right(self, **options)

    monkeypatch.setattr(WLS, "fit", fit)
    assert "square of standard errors" in rejected(run_job())


def test_cells_that_are_not_weighted_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    def unweighted(means: Array, design: Array, weights: Array) -> Any:
        return WLS(means, design, weights=np.ones_like(weights))

    monkeypatch.setattr(factorial, "WLS", unweighted)
    assert "is wrong" in rejected(run_job())


def test_a_design_that_was_not_improved_is_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Candidates, "_exchange", lambda self, design: design)
    assert "best swap left" in rejected(run_job())


def _with_another_value(design: Array, value: float) -> tuple[Array, float]:
    return design, value + 0.1


def _singular(design: Array, value: float) -> tuple[Array, float]:
    return np.zeros_like(design), value


def _shorter(design: Array, value: float) -> tuple[Array, float]:
    return design[1:], value


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (_with_another_value, "log determinant"),
        (_singular, "log determinant"),
        (_shorter, "number of next runs"),
    ],
)
def test_designs_that_are_not_what_was_asked_are_rejected(
    wrong: Any, said: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Candidates.search
    monkeypatch.setattr(Candidates, "search", lambda *given: wrong(*right(*given)))
    assert said in rejected(run_job())


def test_effects_that_changed_studies_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    def as_batch(rows: Array, schema: Any) -> Any:
        return right_batch(np.column_stack([rows[:, :1], np.roll(rows[:, 1:], 1, axis=0)]), schema)

    monkeypatch.setattr(factorial_design, "as_batch", as_batch)
    assert "variance of the residuals" in rejected(run_job())


def test_a_study_without_effects_is_missed(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = TableWriter.write

    def write(self: TableWriter, batch: Any) -> None:
        right(self, batch.slice(1) if "yield_found" in batch.schema.names else batch)

    monkeypatch.setattr(TableWriter, "write", write)
    assert "number of studies with effects" in rejected(run_job())


def test_a_response_that_moved_on_to_the_next_run_is_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = factorial_design._analyse_studies
    monkeypatch.setattr(
        factorial_design, "_analyse_studies", lambda cell, response: right(cell, np.roll(response, 1))
    )
    assert "number of terms found" in rejected(run_job())


def test_parameters_of_another_term_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    rolled = functools.partial(np.roll, shift=1, axis=1)
    monkeypatch.setattr(factorial, "DESIGN", np.column_stack([np.ones(81), rolled(factorial.DESIGN[:, 1:])]))
    assert "is wrong" in rejected(run_job())
