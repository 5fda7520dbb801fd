"""A simulation as a run folder of kind ``simulated``, which every report and comparison reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pyarrow as pa

from mawl.errors import UsageError
from mawl.model.cluster import NodeRun, StorageRun
from mawl.model.records import JobRecord, StepRecord
from mawl.model.run import NodeFacts, RunFacts, VolumeFacts, WorkloadFacts
from mawl.plan.derived import digest_of
from mawl.plan.workload import Plan
from mawl.plan.write import nodes_toml, write_plan
from mawl.simulation.engine import SimulationOutcome
from mawl.simulation.own_system import UNTOLD
from mawl.simulation.plans import without_node
from mawl.simulation.scenario import Scenario
from mawl.simulation.system import NodeKind, System
from mawl.spec.program_options import ROLES
from mawl.store.columns import to_table
from mawl.store.facts import write_facts
from mawl.store.files import replace_file, sync_directory
from mawl.store.folder import make_folder
from mawl.store.layout import LOGS, NODES, PLAN
from mawl.store.parquet import write_parquet
from mawl.version import __version__, source_sha256
from mawl.whatif.records import records_of
from mawl.whatif.samples import SimulatedServer, samples_of

NO_FIGURE = "a simulation knows no such figure"


@dataclass(frozen=True, kw_only=True)
class Label:
    """What a simulated run is called, and the run that its demand comes from."""

    run_id: str
    source: RunFacts
    command: tuple[str, ...] = ()


def write_folder(path: Path, scenario: Scenario, outcome: SimulationOutcome, label: Label) -> RunFacts:
    """Write the run folder; its facts.

    Alike nodes get alike rows under their own names.  Raises :class:`~mawl.errors.UsageError` where the
    folder already holds something, and where the demand has a figure that no table can hold.
    """
    names = _node_names(outcome, label.source)
    server = _server(scenario, label.source)
    measured = _measured(label.source)
    plans = [without_node(plan, measured) for plan in scenario.groups()[1]]
    started = label.source.started_at
    records = _records(scenario, outcome, plans, started)
    facts = _facts(scenario, outcome, label, names, server)
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
    """Jobs and steps of each group."""
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
    """Jobs and steps of a node of each group, called as in its plan of ``plans``."""
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
        for node in nodes:
            own = table
            if several:
                own = _replaced(own, "job", [f"{node}.{job}" for job in jobs])
            if "node" in own.schema.names:
                own = _replaced(own, "node", [node] * own.num_rows)
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
        ),
        outcome="completed",
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
    return None if system.sources.get(path) == UNTOLD else round(kind.memory_bytes)


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
