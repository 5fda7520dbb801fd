"""The nights of a history: runs put together to nights, and the series of figures that are followed.

A night's value is its mean, of one run or several.  Each night of an import of many nights is a run.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log
from typing import Literal

import msgspec
import pyarrow as pa
from pyarrow import compute

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import UsageError
from mawl.figures.comparison.programs import matched_jobs, means
from mawl.figures.comparison.sides import ComparedRun, JobTime, Side, at, compared_run, numbers
from mawl.figures.comparison.waits import PLACES
from mawl.figures.nights import LoggedNight, logged_nights
from mawl.figures.series import RunSamples
from mawl.figures.view import RunView, StoredView
from mawl.records.model.thresholds import value_of

LEAST_GAP_SECONDS = value_of("history.least_gap_seconds")


class RunsOfNight(msgspec.Struct, frozen=True, kw_only=True):
    """Runs of one night, in order of their start."""

    runs: tuple[ComparedRun, ...]

    @property
    def started_at(self) -> float:
        """Start of the first run, seconds since the epoch."""
        return self.runs[0].facts.started_at

    @property
    def label(self) -> str:
        return self.runs[0].facts.run_id


def nights_of(
    runs: Iterable[ComparedRun], *, each: bool = False, whole: Collection[str] = ()
) -> list[RunsOfNight]:
    """Nights in order of time.  With ``each`` every run is a night, else every run with an id in ``whole``.

    Raises ``UsageError`` where a run is given twice, or runs are not of one workload.
    """
    ordered = sorted(runs, key=lambda run: (run.facts.started_at, run.facts.run_id))
    ids = [run.facts.run_id for run in ordered]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise UsageError("is given twice", where=twice, cure="name each run once")
    _check_alike(ordered)
    groups: list[list[ComparedRun]] = []
    for run in ordered:
        last = groups[-1][-1] if groups else None
        apart = each or run.facts.run_id in whole or (last is not None and last.facts.run_id in whole)
        if last is not None and not apart and _one_night(last, run):
            groups[-1].append(run)
        else:
            groups.append([run])
    return [RunsOfNight(runs=tuple(group)) for group in groups]


def _one_night(before: ComparedRun, run: ComparedRun) -> bool:
    if before.facts.campaign is not None and run.facts.campaign is not None:
        return before.facts.campaign.name == run.facts.campaign.name
    ended = before.facts.ended_at or before.facts.started_at
    return run.facts.started_at - ended < LEAST_GAP_SECONDS


def _check_alike(runs: Sequence[ComparedRun]) -> None:
    kinds: dict[str, str] = {}
    for run in runs:
        workload = run.facts.workload
        scale = "" if workload.scale is None else f" at scale {workload.scale:g}"
        kinds.setdefault(f"{run.facts.kind} {workload.name}{scale}", run.facts.run_id)
    if len(kinds) > 1:
        named = ", ".join(f"{kind} ({one})" for kind, one in kinds.items())
        raise UsageError(
            f"these are runs of {len(kinds)} kinds: {named}",
            why="a history follows one workload at one scale",
            cure="name the runs of one of them",
        )


SeriesKind = Literal["whole", "program", "place", "figure"]

FIGURES: dict[str, str] = {
    "elapsed": "time.elapsed_seconds",
    "user CPU": "time.user_cpu_seconds",
    "system CPU": "time.system_cpu_seconds",
    "application throughput": "io.application.run_mean.total_bytes_per_second",
    "device throughput": "io.device.run_mean.total_bytes_per_second",
}
"""Figures of a run, by their path in its summary; followed as logarithms."""
WHOLE_LOAD = "a job of the load"


class FollowedSeries(msgspec.Struct, frozen=True, kw_only=True):
    """A value a night: the mean over its runs, of logarithms where ``logarithm``, else of seconds."""

    kind: SeriesKind
    name: str
    logarithm: bool
    values: list[float]


def series_of(nights: Sequence[RunsOfNight]) -> list[FollowedSeries]:
    """The series that every night has, the whole load first."""
    sides = [Side(label=night.label, runs=night.runs) for night in nights]
    matched = matched_jobs(sides)
    found = []
    if matched:
        found.append(_times("whole", WHOLE_LOAD, sides, matched))
        for program in sorted(set(matched.values())):
            jobs = {job: one for job, one in matched.items() if one == program}
            found.append(_times("program", program, sides, jobs))
    for place, path in PLACES.items():
        values = _means(sides, path)
        if values and any(values):
            found.append(FollowedSeries(kind="place", name=place, logarithm=False, values=values))
    for name, path in FIGURES.items():
        values = _means(sides, path, logarithm=True)
        if values:
            found.append(FollowedSeries(kind="figure", name=name, logarithm=True, values=values))
    return found


def _times(kind: SeriesKind, name: str, sides: Sequence[Side], jobs: Mapping[str, str]) -> FollowedSeries:
    values = [statistics.fmean(means(side, jobs)) for side in sides]
    return FollowedSeries(kind=kind, name=name, logarithm=True, values=values)


def _means(sides: Sequence[Side], path: str, *, logarithm: bool = False) -> list[float]:
    """A figure's mean of each night; empty where a night lacks it."""
    found = []
    for side in sides:
        known = numbers([at(run.summary, path) for run in side.runs])
        if not known or (logarithm and min(known) <= 0.0):
            return []
        found.append(statistics.fmean(map(log, known)) if logarithm else statistics.fmean(known))
    return found


