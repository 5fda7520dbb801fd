"""The nights of a history, its changes with their size and interval, and what changed with them.

A night's value is its mean, of one run or several.  Each night of an import of many nights is a run.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress
from math import expm1, log
from pathlib import Path
from typing import Literal

import msgspec
import pyarrow as pa
from pyarrow import compute

from mawl.advice.bounds import AnswerBounds
from mawl.advice.judge import judged
from mawl.base.errors import UsageError
from mawl.figures.comparison.comparability import MUST_MATCH, Difference, differences, shown
from mawl.figures.comparison.compare import compare
from mawl.figures.comparison.programs import matched_jobs, means
from mawl.figures.comparison.sides import ComparedRun, JobTime, Side, at, compared_run, numbers
from mawl.figures.comparison.waits import PLACES, main_change, place_changes, verdicts
from mawl.figures.nights import LoggedNight, logged_nights
from mawl.figures.series import RunSamples
from mawl.figures.statistics import (
    FEWEST_AFTER,
    FEWEST_BEFORE,
    FEWEST_RUNS,
    PART_LEVEL,
    WHOLE_LEVEL,
    ChangeFound,
    change_points,
    effect_of,
    smallest_change,
)
from mawl.figures.view import RunView, StoredView
from mawl.records.model.campaign import CampaignPart
from mawl.records.model.node import Figures
from mawl.records.model.thresholds import value_of
from mawl.records.store.files import QUALIFICATION

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


def of_qualification(run: ComparedRun, folder: Path) -> ComparedRun:
    """A measured run of a qualification as one of its night, as a run of a campaign is; another as it is."""
    above = folder.parent.parent
    if not (above / QUALIFICATION).is_file():
        return run
    part = CampaignPart(name=above.name, kind="repeat", arm="measured", position=1)
    return msgspec.structs.replace(run, facts=msgspec.structs.replace(run.facts, campaign=part))


def _one_night(before: ComparedRun, run: ComparedRun) -> bool:
    if before.facts.campaign is not None and run.facts.campaign is not None:
        return before.facts.campaign.name == run.facts.campaign.name
    ended = before.facts.ended_at or before.facts.started_at
    return run.facts.started_at - ended < LEAST_GAP_SECONDS


def _check_alike(runs: Sequence[ComparedRun]) -> None:
    """UsageError with one run of each kind, and the facts by which the kinds differ."""
    kinds: dict[tuple[str, ...], str] = {}
    rules = [rule for rule in MUST_MATCH if rule.over_nights]
    for run in runs:
        facts = (f"{rule.name} {shown(rule.read(run))}" for rule in rules)
        kinds.setdefault((f"{run.facts.kind} {run.facts.workload.name}", *facts), run.facts.run_id)
    if len(kinds) > 1:
        differing = [len(set(facts)) > 1 for facts in zip(*kinds, strict=True)]
        named = "; ".join(f"{', '.join(compress(kind, differing))} ({one})" for kind, one in kinds.items())
        raise UsageError(
            f"these are runs of {len(kinds)} kinds: {named}",
            why="a history follows one workload at one scale and in one cache mode",
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


CLOSE_NIGHTS = 2
"""Changes of parts this near to one of the whole load are reported with it."""
MOST_PROGRAMS = 5
LOAD_FIGURES = ("used_bytes", "free_bytes", "used_ratio", "available_bytes")
"""Figures of an inventory that are no settings: they are other ones every night."""


class SeriesChange(msgspec.Struct, frozen=True, kw_only=True):
    """How much a series changed: as a ratio less 1 where it is followed as a logarithm, else in seconds.

    ``low`` to ``high`` is the 95 % interval of the change between the nights before and after, each level
    taken between its neighbouring changes.  It ignores that the night was chosen by
    the evidence, so it is somewhat too narrow.
    """

    kind: SeriesKind
    name: str
    change_ratio: float | None
    change_seconds: float | None
    low: float
    high: float
    noticed: str


class HistoryChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of level.  ``night`` is the first at the new level (its first run's id).

    ``slower`` is None where it is no change of a time.  ``causes`` are facts that changed between the last
    night before and the first after; ``place`` is the sentence on where the time went, and ``role`` the role
    that it names; ``limits`` are what the runs were limited by before and after.  ``programs`` are
    those whose interval leaves out 0.
    """

    night: str
    started_at: float
    slower: bool | None
    series: list[SeriesChange]
    causes: list[Difference]
    place: str | None
    role: str | None
    limits: tuple[str, str]
    programs: list[SeriesChange]


