"""Bars of jobs in rows of sessions: side by side, still running, never started."""

from __future__ import annotations

from mawl.analysis.sessions import RUNNING, Sessions, natural, sessions
from mawl.model.records import EventRecord, JobRecord
from tests.fakes.stored_run import START, facts, job


def rows_of(jobs: list[JobRecord], *events: EventRecord, read_at: float = 60.0) -> Sessions:
    return sessions(facts(), jobs, events, START, START + read_at)


def test_jobs_of_a_session_share_a_row_and_those_side_by_side_do_not() -> None:
    jobs = [
        job("s1-1", 0.0, 10.0),
        job("s1-2", 10.0, 20.0),
        job("s2-1", 0.0, 10.0),
        job("s2-2", 5.0, 15.0, session="s2"),
    ]
    found = rows_of(jobs)
    assert found.rows == ["s1", "s2", "s2"]
    assert {bar.job: bar.row for bar in found.bars} == {"s1-1": 0, "s1-2": 0, "s2-1": 1, "s2-2": 2}
    assert (found.bars[1].start_seconds, found.bars[1].end_seconds) == (10.0, 20.0)
    assert found.bars[0].waits.on_cpu_seconds is not None


def test_a_job_that_still_runs_reaches_to_where_the_run_was_read() -> None:
    begun = [
        EventRecord(happened_at=START + 5.0, event="job_started", job=name) for name in ("s1-1", "s4-2", "x")
    ]
    found = rows_of([job("s1-1", 5.0, 10.0)], *begun, read_at=30.0)
    assert [(bar.job, bar.outcome, bar.end_seconds) for bar in found.bars] == [
        ("s1-1", "finished", 10.0),
        ("s4-2", RUNNING, 30.0),
    ]


def test_jobs_that_never_started_have_no_bar() -> None:
    assert rows_of([job("s1-1", 0.0, 1.0, started_at=None, ended_at=None)]) == Sessions(bars=[], rows=[])


def test_sessions_of_several_nodes_are_named_with_them_in_the_order_of_their_numbers() -> None:
    jobs = [job(f"s{number}-1", 0.0, 5.0, session=f"s{number}", node=node) for node, number in
            (("n2", 1), ("n1", 10), ("n1", 9))]  # fmt: skip
    assert rows_of(jobs).rows == ["n1 s9", "n1 s10", "n2 s1"]
    assert natural("a10") > natural("a9") and natural("é２")
