"""File systems under the roles: mountinfo, statvfs(3), bdi, the geometry of xfs, ext4's own options.

tune2fs and xfs_info are not run: what they print of block size and stripe is in statvfs, in
``/proc/fs/ext4`` (fs/ext4/super.c) and in XFS_IOC_FSGEOMETRY (ioctl_xfs_fsgeometry(2)), without root.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from mawl.measure.block_devices import device_name
from mawl.measure.mounts import NETWORK_FILE_SYSTEMS, Mount, mount_of, read_mounts
from mawl.measure.settings.reading import KIB, Subject, known_text

FSGEOMETRY_V1 = 0x80705864
"""_IOR('X', 100, 112 bytes): struct xfs_fsop_geom_v1."""
_GEOMETRY = struct.Struct("=8I4Q16s2IiI3I4x")


def read(proc: Path, sys: Path, places: Iterable[Path]) -> Iterator[Subject]:
    """The mounts that hold the places, each once, named by mount point."""
    mounts, seen = read_mounts(proc), set()
    options = _per_mount_options(proc)
    for place in places:
        mount = mount_of(place, mounts)
        if mount is not None and mount.mount_point not in seen:
            seen.add(mount.mount_point)
            yield _one(mount, options.get(mount.mount_point, ""), proc, sys)


def _per_mount_options(proc: Path) -> dict[str, str]:
    """Mount point to the options of the mount itself (noatime and the like), the last mount's."""
    found = {}
    for line in (known_text(proc / "self/mountinfo") or "").splitlines():
        words = line.split(" ")
        if len(words) > 5:
            found[re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), words[4])] = words[5]
    return found


def _one(mount: Mount, own: str, proc: Path, sys: Path) -> Subject:
    found = Subject("file_system", mount.mount_point)
    words = [word for word in f"{own},{mount.options}".split(",") if word]
    words = list(dict.fromkeys(words))
    found.put("type", mount.file_system)
    found.put("network", mount.file_system in NETWORK_FILE_SYSTEMS)
    found.put("mount_options", ",".join(words))
    times = next((word for word in ("noatime", "relatime") if word in words), "strictatime")
    found.put("access_times", times)
    found.put("discard", any(word == "discard" or word.startswith("discard=") for word in words))
    _space(found, mount.mount_point)
    found.number("read_ahead_bytes", sys / "class/bdi" / mount.device / "read_ahead_kb", KIB)
    kind = mount.file_system
    if kind == "ext4":
        _ext4(found, mount, proc, sys)
    elif kind == "xfs":
        _xfs(found, mount)
    elif kind == "btrfs":
        found.put("compression", mount.option("compress") or mount.option("compress-force") or "none")
    elif kind in ("nfs", "nfs4"):
        _nfs(found, mount)
    return found


def _space(found: Subject, mount_point: str) -> None:
    try:
        told = os.statvfs(mount_point)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        for figure in ("block_bytes", "request_bytes", "used_ratio"):
            found.put(figure, None, f"{mount_point}: {reason}")
        return
    used, usable = told.f_blocks - told.f_bfree, told.f_blocks - told.f_bfree + told.f_bavail
    found.put("block_bytes", told.f_frsize)
    found.put("request_bytes", told.f_bsize)
    found.put("used_ratio", used / usable if usable else None, "it has no size")


def _ext4(found: Subject, mount: Mount, proc: Path, sys: Path) -> None:
    """``/proc/fs/ext4/DEVICE/options`` has those that are the default, too; stripe there is in blocks."""
    path = proc / "fs/ext4" / (device_name(mount.device, sys) or mount.device) / "options"
    text = known_text(path)
    if text is None:
        for figure in ("stripe_unit_bytes", "stripe_width_bytes", "commit_seconds", "data_mode"):
            found.put(figure, None, f"{path} cannot be read")
        return
    words = dict(line.partition("=")[::2] for line in text.splitlines())
    block = found.figures.get("block_bytes")
    stripe = int(words.get("stripe") or 0)
    found.put("stripe_width_bytes", stripe * block if isinstance(block, int) else None)
    found.put("stripe_unit_bytes", None, "ext4 keeps the stride in its superblock alone: tune2fs -l (root)")
    commit = words.get("commit", "")
    found.put("commit_seconds", int(commit) if commit.isdigit() else None)
    found.put("data_mode", words.get("data"), "the kernel names none: without a journal")


def _xfs(found: Subject, mount: Mount) -> None:
    figures = ("allocation_groups", "log_bytes", "stripe_unit_bytes", "stripe_width_bytes")
    try:
        descriptor = os.open(mount.mount_point, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            told = fcntl.ioctl(descriptor, FSGEOMETRY_V1, bytes(_GEOMETRY.size))
        finally:
            os.close(descriptor)
    except OSError as error:
        for figure in figures:
            found.put(figure, None, f"{mount.mount_point}: {(error.strerror or str(error)).lower()}")
    else:
        parts = _GEOMETRY.unpack(told)
        block, unit, width = parts[0], parts[13], parts[14]
        for figure, value in zip(
            figures, (parts[3], parts[4] * block, unit * block, width * block), strict=True
        ):
            found.put(figure, value)
    buffer = re.fullmatch(r"([0-9]+)k?", mount.option("logbsize") or "")
    found.put("log_buffer_bytes", None if buffer is None else int(buffer[1]) * KIB)


def _nfs(found: Subject, mount: Mount) -> None:
    for figure, name in (("read_bytes", "rsize"), ("write_bytes", "wsize")):
        text = mount.option(name)
        found.put(figure, int(text) if text and text.isdigit() else None)
    connections = mount.option("nconnect")
    found.put("connections", int(connections) if connections and connections.isdigit() else 1)
    found.put("version", mount.option("vers"))
