"""The input tables of a run, made or checked, and the facts that its folder begins with."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from mawl.base.errors import UnsuitableMachineError
from mawl.base.units import format_bytes
from mawl.measure.control_groups import with_caps
from mawl.measure.devices import mounts_below, ports, volume_facts
from mawl.measure.machine import Machine, read_topology
from mawl.measure.settings.inventory import inventory_of
from mawl.measure.space import EPHEMERAL, EPHEMERAL_CURE, ephemeral_storage, file_systems, with_space
from mawl.plan.derived_jobs import digest_of
from mawl.plan.mix import LOAD_VERSION
from mawl.plan.needs import SPACE_MARGIN, Needs, TableNeed, inputs_of, programs_in
from mawl.plan.spec import scale_name
from mawl.plan.workload import Plan
from mawl.programs.datagen.generate import (
    GenerationProgress,
    TableBuild,
    TableRequest,
    generate,
    spread_tables,
)
from mawl.programs.tables.manifest import MANIFEST
from mawl.records.model.run import CacheFacts, NodeFacts, Phases, PlannedJob, RunFacts, WorkloadFacts
from mawl.records.spec.program_options import ROLES, VolumeOrder
from mawl.records.volumes import INPUTS as INPUTS_DIRECTORY
from mawl.records.volumes import Volumes
from mawl.run.runner.request import RunRequest
from mawl.version import __version__, source_sha256

SOFTWARE = ("duckdb", "msgspec", "numpy", "pyarrow", "scikit-learn", "scipy")


def facts_before(
    request: RunRequest,
    volumes: Volumes,
    machine: Machine,
    node: str,
    cache: CacheFacts,
    command: Sequence[str],
    generate_seconds: float | None,
) -> RunFacts:
    """The facts of a run before its first job: who, where, with which limits and settings."""
    plan, topology = request.plan, read_topology()
    held = volume_facts(volumes.directories, node)
    return RunFacts(
        run_id=request.run_id,
        kind="measured",
        mawl_version=__version__,
        source_sha256=source_sha256(),
        workload=WorkloadFacts(
            name=plan.workload,
            title=plan.title,
            sessions=len(plan.sessions),
            jobs=sum(1 for _ in plan.jobs()),
            scale=plan.scale,
            scale_name=scale_name(plan.scale),
            seed=plan.seed,
            options=plan.options,
            planned_peak_concurrent=plan.peak_concurrent,
            gate_jobs=plan.gate_jobs,
            load_version=LOAD_VERSION,
        ),
        outcome="running",
        started_at=time.time(),
        command=list(command),
        spec=request.spec,
        derived=digest_of(plan),
        start_mode=request.spec.start,
        on_failure=request.spec.on_failure,
        nodes=[_node(request, machine, node)],
        planned_jobs=planned_jobs(plan, node, request.reference_seconds),
        software=_software(),
        settings={
            "swap_bytes": machine.swap_bytes,
            "clock_source": machine.clock_source,
            "container": machine.container,
            "scheduler_autogroup": machine.autogroup,
            "frequency_policy": topology.frequency_policy,
            "memory_nodes": topology.memory_nodes,
            "container_cpu_quota_cores": machine.cpu_quota_cores,
            "container_memory_limit_bytes": machine.memory_limit_bytes,
            "saving_ratio": plan.saving,
        },
        roles={role: [str(path) for path in volumes.directories[role]] for role in ROLES},
        volumes=with_caps(with_space(held, after=False)),
        inventories={node: inventory_of(machine, held, plan.options)},
        ports={node: ports()},
        volume_order=request.spec.volume_order,
        cache=cache,
        reference=request.reference,
        alone=list(request.alone),
        load_before=request.load_before,
        free_space=list(request.free_space),
        phases=Phases(generate_seconds=generate_seconds),
        remarks=mounts_below(volumes.directories),
    )


def planned_jobs(plan: Plan, node: str, reference_seconds: Mapping[str, float]) -> list[PlannedJob]:
    """What a reader needs to name a job that left no record, and its reference time."""
    programs = programs_in(plan)
    return [
        PlannedJob(
            job=job.job,
            program=job.program,
            program_class=programs[job.program].program_class,
            session=job.session,
            stage=job.stage,
            node=node,
            replica=job.replica,
            gate=job.gate,
            trail_out=job.trail_out,
            reference_seconds=reference_seconds.get(job.job),
        )
        for job in plan.jobs()
    ]


def _node(request: RunRequest, machine: Machine, name: str) -> NodeFacts:
    topology = read_topology()
    limits = (request.spec.memory_limit_bytes, machine.binding_memory_limit)
    return NodeFacts(
        name=name,
        kernel=machine.kernel,
        python=platform.python_version(),
        cpu_model=machine.cpu_model,
        cores=machine.cores,
        core_basis=machine.core_basis,
        memory_bytes=machine.memory_bytes,
        cpus_used=machine.confined_cpus if request.cpus is None else list(request.cpus),
        cpu_quota=machine.binding_cpu_quota,
        memory_limit_bytes=min((limit for limit in limits if limit is not None), default=None),
        sockets=topology.sockets,
        physical_cores=topology.physical_cores,
        logical_cpus=topology.logical_cpus,
        smt=topology.smt,
        virtual=machine.virtual,
        cloud=machine.cloud,
        instance_type=machine.instance_type,
    )


def _software() -> dict[str, str | None]:
    found: dict[str, str | None] = dict.fromkeys(SOFTWARE)
    for package in SOFTWARE:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


class Inputs(NamedTuple):
    """Where each input table lies, by (table, scale, replica), and what that took.

    ``cpu_seconds`` are this process's own: making inputs is no part of a run's overhead.
    """

    directories: dict[tuple[str, float, int], Path]
    generated: list[TableBuild]
    seconds: float
    cpu_seconds: float


def make_inputs(
    plan: Plan,
    volumes: Volumes,
    needed: Needs,
    *,
    order: VolumeOrder,
    processes: int,
    verify: bool = False,
    progress: Callable[[GenerationProgress], None] = lambda _: None,
) -> Inputs:
    """Make what is missing, checking finished tables by their sizes, or in full with ``verify``.

    A table lies whole on one volume of data: ``spread_tables`` says on which.
    """
    began, cpu_before = time.monotonic(), time.process_time()
    tables = inputs_of(plan)
    # Scales that differ may need the same table, where both are below a table's least size.
    keys = {need: (need.table, tables[need.table].rows(need.scale), need.replica) for need in needed.tables}
    requests = {key: _table_request(plan, need) for need, key in keys.items()}
    sizes = {key: need.bytes for need, key in keys.items()}
    generated = generate(
        list(requests.values()),
        spread_tables(list(requests.values()), list(sizes.values()), volumes.inputs(), order, tables),
        processes=processes,
        bufsize_bytes=plan.options.bufsize_bytes,
        progress=progress,
        verify=verify,
        tables=tables,
    )
    made = dict(zip(requests, generated, strict=True))
    directories = {(need.table, need.scale, need.replica): made[key].directory for need, key in keys.items()}
    return Inputs(directories, generated, time.monotonic() - began, time.process_time() - cpu_before)


def check_space(plan: Plan, needed: Needs, volumes: Volumes, order: VolumeOrder) -> None:
    """Refuse a run that would not fit, file system by file system.

    Temporary tables count in full, and input tables as far as they are not there yet.  By rotation they
    spread evenly over the volumes of their role; by free space they go where there is room, so that
    the free space of the role's file systems counts together.
    """
    missing = SPACE_MARGIN * sum(_missing_inputs(plan, needed, volumes))
    results = needed.space_bytes["data"] - SPACE_MARGIN * sum(need.bytes for need in needed.tables)
    wanted = dict(needed.space_bytes) | {"data": int(missing + max(results, 0.0))}
    by_free_space = order == "free-space"
    systems = file_systems(volumes.directories, wanted, by_free_space=by_free_space)
    ephemeral = ephemeral_storage(volumes.directories, wanted, by_free_space=by_free_space)
    for system in (*systems, *ephemeral):
        size = system.needed_bytes or 0
        if size > system.free_bytes:
            roles = sorted(system.roles)
            others = order == "rotation" and len(systems) > 1
            raise UnsuitableMachineError(
                f"the run would not fit: {', '.join(roles)} need {format_bytes(size)} more "
                f"and {format_bytes(system.free_bytes)} are free"
                + (f" of the {EPHEMERAL}" if system.kind == EPHEMERAL else ""),
                where=", ".join(system.directories),
                cure=EPHEMERAL_CURE
                if system.kind == EPHEMERAL
                else "free space, choose a smaller --scale, or name larger directories with "
                + ", ".join(f"--{role}" for role in roles)
                + (", or let the space decide with --volume-order free-space" if others else ""),
            )


def _missing_inputs(plan: Plan, needed: Needs, volumes: Volumes) -> Iterator[int]:
    """Bytes of each table that no volume of data holds finished."""
    places = [volume / INPUTS_DIRECTORY for volume in volumes.directories["data"]]
    tables = inputs_of(plan)
    for need in needed.tables:
        request = _table_request(plan, need)
        if not any((request.directory(tables[need.table], place) / MANIFEST).is_file() for place in places):
            yield need.bytes


def _table_request(plan: Plan, need: TableNeed) -> TableRequest:
    return TableRequest(
        table=need.table, scale=need.scale, seed=plan.seed, replica=need.replica, saving=plan.saving
    )
