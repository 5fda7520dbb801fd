"""pension_cube rejects wrong answers that are planted in its projection, its join and its counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mawl.programs import pension_cube as program
from mawl.programs import pension_grid as grid
from mawl.programs.pension_projection import Projector
from tests.programs.planted import RunJob, job_runner, rejected


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("pension_cube", 0.00003, Path(tmp_path_factory.mktemp("pension_cube")))


def test_the_right_answer_passes(run_job: RunJob) -> None:
    assert run_job().failed is None


@pytest.mark.parametrize(
    ("name", "factor", "less"),
    [("first_contribution", 1.00001, 0.0), ("monthly_interest", 1.00001, 0.0), ("months", 1.0, 12.0)],
)
def test_a_projection_on_another_basis_is_rejected(
    name: str, factor: float, less: float, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Projector._project_tile
    basis = getattr(grid, name)

    def project(self: Any, tile: Any, where: slice) -> None:
        with pytest.MonkeyPatch.context() as other:
            other.setattr(grid, name, lambda of: basis(of) * factor - less)
            right(self, tile, where)

    monkeypatch.setattr(Projector, "_project_tile", project)
    assert "fund_cents of cell" in rejected(run_job())


@pytest.mark.parametrize("column", ["inflation", "growth", "interest"])
def test_a_parameter_that_is_mixed_up_is_rejected(
    column: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Projector._project_tile

    def project(self: Any, tile: Any, where: slice) -> None:
        right(self, {**tile, column: np.roll(tile[column], 1)}, where)

    monkeypatch.setattr(Projector, "_project_tile", project)
    assert "cents of cell" in rejected(run_job())


def test_annuities_of_other_keys_are_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = program._keys
    monkeypatch.setattr(program, "_keys", lambda places: (right(places) + 1) % 1000)
    assert "the pension of row" in rejected(run_job())


def test_a_join_that_loses_cells_is_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = program._keys
    monkeypatch.setattr(program, "_keys", lambda places: right(places) + 1)
    assert "the number of joined cells" in rejected(run_job())


def test_a_join_in_another_order_is_rejected(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = program._PensionCube._joined
    monkeypatch.setattr(program._PensionCube, "_joined", lambda *given: right(*given)[::-1])
    assert rejected(run_job())


def test_a_year_that_is_not_counted_is_missed(run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    right = program._histogram
    monkeypatch.setattr(program, "_histogram", lambda values, largest: right(values[1:], largest))
    assert "the number of cells by" in rejected(run_job())
