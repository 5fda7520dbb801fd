"""Demands of roles with round figures."""

from __future__ import annotations

from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import ROLES, Role
from mawl.whatif.placement.demand import PlacementDemand
from tests.fakes.probed import MB


def demand(
    role: Role,
    read: float,
    written: float,
    *,
    sequential: float = 1.0,
    blocked: float = 10.0,
    peak: int | None = 10**9,
    device: str = "slow",
    streams: float = 1.0,
) -> PlacementDemand:
    """Megabytes read and written in requests of 256 KiB, all of which reached the device."""
    volume = VolumeFacts(role=role, node="bench1", directory=f"/mnt/slow/{role}", devices=[device])
    return PlacementDemand(
        role=role,
        read_bytes=int(read * MB),
        written_bytes=int(written * MB),
        share_ratio=None,
        read_ratio=read / (read + written),
        device_read_bytes=read * MB,
        device_written_bytes=written * MB,
        device_measured=True,
        sequential_read_ratio=sequential,
        sequential_write_ratio=sequential,
        read_request_bytes=2**18,
        write_request_bytes=2**18,
        read_latency_seconds=0.01,
        write_latency_seconds=0.01,
        blocked_seconds=blocked,
        blocked_ratio=None,
        streams=streams,
        peak_used_bytes=peak,
        volumes=[volume],
    )


def three(
    data: float, work: float, util: float, blocked: tuple[float, float, float]
) -> dict[Role, PlacementDemand]:
    """The roles on one slow device, each reading so many megabytes."""
    sizes = (data, work, util)
    return {
        role: demand(role, size, 0.001, blocked=seconds)
        for role, size, seconds in zip(ROLES, sizes, blocked, strict=True)
    }
