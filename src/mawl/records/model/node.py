"""What ``run.json`` holds of the nodes of a run: outcome, clock, caps, other programs, ports and settings.

The statistics of storage arrays (``arrays.json``) are here, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec

from mawl.base.units import format_bytes
from mawl.records.definitions import CACHE, CAPS, count, flag, listing, rate, size, text
from mawl.records.model.thresholds import value_of
from mawl.records.spec.program_options import CacheMode

NodeOutcome = Literal["running", "completed", "failed", "aborted", "interrupted", "lost"]


class ClockFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A node's clock beside the controller's, just before the gate (docs/design/cluster.md).

    ``offset_seconds`` is the node's time less the controller's, and was taken off every time in the merged
    tables; it errs by at most ``error_seconds``, half the shortest round trip of ``exchanges``.
    ``drift_seconds`` is what the offset changed by until the node's end, None where that was not asked.
    """

    offset_seconds: float
    error_seconds: float
    exchanges: int
    drift_seconds: float | None = None


class NodeRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one node ran.

    ``run_id`` is its own run's, whose folder is ``folder`` (below the merged run's folder).  ``lost``:
    it died, hung or left the network, and ``reason`` says how that was seen.  ``gate_after_seconds`` is
    when its gate opened, after the merged run's ``started_at``, by the controller's clock.
    ``left_behind`` names the folder on the node, where it could not be copied whole.  Of a node that is not
    ``whole`` (it was lost, its process ended without a word, or its folder was not copied whole) jobs without
    an end say nothing about the system.  ``collected`` says of one whose folder joined the run later why it
    was not there at the end.  Nodes with the same ``machine`` (a digest of its boot id) are one, and those
    with the same ``network`` there share that.
    """

    node: str
    run_id: str
    workload: str
    sessions: int
    jobs: int
    outcome: NodeOutcome
    reason: str | None = None
    whole: bool = True
    folder: str | None = None
    left_behind: str | None = None
    collected: str | None = None
    machine: str | None = None
    network: str | None = None
    clock: ClockFacts | None = None
    gate_after_seconds: float | None = None


class StorageRun(msgspec.Struct, frozen=True, kw_only=True):
    """A storage server that was watched while the nodes ran their sessions (``--storage-node``).

    It ran no session: its samples lie beside the nodes', by the same clock, and count in no sum over them.
    ``devices`` are the block devices that hold what it serves; empty: all that it has, each byte once.
    """

    node: str
    run_id: str
    devices: list[str] = []
    outcome: NodeOutcome
    reason: str | None = None
    folder: str | None = None
    left_behind: str | None = None
    collected: str | None = None
    clock: ClockFacts | None = None


Direction = Literal["read", "write"]


class IoCap(msgspec.Struct, frozen=True, kw_only=True):
    """One cap of one device: on bytes or on requests per second, the other is None."""

    device: Annotated[str, text("The block device that the cap applies to.", CAPS)]
    direction: Annotated[Direction, text("read or write.", CAPS)]
    bytes_per_second: Annotated[
        int | None, rate("The most bytes per second.", CAPS, absent="it is a cap on requests")
    ] = None
    requests_per_second: Annotated[
        int | None, count("The most requests per second.", CAPS, absent="it is a cap on bytes")
    ] = None
    file: Annotated[str, text("The file that it was read from.", CAPS)]
    carries: Annotated[
        list[str],
        listing("Devices of the role's file system all of whose bytes pass through this device.", CAPS),
    ] = []


class DirtyPages(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes in the page cache that their devices did not have yet (``Dirty`` and ``Writeback``).

    ``sync_seconds`` is how long ``syncfs`` on the file systems of the roles took right before the gate;
    None with ``sync_reason`` where it did not end.  ``machine_*`` are of the whole machine (/proc/meminfo).
    ``own_at_end_bytes`` are of the files of the run, by ``own_source``.  ``removed_bytes`` were dropped with
    files that mawl removed: the kernel takes them off the account of mawl and not of the job that wrote them.
    ``group_written_bytes`` is what the run's own control group wrote to the roles' devices (``io.stat``,
    version 2); None where no group accounts for writeback.
    """

    sync_seconds: float | None = None
    sync_reason: str | None = None
    machine_at_gate_bytes: int | None = None
    machine_at_end_bytes: int | None = None
    own_at_end_bytes: int | None = None
    own_source: str | None = None
    removed_bytes: int | None = None
    group_written_bytes: int | None = None


