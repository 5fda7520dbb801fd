"""duration: an active phase of 20 minutes."""

from __future__ import annotations

from mawl.advice.validity.imported import Said, with_cure
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.units import format_seconds

NAME = "duration"
LEAST_ACTIVE_SECONDS = value_of("validity.duration.least_active_seconds")
"""Write caches, burst credits and heat show within minutes, not within seconds."""


def check(reading: RunView) -> list[Finding]:
    """In a shorter active phase, a write cache, burst credits or a cool machine can hide a limit."""
    active = reading.summary.time.active_seconds
    if active is not None and active >= LEAST_ACTIVE_SECONDS:
        return []
    lasted = "is not known" if active is None else f"lasted {format_seconds(active)}"
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"the active phase {lasted}; {format_seconds(LEAST_ACTIVE_SECONDS)} required",
            cure="choose a larger --scale or more sessions",
        )
    ]


def check_import(reading: RunView) -> Said:
    """The same rule, where the files are of one run and say when it was."""
    if reading.line is not None and reading.line.periods:
        return _unmeasured("the files are not of one run: import each period by itself")
    if reading.summary.time.active_seconds is None:
        return _unmeasured("no file names the times of jobs or of a host")
    return with_cure(check(reading), "import the files of a longer time")


def _unmeasured(reason: str) -> list[Unmeasured]:
    return [Unmeasured(rule=NAME, severity="preliminary", reason=reason)]
