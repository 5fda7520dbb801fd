"""How the real time of each program changed from night to night.

The method is that of ``mawl history`` (docs/design/history.md), over the nights in which a program ran.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from math import exp, expm1, log
from typing import Literal

import msgspec

from mawl.base.units import format_change, format_seconds
from mawl.figures.missing import counted
from mawl.figures.nights import LoggedNight
from mawl.figures.statistics import (
    FEWEST_AFTER,
    FEWEST_BEFORE,
    PART_LEVEL,
    WHOLE_LEVEL,
    change_points,
    effect_of,
    smallest_change,
)
from mawl.records.definitions import Metric, count_metric, ratio_metric, seconds_metric, text_metric

Verdict = Literal["slower", "faster", "changed back", "no change found", "too few nights"]

FEWEST_NIGHTS = FEWEST_BEFORE + FEWEST_AFTER


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """A program over the nights.

    ``means`` are the means over its jobs of the logarithm of real time, in the nights at ``places`` of all
    ``of_nights``, in order.
    Levels are between changes; ``first_seconds`` and ``last_seconds`` are the geometric means of the first
    and the last of them, ``change_ratio`` the second over the first less 1 with its 95 % interval, and
    ``added_seconds`` what that makes in a night with ``jobs_a_night`` jobs.  ``changes`` are places in
    all nights: the first night at each new level.  ``smallest_ratio`` is the change that three nights would
    show in 80 % of cases, where no change was found.
    """

    name: str
    places: tuple[int, ...]
    means: tuple[float, ...]
    of_nights: int
    jobs_a_night: float
    verdict: Verdict
    changes: tuple[int, ...] = ()
    first_seconds: float
    last_seconds: float
    change_ratio: float | None = None
    low_ratio: float | None = None
    high_ratio: float | None = None
    added_seconds: float | None = None
    smallest_ratio: float | None = None

    @property
    def nights(self) -> int:
        return len(self.places)

    @property
    def logs(self) -> tuple[float | None, ...]:
        """The mean of each night; None where it did not run."""
        found = dict(zip(self.places, self.means, strict=True))
        return tuple(found.get(place) for place in range(self.of_nights))


class Trends(msgspec.Struct, frozen=True, kw_only=True):
    """``programs``: those whose level changed first, by what that makes in a night, then by their time.

    ``whole`` is the mean over the ``whole_programs`` that ran in every night; None without any.
    """

    programs: tuple[Trend, ...]
    whole: Trend | None
    whole_programs: int

    def of(self, verdict: Verdict) -> list[Trend]:
        return [program for program in self.programs if program.verdict == verdict]


def change_sentence(labels: Sequence[str], trends: Trends) -> str:
    """Which program became slower, and since when, of nights with these labels; or why that is unknown."""
    judged = [one for one in trends.programs if one.verdict != "too few nights"]
    if not judged:
        few = f"{len(labels)} nights; {FEWEST_NIGHTS} show which program became slower"
        return f"not known: these logs have {few}"
    changed = [*trends.of("slower"), *trends.of("faster")]
    if not changed:
        return f"no lasting change found in {len(judged)} programs"
    one = changed[0]
    assert one.change_ratio is not None and one.added_seconds is not None
    more = "more" if one.added_seconds >= 0 else "less"
    others = f"; {len(changed) - 1} more changed" if len(changed) > 1 else ""
    return (
        f"{one.name} became {one.verdict}: {format_change(one.change_ratio)} since {labels[one.changes[-1]]} "
        f"({format_seconds(one.first_seconds)}, now {format_seconds(one.last_seconds)}; "
        f"{format_seconds(abs(one.added_seconds))} {more} a night){others}"
    )


def trends_of(nights: Sequence[LoggedNight]) -> Trends:
    """The trends of all programs of these nights; jobs that failed, or took no time, do not count."""
    values: dict[str, dict[int, list[float]]] = {}
    for place, night in enumerate(nights):
        for job in counted(night.jobs):
            real = job.usage.real_time_seconds
            if real:
                values.setdefault(job.program, {}).setdefault(place, []).append(log(real))
    level = PART_LEVEL / max(len(values), 1)
    programs = [_trend(name, own, len(nights), level) for name, own in sorted(values.items())]
    programs.sort(key=_order)
    always = [own for own in values.values() if len(own) == len(nights)]
    whole = None
    if always:
        means = {
            place: [statistics.fmean(statistics.fmean(own[place]) for own in always)]
            for place in range(len(nights))
        }
        whole = _trend("", means, len(nights), WHOLE_LEVEL)
    return Trends(programs=tuple(programs), whole=whole, whole_programs=len(always))


def _order(trend: Trend) -> tuple[bool, float]:
    changed = trend.added_seconds
    return (changed is None, -abs(trend.last_seconds * trend.jobs_a_night if changed is None else changed))


def _trend(name: str, values: Mapping[int, Sequence[float]], of_nights: int, level: float) -> Trend:
    places = tuple(values)
    series = [statistics.fmean(own) for own in values.values()]
    points = [point.place for point in change_points(series, level)]
    edges = [0, *points, len(series)]
    first, last = series[: edges[1]], series[edges[-2] :]
    jobs = statistics.fmean(len(values[place]) for place in places[edges[-2] :])
    trend = Trend(
        name=name,
        places=places,
        means=tuple(series),
        of_nights=of_nights,
        jobs_a_night=jobs,
        verdict="no change found" if len(series) >= FEWEST_NIGHTS else "too few nights",
        changes=tuple(places[place] for place in points),
        first_seconds=exp(statistics.fmean(first)),
        last_seconds=exp(statistics.fmean(last)),
        smallest_ratio=smallest_change(series, level) if len(series) >= FEWEST_NIGHTS else None,
    )
    if not points:
        return trend
    effect = effect_of(first, last)
    return msgspec.structs.replace(
        trend,
        verdict="slower" if effect.low > 0 else "faster" if effect.high < 0 else "changed back",
        change_ratio=expm1(effect.difference),
        low_ratio=expm1(effect.low),
        high_ratio=expm1(effect.high),
        added_seconds=(trend.last_seconds - trend.first_seconds) * jobs,
        smallest_ratio=None,
    )


NIGHTS = "docs/design/importers.md, Many nights on one page"
HISTORY = "docs/design/history.md, How a change is found"

NIGHT_METRICS: tuple[Metric, ...] = (
    text_metric(
        "night.label",
        "Local date on which the night begins; a night lasts from the quietest time of one day to that of "
        "the next.",
        NIGHTS,
    ),
    seconds_metric(
        "night.length_seconds", "First start to last end of the jobs that started in the night.", NIGHTS
    ),
    count_metric("night.jobs", "Jobs that started in the night.", NIGHTS),
    count_metric(
        "night.peak_jobs", "Most jobs at once, of those that started in the night and have an end.", NIGHTS
    ),
    seconds_metric("night.cpu_seconds", "Sum of the CPU time of the jobs that started in the night.", NIGHTS),
    seconds_metric(
        "night.real_seconds", "Sum of the real time of the jobs that started in the night.", NIGHTS
    ),
    ratio_metric(
        "night.jobs_at_once",
        "Mean number of jobs that ran in a quarter of an hour of the local clock, whenever they started.",
        NIGHTS,
    ),
    ratio_metric(
        "night.middle_jobs_at_once",
        "Median over the nights of jobs at once in the same quarter of an hour; the band is from the 10th to "
        "the 90th percentile.",
        NIGHTS,
    ),
    count_metric("trend.nights", "Nights in which a job of the program counted.", NIGHTS),
    ratio_metric("trend.jobs_a_night", "Mean jobs in such a night, at the latest level.", NIGHTS),
    seconds_metric(
        "trend.first_seconds",
        "Geometric mean of the program's real time until its first change; each night counts once.",
        NIGHTS,
    ),
    seconds_metric("trend.last_seconds", "The same since its latest change, or of all nights.", NIGHTS),
    ratio_metric(
        "trend.change_ratio",
        "Latest level over first level, less 1, with the 95 % interval between the nights of both. The "
        "interval ignores that the night was chosen by the evidence, so it is somewhat too narrow.",
        HISTORY,
    ),
    seconds_metric(
        "trend.added_seconds",
        "Latest level less first level, for all of the program's jobs of a night.",
        NIGHTS,
    ),
    text_metric("trend.since", "Date of the first night at the latest level.", HISTORY),
    ratio_metric(
        "trend.smallest_ratio",
        "The change that three nights would show in 80 % of cases, by the spread of the nights.",
        HISTORY,
    ),
)
