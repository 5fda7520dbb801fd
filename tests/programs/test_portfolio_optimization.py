"""portfolio_optimization rejects wrong answers that are planted in its solver and its simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mawl.programs import portfolio_optimization as program
from mawl.programs.selection import Selection
from tests.programs.planted import RunJob, job_runner, rejected


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("portfolio_optimization", 0.0001, Path(tmp_path_factory.mktemp("portfolio")))


def test_the_right_answer_passes(run_job: RunJob) -> None:
    assert run_job().failed is None


def test_a_selection_beyond_its_budget_is_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Selection, "solve", lambda self: (np.ones(len(self.prices), np.bool_), 0.0))
    assert "the selection of mandate 0" in rejected(run_job())


def test_a_selection_below_the_solvers_bound_is_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Selection.solve

    def worse(self: Selection) -> Any:
        chosen, bound = right(self)
        chosen[np.flatnonzero(chosen)[0]] = False
        return chosen, bound

    monkeypatch.setattr(Selection, "solve", worse)
    assert "the solver's bound" in rejected(run_job())


def test_a_solver_that_gives_nothing_and_believes_it_is_rejected(
    run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Selection, "solve", lambda self: (np.zeros(len(self.prices), np.bool_), 0.0))
    assert "by duality" in rejected(run_job())


@pytest.mark.parametrize("factor", [0.8, 0.9, 1.1, -1.0])
def test_risks_of_another_size_are_rejected(
    factor: float, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = program._value_at_risk
    monkeypatch.setattr(program, "_value_at_risk", lambda *given: factor * right(*given))
    monkeypatch.setattr(Selection, "solve", quick_solve)
    monkeypatch.setattr(program, "_check_selection", lambda *given: None)
    assert "the value at risk of every mandate" in rejected(run_job())


def test_risks_without_a_securitys_own_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = program._value_at_risk
    monkeypatch.setattr(
        program, "_value_at_risk", lambda market, exposures, own, seed: right(market, exposures, 0.0, seed)
    )
    monkeypatch.setattr(Selection, "solve", quick_solve)
    monkeypatch.setattr(program, "_check_selection", lambda *given: None)
    assert "the value at risk of every mandate" in rejected(run_job())


def quick_solve(self: Selection) -> Any:
    """A feasible selection that says it is the best."""
    chosen = np.arange(len(self.prices)) == int(self.gains.argmax())
    return chosen, float(self.value(chosen))
