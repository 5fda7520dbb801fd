"""Jobs at once by quarter of an hour, held against a count second by second."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from mawl.analysis.nights.hours import hours_of, middle_and_band
from tests.analysis.nights.test_logged import BERLIN, found, logs, night_after_night, ran


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
