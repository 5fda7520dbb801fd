"""What jobs ask for, step by step: CPU, bytes by role and direction, memory, and waits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from mawl.plan.workload import Plan
from mawl.records.spec.program_options import Options, Role
from mawl.simulation.page_cache import MovedBytes, MovedWays, PushedOut, WriteBack
from mawl.simulation.reach import DeviceReach, ShownJob, reach_of

USUAL_REQUEST_BYTES = Options().bufsize_bytes
"""Where request sizes were not measured."""

Direction = Literal["read", "write"]

BETWEEN_STEPS = "between steps"
"""Name of the step that holds a job's time outside of its steps."""


@dataclass(frozen=True, kw_only=True)
class Flow:
    """The bytes of a step in one role and direction.

    ``device_bytes`` are those of ``application_bytes`` that reached the role's devices, ``link_bytes`` those
    that cross the node's link to get there; None: as many.
    ``request_bytes``, ``sequential_ratio`` and ``direct_ratio`` (the part of the bytes that passed by the
    page cache) are None where they were not measured.  ``requests_at_once`` is how many of its requests a
    step has under way while it waits for the role, ``outstanding_bytes`` how many bytes wait at a device at
    once (None: not known, taken as one usual request).  ``behind_ratio`` is a part of what the step
    writes through the page cache: the step does not wait for it, since the kernel writes it later.
    """

    role: Role
    direction: Direction
    application_bytes: float
    device_bytes: float
    request_bytes: float | None = None
    sequential_ratio: float | None = None
    link_bytes: float | None = None
    direct_ratio: float | None = None
    requests_at_once: float = 1.0
    outstanding_bytes: float | None = None
    behind_ratio: float = 0.0

    @property
    def behind_bytes(self) -> float:
        """Bytes at the device that the step does not wait for."""
        return self.behind_ratio * self.cached_bytes

    @property
    def cached_bytes(self) -> float:
        """Bytes that left the node, or came to it, through the page cache."""
        return max(self.crossing_bytes - self.direct_bytes, 0.0)

    @property
    def direct_bytes(self) -> float:
        return (self.direct_ratio or 0.0) * self.application_bytes

    @property
    def awaited_bytes(self) -> float:
        """Bytes at the device of requests that a step waits for one by one.

        These are direct requests, and reads at random, since nothing reads ahead of them.  The kernel
        gathers other writes.
        """
        at_random = 0.0
        if self.direction == "read" and self.sequential_ratio is not None:
            at_random = 1.0 - self.sequential_ratio
        return max(at_random, self.direct_ratio or 0.0) * self.device_bytes

    @property
    def crossing_bytes(self) -> float:
        """Bytes that cross the link of the node, where the role's device is behind one."""
        return self.device_bytes if self.link_bytes is None else self.link_bytes


@dataclass(frozen=True, kw_only=True)
class LoggedBytes:
    """The bytes of a step without counted I/O by role, as they were inferred from its log.

    ``device_read_bytes`` and ``device_written_bytes`` are those of its block operations, of all roles
    together.  None if these are not known: then all bytes are taken to reach the devices.
    """

    read: Mapping[Role, float]
    written: Mapping[Role, float]
    device_read_bytes: float | None = None
    device_written_bytes: float | None = None


Logged = Mapping[tuple[str, int], LoggedBytes]
"""Keys: the job and the number of the step."""


