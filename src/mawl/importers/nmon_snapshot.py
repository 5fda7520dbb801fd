"""One snapshot of nmon: its lines as rates, gains and gauges of the model's series.

Units of the sources: IBM, "Format of recording files" (AIX Performance Tools); ``lmon16n.c`` for Linux.
KB are 1024 bytes there, MB 1024 of these.  docs/design/imported-host.md has the table for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from mawl.importers.formats.text import one_line

KIB, MIB = 1024.0, 1048576.0
LONGEST_NAME = 100

DEVICE_RATES: dict[str, tuple[str, float]] = {
    "DISKREAD": ("read_bytes", KIB),
    "DISKWRITE": ("written_bytes", KIB),
    "DISKXFER": ("requests", 1.0),
    "DISKRXFER": ("reads", 1.0),
    "DISKREADS": ("reads", 1.0),
    "DISKRIO": ("reads", 1.0),
    "DISKWRITES": ("writes", 1.0),
    "DISKWIO": ("writes", 1.0),
    "DISKBUSY": ("busy_seconds", 0.01),
}
"""Sections with a column per block device: figure and factor to base units per second."""

DEVICE_TIMES = {
    "DISKSERV": ("request_seconds", "requests"),
    "DISKREADSERV": ("read_seconds", "reads"),
    "DISKWRITESERV": ("write_seconds", "writes"),
    "DISKWAIT": ("wait", "requests"),
}
"""Milliseconds per request: the figure that they make with the number of requests; DISKWAIT adds to all."""

PORT_RATES: dict[str, tuple[str, float]] = {
    "FCREAD": ("received_bytes", KIB),
    "FCWRITE": ("sent_bytes", KIB),
    "FCXFERIN": ("reads", 1.0),
    "FCXFEROUT": ("writes", 1.0),
}
"""Sections with a column per fibre channel port."""

GAUGES: dict[str, tuple[str, str, float]] = {"JFSFILE": ("file_system", "used_ratio", 0.01)}
"""Sections with a column per thing whose values hold at the snapshot: kind, figure, factor."""

PART_RATES: dict[str, tuple[str, str, float]] = {"GPU_UTIL": ("gpu", "busy_seconds", 0.01)}
"""Sections with a column per part of another kind (GPU_UTIL: forks of nmon): kind, figure, factor."""

HOST_SECTIONS = ("CPU_ALL", "CPUUTIL_ALL", "PCPU_ALL", "LPAR", "MEM", "MEMNEW", "VM", "PROC", "PAGE")

LEFT_ALONE = re.compile(
    r"[PS]?CPU[0-9]{2,4}|CPUUTIL[0-9]+|SCPU_ALL|TOP|UARG|JFSINODE|GPU_(?!UTIL)[A-Z_]+|NET(PACKET|SIZE|ERROR)|MEM(USE|AMS|REAL|VIRT)"
    r"|MEMPAGES\w*|LARGEPAGE|HUGEPAGES|FILE|POOLS|PROCAIO|PROCCOUNT|DISK(BSIZE|AVG[RW]IO|SSP\w*)[0-9]*|DG[A-Z]+"
    r"|ESS[A-Z]+|SEA\w*|WLM\w*|WPAR\w*|NFS\w*|VG[A-Z]+|LV[A-Z]+|MHZ|FRAG|SUMMARY|ERROR|DONATE|FCCMD\w*|IP|TCPUDP\w*"
)
"""Known sections that are no series: parts of what others sum up, or nothing that the model has."""

_PORT_COLUMN = re.compile(r"(.{1,100}?)[-_](read|write)-KB/s")


class Columns(NamedTuple):
    """A header made ready: of each column the series (None for none), and the factor.

    ``names`` are the columns themselves.  ``beside`` are series that are worked out with these: for times
    of requests those of their number.  ``writes`` are those that reads and all requests make.
    """

    base: str
    names: list[str]
    series: list[str | None]
    factor: float
    beside: tuple[str | None, ...] = ()
    writes: tuple[str | None, ...] = ()


def base_of(section: str) -> str:
    """``DISKREAD`` of ``DISKREAD2``: many devices go on in sections with a number."""
    return section.rstrip("0123456789") if section.startswith(("DISK", "FC")) else section


def wanted(section: str) -> bool:
    """Whether a section's figures become series."""
    base = base_of(section)
    return (
        base in DEVICE_RATES
        or base in DEVICE_TIMES
        or base in PORT_RATES
        or base in GAUGES
        or base in PART_RATES
        or base in HOST_SECTIONS
        or base in ("NET", "IOADAPT")
    )


