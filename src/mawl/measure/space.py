"""Free and used space of the file systems under the roles, and the pod's limit on ephemeral storage.

The kubelet ends a pod whose writable layers, logs and ``emptyDir`` volumes together exceed the limit
(Kubernetes documentation, "Local ephemeral storage").  Neither statvfs(3) nor a control group shows the
limit: statvfs shows the whole disk of the node.  So the manifest passes it in a variable, in bytes, from
``limits.ephemeral-storage``.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Future
from pathlib import Path
from threading import Thread

import msgspec

from mawl.base.errors import UsageError
from mawl.base.units import parse_size
from mawl.measure.devices import MEMORY_FILE_SYSTEMS, Mount, mount_of, parse_mountinfo, read_mounts
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Role, is_there


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
    known = parse_mountinfo(_mountinfo_text(mounts))
    kinds = {mount.device: mount.file_system for mount in known}
    systems: dict[str, FileSystem] = {}
    for role, volumes in roles.items():
        weights = weights_of(volumes, by_free_space)
        for volume, weight in zip(volumes, weights, strict=True):
            share = None if needed_bytes is None else needed_bytes[role] * weight // sum(weights)
            place = nearest(volume)
            device = system_of(place, known)
            space = space_of(place)
            here = systems.get(device) or FileSystem(
                kind=kinds.get(device),
                size_bytes=space.size_bytes,
                free_bytes=space.free_bytes,
                needed_bytes=None if share is None else 0,
                roles=[],
                directories=[],
                unwritable=[],
            )
            writable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
            systems[device] = msgspec.structs.replace(
                here,
                needed_bytes=None if share is None else (here.needed_bytes or 0) + share,
                roles=here.roles if role in here.roles else [*here.roles, role],
                directories=[*here.directories, str(volume)],
                unwritable=here.unwritable if writable else [*here.unwritable, str(volume)],
            )
    return list(systems.values())


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


def _mountinfo_text(mounts: Path) -> str:
    """The text of mountinfo; empty where that is not readable."""
    try:
        return mounts.read_text(errors="replace")
    except OSError:
        return ""


EPHEMERAL_VARIABLE = "MAWL_EPHEMERAL_STORAGE"
EPHEMERAL = "ephemeral storage of the pod"
"""The ``kind`` of this limit among file systems, which have their type there."""

EPHEMERAL_CURE = (
    "raise limits.ephemeral-storage, give the roles claims of their own, or choose a smaller --scale"
)

_EMPTY_DIR = "/volumes/kubernetes.io~empty-dir/"
"""In the path of each emptyDir volume below the kubelet's directory, which mountinfo shows as its root."""

_BLOCK_BYTES = 512
"""The unit of ``st_blocks`` (stat(2))."""


def ephemeral_storage(
    roles: Mapping[Role, Sequence[Path]],
    needed_bytes: Mapping[Role, int] | None,
    *,
    by_free_space: bool = False,
    environment: Mapping[str, str] = os.environ,
    proc: Path = Path("/proc"),
) -> list[FileSystem]:
    """The ephemeral storage as one more file system, with the directories that count against its limit.

    Empty without a limit, or where no directory counts.  Free is the limit less what lies in these
    directories; logs and other volumes of the pod are not seen.
    Raises ``UsageError`` where the limit is no size.
    """
    limit = _ephemeral_limit(environment)
    if limit is None:
        return []
    mounts = read_mounts(proc)
    counted: dict[Role, list[Path]] = {}
    needed = 0
    for role, volumes in roles.items():
        weights = weights_of(volumes, by_free_space)
        for volume, weight in zip(volumes, weights, strict=True):
            if _counts_for_pod(nearest(volume), mounts):
                counted.setdefault(role, []).append(volume)
                needed += 0 if needed_bytes is None else needed_bytes[role] * weight // sum(weights)
    places = [volume for volumes in counted.values() for volume in volumes]
    if not places:
        return []
    outer = {place for place in places if not any(other in place.parents for other in places)}
    others = {mount.mount_point for mount in mounts if not _is_of_pod(mount)}
    return [
        FileSystem(
            kind=EPHEMERAL,
            size_bytes=limit,
            free_bytes=max(limit - sum(_held_bytes(place, others) for place in outer), 0),
            needed_bytes=None if needed_bytes is None else needed,
            roles=list(counted),
            directories=[str(place) for place in places],
            unwritable=[],
        )
    ]


