"""What the machine was like just before a run: load by others, and space under the roles."""

from __future__ import annotations

import time

from mawl.measure.noise import NoiseWatch
from mawl.measure.space import file_systems
from mawl.model.options import VolumeOrder
from mawl.model.run import FreeSpace, LoadBefore
from mawl.plan.needs import Needs
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
