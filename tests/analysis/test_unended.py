"""Jobs without an end, in runs that were killed, interrupted or go on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mawl.analysis.timeline import Timeline
from mawl.analysis.unended import line_of
from mawl.analysis.view import StoredView
from mawl.model.records import EventRecord, JobRecord
from mawl.model.run import RunFacts
from mawl.store import open_run
from mawl.store.folder import RunWriter
from mawl.store.tail import Tail
from tests.fakes.measured_run import IDLE, samples
from tests.fakes.stored_run import START, events, facts, job, jobs
from tests.fakes.stored_run import samples as second_of_samples
from tests.fakes.views import judged, summary_of

KILLED = facts(outcome="interrupted", ended_at=None)
ENDED = jobs()[2:3]
"""s3-1, which ended after 10.5 s; the three others of the first stage left no end."""
BEGUN = events()[:6]


def of(
    run: RunFacts = KILLED,
    ended: list[JobRecord] = ENDED,
    begun: list[EventRecord] = BEGUN,
    seconds: int = 20,
) -> Timeline:
    """The timeline, which there is, with samples up to ``seconds``."""
    line = line_of(run, ended, begun, samples(seconds, IDLE))
    assert line is not None
    return line


@pytest.mark.parametrize("outcome", ["interrupted", "running"])
def test_a_job_without_an_end_runs_until_the_last_sample(outcome: str) -> None:
    line = of(msgspec.structs.replace(KILLED, outcome=outcome))
    assert line.elapsed_seconds == 20.0
    assert line.peak_concurrent == 4
    assert line.mean_concurrent == pytest.approx((10.5 + 3 * 20.0) / 20.0)
    assert line.seconds_near_peak == 10.5
    assert (line.tail_seconds, line.tail_unknown) == (0.0, None)


def test_a_lost_job_with_a_start_in_its_record_needs_no_event() -> None:
    lost = [job(f"s{number}-1", 0.0, 0.0, outcome="lost", ended_at=None) for number in (1, 2, 4)]
    whole = msgspec.structs.replace(KILLED, planned_jobs=KILLED.planned_jobs[:1] + KILLED.planned_jobs[2:5])
    line = of(whole, [*ENDED, *lost], [])
    assert (line.peak_concurrent, line.elapsed_seconds) == (4, 20.0)


def test_without_samples_the_last_event_or_job_is_the_end() -> None:
    line = line_of(KILLED, ENDED, [*BEGUN, EventRecord(happened_at=START + 15.0, event="stop_requested")])
    assert line is not None
    assert (line.elapsed_seconds, line.peak_concurrent) == (15.0, 4)


def test_where_start_events_are_lacking_jobs_at_once_are_null_with_a_reason() -> None:
    summary = summary_of(KILLED, ENDED, samples=samples(20, IDLE))
    for name in ("peak_concurrent", "mean_concurrent", "seconds_near_peak"):
        assert summary["jobs"][name] is None
        assert "5 of its planned jobs without an end may have run" in summary["missing"][f"jobs.{name}"]


def test_the_event_of_an_end_stands_for_a_torn_record() -> None:
    line = of(ended=[], begun=BEGUN)
    assert line.mean_concurrent == pytest.approx((10.5 + 3 * 20.0) / 20.0)


def test_few_jobs_while_others_have_yet_to_start_are_no_tail() -> None:
    summary = summary_of(KILLED, jobs()[:3], samples=samples(35, IDLE), events=events()[:10])
    assert summary["jobs"]["peak_concurrent"] == 4
    assert summary["time"]["tail_seconds"] is None and summary["time"]["active_seconds"] is None
    assert "1 of its planned jobs had yet to start" in summary["missing"]["time.tail_seconds"]


def test_once_all_jobs_have_started_the_tail_of_a_killed_run_is_known() -> None:
    line = of(ended=jobs()[:5], begun=events(), seconds=50)
    assert (line.tail_unknown, line.ended_at) == (None, START + 60.5)
    assert line.tail_seconds == pytest.approx(60.5 - 30.5)


def test_jobs_that_were_stopped_with_the_run_begin_no_tail() -> None:
    some = [job(f"s{number}-1", 0.0, 10.0 + number, outcome="stopped") for number in range(1, 5)]
    assert of(ended=some, begun=events()[:5], seconds=5).tail_seconds == 0.0
    assert of(facts(), some, []).tail_seconds == 0.0


def test_in_a_run_that_went_through_a_job_without_an_end_is_not_guessed() -> None:
    lost = job("s1-1", 0.0, 0.0, outcome="lost", ended_at=None)
    assert of(facts(), [*ENDED, lost], []).peak_concurrent == 1


def test_a_killed_run_s_folder_tells_what_ran_at_once_live_and_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    writer = RunWriter(folder, facts(outcome="running", ended_at=None, outcome_reason=None))
    for event in BEGUN:
        writer.event(event)
    writer.job(job("s3-1", 0.0, 10.5))
    for second in range(21):
        writer.samples(second_of_samples(second))
    tail = Tail(folder)
    tail.look()
    live = judged(StoredView(tail.run()))
    writer.close()
    dead = judged(StoredView(open_run(folder)))
    for summary, outcome in ((live, "running"), (dead, "interrupted")):
        assert summary["outcome"] == outcome
        assert summary["jobs"]["peak_concurrent"] == 4
        assert summary["jobs"]["mean_concurrent"] == pytest.approx((10.5 + 3 * 20.0) / 20.0)
        assert summary["time"]["tail_seconds"] == 0.0
        assert summary["capacity"]["carried"] is None
