"""Block storage over a network or fabric: its ports limit where they are full, else the storage behind."""

from __future__ import annotations

from mawl.advice.limit.rule import RuleEvidence
from mawl.analysis.links import FULL_RATIO
from mawl.analysis.moments import Moment
from mawl.analysis.ports import kinds_of_role
from mawl.analysis.view import RunView
from mawl.spec.program_options import ROLES
from mawl.units import format_percent

WORDS = {"fc": "fibre channel port", "ethernet": "network interface"}


def port_part(moment: Moment, reading: RunView, role: str) -> float:
    """The share (0 or 1) of the time blocked in I/O of a role that was for the ports to its devices.

    All of it in a window in which a port of the kind that its disks are attached by was full; none for disks
    inside the machine, and where no port tells its speed.
    """
    kinds = kinds_of_role(reading.facts, role)
    return 1.0 if any(moment.ports.get(kind, 0.0) >= FULL_RATIO for kind in kinds) else 0.0


def port_lines(reading: RunView) -> list[RuleEvidence]:
    """How full the ports were over which roles reach their disks."""
    kinds = sorted({kind for role in ROLES for kind in kinds_of_role(reading.facts, role)})
    lines = []
    for kind in kinds:
        shares = [moment.ports[kind] for moment in reading.active if kind in moment.ports]
        if shares:
            full = sum(share >= FULL_RATIO for share in shares)
            lines.append(
                RuleEvidence(
                    kind="evidence",
                    sentence=f"the fullest {WORDS[kind]} carried {format_percent(max(shares))} of its "
                    "speed in "
                    f"its highest window, and at least {format_percent(FULL_RATIO)} in {full} of "
                    f"{len(shares)}",
                )
            )
    return lines
