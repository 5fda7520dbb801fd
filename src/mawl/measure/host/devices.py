"""Counters of block devices, network interfaces, fibre channel and InfiniBand ports.

Sources: ``/proc/diskstats`` (Linux Documentation/admin-guide/iostats.rst), ``/proc/net/dev``
(proc_pid_net(5)), drivers/scsi/scsi_transport_fc.c (statistics of fc_host: hexadecimal
counters, words of 4 bytes, all ones where a driver does not count) and
Documentation/ABI/stable/sysfs-class-infiniband (port_*_data counts octets divided by 4).
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from mawl.measure.host.files import Figures, FileSource, KeptFile

SECTOR_BYTES = 512
"""Sectors of diskstats are of this size whatever the device's own are."""

_DISK_FIELDS = (
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
_FLUSH_FIELDS = (("flushes", 18, 1.0), ("flush_seconds", 19, 1e-3))
FEWEST_FIELDS = 14
"""Lines with fewer are partitions of kernels before 2.6.25, which count four figures only."""

FIELDS_WITH_FLUSHES = 20
"""Since Linux 5.5; 18 fields (discards) since 4.18."""


def parse_disk_line(words: list[bytes]) -> list[float]:
    """Values of one device in the order of ``disk_figure_names`` for as many fields.

    Times are those of requests from queueing to completion, in seconds: over requests they are the
    await.  ``queue_seconds`` is weighted by the requests in flight, over time the queue's length.
    """
    values = [int(words[place]) * unit for _, place, unit in _DISK_FIELDS]
    if len(words) >= FIELDS_WITH_FLUSHES:
        values += [int(words[place]) * unit for _, place, unit in _FLUSH_FIELDS]
    return values


def disk_figure_names(fields: int) -> list[str]:
    return [
        name
        for name, _, _ in (_DISK_FIELDS if fields < FIELDS_WITH_FLUSHES else _DISK_FIELDS + _FLUSH_FIELDS)
    ]


def is_multipath_path(device: str, blocks: Path) -> bool:
    """Whether a whole device is one path to a multipath device (device-mapper's, by its uuid in sysfs)."""
    for holder in (blocks / device.replace("/", "!") / "holders").glob("dm-*"):
        with contextlib.suppress(OSError):
            if (blocks / holder.name / "dm" / "uuid").read_text().startswith("mpath-"):
                return True
    return False


class Devices:
    """Source of whole devices (disks, dm, md, loop) that ever had a request, and of partitions to keep.

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
        return dict(zip(series, parse_disk_line(words), strict=True)) if series else {}

    def _series_of(self, name: bytes, fields: int) -> list[str]:
        text = name.decode(errors="replace")
        whole = (self._blocks / text.replace("/", "!")).exists()
        if not whole and name not in self._keep:
            return []
        if whole and is_multipath_path(text, self._blocks):
            self.paths.add(text)
            return []
        return [f"device.{text}.{figure}" for figure in disk_figure_names(fields)]

    def reasons(self) -> dict[str, str]:
        return {"host.device": self._file.reason} if self._file.reason else {}

    def close(self) -> None:
        self._file.close()


_NETWORK_COLUMNS = (
    ("received_bytes", 0),
    ("received_errors", 2),
    ("received_drops", 3),
    ("sent_bytes", 8),
    ("sent_errors", 10),
    ("sent_drops", 11),
)


@lru_cache(maxsize=1024)
def _network_series(interface: bytes) -> list[tuple[str, int]]:
    """Series of an interface and their columns; names are the same for as long as a run lasts."""
    name = interface.strip().decode(errors="replace")
    return [(f"network.{name}.{figure}", column) for figure, column in _NETWORK_COLUMNS]


def parse_network(text: bytes) -> Figures:
    """Cumulative figures of every interface that ever carried a byte."""
    figures: Figures = {}
    for line in text.splitlines()[2:]:
        # Older kernels put no blank between the colon and the first figure.
        name, _, counts = line.rpartition(b":")
        words = counts.split()
        if words[0] == b"0" and words[8] == b"0":
            continue
        for series, column in _network_series(name):
            figures[series] = int(words[column])
    return figures


def network_source(proc: Path) -> FileSource:
    """The interfaces of this process's network namespace."""
    return FileSource(proc / "net" / "dev", parse_network, ("host.network",))


WORD_BYTES = 4
LOOKS_BETWEEN_SEARCHES = 30
"""Ports come and go seldom; looking for them costs more than reading them."""

Counters = tuple[tuple[str, str, int], ...]
"""Figure, file, and the bytes that one of it is worth (1 for counts)."""

_FIBRE_CHANNEL: Counters = (
    ("received_bytes", "rx_words", WORD_BYTES),
    ("sent_bytes", "tx_words", WORD_BYTES),
    ("reads", "fcp_input_requests", 1),
    ("writes", "fcp_output_requests", 1),
    ("error_frames", "error_frames", 1),
    ("link_failures", "link_failure_count", 1),
)
_INFINIBAND: Counters = (
    ("received_bytes", "port_rcv_data", WORD_BYTES),
    ("sent_bytes", "port_xmit_data", WORD_BYTES),
    ("received_errors", "port_rcv_errors", 1),
    ("sent_drops", "port_xmit_discards", 1),
    ("link_failures", "link_downed", 1),
)
_UNCOUNTED = (2**32 - 1, 2**64 - 1)


def parse_counter(text: bytes) -> int | None:
    """A counter in hexadecimal (``0x1f``) or decimal; None where the driver does not count it."""
    words = text.split()
    if not words:
        return None
    value = int(words[0], 16 if words[0].lower().startswith(b"0x") else 10)
    return None if value in _UNCOUNTED and words[0].lower().startswith(b"0x") else value


class Fabric:
    """Source of fabric ports; without such ports it costs a look at two directories now and then."""

    def __init__(self, sys: Path) -> None:
        self._sys = sys
        self._ports: dict[str, list[tuple[str, KeptFile, int]]] = {}
        self._looks = 0

    def read(self, into: Figures) -> None:
        if self._looks % LOOKS_BETWEEN_SEARCHES == 0:
            self._search()
        self._looks += 1
        for counters in self._ports.values():
            for series, file, unit in counters:
                text = file.read()
                try:
                    value = None if text is None else parse_counter(text)
                except ValueError:
                    continue
                if value is not None:
                    into[series] = value * unit

    def _search(self) -> None:
        found: dict[str, tuple[Path, Counters]] = {
            host.name: (host / "statistics", _FIBRE_CHANNEL)
            for host in sorted((self._sys / "class/fc_host").glob("*"))
        }
        for port in sorted((self._sys / "class/infiniband").glob("*/ports/*")):
            found[f"{port.parent.parent.name}-{port.name}"] = (port / "counters", _INFINIBAND)
        for gone in self._ports.keys() - found.keys():
            _close(self._ports.pop(gone))
        for name, (directory, counters) in found.items():
            if name in self._ports and all(file.reason is None for _, file, _ in self._ports[name]):
                continue
            _close(self._ports.get(name, []))
            self._ports[name] = [
                (f"fabric.{name}.{figure}", KeptFile(directory / file), unit)
                for figure, file, unit in counters
                if (directory / file).exists()
            ]

    def reasons(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        for counters in self._ports.values():
            _close(counters)
        self._ports.clear()


def _close(counters: list[tuple[str, KeptFile, int]]) -> None:
    for _, file, _ in counters:
        file.close()
