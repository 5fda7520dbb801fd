"""What Lustre clients of this machine did, from the ``stats`` of llite.

Source: Lustre Operations Manual, "Monitoring Client Activity"; lines are ``NAME COUNT samples
[UNIT] MIN MAX SUM``.  Later versions keep the file in debugfs, which only root may read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile
from mawl.measure.mounts import Mount

PLACES = ("proc/fs/lustre/llite", "sys/kernel/debug/lustre/llite", "sys/fs/lustre/llite")

_BYTES = {
    b"read_bytes": ("reads", "application_read_bytes"),
    b"write_bytes": ("writes", "application_written_bytes"),
}
_SECONDS = {b"read": "read_seconds", b"write": "write_seconds"}


def parse_llite(text: bytes, mount_point: str) -> Figures:
    """Figures ``mount.PATH.NAME``: calls and bytes of programs (cache hits included), time in them.

    Versions before 2.14 do not time ``read`` and ``write``: then there are no seconds.
    """
    figures: Figures = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 7 or words[2] != b"samples":
            continue
        if words[0] in _BYTES:
            calls, moved = _BYTES[words[0]]
            figures[f"mount.{mount_point}.{calls}"] = int(words[1])
            figures[f"mount.{mount_point}.{moved}"] = int(words[6])
        elif words[0] in _SECONDS and words[3] in (b"[usec]", b"[usecs]"):
            figures[f"mount.{mount_point}.{_SECONDS[words[0]]}"] = int(words[6]) / 1e6
    return figures


class Lustre:
    """The source, for the Lustre mounts that were there when the run began."""

    def __init__(self, root: Path, mounts: Sequence[Mount]) -> None:
        """``root`` is above ``proc`` and ``sys``."""
        self._files: list[tuple[str, KeptFile]] = []
        self._reasons: dict[str, str] = {}
        for mount in mounts:
            # A source is SERVERS:/NAME, an instance NAME-ADDRESS.
            name = mount.source.rpartition(":/")[2].split("/")[0]
            found = [
                path for place in PLACES for path in sorted((root / place).glob(f"{name}-*/stats")) if name
            ]
            if found:
                self._files.append((mount.mount_point, KeptFile(found[0])))
            else:
                self._reasons["host.mount"] = f"no readable statistics of Lustre {name} (debugfs wants root)"

    def read(self, into: Figures) -> None:
        """Every mount."""
        for mount_point, file in self._files:
            text = file.read()
            into.update(parse_llite(text, mount_point) if text is not None else {})

    def reasons(self) -> dict[str, str]:
        """Why the mounts have no figures."""
        refused = [file.reason for _, file in self._files if file.reason]
        return {"host.mount": refused[0]} if refused else self._reasons

    def close(self) -> None:
        """Give the descriptors back."""
        for _, file in self._files:
            file.close()
