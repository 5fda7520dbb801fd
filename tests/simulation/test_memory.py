"""Other memory: what stays in the page cache of what a run asked for."""

from __future__ import annotations

import msgspec
import pytest

from mawl.plan.catalogue import CATALOGUE
from mawl.plan.workload import Plan, load_workload, make_plan
from mawl.simulation.demand import Flow, JobDemand
from mawl.simulation.memory import other_cache
from mawl.simulation.reach import reach_of
from tests.simulation.scenes import demands, side_by_side, step

GIB = 2.0**30


def plan(scale: float = 0.02) -> Plan:
    spec, where = load_workload("mixed20")
    return make_plan(spec, where=where, catalogue=CATALOGUE, scale=scale)


def asked(device_read: float) -> dict[str, JobDemand]:
    """One job that asked for 100 bytes, of which so many reached the device."""
    flow = Flow(role="data", direction="read", application_bytes=100.0, device_bytes=device_read)
    return demands({"j": [step(0.0, flow)]})


def device_bytes(jobs: dict[str, JobDemand]) -> float:
    return jobs["j"].steps[0].flows[0].device_bytes


def test_hits_change_as_those_of_the_model() -> None:
    small, large = 8 * GIB, 32 * GIB
    found, remarks = other_cache(asked(80.0), (plan(), small), (plan(), large))
    assert remarks == ()
    old, new = (reach_of(plan(), memory).read_ratio for memory in (small, large))
    assert old is not None and new is not None and new < old < 1.0
    assert device_bytes(found) == pytest.approx(max(100.0 - 20.0 * (1.0 - new) / (1.0 - old), 0.0))
    assert device_bytes(other_cache(asked(80.0), (plan(), large), (plan(), small))[0]) > 80.0


def test_the_same_memory_and_a_job_without_hits_stay() -> None:
    assert other_cache(asked(80.0), (plan(), GIB), (plan(), GIB)) == (asked(80.0), ())
    assert other_cache(asked(100.0), (plan(), 8 * GIB), (plan(), 32 * GIB)) == (asked(100.0), ())


def test_programs_that_declare_no_bytes_keep_their_reach() -> None:
    (session,) = side_by_side([[]])[0].sessions
    ((job,),) = session.stages
    own = msgspec.structs.replace(job, program="of_their_own")
    sessions = (msgspec.structs.replace(session, stages=((own,),)),)
    undeclared = msgspec.structs.replace(plan(), sessions=sessions)
    assert reach_of(undeclared, GIB).read_ratio is None
    found, (remark,) = other_cache(asked(80.0), (undeclared, GIB), (undeclared, 8 * GIB))
    assert found == asked(80.0)
    assert remark.endswith("the bytes of of_their_own are not declared")
