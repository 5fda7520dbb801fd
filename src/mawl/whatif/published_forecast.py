"""The papers' workload on the papers' systems: mawl's mix at full scale, scaled by six fitted numbers.

docs/design/published-forecasts.md has the equations and the fit.  ``python -m tools.published_fit`` prints
the numbers of ``FITTED``; with ``--held-out`` those of ``HELD_OUT``, for each paper fitted on the systems of
the other papers.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mawl.figures.sessions import window_seconds
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.mix import CPU_WEIGHTS
from mawl.plan.programs import Pass, Program, Step
from mawl.plan.workload import JobPlan, Plan, load_workload, make_plan
from mawl.records.spec.program_options import ROLES, Role
from mawl.simulation.activity import Calibration
from mawl.simulation.demand import Direction, Flow, JobDemand, StepDemand
from mawl.simulation.engine import SimulatedJob, SimulationOutcome, active_seconds
from mawl.simulation.recording import SimulationRecording
from mawl.simulation.resources import CORES
from mawl.simulation.scenario import Scenario, run_scenario
from mawl.whatif.published_system import (
    PublishedSystem,
    Store,
    block_bytes,
    missed_ratio,
    random_seconds,
    sessions_of,
    stream_seconds,
    system_of,
    value,
)

Floats = NDArray[np.float64]

FULL_SCALE = 1.0
NO_LIMIT_RATIO = 0.1
"""Below this share of job time nothing was waited for enough to be called the limit."""


@dataclass(frozen=True, kw_only=True)
class FittedNumbers:
    """The fitted numbers, all of them; none belongs to one figure.

    ``cpu_ratio``: CPU seconds of the papers' jobs, on the core of s822-xiv-20, over the weights by which
    mawl's are dealt (``CPU_WEIGHTS``); cores of other systems by their clocks.  ``bytes_ratio``: bytes at
    the devices per declared application byte.  ``stream_bytes_per_second``: what one stream gets through a
    parallel file system, however fast the storage.  ``unhidden_ratio``: in addition, a thread waits for this
    part of the time of each request of its stream; read-ahead and write-behind hide the rest.  ``threads``:
    of a procedure step; they compute and wait at the same time.  ``waiting_cpu_ratio``: CPU seconds charged
    per second blocked, where the system's accounting does so (``waits_on_cpu``).
    """

    cpu_ratio: float
    bytes_ratio: float
    stream_bytes_per_second: float
    unhidden_ratio: float
    threads: float
    waiting_cpu_ratio: float


FITTED = FittedNumbers(
    cpu_ratio=0.813,
    bytes_ratio=0.7143,
    stream_bytes_per_second=6.485e08,
    unhidden_ratio=0.4972,
    threads=1.447,
    waiting_cpu_ratio=0.4167,
)
"""Printed by ``python -m tools.published_fit``, from s822-xiv-20 and dl980-spinning-30 alone."""


@dataclass(frozen=True, kw_only=True)
class PublishedForecast:
    """What the model says of a system: figures by the names of the published results, and the limit."""

    system: PublishedSystem
    figures: Mapping[str, float]
    limit: str


def forecast(one: PublishedSystem, fitted: FittedNumbers) -> PublishedForecast:
    """Simulate the system's workload on each of its nodes."""
    plan = plan_of(one)
    system = system_of(one)
    jobs = {job.job: _demand(job, one, fitted) for job in plan.jobs()}
    scenario = Scenario(system=system, plans=(plan,), jobs=jobs)
    outcome = run_scenario(scenario, Calibration(own=system, alone_ratio=1.0))
    active = active_seconds(outcome, one.nodes * sessions_of(one))
    return PublishedForecast(
        system=one, figures=_figures(one, plan, outcome, fitted, active), limit=_limit(outcome, active)
    )


@cache
def _plan(workload: str) -> Plan:
    spec, where = load_workload(workload)
    return make_plan(spec, where=where, scale=FULL_SCALE)


