"""What control groups allow this process: memory and CPU time, version 1, 2 or both.

Sources: Linux Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst and
scheduler/sched-bwc.rst.  A limit of any group on the way to the root holds, so the smallest counts.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mawl.measure.mounts import read_mounts

_NO_LIMIT_BYTES = 2**60
"""Version 1 writes "no limit" as the largest whole page below 2**63; nothing real is this large."""


class GroupLimits(msgspec.Struct, frozen=True, kw_only=True):
    """None: no limit.  ``memory_available_bytes`` is what the tightest group has left, counting
    file cache that it can drop; ``cpu_cores`` is a quota in CPU seconds per second."""

    memory_bytes: int | None = None
    memory_available_bytes: int | None = None
    cpu_cores: float | None = None


def read_limits(proc: Path, sys: Path) -> GroupLimits:
    """The limits that hold for the calling process (``proc``/self); unreadable ones count as none."""
    paths = group_paths(proc / "self" / "cgroup")
    unified = unified_mount(sys)
    memory: list[tuple[int, int]] = []
    quotas: list[float] = []
    for group in upwards(unified, paths.get("")):
        memory += _memory(group, "memory.max", "memory.current", "inactive_file")
        quotas += _quota((_text(group / "cpu.max") or "").split())
    for group in upwards(sys / "fs" / "cgroup" / "memory", paths.get("memory")):
        memory += _memory(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    for group in upwards(sys / "fs" / "cgroup" / "cpu", paths.get("cpu")):
        quotas += _quota([_text(group / f"cpu.cfs_{part}_us") or "" for part in ("quota", "period")])
    return GroupLimits(
        memory_bytes=min((limit for limit, _ in memory), default=None),
        memory_available_bytes=min((left for _, left in memory), default=None),
        cpu_cores=min(quotas, default=None),
    )


def own_groups(proc: Path, sys: Path) -> list[Path]:
    """Directories of the groups that account for this process's memory and CPU time, if it is in any.

    The root group of a machine is none: its figures are the machine's.
    """
    paths = group_paths(proc / "self" / "cgroup")
    unified = unified_mount(sys)
    found = []
    for mount, path in (
        (unified, paths.get("")),
        (sys / "fs" / "cgroup" / "memory", paths.get("memory")),
        (sys / "fs" / "cgroup" / "cpu", paths.get("cpu")),
    ):
        group = next(upwards(mount, path), None)
        # In a container the mount may show its own group as the root, which then has a parent outside.
        if group is not None and (group != mount or is_nested(mount)):
            found.append(group)
    return found


def unified_mount(sys: Path) -> Path:
    """Where version 2 is mounted: alone, or beside version 1; the directory need not exist."""
    alone = sys / "fs" / "cgroup"
    return alone if _mode(alone / "cgroup.controllers") else alone / "unified"


def is_nested(mount: Path) -> bool:
    """Whether the root of a mount is a group below the machine's root: only such have these files."""
    if _mode(mount / "cgroup.type"):
        return True
    limit = _text(mount / "memory.limit_in_bytes") or ""
    quota = _text(mount / "cpu.cfs_quota_us") or "-1"
    return (limit.isdigit() and int(limit) < _NO_LIMIT_BYTES) or quota != "-1"


def shows_more(mount: Path, proc: Path, sys: Path) -> bool:
    """Whether a mount begins above the groups of this process's namespace, as the host's in a container does.

    Paths of ``/proc/self/cgroup`` begin at the namespace, so that they lead to another group there
    (cgroup_namespaces(7): mountinfo then shows ``/..`` as the root).
    """
    point = f"/{mount.relative_to(sys.parent)}"
    made = [one for one in read_mounts(proc) if one.mount_point == point]
    return bool(made) and made[-1].root.startswith("/..")


def container_name(proc: Path, root: Path) -> str | None:
    """What kind of container this process runs in, or None: marks that container engines leave.

    A pod is known by a variable that Kubernetes sets in each (its documentation, "Accessing the API").
    """
    if "\0KUBERNETES_SERVICE_HOST=" in f"\0{_text(proc / 'self' / 'environ') or ''}":
        return "kubernetes"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run" / ".containerenv").exists():
        return "podman"
    told = _text(root / "run" / "systemd" / "container")
    if told:
        return told
    groups = _text(proc / "1" / "cgroup") or ""
    for mark, name in (
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("lxc", "lxc"),
    ):
        if mark in groups:
            return name
    return None


def group_paths(listing: Path) -> dict[str, str]:
    """Controller to path of the group ("" for version 2), from lines ``ID:CONTROLLERS:PATH``."""
    found: dict[str, str] = {}
    for line in (_text(listing) or "").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if path:  # else it is no such line
            found.update(dict.fromkeys(controllers.split(","), path))
    return found


def upwards(mount: Path, path: str | None) -> Iterator[Path]:
    """A group's directory and those above it, up to the mount.

    In a container the path may be the host's, which the mount does not show: then its root is ours.
    """
    if path is None or not stat.S_ISDIR(_mode(mount)):
        return
    group = mount / path.lstrip("/")
    if ".." in group.parts or not stat.S_ISDIR(_mode(group)):
        group = mount
    while True:
        yield group
        if group == mount:
            return
        group = group.parent


def _memory(group: Path, limit_file: str, usage_file: str, cache_key: str) -> list[tuple[int, int]]:
    limit, used = _text(group / limit_file), _text(group / usage_file)
    if limit is None or not limit.isdigit() or int(limit) >= _NO_LIMIT_BYTES:
        return []
    cache = 0
    for line in (_text(group / "memory.stat") or "").splitlines():
        key, _, value = line.partition(" ")
        if key == cache_key:
            cache = int(value)
    held = int(used) - cache if used is not None and used.isdigit() else 0
    return [(int(limit), max(int(limit) - max(held, 0), 0))]


def _quota(words: list[str]) -> list[float]:
    """CPUs from quota and period in microseconds; ``max`` and -1 mean no quota."""
    if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]) > 0:
        return [int(words[0]) / int(words[1])]
    return []


def _mode(path: Path) -> int:
    """What kind of file it is, and its permissions; 0 where it is not there or may not be seen."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