def columns_of(section: str, columns: list[str], *, ports_seen: bool) -> Columns:
    """A header made ready; ``ports_seen``: sections FC* tell of the ports that IOADAPT has, too."""
    base = base_of(section)
    while columns and not columns[-1]:
        columns = columns[:-1]
    names = [name_of(column) for column in columns]
    if base in DEVICE_RATES:
        figure, factor = DEVICE_RATES[base]
        mapped = [_series("device", name, figure) for name in names]
        if figure != "reads":
            return Columns(base, names, mapped, factor)
        beside, writes = (tuple(_series("device", name, f) for name in names) for f in ("requests", "writes"))
        return Columns(base, names, mapped, factor, beside, writes)
    if base in DEVICE_TIMES:
        figure, count = DEVICE_TIMES[base]
        mapped = [_series("device", name, figure) for name in names]
        counts = tuple(_series("device", name, count) for name in names)
        return Columns(base, names, mapped, 0.001, counts)
    if base in PORT_RATES:
        figure, factor = PORT_RATES[base]
        return Columns(base, names, [_series("fabric", name, figure) for name in names], factor)
    if base in GAUGES or base in PART_RATES:
        kind, figure, factor = (GAUGES | PART_RATES)[base]
        return Columns(base, names, [_series(kind, name, figure) for name in names], factor)
    if base == "NET":
        return Columns(base, names, [_port_series("network", name) for name in names], KIB)
    if base == "IOADAPT":
        mapped = [
            _port_series("fabric", name) if name.startswith("fcs") and not ports_seen else None
            for name in names
        ]
        return Columns(base, names, mapped, KIB)
    return Columns(base, names, [None] * len(names), 1.0)


def name_of(text: str) -> str:
    """A name out of a file as one line of bounded length."""
    return one_line(text)[:LONGEST_NAME]


def _series(kind: str, name: str, figure: str) -> str | None:
    return f"{kind}.{name}.{figure}" if name else None


def _port_series(kind: str, column: str) -> str | None:
    """``en0-read-KB/s`` (NET), ``fcs0_read-KB/s`` (IOADAPT)."""
    match = _PORT_COLUMN.fullmatch(column)
    if match is None:
        return None
    return f"{kind}.{match[1]}.{'received_bytes' if match[2] == 'read' else 'sent_bytes'}"


Figures = dict[str, float]

AIX_PAGE_BYTES = 4096.0
"""Of pgsin and pgsout: pages of 4 KiB, whatever size the memory's pages have (IBM, nmon, PAGE)."""

_VM_GAINS = {"pgpgin": ("host.page_ins_bytes", KIB), "pgpgout": ("host.page_outs_bytes", KIB)}
_VM_PAGES = {"pswpin": "host.swap_read_bytes", "pswpout": "host.swap_written_bytes"}
_VM_GAUGES = {"nr_dirty": "host.memory_dirty_bytes", "nr_writeback": "host.memory_writeback_bytes"}
_PROC_GAUGES = {"Runnable": "host.runnable", "Blocked": "host.blocked_processes"}


class RecordedSystem(msgspec.Struct, kw_only=True):
    """What a recording says of its machine, as far as its figures need it.

    ``page_bytes`` is None where not known; ``logical_cpus`` of the beginning, ``CPU_ALL`` has the
    snapshot's own.
    """

    aix: bool = False
    page_bytes: float | None = None
    logical_cpus: float | None = None
    memory_bytes: float | None = None
    lpar: Figures = {}
    """The last snapshot's section LPAR."""
    sections: set[str] = set()
    """Sections with a header: where a better one lacks its line, no other stands in for a snapshot."""


