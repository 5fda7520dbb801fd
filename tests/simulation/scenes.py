"""Small plans and systems for the engine, with round numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mawl.plan.workload import JobPlan, Plan, SessionPlan
from mawl.records.spec.program_options import Options, Role
from mawl.simulation.activity import Calibration
from mawl.simulation.demand import Direction, Flow, JobDemand, StepDemand
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.scenario import Scenario, run_scenario
from mawl.simulation.system import Device, NodeKind, System

MB = 1e6


def step(cpu: float = 0.0, *flows: Flow, blocked: float = 0.0, other: float = 0.0, **more: Any) -> StepDemand:
    """A step of ``cpu`` seconds; ``blocked`` seconds are of work."""
    waits: dict[Role, float] = {"data": 0.0, "work": blocked, "util": 0.0}
    return StepDemand(
        **{
            "name": "step",
            "kind": "data",
            "cpu_seconds": cpu,
            "flows": flows,
            "other_seconds": other,
            **more,
        },
        blocked_seconds=waits,
    )


def flow(megabytes: float, role: Role = "work", direction: Direction = "write") -> Flow:
    """Sequential bytes, all of which reach the device."""
    return Flow(
        role=role,
        direction=direction,
        application_bytes=megabytes * MB,
        device_bytes=megabytes * MB,
        request_bytes=MB,
        sequential_ratio=1.0,
    )


def device(name: str = "disk", rate: float = 100.0, **more: Any) -> Device:
    """``rate`` megabytes a second in each direction."""
    return Device(
        name=name,
        **{"read_bytes_per_second": rate * MB, "write_bytes_per_second": rate * MB, "local": True, **more},
    )


def system(*devices: Device, count: int = 1, cores: float = 8.0, **more: Any) -> System:
    """``count`` nodes; the roles lie on the first device, or where ``roles`` says."""
    of_system = {name: more.pop(name) for name in ("fabric_bytes_per_second",) if name in more}
    held = devices or (device(),)
    roles = more.pop("roles", None) or dict.fromkeys(("data", "work", "util"), (held[0].name,))
    kind = NodeKind(**{"count": count, "cores": cores, "memory_bytes": 2.0**34, "roles": roles, **more})
    return System(name="scene", nodes=(kind,), devices=held, **of_system)


def plan(sessions: Sequence[Sequence[Sequence[str]]], **delays: float) -> Plan:
    """Sessions of stages of jobs, by name; ``delays`` are by session (s1, s2, ...)."""
    made = []
    for number, stages in enumerate(sessions, start=1):
        name = f"s{number}"
        jobs = tuple(
            tuple(
                JobPlan(
                    job=job,
                    program="wide_sort",
                    session=name,
                    stage=place,
                    replica=1,
                    scale=1.0,
                    options=Options(),
                )
                for job in stage
            )
            for place, stage in enumerate(stages, start=1)
        )
        made.append(SessionPlan(name=name, stages=jobs, start_delay_seconds=delays.get(name, 0.0)))
    return Plan(
        workload="scene",
        title="A scene",
        scale=1.0,
        seed=1,
        saving=0.9,
        options=Options(),
        sessions=tuple(made),
    )


def demands(steps: Mapping[str, Sequence[StepDemand]]) -> dict[str, JobDemand]:
    """Jobs of one program by name."""
    return {
        name: JobDemand(
            job=name, program="wide_sort", program_class="io", steps=tuple(of_job), memory_bytes=1e8
        )
        for name, of_job in steps.items()
    }


def side_by_side(steps: Sequence[Sequence[StepDemand]]) -> tuple[Plan, dict[str, JobDemand]]:
    """One session for each job."""
    names = [f"job{number}" for number in range(1, len(steps) + 1)]
    return plan([[[name]] for name in names]), demands(dict(zip(names, steps, strict=True)))


def scenario(of: System, plans: Plan, jobs: Mapping[str, JobDemand]) -> Scenario:
    """Every node runs the plan."""
    return Scenario(system=of, plans=(plans,), jobs=jobs)


def simulated(
    of: System, plans: Plan, jobs: Mapping[str, JobDemand], alone_ratio: float = 0.0
) -> SimulationOutcome:
    """The outcome on a system that is the measured one, too."""
    return run_scenario(scenario(of, plans, jobs), Calibration(of, alone_ratio))
