"""pension_cube rejects wrong answers that are planted in its projection, its join and its counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mawl.programs.pension_cube import grid
from mawl.programs.pension_cube import run as program
from mawl.programs.pension_cube.grid import Projector
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, result
from tests.programs.planted import RunJob, job_runner, rejected


@pytest.fixture(scope="module")
def run_job(tmp_path_factory: pytest.TempPathFactory) -> RunJob:
    return job_runner("pension_cube", 0.00003, Path(tmp_path_factory.mktemp("pension_cube")))


def test_the_right_answer_passes(run_job: RunJob) -> None:
    assert run_job().failed is None


def _on_basis(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A projection, and nothing else, on another basis."""

    def wrong(project: Any) -> Any:
        def run(self: Projector, tile: Any, where: slice) -> None:
            right = getattr(grid, name)
            with pytest.MonkeyPatch.context() as other:
                other.setattr(grid, name, lambda of: change(right(of)))
                project(self, tile, where)

        return run

    return wrong


def _rolled(column: str) -> Callable[[Any], Any]:
    """A projection of cells that have a parameter of the next one."""
    return given(
        lambda self, tile, where: (self, {**tile, column: np.roll(tile[column], 1)}, where),
    )


FUND = "fund_cents of cell"
FAULTS = {
    "first contributions are too large": Fault(
        Projector, "_project_tile", _on_basis("first_contribution", lambda of: of * 1.00001), FUND
    ),
    "interest is too high": Fault(
        Projector, "_project_tile", _on_basis("monthly_interest", lambda of: of * 1.00001), FUND
    ),
    "a year is not saved for": Fault(
        Projector, "_project_tile", _on_basis("months_to_retirement", lambda of: of - 12.0), FUND
    ),
    "inflation is another cell's": Fault(Projector, "_project_tile", _rolled("inflation"), "cents of cell"),
    "growth is another cell's": Fault(Projector, "_project_tile", _rolled("growth"), "cents of cell"),
    "interest is another cell's": Fault(Projector, "_project_tile", _rolled("interest"), "cents of cell"),
    "annuities are of other keys": Fault(
        program, "_keys", result(lambda keys: (keys + 1) % 1000), "the pension of row"
    ),
    "the join loses cells": Fault(
        program, "_keys", result(lambda keys: keys + 1), "the number of joined cells"
    ),
    "the join changes the order": Fault(
        program._PensionCube, "_joined", result(lambda annuity: annuity[::-1]), "is wrong"
    ),
    "a cell of each batch is not counted": Fault(
        program,
        "_histogram",
        given(lambda values, largest: (values[1:], largest)),
        "the number of cells by",
    ),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_is_rejected(fault: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault].plant(monkeypatch)
    assert FAULTS[fault].said in rejected(run_job())
