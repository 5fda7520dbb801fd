"""portfolio_optimization rejects wrong answers that are planted in its screening, solver and simulation."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mawl.base.errors import WrongAnswerError
from mawl.programs import portfolio_optimization as program
from mawl.programs.declarations.portfolio_optimization import DERIVED
from mawl.programs.portfolio_optimization import Selection, _check_selection
from mawl.programs.tables.arrow import TableWriter
from tests.contract.planted_run import without_first_row
from tests.programs.faults import Fault, given, instead, result, sequence

Numbers = NDArray[np.float64]
_SOLVED: dict[tuple[bytes, ...], Any] = {}


SCALE = 0.0001


def quicken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same problem is not solved twice: most faults are not in the solver."""
    right = Selection.solve

    def solve(self: Selection) -> Any:
        objective, matrix, limits = self._matrices()
        problem = (objective.tobytes(), matrix.toarray().tobytes(), limits.tobytes())
        if problem not in _SOLVED:
            _SOLVED[problem] = right(self)
        chosen, bound = _SOLVED[problem]
        return chosen.copy(), bound

    monkeypatch.setattr(Selection, "solve", solve)


def _all(self: Selection) -> tuple[NDArray[np.bool_], float]:
    return np.ones(len(self.prices), np.bool_), 0.0


def _none(self: Selection) -> tuple[NDArray[np.bool_], float]:
    return np.zeros(len(self.prices), np.bool_), 0.0


def _best_of_all(self: Selection) -> tuple[NDArray[np.bool_], float]:
    chosen = np.arange(len(self.prices)) == int(self.gains.argmax())
    return chosen, float(self.value(chosen))


def _without_one(found: tuple[NDArray[np.bool_], float]) -> tuple[NDArray[np.bool_], float]:
    chosen, bound = found
    chosen[np.flatnonzero(chosen)[0]] = False
    return chosen, bound


def _half_the_budget(matrices: tuple[Numbers, Any, Numbers]) -> tuple[Numbers, Any, Numbers]:
    objective, matrix, limits = matrices
    return objective, matrix, limits * np.where(np.arange(len(limits)) == 0, 0.5, 1.0)


def _no_penalty(matrices: tuple[Numbers, Any, Numbers]) -> tuple[Numbers, Any, Numbers]:
    objective, matrix, limits = matrices
    return np.where(objective > 0.0, 0.0, objective), matrix, limits


def _derived(name: str, change: Callable[[Numbers], Numbers]) -> Callable[[Any], Any]:
    """Change one of the derived columns."""
    place = DERIVED.index(name)
    return result(lambda columns: (*columns[:place], change(columns[place]), *columns[place + 1 :]))


def _next_sector(block: dict[str, Numbers]) -> dict[str, Numbers]:
    return {**block, "sector": np.roll(block["sector"], 1)}


