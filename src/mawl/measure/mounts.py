"""Which file system a path lies on, from ``/proc/self/mountinfo`` (proc_pid_mountinfo(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

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
        """The value of an option ``name=value``."""
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


def unescaped(text: str) -> str:
    r"""A path of mountinfo, where blank, tab, newline and backslash are octal (``\040``)."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
