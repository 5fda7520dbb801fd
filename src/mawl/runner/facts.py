"""What is known of a run before its first job: the facts that its folder begins with."""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Mapping, Sequence
from importlib import metadata

from mawl.measure.block_devices import volume_facts
from mawl.measure.caps import with_caps
from mawl.measure.machine import Machine
from mawl.measure.ports import ports
from mawl.measure.settings.inventory import inventory_of
from mawl.measure.space import with_space
from mawl.measure.topology import read_topology
from mawl.model.run import CacheFacts, NodeFacts, Phases, PlannedJob, RunFacts, WorkloadFacts
from mawl.plan.derived import digest_of
from mawl.plan.programs import Program
from mawl.plan.scale import scale_name
from mawl.plan.workload import Plan
from mawl.runner.request import RunRequest
from mawl.spec.program_options import ROLES
from mawl.version import __version__, source_sha256
from mawl.volumes import Volumes

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
        ),
        outcome="running",
        started_at=time.time(),
        command=list(command),
        spec=request.spec,
        derived=digest_of(plan),
        start_mode=request.spec.start,
        on_failure=request.spec.on_failure,
        nodes=[_node(request, machine, node)],
        planned_jobs=planned_jobs(plan, request.catalogue, node),
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
        alone=list(request.alone),
        load_before=request.load_before,
        free_space=list(request.free_space),
        phases=Phases(generate_seconds=generate_seconds),
    )


def planned_jobs(plan: Plan, catalogue: Mapping[str, Program], node: str) -> list[PlannedJob]:
    """What a reader needs to name a job that left no record."""
    return [
        PlannedJob(
            job=job.job,
            program=job.program,
            program_class=catalogue[job.program].program_class,
            session=job.session,
            stage=job.stage,
            node=node,
            replica=job.replica,
            gate=job.gate,
            trail_out=job.trail_out,
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
    )


def _software() -> dict[str, str | None]:
    found: dict[str, str | None] = dict.fromkeys(SOFTWARE)
    for package in SOFTWARE:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
