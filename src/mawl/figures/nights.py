"""The nights of imported logs: when each begins and ends, and what ran in it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from mawl.base.errors import UsageError
from mawl.figures.sessions import peak
from mawl.importers.clock import parse_zones
from mawl.records.model.node import periods_of
from mawl.records.model.records import JobRecord
from mawl.records.model.run import SourceFacts


class Night(msgspec.Struct, frozen=True):
    """From when to when, in seconds since the epoch; the batch must end before ``ends_at``."""

    starts_at: float
    ends_at: float


class DailyWindow(msgspec.Struct, frozen=True):
    """A window of every day: from minute to minute of the clock of ``zone``, over midnight or not."""

    starts_minute: int
    ends_minute: int
    zone: tzinfo = UTC

    def of(self, at: float) -> Night | None:
        """The night in which a point in time lies; None between two nights, and where the calendar ends."""
        try:
            return self._of(at)
        except OverflowError:
            return None

    def _of(self, at: float) -> Night | None:
        local = datetime.fromtimestamp(at, self.zone)
        for back in (0, 1):
            midnight = (local - timedelta(days=back)).replace(hour=0, minute=0, second=0, microsecond=0)
            start = midnight + timedelta(minutes=self.starts_minute)
            over = self.ends_minute <= self.starts_minute
            end = midnight + timedelta(days=over, minutes=self.ends_minute)
            night = Night(start.timestamp(), end.timestamp())
            if night.starts_at <= at < night.ends_at:
                return night
        return None


def by_night(jobs: Iterable[JobRecord], window: DailyWindow) -> dict[Night, list[JobRecord]]:
    """The jobs that started in each night, the first night first; nights without a job are not there."""
    nights: dict[Night, list[JobRecord]] = {}
    for job in jobs:
        if job.started_at is not None and (night := window.of(job.started_at)) is not None:
            nights.setdefault(night, []).append(job)
    return {night: nights[night] for night in sorted(nights, key=lambda night: night.starts_at)}


BLOCK_BYTES = 512
"""Of a block operation on Linux (getrusage(2), ru_inblock and ru_oublock)."""


class NightLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs that started in a night used, by the totals of their logs.

    A job without a total adds nothing to it.  A sum is None if no job has the figure.  ``block_bytes`` is
    also None if a job counted operations of a size that is not known on its platform.
    ``peak_jobs`` is the most jobs that ran at one time, of those whose start and end are known.
    """

    jobs: int
    cpu_seconds: float | None
    real_seconds: float | None
    block_bytes: float | None
    peak_jobs: int


