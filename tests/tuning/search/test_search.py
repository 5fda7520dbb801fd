"""Searches on a machine of planted costs: gains that are there are found, others are not named."""

from __future__ import annotations

from math import comb, log

import pytest

from mawl.base.errors import RunFailedError
from mawl.tuning.search.records import Point
from mawl.tuning.search.search import LOOKS, Search, SearchResult, SearchStep, TrialCost, look
from mawl.tuning.search.space import space_of
from tests.fakes.search_machine import CONFIDENCE, DRIFTS, SPACE, SearchMachine, rules

SEARCHES = 700
"""Of each drift: 4,200 in all."""


def at_least(successes: int, draws: int, probability: float) -> float:
    """Probability of so many successes or more."""
    fewer = sum(comb(draws, k) * probability**k * (1 - probability) ** (draws - k) for k in range(successes))
    return 1.0 - fewer


@pytest.mark.parametrize("drift", DRIFTS)
def test_false_gains_are_within_the_confidence(drift: str) -> None:
    """With the random sampler: what confirms does not know how a point was proposed.

    Searches use ``tpe``, which takes longer: docs/design/search.md has its rates (0.020 to 0.038).
    """
    outcomes = [
        Search(SPACE, rules(seed), SearchMachine(seed, drift=drift)).carry_out().outcome
        for seed in range(SEARCHES)
    ]
    false_gains = outcomes.count("gain")
    told = f"{drift}: {false_gains} false gains in {SEARCHES} searches"
    assert at_least(false_gains, SEARCHES, 1 - CONFIDENCE) > 0.001, told
    assert set(outcomes) <= {"gain", "excluded", "open", "nothing better"}


@pytest.mark.parametrize("drift", DRIFTS)
def test_a_planted_gain_is_found(drift: str) -> None:
    """A setting of the six is a fifth faster."""
    found = [
        Search(
            SPACE, rules(seed), SearchMachine(seed, drift=drift, effects={("sortsize", "256MiB"): log(0.8)})
        ).carry_out()
        for seed in range(20)
    ]
    gains = [one for one in found if one.outcome == "gain"]
    assert len(gains) >= (10 if drift == "heavy" else 16)
    assert all(one.point is not None and one.point["sortsize"] == "256MiB" for one in gains)
    covered = [one.looks[-1].low <= log(0.8) <= one.looks[-1].high for one in gains]
    assert sum(covered) >= len(gains) - 3


def test_the_estimator_of_optuna_finds_it_in_a_space_too_large_to_try_whole() -> None:
    space = space_of(["sortsize=1MiB..1GiB", "bufsize=16KiB..1MiB", "cpucount=1..8"])
    effects: dict[tuple[str, object], float] = {
        ("sortsize", f"{2**power}MiB"): log(0.93) * power for power in range(10)
    }
    found = Search(
        space,
        rules(3, sampler="tpe", budget_seconds=3000.0),
        SearchMachine(3, effects={**effects, ("sortsize", "1GiB"): log(0.93) * 10}),
    ).carry_out()
    assert found.outcome == "gain"
    assert not found.explored_all
    assert found.point is not None and found.looks[-1].high < log(0.93) * 3


def test_runs_interleave_and_the_choice_is_tested_on_fresh_runs_alone() -> None:
    machine = SearchMachine(1, effects={("cpucount", 2): log(0.7)})
    found = Search(SPACE, rules(1), machine).carry_out()
    assert found.outcome == "gain"
    confirming = [step for step in machine.steps if step.phase == "confirming"]
    assert len(confirming) == 4 * len(found.differences)
    assert confirming[0].number == len(machine.steps) - len(confirming)
    blocks = {"".join(step.arm[0] for step in confirming[at : at + 4]) for at in range(0, len(confirming), 4)}
    assert blocks <= {"bccb", "cbbc"}
    assert {tuple(step.point.items()) for step in confirming} == {(), tuple((found.point or {}).items())}


def test_a_trial_that_is_clearly_worse_ends_after_its_first_repeat() -> None:
    machine = SearchMachine(1, noise=0.001, effects={("sortsize", "16MiB"): log(3.0)})
    found = Search(SPACE, rules(1), machine).carry_out()
    pruned = [trial for trial in found.trials if trial.pruned]
    assert [trial.point["sortsize"] for trial in pruned] == ["16MiB", "16MiB"]
    assert all(trial.repeats == 1 for trial in pruned)