Transport = Literal["fc", "iscsi", "nvme-tcp", "nvme-rdma", "nvme-fc"]
"""How a disk is attached over a fabric or network; a disk inside the machine has none."""

PortKind = Literal["ethernet", "fc"]

KIND_OF: dict[Transport, PortKind] = {
    "fc": "fc",
    "nvme-fc": "fc",
    "iscsi": "ethernet",
    "nvme-tcp": "ethernet",
    "nvme-rdma": "ethernet",
}


class CacheFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The input tables in the page cache when the run began, before any job was made ready.

    ``mode`` is what ``--cache`` asked for, None without.  ``resident_bytes`` is None, with
    ``reason``, where the kernel would not tell; ``source`` names the call that told.
    ``machine_wide``: the caches of the whole machine were dropped.  ``remarks`` say what could not
    be dropped or read, and why.
    """

    mode: Annotated[
        CacheMode | None,
        text(
            "cold, warm or none, where the run asked for it (--cache).",
            CACHE,
            absent="not asked for: the cache was left as it was",
            null_answers=True,
        ),
    ] = None
    input_bytes: Annotated[int, size("Size of the input tables.", CACHE)]
    resident_bytes: Annotated[
        int | None, size("What of them was in the page cache before the start.", CACHE)
    ] = None
    source: Annotated[str | None, text("The call that was used: cachestat or mincore.", CACHE)] = None
    reason: Annotated[
        str | None, text("Why it is not known.", CACHE, absent="it is known", null_answers=True)
    ] = None
    machine_wide: Annotated[bool, flag("Whether all caches of the machine were dropped.", CACHE)] = False
    remarks: Annotated[list[str], listing("What could not be dropped or read, and why.", CACHE)] = []


class OtherProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A process that was not the run's, and what it used while jobs ran, with children that ended meanwhile.

    ``name`` is the kernel's (15 bytes).  Bytes are those of ``/proc/PID/io`` (``read_bytes``,
    ``write_bytes``) at all devices; None where that file may not be read, and of kernel threads, which
    write for other programs, too.
    """

    node: str
    pid: int
    name: str
    cpu_seconds: float
    read_bytes: int | None = None
    written_bytes: int | None = None
    kernel_thread: bool = False

    @property
    def moved_bytes(self) -> int:
        return (self.read_bytes or 0) + (self.written_bytes or 0)

    @property
    def weight(self) -> float:
        """What it used as one number: a CPU second counts as much as 100 MB (the guideline for a core)."""
        return self.cpu_seconds + self.moved_bytes / 100e6

    def __str__(self) -> str:
        who = "kernel thread, pid" if self.kernel_thread else "pid"
        moved = (("read", self.read_bytes), ("wrote", self.written_bytes))
        used = [f"{verb} {format_bytes(size)}" for verb, size in moved if size and size >= LEAST_NAMED_BYTES]
        if round(self.cpu_seconds, 1) or not used:
            used.insert(0, f"used {self.cpu_seconds:.1f} CPU seconds")
        *most, last = used
        return f"{self.name} ({who} {self.pid}) {' and '.join([', '.join(most), last] if most else [last])}"


LEAST_NAMED_BYTES = 10**6
MOST_NAMED_PROGRAMS = 3


def largest_first(programs: Iterable[OtherProgram]) -> list[OtherProgram]:
    """Programs by what they used, then kernel threads, which work for programs."""
    return sorted(programs, key=lambda program: (program.kernel_thread, -program.weight))


def notable(programs: Iterable[OtherProgram]) -> list[OtherProgram]:
    """The first of these programs, without those that used next to nothing."""
    found = [
        program
        for program in programs
        if round(program.cpu_seconds, 1) or program.moved_bytes >= LEAST_NAMED_BYTES
    ]
    return found[:MOST_NAMED_PROGRAMS]