@dataclass(frozen=True, kw_only=True)
class StepDemand:
    """A step: ``cpu_seconds`` on at most ``threads`` cores, ``flows``, and the waits that were measured.

    ``blocked_seconds`` are by role, ``other_seconds`` those that belong to none (they do not change with
    the system); both are elapsed seconds of the step, not thread-seconds.
    """

    name: str
    kind: str
    cpu_seconds: float
    user_ratio: float | None = 1.0
    """User's part of the CPU seconds; None: only their sum is known."""
    cpu_known: bool = True
    """False: ``cpu_seconds`` is 0 because nobody measured it."""
    threads: float = 1.0
    flows: tuple[Flow, ...] = ()
    blocked_seconds: Mapping[Role, float]
    other_seconds: float = 0.0
    page_faults: int = 0
    """Those that needed I/O; 0 where nobody counted."""
    io_known: bool = True
    """False: ``flows`` and ``blocked_seconds`` are empty because nobody measured them."""
    span: tuple[float, float] | None = None
    """When it was measured, seconds since the epoch; None: not known."""
    waits_known: bool = True
    """False: ``blocked_seconds`` are 0 because nobody measured them."""
    memory_bytes: float | None = None
    """The peak of the job's memory in the step; None: not known."""
    pushed_out: PushedOut | None = None
    """What the page-cache model gave up and read again while the step ran; None: it was not asked."""


@dataclass(frozen=True, kw_only=True)
class JobDemand:
    """A job's steps in order.

    ``memory_bytes`` is its peak without ``shared_bytes``, which it shares with the process that it was
    started from; None: unknown.
    """

    job: str
    program: str
    program_class: str
    steps: tuple[StepDemand, ...]
    memory_bytes: float | None = None
    shared_bytes: float | None = None


@dataclass(frozen=True, kw_only=True)
class Demand:
    """All jobs of a run by name, and what of it is not known (``lacks``, in words).

    What steps lack that took less than 1 % of the jobs' time is not among it: the kernel
    says nothing of the waits of a step that ends within milliseconds.
    """

    run_id: str
    jobs: Mapping[str, JobDemand]
    lacks: tuple[str, ...] = ()

    @property
    def blocked_seconds(self) -> float:
        """Seconds that the jobs were blocked in their roles, without start-up and verification."""
        return sum(
            sum(step.blocked_seconds.values())
            for job in self.jobs.values()
            for step in job.steps
            if step.kind not in ("startup", "verify")
        )


FIXED_KINDS = ("startup", "verify")
"""Steps that take the same time at any number of rows: fork and imports, and a look at the answer."""


def scale_job(job: JobDemand, factor: float, cpu_factor: float | None = None) -> JobDemand:
    """The job with ``factor`` times the rows: bytes, waits and memory in proportion, and CPU.

    ``cpu_factor`` is for CPU seconds that grow otherwise.  Start-up and verifying do not grow, nor do the CPU
    seconds outside of steps, which load modules (docs/design/simulation.md, Demand).
    """
    cpu_factor = factor if cpu_factor is None else cpu_factor
    return replace(
        job,
        memory_bytes=None if job.memory_bytes is None else job.memory_bytes * factor,
        steps=tuple(
            step
            if step.kind in FIXED_KINDS
            else _scale_step(step, factor, 1.0 if step.name == BETWEEN_STEPS else cpu_factor)
            for step in job.steps
        ),
    )


def _scale_step(step: StepDemand, factor: float, cpu_factor: float) -> StepDemand:
    return replace(
        step,
        span=None,
        memory_bytes=None if step.memory_bytes is None else step.memory_bytes * factor,
        cpu_seconds=step.cpu_seconds * cpu_factor,
        other_seconds=step.other_seconds * factor,
        blocked_seconds={role: value * factor for role, value in step.blocked_seconds.items()},
        flows=tuple(
            replace(
                flow,
                application_bytes=flow.application_bytes * factor,
                device_bytes=flow.device_bytes * factor,
                link_bytes=None if flow.link_bytes is None else flow.link_bytes * factor,
            )
            for flow in step.flows
        ),
    )


@dataclass(frozen=True, kw_only=True)
class CachedPlan:
    """A node's plan and its jobs, on so much memory.

    ``machine_bytes`` is the memory of the machine if the jobs have only a part of it, else None.  ``rates``
    are bytes a second that the devices of the roles write.
    """

    plan: Plan
    jobs: Mapping[str, JobDemand]
    memory_bytes: float
    machine_bytes: float | None = None
    rates: Mapping[str, float] = field(default_factory=dict)

    def reach(self) -> DeviceReach:
        return reach_of(
            self.plan,
            self.memory_bytes,
            write_back=WriteBack(beside_bytes=max((self.machine_bytes or 0.0) - self.memory_bytes, 0.0)),
            shown={name: _shown(job) for name, job in self.jobs.items()},
            rates=self.rates,
        )


