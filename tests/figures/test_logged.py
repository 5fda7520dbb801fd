"""Nights of imported jobs: where the day is divided, which night a job is of, and what lies between.

Jobs at once by quarter of an hour, held against a count second by second.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from mawl.figures.nights import (
    MOST_EMPTY,
    DailyWindow,
    LoggedNights,
    hours_of,
    load_of,
    logged_nights,
    middle_and_band,
    quietest_minute,
)
from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.run import SourceFacts
from mawl.records.store.facts import EARLIEST_AT, LATEST_AT
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


def test_each_quarter_has_the_mean_of_jobs_counted_second_by_second() -> None:
    draw = np.random.default_rng(3)
    begins = datetime(2026, 10, 20, 20)
    jobs = [
        ran(
            f"p{number}",
            begins + timedelta(days=night, seconds=int(draw.integers(0, 20_000))),
            draw.uniform(0, 2),
        )
        for night in range(3)
        for number in range(12)
    ]
    nights = found(jobs, logs())
    hours = hours_of(nights, jobs)
    for place, one in enumerate(nights.nights):
        for quarter in range(96):
            seconds = one.night.starts_at + 900 * quarter + np.arange(900) + 0.5
            running = [
                sum((job.started_at or 0) <= at < (job.ended_at or 0) for job in jobs) for at in seconds[::30]
            ]
            assert hours[place, quarter] == pytest.approx(np.mean(running), abs=0.08)


def test_a_job_that_runs_into_the_next_night_is_in_both() -> None:
    jobs = [*night_after_night(3), ran("long", datetime(2026, 10, 20, 22), 30.0)]
    nights = found(jobs, logs())
    hours = hours_of(nights, jobs)
    assert nights.nights[0].load.jobs == 3 and nights.nights[1].load.jobs == 2
    assert hours[1, 0] == 1.0 and hours[2, 0] == 0.0


def test_the_hour_that_a_clock_shows_twice_has_the_mean_of_both() -> None:
    """03:00 comes twice on 2026-10-25 in Berlin as 02:00; one job runs in the first of them alone."""
    first_two = datetime(2026, 10, 25, 2).replace(tzinfo=BERLIN)
    jobs = night_after_night(8, BERLIN)
    once = ran("once", first_two.replace(tzinfo=None), 1.0, BERLIN)
    nights = found([*jobs, once], logs("Europe/Berlin"))
    hours = hours_of(nights, [*jobs, once])
    two = (2 * 60 - nights.window.starts_minute) % 1440 // 15
    assert nights.nights[4].label == "2026-10-24"
    assert hours[4, two : two + 4].tolist() == [0.5] * 4
    ten = (22 * 60 - nights.window.starts_minute) % 1440 // 15
    assert (hours[:, ten] == 1.0).all()


def test_the_hour_that_a_clock_skips_is_a_gap_and_not_zero() -> None:
    """Berlin puts its clock forward on 2027-03-28: there is no 02:30."""
    jobs = [ran("a", datetime(2027, 3, 25, 22) + timedelta(days=night), 2.0, BERLIN) for night in range(6)]
    nights = found(jobs, logs("Europe/Berlin"))
    hours = hours_of(nights, jobs)
    two = (2 * 60 - nights.window.starts_minute) % 1440 // 15
    changed = [one.label for one in nights.nights].index("2027-03-27")
    assert np.isnan(hours[changed, two : two + 4]).all()
    assert not np.isnan(np.delete(hours, changed, axis=0)).any()
    middle, low, high = middle_and_band(hours)
    assert not np.isnan([middle, low, high]).any()


def test_the_band_needs_five_nights_and_holds_four_of_five_of_them() -> None:
    hours = np.arange(11.0)[:, None] * np.ones(96)
    middle, low, high = middle_and_band(hours)
    assert (middle[0], low[0], high[0]) == (5.0, 1.0, 9.0)
    middle, low, high = middle_and_band(hours[:4])
    assert middle[0] == 1.5 and np.isnan(low).all() and np.isnan(high).all()


def test_a_night_that_begins_in_the_skipped_hour_keeps_its_place_on_the_clock() -> None:
    """Days of work from 08:00 to 20:00 are divided at 02:00, which 2027-03-28 does not have in Berlin."""
    jobs = [ran("day", datetime(2027, 3, 25, 8) + timedelta(days=day), 12.0, BERLIN) for day in range(6)]
    nights = found(jobs, logs("Europe/Berlin"))
    assert nights.divided_at == "02:00"
    place = [one.label for one in nights.nights].index("2027-03-28")
    usual, short = hours_of(nights, jobs)[[0, place]]
    eight = 6 * 4
    assert usual[eight] == short[eight] == 1.0 and usual[eight - 1] == short[eight - 1] == 0.0
    assert np.isnan(short[:4]).all()
