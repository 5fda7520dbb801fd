"""What is followed: the whole load, each program, each place where time goes, and figures of a run."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from math import log
from typing import Literal

import msgspec

from mawl.analysis.comparison.places import PLACES
from mawl.analysis.comparison.programs import matched_jobs, means
from mawl.analysis.comparison.sides import Side, at, numbers
from mawl.history.nights import RunsOfNight

SeriesKind = Literal["whole", "program", "place", "figure"]

FIGURES: dict[str, str] = {
    "elapsed": "time.elapsed_seconds",
    "user CPU": "time.user_cpu_seconds",
    "system CPU": "time.system_cpu_seconds",
    "application throughput": "io.application.run_mean.total_bytes_per_second",
    "device throughput": "io.device.run_mean.total_bytes_per_second",
}
"""Figures of a run, by their path in its summary; followed as logarithms."""
WHOLE = "a job of the load"


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
        found.append(_times("whole", WHOLE, sides, matched))
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
