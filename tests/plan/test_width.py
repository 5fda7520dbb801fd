"""The most jobs side by side, against trying every set."""

from __future__ import annotations

import sys
import tracemalloc
from itertools import combinations
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mawl.plan import workload
from mawl.plan.spec import JobSpec, SessionSpec, WorkloadSpec
from mawl.plan.workload import make_plan, widest


@st.composite
def orders(draw: st.DrawFn) -> dict[str, set[str]]:
    """Orders of up to eight jobs, each waiting for some of those before it."""
    names = "abcdefgh"[: draw(st.integers(0, 8))]
    return {
        name: set(draw(st.lists(st.sampled_from(names[:number]), max_size=3))) if number else set()
        for number, name in enumerate(names)
    }


@given(orders())
def test_it_is_the_largest_set_without_order(before: dict[str, set[str]]) -> None:
    earlier: dict[str, set[str]] = {}
    for name, direct in before.items():
        earlier[name] = direct.union(*(earlier[one] for one in direct))
    free = [
        len(chosen)
        for size in range(len(before) + 1)
        for chosen in combinations(before, size)
        if not any(one in earlier[other] for one in chosen for other in chosen)
    ]
    assert widest(before) == max(free)


def test_a_crowd_and_a_chain() -> None:
    assert widest({f"job{number}": set() for number in range(404)}) == 404
    assert widest({f"job{number}": {f"job{number - 1}"} if number else set() for number in range(404)}) == 1


@given(orders(), st.integers(0, 7))
def test_a_barrier_is_no_job_and_keeps_the_order(before: dict[str, set[str]], split: int) -> None:
    """All jobs from one on wait for all before it, with one key between them instead of every pair."""
    names = list(before)
    first, second = names[:split], names[split:]
    pairs = {name: before[name] | set(first) if name in second else before[name] for name in names}
    barred = {name: before[name] | {"end of stage"} if name in second else before[name] for name in names}
    assert widest({**barred, "end of stage": set(first)}, ["end of stage"]) == widest(pairs)


def lines_run(stages: list[list[JobSpec | str]]) -> int:
    """How many lines of the module run until the plan is made and its width is known."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename != workload.__file__:
            return None
        count += event == "line"
        return trace

    spec = WorkloadSpec(name="many", sessions=[SessionSpec(name="s", stages=stages)])
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plan = make_plan(spec, where="here", scale=0.001)
        assert plan.peak_concurrent == len(stages[0])
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shape", ["stages", "jobs", "chain"])
def test_a_plan_of_twice_as_many_jobs_takes_twice_as_many_steps(shape: str) -> None:
    """So that 150,000 of them are planned in seconds."""

    def of(jobs: int) -> list[list[JobSpec | str]]:
        if shape == "chain":
            names = [f"job{number}" for number in range(jobs)]
            after = [[], *([name] for name in names)]
            return [
                [JobSpec(program="wide_sort", name=name, after=list(one))]
                for name, one in zip(names, after, strict=False)
            ]
        return [["wide_sort"]] * jobs if shape == "stages" else [["wide_sort"] * jobs]

    few, many = lines_run(of(200)), lines_run(of(400))
    assert many < 2.2 * few


def test_the_order_of_many_jobs_takes_little_memory() -> None:
    """A set of all earlier jobs for each of them takes 300 MB."""
    before = {str(number): [str(number - 1)] if number else [] for number in range(4000)}
    tracemalloc.start()
    try:
        assert widest(before) == 1
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()
