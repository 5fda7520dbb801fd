"""The nights of imported logs: where a day is divided, and what ran in each night."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.analysis.nights.load import NightLoad, load_of
from mawl.analysis.nights.window import DailyWindow, Night, by_night
from mawl.errors import UsageError
from mawl.importers.clock import parse_zones
from mawl.model.periods import periods_of
from mawl.model.records import JobRecord
from mawl.model.run import SourceFacts

MOST_NIGHTS = 400
"""The last nights that are shown: a year and a month."""
QUIET_HOURS = 3
"""The day is divided in the middle of so many hours in which least ran."""
LONG_SECONDS = 48 * 3600.0
"""Jobs without a gap between nights are of several nights from this length on."""
HOUR_MINUTES = 60
DAY_MINUTES = 24 * HOUR_MINUTES
DAY_SECONDS = 86400.0
MOST_EMPTY = 100
"""Dates of nights without jobs that are kept: one wrong clock can make millions of them."""


class LoggedNight(msgspec.Struct, frozen=True, kw_only=True):
    """A night with the jobs that started in it.

    ``started_at`` and ``ended_at`` are their first start and their last end (None: no end is known), in
    seconds since the epoch.  ``label`` is the local date on which the night begins.
    """

    night: Night
    label: str
    jobs: tuple[JobRecord, ...]
    load: NightLoad
    started_at: float
    ended_at: float | None

    @property
    def length_seconds(self) -> float | None:
        """First start to last end."""
        return None if self.ended_at is None else self.ended_at - self.started_at


class LoggedNights(msgspec.Struct, frozen=True, kw_only=True):
    """The nights that have jobs, in order.

    ``window`` is from the quietest time of a day to that of the next.  ``left_out`` is how many earlier
    nights are not among them, ``empty_nights`` in how many nights between them no job started, ``empty`` the
    first dates of these, and ``untimed`` counts jobs without a known start or end.  ``one_zone`` is False
    where the logs are of several zones, or of one that this machine does not know: hours are then those of
    UTC.
    """

    window: DailyWindow
    nights: tuple[LoggedNight, ...]
    left_out: int
    empty: tuple[str, ...]
    empty_nights: int
    untimed: int
    one_zone: bool = True

    @property
    def longest(self) -> LoggedNight | None:
        """The first of those that lasted longest; None where no end is known."""
        known = [one for one in self.nights if one.length_seconds is not None]
        return max(known, key=lambda one: one.length_seconds or 0.0, default=None)

    @property
    def zone(self) -> str:
        """The zone whose clock divides the days."""
        return str(self.window.zone)

    @property
    def divided_at(self) -> str:
        """The time of day at which a night ends and the next begins: ``13:00``."""
        return (
            f"{self.window.starts_minute // HOUR_MINUTES:02d}:{self.window.starts_minute % HOUR_MINUTES:02d}"
        )

    def local(self, at: float) -> datetime:
        """A moment on the clock of the logs."""
        return datetime.fromtimestamp(at, self.window.zone)


def logged_nights(jobs: Sequence[JobRecord], sources: Iterable[SourceFacts]) -> LoggedNights | None:
    """The nights of imported jobs; None where these are of one night.

    Jobs are of several nights where they lie in periods far apart (:mod:`mawl.model.periods`), or last for
    two days or more, and start in more than one :class:`~mawl.analysis.nights.window.DailyWindow`.
    """
    spans = [
        (job.started_at, job.ended_at)
        for job in jobs
        if job.started_at is not None and job.ended_at is not None
    ]
    periods = periods_of(spans)
    if len(periods) < 2 and not (periods and periods[0][1] - periods[0][0] >= LONG_SECONDS):
        return None
    zone, one_zone = _zone_of(sources)
    minute = quietest_minute(spans, zone)
    window = DailyWindow(minute, minute, zone)
    found = by_night(jobs, window)
    if len(found) < 2:
        return None
    shown = list(found)[-MOST_NIGHTS:]
    nights = tuple(_night(night, found[night], zone) for night in shown)
    empty, empty_nights = _empty([one.label for one in nights])
    return LoggedNights(
        window=window,
        nights=nights,
        left_out=len(found) - len(shown),
        empty=empty,
        empty_nights=empty_nights,
        untimed=len(jobs) - len(spans),
        one_zone=one_zone,
    )


def quietest_minute(spans: Iterable[tuple[float, float]], zone: tzinfo = UTC) -> int:
    """The minute of the local day at which least ran: the middle hour of the three with the fewest seconds
    of jobs, of equal ones that in the middle of the longest row of them.

    Jobs of a day or longer ran at every hour and do not count.
    """
    hours = np.zeros(24)
    for start, end in spans:
        if end - start >= DAY_SECONDS:
            continue
        local = datetime.fromtimestamp(start, zone)
        first = local.hour * 3600.0 + local.minute * 60.0 + local.second
        last = first + end - start
        for hour in range(int(first // 3600), int(last // 3600) + 1):
            hours[hour % 24] += max(min(last, (hour + 1) * 3600.0) - max(first, hour * 3600.0), 0.0)
    around = sum(np.roll(hours, shift) for shift in range(-(QUIET_HOURS // 2), QUIET_HOURS // 2 + 1))
    quiet = np.round(around) == np.round(around).min()
    return _middle(quiet) * HOUR_MINUTES


def _middle(chosen: NDArray[np.bool_]) -> int:
    """The place in the middle of the longest row of chosen places on a circle; 12 where all are."""
    if chosen.all():
        return len(chosen) // 2
    rows: list[tuple[int, int]] = []
    for start in range(len(chosen)):
        if chosen[start] and not chosen[start - 1]:
            length = 1
            while chosen[(start + length) % len(chosen)]:
                length += 1
            rows.append((length, start))
    length, start = max(rows, key=lambda row: row[0])
    return (start + length // 2) % len(chosen)


def _night(night: Night, jobs: Sequence[JobRecord], zone: tzinfo) -> LoggedNight:
    return LoggedNight(
        night=night,
        label=datetime.fromtimestamp(night.starts_at, zone).date().isoformat(),
        jobs=tuple(jobs),
        load=load_of(jobs),
        started_at=min(job.started_at for job in jobs if job.started_at is not None),
        ended_at=max((job.ended_at for job in jobs if job.ended_at is not None), default=None),
    )


def _empty(labels: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The dates between the first and the last night on which no night with jobs begins: the first of them,
    and how many there are."""
    known = set(labels)
    day, last = date.fromisoformat(labels[0]), date.fromisoformat(labels[-1])
    days = (last - day).days
    dates = ((day + timedelta(days=after)).isoformat() for after in range(days))
    return tuple(islice((one for one in dates if one not in known), MOST_EMPTY)), days + 1 - len(known)


def _zone_of(sources: Iterable[SourceFacts]) -> tuple[tzinfo, bool]:
    """The zone of the logs' clocks, and whether it is the one of all."""
    names = {source.zone for source in sources if source.kind == "saslog" and source.zone is not None}
    if len(names) > 1:
        return UTC, False
    try:
        found = [parse_zones([name.removeprefix("UTC") or "UTC"], ())[""] for name in names]
    except UsageError:
        return UTC, False
    return (found[0] if found else UTC), True
