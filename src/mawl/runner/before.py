"""What the machine was like just before a run: load by others, memory, and space under the roles."""

from __future__ import annotations

import time

from mawl.errors import UnsuitableMachineError
from mawl.measure.machine import read_machine
from mawl.measure.noise import NoiseWatch
from mawl.measure.space import file_systems
from mawl.model.options import VolumeOrder
from mawl.model.run import FreeSpace, LoadBefore
from mawl.plan.needs import Needs
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


def check_memory(needed: Needs, memory_limit: int | None) -> str | None:
    """Refuse a run whose declared peaks do not fit; a warning when they fit only beside an empty machine."""
    machine = read_machine()
    bounds = {
        "the machine's memory": machine.memory_bytes,
        "the memory limit of this control group": machine.memory_limit_bytes,
        "--memory-limit": memory_limit,
    }
    for name, bound in bounds.items():
        if bound is not None and needed.memory_bytes > bound:
            raise UnsuitableMachineError(
                f"the jobs side by side may need {format_memory(needed.memory_bytes)} of memory, "
                f"more than {name}, {format_memory(bound)}",
                cure=(
                    "choose a smaller scale, fewer sessions, less --option memsize=SIZE, or a limit of "
                    f"{whole_mib(needed.memory_bytes)} or more"
                ),
            )
    available = machine.memory_available_bytes
    if available is not None and needed.memory_bytes > available:
        return (
            f"the jobs side by side may need {format_memory(needed.memory_bytes)} of memory and "
            f"{format_memory(available)} are available now; end other programs, or the run may swap"
        )
    return None
