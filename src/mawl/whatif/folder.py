"""A simulation as a run folder of kind ``simulated``, which every report and comparison reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from mawl.base.errors import UsageError
from mawl.figures.waits import reference_seconds_of
from mawl.plan.catalogue import CATALOGUE
from mawl.plan.derived_jobs import digest_of
from mawl.plan.output import nodes_toml, write_plan
from mawl.plan.workload import Plan
from mawl.records.model.node import NodeRun, StorageRun
from mawl.records.model.records import JobRecord, StepKind, StepRecord, Usage, total
from mawl.records.model.role_io import FileRole, RoleIo, Waits, sum_by_role
from mawl.records.model.run import NodeFacts, PlannedJob, RunFacts, VolumeFacts, WorkloadFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.records.store.columns import to_table
from mawl.records.store.facts import in_calendar, write_facts
from mawl.records.store.files import LOGS, NODES, PLAN, replace_file, sync_directory
from mawl.records.store.folder import make_folder
from mawl.records.store.parquet import write_parquet
from mawl.simulation.demand import USUAL_REQUEST_BYTES, Flow, JobDemand, StepDemand
from mawl.simulation.engine import SimulatedJob, SimulationOutcome, StepRun
from mawl.simulation.measured_system import UNKNOWN_MEMORY_SOURCE
from mawl.simulation.scenario import Scenario, without_node
from mawl.simulation.system import NodeKind, System
from mawl.version import __version__, source_sha256
from mawl.whatif.samples import SimulatedServer, samples_of

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
    columns = {name: [getattr(wait, name) for wait in waits] for name in fields}
    return Waits(**{name: None if None in column else sum(column) for name, column in columns.items()})


def _all_io(steps: Sequence[StepRecord]) -> bool:
    return all(step.io is not None for step in steps)


NO_FIGURE = "a simulation knows no such figure"
ROWS_AT_ONCE = 10_000
"""Rows of alike nodes that are written together: a file of many small groups takes its time."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """What a simulated run is called, and the run that its demand comes from."""

    run_id: str
    source: RunFacts
    command: tuple[str, ...] = ()


def write_folder(path: Path, scenario: Scenario, outcome: SimulationOutcome, label: Label) -> RunFacts:
    """Write the run folder; its facts.

    Alike nodes get alike rows under their own names.  Raises ``UsageError`` where the
    folder already holds something, where the demand has a figure that no table can hold, and where the run
    would end after the calendar.
    """
    if not in_calendar(label.source.started_at + outcome.elapsed_seconds):
        raise UsageError(
            f"the run would last {outcome.elapsed_seconds:.3g} s on that system, beyond the year 9999",
            cure="check the rates and the numbers of processors of the system",
        )
    names = _node_names(outcome, label.source)
    server = _server(scenario, label.source)
    measured = _measured(label.source)
    plans = [without_node(plan, measured) for plan in scenario.groups()[1]]
    started = label.source.started_at
    records = _records(scenario, outcome, plans, started)
    planned = _planned_jobs(scenario, plans, names, label.source)
    facts = msgspec.structs.replace(_facts(scenario, outcome, label, names, server), planned_jobs=planned)
    several = _several(names)
    tables = _tables(records, label)
    make_folder(path)
    (path / LOGS).mkdir(mode=0o700)
    for table, made in tables.items():
        write_parquet(path / f"{table}.parquet", _by_node(made, names, several), table)
    write_parquet(path / "events.parquet", iter([to_table("events", [])]), "events")
    write_parquet(path / "samples.parquet", samples_of(outcome, names, started, server), "samples")
    _write_plans(path, plans, names)
    write_facts(path, facts)
    sync_directory(path)
    return facts


def _tables(
    records: Sequence[tuple[list[JobRecord], list[StepRecord]]], label: Label
) -> dict[str, list[pa.Table]]:
    try:
        return {
            "jobs": [to_table("jobs", jobs) for jobs, _ in records],
            "steps": [to_table("steps", steps) for _, steps in records],
        }
    except (pa.ArrowException, OverflowError):
        raise UsageError(
            "cannot be simulated",
            where=label.source.run_id,
            why="a figure of its jobs or steps is larger than a table can hold",
            cure="copy the run folder again from where it was made, or simulate a smaller --scale",
        ) from None


def _measured(source: RunFacts) -> list[str]:
    """The nodes of the run that the demand comes from, in the order of their plans."""
    return sorted(run.node for run in source.node_runs)


def _node_names(outcome: SimulationOutcome, source: RunFacts) -> list[list[str]]:
    """The names of each group's nodes: the measured run's where there are as many, else node1, ..."""
    counts = [group.count for group in outcome.resources.groups]
    measured = _measured(source)
    if sum(counts) != len(measured):
        measured = [f"node{number}" for number in range(1, sum(counts) + 1)]
    return [measured[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]


def _several(names: Sequence[Sequence[str]]) -> bool:
    return sum(map(len, names)) > 1


def _write_plans(path: Path, plans: Sequence[Plan], names: Sequence[Sequence[str]]) -> None:
    """``plan.toml``, and where there are several nodes the plan of each group at its first."""
    if not _several(names):
        write_plan(path / PLAN, plans[0])
        return
    (path / NODES).mkdir(mode=0o700)
    places: dict[str, str] = {}
    for plan, members in zip(plans, names, strict=True):
        place = f"{NODES}/{members[0]}/{PLAN}"
        (path / place).parent.mkdir(mode=0o700)
        write_plan(path / place, plan)
        places |= dict.fromkeys(members, place)
    replace_file(path / PLAN, nodes_toml(places).encode())


def _records(
    scenario: Scenario, outcome: SimulationOutcome, plans: Sequence[Plan], started: float
) -> list[tuple[list[JobRecord], list[StepRecord]]]:
    found: list[tuple[list[JobRecord], list[StepRecord]]] = [([], []) for _ in outcome.resources.groups]
    own = [
        dict(zip((job.job for job in inside.jobs()), (job.job for job in plan.jobs()), strict=True))
        for inside, plan in zip(scenario.groups()[1], plans, strict=True)
    ]
    for run in outcome.jobs:
        name = own[run.group][run.plan.job]
        record, steps = records_of(run, name, scenario.jobs[run.plan.job], started)
        found[run.group][0].append(record)
        found[run.group][1].extend(steps)
    return found


def _by_node(tables: Sequence[pa.Table], names: Sequence[Sequence[str]], several: bool) -> Iterator[pa.Table]:
    """A group's table once for each of its nodes, jobs with its name in front where there are several."""
    for table, nodes in zip(tables, names, strict=True):
        jobs = table.column("job").to_pylist()
        at_once = max(ROWS_AT_ONCE // max(len(jobs), 1), 1)
        for first in range(0, len(nodes), at_once):
            some = nodes[first : first + at_once]
            own = pa.concat_tables([table] * len(some))
            if several:
                own = _replaced(own, "job", [f"{node}.{job}" for node in some for job in jobs])
            if "node" in own.schema.names:
                own = _replaced(own, "node", [node for node in some for _ in jobs])
            yield own


def _replaced(table: pa.Table, name: str, values: Sequence[str]) -> pa.Table:
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(name), pa.array(values, pa.string()))


