"""Block devices of recordings under roles, by patterns: ``--role work='hdisk1[0-9]'``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from mawl.errors import UsageError
from mawl.model.run import VolumeFacts
from mawl.spec.program_options import ROLES, Role

MOST_NAMED = 10

Place = tuple[str, str]
"""Node and device."""


def volumes_by_pattern(
    patterns: Mapping[Role, Sequence[re.Pattern[str]]], devices: Collection[Place]
) -> list[VolumeFacts]:
    """A volume for each device that a pattern of a role names as a whole.

    A partition is left out where its disk is in the role, too: its bytes are the disk's.  Raises
    :class:`~mawl.errors.UsageError` where a pattern names no device.
    """
    held: dict[Role, list[Place]] = {}
    for role, own in patterns.items():
        found: set[Place] = set()
        for pattern in own:
            named = {place for place in devices if pattern.fullmatch(place[1])}
            if not named:
                raise _no_match(role, pattern.pattern, devices)
            found |= named
        held[role] = sorted(
            place for place in found if not any(_is_partition(place, other) for other in found)
        )
    return [
        VolumeFacts(
            role=role,
            node=node,
            directory=f"device {device}",
            source=device,
            devices=[device],
            layers=[device],
            disks=[device],
            shared_with=[other for other in ROLES if other != role and (node, device) in held.get(other, ())],
        )
        for role in ROLES
        for node, device in held.get(role, ())
    ]


def _is_partition(place: Place, disk: Place) -> bool:
    """``sda1`` of sda, ``nvme0n1p1`` of nvme0n1; hdisk10 is none of hdisk1."""
    rest = place[1].removeprefix(disk[1])
    if place[0] != disk[0] or rest == place[1] or not rest or not disk[1]:
        return False
    return rest.isdecimal() if disk[1][-1].isalpha() else rest[0] == "p" and rest[1:].isdecimal()


def _no_match(role: Role, pattern: str, devices: Collection[Place]) -> UsageError:
    names = sorted({device for _, device in devices})
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return UsageError(
        "names no device of the recordings as a whole",
        where=f"--role {role}={pattern}",
        cure=f"their devices are {', '.join(names[:MOST_NAMED])}{more}"
        if names
        else "they hold no figures of devices",
    )