class NightValue(msgspec.Struct, frozen=True, kw_only=True):
    """A night and its value of the whole load: the geometric mean of a job's real time."""

    night: str
    started_at: float
    runs: int
    log_seconds: float | None


class History(msgspec.Struct, frozen=True, kw_only=True):
    """``changes`` in order of time; ``regression`` None where too few nights can tell.

    ``smallest_ratio`` is the change of the whole load that three nights would show in 80 % of cases, by the
    spread since the last change.
    """

    workload: str
    nights: list[NightValue]
    followed: int
    fewest_nights: int
    left_out: list[str]
    unreadable: list[str]
    smallest_ratio: float | None
    changes: list[HistoryChange]
    regression: bool | None


def history_of(
    nights: Sequence[RunsOfNight], left_out: Sequence[str] = (), unreadable: Sequence[str] = ()
) -> History:
    """What happened over the nights; UsageError without any.

    ``left_out`` are runs that did not complete, by id: they say nothing of a level.  ``unreadable``
    has a sentence on each folder that was passed over because it is damaged, and on nights left out of an
    import.
    """
    if not nights:
        raise UsageError(
            "there is no run to follow",
            why=unreadable[0] if unreadable else None,
            cure="name runs, or a folder that holds some",
        )
    every = series_of(nights)
    whole = next((one for one in every if one.kind == "whole"), None)
    groups = found_in(every)
    changes = [_change(nights, every, place, list(groups), group) for place, group in groups.items()]
    enough = whole is not None and len(nights) >= FEWEST_BEFORE + FEWEST_AFTER
    times = [change for change in changes if change.slower is not None]
    workload = nights[0].runs[0].facts.workload
    return History(
        workload=workload.title or workload.name,
        nights=[
            NightValue(
                night=night.label,
                started_at=night.started_at,
                runs=len(night.runs),
                log_seconds=None if whole is None else whole.values[place],
            )
            for place, night in enumerate(nights)
        ],
        followed=len(every),
        fewest_nights=FEWEST_BEFORE + FEWEST_AFTER,
        left_out=list(left_out),
        unreadable=list(unreadable),
        smallest_ratio=None
        if whole is None
        else smallest_change(whole.values[max(groups, default=0) :], WHOLE_LEVEL),
        changes=changes,
        regression=bool(times and times[-1].slower) if enough else None,
    )


def found_in(every: Sequence[FollowedSeries]) -> dict[int, list[tuple[ChangeFound, FollowedSeries]]]:
    """The changes of all series by the first night at the new level, those of one moment together.

    What is first in such a group is the whole load where that changed, else the earliest.
    """
    parts = max(sum(one.kind != "whole" for one in every), 1)
    found: list[tuple[ChangeFound, FollowedSeries]] = []
    for one in every:
        own = change_points(one.values, WHOLE_LEVEL if one.kind == "whole" else PART_LEVEL / parts)
        found += [(point, one) for point in own]
    found.sort(key=lambda item: (item[1].kind != "whole", item[0].place))
    groups: dict[int, list[tuple[ChangeFound, FollowedSeries]]] = {}
    for item in found:
        near = [place for place in groups if abs(place - item[0].place) <= CLOSE_NIGHTS]
        groups.setdefault(near[0] if near else item[0].place, []).append(item)
    return dict(sorted(groups.items()))


