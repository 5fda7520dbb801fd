"""A job's demand at another number of rows."""

from __future__ import annotations

from dataclasses import replace

from mawl.simulation.demand import BETWEEN_STEPS, JobDemand, StepDemand

FIXED_KINDS = ("startup", "verify")
"""Steps that take the same time at any number of rows: fork and imports, and a look at the answer."""


def scaled(job: JobDemand, factor: float, cpu_factor: float | None = None) -> JobDemand:
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
            else _scaled(step, factor, 1.0 if step.name == BETWEEN_STEPS else cpu_factor)
            for step in job.steps
        ),
    )


def growing_cpu_seconds(job: JobDemand) -> float:
    """CPU seconds of the steps that grow with the rows."""
    return sum(
        step.cpu_seconds for step in job.steps if step.kind not in FIXED_KINDS and step.name != BETWEEN_STEPS
    )


def _scaled(step: StepDemand, factor: float, cpu_factor: float) -> StepDemand:
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
