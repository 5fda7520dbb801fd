"""Free space under the roles, one file system at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.measure.mounts import MEMORY_FILE_SYSTEMS, Mount, mount_of, parse_mountinfo
from mawl.model.run import VolumeFacts
from mawl.spec.places import is_there
from mawl.spec.program_options import Role


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


def system_of(place: Path, mounts: Sequence[Mount]) -> str:
    """What is the same for two places on one file system: the device that its mount shows.

    Not the device number of the directory: btrfs gives each subvolume one of its own.
    """
    mount = mount_of(place, mounts)
    if mount is not None:
        return mount.device
    device = place.stat().st_dev
    return f"{os.major(device)}:{os.minor(device)}"


def file_systems(
    roles: Mapping[Role, Sequence[Path]],
    needed_bytes: Mapping[Role, int] | None,
    mounts: Path = Path("/proc/self/mountinfo"),
    *,
    by_free_space: bool = False,
) -> list[FileSystem]:
    """The file systems of all volumes, with free and needed bytes.

    What a role needs is spread evenly over its volumes, or ``by_free_space`` in proportion to what is
    free on each.

    A directory that is not there yet counts with the nearest one above it that is.  Free bytes are
    those an unprivileged user may fill (statvfs(3) ``f_bavail``).
    """
    known = parse_mountinfo(_read(mounts))
    kinds = {mount.device: mount.file_system for mount in known}
    found: dict[str, FileSystem] = {}
    for role, volumes in roles.items():
        weights = weights_of(volumes, by_free_space)
        for volume, weight in zip(volumes, weights, strict=True):
            share = None if needed_bytes is None else needed_bytes[role] * weight // sum(weights)
            place = nearest(volume)
            device = system_of(place, known)
            space = space_of(place)
            here = found.get(device) or FileSystem(
                kind=kinds.get(device),
                size_bytes=space.size_bytes,
                free_bytes=space.free_bytes,
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


def in_memory_bytes(
    roles: Mapping[Role, Sequence[Path]],
    needed_bytes: Mapping[Role, int],
    mounts: Path = Path("/proc/self/mountinfo"),
    *,
    by_free_space: bool = False,
) -> int:
    """Needed bytes in memory file systems such as tmpfs, which count against a control group's limit."""
    return sum(
        system.needed_bytes or 0
        for system in file_systems(roles, needed_bytes, mounts, by_free_space=by_free_space)
        if system.kind in MEMORY_FILE_SYSTEMS
    )


def weights_of(volumes: Sequence[Path], by_free_space: bool) -> list[int]:
    """What part of a role's need each of its volumes takes: equal parts, or in proportion to free bytes."""
    weights = [space_of(nearest(volume)).free_bytes for volume in volumes] if by_free_space else []
    return weights if sum(weights) else [1] * len(volumes)


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a file system as df(1) shows them.

    Free is what an ordinary user may still write (``f_bavail``).
    What is kept for root is neither used nor free.
    """

    size_bytes: int
    used_bytes: int
    free_bytes: int

    @property
    def used_ratio(self) -> float:
        """Used over what used and free bytes are together."""
        return self.used_bytes / max(self.used_bytes + self.free_bytes, 1)


def space_of(directory: str | os.PathLike[str]) -> Space:
    """The space of the file system that a directory is on (statvfs(3)); raises OSError."""
    status = os.statvfs(directory)
    unit = status.f_frsize
    return Space(
        size_bytes=status.f_blocks * unit,
        used_bytes=(status.f_blocks - status.f_bfree) * unit,
        free_bytes=status.f_bavail * unit,
    )


def with_space(volumes: Sequence[VolumeFacts], *, after: bool) -> list[VolumeFacts]:
    """The volumes with size, used and free bytes of their file systems now: before the jobs, or after them.

    What cannot be looked at stays None.
    """
    return [_with_space(volume, after) for volume in volumes]


def _with_space(volume: VolumeFacts, after: bool) -> VolumeFacts:
    try:
        space = space_of(volume.directory)
    except OSError:
        return volume
    used, free = space.used_bytes, space.free_bytes
    if after:
        return msgspec.structs.replace(volume, used_after_bytes=used, free_after_bytes=free)
    return msgspec.structs.replace(
        volume, size_bytes=space.size_bytes, used_before_bytes=used, free_before_bytes=free
    )


def nearest(directory: Path) -> Path:
    """The directory itself, or the closest one above it that exists."""
    place = directory.absolute()
    while not is_there(place):
        place = place.parent
    return place


def _read(mounts: Path) -> str:
    """The text of mountinfo; empty where that is not readable."""
    try:
        return mounts.read_text(errors="replace")
    except OSError:
        return ""
