"""Runs of each program alone before a run (``mawl run --solo``)."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mawl.commands.earlier_runs import SoloTimes
from mawl.measure.machine import read_machine
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import make_plan
from mawl.records.model.run import Reference, RunFacts
from mawl.records.spec.program_options import ROLES
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.folder import RunWriter
from mawl.records.volumes import Volumes
from mawl.run.runner.request import RunRequest
from tests.fakes.stored_run import facts, job


def test_times_alone_are_measured_anew_and_stored_ones_are_used_if_asked(
    tmp_path: Path,
) -> None:
    stages: list[list[str]] = [["wide_sort"], ["forecasting"], ["wide_sort"]]
    spec = WorkloadSpec(name="w", sessions=[SessionSpec(name="s", stages=[list(one) for one in stages])])
    plan = make_plan(spec, where="test", scale=0.005)
    first, second, third = (one.job for one in plan.jobs())
    asked: list[RunRequest] = []

    def carry(request: RunRequest) -> RunFacts:
        asked.append(request)
        done = facts(outcome="completed", planned_jobs=[])
        writer = RunWriter(request.folder, msgspec.structs.replace(done, outcome="running"))
        for one in request.plan.jobs():
            writer.job(job("s1-1", 0.0, 8.5 + len(asked), job=one.job, program=one.program))
        writer.finish(done)
        return done

    def times(*, stored: bool) -> SoloTimes:
        request = RunRequest(
            run_id="run",
            folder=tmp_path / f"run-{len(asked)}",
            plan=plan,
            inputs={},
            spec=RunSpec(solo="stored" if stored else True),
            reference=Reference(version=1),
        )
        return SoloTimes(request, Volumes({role: [tmp_path] for role in ROLES}), tmp_path, read_machine())

    measured = times(stored=False)
    measured.measure(carry)
    assert [one.run_id for one in asked] == ["run-alone-1", "run-alone-2", "run-alone-3"]
    assert all(request.reference == Reference(version=None) for request in asked), "no answer of such a run"
    alone = {one.program: one for one in measured.alone()}
    assert (alone["wide_sort"].jobs, alone["forecasting"].jobs) == ([first, third], [second])
    assert alone["wide_sort"].real_time_seconds == 10.0, "the middle of 9, 10 and 11 s"
    again = times(stored=True)
    assert again.measure(carry) is None and len(asked) == 3
    assert again.alone() == measured.alone()
    times(stored=False).measure(carry)
    assert len(asked) == 6, "without `stored` they are measured anew"
