"""Columns of sar, sadf, iostat, mpstat and vmstat in series of the model.

Names are without ``%``, ``/s``, ``kb`` of memory and JSON's ``-percent``: ``%util``, ``util-percent`` and
``util`` are one.  docs/design/imported-host.md has the table for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mawl.formats.sysstat import Report
from mawl.importers.nmon_sections import name_of

Figures = dict[str, float]

KIB, MIB, SECTOR = 1024.0, 1048576.0, 512.0
WORD = 4.0
"""Bytes of a fibre channel word (Linux, Documentation/ABI/testing/sysfs-class-fc_host)."""

PAGES = {"x86_64": 4096.0, "i686": 4096.0, "s390x": 4096.0}
"""Bytes of a page where a processor has one size; pages of others cannot be told from a report."""

_DEVICE: dict[str, tuple[str, float]] = {
    "r": ("reads", 1.0),
    "w": ("writes", 1.0),
    "tps": ("requests", 1.0),
    "f": ("flushes", 1.0),
    "util": ("busy_seconds", 0.01),
    **dict.fromkeys(("aqu-sz", "avgqu-sz"), ("queue_seconds", 1.0)),
    **{
        name: (figure, factor)
        for figure, names in (
            ("read_bytes", {"rkB": KIB, "kB_read": KIB, "rMB": MIB, "MB_read": MIB, "rsec": SECTOR}),
            ("read_bytes", {"rd_sec": SECTOR, "Blk_read": SECTOR}),
            ("written_bytes", {"wkB": KIB, "kB_wrtn": KIB, "wMB": MIB, "MB_wrtn": MIB, "wsec": SECTOR}),
            ("written_bytes", {"wr_sec": SECTOR, "Blk_wrtn": SECTOR}),
        )
        for name, factor in names.items()
    },
}
_TOTALS_OF_IOSTAT = ("kB_read", "kB_wrtn", "MB_read", "MB_wrtn", "Blk_read", "Blk_wrtn")
"""iostat has these twice: with ``/s`` the rate, without it what went by; JSON has only the rate so."""

_NETWORK: dict[str, tuple[str, float]] = {
    "rxkB": ("received_bytes", KIB),
    "txkB": ("sent_bytes", KIB),
    "rxbyt": ("received_bytes", 1.0),
    "txbyt": ("sent_bytes", 1.0),
    "rxerr": ("received_errors", 1.0),
    "txerr": ("sent_errors", 1.0),
    "rxdrop": ("received_drops", 1.0),
    "txdrop": ("sent_drops", 1.0),
}
_FABRIC = {"fch_rxw": ("received_bytes", WORD), "fch_txw": ("sent_bytes", WORD)}

_HOST_RATES: dict[str, tuple[str, float]] = {
    "pgpgin": ("page_ins_bytes", KIB),
    "pgpgout": ("page_outs_bytes", KIB),
    "majflt": ("major_faults", 1.0),
    "cswch": ("context_switches", 1.0),
    **{
        name: (f"pressure_{resource}_{kind}_seconds", 0.01)
        for resource, kind, names in (
            ("cpu", "some", ("scpu", "cpu.some_avg")),
            ("io", "some", ("sio", "io.some_avg")),
            ("io", "full", ("fio", "io.full_avg")),
            ("memory", "some", ("smem", "mem.some_avg")),
            ("memory", "full", ("fmem", "mem.full_avg")),
        )
        for name in names
    },
}
_HOST_PAGES = {"pswpin": "swap_read_bytes", "pswpout": "swap_written_bytes"}
_HOST_GAUGES: dict[str, tuple[str, float]] = {
    "runq-sz": ("runnable", 1.0),
    "blocked": ("blocked_processes", 1.0),
    "avail": ("memory_available_bytes", KIB),
    "cached": ("memory_cached_bytes", KIB),
    "dirty": ("memory_dirty_bytes", KIB),
    "memfree": ("memory_free_bytes", KIB),
}
_VMSTAT_RATES = {
    "bi": ("page_ins_bytes", KIB),
    "bo": ("page_outs_bytes", KIB),
    "si": ("swap_read_bytes", KIB),
    "so": ("swap_written_bytes", KIB),
    "cs": ("context_switches", 1.0),
}
_VMSTAT_GAUGES = {
    "r": ("runnable", 1.0),
    "b": ("blocked_processes", 1.0),
    "cache": ("memory_cached_bytes", KIB),
    "free": ("memory_free_bytes", KIB),
}
_CPU = {
    "user": ("usr", "user", "nice", "guest", "gnice"),
    "system": ("sys", "system"),
    "interrupt": ("irq", "soft"),
    "iowait": ("iowait",),
    "idle": ("idle",),
    "steal": ("steal",),
}

WANTED = frozenset(("CPU", "DEV", "IFACE", "FCHOST"))


class Mapped(NamedTuple):
    """A report in the model's series: rates per second and gauges."""

    rates: Figures
    gauges: Figures


