"""network: jobs are blocked in I/O on a role whose storage is another machine's."""

from __future__ import annotations

from mawl.advice.limit.links import link_lines, server_part, told
from mawl.advice.limit.memory_part import memory_part
from mawl.advice.limit.plateau import plateau_lines
from mawl.advice.limit.ports import port_lines, port_part
from mawl.advice.limit.rule import Rule, RuleEvidence, pressure_line
from mawl.analysis.moments import Moment
from mawl.analysis.view import RunView
from mawl.spec.program_options import ROLES
from mawl.units import format_percent, format_rate


def _loss(moment: Moment, reading: RunView) -> float | None:
    """Time blocked in I/O of roles on network file systems, less what a watched server took of it, and of
    roles on block devices that are reached over full ports."""
    blocked, ports = _blocked(moment, reading), _at_ports(moment, reading)
    return None if blocked is None else min(blocked * (1.0 - server_part(moment)) + (ports or 0.0), 1.0)


def _at_ports(moment: Moment, reading: RunView) -> float | None:
    if moment.jobs_blocked is None:
        return None
    return moment.share(
        sum(
            moment.jobs_blocked[role]
            * (1.0 - memory_part(moment, reading, role))
            * port_part(moment, reading, role)
            for role in ROLES
            if role not in reading.network_roles()
        )
    )


def _blocked(moment: Moment, reading: RunView) -> float | None:
    """The same, whoever took it."""
    if moment.jobs_blocked is None:
        return None
    return moment.share(
        sum(
            moment.jobs_blocked[role] * (1.0 - memory_part(moment, reading, role))
            for role in reading.network_roles()
        )
    )


def _evidence(reading: RunView) -> list[RuleEvidence]:
    loss = reading.mean(lambda moment: _blocked(moment, reading))
    systems = sorted(
        {
            f"{volume.role} on {volume.file_system or 'a network file system'}"
            for volume in reading.facts.volumes
            if volume.network
        }
    )
    lines = []
    if loss is not None and systems:
        lines.append(
            RuleEvidence(
                kind="evidence",
                sentence=f"jobs were blocked in I/O over the network ({', '.join(systems)}) in "
                f"{format_percent(loss)} of their time",
            )
        )
    lines += port_lines(reading)
    lines += pressure_line(reading, "io_some", "tasks waited for I/O")
    lines += plateau_lines(reading, [moment.network_bytes_per_second for moment in reading.active])
    moved = reading.mean(lambda moment: moment.network_bytes_per_second)
    if moved is not None:
        lines.append(
            RuleEvidence(kind="support", sentence=f"the networks and fabrics moved {format_rate(moved)}")
        )
    lines += link_lines(reading)
    if told(reading) or not systems:
        return lines
    lines.append(
        RuleEvidence(
            kind="support",
            sentence="one run cannot separate the fabric from the server behind it; a run over a faster "
            "link with "
            "the same throughput and longer service times would name the server, as would --link with "
            "--storage-node",
        )
    )
    return lines


RULE = Rule(resource="network", loss=_loss, evidence=_evidence)
