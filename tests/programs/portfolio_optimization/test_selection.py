"""The selection problem against all selections of small instances, and bounds that hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mawl.base.errors import WrongAnswerError
from mawl.programs.portfolio_optimization.run import Selection, _check_selection


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
