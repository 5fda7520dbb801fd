"""The course of a run for charts."""

from __future__ import annotations

import pytest

from mawl.analysis.comparison.timelines import MOST_POINTS, course_of
from mawl.analysis.timeline import timeline
from tests.fakes.measured_run import IDLE, four_jobs, samples
from tests.fakes.stored_run import facts


def test_a_point_a_second_and_no_more_than_a_chart_can_show() -> None:
    for seconds, points in ((20, 20), (1200, MOST_POINTS)):
        line = timeline(four_jobs(float(seconds)), 4)
        course = course_of(facts(), line, samples(seconds, IDLE))
        assert course is not None
        assert len(course.seconds) == points
        assert course.seconds[0] == pytest.approx(seconds / points / 2)
        assert course.application_bytes_per_second == pytest.approx([150e6] * points)
        assert course.device_bytes_per_second == pytest.approx([135e6] * points)
        assert course.elapsed_seconds == seconds


def test_a_gap_is_a_gap() -> None:
    line = timeline(four_jobs(20.0), 4)
    course = course_of(facts(), line, samples(10, IDLE))
    assert course is not None
    assert course.application_bytes_per_second[5] is not None
    assert course.application_bytes_per_second[15] is None


def test_without_samples_or_times_there_is_no_course() -> None:
    assert course_of(facts(), timeline(four_jobs(20.0), 4), None) is None
    assert course_of(facts(), None, samples(10, IDLE)) is None
