"""Jobs by state in each window: numbers of jobs, which add up to those that ran."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.figures.sessions import Rates
from mawl.figures.waits import states
from mawl.records.model.records import BOUNDED, STATES

JOBS = st.floats(0.0, 1e3)
SOME = st.fixed_dictionaries(dict.fromkeys(STATES, JOBS))


def found_of(running: float, series: dict[str, float]) -> list[object]:
    def rate(name: str) -> Rates:
        return [series.get(name)]

    return list(states([running], rate, [5.0], [0.0]))


def followed(first: dict[str, float], joined: dict[str, float]) -> dict[str, float]:
    ends = {f"jobs.joined.{name}_{end}_seconds": 0.0 for name in BOUNDED for end in ("least", "most")}
    return {
        **ends,
        **{f"jobs.followed.{state}_seconds": value for state, value in first.items()},
        **{f"jobs.joined.{state}_seconds": value for state, value in joined.items()},
    }


@given(st.floats(0.1, 1e3), SOME, SOME)
def test_states_add_up_to_the_jobs_that_ran(
    running: float, first: dict[str, float], joined: dict[str, float]
) -> None:
    (found,) = states([running], lambda name: [followed(first, joined).get(name)], [5.0], [0.0])
    assert found is not None
    assert min(found.on_cpu, found.run_queue, *found.blocked.values()) >= 0.0
    whole = found.on_cpu + found.run_queue + sum(found.blocked.values())
    assert whole == pytest.approx(running, rel=1e-9)


def test_one_busy_helper_does_not_hide_a_job_that_waits() -> None:
    first = {**dict.fromkeys(STATES, 0.0), "work": 0.95, "on_cpu": 0.05}
    (found,) = states(
        [1.0],
        lambda name: [followed(first, {**dict.fromkeys(STATES, 0.0), "on_cpu": 0.0}).get(name)],
        [5.0],
        [0.0],
    )
    assert found is not None and found.blocked["work"] == pytest.approx(0.95)


def old(on_cpu: float, work: float) -> dict[str, float]:
    waited = {f"role.{role}.waited_seconds": 0.0 for role in ("data", "work", "util")}
    return {
        **waited,
        "jobs.on_cpu_seconds": on_cpu,
        "jobs.run_queue_seconds": 0.0,
        "role.work.waited_seconds": work,
    }


def test_sums_over_threads_of_an_older_run_are_told_where_they_fit_and_not_where_they_do_not() -> None:
    assert found_of(1.0, old(1.0, 0.95)) == [None]
    (fits,) = states([1.0], lambda name: [old(0.25, 0.5).get(name)], [5.0], [0.0])
    assert fits is not None
    expected = {"data": 0.0, "work": 0.5, "util": 0.0, "other": 0.25, "unknown": 0.0}
    assert fits.blocked == pytest.approx(expected)


def test_a_part_that_is_missing_tells_nothing() -> None:
    lacking = old(0.25, 0.5)
    del lacking["role.util.waited_seconds"]
    assert found_of(1.0, lacking) == [None]