def _change(
    nights: Sequence[RunsOfNight],
    every: Sequence[FollowedSeries],
    place: int,
    places: Sequence[int],
    group: Sequence[tuple[ChangeFound, FollowedSeries]],
) -> HistoryChange:
    begin = max((one for one in places if one < place), default=0)
    end = min((one for one in places if one > place), default=len(nights))
    before, after = nights[begin:place], nights[place:end]
    series = [_series_change(nights, one, begin, place, end, point.noticed) for point, one in group]
    compared = _changed_place(before, after)
    times = [one for one in series if one.kind in ("whole", "program") or one.name == "elapsed"]
    programs = [
        _series_change(nights, one, begin, place, end, group[0][0].noticed)
        for one in every
        if one.kind == "program"
    ]
    programs = [one for one in programs if one.low * one.high > 0.0]
    programs.sort(key=lambda one: -abs(one.change_ratio or 0.0))
    return HistoryChange(
        night=nights[place].label,
        started_at=nights[place].started_at,
        slower=None if not times else (times[0].change_ratio or 0.0) > 0.0,
        series=series,
        causes=causes(before[-1], after[0]),
        place=compared[0],
        role=compared[1],
        limits=(_limit_of_most(before), _limit_of_most(after)),
        programs=programs[:MOST_PROGRAMS],
    )


def _series_change(
    nights: Sequence[RunsOfNight], one: FollowedSeries, begin: int, place: int, end: int, noticed: int
) -> SeriesChange:
    before, after = one.values[begin:place], one.values[place:end]
    difference = statistics.fmean(after) - statistics.fmean(before)
    low = high = difference
    if min(len(before), len(after)) >= FEWEST_AFTER:
        effect = effect_of(before, after)
        low, high = effect.low, effect.high
    return SeriesChange(
        kind=one.kind,
        name=one.name,
        change_ratio=expm1(difference) if one.logarithm else None,
        change_seconds=None if one.logarithm else difference,
        low=expm1(low) if one.logarithm else low,
        high=expm1(high) if one.logarithm else high,
        noticed=nights[noticed].label,
    )


def _changed_place(
    before: Sequence[RunsOfNight], after: Sequence[RunsOfNight]
) -> tuple[str | None, str | None]:
    sides = [
        Side(label=label, runs=tuple(run for night in some for run in night.runs))
        for label, some in (("before", before), ("after", after))
    ]
    try:
        compared = compare(*sides, anyway=True)
    except UsageError as error:
        return f"the nights before and after cannot be compared: {error.why or error.what}", None
    judged = min(len(side.runs) for side in sides) >= FEWEST_RUNS  # nights before and after never alternate
    found = main_change(place_changes(*sides, judged=judged), compared.roles)
    return (None, None) if found is None else (found.sentence, found.role)


def causes(before: RunsOfNight, after: RunsOfNight) -> list[Difference]:
    """Facts in which the last run of a night differs from the first of the next: what may be the cause."""
    last, first = before.runs[-1], after.runs[0]
    listed = differences(Side(label="before", runs=(last,)), Side(label="after", runs=(first,)))
    old, new = (
        {name: flat(one.families) for name, one in run.facts.inventories.items()} for run in (last, first)
    )
    for node in sorted(set(old) & set(new)):
        for name in sorted(set(old[node]) & set(new[node])):
            if old[node][name] != new[node][name]:
                one, other = str(old[node][name]), str(new[node][name])
                listed.append(Difference(name=f"{node}: {name}", reference=one, candidate=other))
    inputs = [run.facts.cache.input_bytes if run.facts.cache else None for run in (last, first)]
    if inputs[0] != inputs[1]:
        listed.append(
            Difference(name="bytes of the inputs", reference=str(inputs[0]), candidate=str(inputs[1]))
        )
    return listed


def flat(families: dict[str, dict[str, Figures]]) -> Figures:
    """The settings of an inventory by ``family subject name``, without what fills up."""
    return {
        f"{family} {subject} {name}": value
        for family, subjects in families.items()
        for subject, figures in subjects.items()
        for name, value in figures.items()
        if value is not None and name not in LOAD_FIGURES
    }


def _limit_of_most(nights: Sequence[RunsOfNight]) -> str:
    return verdicts(Side(label="", runs=tuple(run for night in nights for run in night.runs)))[0][0]
