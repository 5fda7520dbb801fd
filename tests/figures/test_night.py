"""The night of derived jobs, from records made up for the test."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mawl.figures.night import NightOfRun, night_of, over_logs
from mawl.records.model.derived import DerivedJob, DerivedStep
from mawl.records.model.records import JobRecord, StepRecord, Usage
from tests.fakes.stored_run import job as job_record

HOUR = 3600.0
STEP = DerivedStep(name="s", procedure="SORT", kernel="sort", real_seconds=0.5 * HOUR)


def derived(name: str, start: float = 0.0, end: float = 0.0, after: tuple[str, ...] = ()) -> DerivedJob:
    return DerivedJob(
        name=name,
        session="one",
        steps=(STEP,),
        after=after,
        start_seconds=start * HOUR,
        end_seconds=end * HOUR,
        due_seconds=10 * HOUR,
    )


JOBS = {
    one.name: one
    for one in (
        derived("a", start=1, end=4),
        derived("b", after=("a",), end=6),
        derived("c", after=("a", "b"), end=9.5),
        derived("d", start=3, after=("a",), end=5),
    )
}
"""In the logs the last job ended half an hour before all were due."""


def ran(**hours: tuple[float, float]) -> list[JobRecord]:
    """Records of jobs that ran from and to an hour of the night, of the run."""
    return [
        replace(job_record("s1-1", HOUR * start, HOUR * end), job=name, program=name)
        for name, (start, end) in hours.items()
    ]


def night(**hours: tuple[float, float]) -> NightOfRun:
    found = night_of(ran(**hours), JOBS)
    assert found is not None
    return found


def test_a_night_that_is_held_says_what_is_spare() -> None:
    found = night(a=(1, 3), b=(3, 5), c=(5, 8), d=(3, 4))
    assert (found.spare_seconds, found.logs_spare_seconds) == (2 * HOUR, 0.5 * HOUR)
    assert (found.jobs, found.late, found.not_finished) == (4, 0, 0)


def test_a_night_that_is_missed_says_by_how_much_and_by_which_chain() -> None:
    found = night(a=(1, 5), b=(5, 9), c=(9, 11.5), d=(5, 10.5))
    assert (found.spare_seconds, found.late) == (-1.5 * HOUR, 2)
    assert [(one.job, one.waited_for_clock) for one in found.chain] == [
        ("a", True),
        ("b", False),
        ("c", False),
    ]
    assert [one.ended for one in found.chain] == [5 * HOUR, 9 * HOUR, 11.5 * HOUR]
    assert found.chain[0].logs_seconds == 0.5 * HOUR


def test_a_job_that_its_time_let_start_waited_for_nobody() -> None:
    found = night(a=(1, 2), d=(3, 12))
    assert [one.job for one in found.chain] == ["d"]


@pytest.mark.parametrize("hours", [-5, 0, 7])
def test_the_clock_begins_where_the_first_job_puts_it(hours: int) -> None:
    assert night(a=(1 + hours, 3 + hours), b=(3 + hours, 6 + hours)).spare_seconds == 4 * HOUR


def test_a_job_that_failed_is_not_in_time() -> None:
    records = ran(a=(1, 3), b=(3, 5))
    two = {name: JOBS[name] for name in ("a", "b")}
    found = night_of([records[0], replace(records[1], outcome="failed")], two)
    assert found is not None and (found.jobs, found.not_finished, found.late) == (2, 1, 0)


def test_a_job_that_a_killed_run_has_no_record_of_is_not_in_time() -> None:
    found = night(a=(1, 3), b=(3, 5))
    assert (found.jobs, found.not_finished, found.late) == (4, 2, 0)


def test_without_a_time_to_be_done_by_nothing_is_said() -> None:
    undue = {name: replace(job, due_seconds=None) for name, job in JOBS.items()}
    assert night_of(ran(a=(1, 3)), undue) is None
    assert night_of(ran(z=(1, 3)), JOBS) is None
    assert night_of([], JOBS) is None


def test_jobs_that_a_damaged_file_has_wait_for_each_other_end_the_chain() -> None:
    circle = {"a": replace(JOBS["a"], start_seconds=0.0, after=("b",)), "b": replace(JOBS["b"], after=("a",))}
    found = night_of(ran(a=(0, 3), b=(3, 5)), circle)
    assert found is not None and {one.job for one in found.chain} == {"a", "b"}


def step_record(job: str, seconds: float | None) -> StepRecord:
    return StepRecord(
        job=job,
        number=1,
        name="s",
        kind="procedure",
        started_at=None,
        ended_at=None,
        usage=Usage(real_time_seconds=seconds),
    )


@pytest.mark.parametrize("unknown", [step_record("z", 1.0), step_record("a", None)])
def test_steps_are_in_the_order_of_what_they_took_over_the_logs(unknown: StepRecord) -> None:
    records = ran(a=(1, 3), b=(3, 5), z=(5, 6))
    steps = [step_record("a", 100.0), step_record("b", HOUR), unknown]
    found = over_logs(steps, records, JOBS)
    assert [(one.job, one.seconds, one.logs_seconds) for one in found] == [
        ("b", HOUR, 0.5 * HOUR),
        ("a", 100.0, 0.5 * HOUR),
    ]
