"""What a plan needs: of each session its largest stage, since stages follow one another."""

from __future__ import annotations

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import SPACE_MARGIN, ZYGOTE_BYTES, needs
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, make_plan


def planned(*sessions: list[list[str]]) -> Plan:
    """A plan of sessions, each a list of stages."""
    made = [
        SessionSpec(name=f"s{number}", stages=[list(stage) for stage in stages])
        for number, stages in enumerate(sessions, start=1)
    ]
    spec = WorkloadSpec(name="needed", sessions=made)
    return make_plan(spec, where="test", catalogue=CATALOGUE, scale=0.01)


def memory(plan: Plan) -> int:
    return needs(plan, CATALOGUE, spawn=False).memory_bytes - ZYGOTE_BYTES


def test_memory_is_that_of_the_largest_stage_of_each_session_side_by_side() -> None:
    sort, forecast = memory(planned([["wide_sort"]])), memory(planned([["forecasting"]]))
    assert sort != forecast
    assert memory(planned([["wide_sort"], ["forecasting"]])) == max(sort, forecast)
    assert memory(planned([["forecasting"], ["wide_sort"]])) == max(sort, forecast)
    assert memory(planned([["wide_sort", "forecasting"]])) == sort + forecast
    assert memory(planned([["wide_sort"]], [["forecasting"]])) == sort + forecast


@pytest.mark.parametrize("role", ["work", "util"])
def test_space_of_work_and_util_too(role: str) -> None:
    def space(plan: Plan) -> int:
        return needs(plan, CATALOGUE, spawn=False).space_bytes[role]  # type: ignore[index]

    alone = space(planned([["wide_sort"]]))
    assert alone > 0
    assert space(planned([["wide_sort"], ["segmentation"]])) == max(alone, space(planned([["segmentation"]])))
    assert space(planned([["wide_sort"]], [["wide_sort"]])) == pytest.approx(2 * alone, abs=SPACE_MARGIN)
