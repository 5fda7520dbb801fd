"""Sums over jobs of which some lack a figure: no sum of the others passes for the whole."""

from __future__ import annotations

from typing import Any

import msgspec

from mawl.analysis.summary import summary_of
from mawl.model.records import JobRecord
from mawl.reporters.tables import lacking
from tests.fakes.measured_run import four_jobs
from tests.fakes.stored_run import facts


def with_one(**changes: object) -> dict[str, Any]:
    """Four jobs, one of which lacks some of its usage."""
    first, *others = four_jobs(20.0)
    usage = msgspec.structs.replace(first.usage, **changes)
    jobs: list[JobRecord] = [msgspec.structs.replace(first, usage=usage), *others]
    return summary_of(facts(kind="imported"), jobs)


def test_user_and_system_of_some_jobs_are_no_sum_beside_the_time_of_all() -> None:
    own = four_jobs(20.0)[0].usage
    found = with_one(user_cpu_seconds=None, system_cpu_seconds=None, unsplit_cpu_seconds=own.cpu_seconds)
    account = found["cpu_account"]["jobs"]
    assert (account["user_cpu_seconds"], account["system_cpu_seconds"]) == (None, None)
    assert account["cpu_seconds"] == 4 * (own.cpu_seconds or 0.0)
    reason = found["missing"]["cpu_account.jobs.user_cpu_seconds"]
    assert reason == "1 of the 4 jobs with CPU time has no split into user and system"


def test_a_job_without_real_time_is_counted_out_loud() -> None:
    found = with_one(real_time_seconds=None)
    assert found["time"]["real_time_seconds"] is None
    assert found["missing"]["time.real_time_seconds"] == "1 of the 4 jobs that count has no such figure"
    assert "1 of the 4 jobs" in found["missing"]["cpu_real_ratio.of_sums"]
    text = " ".join(" ".join(lacking(found)).split())
    assert "no sum, real time: 1 of the 4 jobs that count has no such figure" in text
