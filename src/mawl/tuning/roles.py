"""Devices of each role of a run as a family of the inventory: worked out from the run, where it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mawl.model.inventory import Figures, Inventory
from mawl.model.run import VolumeFacts
from mawl.model.summary.judgement import Limit
from mawl.spec.program_options import ROLES

FAMILY = "roles"


def volumes_of_roles(volumes: Sequence[VolumeFacts], limit: Limit | None) -> dict[str, dict[str, Figures]]:
    """Node to role to its figures; ``limit`` is that of the run's summary.

    Roles without a device that is known (tmpfs, a network file system) are left out.
    """
    storage = limit is not None and limit.verdict == "storage"
    blamed = limit.role if limit is not None else None
    found: dict[str, dict[str, Figures]] = {}
    for role in ROLES:
        for node in dict.fromkeys(volume.node for volume in volumes):
            own = [volume for volume in volumes if (volume.role, volume.node) == (role, node)]
            devices = {device for volume in own for device in volume.disks or volume.devices}
            if devices:
                found.setdefault(node, {})[role] = {
                    "directories": len(own),
                    "devices": len(devices),
                    "limited": storage and blamed in (None, role),
                }
    return found


def with_roles(inventory: Inventory, roles: Mapping[str, Figures]) -> Inventory:
    """The inventory with the family beside those that the run recorded."""
    return msgspec.structs.replace(inventory, families={**inventory.families, FAMILY: dict(roles)})