def load_of(jobs: Sequence[JobRecord], unsized: Collection[str] = ()) -> NightLoad:
    """What these jobs used together; on ``unsized`` nodes the size of a block operation is not known."""
    counted = [
        (job.node, count)
        for job in jobs
        for count in (job.usage.block_input_operations, job.usage.block_output_operations)
        if count is not None
    ]
    sized = not any(node in unsized for node, _ in counted)
    spans = [
        (job.started_at, job.ended_at)
        for job in jobs
        if job.started_at is not None and job.ended_at is not None
    ]
    return NightLoad(
        jobs=len(jobs),
        cpu_seconds=_sum(job.usage.cpu_seconds for job in jobs),
        real_seconds=_sum(job.usage.real_time_seconds for job in jobs),
        block_bytes=float(sum(count for _, count in counted) * BLOCK_BYTES) if counted and sized else None,
        peak_jobs=peak(spans),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if known else None


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
        known = [night for night in self.nights if night.length_seconds is not None]
        return max(known, key=lambda one: one.length_seconds or 0.0, default=None)

    @property
    def zone(self) -> str:
        return str(self.window.zone)

    @property
    def divided_at(self) -> str:
        """The time of day at which a night ends and the next begins: ``13:00``."""
        return (
            f"{self.window.starts_minute // HOUR_MINUTES:02d}:{self.window.starts_minute % HOUR_MINUTES:02d}"
        )

    def local(self, at: float) -> datetime:
        return datetime.fromtimestamp(at, self.window.zone)


def logged_nights(jobs: Sequence[JobRecord], sources: Iterable[SourceFacts]) -> LoggedNights | None:
    """The nights of imported jobs; None where these are of one night.

    Jobs are of several nights where they lie in periods far apart (``records.model.node``), or last for
    two days or more, and start in more than one ``DailyWindow``.
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
    empty, empty_nights = _empty([night.label for night in nights])
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
    names = {source.zone for source in sources if source.kind == "saslog" and source.zone is not None}
    if len(names) > 1:
        return UTC, False
    try:
        found = [parse_zones([name.removeprefix("UTC") or "UTC"], ())[""] for name in names]
    except UsageError:
        return UTC, False
    return (found[0] if found else UTC), True


STEP_MINUTES = 15
STEP_SECONDS = 60.0 * STEP_MINUTES
STEPS = DAY_MINUTES // STEP_MINUTES
FEWEST_OF_BAND = 5
"""Nights from which on the band is drawn."""
BAND = (10.0, 90.0)
"""Percentiles of the nights between which the band lies."""

Floats = NDArray[np.float64]


def hours_of(nights: LoggedNights, jobs: Iterable[JobRecord]) -> Floats:
    """Mean jobs at once by night and quarter of an hour from where the day is divided, (nights, 96).

    All of ``jobs`` count whenever they ran, in whichever night they started.  Quarters are those of the local
    clock: one that it showed twice has the mean of both, one that it skipped is NaN.
    """
    spans = np.array(
        [
            (job.started_at, max(job.started_at, job.ended_at))
            for job in jobs
            if job.started_at is not None and job.ended_at is not None
        ],
        dtype=np.float64,
    ).reshape(-1, 2)
    origin = nights.nights[0].night.starts_at
    starts, ends = (_Times(np.sort(spans[:, side]) - origin) for side in (0, 1))
    found = np.full((len(nights.nights), STEPS), np.nan)
    for place, one in enumerate(nights.nights):
        edges = np.arange(one.night.starts_at, one.night.ends_at + 1.0, STEP_SECONDS)
        ran = np.diff(starts.since(edges - origin) - ends.since(edges - origin)) / STEP_SECONDS
        steps = _steps(nights, edges[:-1])
        counts = np.bincount(steps, minlength=STEPS)
        sums = np.bincount(steps, weights=ran, minlength=STEPS)
        known = counts > 0
        found[place, known] = np.maximum(sums[known] / counts[known], 0.0)
    return found


class _Times:
    """Moments, in order, of which the seconds since each are summed."""

    def __init__(self, times: Floats) -> None:
        self._times, self._sums = times, np.append(0.0, np.cumsum(times))

    def since(self, moments: Floats) -> Floats:
        """At each moment the sum of the seconds since those times that lie before it."""
        before = np.searchsorted(self._times, moments)
        return np.asarray(before * moments - self._sums[before], dtype=np.float64)


def _steps(nights: LoggedNights, begins: Floats) -> NDArray[np.int64]:
    """The quarter of the local day in which each of these quarters of an hour begins."""
    zone, first = nights.window.zone, nights.window.starts_minute
    local = [datetime.fromtimestamp(at, zone) for at in begins[[0, -1]]]
    begins_in_time = local[0].hour * 60 + local[0].minute == first  # not where the clock skipped that hour
    if begins_in_time and local[0].utcoffset() == local[1].utcoffset():
        return np.arange(len(begins)) % STEPS
    every = [datetime.fromtimestamp(at, zone) for at in begins]
    return np.array(
        [(one.hour * 60 + one.minute - first) % DAY_MINUTES // STEP_MINUTES for one in every], dtype=np.int64
    )


def middle_and_band(hours: Floats) -> tuple[Floats, Floats, Floats]:
    """Median and both percentiles of the band over the nights that have a quarter; NaN where none has it.

    The band is NaN everywhere with fewer than five nights.
    """
    known = ~np.isnan(hours).all(axis=0)
    found = np.full((3, hours.shape[1]), np.nan)
    found[:, known] = np.nanpercentile(hours[:, known], [50.0, *BAND], axis=0)
    if len(hours) < FEWEST_OF_BAND:
        found[1:] = np.nan
    return found[0], found[1], found[2]
