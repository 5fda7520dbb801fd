"""W of a run: what counts in its sums, what it is made of, and where it is not known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from mawl.advice.judge import judged
from mawl.figures.view import StoredView
from mawl.figures.waits import PARTS, JobSums, job_sums, pooled
from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.role_io import Waits
from mawl.records.model.run import RunFacts
from mawl.records.store import open_run
from tests.fakes.second_figures import slowdowns
from tests.fakes.stored_run import facts, job, jobs, planned, write_run
from tests.fakes.views import plain

NO_PARTS = dict.fromkeys(PARTS, 0.0)


def plan(reference: Mapping[str, float | None]) -> RunFacts:
    """A run of jobs with these reference times."""
    own = [
        msgspec.structs.replace(planned(name), reference_seconds=seconds)
        for name, seconds in reference.items()
    ]
    return facts(planned_jobs=own)


def took(name: str, real: float | None, waits: Waits | None = None, **changes: object) -> JobRecord:
    """A finished job of so many seconds."""
    usage = Usage(real_time_seconds=real)
    return job(name, 0.0, 1.0, usage=usage, waits=waits or Waits(), **changes)


def waits(on_cpu: float, queue: float, data: float, work: float, util: float, other: float | None) -> Waits:
    return Waits(
        on_cpu_seconds=on_cpu,
        run_queue_seconds=queue,
        blocked_data_seconds=data,
        blocked_work_seconds=work,
        blocked_util_seconds=util,
        blocked_other_seconds=other,
    )


def test_the_slowdown_is_a_quotient_of_sums_and_no_mean_of_quotients() -> None:
    found = job_sums([took("s1-1", 40.0), took("s1-2", 2.0)], plan({"s1-1": 10.0, "s1-2": 4.0}))
    assert found == JobSums(real=42.0, covered=42.0, reference=14.0, parts=NO_PARTS)
    assert found.slowdown == 3.0


def test_only_finished_jobs_with_a_right_answer_count() -> None:
    """Of the six jobs s3-1 failed; sorts have 15 s, loads 12 s (tests/fakes/stored_run.py)."""
    found = job_sums(jobs(), facts())
    assert (found.real, found.reference) == (119.5, 3 * 15.0 + 2 * 12.0)
    assert found.slowdown == pytest.approx(119.5 / 69.0)
    wrong = took("s1-1", 40.0, verified=False)
    unchecked = took("s2-1", 5.0, verified=None)
    assert job_sums([wrong, unchecked], facts()).slowdown == pytest.approx(5.0 / 15.0)


def test_a_job_without_a_real_time_is_in_no_sum() -> None:
    found = job_sums([took("s1-1", 40.0), took("s1-2", None)], plan({"s1-1": 10.0, "s1-2": 4.0}))
    assert found.slowdown == 4.0


@pytest.mark.parametrize(("unknown", "slowdown"), [(5.0, 9.5), (5.01, None)])
def test_jobs_without_a_reference_time_are_left_out_up_to_a_twentieth(
    unknown: float, slowdown: float | None
) -> None:
    found = job_sums([took("s1-1", 95.0), took("s1-2", unknown)], plan({"s1-1": 10.0, "s1-2": None}))
    assert (found.real, found.covered, found.reference) == (95.0 + unknown, 95.0, 10.0)
    assert found.slowdown == slowdown


def test_a_run_without_reference_times_has_no_slowdown() -> None:
    found = job_sums([took("s1-1", 40.0)], plan({"s1-1": None}))
    assert (found.slowdown, found.slowdown_parts) == (None, None)
    assert job_sums([], facts()).slowdown is None
    assert job_sums([took("s1-1", 0.0)], facts()).slowdown is None


def test_parts_add_up_to_the_slowdown_with_what_is_not_known() -> None:
    some = [
        took("s1-1", 60.0, waits(20.0, 4.0, 6.0, 12.0, 2.0, 16.0)),
        took("s2-1", 36.0, waits(30.0, 0.0, 1.0, 2.0, 3.0, None)),
        took("s3-1", 4.0),
    ]
    found = job_sums(some, plan({"s1-1": 25.0, "s2-1": 20.0, "s3-1": 5.0}))
    parts = found.slowdown_parts
    assert found.slowdown == 2.0 and parts is not None
    assert parts == pytest.approx(
        {
            "on_cpu": 50 / 50,
            "run_queue": 4 / 50,
            "data": 7 / 50,
            "work": 14 / 50,
            "util": 5 / 50,
            "other": 16 / 50,
            "unknown": 4 / 50,
        }
    )
    assert sum(parts.values()) == pytest.approx(found.slowdown)


def test_waits_longer_than_the_job_and_what_no_wait_explains_are_unknown() -> None:
    """A clock that runs ahead by less than 1 % makes all parts shrink alike."""
    plans = plan({"s1-1": 30.0})
    found = job_sums([took("s1-1", 60.0, waits(20.0, 4.0, 6.0, 12.0, 2.0, 1.0))], plans)
    assert found.parts["other"] == 1.0 and found.slowdown_parts is None
    assert job_sums([took("s1-1", 40.0, waits(30.0, 10.0, 8.0, 20.0, 2.0, 10.0))], plans).parts == NO_PARTS
    ahead = job_sums([took("s1-1", 100.0, waits(50.5, 50.5, 0.0, 0.0, 0.0, 0.0))], plans)
    assert ahead.parts["on_cpu"] == ahead.parts["run_queue"] == pytest.approx(50.0)


@pytest.mark.parametrize(("unwaited", "known"), [(5.0, True), (5.01, False)])
def test_parts_are_not_known_where_more_than_a_twentieth_has_no_waits(unwaited: float, known: bool) -> None:
    some = [took("s1-1", 95.0, waits(95.0, 0.0, 0.0, 0.0, 0.0, 0.0)), took("s2-1", unwaited)]
    found = job_sums(some, plan({"s1-1": 40.0, "s2-1": 10.0}))
    assert found.slowdown == pytest.approx((95.0 + unwaited) / 50.0)
    assert (found.slowdown_parts is not None) == known


@pytest.mark.parametrize("lacking", ["on_cpu_seconds", "run_queue_seconds", "blocked_work_seconds"])
def test_a_job_that_lacks_a_wait_leaves_the_parts_of_w_open(lacking: str) -> None:
    some = msgspec.structs.replace(waits(20.0, 4.0, 6.0, 12.0, 2.0, 16.0), **{lacking: None})
    found = job_sums([took("s1-1", 60.0, some)], plan({"s1-1": 30.0}))
    assert (found.slowdown, found.slowdown_parts) == (2.0, None)


def test_a_second_formula_finds_the_same_in_a_stored_run(tmp_path: Path) -> None:
    write_run(tmp_path / "run").finish(facts())
    answer = plain(judged(StoredView(open_run(tmp_path / "run"))))["answer"]
    expected = {"answer.slowdown": answer["slowdown"]}
    expected |= {f"answer.parts.{part}": answer["parts"][part] for part in PARTS}
    assert slowdowns(tmp_path / "run") == pytest.approx(expected)


def test_waits_of_jobs_without_a_reference_time_are_in_no_part() -> None:
    some = [
        took("s1-1", 95.0, waits(95.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        took("s1-2", 5.0, waits(0.0, 0.0, 0.0, 5.0, 0.0, 0.0)),
    ]
    parts = job_sums(some, plan({"s1-1": 50.0, "s1-2": None})).slowdown_parts
    assert parts is not None and parts["work"] == 0.0
    assert sum(parts.values()) == pytest.approx(1.9)


def test_several_runs_count_by_their_sums() -> None:
    first = job_sums([took("s1-1", 60.0, waits(20.0, 4.0, 6.0, 12.0, 2.0, 16.0))], plan({"s1-1": 20.0}))
    second = job_sums([took("s1-1", 20.0, waits(18.0, 0.0, 0.0, 2.0, 0.0, 0.0))], plan({"s1-1": 20.0}))
    both = pooled([first, second])
    assert (both.real, both.covered, both.reference, both.slowdown) == (80.0, 80.0, 40.0, 2.0)
    assert both.slowdown_parts is not None
    assert both.slowdown_parts["work"] == pytest.approx(14 / 40)
    assert sum(both.slowdown_parts.values()) == pytest.approx(2.0)
    assert pooled([]).slowdown is None