def _ephemeral_limit(environment: Mapping[str, str]) -> int | None:
    text = environment.get(EPHEMERAL_VARIABLE)
    if not text:
        return None
    try:
        return parse_size(text)
    except UsageError as error:
        cure = "hand over limits.ephemeral-storage (resourceFieldRef), as deploy/kubernetes/run.yaml does"
        raise UsageError(error.what, where=EPHEMERAL_VARIABLE, cure=cure) from None


def _counts_for_pod(place: Path, mounts: Sequence[Mount]) -> bool:
    """Whether files there are the pod's own on its node: the container's own layer, or an ``emptyDir`` that
    is not in memory."""
    mount = mount_of(place, mounts)
    return mount is not None and _is_of_pod(mount)


def _is_of_pod(mount: Mount) -> bool:
    return mount.mount_point == "/" or _EMPTY_DIR in mount.root


def _held_bytes(directory: Path, others: Set[str]) -> int:
    """Bytes that the files below a directory take, without the mount points ``others``; 0 if there is no such
    directory."""
    held = 0
    for folder, below, files in os.walk(directory):
        below[:] = [name for name in below if os.path.realpath(os.path.join(folder, name)) not in others]
        for file in files:
            with contextlib.suppress(OSError):  # another run may just remove it
                held += os.lstat(os.path.join(folder, file)).st_blocks * _BLOCK_BYTES
    return held


MOST_COST_RATIO = 0.002
"""After a look that took a second there is none for 500: many files are looked at less often."""

SHORTEST_SECONDS = 2.0

PATIENCE_SECONDS = 0.02
"""Whoever asks waits as long for a look, which is enough for some thousand files."""


class Occupancy:
    """Looks at the run's own directory on each volume, every two seconds or less often, in its own thread.

    So neither many files nor a file system that hangs stop whoever asks.  Files that are open and have no
    name any more are not seen.
    """

    def __init__(self, directories: Sequence[Path], clock: Callable[[], float] = time.perf_counter) -> None:
        self._directories = directories
        self._clock = clock
        self._next = 0.0
        self._look: Future[tuple[dict[str, float], float]] | None = None

    def series(self, monotonic: float) -> dict[str, float]:
        """``volume.N.used_bytes`` of all volumes; nothing where no look is due, or the last one goes on."""
        if not self._directories or (self._look is None and monotonic < self._next):
            return {}
        if self._look is None:
            self._look = Future()
            Thread(target=self._walk, args=(self._look,), daemon=True).start()
        try:
            found, took = self._look.result(timeout=PATIENCE_SECONDS)
        except TimeoutError:
            return {}
        self._look = None
        # A little less, so that a tick that comes early is not left out.
        self._next = monotonic + max(SHORTEST_SECONDS - 0.5, took / MOST_COST_RATIO)
        return found

    def _walk(self, look: Future[tuple[dict[str, float], float]]) -> None:
        began = self._clock()
        found = {
            f"volume.{number}.used_bytes": float(allocated_bytes(directory))
            for number, directory in enumerate(self._directories, 1)
        }
        look.set_result((found, self._clock() - began))


def allocated_bytes(directory: str | os.PathLike[str]) -> int:
    """Bytes that the file system holds for the files under a directory; what goes meanwhile is nothing."""
    total = 0
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        total += allocated_bytes(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                except OSError:
                    continue
    except OSError:
        return total
    return total