def named(programs: Iterable[OtherProgram]) -> str:
    """The same in words, nothing where there are none: ``: python3 (pid 1) used ...``."""
    words = "; ".join(map(str, notable(programs)))
    return f": {words}" if words else ""


class LoadBefore(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine did for others just before the run, over ``seconds``.

    ``busy_ratio`` is of all processors, None where no tick went by; ``heavy`` are the processes that used
    most, in words, the heaviest first."""

    seconds: float
    busy_ratio: float | None = None
    heavy: list[str] = []


class Port(msgspec.Struct, frozen=True, kw_only=True):
    """A network interface or a fibre channel port.  ``members`` are the interfaces below a bond, VLAN or
    bridge: what these carry is what it carries, so one with members counts nowhere."""

    name: str
    kind: PortKind
    bytes_per_second: float | None = None
    members: list[str] = []

    @property
    def series(self) -> str:
        """The beginning of its series in the samples."""
        return f"{'fabric' if self.kind == 'fc' else 'network'}.{self.name}"


LEAST_GAP_SECONDS = value_of("imported.least_gap_seconds")
"""Imported jobs further apart are of different runs (docs/design/importers.md, Nights far apart)."""

Span = tuple[float, float]


def periods_of(spans: Iterable[Span]) -> list[Span]:
    """The times from a first start to a last end with less than the least gap between any two jobs.

    ``spans`` are start and end in seconds since the epoch, in any order; periods are in order of time.
    """
    periods: list[Span] = []
    for start, end in sorted(spans):
        if periods and start - periods[-1][1] < LEAST_GAP_SECONDS:
            periods[-1] = (periods[-1][0], max(periods[-1][1], end))
        else:
            periods.append((start, end))
    return periods


Value = str | int | float | bool | None
Figures = dict[str, Value]

INVENTORY_VERSION = "1.0"
"""Of the names in ``records.model.series_metrics``; a minor number adds some, a major one changes meanings.

A value of an inventory that could not be read is None, and ``Inventory.missing`` says why under
``FAMILY.SUBJECT.NAME``, or under ``FAMILY`` where it has no subject.
"""


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """Family to subject to figure.  ``cpu_seconds`` is what reading it cost this process."""

    version: str = INVENTORY_VERSION
    families: dict[str, dict[str, Figures]] = {}
    missing: dict[str, str] = {}
    cpu_seconds: float | None = None


ARRAYS_FORMAT_VERSION = "1.0"
"""Of ``arrays.json``.  A figure there is a mean over the interval that ends at its time (UTC), and None where
the array did not print it.  Latencies are seconds at the array: from the arrival of a request to its end."""

ArrayRole = Literal["data", "work", "util"]


class ArrayInterval(msgspec.Struct, frozen=True, kw_only=True):
    """What a volume, a pool or a whole array did in an interval."""

    at: float
    seconds: float
    read_bytes_per_second: float | None = None
    written_bytes_per_second: float | None = None
    reads_per_second: float | None = None
    writes_per_second: float | None = None
    read_latency_seconds: float | None = None
    write_latency_seconds: float | None = None
    hit_ratio: float | None = None
    saved_ratio: float | None = None


class ArrayVolume(msgspec.Struct, frozen=True, kw_only=True):
    """A volume (a pool, or all of the array where ``name`` is empty) with the role that a map gives it."""

    array: str
    name: str
    role: ArrayRole | None
    intervals: list[ArrayInterval]


class ArrayFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was read: rows that were used, and those that were not with the first reason."""

    name: str
    preset: str
    rows: int
    skipped: int
    reason: str | None


class ArrayStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """All arrays of a run."""

    format_version: str = ARRAYS_FORMAT_VERSION
    files: list[ArrayFile]
    volumes: list[ArrayVolume]


MOST_JOBS_READ_AT_ONCE = 8
"""Above this many running jobs, CPU, memory and run delay of half of them are read per tick, in turns."""