MARGIN_SECONDS = 3600.0
"""Samples up to this long before and after a night's jobs belong to the night: recordings sample every few
minutes."""


class NightsOfImport(msgspec.Struct, frozen=True, kw_only=True):
    """The last nights of an import, in order, and how many earlier ones are ``left_out``."""

    runs: tuple[ComparedRun, ...]
    left_out: int


def nights_of_import(view: StoredView, bounds: AnswerBounds) -> NightsOfImport | None:
    """The nights by the rules of the HTML report (``figures.nights``), each judged by itself.

    None if the run is no import, or an import of a single night.
    """
    if view.facts.kind != "imported":
        return None
    found = logged_nights(view.jobs, view.facts.sources)
    if found is None:
        return None
    return NightsOfImport(
        runs=tuple(_run_of_night(view, night, bounds) for night in found.nights), left_out=found.left_out
    )


def by_program(run: ComparedRun) -> ComparedRun:
    """The run with its jobs named by program and number: ``load_sales.2`` is the second of ``load_sales``.

    An import names jobs by their files, and these have other names every night.
    """
    counts: dict[str, int] = {}
    jobs: dict[str, JobTime] = {}
    # Jobs with a time come first, so that a job that failed does not shift the numbers of the others.
    for job in sorted(run.jobs.values(), key=lambda job: job.real_time_seconds is None):
        counts[job.program] = counts.get(job.program, 0) + 1
        jobs[f"{job.program}.{counts[job.program]}"] = job
    return msgspec.structs.replace(run, jobs=jobs)


def _run_of_night(view: StoredView, night: LoggedNight, bounds: AnswerBounds) -> ComparedRun:
    jobs = sorted(night.jobs, key=lambda job: (job.started_at or 0.0, job.job))
    names = {job.job for job in jobs}
    facts = msgspec.structs.replace(
        view.facts,
        run_id=f"{view.facts.run_id}, night of {night.label}",
        started_at=night.started_at,
        ended_at=night.ended_at,
        workload=msgspec.structs.replace(view.facts.workload, jobs=len(jobs)),
        planned_jobs=[job for job in view.facts.planned_jobs if job.job in names],
    )
    own = RunView(facts, jobs, _samples_of_night(view, night), rows=view.rows, damage=view.damage)
    return by_program(compared_run(own, judged(own, bounds), over_time=False))


def _samples_of_night(view: StoredView, night: LoggedNight) -> RunSamples | None:
    if view.samples is None:
        return None
    table = view.run.samples
    last = max(night.started_at, night.ended_at or night.started_at)
    edges = [
        pa.scalar(round(at * 1e6), pa.int64()).cast(table.schema.field("sampled_at").type)
        for at in (night.started_at - MARGIN_SECONDS, last + MARGIN_SECONDS)
    ]
    times = table["sampled_at"]
    within = compute.and_(compute.greater_equal(times, edges[0]), compute.less_equal(times, edges[1]))
    found = RunSamples(table.filter(within), [one.node for one in view.facts.storage_runs])
    return found if found.nodes else None


def own_nights(nights: Sequence[NightsOfImport]) -> frozenset[str]:
    """The ids of the runs that are each a whole night, even if the next night begins soon after."""
    return frozenset(run.facts.run_id for one in nights for run in one.runs)
