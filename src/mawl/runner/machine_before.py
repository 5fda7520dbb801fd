"""What the machine was like just before a run: load by others, memory, and space under the roles."""

from __future__ import annotations

import time

from mawl.errors import UnsuitableMachineError
from mawl.measure.machine import read_machine
from mawl.measure.noise import NoiseWatch
from mawl.measure.space import file_systems
from mawl.model.run import FreeSpace, LoadBefore
from mawl.plan.needs import Needs
from mawl.plan.workload import Plan
from mawl.spec.program_options import VolumeOrder
from mawl.units import format_memory, whole_mib
from mawl.volumes import Volumes

LOOK_SECONDS = 0.5
MOST_NAMED = 3


def load_before() -> LoadBefore:
    """Look for half a second at who uses the processors; nothing of the run exists yet."""
    watch = NoiseWatch()
    time.sleep(LOOK_SECONDS)
    noise = watch.look()
    return LoadBefore(
        seconds=noise.seconds,
        busy_ratio=noise.busy_ratio,
        heavy=[process.name for process in noise.heavy[:MOST_NAMED]],
    )


def free_space(volumes: Volumes, needed: Needs, order: VolumeOrder) -> tuple[FreeSpace, ...]:
    """The file systems under the roles once the inputs are made, and what temporary tables will take."""
    temporary = {role: 0 if role == "data" else size for role, size in needed.space_bytes.items()}
    return tuple(
        FreeSpace(
            roles=system.roles,
            size_bytes=system.size_bytes,
            free_bytes=system.free_bytes,
            needed_bytes=system.needed_bytes,
        )
        for system in file_systems(volumes.directories, temporary, by_free_space=order == "free-space")
    )


def core_speed_for(plan: Plan) -> float | None:
    """The speed of this machine's cores, measured where a derived job asks for it: a fifth of a second."""
    if all(job.derived is None or job.derived.job.core_speed is None for job in plan.jobs()):
        return None
    # Here, not above: no other run needs the kernels in this process.
    from mawl.programs.derived_job.core_speed import core_speed

    return core_speed()


def check_memory(needed: Needs, memory_limit: int | None, in_memory_bytes: int = 0) -> str | None:
    """Refuse a run whose jobs do not fit; a warning when they fit only beside an empty machine.

    ``in_memory_bytes`` are files of the run on file systems that are memory, which every limit counts too.
    """
    machine = read_machine()
    bounds = {
        "--memory-limit": memory_limit,
        "the machine's memory": machine.memory_bytes,
        "the memory limit of this control group": machine.memory_limit_bytes,
    }
    need = (
        f"the jobs side by side need {format_memory(needed.memory_bytes)} of memory ({needed.memory_basis})"
    )
    if in_memory_bytes:
        need += f", and its files in memory {format_memory(in_memory_bytes)}"
    for name, bound in bounds.items():
        if bound is not None and needed.memory_bytes + in_memory_bytes > bound:
            raise UnsuitableMachineError(
                f"{need}, more than {name}, {format_memory(bound)}",
                cure="put all roles on disks, or choose a smaller scale"
                if in_memory_bytes
                else larger_limit(needed)
                if name == "--memory-limit"
                else "choose a smaller scale, fewer sessions, or less --option memsize=SIZE",
            )
    available = machine.memory_available_bytes
    if available is not None and needed.memory_bytes > available:
        free = format_memory(available)
        return f"{need} and {free} are available now; end other programs, or the run may swap"
    return None


def larger_limit(needed: Needs) -> str:
    """How to get a memory limit that the jobs fit into: the smallest one, and how to find a smaller one."""
    least = f"use --memory-limit {whole_mib(needed.memory_bytes)} or more"
    if needed.is_memory_measured:
        return least
    return f"{least}, or first run once without a limit: mawl then knows what the jobs really use"
