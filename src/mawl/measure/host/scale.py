"""What IBM Spectrum Scale did on this machine, from ``mmpmon`` in its machine-readable form.

Source: IBM Spectrum Scale, "Monitoring I/O performance with the mmpmon command": requests ``fs_io_s``
and ``io_s`` answer with one line of keys in underscores, each followed by its value.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from mawl.measure.host.files import Figures
from mawl.measure.mounts import Mount

PROGRAM = Path("/usr/lpp/mmfs/bin/mmpmon")

_FIGURES = (
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
        figures |= {f"mount.{place}.{name}": int(answer[key]) for key, name in _FIGURES if key in answer}
    return figures


class Scale:
    """The source: one mmpmon for the whole run that answers once a second; only root may run it."""

    def __init__(self, mounts: Sequence[Mount], program: Path = PROGRAM) -> None:
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
        """Why the mounts have no figures."""
        if self._process is not None and self._process.poll() not in (None, 0):
            return {"host.mount": "mmpmon ended (it wants root and a running GPFS daemon)"}
        return {"host.mount": self._reason} if self._reason else {}

    def close(self) -> None:
        """End mmpmon."""
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
