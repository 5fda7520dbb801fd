"""The memory that the jobs of runs really used.

What a time alone depends on.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mawl.commands import earlier_runs
from mawl.commands.earlier_runs import Peaks, peaks_of, places_of, surroundings
from mawl.measure.machine import read_machine
from mawl.plan.mix import kind_of
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, make_plan
from mawl.records.model.node import IoCap
from mawl.records.model.records import Usage
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import MIB, ROLES
from mawl.records.spec.run_spec import RunSpec
from mawl.records.volumes import Volumes


def of(tmp_path: Path, **limits: object) -> dict[str, Any]:
    plan = SimpleNamespace(seed=1, saving=0.9)
    asked: Any = SimpleNamespace(plan=plan, cpus=None, spec=RunSpec())
    machine = msgspec.structs.replace(read_machine(), **limits)
    return dict(surroundings(asked, Volumes({role: [tmp_path] for role in ROLES}), machine))


def test_another_disk_or_cap_under_the_same_path_is_another_condition() -> None:
    disk = VolumeFacts(role="work", node="n", directory="/w", file_system="xfs", source="/dev/sda1", caps=[])
    cap = IoCap(device="sda", direction="write", bytes_per_second=40_000_000, file="io.max", carries=[])
    other = msgspec.structs.replace(disk, source="/dev/nvme0n1")
    capped = msgspec.structs.replace(disk, caps=[cap])
    assert places_of([disk, other, capped]) == [
        "work xfs /dev/sda1",
        "work xfs /dev/nvme0n1",
        "work xfs /dev/sda1 write at most 40.0 MB/s",
    ]


@pytest.mark.parametrize("limits", [{"cpu_quota_cores": 0.25}, {"memory_limit_bytes": 2**20}])
def test_another_limit_of_the_container_is_another_condition(tmp_path: Path, limits: dict[str, Any]) -> None:
    assert of(tmp_path, **limits) != of(tmp_path)


def test_another_library_is_another_condition(tmp_path: Path) -> None:
    assert any(package.startswith("numpy ") for package in of(tmp_path)["libraries"])


def planned(program: str = "wide_sort") -> Plan:
    spec = WorkloadSpec(name="peaks", sessions=[SessionSpec(name="s", stages=[[program]])])
    return make_plan(spec, where="test", scale=0.01)


def job(plan: Plan, private: int | None, **other: Any) -> Any:
    """A finished job with ``private`` MiB, whose process had 90 MiB when it was ready."""
    return SimpleNamespace(
        job=next(plan.jobs()).job,
        outcome=other.get("outcome", "finished"),
        verified=True,
        private_memory_bytes=None if private is None else private * MIB,
        usage=Usage(os_memory_bytes=100 * MIB, memory_bytes=other.get("beyond", 10 * MIB)),
    )


def test_the_largest_peak_of_a_kind_counts() -> None:
    plan = planned()
    kind = kind_of(next(plan.jobs()))
    found = peaks_of(plan, [job(plan, 20), job(plan, 30)], "r")[kind]
    assert (found.private_bytes, found.ready_bytes, found.jobs) == (30 * MIB, 90 * MIB, 2)


def test_jobs_without_a_peak_or_an_answer_leave_none() -> None:
    plan = planned()
    jobs = [job(plan, None), job(plan, 5, beyond=None), job(plan, 9, outcome="failed")]
    assert peaks_of(plan, jobs, "r") == {}


def test_runs_add_up_and_the_largest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned()
    store = Peaks(plan, RunSpec(runs=str(tmp_path)))
    # Within the margin of a plan a later peak changes nothing: a limit that was enough stays enough.
    for number, most in enumerate((100, 130, 110, 133)):
        stored = SimpleNamespace(
            job_records=lambda most=most: [job(plan, most)], facts=SimpleNamespace(run_id=f"r{number}")
        )
        monkeypatch.setattr(earlier_runs, "open_run", lambda _, stored=stored: stored)
        store.keep(plan, tmp_path)
    (found,) = store.known().values()
    assert (found.private_bytes, found.jobs, found.run_id) == (130 * MIB, 4, "r1")
    assert Peaks(plan, RunSpec(runs=str(tmp_path), start="spawn")).known() == {}
    assert Peaks(planned("forecasting"), RunSpec(runs=str(tmp_path))).known() == {}
