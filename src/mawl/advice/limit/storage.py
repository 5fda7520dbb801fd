"""storage: jobs are blocked in I/O on a role whose storage is this machine's, or a watched server's."""

from __future__ import annotations

from mawl.advice.limit.caps import cap_lines, caps_reached
from mawl.advice.limit.device import device_lines, device_totals
from mawl.advice.limit.links import link_lines, server_part
from mawl.advice.limit.memory_part import memory_part, reread_lines
from mawl.advice.limit.plateau import plateau_lines
from mawl.advice.limit.ports import port_part
from mawl.advice.limit.rule import Rule, RuleEvidence, pressure_line
from mawl.analysis.moments import Moment
from mawl.analysis.view import RunView, weighted_mean
from mawl.model.summary.judgement import ReachedCap
from mawl.spec.program_options import ROLES, Role
from mawl.units import format_percent


def role_losses(moment: Moment, reading: RunView) -> dict[Role, float] | None:
    """Share of the jobs' time blocked in I/O of each role, less memory's part."""
    if moment.jobs_blocked is None or not moment.jobs_running:
        return None
    elsewhere = reading.network_roles()
    return {
        role: (moment.share(moment.jobs_blocked[role]) or 0.0)
        * (1.0 - memory_part(moment, reading, role))
        * (server_part(moment) if role in elsewhere else 1.0 - port_part(moment, reading, role))
        for role in ROLES
    }


def place(reading: RunView, windows: list[Moment]) -> tuple[Role | None, str | None]:
    """The role that cost most in these windows, and the device that holds it where that is one.

    Where the role shares its device the device is what limits, and the role is only who asked most.
    """
    losses = [(role_losses(moment, reading) or {}, moment.seconds) for moment in windows]
    sums = {role: sum(loss.get(role, 0.0) * seconds for loss, seconds in losses) for role in ROLES}
    role = max(ROLES, key=lambda name: sums[name])
    if not sums[role]:
        return None, None
    devices = {device for volume in reading.volumes(role) for device in volume.devices}
    return role, devices.pop() if len(devices) == 1 else None


def reached(reading: RunView, role: Role) -> list[ReachedCap]:
    """The caps of control groups that a role came near while jobs waited for it."""
    return caps_reached(
        reading, role, [(role_losses(moment, reading) or {}).get(role) for moment in reading.active]
    )


def _loss(moment: Moment, reading: RunView) -> float | None:
    losses = role_losses(moment, reading)
    return None if losses is None else sum(losses.values())


def _evidence(reading: RunView) -> list[RuleEvidence]:
    losses = [(role_losses(moment, reading) or {}, moment.seconds) for moment in reading.active]
    shares = {role: weighted_mean([(loss.get(role), seconds) for loss, seconds in losses]) for role in ROLES}
    known = {role: share for role, share in shares.items() if share is not None}
    lines = []
    if known:
        by_role = ", ".join(f"{role} {format_percent(share)}" for role, share in known.items())
        lines.append(
            RuleEvidence(
                kind="evidence", sentence=f"jobs were blocked in I/O, as shares of their time: {by_role}"
            )
        )
    role, device = place(reading, reading.active)
    if role is not None:
        lines += cap_lines(role, reached(reading, role))
    lines += link_lines(reading)
    lines += pressure_line(reading, "io_some", "tasks waited for I/O")
    again = reread_lines(reading)
    if device is None:
        return [
            *lines,
            *plateau_lines(reading, [moment.device["total"] for moment in reading.active]),
            *again,
        ]
    return [
        *lines,
        *plateau_lines(reading, device_totals(reading, device)["total"]),
        *device_lines(reading, device),
        *again,
    ]


RULE = Rule(resource="storage", loss=_loss, evidence=_evidence)
