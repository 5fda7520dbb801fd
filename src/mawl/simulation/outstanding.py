"""How many bytes a step has in the queue of a device at once.

If a device serves requests in the order in which they come, each waits equally long.  So a step with more
bytes in the queue gets more of the device (docs/design/simulation.md, Sharing).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from mawl.model.role_io import RoleIo, typical
from mawl.model.run import RunFacts
from mawl.simulation.demand import USUAL_REQUEST_BYTES, Direction
from mawl.spec.program_options import ROLES, Role

LINUX_READ_AHEAD_BYTES = 128 * 1024.0
"""What Linux reads ahead by default, where a run does not say."""

GATHERED_BYTES = 2.0 * 2**20
"""What ``--cache none`` has on its way of a file that is written; as much is assumed of the kernel's own
write-back."""

PAGE_BYTES = 4096.0

PAGES_A_WRITE = 2.0
"""A write that begins and ends within a page reads both of them first."""


def read_ahead_of(facts: RunFacts) -> Mapping[Role, float]:
    """Bytes that the kernel reads ahead in each role: the mean over its volumes, as the run recorded it."""
    told: defaultdict[Role, list[float]] = defaultdict(list)
    for volume in facts.volumes:
        inventory = facts.inventories.get(volume.node)
        mounts = inventory.families.get("file_system", {}) if inventory else {}
        ahead = mounts.get(volume.mount_point or "", {}).get("read_ahead_bytes")
        if isinstance(ahead, (int, float)):
            told[volume.role].append(float(ahead))
    return {role: fmean(told[role] or [LINUX_READ_AHEAD_BYTES]) for role in ROLES}


def outstanding_bytes(
    io: RoleIo,
    direction: Direction,
    *,
    device_bytes: float,
    direct_ratio: float,
    requests_at_once: float,
    read_ahead_bytes: float,
) -> float:
    """Bytes of a step in a role and direction that wait at its device at once: what it moved over its turns.

    A turn is one wait in the queue: for ``requests_at_once`` direct requests or reads at random, for as many
    times what the kernel reads ahead of other reads, for what it gathers of other writes, for a sync, for a
    close with ``--cache none``, or for a page that a write at random fills in part.
    """
    reads = direction == "read"
    moved = io.read_bytes if reads else io.written_bytes
    sizes = io.read_size_bytes_histogram if reads else io.write_size_bytes_histogram
    request = typical(sizes, 0.5) or USUAL_REQUEST_BYTES
    together = request * requests_at_once
    if reads:
        pages = max(device_bytes - moved, 0.0) / PAGE_BYTES
        cached = (
            io.sequential_read_bytes / (max(read_ahead_bytes, request) * requests_at_once)
            + (moved - io.sequential_read_bytes) / together
            + min(pages, PAGES_A_WRITE * _scattered_writes(io))
        )
    else:
        closes = min(io.opens, io.writes) if io.uncaching_seconds else 0
        cached = max(moved / GATHERED_BYTES, io.syncs, closes)
    turns = direct_ratio * moved / together + (1.0 - direct_ratio) * cached
    return max(device_bytes, moved) / turns if turns else USUAL_REQUEST_BYTES


def _scattered_writes(io: RoleIo) -> float:
    size = typical(io.write_size_bytes_histogram, 0.5) or USUAL_REQUEST_BYTES
    return (io.written_bytes - io.sequential_written_bytes) / size
