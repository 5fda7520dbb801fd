"""Slowdown: a job's real time in the mix over that of its program alone, and its parts.

With the real time alone as compute C0, storage S0 and other waits O0, and in the mix C, S and O, the
slowdown is (C + S + O)/(C0 + S0 + O0).  Its compute part (C + S0 + O0)/(C0 + S0 + O0) is the slowdown if only
compute had changed, its storage part (C0 + S + O0)/(C0 + S0 + O0) if only storage had
(docs/design/capacity.md).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.figures.missing import counted
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import Waits
from mawl.records.model.run import Alone, AloneRun
from mawl.records.model.summary.judgement import Slowdown
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import ROLES

Floats = NDArray[np.float64]
Part = Literal["whole", "compute", "storage"]

DRAWS = 1000
FEW_DRAWS = 200
MANY_JOBS = 2000
"""Draws of the bootstrap, and fewer where there are many jobs, whose median is known better anyway."""

SEED = 19
"""The draws are the same in every report of a run."""


class RealTimeParts(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of real time.  ``compute`` is on a CPU or in the run queue, ``storage`` blocked in I/O of
    data, work and util, ``other`` every other wait; they add up to ``real``."""

    real: float
    compute: float
    storage: float
    other: float


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A median over jobs with its 95 % interval."""

    median: float
    low: float
    high: float


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The runs alone of one kind of job, ascending by real time; ``parts`` are None where one lacks them."""

    seconds: list[float]
    parts: list[RealTimeParts] | None


class Slowed(msgspec.Struct, frozen=True, kw_only=True):
    """A job with a time alone: its kind (the place of its baseline), its real time and its parts."""

    job: str
    program: str
    kind: int
    seconds: float
    parts: RealTimeParts | None


