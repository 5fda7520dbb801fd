"""Forecasts from a calibration of known demand, against formulas of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mawl.base.errors import MawlError
from mawl.campaigns.qualify import model
from mawl.campaigns.qualify.choice import SMOKE, plan_at
from mawl.campaigns.qualify.machine import alone_workload
from mawl.campaigns.qualify.model import NO_CALIBRATION, CalibratedModel, Duration, duration_of
from mawl.measure.machine import read_machine
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import COPIES, FEWEST_FULL_SESSIONS
from mawl.plan.run_plan import plan_of
from mawl.plan.workload import Plan, make_plan
from mawl.records.model.probe import Probe
from mawl.records.model.run import NodeFacts
from mawl.records.spec.program_options import ROLES
from mawl.records.spec.run_spec import RunSpec
from mawl.records.store import open_run
from mawl.records.store.campaign import write_qualification
from mawl.simulation.demand import (
    BETWEEN_STEPS,
    Direction,
    JobDemand,
    StepDemand,
    scale_job,
)
from mawl.simulation.system import System
from tests.fakes.fitted import written
from tests.fakes.probes import MB, probe, probe_test, target
from tests.fakes.qualifications import finished_run, qualification
from tests.fakes.qualified import cluster
from tests.fakes.stored_run import facts
from tests.simulation.scenes import device, flow, scenario, step, system

CAP, AMPLE = 5.3, 400.0
"""Megabytes a second, each way."""


def bed(cap: float) -> System:
    """Each role on a device of its own, that of util capped."""
    rates = {"data": AMPLE, "work": AMPLE, "util": cap}
    devices = [device(f"disk-{role}", rate) for role, rate in rates.items()]
    return system(*devices, cores=8.0, roles={role: (f"disk-{role}",) for role in ROLES})


def probed(cap: float) -> Probe:
    """What fio finds on it."""
    return probe(
        *(
            target(
                role,
                [probe_test(way, cap if role == "util" else AMPLE, streams=1) for way in ("read", "write")],
                roles=[role],
                node="node1",
                devices=[f"disk-{role}"],
            )
            for role in ROLES
        ),
        cores=8.0,
    )


def calibrated(folder: Path, demand: Mapping[str, JobDemand], cap: float) -> CalibratedModel:
    """A model from a run of each program alone, as the simulation makes it."""
    plan = make_plan(alone_workload(), where="test", scale=SMOKE)
    of, jobs = bed(cap), {job.job: demand[job.program] for job in plan.jobs()}
    alone = scenario(of, plan, jobs)
    node = NodeFacts(name="node1", cores=8, core_basis="vCPU", memory_bytes=2**34)
    run, _ = written(folder, alone, facts(nodes=[node], planned_jobs=[]), alone_ratio=0.0)
    return CalibratedModel(run, probed(cap))


def job(program: str, *steps: StepDemand) -> JobDemand:
    return JobDemand(
        job=program, program=program, program_class=CATALOGUE[program].program_class, steps=steps
    )


def shared_equally(
    plan: Plan, work: Mapping[str, tuple[Direction, float]], bytes_per_second: float
) -> tuple[float, float]:
    """Elapsed seconds, and those until fewer than three jobs run for good.

    Each direction's rate goes in equal parts to the jobs that use it; a session makes its stages in turn.
    """
    left: dict[str, float] = {}
    stages = [list(session.stages) for session in plan.sessions]
    running: list[dict[str, Direction]] = [{} for _ in stages]
    now = turn = 0.0
    while any(stages) or any(running):
        for own, to_come in zip(running, stages, strict=True):
            if not own and to_come:
                for planned in to_come.pop(0):
                    own[planned.job], left[planned.job] = work[planned.program]
        ways = [way for own in running for way in own.values()]
        rates = {way: bytes_per_second / ways.count(way) for way in ways}
        seconds = min(left[name] / rates[way] for own in running for name, way in own.items())
        now += seconds
        turn = now if len(ways) >= 3 else turn
        for own in running:
            for name, way in list(own.items()):
                left[name] -= seconds * rates[way]
                if left[name] <= 1e-3:
                    del own[name]
    return now, turn


@pytest.mark.parametrize("longest", [1.0, 40.0])
def test_a_capped_device_is_forecast_as_equal_shares_of_each_direction_take(
    tmp_path: Path, longest: float
) -> None:
    """One program with many more bytes than the others outlasts them: that is the tail, not active."""
    work: dict[str, tuple[Direction, float]] = {
        program: ("read" if number % 2 else "write", (4.0 + number / 4) * MB)
        for number, program in enumerate(COPIES)
    }
    work["wide_sort"] = "write", 5.0 * longest * MB
    demand = {
        program: job(program, step(1e-4, flow(amount / MB, "util", way)))
        for program, (way, amount) in work.items()
    }
    mix = calibrated(tmp_path / "run", demand, CAP).mix(FEWEST_FULL_SESSIONS, SMOKE)
    elapsed, active = shared_equally(plan_at(FEWEST_FULL_SESSIONS, SMOKE), work, CAP * MB)
    assert mix.elapsed_seconds == pytest.approx(elapsed, rel=0.02)
    assert mix.active_seconds == pytest.approx(active, rel=0.02)
    assert (active < 0.6 * elapsed) == (longest > 1.0)


def test_cpu_seconds_grow_as_the_reference_times_do_on_a_core_of_half_the_speed(tmp_path: Path) -> None:
    """Every program takes twice its reference time; time outside of steps does not grow."""
    demand = {
        program: job(
            program,
            step(2.0 * CATALOGUE[program].cpu_seconds(SMOKE), kind="procedure"),
            step(0.01, kind="verify"),
            step(0.05, name=BETWEEN_STEPS),
        )
        for program in COPIES
    }
    model = calibrated(tmp_path / "run", demand, AMPLE)
    for scale in (SMOKE, 8 * SMOKE):
        for program in COPIES:
            expected = 2.0 * CATALOGUE[program].cpu_seconds(scale) + 0.05
            assert model.cpu_seconds(program, scale) == pytest.approx(expected, rel=0.01)
    reference = sum(CATALOGUE[program].cpu_seconds(SMOKE) for program in COPIES)
    assert model.core_speed == pytest.approx(reference / (2.0 * reference + 20 * 0.05), rel=0.01)


def test_the_forecast_slowdown_is_real_time_over_reference_time(tmp_path: Path) -> None:
    """Eight cores for five sessions: nobody waits, so only slow cores and the time outside of steps count."""
    demand = {program: job(program, step(3.0 * CATALOGUE[program].cpu_seconds(SMOKE))) for program in COPIES}
    mix = calibrated(tmp_path / "run", demand, AMPLE).mix(FEWEST_FULL_SESSIONS, SMOKE)
    assert mix.slowdown == pytest.approx(3.0, rel=0.01)


def test_bytes_and_waits_grow_where_cpu_does_not() -> None:
    own = job("wide_sort", step(1.0, flow(10), blocked=0.5), step(0.05, blocked=0.1, name=BETWEEN_STEPS))
    first, between = scale_job(own, 4.0, 1.5).steps
    assert (first.cpu_seconds, first.flows[0].device_bytes) == (1.5, 40 * MB)
    assert first.blocked_seconds["work"] == 2.0
    assert between.cpu_seconds == 0.05
    assert between.blocked_seconds["work"] == pytest.approx(0.4)


def test_jobs_of_the_mix_take_the_cpu_seconds_that_a_run_of_it_showed(tmp_path: Path) -> None:
    def programs(seconds: float) -> dict[str, JobDemand]:
        return {program: job(program, step(seconds)) for program in COPIES}

    calibrated(tmp_path / "alone", programs(0.1), CAP)
    calibrated(tmp_path / "mix", programs(0.12), CAP)
    alone, mix = open_run(tmp_path / "alone"), open_run(tmp_path / "mix")
    plain, slowed = CalibratedModel(alone, probed(CAP)), CalibratedModel(alone, probed(CAP), mix)
    assert plain.mutual_slowing_ratio is None
    assert slowed.mutual_slowing_ratio == pytest.approx(1.2)
    program, scale = next(iter(COPIES)), 4 * SMOKE
    assert slowed.cpu_seconds(program, scale) == pytest.approx(1.2 * plain.cpu_seconds(program, scale))
    assert slowed.mix(3, scale).slowdown == pytest.approx(1.2 * plain.mix(3, scale).slowdown)


PLAN = plan_of(RunSpec(workload="nano"))


MINUTE_A_SESSION = SimpleNamespace(elapsed_seconds=lambda plan: 60.0 * len(plan.sessions))
"""A model of 60 s a session."""


def run_here(**changes: object) -> Any:
    """A run of this machine, or of one that differs."""
    here = read_machine()
    node = {
        "cpu_model": here.cpu_model,
        "cores": here.cores,
        "cpus_used": here.confined_cpus,
        "cpu_quota": here.binding_cpu_quota,
        "memory_bytes": here.memory_bytes,
        "memory_limit_bytes": here.binding_memory_limit,
        **changes,
    }
    cache = SimpleNamespace(mode="none")
    return SimpleNamespace(facts=SimpleNamespace(nodes=[SimpleNamespace(**node)], cache=cache))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two qualifications, of this machine and of a larger one; the model says 60 s a session."""
    of = {"first": run_here(), "larger": run_here(cores=4096)}
    for name in of:
        (tmp_path / name).mkdir()
        (tmp_path / name / "qualify.json").write_text("{}")
    monkeypatch.setattr(model, "_calibration", lambda folder: of[folder.name])
    monkeypatch.setattr(model, "CalibratedModel", lambda run, probe: MINUTE_A_SESSION)
    return tmp_path


