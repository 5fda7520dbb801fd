"""drift: storage was in the last third what it was in the first."""

from __future__ import annotations

from mawl.advice.validity.imported import Said, with_reason
from mawl.advice.validity.thirds import FEW, FEWEST_WINDOWS, thirds
from mawl.analysis.view import RunView
from mawl.model.summary.judgement import Finding, Unmeasured
from mawl.model.thresholds import value_of
from mawl.spec.program_options import ROLES
from mawl.units import format_rate, format_ratio

NAME = "drift"
LEAST_KEPT_RATIO = value_of("validity.drift.least_kept_ratio")
"""Throughput that falls below this share of the first third's."""

LEAST_WAITING_RATIO = value_of("validity.drift.least_waiting_ratio")
"""... while at least as many jobs were blocked in I/O: they asked for as much, and got less."""

LEAST_BLOCKED_JOBS = value_of("validity.drift.least_blocked_jobs")


def check(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """A full write cache, used-up burst credits or heat reduce throughput, but not how many jobs are blocked.

    A mix of programs also changes during a run. If throughput falls because jobs ask for less, fewer jobs
    are blocked, and that is no finding.
    """
    active = reading.active
    moved = thirds([moment.device["total"] for moment in active])
    blocked = thirds(
        [
            None if moment.jobs_blocked is None else sum(moment.jobs_blocked[role] for role in ROLES)
            for moment in active
        ]
    )
    if moved is None or blocked is None:
        told = "the bytes at the devices" if moved is None else "what jobs waited for"
        known = FEW if len(active) < FEWEST_WINDOWS else f"the samples do not contain {told}"
        return [Unmeasured(rule=NAME, severity="preliminary", reason=reading.why_not_drawn or known)]
    if moved[1] >= LEAST_KEPT_RATIO * moved[0] or blocked[1] < LEAST_BLOCKED_JOBS:
        return []
    if blocked[1] < LEAST_WAITING_RATIO * blocked[0]:
        return []
    return [
        Finding(
            rule=NAME,
            severity="preliminary",
            sentence=f"devices moved {format_rate(moved[1])} in the last third of the active phase, after "
            f"{format_rate(moved[0])} in the first, while {format_ratio(blocked[1])} jobs were blocked "
            f"in I/O (before: {format_ratio(blocked[0])})",
            cure="run longer, past write caches and burst credits, and give the later part's figure",
        )
    ]


def check_import(reading: RunView) -> Said:
    """The same rule, over what was recorded."""
    return with_reason(check(reading), "the files do not say how many jobs waited for storage", reading)
