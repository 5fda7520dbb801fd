"""Programs from night to night: a step has its place, size and seconds; noise, gaps and failures are not."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import pytest

from mawl.figures.statistics import WHOLE_LEVEL, change_points
from mawl.figures.trends import Trends, trends_of
from mawl.records.model.records import JobRecord, Usage
from tests.fakes.nightly_logs import logged_job
from tests.figures.test_logged import UTC, found, logs

BEGINS = datetime(2026, 9, 1, 22)


def one(program: str, night: int, seconds: float, *, number: int = 0, **changes: object) -> JobRecord:
    at = (BEGINS + timedelta(days=night, minutes=10 * number)).replace(tzinfo=UTC).timestamp()
    usage = Usage(real_time_seconds=seconds)
    return logged_job(program, at, at + seconds, job=f"{program}-{night}-{number}", usage=usage, **changes)


def followed(nights: int, programs: dict[str, Callable[[int], float | None]]) -> Trends:
    """Programs of a job a night; a function of the night gives its seconds, None where it does not run."""
    jobs = [
        one(name, night, seconds)
        for name, of in programs.items()
        for night in range(nights)
        if (seconds := of(night)) is not None
    ]
    return trends_of(found(jobs, logs()).nights)


def noisy(seconds: float, seed: int) -> Callable[[int], float]:
    values = seconds * np.random.default_rng(seed).lognormal(0.0, 0.02, 400)
    return lambda night: float(values[night])


def test_a_step_has_its_night_its_size_and_its_seconds_a_night() -> None:
    usual = noisy(1000.0, 11)
    trends = followed(
        30,
        {
            "steady": noisy(500.0, 2),
            "slower": lambda night: usual(night) * (1.3 if night >= 20 else 1.0),
            "faster": lambda night: usual(night) * (0.8 if night >= 15 else 1.0) / 10,
        },
    )
    by_name = {one.name: one for one in trends.programs}
    assert [one.name for one in trends.programs] == ["slower", "faster", "steady"]
    slower, faster, steady = by_name["slower"], by_name["faster"], by_name["steady"]
    assert (slower.verdict, slower.changes) == ("slower", (20,))
    assert slower.change_ratio == pytest.approx(0.3, abs=0.03)
    assert slower.change_ratio is not None and slower.low_ratio is not None
    assert slower.high_ratio is not None
    assert slower.low_ratio < slower.change_ratio < slower.high_ratio
    assert slower.added_seconds == pytest.approx(slower.last_seconds - slower.first_seconds)
    assert faster.verdict == "faster" and abs(faster.changes[0] - 15) <= 1
    assert faster.added_seconds is not None and faster.added_seconds < 0
    assert (steady.verdict, steady.change_ratio, steady.changes) == ("no change found", None, ())
    assert steady.smallest_ratio is not None and 0.02 < steady.smallest_ratio < 0.2


def test_the_places_are_those_that_history_finds_in_the_same_values() -> None:
    usual = noisy(100.0, 5)
    trends = followed(40, {"a": lambda night: usual(night) * (1.5 if night >= 25 else 1.0)})
    [program] = trends.programs
    values = [value for value in program.logs if value is not None]
    assert trends.whole is not None and trends.whole_programs == 1
    assert list(trends.whole.changes) == [point.place for point in change_points(values, WHOLE_LEVEL)]


def test_a_program_that_is_missing_in_some_nights_changes_in_the_night_in_which_it_did() -> None:
    usual = noisy(100.0, 6)
    trends = followed(
        40,
        {
            "weekly": lambda night: None if night % 3 else usual(night) * (2.0 if night >= 27 else 1.0),
            "daily": noisy(50.0, 7),
        },
    )
    weekly = next(one for one in trends.programs if one.name == "weekly")
    assert (weekly.nights, weekly.changes) == (14, (27,))
    assert weekly.logs[1] is None and trends.whole_programs == 1


def test_one_bad_night_is_no_change() -> None:
    usual = noisy(100.0, 8)
    trends = followed(30, {"a": lambda night: usual(night) * (5.0 if night == 17 else 1.0)})
    assert trends.programs[0].verdict == "no change found"


def test_a_program_that_went_back_to_its_level_is_neither_slower_nor_faster() -> None:
    usual = noisy(100.0, 9)
    trends = followed(60, {"a": lambda night: usual(night) * (1.6 if 20 <= night < 40 else 1.0)})
    [program] = trends.programs
    assert program.verdict == "changed back" and len(program.changes) == 2


def test_too_few_nights_do_not_tell() -> None:
    trends = followed(9, {"a": lambda night: 100.0 if night < 5 else 900.0})
    [program] = trends.programs
    assert (program.verdict, program.change_ratio, program.smallest_ratio) == ("too few nights", None, None)
    assert trends.whole is not None and trends.whole.verdict == "too few nights"


def test_jobs_that_failed_or_took_no_time_do_not_count() -> None:
    jobs = [one("a", night, 100.0) for night in range(12)]
    jobs += [one("a", night, 5000.0, number=1, outcome="failed") for night in range(6, 12)]
    jobs += [one("quick", night, 0.0) for night in range(12)]
    trends = trends_of(found(jobs, logs()).nights)
    assert [(program.name, program.verdict) for program in trends.programs] == [("a", "no change found")]


def test_several_jobs_a_night_count_once_and_their_seconds_are_of_all() -> None:
    jobs = [
        one("a", night, 100.0 * (1.5 if night >= 20 else 1.0) * (1.0 + 0.01 * (night % 3)), number=number)
        for night in range(30)
        for number in range(4)
    ]
    [program] = trends_of(found(jobs, logs()).nights).programs
    assert (program.nights, program.jobs_a_night) == (30, 4.0)
    assert program.added_seconds == pytest.approx(4 * (program.last_seconds - program.first_seconds))
    assert program.added_seconds == pytest.approx(200.0, rel=0.05)


def test_memory_goes_by_jobs_and_not_by_programs_in_every_night() -> None:
    programs, nights = 1000, 400
    jobs = [one(f"program-{at}", at % nights, 60.0) for at in range(programs)]
    logged = found(jobs, logs()).nights
    assert len(logged) == nights
    tracemalloc.start()
    trends = trends_of(logged)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(trends.programs) == programs and len(trends.programs[0].logs) == nights
    assert most < 8 * programs * nights, "less than a pointer for each program in each night"
