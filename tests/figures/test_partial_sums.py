"""Sums over jobs of which some lack a figure: no sum of the others passes for the whole."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mawl.base.units import format_ratio, format_seconds
from mawl.records.model.records import JobRecord
from mawl.records.model.role_io import Waits
from mawl.reports import markdown, screen, text
from mawl.reports.html.figures import ShownFigures
from mawl.reports.paragraphs import waits
from mawl.reports.tables import lacking
from tests.fakes.measured_run import four_jobs
from tests.fakes.stored_run import facts
from tests.fakes.views import BARE, as_summary, partly, summary_of


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
    assert (
        found["missing"]["time.real_time_seconds"] == "1 of the 4 jobs that count has no such figure (s1-1)"
    )
    assert "1 of the 4 jobs" in found["missing"]["cpu_real_ratio.of_sums"]
    text = " ".join(" ".join(lacking(as_summary(found))).split())
    assert "not of all jobs, real time: 1 of the 4 jobs that count has no such figure (s1-1)" in text


def test_the_sum_of_the_jobs_that_have_it_is_given_with_their_number() -> None:
    found = with_one(real_time_seconds=None)
    others = [job.usage for job in four_jobs(20.0)[1:]]
    real = sum(own.real_time_seconds or 0.0 for own in others)
    used = sum(own.cpu_seconds or 0.0 for own in others)
    assert found["time"]["known"]["real_time_seconds"] == real > 0
    assert found["time"]["known"]["jobs"]["real_time"] == 3 and found["time"]["known"]["jobs"]["cpu"] == 4
    assert found["cpu_real_ratio"]["of_sums"] is None and found["cpu_real_ratio"]["known"]["jobs"] == 3
    assert found["cpu_real_ratio"]["known"]["of_sums"] == used / real
    for shown in (
        screen.render(BARE, as_summary(found)),
        text.render(BARE, as_summary(found)),
        markdown.render(BARE, as_summary(found)),
    ):
        words = " ".join(shown.replace("|", " ").split())
        assert f"{format_seconds(real)} (3 of 4 jobs)" in words
        assert f"{format_ratio(used / real)} (3 of 4 jobs)" in words
    page = ShownFigures(partly({name: found[name] for name in ("jobs", "time", "cpu_real_ratio")}))
    assert f"{real}</span> (3 of 4 jobs)" in page.show(str, "time", "real_time_seconds")
    assert "(3 of 4 jobs)" in page.show(str, "cpu_real_ratio", "of_sums")
    assert "of 4 jobs" not in page.show(str, "time", "cpu_seconds")


def test_a_figure_that_no_job_has_stays_null() -> None:
    jobs = [
        msgspec.structs.replace(job, usage=msgspec.structs.replace(job.usage, memory_bytes=None))
        for job in four_jobs(20.0)
    ]
    found = summary_of(facts(kind="imported"), jobs)
    assert found["time"]["known"]["memory_bytes"] is None
    assert found["missing"]["time.known.memory_bytes"] == "no job that counts has this figure"
    assert "memory -" in " ".join(screen.render(BARE, as_summary(found)).split())


def waiting(*found: Waits) -> dict[str, Any]:
    """Four jobs of 20 s with these waits."""
    jobs = zip(four_jobs(20.5), found, strict=True)
    return summary_of(facts(), [msgspec.structs.replace(job, waits=own) for job, own in jobs])


WHOLE = Waits(
    on_cpu_seconds=5.0,
    run_queue_seconds=1.0,
    blocked_data_seconds=10.0,
    blocked_work_seconds=2.0,
    blocked_util_seconds=0.0,
    blocked_other_seconds=2.0,
)


def test_waits_of_some_jobs_are_given_with_how_many_they_are() -> None:
    found = waiting(WHOLE, WHOLE, WHOLE, Waits())
    block = found["wait"]
    assert block["on_cpu_seconds"] is None and set(block["blocked_seconds"].values()) == {None}
    assert found["missing"]["wait.on_cpu_seconds"] == "1 of the 4 jobs that count has no such figure (s4-1)"
    line = " ".join(" ".join(waits(as_summary(found))).split())
    assert line.startswith("waits on processors 15.0 s (19 %)") and ", data 30.0 s (38 %)" in line
    assert "not known 20.0 s (25 %)" in line


def test_waits_of_all_jobs_leave_nothing_unknown() -> None:
    found = waiting(WHOLE, WHOLE, WHOLE, WHOLE)
    assert found["wait"]["shares"]["unknown_ratio"] == 0.0
    assert not any("not known" in line for line in waits(as_summary(found)))


def test_waits_longer_than_their_job_are_no_waits_of_jobs() -> None:
    found = waiting(WHOLE, WHOLE, WHOLE, msgspec.structs.replace(WHOLE, on_cpu_seconds=15.0))
    assert found["wait"]["run_queue_seconds"] is None
    assert found["wait"]["shares"]["unknown_ratio"] == pytest.approx(0.25)
    why = (
        "1 of the 4 jobs that count has waits longer than the job: older formats add up the waits of threads"
    )
    for path in ("on_cpu_seconds", "run_queue_seconds", "blocked_seconds.work"):
        assert found["missing"][f"wait.{path}"] == why


def test_what_no_job_has_is_not_zero() -> None:
    apart = Waits(on_cpu_seconds=5.0, run_queue_seconds=1.0)
    found = waiting(apart, apart, apart, apart)
    shares = found["wait"]["shares"]
    assert found["wait"]["on_cpu_seconds"] == 20.0 and shares["data_ratio"] is None
    assert (shares["on_cpu_ratio"], shares["unknown_ratio"]) == pytest.approx((0.25, 0.7))
    assert found["missing"]["wait.shares.data_ratio"] == "it is known of no job"
