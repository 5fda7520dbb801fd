"""Jobs without an end, in runs that were killed, interrupted or go on.

How jobs that do not count ended: wrong data, a crash and a run that stopped are different words.

Sums of jobs that were read in turns: what the jobs really gained at each second is recovered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mawl.figures.open_jobs import (
    READ_IN_TURNS,
    bad_jobs,
    bad_sentence,
    even_out_turns,
    run_timeline,
    what_happened,
)
from mawl.figures.over_time import over_time
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Timeline, Windows
from mawl.figures.throughput import APPLICATION
from mawl.figures.view import StoredView
from mawl.figures.window_states import moments
from mawl.records.model.records import EventRecord, JobRecord, SampleRecord
from mawl.records.model.run import RunFacts
from mawl.records.store import open_run
from mawl.records.store.columns import to_table
from mawl.records.store.folder import RunWriter
from mawl.records.store.tail import Tail
from tests.fakes.measured_run import IDLE, samples
from tests.fakes.measured_run import samples as steady
from tests.fakes.stored_run import START, events, facts, job, jobs
from tests.fakes.stored_run import samples as second_of_samples
from tests.fakes.views import judged, summary_of


def ended(name: str, **changes: Any) -> JobRecord:
    return job(name, 0.0, 10.0, **({"outcome": "failed", "exit_code": None} | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verified": False, "exit_code": 1}, "wrong answer"),
        ({"exit_code": 3}, "exit status 3"),
        ({"signal": 9}, "killed by signal 9"),
        ({}, "failed"),
        ({"outcome": "timed_out", "signal": 15}, "ran into its time limit"),
        ({"outcome": "stopped", "signal": 15}, "stopped with the run"),
        ({"outcome": "lost"}, "its end was not recorded"),
        ({"outcome": "not_started"}, "never started"),
    ],
)
def test_what_happened_to_a_job(changes: dict[str, Any], words: str) -> None:
    assert what_happened(ended("s1-1", **changes)) == words


def test_a_sentence_names_three_jobs_and_counts_the_others() -> None:
    wrong, killed = ended("s1-1", verified=False), ended("s2-1", signal=9)
    assert bad_sentence([wrong, job("s3-1", 0.0, 9.0)], 6, 1) == "1 of 6 jobs failed: s1-1 (wrong answer)"
    five = [wrong, killed, *(ended(name, exit_code=1) for name in ("s1-2", "s3-1", "s4-1"))]
    assert bad_sentence(five, 6, 5) == (
        "5 of 6 jobs failed: s1-1 (wrong answer), s2-1 (killed by signal 9), s1-2 (exit status 1) and 2 more"
    )


def test_jobs_that_failed_by_themselves_come_before_those_that_stopped_with_the_run() -> None:
    stopped, failed = ended("s1-1", outcome="stopped"), ended("s2-1", exit_code=1)
    assert bad_jobs([stopped, failed, job("s3-1", 0.0, 9.0)]) == [failed, stopped]
    said = bad_sentence([stopped, failed], 6, 4)
    assert said == "4 of 6 jobs did not finish: s2-1 (exit status 1), s1-1 (stopped with the run) and 2 more"
    assert bad_sentence([], 6, 6) == "6 of 6 jobs did not finish: 6 never started"


LOOKS = 30
CPU, QUEUE = READ_IN_TURNS[-2:]
Rates = Sequence[float]


def stored(rates: Rates, running: Callable[[int], int] | None = None) -> RunSamples:
    """Jobs of constant ``rates``, one a place: even places have their turn at even looks, odd ones at odd.

    With up to eight jobs all are read.
    """
    known = [0.0] * len(rates)
    rows = []
    for look in range(LOOKS + 1):
        jobs = running(look) if running else len(rates)
        for place, rate in enumerate(rates):
            if jobs <= 8 or place % 2 == look % 2:
                known[place] = rate * look
        values = {"jobs_running": float(jobs), CPU: sum(known), QUEUE: 0.0, "other": sum(known)}
        values |= {f"role.{role}.waited_seconds": 0.0 for role in ("data", "work", "util")}
        for name, value in values.items():
            rows.append(SampleRecord(node="bench1", sampled_at=START + look, series=name, value=value))
    return RunSamples(to_table("samples", rows))


def values(samples: RunSamples, name: str = CPU) -> list[float]:
    series = samples.series("bench1", name)
    assert series is not None
    return [float(value) for value in series.values]


def test_true_rates_of_two_unlike_halves_are_recovered() -> None:
    zigzag = stored([0.9, 0.2] * 5)
    assert set(np.diff(values(zigzag)).round(6)[2:-1]) == {2.0, 9.0}
    found = values(even_out_turns(zigzag))
    assert np.diff(found)[1:-1].tolist() == pytest.approx([5.5] * (LOOKS - 2))
    assert found[1:-1] == pytest.approx([5.5 * look for look in range(1, LOOKS)])


def test_first_and_last_value_stand_and_the_counter_never_falls() -> None:
    zigzag = stored([0.9, 0.0] * 5)
    before, after = values(zigzag), values(even_out_turns(zigzag))
    assert (after[0], after[-1]) == (before[0], before[-1])
    assert min(np.diff(after)) >= 0.0


def test_a_counter_that_fell_is_not_carried_on_below_what_was_stored() -> None:
    """A job whose counters were lost takes its sum away: the look before it gains nothing from that."""
    jobs = [0.9] * 10
    rows = [
        SampleRecord(node="bench1", sampled_at=START + look, series=name, value=value)
        for look, whole in enumerate((0.0, 9.0, 18.0, 3.0, 12.0, 21.0))
        for name, value in (("jobs_running", float(len(jobs))), (CPU, whole), (QUEUE, 0.0))
    ]
    samples = RunSamples(to_table("samples", rows))
    assert all(
        after >= before
        for before, after in zip(values(samples), values(even_out_turns(samples)), strict=True)
    )


def test_few_jobs_and_other_series_stay_as_they_were_read() -> None:
    few, many = stored([0.9, 0.2] * 4), stored([0.9, 0.2] * 5)
    assert even_out_turns(few) is few
    assert values(even_out_turns(many), "other") == values(many, "other")


def test_only_the_stretch_with_many_jobs_is_evened() -> None:
    zigzag = stored([0.5] * 10, running=lambda look: 10 if look < 15 else 8)
    found = values(even_out_turns(zigzag))
    assert found[1:] == pytest.approx([5.0 * look for look in range(1, LOOKS + 1)])
    assert found[15:] == values(zigzag)[15:]


def test_course_and_windows_of_jobs_that_never_block_show_none_blocked() -> None:
    zigzag = stored([1.0, 1.0] * 5)
    even = even_out_turns(zigzag)
    span = (START + 2.0, START + LOOKS - 2.0)

    def by_second(samples: RunSamples) -> float:
        return float(over_time(facts(), samples, span).columns["jobs_blocked_other"].sum())

    assert by_second(even) == pytest.approx(0.0)
    windows = Windows(seconds=5.0, edges=tuple(START + edge for edge in (3, 8, 13, 18, 23)), active=4)
    blocked = [moment.jobs_blocked for moment in moments(even, windows, APPLICATION)]
    assert [parts["other"] for parts in blocked if parts] == pytest.approx([0.0] * 4)
    uneven = stored([1.0, 1.0, 1.0, 0.0] * 3)
    assert by_second(even_out_turns(uneven)) == pytest.approx(3.0 * (span[1] - span[0]))


def test_a_run_of_one_look_and_one_without_jobs_are_left_alone() -> None:
    short = steady(0, {**IDLE, "jobs_running": 20.0})
    assert values(even_out_turns(short)) == values(short)
    assert even_out_turns(RunSamples(to_table("samples", []))).nodes == []


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
    line = run_timeline(run, ended, begun, samples(seconds, IDLE))
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
    line = run_timeline(
        KILLED, ENDED, [*BEGUN, EventRecord(happened_at=START + 15.0, event="stop_requested")]
    )
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
        assert summary["answer"]["carried"] is None
