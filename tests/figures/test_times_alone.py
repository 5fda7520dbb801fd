"""How much longer jobs took in the mix than alone, which decides nothing."""

from __future__ import annotations

import msgspec
import pytest

from mawl.advice.judge import judged
from mawl.figures.view import RunView
from mawl.figures.waits import times_alone_of
from mawl.records.model.run import Alone, AloneRun
from tests.fakes.stored_run import facts, jobs


def run(seconds: float, before: float | None = 3600.0) -> AloneRun:
    started = None if before is None else facts().started_at - before
    return AloneRun(run_id=f"solo-{seconds:g}", real_time_seconds=seconds, started_at=started)


SORTS = Alone(
    program="wide_sort",
    jobs=["s1-1", "s2-1", "s3-1", "s4-1"],
    real_time_seconds=10.0,
    run_id="solo-10",
    runs=[run(10.0), run(9.0, before=7200.0), run(12.0)],
    places=["ext4 on sda"],
)
LOADS = Alone(
    program="census_load",
    jobs=["s1-2", "s4-2"],
    real_time_seconds=5.0,
    run_id="solo-5",
    runs=[run(5.0)],
    places=["ext4 on sda", "xfs on sdb, read cap 100 MB/s"],
)


def test_without_runs_alone_there_is_nothing() -> None:
    assert times_alone_of(jobs(), facts()) is None


def test_the_ratio_is_one_of_sums_over_the_jobs_that_count() -> None:
    """Sorts take 20, 30 and 40 s (s3-1 failed), loads 10 and 19.5 s."""
    found = times_alone_of(jobs(), facts(alone=[SORTS, LOADS]))
    assert found is not None
    assert found.ratio == pytest.approx((20.0 + 30.0 + 40.0 + 10.0 + 19.5) / (3 * 10.0 + 2 * 5.0))
    assert found.age_seconds == 7200.0
    assert found.places == ["ext4 on sda", "xfs on sdb, read cap 100 MB/s"]
    sorts, loads = found.programs["wide_sort"], found.programs["census_load"]
    assert (sorts.seconds, sorts.runs) == (10.0, 3)
    assert (sorts.spread_ratio, sorts.ratio) == pytest.approx((0.3, 3.0))
    assert (loads.seconds, loads.runs, loads.spread_ratio) == (5.0, 1, None)
    assert loads.ratio == pytest.approx(14.75 / 5.0)


def test_programs_that_were_not_run_alone_are_not_in_the_ratio() -> None:
    found = times_alone_of(jobs(), facts(alone=[LOADS]))
    assert found is not None and found.ratio == pytest.approx(29.5 / 10.0)
    assert list(found.programs) == ["census_load"]


def test_where_no_job_counts_there_is_no_ratio() -> None:
    (failed,) = [job for job in jobs() if job.outcome == "failed"]
    found = times_alone_of([failed], facts(alone=[SORTS]))
    assert found is not None
    assert (found.ratio, found.programs["wide_sort"].ratio) == (None, None)


def test_an_older_folder_does_not_say_when_its_runs_alone_were() -> None:
    older = msgspec.structs.replace(SORTS, runs=[run(10.0, before=None), run(9.0)])
    assert getattr(times_alone_of(jobs(), facts(alone=[older])), "age_seconds", 0) is None
    oldest = msgspec.structs.replace(SORTS, runs=[])
    found = times_alone_of(jobs(), facts(alone=[oldest]))
    assert found is not None
    assert (found.age_seconds, found.programs["wide_sort"].runs) == (None, 1)


def test_times_alone_change_no_answer() -> None:
    without, beside = (judged(RunView(facts(alone=alone), jobs())) for alone in ([], [SORTS, LOADS]))
    assert beside.times_alone is not None and without.times_alone is None
    assert beside.answer == without.answer
