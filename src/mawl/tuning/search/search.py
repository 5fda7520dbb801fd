"""Searches run options: explores points against the baseline, and tests the best one on fresh runs.

Every decision follows from costs and durations of runs, the seed and the rules, so a search that was stopped
continues from its record.

The test of the candidate is sequential: predetermined looks, Bonferroni over them.  Its unit is the block:
two runs of each side in an order (ABBA or BAAB) drawn by the seed.  The value of a block is the mean cost of
the candidate less that of the baseline.  A linear drift does not change the value; any other drift makes it
larger or smaller with equal chance, since the order is random.  Each look takes Student's t on the values so
far at its share of the error.  Over all looks together, at most ``1 - confidence`` of searches report a gain
that is not there, and likewise exclude one that is (docs/design/search.md has the source and the measured
rates).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal, cast

import msgspec

from mawl.base.errors import RunFailedError, UnreadableRunError
from mawl.campaigns.series import Series, recording_outcome
from mawl.figures.comparison.sides import at
from mawl.figures.statistics import quantile
from mawl.records.model.campaign import Arm as CampaignArm
from mawl.records.model.campaign import Slot
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import Role
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.facts import read_facts
from mawl.tuning.search.records import (
    OBJECTIVES,
    Decision,
    Point,
    SearchOutcome,
    SearchRecord,
    cost_of,
    least_difference,
    point_words,
)
from mawl.tuning.search.sampler import Kind, Sampler
from mawl.tuning.search.space import SearchSpace, setup_of, with_setup

LOOKS = (3, 5, 8, 12, 20)
"""Blocks after which the differences are looked at, and at no other time."""

RUNS_IN_BLOCK = 4


class SequentialLook(msgspec.Struct, frozen=True, kw_only=True):
    """Differences of costs (logarithms, candidate less baseline) after so many blocks.

    ``low`` is below the true one at all looks with the confidence, and so is ``high`` above it; both
    together hold with twice the confidence less 1.
    """

    blocks: int
    difference: float
    low: float
    high: float
    decision: Decision


def look(differences: Sequence[float], confidence: float, least: float) -> SequentialLook | None:
    """What the blocks so far say; None where this is no time to look.

    ``least`` is the smallest gain worth having, as a difference of costs above 0.
    """
    if len(differences) not in LOOKS:
        return None
    low, high = bounds(differences, confidence)
    decision: Decision = "gain" if high < 0.0 else "excluded" if low > -least else "open"
    return SequentialLook(
        blocks=len(differences), difference=fmean(differences), low=low, high=high, decision=decision
    )


def bounds(differences: Sequence[float], confidence: float) -> tuple[float, float]:
    """The interval of the mean difference that a look may use, of at least two blocks."""
    reach = _critical(len(differences), confidence) * stdev(differences) / math.sqrt(len(differences))
    centre = fmean(differences)
    return centre - reach, centre + reach


def next_look(blocks: int) -> int | None:
    """Blocks at the look after that many; None after the last."""
    return next((number for number in LOOKS if number > blocks), None)


@cache
def _critical(blocks: int, confidence: float) -> float:
    return quantile(1.0 - (1.0 - confidence) / len(LOOKS), blocks - 1.0)


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


class TrialCost(msgspec.Struct, frozen=True, kw_only=True):
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
        measure: Callable[[SearchStep], TrialCost],
        same: Iterable[Point] = (),
    ) -> None:
        """``same`` are the points that are the baseline itself, which needs no trial."""
        self._rules, self._measure = rules, measure
        self._sampler = Sampler(space, rules.seed, rules.clearly_worse, rules.sampler)
        for point in same:
            self._sampler.add_known(point, 0.0)
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
            return self._result("nothing better", None, [], [])
        return self._confirm(best.point)

    def _explore(self) -> None:
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
                    return self._result("failed", point, differences, looks)
                differences.append(value)
            seen = look(differences, self._rules.confidence, self._rules.least)
            assert seen is not None, "the goal is a look"
            looks.append(seen)
            if seen.decision != "open":
                return self._result(seen.decision, point, differences, looks)
        return self._result("open", point, differences, looks)

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

    def _result(
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


BASELINE, REFERENCE, CANDIDATE = "baseline", "reference", "candidate"
"""Arms: the baseline while exploring, and the two sides of the confirming runs."""

CLEARLY_WORSE_RATIO = 0.1
"""A first repeat that is worse by more ends a trial."""


class SearchCampaign:
    """A search that is being conducted in a campaign's folder, which the caller holds."""

    def __init__(
        self,
        series: Series,
        record: SearchRecord,
        summary_of: Callable[[Path], Summary],
        say: Callable[[str], None],
    ) -> None:
        """``summary_of`` reads the judged summary of a run folder; ``say`` gets a line of progress."""
        self.series, self.record = series, record
        self._objective = OBJECTIVES[record.objective]
        self._summary_of, self._say = summary_of, say

    def carry_out(self) -> SearchResult:
        """Make every run that the search asks for; its record is on disk whatever happens.

        Raises ``RunFailedError`` where a run of the baseline fails, and what runs raise.
        """
        space = SearchSpace(origin=self.series.record.name, dimensions=self.record.dimensions)
        with recording_outcome(self.series):
            found = Search(space, rules_of(self.record), self._taken, unchanged(self.record)).carry_out()
            self.series.finish()
        return found

    def _taken(self, step: SearchStep) -> TrialCost:
        assert self.series.record.spec is not None, "a search of an older format is not continued"
        arm, position = arm_of(step, self.record, self.series.record.spec), step.number + 1
        if position > len(self.series.record.slots):
            self.series.plan(arm)
        elif self.series.record.arm(self.series.record.slots[step.number].arm) != arm:
            raise UnreadableRunError(
                f"run {position} is of {self.series.record.slots[step.number].arm}, and the search asks for "
                f"{arm.name} there",
                where=str(self.series.folder),
                why="the record was changed, or made with other versions of mawl or of Optuna",
                cure="start the search again",
            )
        if self.series.record.slots[step.number].state not in ("finished", "refused"):
            self._say(f"run {position}, {step.phase}: {arm.title}")
        slot = self.series.run(position, may_refuse=step.arm == "candidate")
        return TrialCost(cost=self._cost(slot), seconds=self._seconds(slot))

    def _seconds(self, slot: Slot) -> float:
        if slot.state != "finished":
            return 0.0
        facts = read_facts(self.series.path(slot))
        if facts.ended_at is None:
            raise UnreadableRunError(
                "does not say when the run ended",
                where=str(self.series.path(slot)),
                why="the budget of a search goes by the time of its runs",
                cure="start the search again",
            )
        return facts.ended_at - facts.started_at

    def _cost(self, slot: Slot) -> float | None:
        if slot.state != "finished" or slot.outcome != "completed":
            return None
        return cost_of(self._objective, at(self._summary_of(self.series.path(slot)), self._objective.figure))


def rules_of(record: SearchRecord) -> Rules:
    chosen = OBJECTIVES[record.objective]
    return Rules(
        seed=record.seed,
        budget_seconds=record.budget_seconds,
        confidence=record.confidence_ratio,
        least=least_difference(chosen, record.smallest_gain_ratio),
        clearly_worse=least_difference(chosen, CLEARLY_WORSE_RATIO),
    )


def unchanged(record: SearchRecord) -> Iterator[Point]:
    """The points that are the baseline itself."""
    for values in product(*(record.unchanged.get(name, []) for name in record.dimensions)):
        yield dict(zip(record.dimensions, values, strict=True))


def arm_of(step: SearchStep, record: SearchRecord, baseline: RunSpec) -> CampaignArm:
    if step.arm == "baseline":
        name = REFERENCE if step.phase == "confirming" else BASELINE
        return CampaignArm(name=name, workload=record.workload, spec=baseline, title="the baseline")
    name = f"trial-{step.block + 1}" if step.phase == "exploring" else CANDIDATE
    setup = setup_of(step.point, cast(Mapping[Role, list[str]], record.directories))
    return CampaignArm(
        name=name,
        workload=record.workload,
        spec=with_setup(baseline, setup),
        title=point_words(step.point),
    )
