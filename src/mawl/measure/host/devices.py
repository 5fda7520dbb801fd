"""Block devices, from ``/proc/diskstats`` (Linux Documentation/admin-guide/iostats.rst)."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from mawl.measure.host.files import Figures, KeptFile

SECTOR_BYTES = 512
"""Sectors of diskstats are of this size whatever the device's own are."""

_BASE = (
    ("reads", 3, 1.0),
    ("read_bytes", 5, SECTOR_BYTES),
    ("read_seconds", 6, 1e-3),
    ("writes", 7, 1.0),
    ("written_bytes", 9, SECTOR_BYTES),
    ("write_seconds", 10, 1e-3),
    ("in_flight", 11, 1.0),
    ("busy_seconds", 12, 1e-3),
    ("queue_seconds", 13, 1e-3),
)
_FLUSHES = (("flushes", 18, 1.0), ("flush_seconds", 19, 1e-3))
FEWEST_FIELDS = 14
"""Lines with fewer are partitions of kernels before 2.6.25, which count four figures only."""

FIELDS_WITH_FLUSHES = 20
"""Since Linux 5.5; 18 fields (discards) since 4.18."""


def parse_line(words: list[bytes]) -> list[float]:
    """Values of one device in the order of :func:`figure_names` for as many fields.

    Times are those of requests from queueing to completion, in seconds: over requests they are the
    await.  ``queue_seconds`` is weighted by the requests in flight, over time the queue's length.
    """
    values = [int(words[place]) * unit for _, place, unit in _BASE]
    if len(words) >= FIELDS_WITH_FLUSHES:
        values += [int(words[place]) * unit for _, place, unit in _FLUSHES]
    return values


def figure_names(fields: int) -> list[str]:
    """Names of a device's figures for a line of so many fields."""
    return [name for name, _, _ in (_BASE if fields < FIELDS_WITH_FLUSHES else _BASE + _FLUSHES)]


def is_path(device: str, blocks: Path) -> bool:
    """Whether a whole device is one path to a multipath device (device-mapper's, by its uuid in sysfs)."""
    for holder in (blocks / device.replace("/", "!") / "holders").glob("dm-*"):
        with contextlib.suppress(OSError):
            if (blocks / holder.name / "dm" / "uuid").read_text().startswith("mpath-"):
                return True
    return False


class Devices:
    """The source: whole devices (disks, dm, md, loop) that ever had a request, and partitions to keep.

    A path to a multipath device is left out, since all its requests are counted at that device: 56 LUNs with
    24 paths each would be 15,000 series.
    """

    def __init__(self, proc: Path, sys: Path, keep: Collection[str] = ()) -> None:
        """``keep``: names of devices that are reported also while idle, and of partitions at all."""
        self._file = KeptFile(proc / "diskstats", long_records=True)
        self._blocks, self._keep = sys / "block", {name.encode() for name in keep}
        self._series: dict[bytes, list[str]] = {}
        self.paths: set[str] = set()
        """Those that are left out."""
        self._last: dict[bytes, Figures] = {}
        """Lines of the look before and what they said: most devices of a large machine are idle."""

    def read(self, into: Figures) -> None:
        """A device that comes is there from then on; one that goes leaves a gap."""
        now: dict[bytes, Figures] = {}
        for line in (self._file.read() or b"").splitlines():
            known = self._last.get(line)
            now[line] = figures = self._figures(line) if known is None else known
            into.update(figures)
        self._last = now

    def _figures(self, line: bytes) -> Figures:
        words = line.split()
        if len(words) < FEWEST_FIELDS:
            return {}
        name = words[2]
        # Machines list many that never had a request: loop0 to loop7, ram0 to ram15.
        if words[3] == b"0" and words[7] == b"0" and name not in self._keep:
            return {}
        series = self._series.get(name)
        if series is None:
            series = self._series[name] = self._series_of(name, len(words))
        return dict(zip(series, parse_line(words), strict=True)) if series else {}

    def _series_of(self, name: bytes, fields: int) -> list[str]:
        text = name.decode(errors="replace")
        whole = (self._blocks / text.replace("/", "!")).exists()
        if not whole and name not in self._keep:
            return []
        if whole and is_path(text, self._blocks):
            self.paths.add(text)
            return []
        return [f"device.{text}.{figure}" for figure in figure_names(fields)]

    def reasons(self) -> dict[str, str]:
        """Without diskstats (a container may hide it) no device has figures."""
        return {"host.device": self._file.reason} if self._file.reason else {}

    def close(self) -> None:
        """Give the descriptor back."""
        self._file.close()
