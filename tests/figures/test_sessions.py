"""How many jobs ran at once, and the tail.

Bars of jobs in rows of sessions: side by side, still running, never started.

Curves of jobs at a time against counting second by second.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.sessions import (
    RUNNING,
    Sessions,
    Timeline,
    area,
    area_between,
    jobs_over_time,
    natural_sort_key,
    peak,
    sessions,
    timeline,
)
from mawl.records.model.records import EventRecord, JobRecord
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
    assert natural_sort_key("a10") > natural_sort_key("a9") and natural_sort_key("é２")


SPANS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda one: (one[0], one[0] + one[1])), max_size=12
)
SECONDS = range(-1, 90)


def running(spans: list[tuple[int, int]], second: int) -> int:
    """The jobs that run from this second to the next one; spans are of whole seconds."""
    return sum(start <= second < end for start, end in spans)


def floats(spans: list[tuple[int, int]]) -> list[tuple[float, float]]:
    return [(float(start), float(end)) for start, end in spans]


@given(SPANS, SPANS)
def test_areas_are_those_of_counting_every_second(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    assert area(floats(one)) == sum(running(one, second) for second in SECONDS)
    apart = sum(abs(running(one, second) - running(other, second)) for second in SECONDS)
    assert area_between(floats(one), floats(other)) == apart
    assert area_between(floats(other), floats(one)) == apart
    assert peak(floats(one)) == max(running(one, second) for second in SECONDS)


@given(SPANS)
def test_the_curve_says_how_many_run_from_each_change_on(spans: list[tuple[int, int]]) -> None:
    curve = jobs_over_time(floats(spans))
    assert curve.seconds == sorted({float(at) for span in spans for at in span})
    assert curve.jobs == [running(spans, int(at)) for at in curve.seconds]


def test_a_long_curve_keeps_its_peak_and_its_ends() -> None:
    spans = [(float(at), at + 0.5) for at in range(5000)] + [(2500.0, 2500.5)] * 7
    curve = jobs_over_time(spans, most=100)
    assert len(curve.seconds) <= 100 and max(curve.jobs) == 8
    assert (curve.seconds[0], curve.seconds[-1], curve.jobs[-1]) == (0.0, 4999.5, 0)


def test_no_jobs_are_no_curve() -> None:
    curve = jobs_over_time([])
    assert (curve.seconds, curve.jobs) == ([], [])
    assert (area([]), area_between([], []), peak([])) == (0.0, 0.0, 0)
    assert area_between([], [(1.0, 3.0)]) == 2.0


def span(start: float, end: float, *, trail_out: bool = False) -> JobRecord:
    """A job that ran then."""
    return job("s1-1", start, end, trail_out=trail_out)


def of(spans: list[JobRecord], sessions: int = 4) -> Timeline:
    """The timeline, which there is."""
    line = timeline(spans, sessions)
    assert line is not None
    return line


def test_peak_mean_and_time_near_the_peak() -> None:
    line = of([span(0, 10), span(0, 10), span(2, 6), span(4, 6)])
    assert line.elapsed_seconds == 10.0
    assert line.peak_concurrent == 4
    assert line.mean_concurrent == pytest.approx(2.6)
    assert line.seconds_near_peak == 2.0


def test_near_the_peak_is_nine_tenths_of_it() -> None:
    line = of([span(0, 10) for _ in range(9)] + [span(4, 6)])
    assert line.peak_concurrent == 10
    assert line.seconds_near_peak == 10.0


def test_a_job_that_starts_as_another_ends_does_not_run_beside_it() -> None:
    assert of([span(0, 5), span(5, 10)]).peak_concurrent == 1


def test_the_tail_starts_when_fewer_than_three_run_for_good() -> None:
    line = of([span(0, 10), span(0, 20), span(0, 30), span(12, 14), span(15, 40)])
    assert (line.active_seconds, line.tail_seconds) == (20.0, 20.0)


def test_a_dip_is_no_tail() -> None:
    dip = [span(0, 10), span(0, 10), span(0, 30), span(20, 30), span(20, 30), span(0, 33)]
    assert of(dip).tail_seconds == 3.0


def test_ten_percent_of_many_sessions() -> None:
    spans = [span(0, 10) for _ in range(36)] + [span(0, 20) for _ in range(4)]
    assert of(spans, sessions=40).tail_seconds == 0.0
    assert of(spans, sessions=41).tail_seconds == 10.0


def test_jobs_marked_trail_out_are_tail_when_they_are_alone() -> None:
    spans = [span(0, 10), span(0, 12), *(span(0, 50, trail_out=True) for _ in range(4))]
    assert of(spans).tail_seconds == 38.0


def test_fewer_than_four_sessions_have_no_tail() -> None:
    assert of([span(0, 10), span(0, 50)], sessions=3).tail_seconds == 0.0


def test_a_run_that_was_never_that_busy_has_no_tail_by_number() -> None:
    assert of([span(0, 10), span(0, 50)]).tail_seconds == 0.0


def test_jobs_without_both_times_are_not_in_it() -> None:
    lost = job("s1-1", 0.0, 10.0, outcome="lost", ended_at=None)
    assert timeline([lost], 4) is None
    assert of([lost, span(5, 10)]).started_at == START + 5


def test_a_run_of_no_length_has_no_mean() -> None:
    line = of([span(1, 1)])
    assert (line.elapsed_seconds, line.mean_concurrent) == (0.0, None)


def test_a_clock_that_was_set_back_gives_no_negative_time() -> None:
    assert of([span(5, 4), span(0, 10)]).mean_concurrent == 1.0
