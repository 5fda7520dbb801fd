"""What sections of nmon are in series of the model: columns, factors, and what is left alone.

Units of the sources: IBM, "Format of recording files" (AIX Performance Tools); ``lmon16n.c`` for Linux.
KB are 1024 bytes there, MB 1024 of these.  docs/design/imported-host.md has the table for people.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mawl.formats.lines import one_line

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