def _shown(job: JobDemand) -> ShownJob:
    return ShownJob(
        memory_bytes=job.memory_bytes,
        shared_bytes=job.shared_bytes,
        step_seconds={step.name: _seconds(step) for step in job.steps},
        step_bytes={step.name: step.memory_bytes for step in job.steps if step.memory_bytes is not None},
    )


def _seconds(step: StepDemand) -> float:
    """From the step's start to its end as measured; without these its CPU and its waits.

    Known waits in no role are left out: they are mostly for files that it removes, and the model adds those.
    """
    left_out = step.other_seconds if step.waits_known else 0.0
    if step.span is not None:
        return max(step.span[1] - step.span[0] - left_out, 0.0)
    waits = sum(step.blocked_seconds.values()) + step.other_seconds
    return step.cpu_seconds / step.threads + waits - left_out


def other_cache(
    jobs: Mapping[str, JobDemand], measured: CachedPlan, asked: CachedPlan
) -> tuple[dict[str, JobDemand], tuple[str, ...]]:
    """The jobs, measured as a plan on a node's bytes of memory, as of another plan or memory.

    With them, in sentences, what of them stays as it was because the model cannot tell it.

    Of each role and direction the bytes that reach the devices change as those of the page-cache model do
    (``reach_of``).  Where more reach them, hits shrink in proportion.  Where fewer
    do, those beyond first reads shrink in proportion.  Direct requests stay.
    """
    before, after = measured.reach(), asked.reach()
    untold = dict.fromkeys(one.reason for one in (before, after) if one.reason)
    changes = {
        (role, direction): _change(
            _way(before.by_role[role], direction), _way(after.by_role[role], direction), ratio
        )
        for (role, direction), ratio in _reached_ratios(jobs).items()
        if role in before.by_role and role in after.by_role
    }

    def moved(flow: Flow) -> Flow:
        change = changes.get((flow.role, flow.direction))
        crossing, direct = flow.crossing_bytes, flow.direct_bytes
        cached, asked_for = crossing - direct, flow.application_bytes - direct
        if change is None or asked_for <= 0.0:
            return flow
        left = direct + change.bytes(max(cached, 0.0), asked_for)
        if flow.link_bytes is None:
            return replace(flow, device_bytes=left)
        behind = flow.device_bytes / crossing if crossing else 0.0
        return replace(flow, link_bytes=left, device_bytes=left * behind)

    more = _more_removal_seconds(measured, asked, before, after)
    demands: dict[str, JobDemand] = {}
    for name, job in jobs.items():
        less = _less_written(job, moved)
        waits = (step.other_seconds * less + more.get((name, step.name), 0.0) for step in job.steps)
        steps = (
            _with_flows(step, tuple(map(moved, step.flows)), other)
            for step, other in zip(job.steps, waits, strict=True)
        )
        demands[name] = replace(job, steps=tuple(steps))
    remarks = tuple(f"no job's reach changes with memory: {reason}" for reason in untold)
    return _with_pushed_out(demands, after), remarks


def _with_pushed_out(jobs: Mapping[str, JobDemand], model: DeviceReach) -> dict[str, JobDemand]:
    """The jobs with what the model's cache gave up and read again, times their reads over the model's."""
    cached = sum(ways.read.device_bytes - ways.read.direct_bytes for ways in model.by_role.values())
    flows = (flow for job in jobs.values() for step in job.steps for flow in step.flows)
    reads = sum(flow.cached_bytes for flow in flows if flow.direction == "read")
    ratio = reads / cached if cached > 0.0 else 1.0

    def pushed_out(job: str, step: str) -> PushedOut | None:
        found = model.pushed_out.get((job, step))
        return found and PushedOut().plus(found, ratio)

    return {
        name: replace(
            job,
            steps=tuple(replace(step, pushed_out=pushed_out(name, step.name)) for step in job.steps),
        )
        for name, job in jobs.items()
    }


