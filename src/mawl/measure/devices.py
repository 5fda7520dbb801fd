"""The storage under a directory: its mount, its block devices down to the disks, and the ports to it.

Everything is read without root, from ``/proc/self/mountinfo`` (proc_pid_mountinfo(5)) and sysfs.
Sources: Linux Documentation/ABI/stable/sysfs-block, testing/sysfs-class-net (speed, lower_*),
sysfs-class-fc_host, drivers/scsi/scsi_transport_fc.c (speed), drivers/nvme/host/sysfs.c (transport).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mawl.records.model.node import Port, Transport
from mawl.records.model.run import VolumeFacts
from mawl.records.spec.program_options import Role

NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "9p", "afs", "glusterfs", "panfs",
     "pvfs2", "orangefs", "wekafs", "virtiofs", "fuse.glusterfs", "fuse.sshfs", "fuse.juicefs", "fuse.ceph",
     "fuse.s3fs", "fuse.rclone", "fuse.mfs", "fuse.hdfs"}
)  # fmt: skip
"""Their storage is another machine's: what they move is seen as network traffic, if at all."""

MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs", "devtmpfs", "hugetlbfs"})


class Mount(msgspec.Struct, frozen=True, kw_only=True):
    """One mounted file system; ``device`` is MAJOR:MINOR, whose major is 0 where no block device is."""

    device: str
    root: str = "/"
    """The directory of the file system that is mounted here: not ``/`` for a bind mount."""
    mount_point: str
    file_system: str
    source: str
    options: str
    """Options of the file system itself (not of this mount), such as overlay's ``upperdir=``."""

    def option(self, name: str) -> str | None:
        match = re.search(rf"(?:^|,){re.escape(name)}=([^,]*)", self.options)
        return None if match is None else match[1]


def read_mounts(proc: Path = Path("/proc")) -> list[Mount]:
    """All mounts that this process sees, in the order they were made; none where that is not readable."""
    try:
        text = (proc / "self" / "mountinfo").read_text(errors="replace")
    except OSError:
        return []
    return parse_mountinfo(text)


def parse_mountinfo(text: str) -> list[Mount]:
    """The lines of mountinfo; one that is none is left out."""
    mounts = []
    for line in text.splitlines():
        place, separator, rest = line.partition(" - ")
        words, fields = place.split(" "), rest.split(" ")
        if not separator or len(words) < 6 or len(fields) < 2:
            continue
        mounts.append(
            Mount(
                device=words[2],
                root=unescaped(words[3]),
                mount_point=unescaped(words[4]),
                file_system=fields[0],
                source=unescaped(fields[1]),
                options=unescaped(fields[2]) if len(fields) > 2 else "",
            )
        )
    return mounts


def mount_of(path: str | os.PathLike[str], mounts: Sequence[Mount]) -> Mount | None:
    """The mount that holds a path: the longest mount point above it, of several there the last made.

    Not by device number: btrfs gives each subvolume one of its own that no mount shows, and so does
    overlay to files.
    """
    real = os.path.realpath(path)
    found: Mount | None = None
    for mount in mounts:
        point = mount.mount_point
        above = real == point or real.startswith(point if point.endswith("/") else point + "/")
        if above and (found is None or len(point) >= len(found.mount_point)):
            found = mount
    return found


def mounts_below(roles: Mapping[Role, Sequence[Path]], mounts: Sequence[Mount] | None = None) -> list[str]:
    """A sentence on each directory of a role that has mounts below it, which are no part of the role."""
    mounts = read_mounts() if mounts is None else mounts
    found = []
    for role, directories in roles.items():
        for directory in directories:
            above = os.path.join(os.path.realpath(directory), "")
            below = [mount for mount in mounts if mount.mount_point.startswith(above)]
            named = [f"{mount.mount_point} ({mount.file_system} of {mount.source})" for mount in below[:3]]
            if below:
                more = f" and {len(below) - len(named)} more" if len(below) > len(named) else ""
                found.append(
                    f"below the {role} directory {directory} are further mounts: {', '.join(named)}{more}; "
                    "their devices are no part of the role, and mawl removes nothing on them"
                )
    return found


