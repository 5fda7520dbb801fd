"""Sums over the jobs that count: of all of them, else of those that have the figure, with their number."""

from __future__ import annotations

from mawl.model.summary.summary import Summary
from mawl.reporters.figure import Form, cpu_parts, figure, format_count
from mawl.reporters.head import periods_text
from mawl.units import format_memory, format_ratio, format_seconds


def of_some(summary: Summary, jobs: int) -> str:
    """``75 of 78 jobs``: how many of those that count a sum is over."""
    return f"{jobs} of {summary.jobs.counted} jobs"


def sum_text(summary: Summary, field: str, form: Form) -> str:
    """A sum of the block ``time``; where some jobs lack the figure that of the others, with their number."""
    time = summary.time
    jobs = getattr(time.known.jobs, field.rpartition("_")[0])
    if getattr(time, field) is not None or not jobs:
        return figure(getattr(time, field), form)
    return f"{figure(getattr(time.known, field), form)} ({of_some(summary, jobs)})"


def ratio_text(summary: Summary) -> str:
    """CPU over real time of the sums; where some jobs lack a time that of the others."""
    block = summary.cpu_real_ratio
    known = block.known
    if block.of_sums is not None or not known.jobs:
        return figure(block.of_sums, format_ratio)
    return f"{figure(known.of_sums, format_ratio)} ({of_some(summary, known.jobs)})"


def times(summary: Summary) -> list[tuple[str, str]]:
    """Elapsed time, the sums of time and memory over jobs, and how many jobs there were, in words."""
    time, jobs = summary.time, summary.jobs
    return [
        ("elapsed", periods_text(summary) or figure(time.elapsed_seconds, format_seconds)),
        ("active phase", figure(time.active_seconds, format_seconds)),
        ("real time, sum over jobs", sum_text(summary, "real_time_seconds", format_seconds)),
        *((label, sum_text(summary, field, format_seconds)) for label, field in cpu_parts(time)),
        ("CPU/real of the sums", ratio_text(summary)),
        ("memory, sum over jobs", sum_text(summary, "memory_bytes", format_memory)),
        ("jobs that count", figure(jobs.counted, format_count)),
        ("most jobs at once", figure(jobs.peak_concurrent, format_count)),
    ]
