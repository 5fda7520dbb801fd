"""What a run asked of the storage of each role."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.blocks import counted
from mawl.errors import MawlError
from mawl.model.records import JobRecord
from mawl.model.role_io import RoleIo, sum_by_role
from mawl.model.run import RunFacts, VolumeFacts
from mawl.model.summary.io import RoleFigures
from mawl.model.summary.summary import Summary
from mawl.placement.metrics import RoleAsked
from mawl.spec.program_options import ROLES, Role


class PlacementDemand(RoleAsked, frozen=True, kw_only=True):
    """One role in a run; bytes are the application's, of the jobs that count.

    ``device_*_bytes`` are those at the role's devices, where each role has its own, else the
    application's times the run's reach, which does not tell roles apart; None where reach is not known.
    ``blocked_seconds`` are the jobs' in this role, of ``real_time_seconds`` in all.  ``streams`` are the
    calls in flight at a time, on average while the run lasted.
    """

    role: Role
    volumes: list[VolumeFacts]

    @property
    def moved(self) -> tuple[float, float]:
        """Bytes read and written that the storage has to carry: at the device, where that is known."""
        if self.device_read_bytes is None or self.device_written_bytes is None:
            return float(self.read_bytes), float(self.written_bytes)
        return self.device_read_bytes, self.device_written_bytes


def demands(facts: RunFacts, jobs: Sequence[JobRecord], summary: Summary) -> dict[Role, PlacementDemand]:
    """The demand of every role.

    Raises :class:`~mawl.errors.MawlError` for a run that did not measure I/O and waits by role.
    """
    good = counted(jobs)
    by_role, wait = summary.io.by_role, summary.wait
    blocked = wait.blocked_seconds if wait else None
    if by_role is None or any(blocked is None or getattr(blocked, role) is None for role in ROLES):
        missing = summary.missing
        raise MawlError(
            "the run did not record what its roles asked of the storage",
            where=facts.run_id,
            why=missing.get("io.by_role") or missing.get("wait") or "some of its jobs have no waits by role",
            cure="run it again where I/O by role can be measured (mawl doctor)",
        )
    sums = sum_by_role(job.io for job in good if job.io is not None)
    return {role: _demand(role, facts, sums[role], by_role[role], summary) for role in ROLES}


def _demand(role: Role, facts: RunFacts, io: RoleIo, calls: RoleFigures, summary: Summary) -> PlacementDemand:
    time, wait = summary.time, summary.wait
    blocked = (getattr(wait.blocked_seconds, role) if wait else None) or 0.0
    inside = io.read_seconds + io.write_seconds + io.sync_seconds + io.open_seconds
    elapsed, real = time.elapsed_seconds, time.real_time_seconds
    measured = _at_devices(role, summary)
    read, written = measured or _by_reach(io, summary)
    return PlacementDemand(
        role=role,
        read_bytes=io.read_bytes,
        written_bytes=io.written_bytes,
        share_ratio=calls.share_ratio,
        read_ratio=_ratio(io.read_bytes, io.read_bytes + io.written_bytes),
        device_read_bytes=read,
        device_written_bytes=written,
        device_measured=measured is not None,
        sequential_read_ratio=_ratio(io.sequential_read_bytes, io.read_bytes),
        sequential_write_ratio=_ratio(io.sequential_written_bytes, io.written_bytes),
        read_request_bytes=calls.read_request_bytes.p50,
        write_request_bytes=calls.write_request_bytes.p50,
        read_latency_seconds=calls.read_latency_seconds.mean,
        write_latency_seconds=calls.write_latency_seconds.mean,
        blocked_seconds=blocked,
        blocked_ratio=_ratio(blocked, real or 0.0),
        streams=max(inside / elapsed if elapsed else 1.0, 1.0),
        peak_used_bytes=summary.roles.of(role).peak_used_bytes,
        volumes=[volume for volume in facts.volumes if volume.role == role],
    )


def _at_devices(role: Role, summary: Summary) -> tuple[float, float] | None:
    devices = summary.io.devices_by_role
    own = devices.of(role) if devices else None
    if own is None or own.read_bytes is None or own.written_bytes is None:
        return None
    return own.read_bytes, own.written_bytes


def _by_reach(io: RoleIo, summary: Summary) -> tuple[float | None, float | None]:
    reach = summary.io.reach
    if reach.read_ratio is None or reach.write_ratio is None:
        return None, None
    return io.read_bytes * reach.read_ratio, io.written_bytes * reach.write_ratio


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
