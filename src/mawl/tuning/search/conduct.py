"""A search over real runs: each step is a run of a campaign, and what is in its record is not run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import cast

from mawl.analysis.comparison.sides import at
from mawl.campaigns.series import Series, noted
from mawl.errors import UnreadableRunError
from mawl.model.campaign import Arm, Slot
from mawl.model.summary.summary import Summary
from mawl.spec.program_options import Role
from mawl.spec.record import RunSpec
from mawl.store.facts import read_facts
from mawl.tuning.search.objective import cost, least_difference
from mawl.tuning.search.records import OBJECTIVES, Point, SearchRecord, point_words
from mawl.tuning.search.search import Rules, Search, SearchResult, SearchStep, Taken
from mawl.tuning.search.space import SearchSpace, setup_of, with_setup

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

        Raises :class:`~mawl.errors.RunFailedError` where a run of the baseline fails, and what runs raise.
        """
        space = SearchSpace(origin=self.series.record.name, dimensions=self.record.dimensions)
        with noted(self.series):
            found = Search(space, rules_of(self.record), self._taken, unchanged(self.record)).carry_out()
            self.series.finish()
        return found

    def _taken(self, step: SearchStep) -> Taken:
        """The step's run, made now or before."""
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
        return Taken(cost=self._cost(slot), seconds=self._seconds(slot))

    def _seconds(self, slot: Slot) -> float:
        """How long the run took, by its own record; one that the machine refused took no time."""
        if slot.state != "finished":
            return 0.0
        facts, _ = read_facts(self.series.path(slot))
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
        return cost(self._objective, at(self._summary_of(self.series.path(slot)), self._objective.figure))


def rules_of(record: SearchRecord) -> Rules:
    """The rules that the record's words mean."""
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


def arm_of(step: SearchStep, record: SearchRecord, baseline: RunSpec) -> Arm:
    """The arm of a step: the baseline's spec, or that with the step's point over it."""
    if step.arm == "baseline":
        name = REFERENCE if step.phase == "confirming" else BASELINE
        return Arm(name=name, workload=record.workload, spec=baseline, title="the baseline")
    name = f"trial-{step.block + 1}" if step.phase == "exploring" else CANDIDATE
    setup = setup_of(step.point, cast(Mapping[Role, list[str]], record.directories))
    return Arm(
        name=name,
        workload=record.workload,
        spec=with_setup(baseline, setup),
        title=point_words(step.point),
    )