def _facts(
    scenario: Scenario,
    outcome: SimulationOutcome,
    label: Label,
    names: Sequence[Sequence[str]],
    server: SimulatedServer | None,
) -> RunFacts:
    source, groups = label.source, outcome.resources.groups
    nodes = [
        NodeFacts(
            name=name,
            cores=math.ceil(group.kind.cores),
            core_basis=source.nodes[0].core_basis if source.nodes else None,
            memory_bytes=_memory_of(scenario.system, group.kind),
            cpu_quota=_cpu_quota(group.kind, sum(map(len, names)) if scenario.system.one_machine else 1),
            physical_cores=math.ceil(group.kind.cores),
            logical_cpus=round(math.ceil(group.kind.cores) * group.kind.threads_per_core),
            same_machine_as=names[0][0] if scenario.system.one_machine and name != names[0][0] else None,
        )
        for group, members in zip(groups, names, strict=True)
        for name in members
    ]
    plans = scenario.groups()[1]
    sessions = sum(len(plan.sessions) * group.count for plan, group in zip(plans, groups, strict=True))
    jobs = sum(group.count for run in outcome.jobs for group in [groups[run.group]])
    started = source.started_at
    return RunFacts(
        run_id=label.run_id,
        kind="simulated",
        mawl_version=__version__,
        source_sha256=source_sha256(),
        derived=digest_of(scenario.plans[0]),
        workload=WorkloadFacts(
            name=source.workload.name,
            title=source.workload.title,
            sessions=sessions,
            jobs=jobs,
            scale=scenario.plans[0].scale,
            scale_name=None,
            seed=source.workload.seed,
            options=source.workload.options,
            load_version=source.workload.load_version,
        ),
        outcome="completed",
        reference=source.reference,
        started_at=started,
        ended_at=started + outcome.elapsed_seconds,
        command=list(label.command),
        nodes=nodes,
        roles={role: [f"/{role}"] for role in ROLES},
        volumes=_volumes(outcome, names, server),
        node_runs=_node_runs(plans, label, names) if _several(names) else [],
        storage_runs=[] if server is None else [_storage_run(server, label)],
        link_bytes_per_second=groups[0].kind.link_bytes_per_second if server is not None else None,
        missing={"software": NO_FIGURE},
    )