def wanted(columns: tuple[str, ...]) -> bool:
    """Whether a table with these headings has anything for the model."""
    if columns[0] == "CPU":
        return any(plain(column) == "idle" for column in columns)
    if columns[0] in WANTED:
        return True
    names = {plain(column) for column in columns}
    return not names.isdisjoint((*_HOST_RATES, *_HOST_PAGES, *_HOST_GAUGES))


def plain(column: str) -> str:
    """A column's name without what versions and forms of output put around it."""
    if column.startswith("kb"):
        column = column[2:]
    return column.removeprefix("%").removesuffix("/s").removesuffix("-percent").removeprefix("psi-")


ALL_PROCESSORS = ("all", "-1")
"""How the row of all processors together is called; JSON of sysstat 12.0 writes the second."""


def mapped(report: Report, cpus: int | None) -> Mapped:
    """The figures of a report; of processors those of all together, where their number ``cpus`` is known."""
    values = {
        plain(name): value
        for name, value in report.values.items()
        if name not in _TOTALS_OF_IOSTAT or report.line == 0
    }
    item = name_of(report.item)
    if report.kind == "CPU":
        return Mapped(_processors(values, cpus) if cpus and item.lower() in ALL_PROCESSORS else {}, {})
    if report.kind == "DEV":
        return Mapped(_device(f"device.{item}", values) if item else {}, {})
    if report.kind in ("IFACE", "FCHOST"):
        table, part = (_NETWORK, "network") if report.kind == "IFACE" else (_FABRIC, "fabric")
        return Mapped(_named(f"{part}.{item}", values, table) if item else {}, {})
    if report.kind == "VM":
        return Mapped(_named("host", values, _VMSTAT_RATES), _named("host", values, _VMSTAT_GAUGES))
    rates = _named("host", values, _HOST_RATES)
    page = PAGES.get(report.banner.architecture or "") if report.banner else None
    if page is not None:
        rates |= _named("host", values, {name: (series, page) for name, series in _HOST_PAGES.items()})
    return Mapped(rates, _named("host", values, _HOST_GAUGES))


def _processors(values: Mapping[str, float], cpus: int) -> Figures:
    """Seconds per second of all processors; interrupts only where both kinds are told apart."""
    found: Figures = {}
    for kind, columns in _CPU.items():
        known = [values[name] for name in columns if name in values]
        if known and (kind != "interrupt" or len(known) == 2):
            found[f"host.cpu_{kind}_seconds"] = sum(known) / 100.0 * cpus
    return found


def _device(name: str, values: Mapping[str, float]) -> Figures:
    """Rates of a device; times of requests are their number by the time of each (milliseconds)."""
    found = _named(name, values, _DEVICE)
    both = values.get("tps")
    if both is None and "r" in values and "w" in values:
        both = values["r"] + values["w"]
    for await_of, number, figure in (
        ("r_await", values.get("r"), "read_seconds"),
        ("w_await", values.get("w"), "write_seconds"),
        ("f_await", values.get("f"), "flush_seconds"),
        ("await", both, "request_seconds"),
    ):
        if await_of in values and number is not None:
            found[f"{name}.{figure}"] = number * values[await_of] / 1000.0
    if "await" in values and both is not None:
        found[f"{name}.requests"] = both
    return found


def _named(part: str, values: Mapping[str, float], table: Mapping[str, tuple[str, float]]) -> Figures:
    return {
        f"{part}.{table[name][0]}": value * table[name][1] for name, value in values.items() if name in table
    }
