"""The search for the knee on synthetic machines whose knee is known."""

from __future__ import annotations

import math
import random

import pytest

from mawl.figures.knee import SessionRun, crossing, knee_of, next_sessions, sessions_tried
from mawl.plan.mix import mix_range
from mawl.records.model.campaign import SessionSearch

BOUND = 2.0
SEARCH = SessionSearch(first=1, most=500, runs_each=3)
MOST_RUNS = 60
QUIET = 1.93, 1.98, 1.90, 2.03, 2.12, 2.06


class Machine:
    """Carries ``capacity`` sessions without stretch, and shares itself out from there; ``noise`` is the
    standard deviation of log stretch from run to run."""

    def __init__(self, capacity: float, noise: float = 0.0, seed: int = 0, memory: int = 10**6) -> None:
        self.capacity, self.noise, self.memory = capacity, noise, memory
        self.draw = random.Random(seed)

    @property
    def knee(self) -> int:
        """The largest number whose true stretch keeps the bound."""
        return math.floor(BOUND * self.capacity)

    def run(self, sessions: int) -> SessionRun:
        if sessions > self.memory:
            return SessionRun(sessions=sessions, verdict="refused", reasons=["too little memory"])
        true = max(1.0, sessions / self.capacity)
        stretch = true * math.exp(self.draw.gauss(0.0, self.noise))
        return SessionRun(
            sessions=sessions,
            verdict="too many" if stretch > BOUND else "carried",
            answer_slowdown=stretch,
            answer_bound=BOUND,
            reasons=[f"slowdown {stretch:.2f}"],
        )


def searched(machine: Machine, search: SessionSearch = SEARCH) -> list[SessionRun]:
    runs: list[SessionRun] = []
    while (sessions := next_sessions(runs, search)) is not None:
        runs.append(machine.run(sessions))
        assert len(runs) <= MOST_RUNS, [(run.sessions, run.verdict) for run in runs]
    return runs


@pytest.mark.parametrize("knee", [1, 2, 3, 7, 8, 9, 31, 100, 499])
def test_the_knee_of_a_quiet_machine_is_found_exactly(knee: int) -> None:
    runs = searched(Machine((knee + 0.5) / BOUND))
    found = knee_of(runs, SEARCH)
    assert found is not None
    assert (found.sessions, found.beyond) == (knee, "")
    assert f"with {knee + 1}: slowdown" in found.reason
    judged = {one.sessions: one for one in sessions_tried(runs)}
    assert judged[knee].runs == judged[knee + 1].runs == SEARCH.runs_each


def test_a_noisy_machines_interval_holds_the_knee_as_often_as_it_says() -> None:
    draws = 300
    near = inside = with_interval = 0
    for seed in range(draws):
        machine = Machine(random.Random(seed).uniform(4.0, 30.0), noise=0.10, seed=seed)
        found = knee_of(searched(machine), SEARCH)
        assert found is not None and found.sessions is not None
        near += abs(found.sessions / machine.knee - 1) <= 0.25
        if found.low is not None and found.high is not None:
            with_interval += 1
            inside += found.low <= machine.knee <= found.high
    assert near >= 0.95 * draws
    assert with_interval >= 0.95 * draws
    # A binomial of 300 draws at 95 % has a standard deviation of 1.3 %.
    assert inside >= 0.91 * with_interval


def test_noise_of_an_hours_worth_of_a_quiet_bed_is_within_one_step_nearly_always() -> None:
    hits = 0
    for seed in range(200):
        machine = Machine(random.Random(seed).uniform(2.0, 8.0), noise=0.03, seed=seed)
        found = knee_of(searched(machine), SEARCH)
        assert found is not None and found.sessions is not None
        hits += abs(found.sessions - machine.knee) <= 1
    assert hits >= 190


def test_refused_memory_ends_with_at_least() -> None:
    runs = searched(Machine(capacity=100.0, memory=37))
    found = knee_of(runs, SEARCH)
    assert found is not None
    assert (found.sessions, found.beyond) == (37, "at least")
    assert found.reason == "with 38: too little memory"
    assert [run.sessions for run in runs].count(38) == 1, "a refusal says the same each time"