def _planned_jobs(
    scenario: Scenario, plans: Sequence[Plan], names: Sequence[Sequence[str]], source: RunFacts
) -> list[PlannedJob]:
    """The jobs with their reference times: each has that of the job whose demand it has, at its own scale."""
    several, found = _several(names), []
    reference, groups = reference_seconds_of(source), scenario.groups()[1]
    sizes = {job.job: job.scale / plan.scale for plan in groups for job in plan.jobs()}
    for inside, plan, members in zip(groups, plans, names, strict=True):
        for node in members:
            for own, job in zip(inside.jobs(), plan.jobs(), strict=True):
                measured = scenario.jobs[own.job].job
                seconds = reference.get(measured)
                before = (source.workload.scale or plan.scale) * sizes.get(measured, 1.0)
                found.append(
                    PlannedJob(
                        job=f"{node}.{job.job}" if several else job.job,
                        program=job.program,
                        program_class=scenario.jobs[own.job].program_class,  # type: ignore[arg-type]
                        session=job.session,
                        stage=job.stage,
                        node=node,
                        replica=job.replica,
                        gate=job.gate,
                        trail_out=job.trail_out,
                        reference_seconds=None
                        if seconds is None
                        else seconds * _grown(job.program, job.scale, before),
                    )
                )
    return found


def _grown(program: str, scale: float, before: float) -> float:
    """The reference time of a program at a scale, over that at another."""
    declared = CATALOGUE.get(program)
    if declared is None:
        return scale / before
    return declared.cpu_seconds(scale) / declared.cpu_seconds(before)


def _node_runs(plans: Sequence[Plan], label: Label, names: Sequence[Sequence[str]]) -> list[NodeRun]:
    return [
        NodeRun(
            node=node,
            run_id=f"{label.run_id}-{node}",
            workload=plan.workload,
            sessions=len(plan.sessions),
            jobs=sum(1 for _ in plan.jobs()),
            outcome="completed",
            gate_after_seconds=0.0,
        )
        for plan, members in zip(plans, names, strict=True)
        for node in members
    ]


def _server(scenario: Scenario, source: RunFacts) -> SimulatedServer | None:
    """The storage server, where one was watched beside the measured run and nodes still share its devices."""
    shared = [device.name for device in scenario.system.devices if not device.local]
    if not source.storage_runs or not shared:
        return None
    return SimulatedServer(name=source.storage_runs[0].node, devices=tuple(shared))


def _storage_run(server: SimulatedServer, label: Label) -> StorageRun:
    return StorageRun(
        node=server.name,
        run_id=f"{label.run_id}-{server.name}",
        devices=list(server.devices),
        outcome="completed",
    )


def _cpu_quota(kind: NodeKind, sharing: int) -> float | None:
    """Logical CPUs of a part of the cores, such as a quota leaves; None for whole cores.

    ``sharing`` is how many nodes have the cores of one machine; each gets as large a quota.
    """
    if kind.cores == math.ceil(kind.cores):
        return None
    return kind.cores * kind.threads_per_core / sharing


def _memory_of(system: System, kind: NodeKind) -> int | None:
    """None where the measured run does not tell it and nobody set it."""
    path = f"nodes.{system.nodes.index(kind)}.memory_bytes"
    return None if system.sources.get(path) == UNKNOWN_MEMORY_SOURCE else round(kind.memory_bytes)


def _volumes(
    outcome: SimulationOutcome, names: Sequence[Sequence[str]], server: SimulatedServer | None
) -> list[VolumeFacts]:
    """The devices of each role on every node; those behind a watched server are the server's."""
    one_machine = outcome.resources.system.one_machine
    found = []
    for group, members in zip(outcome.resources.groups, names, strict=True):
        for node in members:
            for role in ROLES:
                for name in group.kind.roles[role]:
                    device = outcome.resources.system.device(name)
                    shared = [other for other in ROLES if other != role and name in group.kind.roles[other]]
                    own = [] if server is not None and name in server.devices else [name]
                    found.append(
                        VolumeFacts(
                            role=role,
                            node=node,
                            directory=f"/{role}/{name}",
                            network=not device.local and (server is not None or not one_machine),
                            devices=own,
                            layers=own,
                            disks=own,
                            shared_with=shared,
                        )
                    )
    return found
