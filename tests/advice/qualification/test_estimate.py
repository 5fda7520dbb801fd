"""The interval of several runs holds what changes between jobs, times alone and runs."""

from __future__ import annotations

import pytest

from mawl.advice.capacity.slowdown import Baseline, Slowdowns, Slowed
from mawl.advice.qualification.estimate import MedianEstimate, estimate, pooled


def run(slowdown: float, alone: tuple[float, ...] = (1.0, 1.0, 1.0), jobs: int = 9) -> Slowdowns:
    """A run whose jobs are all slower than alone by one factor."""
    return Slowdowns(
        baselines=[Baseline(seconds=list(alone), parts=None)],
        jobs=[
            Slowed(job=str(number), program="p", kind=0, seconds=slowdown, parts=None)
            for number in range(jobs)
        ],
    )


def whole(*runs: Slowdowns) -> MedianEstimate:
    found = estimate(runs, "whole")
    assert found is not None
    return found


def test_runs_that_differ_widen_the_interval() -> None:
    alike, apart = whole(run(1.5), run(1.5), run(1.5)), whole(run(1.3), run(1.5), run(1.7))
    assert alike.low == pytest.approx(1.5) == alike.high == alike.median
    assert apart.low < 1.3 and apart.high > 1.7 and apart.median == 1.5


def test_one_run_and_one_time_alone_take_an_assumed_spread() -> None:
    three, one = whole(run(1.5), run(1.5), run(1.5)), whole(run(1.5))
    once = whole(run(1.5, alone=(1.0,)), run(1.5, alone=(1.0,)), run(1.5, alone=(1.0,)))
    assert one.low < three.low and once.low < one.low
    assert once.high == pytest.approx(1.5 * 2.718281828 ** (1.96 * 0.1))


def test_each_job_keeps_the_times_alone_of_its_own_run() -> None:
    both = pooled([run(2.0), run(4.0, alone=(2.0, 2.0, 2.0))])
    assert {job.kind for job in both.jobs} == {0, 1}
    assert whole(run(2.0), run(4.0, alone=(2.0, 2.0, 2.0))).median == 2.0


def test_a_part_that_no_job_has_is_not_known() -> None:
    assert estimate([run(2.0)], "storage") is None