class NmonSnapshot:
    """Figures of one snapshot as its lines come."""

    def __init__(self) -> None:
        self.rates: Figures = {}
        self.gains: Figures = {}
        """What grew by how much since the snapshot before."""
        self.gauges: Figures = {}
        self._times: list[tuple[Columns, Sequence[float | None]]] = []
        self._reads: list[Columns] = []
        self._waits: Figures = {}
        self._host: dict[str, Figures] = {}

    def take(self, columns: Columns, values: Sequence[float | None]) -> None:
        """One line; it has a value for each column."""
        base, names, series, factor, beside, _ = columns
        if base in HOST_SECTIONS:
            self._host[base] = {n: v for n, v in zip(names, values, strict=True) if v is not None}
        elif base == "DISKWAIT":
            self._waits.update((n, v) for n, v in zip(names, values, strict=True) if v is not None)
        elif base in DEVICE_TIMES:
            self._times.append((columns, values))
        elif base in GAUGES:
            self.gauges.update(
                (s, v * factor)
                for s, v in zip(series, values, strict=True)
                if s is not None and v is not None
            )
        else:
            if beside:
                self._reads.append(columns)
            self._set(series, [None if value is None else value * factor for value in values])

    def _set(self, series: Sequence[str | None], values: Sequence[float | None]) -> None:
        if None in series or None in values:
            pairs = zip(series, values, strict=True)
            self.rates.update(
                (name, value) for name, value in pairs if name is not None and value is not None
            )
        else:
            self.rates.update(zip(series, values, strict=True))  # type: ignore[arg-type]

    def close(self, system: RecordedSystem) -> None:
        self._requests(system)
        self._memory(system)
        self._paging(system)
        for kind, cpus in self._processors(system).items():
            self.rates[f"host.cpu_{kind}_seconds"] = cpus

    def _requests(self, system: RecordedSystem) -> None:
        """Writes are all requests less reads; times of requests are their number by the time of each."""
        rates = self.rates
        for columns in self._reads:
            if "DISKWRITES" in system.sections or "DISKWIO" in system.sections:
                continue
            both = zip(_of(rates, columns.series), _of(rates, columns.beside), strict=True)
            writes = [None if r is None or n is None else n - r if n > r else 0.0 for r, n in both]
            self._set(columns.writes, writes)
        for columns, values in self._times:
            if "DISKWAIT" in system.sections:
                known = zip(values, map(self._waits.get, columns.names), strict=True)
                values = [None if each is None or wait is None else each + wait for each, wait in known]
            of_all = zip(_of(rates, columns.beside), values, strict=True)
            factor = columns.factor
            seconds = [None if n is None or each is None else n * each * factor for n, each in of_all]
            self._set(columns.series, seconds)

    def _memory(self, system: RecordedSystem) -> None:
        memory, new = self._host.get("MEM", {}), self._host.get("MEMNEW", {})
        total = memory.get("memtotal") or memory.get("Real total(MB)")
        if total:
            system.memory_bytes = total * MIB
        if "cached" in memory:
            self.gauges["host.memory_cached_bytes"] = memory["cached"] * MIB
        elif "FScache%" in new and system.memory_bytes:
            self.gauges["host.memory_cached_bytes"] = new["FScache%"] / 100.0 * system.memory_bytes
        free = memory.get("memfree", memory.get("Real free(MB)"))
        if free is not None:
            self.gauges["host.memory_free_bytes"] = free * MIB

    def _paging(self, system: RecordedSystem) -> None:
        """Linux counts in VM what went by since the snapshot before, AIX in PAGE what did per second."""
        vm, page, proc = (self._host.get(name, {}) for name in ("VM", "PAGE", "PROC"))
        for column, (series, factor) in _VM_GAINS.items():
            if column in vm:
                self.gains[series] = vm[column] * factor
        if "pgmajfault" in vm:
            self.gains["host.major_faults"] = vm["pgmajfault"]
        if system.page_bytes is not None:
            self.gains |= {s: vm[c] * system.page_bytes for c, s in _VM_PAGES.items() if c in vm}
            self.gauges |= {s: vm[c] * system.page_bytes for c, s in _VM_GAUGES.items() if c in vm}
        if "pgsin" in page:
            self.rates["host.swap_read_bytes"] = page["pgsin"] * AIX_PAGE_BYTES
        if "pgsout" in page:
            self.rates["host.swap_written_bytes"] = page["pgsout"] * AIX_PAGE_BYTES
        self.gauges |= {s: proc[c] for c, s in _PROC_GAUGES.items() if c in proc}
        if "pswitch" in proc:
            self.rates["host.context_switches"] = proc["pswitch"]

    def _processors(self, system: RecordedSystem) -> Figures:
        """Processors in each state, on average: seconds per second, all processors added up."""
        lpar = self._host.get("LPAR", {})
        if lpar:
            system.lpar = lpar
            self._physical(lpar)
        if system.aix:
            best = next((name for name in ("LPAR", "PCPU_ALL") if name in system.sections), "CPU_ALL")
            return _aix_processors(best, self._host.get(best, {}))
        found = self._host.get("CPUUTIL_ALL", {})
        every = self._host.get("CPU_ALL", {})
        cpus = every.get("CPUs") or system.logical_cpus
        if cpus is None:
            return {}
        if "CPUUTIL_ALL" in system.sections:
            sums = {"user": ("User%", "Nice%"), "interrupt": ("Irq%", "Softirq%")}
            both = {kind: found[a] + found[b] for kind, (a, b) in sums.items() if a in found and b in found}
            alone = {"system": "Sys%", "iowait": "Wait%", "idle": "Idle%", "steal": "Steal%"}
            return {**{kind: v / 100.0 * cpus for kind, v in both.items()}, **_states(found, cpus, alone)}
        columns = {"user": "User%", "system": "Sys%", "iowait": "Wait%", "idle": "Idle%", "steal": "Steal%"}
        return _states(every, cpus, columns)

    def _physical(self, lpar: Figures) -> None:
        """Physical processors that the partition used; of a shared one also its busy cores.

        A dedicated partition that gives nothing away always uses all of its own, idle or not.
        """
        used = lpar.get("PhysicalCPU", lpar.get("PhysicalCPUs"))  # nmon; topas_nmon
        if used is None:
            return
        self.rates["host.physical_cpu_seconds"] = used
        if lpar.get("SharedCPU", lpar.get("shared_processor_mode")) == 1.0:
            self.rates["host.core_busy_seconds"] = used


