"""Reports of sar, sadf, iostat, mpstat and vmstat as series of the model (docs/design/imported-host.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import BinaryIO, NamedTuple

import msgspec

from mawl.importers.formats.host_tables import (
    DEVICE,
    FABRIC,
    HOST_GAUGES,
    HOST_PAGES,
    HOST_RATES,
    NETWORK,
    PROCESSORS,
    VMSTAT_GAUGES,
    VMSTAT_RATES,
    Columns,
)
from mawl.importers.formats.sysstat_reports import Banner, Report, SysstatDoubt, json_reports
from mawl.importers.formats.sysstat_text import looks_whole, read_tables
from mawl.importers.formats.text import byte_chunks, text_of, western
from mawl.importers.interface import Context, HostFigures, Item
from mawl.importers.nmon_snapshot import name_of
from mawl.importers.recording import ChunkStream, Recording, whole_lines
from mawl.records.model.run import NodeFacts

Figures = dict[str, float]

PAGES = {"x86_64": 4096.0, "i686": 4096.0, "s390x": 4096.0}
"""Bytes of a page where a processor has one size; pages of others cannot be told from a report."""


class Mapped(NamedTuple):
    """A report in the model's series: rates per second and gauges."""

    rates: Figures
    gauges: Figures


ALL_PROCESSORS = ("all", "-1")
"""How the row of all processors together is called; JSON of sysstat 12.0 writes the second."""


def mapped(report: Report, cpus: int) -> Mapped:
    """The figures of a report; of processors those of all ``cpus`` together."""
    values = report.values
    item = name_of(report.item)
    if report.kind == "CPU":
        return Mapped(_processors(values, cpus) if item.lower() in ALL_PROCESSORS else {}, {})
    if report.kind == "DEV":
        return Mapped(_device(f"device.{item}", values) if item else {}, {})
    if report.kind in ("IFACE", "FCHOST"):
        table, part = (NETWORK, "network") if report.kind == "IFACE" else (FABRIC, "fabric")
        return Mapped(_named(f"{part}.{item}", values, table) if item else {}, {})
    if report.kind == "VM":
        rates = _named("host", values, VMSTAT_RATES) | _processors(values, cpus)
        return Mapped(rates, _named("host", values, VMSTAT_GAUGES))
    rates = _named("host", values, HOST_RATES)
    page = PAGES.get(report.banner.architecture or "") if report.banner else None
    if page is not None:
        rates |= _named("host", values, {name: (series, page) for name, series in HOST_PAGES.items()})
    return Mapped(rates, _named("host", values, HOST_GAUGES))


def _processors(values: Mapping[str, float], cpus: int) -> Figures:
    """Seconds per second of all processors; interrupts only where both kinds are told apart."""
    found: Figures = {}
    for kind, columns in PROCESSORS.items():
        known = [values[name] for name in columns if name in values]
        if known and (kind != "interrupt" or len(known) == 2):
            found[f"host.cpu_{kind}_seconds"] = sum(known) / 100.0 * cpus
    return found


def _device(name: str, values: Mapping[str, float]) -> Figures:
    """Rates of a device; times of requests are their number by the time of each (milliseconds)."""
    found = _named(name, values, DEVICE)
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


def _named(part: str, values: Mapping[str, float], table: Columns) -> Figures:
    return {
        f"{part}.{table[name][0]}": value * table[name][1] for name, value in values.items() if name in table
    }


Reports = Iterator[Report | SysstatDoubt]

_BANNER = r"(?m)^Linux \S{1,200} \([^)\n]{1,200}\)\s"
_TIME = r"(?m)^(?:[0-9:.]{7,8}(?: [AP]M)?|[0-9]{10})\s{1,20}"
_JSON = r'\A[^{]{0,4096}\{\s{0,99}"sysstat"\s{0,9}:\s{0,9}\{'


class HostReports:
    """Files of one of the tools; each form is told by the first bytes, where all its patterns are."""

    def __init__(self, kind: str, title: str, text: Sequence[str], json: Sequence[str] = ()) -> None:
        self.kind, self.title = kind, title
        self._text = [re.compile(pattern) for pattern in text]
        self._json = [re.compile(pattern) for pattern in json]

    def recognises(self, first: bytes, name: str) -> float:
        text = text_of(first)
        if self._json and all(pattern.search(text) for pattern in self._json):
            return 1.0
        if not text.isascii() or "\x1b" in text:
            text = "\n".join(map(western, text.split("\n")))
        if all(pattern.search(text) for pattern in self._text):
            return 0.9
        return 0.1 if self.kind in PurePath(name).name else 0.0

    def read(self, stream: BinaryIO, context: Context) -> Iterator[Item]:
        """Samples in the order of the file, then its nodes."""
        chunks = byte_chunks(stream)
        first = next(chunks, b"")
        if self._json and re.match(_JSON, text_of(first[:8192])):
            yield from _items(json_reports(chain([first], chunks), context.untimed), context)
        else:
            lines = whole_lines(ChunkStream(first, chunks), context.skip, looks_whole)  # type: ignore[arg-type]
            day_first = context.dates == "day-first" or _COMMA.search(first) is not None
            yield from _items(read_tables(lines, context.untimed, day_first=day_first), context)


