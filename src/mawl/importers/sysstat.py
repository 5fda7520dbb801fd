"""Reports of sar, sadf, iostat, mpstat and vmstat as series of the model (docs/design/imported-host.md).

Names of columns are without ``%``, ``/s``, ``kb`` of memory and JSON's ``-percent``: ``%util``,
``util-percent`` and ``util`` are one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import BinaryIO, NamedTuple

import msgspec

from mawl.importers.formats.sysstat_reports import Banner, Report, SysstatDoubt, Untimed, json_reports
from mawl.importers.formats.sysstat_text import read_iostat, read_sadf, read_sar, read_vmstat
from mawl.importers.formats.text import byte_chunks
from mawl.importers.interface import Context, HostFigures, Item
from mawl.importers.nmon_snapshot import name_of
from mawl.importers.recording import ChunkStream, Recording, whole_lines
from mawl.records.model.run import NodeFacts

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


Reports = Iterator[Report | SysstatDoubt]
Lines = Iterable[tuple[int, str]]
ReadText = Callable[[Lines, Untimed | None], Reports]
Patterns = tuple[bytes, ...]

_BANNER = rb"(?m)^Linux \S{1,200} \([^)\n]{1,200}\)\s"
_TIME = rb"(?m)^[0-9:.]{7,8}(?: [AP]M)?\s{1,20}"
_JSON = rb'\A[^{]{0,4096}\{\s{0,99}"sysstat"\s{0,9}:\s{0,9}\{'


class HostReports:
    """Files of one of the tools; each form is told by the first bytes, where all its patterns are."""

    def __init__(self, kind: str, title: str, text: Patterns, json: Patterns, read_text: ReadText) -> None:
        self.kind, self.title = kind, title
        self._text, self._json = _compiled(text), _compiled(json)
        self._read_text = read_text

    def recognises(self, first: bytes, name: str) -> float:
        if self._json and all(pattern.search(first) for pattern in self._json):
            return 1.0
        if all(pattern.search(first) for pattern in self._text):
            return 0.9
        return 0.1 if self.kind in PurePath(name).name else 0.0

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """Samples in the order of the file, then its nodes."""
        chunks = byte_chunks(stream)
        first = next(chunks, b"")
        if self._json and re.match(_JSON, first):
            yield from _items(json_reports(chain([first], chunks), context.untimed), context)
        else:
            lines = whole_lines(ChunkStream(first, chunks), context.skip)  # type: ignore[arg-type]
            yield from _items(self._read_text(lines, context.untimed), context)


def _compiled(patterns: Patterns) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


class _Interval:
    """Reports of one node and interval; the last of them may hold the number of processors."""

    def __init__(self, node: str, since: float | None, at: float) -> None:
        self.node, self.since, self.at = node, since, at
        self.reports: list[Report] = []
        self.doubtful = False
        """A line of it was left out: what has no row may be what that line was of."""


class _Devices:
    """The block devices of a node that come and go: one without a row beside others moved nothing then."""

    def __init__(self) -> None:
        self._series: dict[str, tuple[str, ...]] = {}
        self._whole_since: float | None = None
        """From this time on every interval lists all devices that were there."""
        self._at: float | None = None

    def absent(self, interval: _Interval, rates: Mapping[str, Figures]) -> Figures:
        """Rates of 0 for devices that have no row in an interval; ``rates`` are of those that have one."""
        whole = interval.since is not None and not interval.doubtful
        goes_on = whole and self._whole_since is not None and interval.since == self._at
        if not goes_on:
            self._whole_since = interval.since if whole else None
        self._at = interval.at
        gone = [] if self._whole_since is None else [name for name in self._series if name not in rates]
        return {series: 0.0 for name in gone for series in self._series[name]}

    def come(self, interval: _Interval, rates: Mapping[str, Figures]) -> tuple[float | None, list[str]]:
        """The series of devices that came with this interval, and since when they stood still before it."""
        new = {name: tuple(own) for name, own in rates.items() if name not in self._series}
        self._series |= new
        since = self._whole_since
        known = new and since is not None and interval.since is not None and since < interval.since
        return since if known else None, [series for own in new.values() for series in own]


class _Hosts:
    """What the reports of a file say of its hosts, one after another."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._fallback = name_of(PurePath(context.file).name.partition(".")[0]) or "node"
        self._recordings: dict[str, Recording] = {}
        self._cpus: dict[str, int] = {}
        self._interval: _Interval | None = None
        self._devices: dict[str, _Devices] = {}
        self._without_cpus: set[str] = set()
        self.nodes: dict[str, NodeFacts] = {}

    def take(self, report: Report) -> Iterator[HostFigures]:
        """One report; the figures of the interval before, where it begins another."""
        banner = report.banner
        node = name_of(banner.host) if banner and banner.host else self._fallback
        if node not in self.nodes:
            self.nodes[node] = _facts(node, banner)
        at, since = _interval_times(report, self._context)
        now = self._interval
        if now is None or (now.node, now.since, now.at) != (node, since, at):
            yield from self.flush()
            now = self._interval = _Interval(node, since, at)
        if banner and banner.cpus:
            self._cpus[node] = banner.cpus
        now.reports.append(report)

    def flush(self) -> Iterator[HostFigures]:
        interval, self._interval = self._interval, None
        if interval is None:
            return
        node = interval.node
        listed = _processors_listed(interval.reports)
        if node not in self._cpus and listed is not None:
            self._cpus[node] = listed
        if node not in self._cpus and any(report.kind in ("CPU", "VM") for report in interval.reports):
            self._without_cpus.add(node)
        rates: Figures = {}
        gauges: Figures = {}
        devices: dict[str, Figures] = {}
        for report in interval.reports:
            found = mapped(report, self._cpus.get(node))
            rates |= found.rates
            gauges |= found.gauges
            if report.kind == "DEV":
                devices[report.item] = found.rates
        recording = self._recordings.setdefault(node, Recording(node))
        if devices:
            seen = self._devices.setdefault(node, _Devices())
            rates |= seen.absent(interval, devices)
            since, new = seen.come(interval, devices)
            if since is not None and interval.since is not None:
                yield from recording.interval(since, interval.since, dict.fromkeys(new, 0.0), {})
        yield from recording.interval(interval.since, interval.at, rates, gauges)

    def doubt(self) -> None:
        if self._interval is not None:
            self._interval.doubtful = True

    def end(self) -> Iterator[NodeFacts]:
        for node in sorted(self._without_cpus):
            self._context.skip(
                None,
                f"the recording does not give the number of processors of {node}: their time is left out",
            )
        for node, facts in self.nodes.items():
            yield msgspec.structs.replace(facts, logical_cpus=facts.logical_cpus or self._cpus.get(node))


