"""The night: the window of time in which a shop's batch must fit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

from mawl.base.errors import UsageError
from mawl.figures.nights.nights import Night
from mawl.records.model.derived import DerivedJob
from mawl.records.model.records import JobRecord

_CLOCK = re.compile(r"([0-9]{2}):([0-9]{2})")


class NightResult(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the logs' own night was held: ``spare_seconds`` before its end, negative where it was missed.

    ``chain`` are the jobs, first to last, that the last end waited for, as far as they followed one another.
    """

    last_end_seconds: float
    spare_seconds: float
    chain: tuple[str, ...]


def parse_night(text: str, zone: tzinfo | None = None) -> Night:
    """``2026-03-02T20:00/06:00``, or with a whole time behind the slash; in ``zone`` (default UTC).

    Raises ``UsageError`` for anything else, and for more than 31 days.
    """
    first, slash, last = text.partition("/")
    try:
        start = datetime.fromisoformat(first)
        start = start if start.tzinfo else start.replace(tzinfo=zone or UTC)
        if match := _CLOCK.fullmatch(last):
            end = start.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
            end = end if end > start else end + timedelta(days=1)
        else:
            end = datetime.fromisoformat(last)
            end = end if end.tzinfo else end.replace(tzinfo=zone or UTC)
        # By timestamps: datetimes of one zone subtract as wall clocks do, without the hour of a clock change.
        starts_at, ends_at = start.timestamp(), end.timestamp()
    except (ValueError, OverflowError):
        slash, starts_at, ends_at = "", 0.0, 0.0
    if not slash or not 0 < ends_at - starts_at <= 31 * 86400:
        raise UsageError(
            f"--night {text}: expected START/END, at most 31 days apart",
            cure="write the start with its date and the end as a clock time: 2026-03-02T20:00/06:00",
        )
    return Night(starts_at, ends_at)


def in_night(jobs: Sequence[JobRecord], night: Night) -> list[JobRecord]:
    """The jobs that started within the window."""
    return [
        job
        for job in jobs
        if job.started_at is not None and night.starts_at <= job.started_at < night.ends_at
    ]


def result_of(
    jobs: Sequence[DerivedJob], ends: Mapping[str, float], window_seconds: float
) -> NightResult | None:
    """How the logs' night ended; ``ends`` are seconds after its start, by job.  None without any end."""
    if not ends:
        return None
    last = max(ends, key=lambda name: ends[name])
    by_name = {job.name: job for job in jobs}
    chain = [last]
    while after := [name for name in by_name[chain[-1]].after if name in ends]:
        chain.append(max(after, key=lambda name: ends[name]))
    return NightResult(
        last_end_seconds=ends[last],
        spare_seconds=window_seconds - ends[last],
        chain=tuple(reversed(chain)),
    )
