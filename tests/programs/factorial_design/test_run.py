"""factorial_design rejects wrong answers that are planted in its tests, its designs and its passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.regression.linear_model import WLS

from mawl.programs.factorial_design import analysis as factorial
from mawl.programs.factorial_design import run as factorial_design
from mawl.programs.factorial_design.analysis import Candidates
from mawl.programs.factorial_design.declare import FACTORS
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, instead, result
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


def _scaled(factor: float) -> Callable[[Any], Any]:
    """Fits with another error variance."""

    def wrong(fit: Any) -> Any:
        def run(self: Any, **options: Any) -> Any:
            return fit(self, **{**options, "cov_kwds": {"scale": options["cov_kwds"]["scale"] * factor}})

        return run

    return wrong


def _without_effects(write: Any) -> Any:
    """A writer of effects that loses the first study of each batch."""
    return lambda self, batch: write(self, batch.slice(1) if "yield_found" in batch.schema.names else batch)


def _next_study(rows: Array, schema: Any) -> tuple[Array, Any]:
    return np.column_stack([rows[:, :1], np.roll(rows[:, 1:], 1, axis=0)]), schema


def _next_term(design: Array) -> Array:
    return np.column_stack([np.ones(len(design)), np.roll(design[:, 1:], 1, axis=1)])


FAULTS = {
    "factors are in another order": Fault(factorial_design, "FACTORS", instead(FACTORS[::-1]), "is wrong"),
    "tests find nothing": Fault(factorial, "SIGNIFICANCE", instead(0.0), "number of terms found"),
    "tests find anything": Fault(factorial, "SIGNIFICANCE", instead(0.5), "found that are not there"),
    "no levels differ": Fault(
        factorial, "critical_range", instead(lambda freedom: 50.0), "number of clear differences"
    ),
    "all levels differ": Fault(
        factorial, "critical_range", instead(lambda freedom: 0.3), "compared that have no effect"
    ),
    "errors are too small": Fault(WLS, "fit", _scaled(0.8), "square of standard errors"),
    "errors are too large": Fault(WLS, "fit", _scaled(1.3), "square of standard errors"),
    "cells are not weighted": Fault(
        factorial,
        "WLS",
        instead(lambda means, design, weights: WLS(means, design, weights=np.ones_like(weights))),
        "is wrong",
    ),
    "designs are not improved": Fault(
        Candidates, "_exchange", instead(lambda self, design: design), "best swap left"
    ),
    "determinants are of other designs": Fault(
        Candidates, "search", result(lambda found: (found[0], found[1] + 0.1)), "log determinant"
    ),
    "designs are one run": Fault(
        Candidates, "search", result(lambda found: (np.zeros_like(found[0]), found[1])), "log determinant"
    ),
    "designs lack a run": Fault(
        Candidates, "search", result(lambda found: (found[0][1:], found[1])), "number of next runs"
    ),
    "effects are the next study's": Fault(
        factorial_design, "as_batch", given(_next_study), "variance of the residuals"
    ),
    "studies have no effects": Fault(
        TableWriter, "write", _without_effects, "number of studies with effects"
    ),
    "a study has no next runs": Fault(
        factorial_design._FactorialDesign,
        "_effect_rows",
        result(lambda rows: iter(list(rows)[:-1])),
        "number of studies with next runs",
    ),
    "responses are the next run's": Fault(
        factorial_design,
        "_analyse_studies",
        given(lambda cell, response: (cell, np.roll(response, 1))),
        "number of terms found",
    ),
    "parameters are of the next term": Fault(factorial, "DESIGN", _next_term, "is wrong"),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_is_rejected(fault: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault].plant(monkeypatch)
    assert FAULTS[fault].said in rejected(run_job())
