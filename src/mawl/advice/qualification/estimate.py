"""The slowdown of several runs of one mix, with an interval over jobs, times alone and runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from math import exp, hypot, log, sqrt

import msgspec

from mawl.advice.capacity.slowdown import Baseline, Part, Slowdowns, Slowed, interval_of
from mawl.analysis.comparison.student import quantile
from mawl.model.thresholds import count_of, value_of

FEWEST_ALONE = count_of("capacity.fewest_runs_alone")
TAIL = value_of("comparison.level") / 2.0
NORMAL = 1.96
TINY = 1e-6
"""A slowdown of zero has no logarithm."""


class MedianEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """A median over the jobs of all runs, with its 95 % interval."""

    median: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies in the interval."""
        return self.low <= value <= self.high


def estimate(runs: Sequence[Slowdowns], part: Part) -> MedianEstimate | None:
    """A part of the slowdown over all runs; None where no job has it.

    Half widths, of logarithms, are independent, so their squares add up: that of the bootstrap over jobs and
    times alone; of the runs' medians (Student), or the assumed spread where there is one run; and the
    assumed spread of times alone where there are fewer than three (docs/design/qualify-answer.md).
    """
    inside = interval_of(pooled(runs), part)
    if inside is None:
        return None
    middle = max(inside.median, TINY)
    further = hypot(_between(runs, part), _alone(runs))
    below = hypot(log(middle / max(min(inside.low, middle), TINY)), further)
    above = hypot(log(max(inside.high, middle) / middle), further)
    return MedianEstimate(median=inside.median, low=middle * exp(-below), high=middle * exp(above))


def ratio_of(every: Sequence[Slowdowns], one: Sequence[Slowdowns]) -> MedianEstimate | None:
    """The slowdown of runs over that of others of the same jobs; None where either is not known.

    Jobs and times alone are the same on both sides, so only what differs from run to run counts.
    """
    above, below = interval_of(pooled(every), "whole"), interval_of(pooled(one), "whole")
    if above is None or below is None:
        return None
    middle = max(above.median, TINY) / max(below.median, TINY)
    half = hypot(_between(every, "whole"), _between(one, "whole"))
    return MedianEstimate(median=middle, low=middle * exp(-half), high=middle * exp(half))


def pooled(runs: Sequence[Slowdowns]) -> Slowdowns:
    """The jobs of all runs, each against the times alone of its own run."""
    jobs: list[Slowed] = []
    baselines: list[Baseline] = []
    for run in runs:
        offset = len(baselines)
        baselines += run.baselines
        jobs += [msgspec.structs.replace(job, kind=job.kind + offset) for job in run.jobs]
    return Slowdowns(jobs=jobs, baselines=baselines)


def fewest_alone(runs: Sequence[Slowdowns]) -> int:
    """Runs alone of the kind of job that has fewest."""
    return min((run.fewest_runs for run in runs), default=0)


def _between(runs: Sequence[Slowdowns], part: Part) -> float:
    """Half width of the interval of the runs' medians, in logarithms."""
    found = [one.median for run in runs if (one := interval_of(run, part)) is not None]
    if len(found) < 2:
        return NORMAL * value_of("qualification.assumed_run_spread_ratio")
    logs = [log(max(value, TINY)) for value in found]
    return quantile(1.0 - TAIL, len(logs) - 1) * statistics.stdev(logs) / sqrt(len(logs))


def _alone(runs: Sequence[Slowdowns]) -> float:
    fewest = fewest_alone(runs)
    if fewest >= FEWEST_ALONE:
        return 0.0
    return NORMAL * value_of("qualification.assumed_alone_spread_ratio") / sqrt(max(fewest, 1))
