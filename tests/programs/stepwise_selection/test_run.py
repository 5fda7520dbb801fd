"""stepwise_selection rejects wrong answers that are planted in its models and its passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.programs.stepwise_selection import run
from mawl.programs.stepwise_selection import run as stepwise_selection
from mawl.programs.stepwise_selection.run import Stepwise
from mawl.programs.stepwise_selection.run import _StepwiseSelection as Selection
from mawl.programs.tables.arrow import TableWriter
from mawl.programs.toolkit import models
from mawl.programs.toolkit.models import Design, NewtonProducts, Recombined
from tests.contract.planted_run import without_first_row
from tests.programs.planted import RunJob, job_runner, rejected


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("stepwise_selection", 0.00006, Path(tmp_path_factory.mktemp("stepwise")))


def test_the_right_answer_passes(run_job: RunJob) -> None:
    job = run_job()
    assert job.failed is None
    assert job.answer is not None
    assert job.answer["candidates"] == 305


def _of_the_next_row(prepare: Any) -> Any:
    return lambda *arguments: np.roll(prepare(*arguments), 1, axis=1)


def _other_level(levels: Any) -> Any:
    return lambda column: (*levels(column)[1:], levels(column)[0])


def _not_centred(measures: Any) -> Any:
    return tuple(msgspec.structs.replace(measure, less=0) for measure in measures)


def _other_defects(split: Any) -> Any:
    def confused(columns: Any) -> Any:
        responses, terms = split(columns)
        return responses[[0, 2, 3, 1]], terms

    return confused


def _without_a_row(add: Any) -> Any:
    return lambda self, products, rows: add(self, products, rows - 1)


def _next_rows(pick: Any) -> Any:
    return lambda self, places, terms: np.roll(pick(self, places, terms), 1, axis=1)


def _times(factor: float) -> Callable[[Any], Any]:
    return lambda figures: property(lambda self: factor * figures.fget(self))


FAULTS: dict[str, tuple[Any, str, Callable[[Any], Any], str]] = {
    "measures of the next case": (stepwise_selection, "prepare", _of_the_next_row, "selection for yield"),
    "indicators of other values": (models, "class_levels", _other_level, "no machine=M3"),
    "measures are not centred": (stepwise_selection, "MEASURES", _not_centred, "selection for"),
    "nothing enters": (run, "ENTER", lambda _: 1e9, "expected every true term"),
    "noise enters": (run, "ENTER", lambda _: 4.0, "besides"),
    "defects are confused": (stepwise_selection, "_split", _other_defects, "selection for defect_1"),
    "coefficients too large": (Stepwise, "coefficients", _times(1.3), "residuals of yield"),
    "errors too small": (Stepwise, "errors", _times(0.05), "the coefficient of yield"),
    "errors of rows too few": (Stepwise, "variance", _times(1.4), "variance of the residuals of yield"),
    "refits of the opposite": (Recombined, "coefficients", _times(-1.0), "refitted,"),
    "a case is not weighed": (NewtonProducts, "add", _without_a_row, "cases in the weighted cross-products"),
    "refits of the next case": (Design, "pick", _next_rows, "sum of squared residuals"),
    "a row is lost": (TableWriter, "write", without_first_row, "prepared table"),
    "rows are not refitted": (Selection, "_columns", lambda columns: _lost(columns), "is wrong"),
}


def _lost(columns: Any) -> Any:
    def some(self: Any) -> Any:
        for batch in columns(self):
            yield batch[:, ::2]

    return some


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_is_rejected(fault: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong, sentence = FAULTS[fault]
    if fault == "noise enters":
        monkeypatch.setattr(run, "STAY", 3.5)
    right = owner.__dict__[name]
    monkeypatch.setattr(owner, name, wrong(right))
    assert sentence in rejected(run_job())
