"""Bytes by role at the devices: beside the jobs' own account, and instead of it where there is none."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.analysis.blocks import Missing
from mawl.analysis.counter_gains import amount
from mawl.analysis.series import RunSamples
from mawl.model.run import RunFacts, VolumeFacts
from mawl.model.summary.io import DevicesByRole, RoleDeviceBytes
from mawl.spec.program_options import ROLES, Role

PATH = "io.devices_by_role"


def devices_by_role(
    facts: RunFacts, samples: RunSamples | None, edges: Sequence[float] | None, missing: Missing
) -> DevicesByRole | None:
    """Bytes that moved at the devices of each role, whoever asked for them, from first start to last end.

    Only where each role has devices of its own: what two roles share, the devices cannot split.
    """
    volumes = {role: [volume for volume in facts.volumes if volume.role == role] for role in ROLES}
    why = _not_split(volumes)
    if why is not None or samples is None or edges is None:
        hint = " (mawl import --role)" if why and facts.kind == "imported" and samples is not None else ""
        missing[PATH] = f"{why}{hint}" if why else "the run holds no samples of the host"
        return None
    span = (edges[0], edges[-1])
    return DevicesByRole(
        **{
            role: RoleDeviceBytes(
                read_bytes=_moved(facts, samples, volumes[role], "read_bytes", span),
                written_bytes=_moved(facts, samples, volumes[role], "written_bytes", span),
            )
            for role in ROLES
        }
    )


def _not_split(volumes: dict[Role, list[VolumeFacts]]) -> str | None:
    for role, own in volumes.items():
        if not own or any(not volume.devices for volume in own):
            return f"no device of {role} is known"
        shared = sorted({other for volume in own for other in volume.shared_with})
        if shared:
            return f"{role} shares a device with {' and '.join(shared)}"
    return None


def _moved(
    facts: RunFacts,
    samples: RunSamples,
    volumes: Sequence[VolumeFacts],
    figure: str,
    span: tuple[float, float],
) -> float | None:
    places = sorted({(volume.node, device) for volume in volumes for device in volume.devices})
    total = 0.0
    for node, device in places:
        moved = amount(facts, samples, node, f"device.{device}.{figure}", span)
        if moved is None:
            return None
        total += moved
    return total
