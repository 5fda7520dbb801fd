"""pension_cube rejects wrong answers that are planted in its projection, its join and its counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mawl.programs import pension_cube as grid
from mawl.programs import pension_cube as program
from mawl.programs.declarations.pension_cube import FULL_ROWS, MONTHS
from mawl.programs.pension_cube import Projector
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, result

SCALE = 0.00003


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


def plain(of: dict[str, float]) -> tuple[float, float]:
    """Fund at retirement and all that was paid, month by month."""
    fund = paid = 0.0
    factor = (1.0 + of["interest"] - of["charge"]) ** (1 / 12)
    payment = of["salary"] * 100 * of["contribution"] / 12
    for month in range(int(12 * (of["retirement_age"] - of["entry_age"]))):
        if month and month % 12 == 0:
            payment *= 1.0 + of["growth"]
        paid += payment
        fund = (fund + payment) * factor
    return fund, paid


def test_closed_formulas_are_the_recursion() -> None:
    cells = grid.cells(3, 5, 300)
    of = grid.parameters(cells)
    funds, paid, real = grid.closed_fund(of), grid.closed_paid(of), grid.closed_real(of)
    for place in range(0, 300, 7):
        one = {name: float(values[place]) for name, values in of.items()}
        expected = plain(one)
        assert (funds[place], paid[place]) == pytest.approx(expected, rel=1e-10)
        years = one["retirement_age"] - one["entry_age"]
        assert real[place] == pytest.approx(expected[0] * (1 + one["inflation"]) ** -years, rel=1e-10)


@pytest.mark.parametrize(("interest", "charge", "growth"), [(0.02, 0.02, 0.01), (0.03, 0.01, 0.02)])
def test_formulas_hold_where_their_denominators_vanish(interest: float, charge: float, growth: float) -> None:
    one = {
        "entry_age": 27.0, "retirement_age": 60.0, "salary": 48_000.0, "contribution": 0.05,
        "interest": interest, "charge": charge, "growth": growth, "inflation": 0.0,
    }  # fmt: skip
    found = grid.closed_fund({name: np.array([value]) for name, value in one.items()})
    assert found[0] == pytest.approx(plain(one)[0], rel=1e-9)


def test_the_grid_is_as_large_as_declared_and_every_row_another_cell() -> None:
    assert math.prod(len(values) for values in grid.DIMENSIONS.values()) == FULL_ROWS
    assert len(grid.DIMENSIONS) == 8
    assert math.gcd(grid._STEP, FULL_ROWS) == 1
    assert len(np.unique(grid.cells(1, 0, 100_000))) == 100_000
    assert grid.cells(1, 10, 5).tolist() == grid.cells(1, 0, 15)[10:].tolist()
    assert grid.cells(1, FULL_ROWS, 3).tolist() == grid.cells(1, 0, 3).tolist()
    assert grid.cells(1, 0, 3).tolist() != grid.cells(2, 0, 3).tolist()
    past = grid.cells(2**63, 2**31 - 2, 4)
    assert ((past >= 0) & (past < FULL_ROWS)).all()


def test_few_rows_have_every_value_of_every_parameter() -> None:
    for name, place in grid.places(grid.cells(9, 0, 2000)).items():
        assert len(np.unique(place)) == len(grid.DIMENSIONS[name]), name


def test_nobody_saves_longer_than_the_months_projected() -> None:
    ages = grid.DIMENSIONS
    assert 12 * (max(ages["retirement_age"]) - min(ages["entry_age"])) == MONTHS


def test_an_annuity_costs_less_the_later_it_begins() -> None:
    prices = [grid.annuity(age, 0.03, 0.02) for age in range(58, 68)]
    assert prices == sorted(prices, reverse=True)
    assert 10 < prices[-1] < prices[0] < 50
    assert grid.annuity(60, 0.01, 0.03) > grid.annuity(60, 0.05, 0.0)
