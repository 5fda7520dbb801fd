"""A job's demand at another number of rows."""

from __future__ import annotations

from dataclasses import replace

from mawl.simulation.demand import JobDemand, StepDemand


def scaled(job: JobDemand, factor: float) -> JobDemand:
    """The job with ``factor`` times the rows: CPU, bytes, waits and memory in proportion.

    Start-up (fork and imports) does not grow.
    """
    return replace(
        job,
        memory_bytes=None if job.memory_bytes is None else job.memory_bytes * factor,
        steps=tuple(step if step.kind == "startup" else _scaled(step, factor) for step in job.steps),
    )


def _scaled(step: StepDemand, factor: float) -> StepDemand:
    return replace(
        step,
        cpu_seconds=step.cpu_seconds * factor,
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
