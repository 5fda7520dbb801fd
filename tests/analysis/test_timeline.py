"""How many jobs ran at once, and the tail."""

from __future__ import annotations

import pytest

from mawl.analysis.timeline import Timeline, timeline
from mawl.model.records import JobRecord
from tests.fakes.stored_run import START, job


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
