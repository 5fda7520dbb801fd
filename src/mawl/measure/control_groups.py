"""Limits of this process's control groups (version 1, 2 or both): memory, CPU time, and I/O of each device.

Sources: Linux Documentation/admin-guide/cgroup-v1/memory.rst and blkio-controller.rst, cgroup-v2.rst,
scheduler/sched-bwc.rst, and ``throtl_pd_init`` of block/blk-throttle.c.  A limit of any group on the way to
the root holds, so the smallest counts.  I/O limits of version 1 are the exception: only those of the
process's own group hold.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from mawl.measure.devices import Mount, only_path, read_mounts, small_text
from mawl.records.model.node import Direction, IoCap
from mawl.records.model.run import VolumeFacts

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
        quotas += _quota((small_text(group / "cpu.max") or "").split())
    for group in upwards(sys / "fs" / "cgroup" / "memory", paths.get("memory")):
        memory += _memory(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    for group in upwards(sys / "fs" / "cgroup" / "cpu", paths.get("cpu")):
        quotas += _quota([small_text(group / f"cpu.cfs_{part}_us") or "" for part in ("quota", "period")])
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
    limit = small_text(mount / "memory.limit_in_bytes") or ""
    quota = small_text(mount / "cpu.cfs_quota_us") or "-1"
    return (limit.isdigit() and int(limit) < _NO_LIMIT_BYTES) or quota != "-1"


def shows_more(mount: Path, proc: Path, sys: Path) -> bool:
    """Whether a mount begins above the groups of this process's namespace, as the host's in a container does.

    Paths of ``/proc/self/cgroup`` begin at the namespace, so that they lead to another group there
    (cgroup_namespaces(7): mountinfo then shows ``/..`` as the root).
    """
    point = f"/{mount.relative_to(sys.parent)}"
    made = [mount for mount in read_mounts(proc) if mount.mount_point == point]
    return bool(made) and made[-1].root.startswith("/..")


def container_name(proc: Path, root: Path) -> str | None:
    """What kind of container this process runs in, or None: marks that container engines leave.

    A pod is known by a variable that Kubernetes sets in each (its documentation, "Accessing the API").
    """
    if "\0KUBERNETES_SERVICE_HOST=" in f"\0{small_text(proc / 'self' / 'environ') or ''}":
        return "kubernetes"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run" / ".containerenv").exists():
        return "podman"
    told = small_text(root / "run" / "systemd" / "container")
    if told:
        return told
    groups = small_text(proc / "1" / "cgroup") or ""
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
    for line in (small_text(listing) or "").splitlines():
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
    limit, used = small_text(group / limit_file), small_text(group / usage_file)
    if limit is None or not limit.isdigit() or int(limit) >= _NO_LIMIT_BYTES:
        return []
    cache = 0
    for line in (small_text(group / "memory.stat") or "").splitlines():
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


Unit = Literal["bytes", "requests"]

IO_FILES_VERSION_1: dict[str, tuple[Direction, Unit]] = {
    "blkio.throttle.read_bps_device": ("read", "bytes"),
    "blkio.throttle.write_bps_device": ("write", "bytes"),
    "blkio.throttle.read_iops_device": ("read", "requests"),
    "blkio.throttle.write_iops_device": ("write", "requests"),
}
IO_KEYS_VERSION_2: dict[str, tuple[Direction, Unit]] = {
    "rbps": ("read", "bytes"),
    "wbps": ("write", "bytes"),
    "riops": ("read", "requests"),
    "wiops": ("write", "requests"),
}
NO_DEVICE = "no block device is known for it"
LARGEST_FILE_BYTES = 2**20
"""Of one file: a line for each of 20,000 devices."""
_LARGEST_LIMIT = 2**64 - 1
"""The kernel's limits are whole numbers of 64 bits."""


class IoLimit(NamedTuple):
    """A limit of a group: ``number`` is the device's MAJOR:MINOR."""

    number: str
    direction: Direction
    unit: Unit
    value: int
    file: str


class UnknownCapsError(Exception):
    """Why the caps cannot be known; never leaves this module."""


def with_caps(
    volumes: Sequence[VolumeFacts], proc: Path = Path("/proc"), sys: Path = Path("/sys")
) -> list[VolumeFacts]:
    """The volumes with the caps on their devices, the strictest of each device, direction and unit.

    Nothing is raised.  ``caps`` is empty if there is no cap and None if that is not known; ``caps_reason``
    says why.
    """
    mounts = read_mounts(proc)
    try:
        held, none = io_limits(proc, sys)
    except UnknownCapsError as error:
        return [msgspec.structs.replace(volume, caps_reason=f"not known: {error}") for volume in volumes]
    return [_with_caps(volume, held, none, mounts, sys) for volume in volumes]


def with_caps_after(
    volumes: Sequence[VolumeFacts], proc: Path = Path("/proc"), sys: Path = Path("/sys")
) -> list[VolumeFacts]:
    """The volumes of a run that has ended; caps that changed during it count as not known."""
    return [
        msgspec.structs.replace(one, caps=None, caps_reason="not known: they changed during the run")
        if one.caps is not None and now.caps is not None and now.caps != one.caps
        else one
        for one, now in zip(volumes, with_caps(volumes, proc, sys), strict=True)
    ]