def _more_removal_seconds(
    measured: CachedPlan, asked: CachedPlan, before: DeviceReach, after: DeviceReach
) -> dict[tuple[str, str], float]:
    """By job and step: how much longer it waits for files that it removes.

    Both memories have the asked plan, so that jobs of other sessions or scales are compared with themselves.
    """
    if asked.memory_bytes == measured.memory_bytes:
        return {}
    if asked.plan != measured.plan:
        before = replace(measured, plan=asked.plan, jobs=asked.jobs).reach()
    return {
        key: seconds - before.removal_seconds.get(key, 0.0)
        for key, seconds in after.removal_seconds.items()
        if seconds > before.removal_seconds.get(key, 0.0)
    }


def _with_flows(step: StepDemand, flows: tuple[Flow, ...], other_seconds: float) -> StepDemand:
    """The step with other flows and other waits in no role: where it moves less, it waits less."""

    def less(moved: Callable[[Flow], float]) -> float:
        return _less(sum(map(moved, step.flows)), sum(map(moved, flows)))

    def of_role(flow: Flow, role: Role) -> float:
        return flow.crossing_bytes if flow.role == role else 0.0

    return replace(
        step,
        flows=flows,
        blocked_seconds={
            role: seconds * less(partial(of_role, role=role))
            for role, seconds in step.blocked_seconds.items()
        },
        other_seconds=other_seconds,
    )


def _less_written(job: JobDemand, moved: Callable[[Flow], Flow]) -> float:
    """The part of its waits in no role that a job keeps: mostly it removes files while they are written."""
    flows = [flow for step in job.steps for flow in step.flows if flow.direction == "write"]
    return _less(sum(flow.cached_bytes for flow in flows), sum(moved(flow).cached_bytes for flow in flows))


def _less(before: float, now: float) -> float:
    return min(now / before, 1.0) if before > 0.0 else 1.0


def _way(ways: MovedWays, direction: Direction) -> MovedBytes:
    return ways.read if direction == "read" else ways.written


@dataclass(frozen=True, kw_only=True)
class _Change:
    """Bytes that reach the devices now: ``hits`` times the hits, or ``misses`` times what missed."""

    hits: float = 1.0
    misses: float = 1.0

    def bytes(self, crossing: float, asked: float) -> float:
        if self.hits < 1.0:
            return max(asked - max(asked - crossing, 0.0) * self.hits, crossing)
        return crossing * self.misses


def _reached_ratios(jobs: Mapping[str, JobDemand]) -> dict[tuple[Role, Direction], float]:
    """Of each role and direction the part of what passed through the cache that left it, as measured."""
    asked: defaultdict[tuple[Role, Direction], float] = defaultdict(float)
    crossed: defaultdict[tuple[Role, Direction], float] = defaultdict(float)
    for flow in (flow for job in jobs.values() for step in job.steps for flow in step.flows):
        asked[flow.role, flow.direction] += flow.application_bytes - flow.direct_bytes
        crossed[flow.role, flow.direction] += flow.cached_bytes
    return {key: crossed[key] / asked[key] for key in asked if asked[key] > 0.0}


def _change(before: MovedBytes, after: MovedBytes, reached_ratio: float) -> _Change | None:
    """How the bytes of a role and direction change with the model's; None: they stay."""
    old, new, first = before.missed_ratio, after.missed_ratio, before.first_ratio
    if old is None or new is None or first is None:
        return None
    if new > old < 1.0:
        return _Change(hits=(1.0 - new) / (1.0 - old))
    if old <= first or new >= old or reached_ratio <= first:
        return None
    beyond = max((reached_ratio - first) * (new - first) / (old - first), 0.0)
    return _Change(misses=(first + beyond) / reached_ratio)
