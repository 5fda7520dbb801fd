"""What jobs ask for, step by step: CPU, bytes by role and direction, memory, and waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from mawl.records.spec.program_options import Options, Role
from mawl.simulation.page_cache import PushedOut

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
