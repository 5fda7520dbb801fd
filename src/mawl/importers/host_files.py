"""Reports of sar, sadf, iostat, mpstat and vmstat as host samples (docs/design/imported-host.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import BinaryIO

from mawl.formats import iostat, sadf, sar, sysstat_json, vmstat
from mawl.formats.decoding import byte_chunks
from mawl.formats.sysstat import Banner, Doubt, Report
from mawl.importers.interface import Context, HostFigures, Item
from mawl.importers.nmon_sections import name_of
from mawl.importers.recording import Recording, whole_lines
from mawl.importers.sysstat_series import Figures, mapped, wanted
from mawl.model.run import NodeFacts

Reports = Iterator[Report | Doubt]
Lines = Iterable[tuple[int, str]]
Patterns = tuple[bytes, ...]

_BANNER = rb"(?m)^Linux \S{1,200} \([^)\n]{1,200}\)\s"
_TIME = rb"(?m)^[0-9:.]{7,8}(?: [AP]M)?\s{1,20}"
_JSON = rb'\A[^{]{0,4096}\{\s{0,99}"sysstat"\s{0,9}:\s{0,9}\{'


class HostReports:
    """Files of one of the tools; each form is told by the first bytes, where all its patterns are."""

    def __init__(
        self, kind: str, title: str, text: Patterns, json: Patterns, read_text: Callable[[Lines], Reports]
    ) -> None:
        self.kind, self.title = kind, title
        self._text, self._json = _compiled(text), _compiled(json)
        self._read_text = read_text

    def recognises(self, first: bytes, name: str) -> float:
        """By the tool's headings."""
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
            yield from _items(sysstat_json.reports(_again(first, chunks)), context)
        else:
            lines = whole_lines(_Chunks(first, chunks), context.skip)  # type: ignore[arg-type]
            yield from _items(self._read_text(lines), context)


def _compiled(patterns: Patterns) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(pattern) for pattern in patterns)


def _again(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks


class _Chunks:
    """Chunks as a stream to read; ``size`` is a wish."""

    def __init__(self, first: bytes, chunks: Iterator[bytes]) -> None:
        self._first: bytes | None = first
        self._chunks = chunks

    def read(self, _size: int = -1) -> bytes:
        first, self._first = self._first, None
        if first:
            return first
        return next((chunk for chunk in self._chunks if chunk), b"")


class _Interval:
    """Reports of one node and interval, gathered."""

    def __init__(self, node: str, since: float | None, at: float) -> None:
        self.key = (node, since, at)
        self.rates: Figures = {}
        self.gauges: Figures = {}


def _items(reports: Reports, context: Context) -> Iterator[Item]:
    recordings: dict[str, Recording] = {}
    nodes: dict[str, NodeFacts] = {}
    interval: _Interval | None = None
    fallback = name_of(PurePath(context.file).name.partition(".")[0]) or "node"
    unknown_cpus: set[str] = set()
    for report in reports:
        if isinstance(report, Doubt):
            context.skip(report.line, report.reason, report.text)
            continue
        context.blocks += 1
        node = name_of(report.banner.host) if report.banner and report.banner.host else fallback
        if node not in nodes or (report.banner and report.banner.cpus and nodes[node].logical_cpus is None):
            nodes[node] = _facts(node, report.banner)
        at, since = _utc(report, context)
        if interval is None or interval.key != (node, since, at):
            yield from _flush(interval, recordings)
            interval = _Interval(node, since, at)
        found = mapped(report)
        interval.rates |= found.rates
        interval.gauges |= found.gauges
        of_processors = report.kind in ("CPU", "VM")
        if of_processors and (report.banner is None or report.banner.cpus is None):
            unknown_cpus.add(node)
    yield from _flush(interval, recordings)
    for node in sorted(unknown_cpus):
        context.skip(None, f"the number of processors of {node} is not told: their time is left out")
    if not context.blocks:
        context.skip(None, "no report was found")
    yield from nodes.values()


def _utc(report: Report, context: Context) -> tuple[float, float | None]:
    """The interval's end and beginning, seconds since the epoch."""
    local = report.ahead is None
    at = context.local(report.at) if local else context.absolute(report.at - (report.ahead or 0.0))
    return at, None if report.since is None else at - (report.at - report.since)


def _flush(interval: _Interval | None, recordings: dict[str, Recording]) -> Iterator[HostFigures]:
    if interval is None:
        return
    node, since, at = interval.key
    recording = recordings.setdefault(node, Recording(node))
    yield from recording.interval(since, at, interval.rates, interval.gauges)


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
    lambda lines: sar.read_reports(lines, wanted),
)
SADF = HostReports(
    "sadf",
    "sadf -j and sadf -d",
    (rb"(?m)^# hostname;interval;timestamp",),
    (_JSON, rb'"(?:file-date|file-utc-time|cpu-load-all|process-and-context-switch|net-dev)"'),
    lambda lines: sadf.read_reports(lines, wanted),
)
IOSTAT = HostReports(
    "iostat",
    "iostat, text and JSON",
    (rb"(?m)^(?:avg-cpu:\s{1,20}%user|Device:?\s.{0,200}(?:kB_read/s|rkB/s|rMB/s|rsec/s|MB_read/s|tps))",),
    (_JSON, rb'"(?:avg-cpu|disk_device)"'),
    iostat.read_reports,
)
MPSTAT = HostReports(
    "mpstat",
    "mpstat, text and JSON",
    (_BANNER, _TIME + rb"CPU\s{1,20}%usr\s{1,20}%nice\s{1,20}%sys\s{1,20}%iowait\s{1,20}%irq"),
    (_JSON, rb'"cpu-load"\s{0,9}:\s{0,9}\[\s{0,99}\{[^}]{0,200}"irq"[^}]{0,200}"steal"'),
    lambda lines: sar.read_reports(lines, wanted),
)
VMSTAT = HostReports(
    "vmstat",
    "text of vmstat",
    (rb"(?m)^\s{0,9}r\s{1,9}b\s{1,9}swpd\s{1,20}free\s",),
    (),
    vmstat.read_reports,
)
EVERY = (SADF, MPSTAT, IOSTAT, SAR, VMSTAT)
