"""The search itself: explore points against the baseline, choose one, and test it on fresh runs alone.

It knows runs by their cost and duration only.  Every decision follows from these, the seed and the rules, so
that a search which was stopped makes the same ones again from its record, and goes on where that ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from statistics import fmean
from typing import Literal

import msgspec

from mawl.errors import RunFailedError
from mawl.tuning.search.records import Point, SearchOutcome
from mawl.tuning.search.sampler import Kind, Sampler
from mawl.tuning.search.sequential import LOOKS, RUNS_IN_BLOCK, SequentialLook, look, next_look
from mawl.tuning.search.space import SearchSpace

EXPLORING_SHARE = 0.4
"""Of the budget, what exploring may take."""

Phase = Literal["warming", "exploring", "confirming"]
"""``warming``: the first run, of the baseline, which makes inputs and is in no pair."""
Arm = Literal["baseline", "candidate"]

ALONG: tuple[Arm, ...] = ("baseline", "candidate", "candidate", "baseline")
AGAINST: tuple[Arm, ...] = ("candidate", "baseline", "baseline", "candidate")


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What decides a search beside the runs; differences are of costs (logarithms)."""

    seed: int
    budget_seconds: float
    confidence: float
    least: float
    """The smallest gain worth having."""
    clearly_worse: float
    """Of a trial's first repeat: above it the second is spared."""
    sampler: Kind = "tpe"


class SearchStep(msgspec.Struct, frozen=True, kw_only=True):
    """A run to be made: the ``number``-th of the search, from 0; ``block`` counts trials, or blocks."""

    number: int
    phase: Phase
    block: int
    arm: Arm
    point: Point
    """Empty: the baseline."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What a run cost (None: it failed, or lacks the figure) and how long it took in all."""

    cost: float | None
    seconds: float


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A point that was explored; ``difference`` is None where a run of it failed."""

    point: Point
    difference: float | None
    repeats: int
    pruned: bool


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found; the last look says how large the gain is."""

    outcome: SearchOutcome
    point: Point | None
    trials: list[Trial]
    differences: list[float]
    """Of each block that confirmed."""
    looks: list[SequentialLook]
    explored_all: bool
    spent_seconds: float


class Search:
    """One search; ``measure`` makes a run, or takes it from the record."""

    def __init__(
        self,
        space: SearchSpace,
        rules: Rules,
        measure: Callable[[SearchStep], Taken],
        same: Iterable[Point] = (),
    ) -> None:
        """``same`` are the points that are the baseline itself, which needs no trial."""
        self._rules, self._measure = rules, measure
        self._sampler = Sampler(space, rules.seed, rules.clearly_worse, rules.sampler)
        for point in same:
            self._sampler.told(point, 0.0)
        self._runs, self._spent = 0, 0.0
        self._lengths: list[float] = []
        self._trials: list[Trial] = []

    def carry_out(self) -> SearchResult:
        """Explore and confirm; RunFailedError where a run of the baseline fails or lacks the figure."""
        self._run("warming", 0, "baseline", {})
        self._explore()
        tried = [trial for trial in self._trials if trial.difference is not None and not trial.pruned]
        best = min(tried, key=lambda trial: trial.difference or 0.0, default=None)
        if best is None or best.difference is None or best.difference >= 0.0:
            return self._found("nothing better", None, [], [])
        return self._confirm(best.point)

    def _explore(self) -> None:
        """Trials of points, while the budget has runs for another and for confirming."""
        share = EXPLORING_SHARE * self._rules.budget_seconds
        whole = self._rules.budget_seconds
        while True:
            fits = self._lasts(RUNS_IN_BLOCK, share) and self._lasts(RUNS_IN_BLOCK * (1 + LOOKS[0]), whole)
            if self._trials and not fits:
                return
            point = self._sampler.propose()
            if point is None:
                return
            self._trials.append(self._trial(point))

    def _trial(self, point: Point) -> Trial:
        """Two repeats, each beside a run of the baseline (ABBA); one where it is clearly worse."""
        block = len(self._trials)
        costs = [self._run("exploring", block, arm, point) for arm in ALONG[:2]]
        first = _difference(ALONG[:2], costs)
        if first is None:
            self._sampler.tell(point, None)
            return Trial(point=point, difference=None, repeats=1, pruned=False)
        if self._sampler.prune(first):
            self._sampler.tell(point, first, pruned=True)
            return Trial(point=point, difference=first, repeats=1, pruned=True)
        costs += [self._run("exploring", block, arm, point) for arm in ALONG[2:]]
        both = _difference(ALONG, costs)
        self._sampler.tell(point, both)
        return Trial(point=point, difference=both, repeats=2, pruned=False)

    def _confirm(self, point: Point) -> SearchResult:
        """Blocks of fresh runs until a look decides, or the budget does not reach the next look."""
        orders = random.Random(f"confirming {self._rules.seed}")
        differences: list[float] = []
        looks: list[SequentialLook] = []
        while (goal := next_look(len(differences))) is not None:
            if not self._lasts(RUNS_IN_BLOCK * (goal - len(differences)), self._rules.budget_seconds):
                break
            while len(differences) < goal:
                order = orders.choice((ALONG, AGAINST))
                costs = [self._run("confirming", len(differences), arm, point) for arm in order]
                value = _difference(order, costs)
                if value is None:
                    return self._found("failed", point, differences, looks)
                differences.append(value)
            seen = look(differences, self._rules.confidence, self._rules.least)
            assert seen is not None, "the goal is a look"
            looks.append(seen)
            if seen.decision != "open":
                return self._found(seen.decision, point, differences, looks)
        return self._found("open", point, differences, looks)

    def _run(self, phase: Phase, block: int, arm: Arm, point: Point) -> float | None:
        step = SearchStep(
            number=self._runs, phase=phase, block=block, arm=arm, point=point if arm == "candidate" else {}
        )
        taken = self._measure(step)
        self._runs += 1
        self._spent += taken.seconds
        if phase != "warming" and taken.cost is not None and taken.seconds > 0.0:
            self._lengths.append(taken.seconds)
        if arm == "baseline" and taken.cost is None:
            raise RunFailedError(
                "a run of the baseline failed or lacks the objective's figure",
                where=f"run {step.number + 1} of the search",
                cure="see that the workload runs as it is, with this objective, before a search",
            )
        return taken.cost

    def _lasts(self, runs: int, seconds: float) -> bool:
        """Whether so many more runs fit, by the mean of those before, or by the first where it is alone.

        Runs that were refused or failed are no measure: those to come are to be whole.
        """
        mean = fmean(self._lengths) if self._lengths else self._spent
        return self._spent + runs * mean <= seconds

    def _found(
        self,
        outcome: SearchOutcome,
        point: Point | None,
        differences: list[float],
        looks: list[SequentialLook],
    ) -> SearchResult:
        return SearchResult(
            outcome=outcome,
            point=point,
            trials=self._trials,
            differences=differences,
            looks=looks,
            explored_all=self._sampler.exhausted,
            spent_seconds=self._spent,
        )


def _difference(order: Iterable[Arm], costs: Iterable[float | None]) -> float | None:
    """Mean cost of the candidate's runs less that of the baseline's; None where one is missing."""
    sides: dict[Arm, list[float]] = {"baseline": [], "candidate": []}
    for arm, cost in zip(order, costs, strict=True):
        if cost is None:
            return None
        sides[arm].append(cost)
    return fmean(sides["candidate"]) - fmean(sides["baseline"])
