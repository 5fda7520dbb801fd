"""Memory's part in what jobs were blocked for: pressure, and reading again what memory had given up."""

from __future__ import annotations

import statistics

from mawl.advice.limit.rule import RuleEvidence
from mawl.analysis.moments import Moment
from mawl.analysis.view import RunView
from mawl.model.thresholds import value_of
from mawl.units import format_memory, format_percent, format_rate

LEAST_MEMORY_PRESSURE = value_of("limit.least_memory_pressure")
"""Below this share of time under memory pressure nothing is put down to it: reclaim alone makes some."""

LEAST_REREAD_RATIO = value_of("limit.least_reread_ratio")
"""Below this share of what was read from the devices rereads are not worth a line."""

MADE_HERE = ("work", "util")
"""Roles whose files the run makes: an input that left memory before the run counts as read again when
it is read first, so of data the kernel's count tells nothing."""


def memory_part(moment: Moment, reading: RunView, place: str) -> float:
    """The share (0 to 1) of the time blocked in I/O of a role, or in ``other``, that was for memory."""
    return max(pressure_part(moment), reread_part(moment, reading, place))


def pressure_part(moment: Moment) -> float:
    """The pressure of memory beside that of I/O.

    Swapping and pages that come back soon after they were reclaimed count in both pressures, so
    what is left of the larger one is I/O proper (Linux Documentation/accounting/psi.rst).
    """
    memory, io = moment.pressure["memory_some"], moment.pressure["io_some"]
    if memory is None or memory < LEAST_MEMORY_PRESSURE:
        return 0.0
    return memory / max(memory, io or 0.0)


def reread_part(moment: Moment, reading: RunView, place: str) -> float:
    """The share of a role's blocked time that was for reading again what twice the memory would have kept.

    Waits for reads, by the time inside calls, times the reread share of what the devices read.
    """
    share = moment.reading.get(place) if place in MADE_HERE else None
    ratio = reread_ratio(moment)
    if share is None or ratio is None or not _twice_would_keep(moment, reading):
        return 0.0
    return share * ratio


def reread_ratio(moment: Moment) -> float | None:
    """Share of the bytes read from the devices that memory had held before; None where nothing was read."""
    read, again = moment.device["read"], moment.reread_bytes_per_second
    return None if not read or again is None else min(again / read, 1.0)


def memory_bytes(reading: RunView) -> int | None:
    """Memory that the jobs and their page cache could use, of all nodes."""
    sizes = [node.memory_limit_bytes or node.memory_bytes for node in reading.facts.machines()]
    return sum(size for size in sizes if size) if sizes and None not in sizes else None


def reread_lines(reading: RunView) -> list[RuleEvidence]:
    """What was read again: evidence where as much memory again would have kept it, else support."""
    ratio = reading.mean(reread_ratio)
    again = reading.mean(lambda moment: moment.reread_bytes_per_second)
    known = [lost for moment in reading.active if (lost := lost_bytes(moment, reading)) is not None]
    memory = memory_bytes(reading)
    if ratio is None or again is None or ratio < LEAST_REREAD_RATIO or not known or memory is None:
        return []
    lost = statistics.median(known)
    told = (
        f"{format_rate(again)} were read again that memory had held before, {format_percent(ratio)} of what "
        f"came from the devices; {format_memory(memory)} more memory "
    )
    if lost <= memory:
        return [RuleEvidence(kind="evidence", sentence=f"{told}would have kept it")]
    return [
        RuleEvidence(
            kind="support",
            sentence=f"{told}need not have kept it: {format_memory(lost)} were given up",
        )
    ]


def lost_bytes(moment: Moment, reading: RunView) -> float | None:
    """Bytes of temporary files that memory gave up and nobody read again until a window ended.

    A page that is read again was evicted at most so many bytes before, so that much more memory would
    have kept it.  An estimate: temporary files end with their job, so it counts from the first start of
    the jobs that ran in the window; and from what was evicted it takes all that devices gave since:
    rereads, and what was read once and for the first time.  None where a window does not tell.
    """
    if reading.windows is None:
        return None
    begin = reading.windows.edges[0]
    start, end = begin + moment.start_seconds, begin + moment.start_seconds + moment.seconds
    starts = [
        job.started_at
        for job in reading.jobs
        if job.started_at is not None
        and job.started_at < end
        and (job.ended_at is None or job.ended_at > start)
    ]
    since = min(starts, default=start) - begin
    lost = 0.0
    for earlier in reading.moments:
        if since < earlier.start_seconds + earlier.seconds and earlier.start_seconds <= moment.start_seconds:
            evicted, read = earlier.evicted_bytes_per_second, earlier.device["read"]
            if evicted is None or read is None:
                return None
            lost += (evicted - read) * earlier.seconds
    return max(lost, 0.0)


def _twice_would_keep(moment: Moment, reading: RunView) -> bool:
    """Whether what left memory and did not come back is less than as much memory again."""
    memory, lost = memory_bytes(reading), lost_bytes(moment, reading)
    return memory is not None and lost is not None and lost <= memory