def test_a_plan_is_simulated_from_the_calibration_of_this_machine(runs: Path) -> None:
    expected = Duration(
        60.0 * len(PLAN.sessions), "simulated from the calibration of first, with --cache none"
    )
    assert duration_of(PLAN, runs) == expected


@pytest.mark.parametrize("held", [{"cpu_quota": 0.25}, {"memory_limit_bytes": 2**20}, {"cpus_used": [4095]}])
def test_a_calibration_under_other_limits_is_no_basis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: dict[str, object]
) -> None:
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "qualify.json").write_text("{}")
    monkeypatch.setattr(model, "_calibration", lambda folder: run_here(**held))
    assert duration_of(PLAN, tmp_path) == Duration(None, NO_CALIBRATION)


def test_without_a_calibration_it_says_who_makes_one(tmp_path: Path) -> None:
    assert duration_of(PLAN, tmp_path) == Duration(None, NO_CALIBRATION)


def test_a_record_that_cannot_be_read_is_no_calibration(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "qualify.json").write_text("{")
    assert duration_of(PLAN, tmp_path) == Duration(None, NO_CALIBRATION)


def test_a_program_that_was_not_calibrated_is_named(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(plan: Any) -> float:
        raise MawlError("the calibration has no time of mine")

    monkeypatch.setattr(model, "CalibratedModel", lambda run, probe: SimpleNamespace(elapsed_seconds=refuse))
    assert duration_of(PLAN, runs) == Duration(None, "the calibration has no time of mine")


@pytest.mark.parametrize(
    ("others_cpu_ratio", "nodes", "known"),
    [(0.05, 0, True), (None, 0, True), (0.3, 0, False), (0.05, 2, False)],
)
def test_a_disturbed_calibration_and_that_of_a_cluster_are_no_basis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others_cpu_ratio: float | None, nodes: int, known: bool
) -> None:
    calibration = finished_run("calibration", 1, 1, others_cpu_ratio=others_cpu_ratio)
    (tmp_path / "one").mkdir()
    record = qualification(runs=[calibration], nodes=cluster(nodes).nodes)
    write_qualification(tmp_path / "one", record)
    monkeypatch.setattr(model, "open_run", lambda folder: run_here())
    monkeypatch.setattr(model, "CalibratedModel", lambda run, probe: MINUTE_A_SESSION)
    assert (duration_of(PLAN, tmp_path).seconds is not None) == known
