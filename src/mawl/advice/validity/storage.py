"""Rules on the storage: writes held in memory, loss of throughput, free space, and I/O by role."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from mawl.advice.validity.rule import RuleResults, ValidityRule, no_file_says, with_reason
from mawl.base.units import format_bytes, format_percent, format_rate, format_ratio
from mawl.figures.view import RunView
from mawl.records.model.summary.judgement import Finding, Unmeasured
from mawl.records.model.thresholds import count_of, value_of
from mawl.records.spec.program_options import ROLES

MOST_LEFT_RATIO = value_of("validity.writeback.most_left_ratio")
LEAST_LEFT_BYTES = value_of("validity.writeback.least_left_bytes")


def _check_writeback(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Bytes that are written back for an earlier command do not belong to this run. Bytes of the run that are
    still in memory at its end did not reach a device."""
    dirtied, written = reading.summary.io.dirtied, reading.summary.io.device
    at_gate, left = dirtied.at_gate_bytes, dirtied.still_dirty_bytes
    if at_gate is None or left is None:
        reason = reading.summary.missing.get("io.dirtied.at_gate_bytes", "it was not looked at")
        return [Unmeasured(rule=WRITEBACK.name, severity="remark", reason=reason)]
    moved = written.written_bytes or 0.0
    least = max(MOST_LEFT_RATIO * moved, LEAST_LEFT_BYTES)
    found = []
    if at_gate > least:
        found.append(
            Finding(
                rule=WRITEBACK.name,
                severity="preliminary",
                sentence=f"{format_bytes(at_gate)} of earlier writes were still in memory when the gate "
                "opened, and their devices got them during the run",
                cure="wait until other programs have written, or run on a machine that does nothing else",
            )
        )
    if left > least:
        found.append(
            Finding(
                rule=WRITEBACK.name,
                severity="remark",
                sentence=f"{format_bytes(left)} of what the jobs wrote had reached no device when the last "
                "of them ended",
                cure="choose a larger --scale or a lower --memory-limit: the load must not fit the cache",
            )
        )
    return found


WRITEBACK = ValidityRule(
    "writeback",
    _check_writeback,
    no_file_says("writeback", "no file says what memory held for the devices", "remark"),
)


FEWEST_WINDOWS = count_of("validity.drift.fewest_windows")
FEW_WINDOWS = f"the active phase has fewer than {FEWEST_WINDOWS} windows"
"""Why there are no thirds."""


def thirds(values: Sequence[float | None]) -> tuple[float, float] | None:
    """Means of the known values of the first and of the last third of the windows.

    None where there are fewer than six windows, or a third without a value.
    """
    if len(values) < FEWEST_WINDOWS:
        return None
    size = len(values) // 3
    first, last = ([value for value in part if value is not None] for part in (values[:size], values[-size:]))
    return (statistics.fmean(first), statistics.fmean(last)) if first and last else None


LEAST_KEPT_RATIO = value_of("validity.drift.least_kept_ratio")
"""Throughput that falls below this share of the first third's."""

LEAST_WAITING_RATIO = value_of("validity.drift.least_waiting_ratio")
"""... while at least as many jobs were blocked in I/O: they asked for as much, and got less."""

LEAST_BLOCKED_JOBS = value_of("validity.drift.least_blocked_jobs")


def _check_drift(reading: RunView) -> list[Finding] | list[Unmeasured]:
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
        lacking = "the bytes at the devices" if moved is None else "what jobs waited for"
        known = FEW_WINDOWS if len(active) < FEWEST_WINDOWS else f"the samples do not contain {lacking}"
        return [Unmeasured(rule=DRIFT.name, severity="preliminary", reason=reading.why_not_drawn or known)]
    if moved[1] >= LEAST_KEPT_RATIO * moved[0] or blocked[1] < LEAST_BLOCKED_JOBS:
        return []
    if blocked[1] < LEAST_WAITING_RATIO * blocked[0]:
        return []
    return [
        Finding(
            rule=DRIFT.name,
            severity="preliminary",
            sentence=f"devices moved {format_rate(moved[1])} in the last third of the active phase, after "
            f"{format_rate(moved[0])} in the first, while {format_ratio(blocked[1])} jobs were blocked "
            f"in I/O (before: {format_ratio(blocked[0])})",
            cure="run longer, past write caches and burst credits, and give the later part's figure",
        )
    ]


def _check_import_drift(reading: RunView) -> RuleResults:
    return with_reason(
        _check_drift(reading), "the files do not say how many jobs waited for storage", reading
    )


DRIFT = ValidityRule("drift", _check_drift, _check_import_drift)


LEAST_FREE_RATIO = value_of("validity.space.least_free_ratio")
"""File systems and flash slow down when less than about a tenth is free."""


def _check_space(reading: RunView) -> list[Finding] | list[Unmeasured]:
    """Free space at the start, less the space that the plan needs, as a share of the file system."""
    if not reading.facts.free_space:
        reason = "the free space before the start was not measured"
        return [Unmeasured(rule=SPACE.name, severity="preliminary", reason=reason)]
    findings = []
    for space in reading.facts.free_space:
        left = space.free_bytes - (space.needed_bytes or 0)
        if space.size_bytes <= 0 or left >= LEAST_FREE_RATIO * space.size_bytes:
            continue
        findings.append(
            Finding(
                rule=SPACE.name,
                severity="preliminary",
                sentence=f"the file system of {', '.join(space.roles)} had {format_bytes(max(left, 0))} to "
                f"spare, {format_percent(max(left, 0) / space.size_bytes)} of its size",
                cure="free space there, or name larger directories with "
                + ", ".join(f"--{role}" for role in space.roles),
            )
        )
    return findings


SPACE = ValidityRule("space", _check_space, no_file_says("space", "no file says what was free before"))


LEAST_COVERAGE_RATIO = value_of("validity.coverage.least_ratio")
NO_LIBRARY_CURE = "install a C compiler, with which mawl builds its counters at first use"
NOT_SEEN_CURE = (
    "see what the jobs' remarks name: mapped files, io_uring, static and set-uid programs are not seen"
)


def _check_coverage(reading: RunView) -> list[Finding | Unmeasured]:
    """Below 0.95 of the kernel's bytes, shares and waits by role describe only a part of the I/O."""
    coverage = reading.summary.io.coverage_ratio
    if coverage is None:
        why = reading.summary.missing.get("io.coverage_ratio", "it was not measured")
        return [
            Finding(
                rule=COVERAGE.name,
                severity="remark",
                sentence=f"I/O by role is not known: {why}",
                cure=NO_LIBRARY_CURE if "io.by_role" in reading.facts.missing else NOT_SEEN_CURE,
            ),
            Unmeasured(rule=COVERAGE.name, severity="remark", reason=why),
        ]
    if coverage >= LEAST_COVERAGE_RATIO:
        return []
    return [
        Finding(
            rule=COVERAGE.name,
            severity="preliminary",
            sentence=f"I/O by role covers {format_percent(coverage)} of the bytes that the kernel counted",
            cure=NOT_SEEN_CURE,
        )
    ]


COVERAGE = ValidityRule(
    "coverage", _check_coverage, no_file_says("coverage", "the files do not count I/O by role", "remark")
)
