"""What a run found, in one line: how much was carried, and what limited it."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.summary.judgement import ReachedCap
from mawl.model.summary.summary import Summary
from mawl.spec.program_options import Role
from mawl.units import counted_noun, format_rate

LIMITS = {
    "storage": "limited by storage",
    "cpu": "limited by the processors",
    "memory": "limited by memory",
    "network": "limited by the network",
    "mixed": "limited by several resources in turn",
    "none": "limited by no shared resource",
}
NAMED_RATIO = 2 / 3
"""Of the time inside reads and writes of a role: above it the direction is named."""


def finding(summary: Summary) -> str:
    """``20 sessions carried, limited by work writes``; of a run that was cut short how far it came."""
    limit = limited_by(summary)
    said = _subject(summary) + (f", {limit}" if limit else "")
    if not _open(summary):
        return said
    they = "it is" if summary.workload.sessions == 1 else "they are"
    return f"{said}; whether {they} carried is not known"


def _open(summary: Summary) -> bool:
    """Whether a whole run leaves the answer open."""
    whole = summary.outcome == "completed" and summary.kind != "imported"
    return whole and (summary.capacity is None or summary.capacity.answer == "not known")


def limited_by(summary: Summary) -> str:
    """``limited by work writes``, with the cap that they reached; empty if the limit is not known."""
    limit = summary.limit
    if limit is None:
        return ""
    if limit.verdict == "storage" and limit.role is not None:
        direction = _direction(summary, limit.role)
        return f"limited by {limit.role} {direction}{_at_cap(limit.caps_reached, direction)}"
    return LIMITS[limit.verdict]


def _at_cap(reached: Sequence[ReachedCap], word: str) -> str:
    """`` at their cap of 100 MB/s`` where devices were near it in most windows in which jobs waited."""
    for one in reached:
        if word == f"{one.direction}s" and 2 * one.near_windows > one.waited_windows:
            return f" at their cap of {format_rate(one.bytes_per_second)}"
    return ""


def _subject(summary: Summary) -> str:
    jobs, workload = summary.jobs, summary.workload
    planned = max(jobs.total, workload.jobs)
    if summary.outcome == "running":
        return f"Running: {jobs.finished} of {planned} jobs finished so far"
    if summary.outcome != "completed" and summary.kind != "imported":
        return f"{str(summary.outcome).capitalize()}: {jobs.finished} of {planned} jobs finished"
    if summary.kind == "imported":
        return counted_noun(jobs.total, "imported job") if jobs.total else "Imported recording of the host"
    sessions = counted_noun(workload.sessions, "session")
    capacity = summary.capacity
    said = f"{sessions} ran"
    if capacity is not None and capacity.answer != "not known":
        said = f"{sessions} {capacity.answer}" + (" (preliminary)" if capacity.preliminary else "")
    return f"Simulated: {said}" if summary.kind == "simulated" else said


def _direction(summary: Summary, role: Role) -> str:
    """``reads`` or ``writes`` where most of the time inside calls on the role went into it, else ``I/O``."""
    calls = (summary.io.by_role or {}).get(role)
    if calls is None:
        return "I/O"
    reads = calls.reads * (calls.read_latency_seconds.mean or 0.0)
    writes = calls.writes * (calls.write_latency_seconds.mean or 0.0)
    for word, seconds in (("reads", reads), ("writes", writes)):
        if seconds > NAMED_RATIO * (reads + writes):
            return word
    return "I/O"