def _aix_processors(section: str, figures: Figures) -> Figures:
    """By PURR, in physical processors: of the virtual processors, else as PCPU_ALL or CPU_ALL have it.

    Time in which a virtual processor was not dispatched is idle, as that of an idle thread is.
    """
    states = {"user": "User", "system": "Sys", "iowait": "Wait"}
    if section == "LPAR":
        whole = figures.get("virtualCPUs")
        busy = (
            _states(figures, whole, {kind: f"VP_{name}%" for kind, name in states.items()}) if whole else {}
        )
        return {**busy, "idle": max(whole - sum(busy.values()), 0.0)} if whole and len(busy) == 3 else {}
    if section == "PCPU_ALL":
        return {kind: figures[name] for kind, name in {**states, "idle": "Idle"}.items() if name in figures}
    columns = {**{kind: f"{name}%" for kind, name in states.items()}, "idle": "Idle%"}
    return _states(figures, figures["CPUs"], columns) if figures.get("CPUs") else {}


def _states(values: Mapping[str, float], cpus: float, columns: Mapping[str, str]) -> Figures:
    return {kind: values[name] / 100.0 * cpus for kind, name in columns.items() if name in values}


def _of(rates: Figures, series: Sequence[str | None]) -> Iterator[float | None]:
    return map(rates.get, series)  # type: ignore[arg-type]