def _with_caps(
    volume: VolumeFacts, held: Sequence[IoLimit], none: str, mounts: Sequence[Mount], sys: Path
) -> VolumeFacts:
    if not volume.devices:
        return msgspec.structs.replace(volume, caps_reason=f"not known: {volume.reason or NO_DEVICE}")
    paths = {device: only_path(device, mounts, sys) for device in volume.devices}
    caps = []
    for layer in volume.layers:
        try:
            number = (sys / "class/block" / layer / "dev").read_text(errors="replace").strip()
        except OSError:
            why = f"not known: the kernel does not give the number of {layer}"
            return msgspec.structs.replace(volume, caps_reason=why)
        carries = [device for device, path in paths.items() if layer in path]
        caps += [_cap(layer, one, carries) for one in _strictest(held, number)]
    return msgspec.structs.replace(volume, caps=caps, caps_reason=None if caps else none)


def _strictest(held: Sequence[IoLimit], number: str) -> list[IoLimit]:
    limits: dict[tuple[Direction, Unit], IoLimit] = {}
    for one in held:
        before = limits.get((one.direction, one.unit))
        if one.number == number and (before is None or one.value < before.value):
            limits[one.direction, one.unit] = one
    return list(limits.values())


def _cap(device: str, held: IoLimit, carries: list[str]) -> IoCap:
    return IoCap(
        device=device,
        direction=held.direction,
        bytes_per_second=held.value if held.unit == "bytes" else None,
        requests_per_second=held.value if held.unit == "requests" else None,
        file=held.file,
        carries=carries,
    )


def io_limits(proc: Path, sys: Path) -> tuple[list[IoLimit], str]:
    """All limits that hold for this process, of any device; and what to say of a device without one.

    Raises ``UnknownCapsError`` where a file is missing, unreadable or not understood.
    """
    paths = group_paths(proc / "self" / "cgroup")
    mount = sys / "fs" / "cgroup" / "blkio" if "blkio" in paths else unified_mount(sys)
    if shows_more(mount, proc, sys):
        raise UnknownCapsError(
            f"{mount} shows groups outside of this process's namespace, and not which of them is its own"
        )
    try:
        return _version_1(mount, paths["blkio"]) if "blkio" in paths else _version_2(mount, paths.get(""))
    except OSError as error:
        raise _unreadable(error.filename, error) from None


def _version_1(mount: Path, path: str) -> tuple[list[IoLimit], str]:
    group = next(upwards(mount, path), None)
    if group is None:
        raise UnknownCapsError(f"{mount} is not there")
    held = []
    for name, (direction, unit) in IO_FILES_VERSION_1.items():
        file = group / name
        for line in _lines(file):
            number, *values = line.split()
            limit = _parse_limit(" ".join(values))
            if limit is None or not _is_device_number(number):
                raise _not_understood(file, line)
            held.append(IoLimit(number, direction, unit, limit, str(file)))
    return held, f"no cap: the files blkio.throttle.*_device of {group} name none of its devices"


def _version_2(mount: Path, path: str | None) -> tuple[list[IoLimit], str]:
    groups = list(upwards(mount, path))
    if not groups:
        raise UnknownCapsError(f"no control group of this process is shown below {mount}")
    if "io" not in _words(mount / "cgroup.controllers") and not is_nested(mount):
        raise UnknownCapsError("no control groups with an I/O controller are mounted")
    held = [one for group in groups for one in _io_max(group, at_mount=group == mount)]
    shown = "" if groups[0] == mount else f" and the groups above it up to {mount}"
    above = "; groups above that of the container are not shown" if is_nested(mount) else ""
    return held, f"no cap: io.max of {groups[0]}{shown} names none of its devices{above}"


def _io_max(group: Path, *, at_mount: bool) -> Iterator[IoLimit]:
    """The limits of one group.  The root group of a machine has none, nor has a group without the controller;
    above the root group of a container there may be others, so that one must show its own."""
    file = group / "io.max"
    if not file.exists():
        if at_mount and not is_nested(group):
            return
        if not at_mount and "io" not in _words(group / "cgroup.controllers"):
            return
    for line in _lines(file):
        number, *pairs = line.split()
        values = dict(pair.partition("=")[::2] for pair in pairs)
        if not _is_device_number(number) or not values.keys() & IO_KEYS_VERSION_2.keys():
            raise _not_understood(file, line)
        for name, (direction, unit) in IO_KEYS_VERSION_2.items():
            value = values.get(name, "max")
            if value == "max":
                continue
            limit = _parse_limit(value)
            if limit is None:
                raise _not_understood(file, line)
            yield IoLimit(number, direction, unit, limit, str(file))


def _is_device_number(word: str) -> bool:
    return re.fullmatch(r"\d+:\d+", word, re.ASCII) is not None


def _parse_limit(word: str) -> int | None:
    """A limit above 0 that the kernel can hold; None for anything else."""
    value = int(word) if re.fullmatch(r"\d{1,20}", word, re.ASCII) else 0
    return value if 0 < value <= _LARGEST_LIMIT else None


def _not_understood(file: Path, line: str) -> UnknownCapsError:
    return UnknownCapsError(f"{file} has the line {line[:60]!r}, which is no limit")


def _unreadable(file: object, error: OSError) -> UnknownCapsError:
    return UnknownCapsError(f"{file}: {(error.strerror or str(error)).lower()}")


def _words(file: Path) -> list[str]:
    return " ".join(_lines(file)).split()


def _lines(file: Path) -> list[str]:
    try:
        with file.open("rb") as opened:
            text = opened.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise _unreadable(file, error) from None
    if len(text) > LARGEST_FILE_BYTES:
        raise UnknownCapsError(f"{file} is longer than {LARGEST_FILE_BYTES} bytes")
    return [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]
