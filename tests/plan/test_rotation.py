"""Where jobs begin in the rotation: declared bytes come out even, whatever the mix."""

from __future__ import annotations

import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.needs import _files, _with_files, turns
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.records.spec.program_options import ROLES


@pytest.fixture(scope="module")
def mixed20() -> Plan:
    spec, where = load_workload("mixed20")
    return make_plan(spec, where=where, scale=0.05)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_declared_bytes_of_mixed20_are_even_over_the_volumes(mixed20: Plan, count: int) -> None:
    first = turns(mixed20, dict.fromkeys(ROLES, count), "rotation")
    moved = [0] * count
    for job in mixed20.jobs():
        moved = _with_files(moved, _files(CATALOGUE[job.program], job, "work"), first[job.job]["work"])
    assert sum(moved) > 0
    assert (max(moved) - min(moved)) / (sum(moved) / count) < 0.03


def test_without_it_one_volume_would_get_several_times_the_bytes_of_another(mixed20: Plan) -> None:
    moved = [0] * 4
    for job in mixed20.jobs():
        moved = _with_files(moved, _files(CATALOGUE[job.program], job, "work"), 0)
    assert max(moved) > 3 * min(moved)


def test_the_same_plan_has_the_same_turns_and_every_job_its_own(mixed20: Plan) -> None:
    counts = dict.fromkeys(ROLES, 4)
    first = turns(mixed20, counts, "rotation")
    assert first == turns(mixed20, counts, "rotation")
    assert first.keys() == {job.job for job in mixed20.jobs()}
    points = [turn["work"] for turn in turns(mixed20, counts, "free-space").values()]
    assert sorted(points) == list(range(len(points))), "no two jobs choose by the same point"