@pytest.mark.parametrize("seconds", [5.0, 10.0, 40.0])
def test_the_budget_holds(seconds: float) -> None:
    machine = SearchMachine(2, drift="heavy", noise=0.2, seconds=seconds)
    found = Search(SPACE, rules(2, budget_seconds=900.0), machine).carry_out()
    assert found.spent_seconds == seconds * len(machine.steps) <= 900.0


@pytest.mark.parametrize("seed", range(5))
def test_runs_that_are_refused_or_fail_at_once_make_no_room_for_others(seed: int) -> None:
    """By as much as runs differ in length, and by no more, may a budget be exceeded."""
    spread = 0.01
    space = space_of(["sortsize=1MiB..512MiB"])
    lost: dict[tuple[str, object], float] = {
        ("sortsize", f"{2**power}MiB"): 0.01 * (power % 2) for power in range(9)
    }
    failed = 0
    for budget in range(150, 450, 10):
        machine = SearchMachine(seed, noise=0.2, spread=spread, lost=lost)
        found = Search(space, rules(seed, budget_seconds=float(budget)), machine).carry_out()
        failed += sum(trial.difference is None for trial in found.trials)
        assert found.spent_seconds <= budget * (1.0 + spread) / (1.0 - spread)
    assert failed > 0


def test_a_budget_too_small_to_confirm_names_no_gain() -> None:
    machine = SearchMachine(2, effects={("cpucount", 2): log(0.5)})
    found = Search(SPACE, rules(2, budget_seconds=60.0), machine).carry_out()
    assert (found.outcome, found.differences) in (("open", []), ("nothing better", []))


def test_a_search_told_its_own_record_decides_alike() -> None:
    """As one that was killed after any run, and continues."""
    effects = {("cpucount", 2): log(0.9), ("sortsize", "64MiB"): log(0.97)}
    machine = SearchMachine(5, drift="walk", effects=effects)
    taken: list[TrialCost] = []

    def recorded(step: SearchStep) -> TrialCost:
        taken.append(machine(step))
        return taken[-1]

    whole = Search(SPACE, rules(5, sampler="tpe"), recorded).carry_out()

    def replayed(step: SearchStep) -> TrialCost:
        assert step == machine.steps[step.number]
        return taken[step.number]

    again: SearchResult = Search(SPACE, rules(5, sampler="tpe"), replayed).carry_out()
    assert again == whole


def test_a_point_whose_runs_fail_is_not_chosen_and_a_baseline_that_fails_is_an_error() -> None:
    machine = SearchMachine(4, effects={("cpucount", 2): log(0.5)})

    def failing(step: SearchStep) -> TrialCost:
        lost = step.point.get("cpucount") == 2
        return TrialCost(cost=None, seconds=1.0) if lost else machine(step)

    found = Search(SPACE, rules(4), failing).carry_out()
    assert found.point is None or found.point["cpucount"] == 1
    assert sum(trial.difference is None for trial in found.trials) == 3
    with pytest.raises(RunFailedError, match="baseline"):
        Search(SPACE, rules(4), lambda step: TrialCost(cost=None, seconds=1.0)).carry_out()


def test_the_baseline_itself_is_no_trial() -> None:
    same: list[Point] = [{"sortsize": "256MiB", "cpucount": 1}]
    found = Search(SPACE, rules(6), SearchMachine(6), same=same).carry_out()
    assert found.explored_all
    assert len(found.trials) == SPACE.size() - 1
    assert same[0] not in [trial.point for trial in found.trials]


def test_looks_are_at_their_times_only() -> None:
    for blocks in range(2, LOOKS[-1] + 1):
        assert (look([-1.0, -1.1] * blocks, 0.95, 0.05) is not None) == (2 * blocks in LOOKS)
    seen = look([-0.30, -0.31, -0.29], 0.95, 0.05)
    assert seen is not None and seen.decision == "gain" and seen.low < -0.30 < seen.high < 0.0
    other = look([0.001, -0.001, 0.0], 0.95, 0.05)
    assert other is not None and other.decision == "excluded"
