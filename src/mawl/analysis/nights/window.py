"""A night: the window of time in which a shop's batch must fit, and the same window of every day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

from mawl.model.records import JobRecord


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
    return {night: nights[night] for night in sorted(nights, key=lambda one: one.starts_at)}
