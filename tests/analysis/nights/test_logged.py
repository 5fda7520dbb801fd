"""Nights of imported jobs: where the day is divided, which night a job is of, and what lies between."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from mawl.analysis.nights.load import load_of
from mawl.analysis.nights.logged import MOST_EMPTY, LoggedNights, logged_nights, quietest_minute
from mawl.analysis.nights.window import DailyWindow
from mawl.model.records import JobRecord
from mawl.model.run import SourceFacts
from mawl.model.usage import Usage
from mawl.store.plain import EARLIEST_AT, LATEST_AT
from tests.fakes.nightly_logs import logged_job

UTC = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")


def logs(zone: str | None = None, *more: str) -> list[SourceFacts]:
    names = [zone, *more]
    return [
        SourceFacts(file=f"{at}.log", kind="saslog", size_bytes=1, blocks=1, zone=name)
        for at, name in enumerate(names)
    ]


def ran(program: str, start: datetime, hours: float, zone: tzinfo = UTC) -> JobRecord:
    at = start.replace(tzinfo=zone).timestamp()
    return logged_job(program, at, at + hours * 3600.0)


def night_after_night(count: int, zone: tzinfo = UTC, without: Sequence[int] = ()) -> list[JobRecord]:
    """Two jobs a night: from 22:00 for three hours, and from 03:00 for one."""
    jobs = []
    for night in range(count):
        begins = datetime(2026, 10, 20, 22) + timedelta(days=night)
        if night not in without:
            jobs += [
                ran("evening", begins, 3.0, zone),
                ran("morning", begins + timedelta(hours=5), 1.0, zone),
            ]
    return jobs


def found(jobs: Sequence[JobRecord], sources: Sequence[SourceFacts]) -> LoggedNights:
    nights = logged_nights(jobs, sources)
    assert nights is not None
    return nights


def test_a_total_that_no_job_of_a_night_has_is_not_0() -> None:
    known = logged_job("a", 0.0, 10.0, usage=Usage(real_time_seconds=10.0, unsplit_cpu_seconds=4.0))
    none = logged_job("b", 0.0, 10.0, usage=Usage())
    load = load_of([none])
    assert (load.jobs, load.cpu_seconds, load.real_seconds, load.block_bytes) == (1, None, None, None)
    load = load_of([none, known])
    assert (load.jobs, load.cpu_seconds, load.real_seconds) == (2, 4.0, 10.0)


def test_a_night_over_midnight_is_one_and_has_the_date_on_which_it_begins() -> None:
    nights = found(night_after_night(3), logs())
    assert [one.label for one in nights.nights] == ["2026-10-20", "2026-10-21", "2026-10-22"]
    assert [one.load.jobs for one in nights.nights] == [2, 2, 2]
    assert [one.length_seconds for one in nights.nights] == [6 * 3600.0] * 3
    assert (nights.divided_at, nights.zone, nights.empty) == ("13:00", "UTC", ())


def test_one_night_is_no_laying_over_even_with_a_pause_of_five_hours() -> None:
    evening = datetime(2026, 10, 20, 19)
    jobs = [ran("a", evening, 1.0), ran("b", evening + timedelta(hours=6), 1.0)]
    assert logged_nights(jobs, logs()) is None
    assert logged_nights(jobs[:1], logs()) is None
    assert logged_nights([], logs()) is None


def test_one_long_batch_over_a_day_is_not_cut_in_two() -> None:
    evening = datetime(2026, 10, 20, 20)
    jobs = [ran("a", evening + timedelta(hours=hour), 1.5) for hour in range(30)]
    assert logged_nights(jobs, logs()) is None


def test_a_shop_that_never_rests_is_divided_at_its_quietest_hour() -> None:
    begins = datetime(2026, 10, 20, 0)
    jobs = [ran("steady", begins + timedelta(hours=hour), 1.0) for hour in range(24 * 4)]
    jobs += [
        ran("batch", begins + timedelta(days=day, hours=hour), 1.0)
        for day in range(4)
        for hour in range(24)
        if hour not in (15, 16, 17)
    ]
    nights = found(jobs, logs())
    assert nights.divided_at == "16:00"
    assert [one.label for one in nights.nights] == [f"2026-10-{day}" for day in (19, 20, 21, 22, 23)]


def test_nights_of_different_lengths_and_the_first_of_the_longest_is_named() -> None:
    jobs = [
        ran("a", datetime(2026, 10, 20, 22) + timedelta(days=night), hours)
        for night, hours in enumerate([2.0, 9.5, 1.0, 9.5])
    ]
    nights = found(jobs, logs())
    assert nights.longest is nights.nights[1]
    assert [one.length_seconds for one in nights.nights] == [7200.0, 34200.0, 3600.0, 34200.0]


def test_nights_without_jobs_are_named_and_not_shown_as_idle_ones() -> None:
    nights = found(night_after_night(6, without=(2, 3)), logs())
    assert nights.empty == ("2026-10-22", "2026-10-23")
    assert len(nights.nights) == 4


def test_a_clock_change_moves_no_night() -> None:
    """Berlin puts its clock back on 2026-10-25; a night with it is an hour longer."""
    nights = found(night_after_night(8, BERLIN), logs("Europe/Berlin"))
    lengths = [one.night.ends_at - one.night.starts_at for one in nights.nights]
    assert [length / 3600 for length in lengths] == [24, 24, 24, 24, 25, 24, 24, 24]
    assert [f"{nights.local(one.started_at):%H:%M}" for one in nights.nights] == ["22:00"] * 8
    assert [one.load.jobs for one in nights.nights] == [2] * 8
    # Five hours of the clock after 22:00 are six in the night in which it is put back.
    assert [(one.length_seconds or 0.0) / 3600 for one in nights.nights] == [6, 6, 6, 6, 7, 6, 6, 6]


@pytest.mark.parametrize(
    ("zones", "shown", "one_zone"),
    [
        (["Europe/Berlin"], "Europe/Berlin", True),
        (["UTC+01:00"], "UTC+01:00", True),
        (["UTC"], "UTC", True),
        ([None], "UTC", True),
        (["Europe/Berlin", "America/Denver"], "UTC", False),
        (["Nowhere/At_all"], "UTC", False),
        (["../../etc/passwd"], "UTC", False),
        (["=", "="], "UTC", False),
    ],
)
def test_the_zone_is_that_of_the_logs(zones: list[str], shown: str, one_zone: bool) -> None:
    nights = found(night_after_night(3), logs(*zones))
    assert (nights.zone, nights.one_zone) == (shown, one_zone)


def test_jobs_without_an_end_are_counted_and_jobs_without_a_start_are_of_no_night() -> None:
    jobs = night_after_night(3)
    lost = logged_job("lost", jobs[0].started_at, None)
    nights = found([*jobs, lost, logged_job("untimed", None, None)], logs())
    assert nights.untimed == 2
    assert [one.load.jobs for one in nights.nights] == [3, 2, 2]


def test_only_the_last_nights_of_many_years_are_shown() -> None:
    nights = found(night_after_night(450), logs())
    assert (len(nights.nights), nights.left_out) == (400, 50)
    assert nights.empty == ()


def test_a_job_of_days_does_not_decide_where_the_day_is_divided() -> None:
    spans = [(0.0, 40 * 86400.0), (20 * 3600.0, 26 * 3600.0)]
    assert quietest_minute(spans) == 11 * 60


def test_clocks_at_both_ends_of_the_calendar_are_nights_like_others() -> None:
    jobs = [
        ran("a", datetime(1, 1, 3), 1.0),
        ran("a", datetime(1, 1, 9), 1.0),
        ran("a", datetime(9999, 12, 20), 1.0),
    ]
    nights = found(jobs, logs())
    assert [one.label for one in nights.nights] == ["0001-01-02", "0001-01-08", "9999-12-19"]
    assert nights.empty_nights == (datetime(9999, 12, 19) - datetime(1, 1, 2)).days - 2
    assert len(nights.empty) == MOST_EMPTY, "millions of dates are counted, not kept"
    assert nights.empty[0] == "0001-01-03"


def test_a_time_before_the_first_night_of_the_calendar_has_none() -> None:
    window = DailyWindow(780, 780, timezone(timedelta(hours=-12)))
    assert window.of(EARLIEST_AT) is None
    assert window.of(EARLIEST_AT + 3600.0) is not None and window.of(LATEST_AT) is not None