_COMMA = re.compile(rb"(?m)[^\n]*\s[0-9]{1,9},[0-9]{2}(?:\s|$)")
"""A decimal comma: locales with it write the day before the month (glibc 2.36; ka_GE alone does not)."""


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
        self._banner: Banner | None = None
        self._node = ""
        self._recordings: dict[str, Recording] = {}
        self._cpus: dict[str, int] = {}
        """The number of processors that the recording tells."""
        self._interval: _Interval | None = None
        self._devices: dict[str, _Devices] = {}
        self._rates: dict[str, bool] = {}
        """Of nodes with rates: whether the beginning of any of their intervals is known."""
        self.nodes: dict[str, NodeFacts] = {}

    def take(self, report: Report) -> Iterator[HostFigures]:
        """One report; the figures of the interval before, where it begins another."""
        banner = report.banner
        if banner is self._banner and self._node:
            node = self._node
        else:
            node = self._node = self._context.node_of(name_of(banner.host) if banner else None)
            self._banner = banner
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
        told = self._cpus.get(node)
        of_processors = any(report.kind in ("CPU", "VM") for report in interval.reports)
        cpus = self._context.cores.of(node, told) if of_processors else 1
        rates: Figures = {}
        gauges: Figures = {}
        devices: dict[str, Figures] = {}
        for report in interval.reports:
            found = mapped(report, cpus)
            rates |= found.rates
            gauges |= found.gauges
            if report.kind == "DEV":
                devices.setdefault(report.item, {}).update(found.rates)
        if rates:
            self._rates[node] = self._rates.get(node, False) or interval.since is not None
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
        for node in sorted(node for node, known in self._rates.items() if not known):
            self._context.skip(
                None,
                f"all reports of {node} are of the time since it started, or of one whose beginning is not "
                "known: their rates are left out; record at least two reports (iostat -t 10 2)",
            )
        for node, recording in sorted(self._recordings.items()):
            if recording.beyond:
                self._context.skip(
                    None, f"{recording.beyond} figures of {node} are beyond all measure: left out"
                )
        for node, facts in self.nodes.items():
            yield msgspec.structs.replace(
                facts, logical_cpus=self._cpus.get(node) or self._context.cores.known(node)
            )


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
    if not (context.blocks or context.skipped):
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
        _TIME
        + r"(?:CPU\s{1,20}%us.{1,200}%idle|(?:DEV\s{1,20})?tps\s|IFACE|rxpck/s|kbmemfree|pgpgin/s|proc/s"
        r"|runq-sz|%scpu|[%A-Za-z][^\s,;]{1,20}\s)",
    ),
)
SADF = HostReports(
    "sadf",
    "sadf -j and sadf -d",
    (r"(?m)^# hostname;interval;timestamp",),
    (_JSON, r'"(?:file-date|file-utc-time|cpu-load-all|process-and-context-switch|net-dev)"'),
)
IOSTAT = HostReports(
    "iostat",
    "iostat, text and JSON",
    (
        r"(?m)^(?:avg-cpu:\s{1,20}%user|Device:?\s.{0,200}(?:kB_read/s|rkB/s|rMB/s|rsec/s|MB_read/s|tps)"
        r"|\s{0,9}(?:r/s|tps)\s.{1,200}\sDevice\s{0,9}$)",
    ),
    (_JSON, r'"(?:avg-cpu|disk_device)"'),
)
MPSTAT = HostReports(
    "mpstat",
    "mpstat, text and JSON",
    (
        _BANNER,
        _TIME + r"CPU(?: CORE SOCK NODE)?\s{1,20}%usr\s{1,20}%nice\s{1,20}%sys\s{1,20}%iowait\s{1,20}%irq",
    ),
    (_JSON, r'"cpu-load"\s{0,9}:\s{0,9}\[\s{0,99}\{[^}]{0,200}"irq"[^}]{0,200}"steal"'),
)
VMSTAT = HostReports(
    "vmstat",
    "text of vmstat",
    (r"(?m)^\s{0,9}\S{1,3}\s{1,9}\S{1,3}\s{1,9}(?:w\s{1,9})?(?:swpd|swap|스왑|växl|交换)\s{1,20}\S",),
)
EVERY = (SADF, MPSTAT, IOSTAT, SAR, VMSTAT)
