"""What NFS clients of this machine did for each mount, from ``/proc/self/mountstats``.

Statistics version 1.1; fields as in Linux net/sunrpc/stats.c and fs/nfs/iostat.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile
from mawl.measure.mounts import unescaped

NETWORK_TYPES = ("nfs", "nfs4")

_DEVICE = re.compile(rb"^device .* mounted on (\S+) with fstype (\S+)( statvers=\S+)?$")
_OPERATIONS = {b"READ": ("reads", "read_seconds"), b"WRITE": ("writes", "write_seconds")}


def parse_mountstats(text: bytes) -> Figures:
    """Figures ``mount.PATH.NAME`` of every NFS mount, all cumulative since it was mounted.

    ``application_*_bytes`` are what programs asked for, buffered and direct (mapped files are not in
    them); ``read_bytes`` and ``written_bytes`` what went over the network.  ``read_seconds`` and
    ``write_seconds`` are times of requests from queueing to completion, so that over ``reads`` and
    ``writes`` they are the await; ``retransmissions`` are requests sent again, of all kinds.
    """
    figures: Figures = {}
    for mount, lines in _blocks(text):
        prefix = f"mount.{mount}."
        sent = asked = 0
        for line in lines:
            name, _, rest = line.strip().partition(b":")
            words = rest.split()
            if name == b"bytes":
                read, written, direct_read, direct_written, server_read, server_written = map(int, words[:6])
                figures[prefix + "application_read_bytes"] = read + direct_read
                figures[prefix + "application_written_bytes"] = written + direct_written
                figures[prefix + "read_bytes"] = server_read
                figures[prefix + "written_bytes"] = server_written
            elif len(words) >= 8 and name.isupper() and words[0].isdigit():
                asked, sent = asked + int(words[0]), sent + int(words[1])
                if name in _OPERATIONS:
                    requests, seconds = _OPERATIONS[name]
                    figures[prefix + requests] = int(words[0])
                    figures[prefix + seconds] = int(words[7]) / 1000
        figures[prefix + "retransmissions"] = max(sent - asked, 0)
    return figures


def _blocks(text: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Mount point and lines of each NFS mount."""
    mount, lines = None, list[bytes]()
    for line in text.splitlines():
        if not line.startswith(b"device "):
            lines.append(line)
            continue
        if mount is not None:
            yield mount, lines
        match = _DEVICE.match(line)
        nfs = match is not None and match[2].decode() in NETWORK_TYPES and match[3] is not None
        mount = unescaped(match[1].decode(errors="replace")) if match is not None and nfs else None
        lines = []
    if mount is not None:
        yield mount, lines


class Nfs:
    """The source, for machines that had an NFS mount when the run began."""

    def __init__(self, proc: Path) -> None:
        self._file = KeptFile(proc / "self" / "mountstats", long_records=True)

    def read(self, into: Figures) -> None:
        """Every NFS mount."""
        text = self._file.read()
        if text is not None:
            into.update(parse_mountstats(text))

    def reasons(self) -> dict[str, str]:
        """Why the mounts have no figures."""
        return {"host.mount": self._file.reason} if self._file.reason else {}

    def close(self) -> None:
        """Give the descriptor back."""
        self._file.close()
