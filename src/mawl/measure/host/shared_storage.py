"""I/O counters of the clients of shared file systems: NFS, Lustre and IBM Spectrum Scale.

NFS: ``/proc/self/mountstats``, statistics version 1.1; fields as in Linux net/sunrpc/stats.c and
fs/nfs/iostat.h.

Lustre: the ``stats`` of llite (Lustre Operations Manual, "Monitoring Client Activity"); lines are
``NAME COUNT samples [UNIT] MIN MAX SUM``.  Later versions keep the file in debugfs, which only root may read.

IBM Spectrum Scale: ``mmpmon`` in its machine-readable form ("Monitoring I/O performance with the mmpmon
command"): requests ``fs_io_s`` and ``io_s`` answer with one line of keys in underscores, each followed by its
value.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mawl.measure.devices import Mount, unescaped
from mawl.measure.host.files import Figures, KeptFile

LLITE_FOLDERS = ("proc/fs/lustre/llite", "sys/kernel/debug/lustre/llite", "sys/fs/lustre/llite")

_LLITE_BYTES = {
    b"read_bytes": ("reads", "application_read_bytes"),
    b"write_bytes": ("writes", "application_written_bytes"),
}
_LLITE_SECONDS = {b"read": "read_seconds", b"write": "write_seconds"}


def parse_llite(text: bytes, mount_point: str) -> Figures:
    """Figures ``mount.PATH.NAME``: calls and bytes of programs (cache hits included), time in them.

    Versions before 2.14 do not time ``read`` and ``write``: then there are no seconds.
    """
    figures: Figures = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 7 or words[2] != b"samples":
            continue
        if words[0] in _LLITE_BYTES:
            calls, moved = _LLITE_BYTES[words[0]]
            figures[f"mount.{mount_point}.{calls}"] = int(words[1])
            figures[f"mount.{mount_point}.{moved}"] = int(words[6])
        elif words[0] in _LLITE_SECONDS and words[3] in (b"[usec]", b"[usecs]"):
            figures[f"mount.{mount_point}.{_LLITE_SECONDS[words[0]]}"] = int(words[6]) / 1e6
    return figures


class Lustre:
    """Source of the Lustre mounts that were there when the run began."""

    def __init__(self, root: Path, mounts: Sequence[Mount]) -> None:
        """``root`` is above ``proc`` and ``sys``."""
        self._files: list[tuple[str, KeptFile]] = []
        self._reasons: dict[str, str] = {}
        for mount in mounts:
            # A source is SERVERS:/NAME, an instance NAME-ADDRESS.
            name = mount.source.rpartition(":/")[2].split("/")[0]
            found = [
                path
                for place in LLITE_FOLDERS
                for path in sorted((root / place).glob(f"{name}-*/stats"))
                if name
            ]
            if found:
                self._files.append((mount.mount_point, KeptFile(found[0])))
            else:
                self._reasons["host.mount"] = f"no readable statistics of Lustre {name} (debugfs wants root)"

    def read(self, into: Figures) -> None:
        for mount_point, file in self._files:
            text = file.read()
            into.update(parse_llite(text, mount_point) if text is not None else {})

    def reasons(self) -> dict[str, str]:
        refused = [file.reason for _, file in self._files if file.reason]
        return {"host.mount": refused[0]} if refused else self._reasons

    def close(self) -> None:
        for _, file in self._files:
            file.close()


NFS_TYPES = ("nfs", "nfs4")

_NFS_DEVICE = re.compile(rb"^device .* mounted on (\S+) with fstype (\S+)( statvers=\S+)?$")
_NFS_OPERATIONS = {b"READ": ("reads", "read_seconds"), b"WRITE": ("writes", "write_seconds")}


def parse_mountstats(text: bytes) -> Figures:
    """Figures ``mount.PATH.NAME`` of every NFS mount, all cumulative since it was mounted.

    ``application_*_bytes`` are what programs asked for, buffered and direct (mapped files are not in
    them); ``read_bytes`` and ``written_bytes`` what went over the network.  ``read_seconds`` and
    ``write_seconds`` are times of requests from queueing to completion, so that over ``reads`` and
    ``writes`` they are the await; ``retransmissions`` are requests sent again, of all kinds.
    """
    figures: Figures = {}
    for mount, lines in _nfs_blocks(text):
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
                if name in _NFS_OPERATIONS:
                    requests, seconds = _NFS_OPERATIONS[name]
                    figures[prefix + requests] = int(words[0])
                    figures[prefix + seconds] = int(words[7]) / 1000
        figures[prefix + "retransmissions"] = max(sent - asked, 0)
    return figures


def _nfs_blocks(text: bytes) -> Iterator[tuple[str, list[bytes]]]:
    mount, lines = None, list[bytes]()
    for line in text.splitlines():
        if not line.startswith(b"device "):
            lines.append(line)
            continue
        if mount is not None:
            yield mount, lines
        match = _NFS_DEVICE.match(line)
        nfs = match is not None and match[2].decode() in NFS_TYPES and match[3] is not None
        mount = unescaped(match[1].decode(errors="replace")) if match is not None and nfs else None
        lines = []
    if mount is not None:
        yield mount, lines


class Nfs:
    """Source of all NFS mounts, for machines that had one when the run began."""

    def __init__(self, proc: Path) -> None:
        self._file = KeptFile(proc / "self" / "mountstats", long_records=True)

    def read(self, into: Figures) -> None:
        text = self._file.read()
        if text is not None:
            into.update(parse_mountstats(text))

    def reasons(self) -> dict[str, str]:
        return {"host.mount": self._file.reason} if self._file.reason else {}

    def close(self) -> None:
        self._file.close()


MMPMON = Path("/usr/lpp/mmfs/bin/mmpmon")

_MMPMON_FIGURES = (
    ("_br_", "application_read_bytes"),
    ("_bw_", "application_written_bytes"),
    ("_rdc_", "reads"),
    ("_wc_", "writes"),
    ("_oc_", "opens"),
    ("_cc_", "closes"),
)
CHUNK_BYTES = 65536
ENDING_SECONDS = 2.0


def parse_mmpmon(text: str, mount_points: Mapping[str, str]) -> Figures:
    """Figures ``mount.PATH.NAME`` of answers; ``mount_points`` are those of file systems by name.

    Bytes are those of programs, from disk and cache.  ``io_s``, which adds up all file systems, is
    taken where there is one only.  Answers with another return code than 0 are left out.
    """
    figures: Figures = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or words[0] not in ("_fs_io_s_", "_io_s_"):
            continue
        answer = dict(zip(words[1::2], words[2::2], strict=False))
        if answer.get("_rc_") != "0":
            continue
        place = mount_points.get(answer.get("_fs_", ""))
        if words[0] == "_io_s_" and len(mount_points) == 1:
            place = next(iter(mount_points.values()))
        if place is None:
            continue
        figures |= {
            f"mount.{place}.{name}": int(answer[key]) for key, name in _MMPMON_FIGURES if key in answer
        }
    return figures


class Scale:
    """Source of Spectrum Scale: one mmpmon, run by root only, that answers once a second until the end."""

    def __init__(self, mounts: Sequence[Mount], program: Path = MMPMON) -> None:
        self._mount_points = {Path(mount.source).name: mount.mount_point for mount in mounts}
        self._reason: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        try:
            self._process = subprocess.Popen(
                [program, "-p", "-r", "0", "-d", "1000"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            self._reason = f"{program}: {(error.strerror or str(error)).lower()}"
            return
        assert self._process.stdin is not None and self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)
        with contextlib.suppress(OSError):
            self._process.stdin.write(b"fs_io_s\n")
            self._process.stdin.close()

    def read(self, into: Figures) -> None:
        """The last whole answer; none where it has not come yet."""
        if self._process is None or self._process.stdout is None:
            return
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self._process.stdout.fileno(), CHUNK_BYTES):
                self._rest += chunk
        text, newline, self._rest = self._rest.rpartition(b"\n")
        with contextlib.suppress(ValueError):
            into.update(parse_mmpmon((text + newline).decode(errors="replace"), self._mount_points))

    def reasons(self) -> dict[str, str]:
        if self._process is not None and self._process.poll() not in (None, 0):
            return {"host.mount": "mmpmon ended (it wants root and a running GPFS daemon)"}
        return {"host.mount": self._reason} if self._reason else {}

    def close(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
