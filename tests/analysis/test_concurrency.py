"""Curves of jobs at a time against counting second by second."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mawl.analysis.concurrency import area, area_between, jobs_over_time, peak

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
