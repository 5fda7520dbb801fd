"""Queue times of a run: their spread, and how much of the chain that ended last was queue."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from mawl.figures.imported import chain_of, last_chain, queue_block
from mawl.records.model.records import JobRecord, Usage
from mawl.records.model.summary.programs import QueueChain
from tests.fakes.stored_run import jobs as stored_jobs


def job(name: str, started: float, ended: float, queue: float | None = 0.0, **fields: Any) -> JobRecord:
    """A job of session s1 that waited so long before its start; None: its queue time is not known."""
    like = stored_jobs()[0]
    return msgspec.structs.replace(
        like,
        **{
            "job": name,
            "program": name.rstrip("0123456789"),
            "session": "s1",
            "node": "n1",
            "stage": 1,
            "started_at": started,
            "ended_at": ended,
            "submitted_at": started - (queue or 0.0),
            "queue_seconds": queue,
            "usage": Usage(real_time_seconds=ended - started),
            **fields,
        },
    )


def chain(*jobs: JobRecord) -> QueueChain:
    found = chain_of(jobs, {})
    assert found is not None
    return found


def test_a_run_without_a_history_has_no_queue() -> None:
    missing: dict[str, str] = {}
    assert queue_block([job("a", 0, 9, submitted_at=None, queue_seconds=None)], None, missing) is None
    assert missing == {}


def test_only_jobs_with_a_queue_time_are_in_the_spread_whatever_their_outcome() -> None:
    jobs = [job("a1", 100, 200, 10), job("a2", 100, 200, 30, outcome="failed"), job("b1", 0, 9, None)]
    found = queue_block(jobs, None, {})
    assert found is not None and found.times is not None
    assert (found.submitted, found.times.jobs) == (3, 2)
    assert (found.times.median_seconds, found.times.most_seconds, found.times.sum_seconds) == (20, 30, 40)
    assert found.times.p95_seconds == pytest.approx(29)
    assert list(found.programs) == ["a"]
    assert [(one.job, one.queue_seconds, one.real_time_seconds) for one in found.longest] == [
        ("a2", 30, 100),
        ("a1", 10, 100),
    ]


def test_a_job_that_waited_for_nothing_is_not_among_the_longest() -> None:
    found = queue_block([job("a1", 0, 9, 0.0)], None, {})
    assert found is not None and found.longest == []


def test_the_chain_goes_back_from_the_last_end_while_jobs_followed_one_another() -> None:
    jobs = [
        job("before", 0, 50),
        job("first", 100, 200),
        job("second", 203, 300),
        job("last", 301, 400),
        job("beside", 150, 399, session="s2"),
    ]
    assert [one.job for one in last_chain(jobs)] == ["first", "second", "last"]


def test_queue_of_a_chain_counts_only_while_none_of_its_jobs_ran() -> None:
    """The second job waited 90 s, of which the first ran for all but three."""
    found = chain(job("first", 100, 200, 40), job("second", 203, 300, 90))
    assert (found.jobs, found.length_seconds, found.queue_seconds) == (2, 240, 43)
    assert found.queue_ratio == pytest.approx(43 / 240)
    assert chain(job("first", 100, 200, 0), job("second", 203, 300, 1)).queue_seconds == 1
    assert chain(job("first", 100, 200, 0), job("second", 199.5, 300, 60)).queue_seconds == 0


def test_a_job_that_waited_followed_the_last_that_ended_meanwhile_however_long_its_start_took() -> None:
    """A slot is free at 200, and the scheduler starts the next job in its cycle, at 230."""
    jobs = [job("before", 0, 50), job("first", 100, 200, 40), job("second", 230, 300, 150)]
    assert [one.job for one in last_chain(jobs)] == ["first", "second"]
    found = chain(*jobs)
    assert (found.jobs, found.length_seconds, found.queue_seconds) == (2, 240, 70)
    # It depended on the first one, could run at its end, and had a queue of its own.
    assert chain(job("first", 100, 200), job("second", 260, 300, 58)).queue_seconds == 58
    # It could run only 6 s after that end: it was not that job for which it waited.
    assert chain(job("first", 100, 200), job("second", 260, 300, 54)).jobs == 1


@pytest.mark.parametrize("cycle", [1, 10, 60])
def test_the_cycle_of_a_scheduler_moves_the_queue_of_the_chain_by_no_more_than_the_cycles(cycle: int) -> None:
    """All jobs wait from the first second for one slot, which a scheduler gives away in its cycle."""
    draw = random.Random(cycle)
    jobs: list[JobRecord] = []
    start = cycle
    for number in range(20):
        end = start + draw.randint(5, 500)
        jobs.append(job(f"j{number}", start, end, start))
        start = (end // cycle + 1) * cycle
    found = chain(*jobs)
    runs = {at for one in jobs for at in range(int(one.started_at or 0), int(one.ended_at or 0))}
    assert (found.jobs, found.length_seconds) == (20, end)
    assert found.queue_seconds == end - len(runs) <= 20 * cycle


def test_a_chain_with_a_job_of_unknown_queue_time_is_not_known() -> None:
    jobs = [job("first", 100, 200, None), job("second", 203, 300, 90)]
    missing: dict[str, str] = {}
    found = queue_block(jobs, None, missing)
    assert found is not None and found.chain is None
    assert missing["queue.chain"] == "1 of the 2 jobs of the chain that ended last have no queue time"
    # What is not in the chain does not matter.
    assert chain(job("alone", 0, 50, None), *(job("x", 100, 200), job("y", 200, 300))).queue_seconds == 0


def test_a_chain_of_no_length_has_no_ratio() -> None:
    missing: dict[str, str] = {}
    found = queue_block([job("a", 100, 100, 0)], None, missing)
    assert found is not None and found.chain is not None
    assert found.chain.queue_ratio is None
    assert missing["queue.chain.queue_ratio"]


def test_jobs_without_times_make_no_chain() -> None:
    for jobs in ([], [job("a", 0, 1, ended_at=None)]):
        missing: dict[str, str] = {}
        assert chain_of(jobs, missing) is None
        assert missing == {"queue.chain": "no job has both a start and an end"}


@pytest.mark.parametrize("seed", range(20))
def test_queue_and_work_of_drawn_chains_add_up_to_their_length_by_the_second(seed: int) -> None:
    """A second computation, by the second: a job runs, the next one is in the queue, or neither."""
    draw = random.Random(seed)
    jobs: list[JobRecord] = []
    times: list[tuple[int, int, int]] = []
    end = 1000
    for number in range(draw.randint(1, 6)):
        start = end + draw.randint(0, 5)
        end = start + draw.randint(1, 60)
        times.append((draw.choice([0, 1, 3, 30, 200]), start, end))
        jobs.append(job(f"j{number}", start, end, times[-1][0]))
    found = chain(*jobs)
    seconds = range(times[0][1] - times[0][0], end)
    runs = {at for _, start, end in times for at in range(start, end)}
    idle = [at for at in seconds if at not in runs]
    waits = [next((queue, start) for queue, start, _ in times if start > at) for at in idle]
    assert found.length_seconds == len(seconds)
    assert found.queue_seconds == sum(
        at >= start - queue for at, (queue, start) in zip(idle, waits, strict=True)
    )