class Slowdowns(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs that count and have a time alone."""

    jobs: list[Slowed]
    baselines: list[Baseline]

    def by_job(self) -> dict[str, float]:
        """Real time over the middle time alone, by job."""
        return {one.job: one.seconds / middle(self.baselines[one.kind].seconds) for one in self.jobs}

    @property
    def with_parts(self) -> list[Slowed]:
        """The jobs whose parts are known in the mix and alone."""
        return [one for one in self.jobs if one.parts and self.baselines[one.kind].parts]

    @property
    def fewest_runs(self) -> int:
        """Runs alone of the kind that has fewest; 0 without jobs."""
        return min((len(self.baselines[one.kind].seconds) for one in self.jobs), default=0)


def slowdowns(jobs: Sequence[JobRecord], alone: Sequence[Alone]) -> Slowdowns:
    """The slowdowns of a run's jobs that count."""
    kinds = {job: number for number, one in enumerate(alone) for job in one.jobs}
    return Slowdowns(
        baselines=[_baseline(one) for one in alone],
        jobs=[
            Slowed(
                job=job.job,
                program=job.program,
                kind=kinds[job.job],
                seconds=job.usage.real_time_seconds,
                parts=_parts_of(job.usage.real_time_seconds, job.waits),
            )
            for job in counted(jobs)
            if job.job in kinds
            and job.usage.real_time_seconds is not None
            and alone[kinds[job.job]].real_time_seconds > 0
        ],
    )


def by_program(found: Slowdowns) -> dict[str, float]:
    """Median slowdown of each program's jobs."""
    ratios, values = found.by_job(), dict[str, list[float]]()
    for one in found.jobs:
        values.setdefault(one.program, []).append(ratios[one.job])
    return {program: statistics.median(own) for program, own in values.items()}


def interval_of(found: Slowdowns, part: Part) -> Interval | None:
    """The median of a part over the jobs that have it, with its interval; None where no job has it.

    The interval is that of the bootstrap over jobs and over the runs alone of each kind.  Waiting that is in
    no I/O call could be either part's: the upper end of a part takes its growth in, the lower does not.
    """
    jobs = found.jobs if part == "whole" else found.with_parts
    if not jobs:
        return None
    chosen = [_columns(found, jobs, part, other=other) for other in (False, True)]
    kinds = np.array([one.kind for one in jobs])
    rng = np.random.default_rng(SEED)
    draws = DRAWS if len(jobs) <= MANY_JOBS else FEW_DRAWS
    lows, highs = np.empty(draws), np.empty(draws)
    bases = np.column_stack([_drawn_middles(rng, len(one.seconds), draws) for one in found.baselines])
    for draw in range(draws):
        picked = rng.integers(0, len(jobs), len(jobs))
        at = bases[draw, kinds[picked]]
        lows[draw], highs[draw] = (float(np.median(table[picked, at])) for table in chosen)
    tail = value_of("comparison.level") / 2.0
    points = np.array([(len(found.baselines[one.kind].seconds) - 1) // 2 for one in jobs])
    return Interval(
        median=float(np.median(chosen[0][np.arange(len(jobs)), points])),
        low=float(np.quantile(lows, tail)),
        high=float(np.quantile(highs, 1.0 - tail)),
    )


def middle(ascending: Sequence[float]) -> float:
    """The middle of an ascending list, the lower one of an even number."""
    return ascending[(len(ascending) - 1) // 2]


def slowdown_of(found: Slowdowns, whole: Interval | None, counted_jobs: int, most: float) -> Slowdown:
    """``capacity.slowdown``: the median with its interval, percentile and longest, and by job."""
    by_job = found.by_job()
    values = sorted(by_job.values())
    return Slowdown(
        **ends_of(whole),
        p90=percentile(values, 0.9) if values else None,
        longest=values[-1] if values else None,
        most=most,
        by_job=by_job,
        jobs=len(values),
        counted=counted_jobs,
        runs_alone=found.fewest_runs,
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value at ``share`` of an ascending list, straight between neighbours."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def ends_of(interval: Interval | None) -> dict[str, float | None]:
    """The median and both ends of its interval; None where it is not known."""
    return dict.fromkeys(("median", "low", "high")) if interval is None else msgspec.to_builtins(interval)


def _baseline(alone: Alone) -> Baseline:
    runs = alone.runs or [AloneRun(run_id=alone.run_id, real_time_seconds=alone.real_time_seconds)]
    runs = sorted(runs, key=lambda run: run.real_time_seconds)
    parts = [_parts_of(run.real_time_seconds, run.waits) for run in runs]
    return Baseline(
        seconds=[run.real_time_seconds for run in runs],
        parts=None if None in parts else [one for one in parts if one is not None],
    )


def _drawn_middles(rng: np.random.Generator, runs: int, draws: int) -> NDArray[np.int64]:
    """The place of the middle run among as many drawn with replacement, draw by draw."""
    drawn: NDArray[np.int64] = np.sort(rng.integers(0, runs, (draws, runs)), axis=1)
    return drawn[:, (runs - 1) // 2]


def _columns(found: Slowdowns, jobs: Sequence[Slowed], part: Part, *, other: bool) -> Floats:
    """A row a job, a column a run alone: the part of the slowdown against that run."""
    most = max(len(found.baselines[one.kind].seconds) for one in jobs)
    table = np.full((len(jobs), most), np.nan)
    for row, one in enumerate(jobs):
        base = found.baselines[one.kind]
        for column, seconds in enumerate(base.seconds):
            grown = one.seconds - seconds
            if part != "whole" and one.parts and base.parts:
                grown = getattr(one.parts, part) - getattr(base.parts[column], part)
                grown += max(one.parts.other - base.parts[column].other, 0.0) if other else 0.0
            table[row, column] = (seconds + grown) / seconds
    return table


def _parts_of(real_time_seconds: float, waits: Waits) -> RealTimeParts | None:
    """A job's parts; None where CPU time, run queue or blocked time by role is not known.

    Where several threads make the sum of the waits larger than real time, all shrink alike.  What the
    waits leave of real time is ``other``.
    """
    blocked = [getattr(waits, f"blocked_{role}_seconds") for role in ROLES]
    known = (waits.on_cpu_seconds, waits.run_queue_seconds, *blocked)
    if real_time_seconds <= 0 or any(value is None for value in known):
        return None
    compute = (waits.on_cpu_seconds or 0.0) + (waits.run_queue_seconds or 0.0)
    storage = sum(value or 0.0 for value in blocked)
    other = waits.blocked_other_seconds or 0.0
    whole = compute + storage + other
    shrink = real_time_seconds / whole if whole > real_time_seconds else 1.0
    compute, storage = compute * shrink, storage * shrink
    return RealTimeParts(
        real=real_time_seconds,
        compute=compute,
        storage=storage,
        other=max(real_time_seconds - compute - storage, 0.0),
    )
