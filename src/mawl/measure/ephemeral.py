"""What a pod may keep on the disk of its node: Kubernetes' limit on local ephemeral storage.

The kubelet ends a pod whose writable layers, logs and ``emptyDir`` volumes together exceed the limit
(Kubernetes documentation, "Local ephemeral storage").  Neither statvfs(3) nor a control group shows the
limit: statvfs shows the whole disk of the node.  So the manifest passes it in a variable, in bytes, from
``limits.ephemeral-storage``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from mawl.errors import UsageError
from mawl.measure.mounts import Mount, mount_of, read_mounts
from mawl.measure.space import FileSystem, nearest, weights_of
from mawl.spec.program_options import Role
from mawl.units import parse_size

VARIABLE = "MAWL_EPHEMERAL_STORAGE"
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
    Raises :class:`~mawl.errors.UsageError` where the limit is no size.
    """
    limit = _limit(environment)
    if limit is None:
        return []
    mounts = read_mounts(proc)
    counted: dict[Role, list[Path]] = {}
    needed = 0
    for role, volumes in roles.items():
        weights = weights_of(volumes, by_free_space)
        for volume, weight in zip(volumes, weights, strict=True):
            if _counts(nearest(volume), mounts):
                counted.setdefault(role, []).append(volume)
                needed += 0 if needed_bytes is None else needed_bytes[role] * weight // sum(weights)
    places = [volume for volumes in counted.values() for volume in volumes]
    if not places:
        return []
    outer = {place for place in places if not any(other in place.parents for other in places)}
    others = {mount.mount_point for mount in mounts if not _is_own(mount)}
    return [
        FileSystem(
            kind=EPHEMERAL,
            size_bytes=limit,
            free_bytes=max(limit - sum(_held(place, others) for place in outer), 0),
            needed_bytes=None if needed_bytes is None else needed,
            roles=list(counted),
            directories=[str(place) for place in places],
            unwritable=[],
        )
    ]


def _limit(environment: Mapping[str, str]) -> int | None:
    text = environment.get(VARIABLE)
    if not text:
        return None
    try:
        return parse_size(text)
    except UsageError as error:
        cure = "hand over limits.ephemeral-storage (resourceFieldRef), as deploy/kubernetes/run.yaml does"
        raise UsageError(error.what, where=VARIABLE, cure=cure) from None


def _counts(place: Path, mounts: Sequence[Mount]) -> bool:
    """Whether files there are the pod's own on its node: the container's own layer, or an ``emptyDir`` that
    is not in memory."""
    mount = mount_of(place, mounts)
    return mount is not None and _is_own(mount)


def _is_own(mount: Mount) -> bool:
    return mount.mount_point == "/" or _EMPTY_DIR in mount.root


def _held(directory: Path, others: Set[str]) -> int:
    """Bytes that the files below a directory take, without the mount points ``others``; 0 if there is no such
    directory."""
    held = 0
    for folder, below, files in os.walk(directory):
        below[:] = [name for name in below if os.path.realpath(os.path.join(folder, name)) not in others]
        for file in files:
            with contextlib.suppress(OSError):  # another run may just remove it
                held += os.lstat(os.path.join(folder, file)).st_blocks * _BLOCK_BYTES
    return held
