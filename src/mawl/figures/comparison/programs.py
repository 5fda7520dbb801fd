"""Real time per job: over all jobs, and program by program, sorted by effect."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from math import exp, expm1, log, log1p
from typing import Literal

import msgspec

from mawl.figures.comparison.comparability import Unjudged
from mawl.figures.comparison.sides import ComparedRun, Side
from mawl.figures.statistics import FEWEST_RUNS, Effect, effect_of, holm, runs_needed
from mawl.records.model.thresholds import value_of

Verdict = Literal["slower", "faster", "not told apart", "not judged"]

SOUGHT_RATIO = value_of("comparison.sought_ratio")
"""The slowdown for which the runs that it would take are printed."""

MARGIN_RATIO = value_of("comparison.margin_ratio")


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What the runs say about real time per job, over all jobs that count in every run.

    Ratios are candidate over reference less 1 (0.1: a tenth longer), of the geometric means.
    ``alike``: no change larger than ``margin_ratio`` is established, by the 90 % interval ``narrow_*``; None
    where nothing is judged; ``not_judged`` says why.
    ``smallest_effect_ratio`` would be found in 80 % of comparisons like this one;
    ``runs_for_tenth`` runs a side would find 10 % (None: more than 200).
    ``reference_run_seconds`` and ``candidate_run_seconds`` have a value for each run, in order of its start:
    the geometric mean of real time over the jobs.
    """

    verdict: Verdict
    jobs: int
    jobs_left_out: int
    reference_runs: int
    candidate_runs: int
    more_runs_needed: int
    change_ratio: float | None
    not_judged: Unjudged | None = None
    margin_ratio: float = MARGIN_RATIO
    alike: bool | None = None
    narrow_low_ratio: float | None = None
    narrow_high_ratio: float | None = None
    low_ratio: float | None = None
    high_ratio: float | None = None
    p_value: float | None = None
    smallest_effect_ratio: float | None = None
    runs_for_tenth: int | None = None
    reference_run_seconds: list[float] = []
    candidate_run_seconds: list[float] = []


class ProgramChange(msgspec.Struct, frozen=True, kw_only=True):
    """A program's real time per job: geometric means over jobs and runs, and what changed."""

    program: str
    jobs: int
    reference_seconds: float
    candidate_seconds: float
    change_ratio: float
    low_ratio: float | None
    high_ratio: float | None
    smallest_effect_ratio: float | None
    verdict: Verdict


class ComparedPrograms(msgspec.Struct, frozen=True, kw_only=True):
    """All programs, the most slowed first, and how many of each verdict there are.

    ``no_difference`` counts those not told apart, which are not shown to be alike;
    ``ran_longer`` and ``ran_shorter`` count plain changes, whatever they are worth.
    """

    changes: list[ProgramChange]
    slower: int
    faster: int
    no_difference: int
    ran_longer: int
    ran_shorter: int


def matched_jobs(sides: Sequence[Side]) -> dict[str, str]:
    """Jobs (id to program) that count, with a real time, in every run of the sides."""
    runs = [run for side in sides for run in side.runs]
    first = runs[0].jobs if runs else {}
    return {name: job.program for name, job in first.items() if all(_counts(run, name) for run in runs)}