def unescaped(text: str) -> str:
    r"""A path of mountinfo, where blank, tab, newline and backslash are octal (``\040``)."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


MEGABIT = 10**6 / 8
GIGABIT = 10**9 / 8
NVME: dict[str, Transport] = {"tcp": "nvme-tcp", "rdma": "nvme-rdma", "fc": "nvme-fc"}


def ports(sys: Path = Path("/sys")) -> list[Port]:
    """All interfaces but the loopback one, and all fibre channel ports; a speed that is not told is None."""
    found = []
    for interface in sorted((sys / "class/net").glob("*")):
        if interface.name == "lo" or not interface.is_dir():
            continue
        speed = _number(small_text(interface / "speed"))
        # A bond, a VLAN and a bridge have a link to each interface below them.
        members = sorted(below.name.removeprefix("lower_") for below in interface.glob("lower_*"))
        found.append(
            Port(
                name=interface.name,
                kind="ethernet",
                bytes_per_second=speed * MEGABIT if speed is not None and speed > 0 else None,
                members=members,
            )
        )
    for host in sorted((sys / "class/fc_host").glob("*")):
        match = re.match(r"([0-9.]+) Gbit", small_text(host / "speed") or "")
        speed = float(match[1]) * GIGABIT if match else None
        found.append(Port(name=host.name, kind="fc", bytes_per_second=speed))
    return found


def transport_of(disk: str, sys: Path = Path("/sys")) -> Transport | None:
    """How a disk is attached where that is over a network or fabric; None for others."""
    place = (sys / "class/block" / disk).resolve()
    for part in place.parts:
        if re.fullmatch(r"session[0-9]+", part):
            return "iscsi"
        if part.startswith("rport-"):
            return "fc"
    for file in (place.parent / "transport", *sorted(place.parent.glob("nvme*/transport"))):
        found = NVME.get(small_text(file) or "")
        if found is not None:
            return found
    return None


def small_text(path: Path) -> str | None:
    """What a small file of ``/proc`` or ``/sys`` says, stripped of blanks; None where it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


DEEPEST = 16
"""Layers below a file system; more would be a loop of loops."""


def volume_facts(
    roles: Mapping[Role, Sequence[Path]],
    node: str,
    proc: Path = Path("/proc"),
    sys: Path = Path("/sys"),
) -> list[VolumeFacts]:
    """What holds each directory of each role, and which other roles share its storage.

    A directory must exist.  Nothing is raised: what cannot be found out is None or empty, with
    ``reason``.
    """
    mounts = read_mounts(proc)
    found = [
        _volume(role, directory, node, mounts, sys) for role, places in roles.items() for directory in places
    ]
    return [_with_sharing(volume, found) for volume in found]


def _volume(role: Role, directory: Path, node: str, mounts: Sequence[Mount], sys: Path) -> VolumeFacts:
    mount = mount_of(directory, mounts)
    if mount is None:
        return VolumeFacts(
            role=role, node=node, directory=str(directory), reason="no mount above it is listed in mountinfo"
        )
    devices, reason = _devices_of(mount, mounts, sys)
    layers: list[str] = []
    disks: list[str] = []
    for device in devices:
        _descend(device, mounts, sys, layers, disks, DEEPEST)
    return VolumeFacts(
        role=role,
        node=node,
        directory=str(directory),
        mount_point=mount.mount_point,
        file_system=mount.file_system,
        source=mount.source,
        network=mount.file_system in NETWORK_FILE_SYSTEMS,
        devices=devices,
        layers=layers,
        disks=disks,
        models=sorted(
            {model for disk in disks if (model := small_text(sys / "block" / disk / "device/model"))}
        ),
        transport=next((found for disk in disks if (found := transport_of(disk, sys)) is not None), None),
        reason=reason,
    )


