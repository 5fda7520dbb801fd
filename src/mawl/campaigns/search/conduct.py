"""A search over real runs: each step is a run of a campaign, and what is in its record is not run again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, cast

import msgspec

from mawl.analysis.comparison.sides import at
from mawl.campaigns.search.objective import OBJECTIVES
from mawl.campaigns.search.record import write_search
from mawl.campaigns.search.search import Found, Rules, Search, Step, Taken
from mawl.campaigns.search.space import Point, Setup, Space, setup_of
from mawl.campaigns.series import Series
from mawl.errors import InterruptedRunError, UnreadableRunError
from mawl.model.campaign import Arm, Slot
from mawl.model.options import ROLES, Role
from mawl.model.search import SearchRecord

BASELINE, REFERENCE, CANDIDATE = "baseline", "reference", "candidate"
"""Arms: the baseline while exploring, and the two sides of the confirming runs."""

CLEARLY_WORSE_RATIO = 0.1
"""A first repeat that is worse by more ends a trial."""

Summary = dict[str, Any]


class SearchCampaign:
    """A search that is being conducted in a campaign's folder, which the caller holds."""

    def __init__(
        self,
        series: Series,
        record: SearchRecord,
        summary_of: Callable[[Path], Summary],
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``summary_of`` reads the judged summary of a run folder; ``say`` gets a line of progress."""
        self.series, self.record = series, record
        self._objective = OBJECTIVES[record.objective]
        self._summary_of, self._say, self._clock = summary_of, say, clock
        self._known = len(series.record.slots)

    def carry_out(self) -> Found:
        """Make every run that the search asks for; its record is on disk whatever happens.

        Raises :class:`~mawl.errors.RunFailedError` where a run of the baseline fails, and what runs raise.
        """
        space = Space(origin=self.series.record.name, dimensions=self.record.dimensions)
        with self._noted():
            found = Search(space, rules_of(self.record), self._taken, unchanged(self.record)).carry_out()
            self.series.finish()
            # A candidate whose runs fail is an answer, and no failure of the search.
            self.series.note(outcome="completed", reason=None)
        return found

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        self.series.note(outcome="running", reason=None, ended_at=None)
        try:
            yield
        except (KeyboardInterrupt, InterruptedRunError):
            self.series.note(outcome="interrupted", reason="stopped by the user", ended_at=time.time())
            raise
        except Exception as error:
            with contextlib.suppress(OSError):
                self.series.note(outcome="failed", reason=str(error), ended_at=time.time())
            raise

    def _taken(self, step: Step) -> Taken:
        """The step's run, made now or before."""
        arm, position = arm_of(step, self.record), step.number + 1
        if position > len(self.series.record.slots):
            self.series.plan(arm)
        elif self.series.record.arm(self.series.record.slots[step.number].arm) != arm:
            raise UnreadableRunError(
                f"run {position} is of {self.series.record.slots[step.number].arm}, and the search asks for "
                f"{arm.name} there",
                where=str(self.series.folder),
                why="the record was changed, or made with other versions of mawl or of Optuna",
                cure="begin the search anew",
            )
        if self.series.record.slots[step.number].state not in ("finished", "refused"):
            self._say(f"run {position}, {step.phase}: {arm.title}")
        began = self._clock()
        slot = self.series.run(position, may_refuse=step.arm == "candidate")
        took = self._clock() - began
        if step.number >= len(self.record.seconds):
            self.record = msgspec.structs.replace(self.record, seconds=[*self.record.seconds, took])
            write_search(self.series.folder, self.record)
        return Taken(cost=self._cost(slot), seconds=self.record.seconds[step.number])

    def _cost(self, slot: Slot) -> float | None:
        if slot.state != "finished" or slot.outcome != "completed":
            return None
        return self._objective.cost(at(self._summary_of(self.series.path(slot)), self._objective.figure))


def rules_of(record: SearchRecord) -> Rules:
    """The rules that the record's words mean."""
    chosen = OBJECTIVES[record.objective]
    return Rules(
        seed=record.seed,
        budget_seconds=record.budget_seconds,
        confidence=record.confidence_ratio,
        least=chosen.least_difference(record.smallest_gain_ratio),
        clearly_worse=chosen.least_difference(CLEARLY_WORSE_RATIO),
    )


def unchanged(record: SearchRecord) -> Iterator[Point]:
    """The points that are the baseline itself."""
    for values in product(*(record.unchanged.get(name, []) for name in record.dimensions)):
        yield dict(zip(record.dimensions, values, strict=True))


def arm_of(step: Step, record: SearchRecord) -> Arm:
    """The arm of a step: words of ``mawl run`` beyond the baseline's."""
    if step.arm == "baseline":
        name = REFERENCE if step.phase == "confirming" else BASELINE
        return Arm(name=name, workload=record.workload, title="the baseline")
    name = f"trial-{step.block + 1}" if step.phase == "exploring" else CANDIDATE
    setup = setup_of(step.point, cast(Mapping[Role, list[str]], record.directories))
    return Arm(name=name, workload=record.workload, words=words_of(setup), title=point_words(step.point))


def words_of(setup: Setup) -> list[str]:
    """A setup as arguments of ``mawl run``."""
    words = [word for name, value in setup.options.items() for word in ("--option", f"{name}={value}")]
    if setup.sessions is not None:
        words += ["--sessions", str(setup.sessions)]
    if setup.volume_order is not None:
        words += ["--volume-order", setup.volume_order]
    for role in ROLES:
        if role in setup.directories:
            words += [f"--{role}", *setup.directories[role]]
    return words


def point_words(point: Mapping[str, object]) -> str:
    """``sortsize=64MiB, cpucount=2``."""
    return ", ".join(f"{name}={value}" for name, value in point.items())
