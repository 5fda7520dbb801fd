"""Free space under the roles, one file system at a time."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.model.options import Role


class FileSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A file system that volumes lie on; several roles may share one.

    ``needed_bytes`` is what a plan will put there (a role's need spread evenly over its volumes);
    None without a plan.  ``kind`` is the type in mountinfo (``ext4``), None where it is not listed.
    """

    kind: str | None
    size_bytes: int
    free_bytes: int
    needed_bytes: int | None
    roles: list[Role]
    directories: list[str]
    unwritable: list[str]


def file_systems(
    roles: Mapping[Role, Sequence[Path]],
    needed_bytes: Mapping[Role, int] | None,
    mounts: Path = Path("/proc/self/mountinfo"),
) -> list[FileSystem]:
    """The file systems of all volumes, with free and needed bytes.

    A directory that is not there yet counts with the nearest one above it that is.  Free bytes are
    those an unprivileged user may fill (statvfs(3) ``f_bavail``).
    """
    kinds = _kinds(mounts)
    found: dict[int, FileSystem] = {}
    for role, volumes in roles.items():
        share = None if needed_bytes is None else needed_bytes[role] // len(volumes)
        for volume in volumes:
            place = nearest(volume)
            device = place.stat().st_dev
            space = os.statvfs(place)
            here = found.get(device) or FileSystem(
                kind=kinds.get(f"{os.major(device)}:{os.minor(device)}"),
                size_bytes=space.f_blocks * space.f_frsize,
                free_bytes=space.f_bavail * space.f_frsize,
                needed_bytes=None if share is None else 0,
                roles=[],
                directories=[],
                unwritable=[],
            )
            writable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
            found[device] = msgspec.structs.replace(
                here,
                needed_bytes=None if share is None else (here.needed_bytes or 0) + share,
                roles=here.roles if role in here.roles else [*here.roles, role],
                directories=[*here.directories, str(volume)],
                unwritable=here.unwritable if writable else [*here.unwritable, str(volume)],
            )
    return list(found.values())


def nearest(directory: Path) -> Path:
    """The directory itself, or the closest one above it that exists."""
    place = directory.absolute()
    while not place.exists():
        place = place.parent
    return place


def _kinds(mounts: Path) -> dict[str, str]:
    """Device number to file-system type, from lines of mountinfo (proc_pid_mountinfo(5))."""
    try:
        text = mounts.read_text(errors="replace")
    except OSError:
        return {}
    return dict(re.findall(r"^\d+ \d+ (\d+:\d+) .*? - (\S+)", text, re.MULTILINE))