def _items(reports: Reports, context: Context) -> Iterator[Item]:
    hosts = _Hosts(context)
    for report in reports:
        if isinstance(report, SysstatDoubt):
            context.skip(report.line, report.reason, report.text)
            hosts.doubt()
            continue
        context.blocks += 1
        yield from hosts.take(report)
    yield from hosts.flush()
    if not context.blocks:
        context.skip(None, "no report was found")
    yield from hosts.end()


def _interval_times(report: Report, context: Context) -> tuple[float, float | None]:
    """The interval's end and beginning, seconds since the epoch."""
    local = report.ahead is None
    at = context.local(report.at) if local else context.absolute(report.at - (report.ahead or 0.0))
    return at, None if report.since is None else at - (report.at - report.since)


def _processors_listed(reports: Sequence[Report]) -> int | None:
    """How many processors there are where 0 to N-1 have a row each; None where one lacks, or all do."""
    numbers = {int(report.item) for report in reports if report.kind == "CPU" and report.item.isdecimal()}
    return len(numbers) if numbers and max(numbers) == len(numbers) - 1 else None


def _facts(node: str, banner: Banner | None) -> NodeFacts:
    """What a banner tells of a node; whether its processors are cores it does not."""
    release = name_of(banner.release) if banner and banner.release else None
    return NodeFacts(
        name=node,
        kernel=None if release is None else f"Linux {release}",
        logical_cpus=banner.cpus if banner else None,
    )


SAR = HostReports(
    "sar",
    "text of sar",
    (
        _BANNER,
        _TIME + rb"(?:CPU\s{1,20}%us.{1,200}%idle|DEV\s{1,20}tps|IFACE|kbmemfree|pgpgin/s|proc/s|tps\s"
        rb"|runq-sz|%scpu)",
    ),
    (),
    lambda lines, _: read_sar(lines, wanted),
)
SADF = HostReports(
    "sadf",
    "sadf -j and sadf -d",
    (rb"(?m)^# hostname;interval;timestamp",),
    (_JSON, rb'"(?:file-date|file-utc-time|cpu-load-all|process-and-context-switch|net-dev)"'),
    lambda lines, _: read_sadf(lines, wanted),
)
IOSTAT = HostReports(
    "iostat",
    "iostat, text and JSON",
    (rb"(?m)^(?:avg-cpu:\s{1,20}%user|Device:?\s.{0,200}(?:kB_read/s|rkB/s|rMB/s|rsec/s|MB_read/s|tps))",),
    (_JSON, rb'"(?:avg-cpu|disk_device)"'),
    read_iostat,
)
MPSTAT = HostReports(
    "mpstat",
    "mpstat, text and JSON",
    (_BANNER, _TIME + rb"CPU\s{1,20}%usr\s{1,20}%nice\s{1,20}%sys\s{1,20}%iowait\s{1,20}%irq"),
    (_JSON, rb'"cpu-load"\s{0,9}:\s{0,9}\[\s{0,99}\{[^}]{0,200}"irq"[^}]{0,200}"steal"'),
    lambda lines, _: read_sar(lines, wanted),
)
VMSTAT = HostReports(
    "vmstat",
    "text of vmstat",
    (rb"(?m)^\s{0,9}r\s{1,9}b\s{1,9}swpd\s{1,20}free\s",),
    (),
    read_vmstat,
)
EVERY = (SADF, MPSTAT, IOSTAT, SAR, VMSTAT)