def plan_of(system: PublishedSystem) -> Plan:
    """The plan of one node."""
    return _plan(system.workload)


def _demand(plan: JobPlan, system: PublishedSystem, fitted: FittedNumbers) -> JobDemand:
    program = CATALOGUE[plan.program]
    stores = {role: store for store in system.devices for role in store.roles}
    steps = [step for step in program.steps if step.kind != "verify"]
    flows = {step.name: _flows(program, step, stores, fitted) for step in steps}
    moved = {name: sum(flow.application_bytes for flow in of) for name, of in flows.items()}
    shares = _cpu_shares(program, steps, moved)
    cpu = CPU_WEIGHTS[plan.program] * fitted.cpu_ratio
    return JobDemand(
        job=plan.job,
        program=program.name,
        program_class=program.program_class,
        steps=tuple(
            StepDemand(
                name=step.name,
                kind=step.kind,
                cpu_seconds=cpu * shares[step.name],
                threads=fitted.threads if step.kind == "procedure" else 1.0,
                flows=flows[step.name],
                blocked_seconds=_blocked(flows[step.name], step, plan, system, fitted),
            )
            for step in steps
        ),
    )


def _flows(
    program: Program, step: Step, stores: Mapping[Role, Store], fitted: FittedNumbers
) -> tuple[Flow, ...]:
    """What the passes of a step move: in blocks of the file system, or in its own requests at random."""
    found = []
    for direction, one in _passes(step):
        role, size = program.table_size(one.table, FULL_SCALE)
        moved = math.ceil(size * one.share)
        found.append(
            Flow(
                role=role,
                direction=direction,
                application_bytes=float(moved),
                device_bytes=moved * fitted.bytes_ratio,
                request_bytes=float(one.random_bytes or block_bytes(stores[role])),
                sequential_ratio=0.0 if one.random_bytes else 1.0,
            )
        )
    return tuple(found)


def _passes(step: Step) -> Iterator[tuple[Direction, Pass]]:
    for one in step.reads:
        yield "read", one
    for one in step.writes:
        yield "write", one


def _cpu_shares(program: Program, steps: list[Step], moved: Mapping[str, float]) -> dict[str, float]:
    """A step's part of its program's CPU seconds: by bytes, or mostly in its procedures."""
    total = sum(moved.values())
    by_bytes = {name: size / total for name, size in moved.items()}
    procedures = [step.name for step in steps if step.kind == "procedure"]
    if program.program_class == "io" or not procedures:
        return by_bytes
    kept = value("procedure_cpu_ratio")
    return {
        name: share * (1 - kept) + (kept / len(procedures) if name in procedures else 0.0)
        for name, share in by_bytes.items()
    }


def _requests(flow: Flow) -> float:
    """Requests of a flow that reach the devices."""
    assert flow.request_bytes is not None, "every flow of a published system has the size of its requests"
    return flow.device_bytes / flow.request_bytes


def _blocked(
    flows: Sequence[Flow], step: Step, plan: JobPlan, system: PublishedSystem, fitted: FittedNumbers
) -> dict[Role, float]:
    """Seconds that a step waits for each role even alone.

    A job waits for the whole time of random requests, since nothing reads ahead of them; ``queue_depth`` of
    them are under way at a time.  It waits for a part of the time of a stream's requests (read-ahead and
    write-behind hide the rest), and for the rate that a parallel file system gives one stream.  The threads
    of a procedure wait at the same time.
    """
    program = CATALOGUE[plan.program]
    stores = {role: store for store in system.devices for role in store.roles}
    threads = fitted.threads if step.kind == "procedure" else 1.0
    found: dict[Role, float] = dict.fromkeys(ROLES, 0.0)
    for flow, (_, made) in zip(flows, _passes(step), strict=True):
        store, requests = stores[flow.role], _requests(flow)
        if made.random_bytes is not None:
            places = program.table_size(made.table, FULL_SCALE)[1] / made.random_bytes
            missed = missed_ratio(store, flow.direction, places, flow.application_bytes / made.random_bytes)
            seconds = missed * random_seconds(store, made.random_bytes)
            seconds += (1.0 - missed) * value("array_cache_latency_seconds")
            found[flow.role] += requests * seconds / plan.options.queue_depth
            continue
        seconds = requests * stream_seconds(system, store) * fitted.unhidden_ratio
        if system.parallel_file_system is not None:
            seconds += flow.device_bytes / fitted.stream_bytes_per_second
        found[flow.role] += seconds / threads
    return found


