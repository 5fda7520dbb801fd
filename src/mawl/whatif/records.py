"""A simulated job and its steps as the records of a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mawl.model.records import JobRecord, StepKind, StepRecord
from mawl.model.role_io import FileRole, RoleIo, Waits, sum_by_role
from mawl.model.usage import Usage, total
from mawl.simulation.demand import USUAL_REQUEST_BYTES, Flow, JobDemand, StepDemand
from mawl.simulation.engine import SimulatedJob, StepRun
from mawl.spec.program_options import ROLES, Role

KINDS: dict[str, StepKind] = {"startup": "startup", "verify": "verify", "data": "data"}
"""Kinds of steps that the records keep; any other is a procedure."""


def records_of(
    run: SimulatedJob, name: str, demand: JobDemand, started_at: float
) -> tuple[JobRecord, list[StepRecord]]:
    """The job, called ``name``, and its steps; its node is left out.

    ``started_at`` is when the run began (seconds since the epoch).
    """
    steps = [_step(name, number, step, demand, started_at) for number, step in enumerate(run.steps, start=1)]
    own = [step for step in steps if step.kind not in ("startup", "verify")]
    parts = {kind: total(step.usage for step in steps if step.kind == kind) for kind in ("startup", "verify")}
    begun = [step.started_at for step in steps if step.kind != "startup"]
    usage = total(step.usage for step in own)
    record = JobRecord(
        job=name,
        program=run.plan.program,
        program_class=demand.program_class,  # type: ignore[arg-type]
        session=run.plan.session,
        stage=run.plan.stage,
        node="",
        replica=run.plan.replica,
        gate=run.plan.gate,
        trail_out=run.plan.trail_out,
        outcome="finished",
        verified=None,
        ready_at=started_at + run.started,
        started_at=begun[0] if begun else started_at + run.started,
        ended_at=started_at + run.ended,
        usage=usage,
        startup=parts["startup"],
        verify=parts["verify"],
        total=total([usage, *parts.values()]),
        steps=len(steps),
        io=sum_by_role(step.io for step in own if step.io is not None) if _all_io(own) else None,
        waits=_summed([step.waits for step in own]),
        direct_read_bytes=_sum_known([step.direct_read_bytes for step in own]),
        direct_written_bytes=_sum_known([step.direct_written_bytes for step in own]),
    )
    return record, steps


def _sum_known(values: Sequence[int | None]) -> int | None:
    """The sum; None if one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _step(job: str, number: int, step: StepRun, demand: JobDemand, started_at: float) -> StepRecord:
    asked = step.activity.step
    blocked, queue = step.blocked(), step.run_queue()
    real = step.ended - step.started
    on_cpu = asked.cpu_seconds if asked.cpu_known else None
    moved = {
        name: round(
            sum(getattr(flow, f"{side}_bytes") for flow in asked.flows if flow.direction == direction)
        )
        for name, side, direction in (
            ("application_read_bytes", "application", "read"),
            ("application_written_bytes", "application", "write"),
            ("own_read_bytes", "device", "read"),
            ("charged_written_bytes", "device", "write"),
        )
    }
    return StepRecord(
        job=job,
        number=number,
        name=asked.name,
        kind=KINDS.get(asked.kind, "procedure"),
        started_at=started_at + step.started,
        ended_at=started_at + step.ended,
        usage=Usage(
            real_time_seconds=real,
            **_cpu(asked),
            memory_bytes=None if demand.memory_bytes is None else round(demand.memory_bytes),
            **({**moved, "cancelled_written_bytes": 0} if asked.io_known else {}),
        ),
        **_direct(asked),
        io=_io(asked.flows, blocked) if asked.io_known else None,
        waits=Waits(
            on_cpu_seconds=on_cpu,
            run_queue_seconds=queue,
            **{f"blocked_{role}_seconds": seconds for role, seconds in blocked.items()},
            blocked_other_seconds=asked.other_seconds,
        )
        if asked.io_known
        else Waits(on_cpu_seconds=on_cpu, run_queue_seconds=queue),
    )


def _direct(asked: StepDemand) -> dict[str, Any]:
    """Bytes that passed by the page cache, by direction; None where nobody counted them."""
    found: dict[str, Any] = {}
    for direction, word in (("read", "read"), ("write", "written")):
        flows = [flow for flow in asked.flows if flow.direction == direction]
        known = asked.io_known and None not in {flow.direct_ratio for flow in flows}
        found[f"direct_{word}_bytes"] = round(sum(flow.direct_bytes for flow in flows)) if known else None
    return found


def _cpu(asked: StepDemand) -> dict[str, Any]:
    """CPU seconds, split where the demand is."""
    if not asked.cpu_known:
        return {}
    if asked.user_ratio is None:
        return {"unsplit_cpu_seconds": asked.cpu_seconds}
    user = asked.cpu_seconds * asked.user_ratio
    return {"user_cpu_seconds": user, "system_cpu_seconds": asked.cpu_seconds - user}


def _io(flows: Sequence[Flow], blocked: Mapping[Role, float]) -> dict[FileRole, RoleIo]:
    found: dict[FileRole, RoleIo] = {}
    for role in ROLES:
        own = {flow.direction: flow for flow in flows if flow.role == role}
        moved = sum(flow.device_bytes for flow in own.values())
        figures: dict[str, object] = {}
        for direction, flow in own.items():
            reads = direction == "read"
            size = round(flow.request_bytes or USUAL_REQUEST_BYTES) or 1
            calls = max(round(flow.application_bytes / size), 1)
            waited = blocked[role] * (flow.device_bytes / moved if moved else 1.0 / len(own))
            waited *= flow.requests_at_once
            word = "read" if reads else "written"
            figures |= {
                "reads" if reads else "writes": calls,
                f"{word}_bytes": round(flow.application_bytes),
                f"sequential_{word}_bytes": round(flow.application_bytes * (flow.sequential_ratio or 0.0)),
                f"{direction}_seconds": waited,
                f"{direction}_waited_seconds": waited,
                f"{direction}_size_bytes_histogram": {size: calls},
            }
        found[role] = RoleIo(**figures)  # type: ignore[arg-type]
    return found


def _summed(waits: Sequence[Waits]) -> Waits:
    fields = Waits.__struct_fields__
    columns = {name: [getattr(one, name) for one in waits] for name in fields}
    return Waits(**{name: None if None in column else sum(column) for name, column in columns.items()})


def _all_io(steps: Sequence[StepRecord]) -> bool:
    return all(step.io is not None for step in steps)
