"""What a run on this machine waits for, and what it takes from earlier runs: times alone, memory."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from mawl.commands import earlier_runs
from mawl.commands.earlier_runs import Peaks, SoloTimes, peaks_of, places_of, surroundings
from mawl.commands.local_run import wait_notice
from mawl.measure.machine import read_machine
from mawl.plan.derived_jobs import encoded
from mawl.plan.mix import kind_of
from mawl.plan.run_plan import plan_of
from mawl.plan.spec import SessionSpec, WorkloadSpec
from mawl.plan.workload import Plan, make_plan
from mawl.records.model.node import IoCap
from mawl.records.model.records import Usage
from mawl.records.model.run import Reference, RunFacts, VolumeFacts
from mawl.records.spec.program_options import MIB, ROLES, Arrivals
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store.folder import RunWriter
from mawl.records.volumes import Volumes
from mawl.run.runner.request import RunRequest
from tests.fakes.derived import SHOP
from tests.fakes.stored_run import facts, job


def night(tmp_path: Path, wait_seconds: float, arrivals: Arrivals = "clock") -> Plan:
    """The jobs of a shop, the first of which starts so long after the start of the night."""
    first = min(job.start_seconds for job in SHOP.jobs)
    jobs = [replace(job, start_seconds=job.start_seconds - first + wait_seconds) for job in SHOP.jobs]
    (tmp_path / "derived.json").write_bytes(encoded(replace(SHOP, jobs=type(SHOP.jobs)(jobs))))
    (tmp_path / "night.toml").write_text('name = "night"\nderived = "derived.json"\n')
    return plan_of(RunSpec(workload=str(tmp_path / "night.toml"), arrivals=arrivals))


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (2700.0, "notice: the first job of night starts 45 min 00 s into the run"),
        (10.0, None),
    ],
)
def test_a_run_says_how_long_its_first_job_waits(tmp_path: Path, wait: float, said: str | None) -> None:
    notice = wait_notice(night(tmp_path, wait))
    assert notice == (said and f"{said}; --arrivals closed ignores the clock")


def test_jobs_that_ignore_the_clock_start_at_once(tmp_path: Path) -> None:
    plan = night(tmp_path, 2700.0, "closed")
    assert (plan.first_start_seconds, wait_notice(plan)) == (0.0, None)


def test_a_job_that_follows_another_is_not_the_first(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(
        'name = "chain"\n[[sessions]]\nname = "a"\nstages = [['
        '{ program = "segmentation", name = "one", start_delay_seconds = 20 }, '
        '{ program = "segmentation", name = "two", after = ["one"] }]]\n'
    )
    plan = plan_of(RunSpec(workload=str(tmp_path / "chain.toml"), scale="0.00005"))
    assert wait_notice(plan) == "notice: the first job of chain starts 20.0 s into the run"


def test_delays_of_sessions_and_jobs_add_up(tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(
        'name = "late"\n[[sessions]]\nname = "a"\nstart_delay_seconds = 20\n'
        'stages = [[{ program = "segmentation", start_delay_seconds = 5 }], ["segmentation"]]\n'
    )
    plan = plan_of(RunSpec(workload=str(tmp_path / "late.toml"), scale="0.00005"))
    assert wait_notice(plan) == "notice: the first job of late starts 25.0 s into the run"


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


def used(plan: Plan, private: int | None, **other: Any) -> Any:
    """A finished job with ``private`` MiB, whose process had 90 MiB when it was ready."""
    return SimpleNamespace(
        job=next(plan.jobs()).job,
        outcome=other.get("outcome", "finished"),
        verified=True,
        reason=None,
        private_memory_bytes=None if private is None else private * MIB,
        usage=Usage(os_memory_bytes=100 * MIB, memory_bytes=other.get("beyond", 10 * MIB)),
    )


def test_the_largest_peak_of_a_kind_counts() -> None:
    plan = planned()
    kind = kind_of(next(plan.jobs()))
    found = peaks_of(plan, [used(plan, 20), used(plan, 30)], "r")[kind]
    assert (found.private_bytes, found.ready_bytes, found.jobs) == (30 * MIB, 90 * MIB, 2)


def test_jobs_without_a_peak_or_an_answer_leave_none() -> None:
    plan = planned()
    jobs = [used(plan, None), used(plan, 5, beyond=None), used(plan, 9, outcome="failed")]
    assert peaks_of(plan, jobs, "r") == {}


def test_runs_add_up_and_the_largest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned()
    store = Peaks(plan, RunSpec(runs=str(tmp_path)))
    # Within the margin of a plan a later peak changes nothing: a limit that was enough stays enough.
    for number, most in enumerate((100, 130, 110, 133)):
        stored = SimpleNamespace(
            job_records=lambda most=most: [used(plan, most)], facts=SimpleNamespace(run_id=f"r{number}")
        )
        monkeypatch.setattr(earlier_runs, "open_run", lambda _, stored=stored: stored)
        store.keep(plan, tmp_path)
    (found,) = store.known().values()
    assert (found.private_bytes, found.jobs, found.run_id) == (130 * MIB, 4, "r1")
    assert Peaks(plan, RunSpec(runs=str(tmp_path), start="spawn")).known() == {}
    assert Peaks(planned("forecasting"), RunSpec(runs=str(tmp_path))).known() == {}