@dataclass(frozen=True)
class _JobTimes:
    real: float
    user: float
    system: float

    @property
    def cpu(self) -> float:
        return self.user + self.system


def _figures(
    system: PublishedSystem, plan: Plan, outcome: SimulationOutcome, fitted: FittedNumbers, active: float
) -> dict[str, float]:
    counts = [group.count for group in outcome.resources.groups]
    jobs = [_times(run_, outcome, system, fitted) for run_ in outcome.jobs]
    weights = [counts[run_.group] for run_ in outcome.jobs]
    ratios = [job.cpu / job.real for job in jobs]
    found = {
        "time.real_time_seconds": _sum([job.real for job in jobs], weights),
        "time.user_cpu_seconds": _sum([job.user for job in jobs], weights),
        "time.system_cpu_seconds": _sum([job.system for job in jobs], weights),
        "time.memory_bytes": system.nodes
        * float(sum(CATALOGUE[job.program].memory_bytes(job.options) for job in plan.jobs())),
        "time.elapsed_seconds": outcome.elapsed_seconds,
        "time.active_seconds": active,
        "cpu_real_ratio.mean": statistics.fmean(ratios),
        "cpu_real_ratio.stddev": statistics.stdev(ratios),
        "cpu_real_ratio.range": max(ratios) - min(ratios),
        "cpu_busy_ratio": _busy(outcome, active),
    }
    found["cpu_real_ratio.above_one"] = float(
        found["time.user_cpu_seconds"] + found["time.system_cpu_seconds"] > found["time.real_time_seconds"]
    )
    return {**found, **_throughput(system, outcome, counts, active)}


def _times(
    job: SimulatedJob, outcome: SimulationOutcome, system: PublishedSystem, fitted: FittedNumbers
) -> _JobTimes:
    speed = outcome.resources.groups[job.group].kind.core_speed
    cpu = sum(step.activity.step.cpu_seconds for step in job.steps) / speed
    flows = [flow for step in job.steps for flow in step.activity.step.flows]
    copied = sum(flow.device_bytes for flow in flows) * value("system_seconds_per_byte")
    asked = sum(map(_requests, flows)) * value("system_seconds_per_request")
    kernel = min((copied + asked) / speed, cpu)
    blocked = sum(sum(step.blocked().values()) for step in job.steps)
    charged = fitted.waiting_cpu_ratio * blocked if system.waits_on_cpu else 0.0
    logged = value(system.thread_share) if system.logs_core_share else 1.0
    return _JobTimes(
        real=job.ended - job.started, user=(cpu - kernel) * logged, system=(kernel + charged) * logged
    )


def _sum(values: list[float], weights: list[int]) -> float:
    return sum(value_ * weight for value_, weight in zip(values, weights, strict=True))


def _busy(outcome: SimulationOutcome, active: float) -> float:
    used = capacity = 0.0
    for group, one in enumerate(outcome.resources.groups):
        column = outcome.resources.column(group, CORES)
        assert column is not None, "every node has cores"
        taken = np.interp(active, outcome.recording.times, outcome.recording.used(group, column))
        used += float(taken) * one.count
        capacity += one.count * one.kind.cores * one.kind.core_speed * active
    return used / capacity