def statement(
    reference: Side, candidate: Side, unjudged: Unjudged | None, margin_ratio: float = MARGIN_RATIO
) -> Statement:
    """The change of real time per job; judged unless ``unjudged``, which is ``why_unjudged`` of the sides.

    ``margin_ratio`` (above 0) is the change that would matter: candidate over reference from 1 / (1 + margin)
    to 1 + margin is no change larger than the margin.
    """
    matched = matched_jobs((reference, candidate))
    every = {name for side in (reference, candidate) for run in side.runs for name in run.jobs}
    known = Statement(
        verdict="not judged",
        jobs=len(matched),
        jobs_left_out=len(every) - len(matched),
        reference_runs=len(reference.runs),
        candidate_runs=len(candidate.runs),
        more_runs_needed=sum(max(FEWEST_RUNS - len(side.runs), 0) for side in (reference, candidate)),
        change_ratio=None,
        not_judged=unjudged,
        margin_ratio=margin_ratio,
    )
    if not matched:
        return known
    before, after = (means(side, matched) for side in (reference, candidate))
    known = msgspec.structs.replace(
        known,
        change_ratio=expm1(statistics.fmean(after) - statistics.fmean(before)),
        reference_run_seconds=[exp(mean) for mean in before],
        candidate_run_seconds=[exp(mean) for mean in after],
    )
    if unjudged is not None:
        return known
    effect = effect_of(before, after)
    return msgspec.structs.replace(
        known,
        verdict=verdict_of(effect, effect.differs),
        **interval(effect),
        p_value=effect.p_value,
        alike=effect.within(log1p(margin_ratio)),
        narrow_low_ratio=expm1(effect.narrow_low),
        narrow_high_ratio=expm1(effect.narrow_high),
        runs_for_tenth=runs_needed(before, after, log1p(SOUGHT_RATIO)),
    )


def program_changes(reference: Side, candidate: Side, *, judged: bool) -> ComparedPrograms:
    """Program by program; if ``judged``, each among all (Holm)."""
    matched = matched_jobs((reference, candidate))
    names = sorted(set(matched.values()))
    jobs = {name: [job for job, program in matched.items() if program == name] for name in names}
    values = {name: (means(reference, jobs[name]), means(candidate, jobs[name])) for name in names}
    effects: dict[str, Effect] = {}
    if judged:
        effects = {name: effect_of(*values[name], comparisons=len(names)) for name in names}
    found = dict(zip(effects, holm([effect.p_value for effect in effects.values()]), strict=True))
    changes = [
        _change(name, len(jobs[name]), *values[name], effects.get(name), found.get(name, False))
        for name in names
    ]
    changes.sort(key=lambda change: (-change.change_ratio, change.program))
    verdicts = [change.verdict for change in changes]
    return ComparedPrograms(
        changes=changes,
        slower=verdicts.count("slower"),
        faster=verdicts.count("faster"),
        no_difference=verdicts.count("not told apart"),
        ran_longer=sum(change.change_ratio > 0 for change in changes),
        ran_shorter=sum(change.change_ratio < 0 for change in changes),
    )


def means(side: Side, jobs: Mapping[str, str] | Sequence[str]) -> list[float]:
    """Of each run the mean over jobs of the logarithm of real time (seconds)."""
    return [statistics.fmean(log(_seconds(run, name)) for name in jobs) for run in side.runs]


def verdict_of(effect: Effect, differs: bool) -> Verdict:
    if not differs:
        return "not told apart"
    return "slower" if effect.difference > 0 else "faster"


def interval(effect: Effect) -> dict[str, float]:
    """Interval and smallest effect of log ratios, as ratios less 1."""
    return {
        "low_ratio": expm1(effect.low),
        "high_ratio": expm1(effect.high),
        "smallest_effect_ratio": expm1(effect.smallest),
    }


def _change(
    name: str,
    jobs: int,
    before: Sequence[float],
    after: Sequence[float],
    effect: Effect | None,
    differs: bool,
) -> ProgramChange:
    one, other = statistics.fmean(before), statistics.fmean(after)
    judged = (
        interval(effect) if effect else dict.fromkeys(("low_ratio", "high_ratio", "smallest_effect_ratio"))
    )
    return ProgramChange(
        program=name,
        jobs=jobs,
        reference_seconds=exp(one),
        candidate_seconds=exp(other),
        change_ratio=expm1(other - one),
        verdict=verdict_of(effect, differs) if effect else "not judged",
        **judged,
    )


def _counts(run: ComparedRun, name: str) -> bool:
    job = run.jobs.get(name)
    return job is not None and bool(job.real_time_seconds)


def _seconds(run: ComparedRun, name: str) -> float:
    seconds = run.jobs[name].real_time_seconds
    assert seconds is not None, "matched jobs have a real time"
    return seconds
