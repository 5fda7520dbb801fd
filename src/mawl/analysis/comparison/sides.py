"""A side of a comparison: one run or several of the same configuration, or a published result."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from math import exp, log
from typing import Any

import msgspec

from mawl.analysis.comparison.over_time import RunOverTime, run_over_time
from mawl.analysis.comparison.statistics import FEWEST_RUNS
from mawl.analysis.view import RunView
from mawl.errors import UsageError
from mawl.model.published_figures import PublishedFigures
from mawl.model.run import RunFacts
from mawl.model.summary.summary import Judged


class JobTime(msgspec.Struct, frozen=True, kw_only=True):
    """A job of a run; ``real_time_seconds`` is None where it does not count, or was not measured."""

    program: str
    real_time_seconds: float | None


class ComparedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken of a run: facts, judged summary, jobs by their id in the plan, rates over time.

    ``called`` is how a command finds it (None: by its id).
    """

    facts: RunFacts
    summary: Judged
    jobs: dict[str, JobTime]
    over_time: RunOverTime | None = None
    called: str | None = None

    @property
    def name(self) -> str:
        """What ``mawl report`` calls it."""
        return self.facts.run_id if self.called is None else self.called


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """``runs`` in order of their start, or ``published``: a result of
    :func:`mawl.analysis.published.published_block`, whose figures stand for no repeats."""

    label: str
    runs: tuple[ComparedRun, ...] = ()
    published: PublishedFigures | None = None

    @property
    def judged(self) -> bool:
        """Whether there are runs enough for a statement."""
        return len(self.runs) >= FEWEST_RUNS

    def values(self, path: str) -> list[float]:
        """A figure of each run's summary (dotted path); empty where one of them lacks it."""
        if self.published is not None:
            return numbers([at(self.published, path)])
        return numbers([at(run.summary, path) for run in self.runs])


def compared_run(view: RunView, summary: Judged, *, over_time: bool = True) -> ComparedRun:
    """What a comparison needs of a run; ``summary`` is its judged one.

    ``over_time``: with its rates over time, which only pages draw.
    """
    jobs = {
        job.job: JobTime(
            program=job.program,
            real_time_seconds=job.usage.real_time_seconds
            if job.outcome == "finished" and job.verified is not False
            else None,
        )
        for job in view.jobs
    }
    return ComparedRun(
        facts=view.facts,
        summary=summary,
        jobs=jobs,
        over_time=run_over_time(view) if over_time else None,
        called=view.called,
    )


def side_of(label: str, runs: Iterable[ComparedRun]) -> Side:
    """A side of stored runs; UsageError where one is given twice, or there is none."""
    ordered = sorted(runs, key=lambda run: (run.facts.started_at, run.facts.run_id))
    ids = [run.facts.run_id for run in ordered]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise UsageError(
            "is given twice on one side", where=twice[0], cure="name each run once: a copy is no repeat"
        )
    if not ordered:
        raise UsageError("there is no run on this side", where=label, cure="name a run, or a folder of runs")
    return Side(label=label, runs=tuple(ordered))


def published_side(block: PublishedFigures) -> Side:
    """A published result as a side."""
    return Side(label=block.id, published=block)


def at(block: Any, path: str) -> Any:
    """The member at a dotted path; None where there is none."""
    for name in path.split("."):
        block = block.get(name) if isinstance(block, dict) else getattr(block, name, None)
    return block


def numbers(values: Sequence[object]) -> list[float]:
    """The values, all numbers; empty where one is missing."""
    known = [float(value) for value in values if isinstance(value, int | float)]
    return known if len(known) == len(values) else []


def centre(values: Sequence[float]) -> float | None:
    """The middle of a side that effects are ratios of: the geometric mean, or the plain one where a value
    is not above 0; None without values."""
    if not values:
        return None
    if min(values) > 0:
        return exp(statistics.fmean(map(log, values)))
    return statistics.fmean(values)


def logs(values: Sequence[float]) -> list[float]:
    """Logarithms; empty where a value is not above 0."""
    return [log(value) for value in values] if values and min(values) > 0 else []


def change(reference: float | None, candidate: float | None) -> float | None:
    """Candidate over reference less 1; None where either is missing or the reference is not above 0."""
    if reference is None or candidate is None or reference <= 0:
        return None
    return candidate / reference - 1.0


def same(values: Iterable[object]) -> bool:
    """Whether all values are alike."""
    return len({repr(value) for value in values}) <= 1