def test_a_bound_that_is_carried_ends_with_at_least() -> None:
    search = SessionSearch(first=1, most=24, runs_each=3)
    found = knee_of(searched(Machine(capacity=100.0), search), search)
    assert found is not None
    assert (found.sessions, found.beyond) == (24, "at least")
    assert "no further than 24" in found.reason


@pytest.mark.parametrize(
    ("first", "slowdowns"), [(1, (3, 1.82, 1.97, 1.92, 2.4, 2.0, 2.1)), (5, (5, *QUIET))]
)
def test_the_interval_of_a_mix_does_not_reach_over_its_change(
    first: int, slowdowns: tuple[float, ...]
) -> None:
    low, *found = slowdowns
    runs = [
        SessionRun(
            sessions=int(low) + place // 3,
            verdict="too many" if slowdown > 2.0 else "carried",
            answer_slowdown=slowdown,
            answer_bound=2.0,
        )
        for place, slowdown in enumerate(found)
    ]
    mix = mix_range(first)
    free, kept = (knee_of(runs, SEARCH, within) for within in (None, mix))
    assert free is not None and kept is not None and free.low is not None
    assert free.low < mix.fewest or free.high is None or free.high > mix.most
    assert kept.sessions == low and (kept.low or 0) >= mix.fewest and (kept.high or 0) <= mix.most


def test_a_search_that_carries_the_most_of_the_small_mix_names_the_change() -> None:
    search = SessionSearch(first=1, most=4, runs_each=1)
    found = knee_of(searched(Machine(capacity=100.0), search), search, mix_range(1))
    assert found is not None and (found.sessions, found.beyond) == (4, "at least")
    assert found.reason.startswith("the mix changes at 5 sessions") and "--sessions 5" in found.reason


def test_a_machine_that_does_not_carry_the_first_number() -> None:
    search = SessionSearch(first=5, most=500, runs_each=3)
    runs = searched(Machine(capacity=1.0), search)
    found = knee_of(runs, search)
    assert found is not None
    assert (found.sessions, found.beyond) == (5, "fewer than")
    assert [run.sessions for run in runs] == [5, 5, 5]


def test_a_first_run_that_erred_is_put_right() -> None:
    """The runs that settle a number undo one unlucky run far below the knee."""
    machine, unlucky = Machine(capacity=10.0), [True]

    def run(sessions: int) -> SessionRun:
        if sessions == 8 and unlucky:
            unlucky.clear()
            return SessionRun(
                sessions=8, verdict="too many", answer_slowdown=2.4, answer_bound=BOUND, reasons=["unlucky"]
            )
        return machine.run(sessions)

    runs: list[SessionRun] = []
    while (sessions := next_sessions(runs, SEARCH)) is not None:
        runs.append(run(sessions))
        assert len(runs) <= MOST_RUNS
    found = knee_of(runs, SEARCH)
    assert found is not None and found.sessions == 20


def test_runs_that_spread_more_than_the_next_session_costs_give_no_upper_end() -> None:
    slowdowns = {5: (1.82, 1.97, 1.92), 6: (2.20, 1.97, 2.08)}
    runs = [
        SessionRun(
            sessions=sessions,
            verdict="too many" if slowdown > BOUND else "carried",
            answer_slowdown=slowdown,
            answer_bound=BOUND,
        )
        for sessions, found in slowdowns.items()
        for slowdown in found
    ]
    assert crossing(runs, 5, 6) == (
        (1, None),
        "the runs spread so much that 12 sessions might fit, or more",
    )
    found = knee_of(runs, SEARCH)
    assert found is not None and (found.sessions, found.low, found.high) == (5, 1, None)
    assert "might fit" in (found.interval_reason or "")


def test_an_interval_takes_runs_enough() -> None:
    machine = Machine(capacity=4.25)
    runs = [machine.run(8), machine.run(9)]
    assert crossing(runs, 8, 9) == (
        None,
        "it takes 4 runs near the largest number that fits, and 2 were made",
    )
