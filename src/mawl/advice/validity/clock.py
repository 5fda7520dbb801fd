"""clock: nobody set the wall clock while the run lasted."""

from __future__ import annotations

from mawl.advice.validity.imported import no_file_says
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_seconds

NAME = "clock"
LEAST_STEP_SECONDS = value_of("validity.clock.least_step_seconds")
MOST_SLEW_RATIO = value_of("validity.clock.most_slew_ratio")
"""A clock that is drawn in is off by half of this at most (adjtimex(2): 500 parts in a million)."""


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """mawl measures durations with a clock that cannot be set. Times of samples and starts use the wall
    clock, so a step of that clock shifts them."""
    both = [step for step in (_of_the_run(reading), *_of_jobs(reading)) if step is not None]
    steps = [step for step in both if step]
    if not both:
        reason = "no duration was measured by both clocks"
        return [Unmeasured(rule=NAME, severity="preliminary", reason=reason)]
    if not steps:
        return []
    largest = max(steps, key=abs)
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"the wall clock was set {'forward' if largest > 0 else 'back'} by about "
            f"{format_seconds(abs(largest))} during the run, which shifts samples against jobs",
            cure="let the clock be drawn in slowly (chrony, ntpd) or leave it alone while a run lasts",
        )
    ]


def _step(wall: float, true: float) -> float:
    """How far two clocks disagree about a duration; 0 within what drawing in may make."""
    off = wall - true
    return off if abs(off) > max(LEAST_STEP_SECONDS, MOST_SLEW_RATIO * true) else 0.0


def _of_the_run(reading: RunView) -> float | None:
    facts = reading.facts
    startup, run = facts.phases.startup_seconds, facts.phases.run_seconds
    if facts.ended_at is None or startup is None or run is None:
        return None
    return _step(facts.ended_at - facts.started_at, startup + run)


def _of_jobs(reading: RunView) -> list[float]:
    return [
        _step(
            job.ended_at - job.started_at, job.usage.real_time_seconds + (job.verify.real_time_seconds or 0.0)
        )
        for job in reading.jobs
        if job.started_at is not None and job.ended_at is not None and job.usage.real_time_seconds is not None
    ]


check_import = no_file_says(NAME, "the clocks of the files are taken as they are")