RISK = "value at risk of every mandate"
FAULTS = {
    "more than the budget is spent": Fault(Selection, "solve", instead(_all), "selection of mandate 0"),
    "nothing is selected": Fault(Selection, "solve", instead(_none), "by duality"),
    "one security is selected": Fault(Selection, "solve", instead(_best_of_all), "by duality"),
    "a security is left out": Fault(Selection, "solve", result(_without_one), "the solver's bound"),
    "half of the budget is used": Fault(Selection, "_matrices", result(_half_the_budget), "by duality"),
    "no sector is too large": Fault(Selection, "_matrices", result(_no_penalty), "the solver's bound"),
    "the lowest yields are candidates": Fault(
        program, "_derive", _derived("yield_rank", lambda rank: 511.0 - rank), "candidates are right"
    ),
    "gains are those of the next security": Fault(
        program, "_derive", _derived("gain", lambda gain: np.roll(gain, 1)), "candidates are right"
    ),
    "sectors are those of the next security": Fault(
        program._PortfolioOptimization,
        "_mandates",
        lambda right: lambda self: map(_next_sector, right(self)),
        "candidates are right",
    ),
    "a mandate is left out": Fault(
        program._PortfolioOptimization,
        "_mandates",
        sequence(lambda found: found[:-1]),
        "mandates with a selection",
    ),
    "mandates change places": Fault(
        program._PortfolioOptimization,
        "_mandates",
        sequence(lambda found: found[::-1]),
        "candidates are right",
    ),
    "the holdings are others": Fault(
        np, "packbits", lambda right: lambda held: right(held[::-1]), "what mandate 0 holds"
    ),
    "risks of their own are in per cent": Fault(
        program,
        "_value_at_risk",
        given(lambda market, exposures, own, seed: (market, exposures, 1e4 * own, seed)),
        RISK,
    ),
    "the market is left out": Fault(
        program,
        "_value_at_risk",
        given(lambda market, exposures, own, seed: (market, 0.0 * exposures, own, seed)),
        RISK,
    ),
    "a factor moves against the others": Fault(
        program,
        "_value_at_risk",
        given(lambda market, exposures, own, seed: (market * [-1, 1, 1, 1, 1, 1], exposures, own, seed)),
        RISK,
    ),
    "the largest gain is taken for the loss": Fault(program, "_value_at_risk", result(np.negative), RISK),
    "one scenario of twenty is worse": Fault(
        np,
        "partition",
        lambda right: lambda gains, place: np.roll(right(gains, 5 * place), -4 * place),
        RISK,
    ),
    "a row is lost": Fault(TableWriter, "write", without_first_row, "is wrong"),
}


def instance(seed: int, candidates: int) -> Selection:
    chance = np.random.default_rng(seed)
    prices = chance.integers(5, 100, candidates)
    return Selection(
        prices=prices,
        gains=prices * chance.integers(1, 101, candidates),
        sectors=chance.integers(0, 6, candidates),
        sector_count=6,
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_solution_is_the_best_of_all_selections(seed: int) -> None:
    problem = instance(seed, 12)
    chosen, bound = problem.solve()
    best = 0
    for count in range(problem.most + 1):
        for places in itertools.combinations(range(12), count):
            flags = np.isin(np.arange(12), places)
            if problem.is_feasible(flags):
                best = max(best, problem.value(flags))
    assert problem.value(chosen) == best
    assert bound == pytest.approx(best)
    assert problem.greedy() <= best <= problem.dual_bound() * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_bounds_enclose_the_value_tightly_at_the_programs_size(seed: int) -> None:
    problem = instance(seed + 10, 48)
    chosen, bound = problem.solve()
    assert problem.is_feasible(chosen)
    assert problem.greedy() <= problem.value(chosen) <= problem.dual_bound() * (1 + 1e-9)
    assert problem.value(chosen) == pytest.approx(bound, abs=0.5)
    assert problem.value(chosen) >= 0.98 * problem.dual_bound()


def test_what_a_sector_takes_beyond_its_limit_costs() -> None:
    problem = Selection(
        prices=np.full(12, 10), gains=np.full(12, 1000), sectors=np.zeros(12, np.int64), sector_count=2
    )
    assert (problem.budget, problem.most, problem.sector_limit) == (30, 3, 10)
    assert problem.value(np.arange(12) < 3) == 3000 - 30 * 20


@pytest.mark.parametrize("dropped", range(5))
def test_a_selection_that_misses_a_candidate_is_rejected(dropped: int) -> None:
    problem = instance(20, 48)
    chosen, _ = problem.solve()
    _check_selection(0, problem, chosen)
    worse = chosen.copy()
    worse[np.flatnonzero(chosen)[dropped]] = False
    with pytest.raises(WrongAnswerError, match="the value of mandate 0 is wrong"):
        _check_selection(0, problem, worse)


def test_a_selection_that_takes_too_much_is_rejected() -> None:
    problem = instance(21, 48)
    with pytest.raises(WrongAnswerError, match="the value of mandate 0 is wrong"):
        _check_selection(0, problem, np.ones(48, np.bool_))