def _throughput(
    system: PublishedSystem, outcome: SimulationOutcome, counts: list[int], active: float
) -> dict[str, float]:
    recording, seconds = outcome.recording, window_seconds(active)
    edges = np.append(np.arange(0.0, active - seconds / 2, seconds), active)
    moved = {way: _moved(recording, counts, f"device.{way}") for way in ("read", "write")}
    rates = {
        way: np.diff(np.interp(edges, recording.times, sums)) / np.diff(edges) for way, sums in moved.items()
    }
    total = rates["read"] + rates["write"]
    read, written = (float(moved[way][-1]) for way in ("read", "write"))
    by_role = {
        role: sum(float(_moved(recording, counts, f"role.{role}.{way}")[-1]) for way in ("read", "write"))
        for role in ROLES
    }
    sustained = float(np.median(total))
    return {
        "device.read_bytes": read,
        "device.written_bytes": written,
        "device.read_ratio": read / (read + written),
        "device.work_util_ratio": 1.0 - by_role["data"] / sum(by_role.values()),
        "device.peak.total_bytes_per_second": float(total.max()),
        "device.peak.read_bytes_per_second": float(rates["read"].max()),
        "device.peak.write_bytes_per_second": float(rates["write"].max()),
        "device.initial.total_bytes_per_second": float(total[0]),
        "device.sustained.total_bytes_per_second": sustained,
        "device.lowest.total_bytes_per_second": float(total.min()),
        "device.sustained_bytes_per_second_per_core": sustained
        / sum(cores.value * cores.count for cores in system.cores),
    }


def _moved(recording: SimulationRecording, counts: list[int], name: str) -> Floats:
    return np.asarray(sum(recording.cumulative(group, name) * count for group, count in enumerate(counts)))


def _limit(outcome: SimulationOutcome, active: float) -> str:
    """What jobs waited for most in the active phase beyond what each has alone: a paper's word for it."""
    shares = outcome.recording.limits(0.0, active)
    total = sum(shares.values())
    waits = {name: share for name, share in shares.items() if name != "cpu" and not name.startswith("alone.")}
    if not waits or sum(waits.values()) < NO_LIMIT_RATIO * total:
        return "none"
    most = max(waits, key=lambda name: waits[name])
    return {"cores": "cpu", "link": "network", "fabric": "network"}.get(most, "storage")


HELD_OUT: dict[str, FittedNumbers] = {
    "dl980-ioscale-2014": FittedNumbers(
        cpu_ratio=1.167,
        bytes_ratio=0.7317,
        stream_bytes_per_second=7.317e08,
        unhidden_ratio=0.2214,
        threads=1.667,
        waiting_cpu_ratio=0.5,
    ),
    "power-s822-2015": FittedNumbers(
        cpu_ratio=0.7551,
        bytes_ratio=0.9524,
        stream_bytes_per_second=3.803e08,
        unhidden_ratio=0.3604,
        threads=1.389,
        waiting_cpu_ratio=0.3969,
    ),
    "power-e880-2016": FittedNumbers(
        cpu_ratio=0.6969,
        bytes_ratio=0.7143,
        stream_bytes_per_second=4.417e08,
        unhidden_ratio=0.5378,
        threads=1.572,
        waiting_cpu_ratio=0.4026,
    ),
    "power-e880-2017": FittedNumbers(
        cpu_ratio=0.9371,
        bytes_ratio=0.8333,
        stream_bytes_per_second=4.68e08,
        unhidden_ratio=0.3037,
        threads=1.549,
        waiting_cpu_ratio=0.5575,
    ),
    "power-e980-fs9150": FittedNumbers(
        cpu_ratio=0.8232,
        bytes_ratio=0.7317,
        stream_bytes_per_second=6.064e08,
        unhidden_ratio=0.4393,
        threads=1.443,
        waiting_cpu_ratio=0.4545,
    ),
}
"""Key of a paper to the numbers that were fitted without it."""