def _devices_of(mount: Mount, mounts: Sequence[Mount], sys: Path) -> tuple[list[str], str | None]:
    kind = mount.file_system
    if kind in NETWORK_FILE_SYSTEMS:
        return [], f"{kind} is a network file system: its devices are another machine's"
    if kind in MEMORY_FILE_SYSTEMS:
        return [], f"{kind} is memory"
    if kind == "overlay":
        upper = mount.option("upperdir")
        below = mount_of(upper, mounts) if upper else None
        if (
            below is None
            or below is mount
            or below.file_system == "overlay"
            or not Path(upper or "").exists()
        ):
            return [], "the upper directory of this overlay lies outside what this process sees"
        return _devices_of(below, mounts, sys)
    name = device_name(mount.device, sys)
    if name is None and mount.source.startswith("/dev/"):
        # btrfs mounts have a device number of no device; their source is one of the real ones.
        name = _name_of_node(Path(mount.source), sys)
    if name is None:
        return [], f"{kind} on {mount.source}: no block device is known for it"
    return _members_of_btrfs(name, sys) or [name], None


def device_name(number: str, sys: Path) -> str | None:
    """The name of the device MAJOR:MINOR, None where there is no such block device."""
    if number.startswith("0:"):
        return None
    try:
        return (sys / "dev/block" / number).readlink().name
    except OSError:
        # Podman hides sys/dev/block from its containers, but not the list of devices by name.
        for device in (sys / "class/block").glob("*/dev"):
            with contextlib.suppress(OSError):  # it may go while we read
                if device.read_text(errors="replace").strip() == number:
                    return device.parent.name
        return None


def _name_of_node(node: Path, sys: Path) -> str | None:
    try:
        number = node.stat().st_rdev
    except OSError:
        return None
    return device_name(f"{os.major(number)}:{os.minor(number)}", sys)


def _members_of_btrfs(name: str, sys: Path) -> list[str]:
    for member in (sys / "fs/btrfs").glob(f"*/devices/{name}"):
        return sorted(device.name for device in member.parent.iterdir())
    return []


def _descend(
    name: str, mounts: Sequence[Mount], sys: Path, layers: list[str], disks: list[str], depth: int
) -> None:
    """Note a device and all below it, each once; what has nothing below is a disk."""
    if name in layers or depth == 0:
        return
    layers.append(name)
    below = _below(name, mounts, sys)
    for device in below:
        _descend(device, mounts, sys, layers, disks, depth - 1)
    if not below:
        disks.append(name)


def only_path(name: str, mounts: Sequence[Mount], sys: Path) -> list[str]:
    """A device and those below it that all of its bytes pass through: up to where it is made of several."""
    path = [name]
    while len(path) < DEEPEST and len(below := _below(path[-1], mounts, sys)) == 1 and below[0] not in path:
        path += below
    return path


def _below(name: str, mounts: Sequence[Mount], sys: Path) -> list[str]:
    """The devices that one is made of: a partition's disk, slaves of dm and md, the disk of a file."""
    directory = (sys / "class/block" / name).resolve()
    if (directory / "partition").exists():
        return [directory.parent.name]
    slaves = directory / "slaves"
    members = sorted(entry.name for entry in slaves.iterdir()) if slaves.is_dir() else []
    if members:
        return members
    backing = directory / "loop" / "backing_file"
    if backing.exists():
        file = backing.read_text(errors="replace").strip().removesuffix(" (deleted)")
        mount = mount_of(file, mounts)
        return [] if mount is None else _devices_of(mount, mounts, sys)[0]
    return []


def _with_sharing(volume: VolumeFacts, volumes: Sequence[VolumeFacts]) -> VolumeFacts:
    others: dict[Role, None] = {}
    for other in volumes:
        same = other.mount_point == volume.mount_point and volume.mount_point is not None
        source = other.source == volume.source and volume.network
        if other.role != volume.role and (same or source or set(other.disks) & set(volume.disks)):
            others[other.role] = None
    return msgspec.structs.replace(volume, shared_with=list(others))
