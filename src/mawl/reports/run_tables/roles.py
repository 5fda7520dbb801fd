"""Tables of a run's I/O by role, and of its throughput over time."""

from __future__ import annotations

from collections.abc import Mapping

from mawl.base.units import (
    format_bytes,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)
from mawl.figures.view import RunView
from mawl.records.model.summary.io import Io, RoleFigures
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES as FILE_ROLES
from mawl.records.spec.program_options import ROLES as PROGRAM_OPTIONS_ROLES
from mawl.reports.layout import figure, figures, format_count
from mawl.reports.tables import CSV, EVERY, HTML, MARKDOWN, SHOWN, TEXT, Note, Row, RunColumn, RunTable

WHOLE = 0.995
TRIFLE_BYTES = 2**17
"""So little uncounted is not worth a line (as in the jobs' remarks)."""


def role_rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per role; text and HTML leave out ``other`` where it has no calls."""
    return [
        Row(name, ("io", "by_role", name), EVERY if _called(name, role) else MARKDOWN | CSV)
        for name, role in (summary.io.by_role or {}).items()
    ]


def _called(name: str, role: RoleFigures) -> bool:
    return name != "other" or bool(role.reads or role.writes)


def _role_notes(_: RunView, summary: Summary) -> list[Note]:
    by_role = summary.io.by_role or {}
    return [*_sizes(by_role), *_uncaching(by_role), *_direct(summary.io), *_coverage(summary.io)]


def _sizes(by_role: Mapping[str, RoleFigures]) -> list[Note]:
    sizes = []
    for name in FILE_ROLES:
        medians = [
            f"{verb} {figure(median, format_memory)}"
            for key, verb in (("read", "read"), ("write", "written"))
            if (median := getattr(by_role[name], f"{key}_request_bytes").p50) is not None
        ]
        sizes += [f"{name} {', '.join(medians)}"] if medians else []
    return [Note(f"median request: {'; '.join(sizes)}", TEXT)] if sizes else []


def _uncaching(by_role: Mapping[str, RoleFigures]) -> list[Note]:
    took = {name: role.uncaching_seconds for name, role in by_role.items() if name in FILE_ROLES}
    if not any(took.values()):
        return []
    parts = ", ".join(f"{name} {figure(seconds, format_seconds)}" for name, seconds in took.items())
    what = "job time in calls of --cache none (waiting for writeback, dropping pages)"
    return [Note(f"{what}: {parts}", TEXT | MARKDOWN)]


def _direct(io: Io) -> list[Note]:
    block = io.direct
    if not block.programs:
        return []
    read, written = figures((block.read_bytes, format_bytes), (block.written_bytes, format_bytes))
    programs = ", ".join(block.programs)
    return [Note(f"direct I/O (past the page cache): {read} read, {written} written by {programs}", TEXT)]


def _coverage(io: Io) -> list[Note]:
    ratio = io.coverage_ratio
    moved = [getattr(io.application, f"{way}_bytes") for way in ("read", "written")]
    known = ratio is not None and None not in moved and not io.unseen
    # A program that is loaded reads some kilobytes before it can count.
    if known and ratio is not None and (ratio >= WHOLE or (1 - ratio) * sum(moved) <= TRIFLE_BYTES):
        return []
    counted = f"counted: {figure(ratio, format_percent)} of the bytes that the kernel saw"
    return [Note("; ".join([counted, *io.unseen]), TEXT)]


ROLES = RunTable(
    name="roles",
    caption="Bytes and calls by role",
    section="roles",
    first="role",
    block=("io", "by_role", "*"),
    rows=role_rows,
    columns=(
        RunColumn(label="reads", path=("reads",), form=format_count, formats=HTML),
        RunColumn(label="writes", path=("writes",), form=format_count, formats=HTML),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
        RunColumn(label="share", path=("share_ratio",), form=format_percent),
        RunColumn(label="sequential", path=("sequential_ratio",), form=format_percent),
        *(
            RunColumn(label=label, path=(f"{way}_latency_seconds", part), form=format_latency, formats=to)
            for way, parts in (
                ("read", (("mean", TEXT | MARKDOWN), ("p50", TEXT), ("p99", TEXT | MARKDOWN), ("max", TEXT))),
                ("write", (("mean", TEXT | MARKDOWN), ("p99", TEXT | MARKDOWN))),
            )
            for part, to in parts
            for label in [f"{way}s: mean" if part == "mean" else part]
        ),
    ),
    formats=EVERY,
    notes=_role_notes,
    spare=("p50", "sequential", "max"),
)


def _role_device_rows(_: RunView, summary: Summary) -> list[Row]:
    io = summary.io
    if io.by_role is not None or io.devices_by_role is None:
        return []
    return [Row(role, ("io", "devices_by_role", role)) for role in PROGRAM_OPTIONS_ROLES]


def _role_device_notes(_: RunView, summary: Summary) -> list[Note]:
    if summary.io.by_role is not None:
        return []
    sentence = f"I/O by role: {summary.missing['io.by_role']}"
    if summary.io.devices_by_role is None:
        sentence += f"; nor can devices split it: {summary.missing['io.devices_by_role']}"
    return [Note(sentence)]


ROLE_DEVICES = RunTable(
    name="role_devices",
    caption="Bytes at the devices of each role",
    section="roles",
    first="role, at its devices",
    block=("io", "devices_by_role", "data"),
    rows=_role_device_rows,
    columns=(
        RunColumn(label="read", path=("read_bytes",), form=format_bytes),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes),
    ),
    formats=TEXT,
    lead=_role_device_notes,
)


def _role_latency_rows(view: RunView, summary: Summary) -> list[Row]:
    return [
        Row(f"{row.name}, {way}s", (*row.path, f"{way}_latency_seconds"), row.formats)
        for row in role_rows(view, summary)
        for way in ("read", "write")
    ]


ROLE_LATENCY = RunTable(
    name="role_latency",
    caption="Latency of calls by role; peak is the highest window mean",
    section="roles",
    first="role, calls",
    block=("io", "by_role", "*", "read_latency_seconds"),
    rows=_role_latency_rows,
    columns=tuple(
        RunColumn(label=part, path=(part,), form=format_latency)
        for part in ("mean", "p50", "p99", "max", "peak")
    ),
    formats=HTML,
)


PER_CORE = "sustained per core"
OF_TOTALS = frozenset({PER_CORE, "read", "written"})
"""Figures that only the totals have."""


def _throughput_rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per side, then its directions; in text only of a run with windows, and directions of devices."""
    has_windows = summary.io.application.peak.total_bytes_per_second is not None
    rows = []
    for side, directions in (("application", HTML), ("device", HTML | TEXT)):
        for way, name, formats in (
            ("total", side, SHOWN),
            ("read", f"{side}, read", directions),
            ("write", f"{side}, written", directions),
        ):
            to = formats if has_windows else formats - TEXT
            rows.append(Row(name, ("io", side), to, way, frozenset() if way == "total" else OF_TOTALS))
    return rows


def _throughput_notes(_: RunView, summary: Summary) -> list[Note]:
    device, reach, notes = summary.io.device, summary.io.reach, []
    ratios = (reach.read_ratio, reach.write_ratio)
    if any(ratio is not None for ratio in ratios):
        read, written = figures(*((ratio, format_percent) for ratio in ratios))
        text = f"reach (own/application): read {read}, written {written}"
        notes.append(Note(text, MARKDOWN))
    if device.window_seconds is not None:
        length = format_seconds(device.window_seconds)
        notes.append(Note(f"windows of {length}; device: {device.windows_source}"))
    return notes


THROUGHPUT = RunTable(
    name="throughput",
    caption="Throughput",
    section="summary",
    first="throughput",
    block=("io", "device"),
    way="total",
    rows=_throughput_rows,
    columns=(
        *(
            RunColumn(
                label=name.replace("_", " "),
                path=(name, "{way}_bytes_per_second"),
                form=format_rate,
                formats=HTML if name == "run_mean" else SHOWN,
            )
            for name in ("peak", "initial", "sustained", "lowest", "active_mean", "run_mean")
        ),
        RunColumn(label=PER_CORE, path=("sustained_bytes_per_second_per_core",), form=format_rate),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes, formats=MARKDOWN),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes, formats=MARKDOWN),
    ),
    notes=_throughput_notes,
)


def _window_rows(_: RunView, summary: Summary) -> list[Row]:
    return [Row(str(place + 1), ("windows", place)) for place in range(len(summary.windows))]


WINDOWS = RunTable(
    name="windows",
    alike=True,
    caption="Throughput, mean latency of calls by role, jobs and processors, window by window",
    section="timeline",
    first="window",
    named=CSV,
    block=("windows", "*"),
    rows=_window_rows,
    columns=(
        RunColumn(label="start", path=("start_seconds",), form=format_seconds),
        RunColumn(label="length", path=("length_seconds",), form=format_seconds),
        RunColumn(label="phase", path=("phase",), form=str, holds="words"),
        *(
            RunColumn(label=side.replace("_", " "), path=(f"{side}_bytes_per_second",), form=format_rate)
            for side in ("application_read", "application_write", "device_read", "device_write")
        ),
        *(
            RunColumn(
                label=f"{role} {way}",
                title=f"{role} {way} latency",
                path=("latency", role, f"{way}_seconds"),
                form=format_latency,
            )
            for role in PROGRAM_OPTIONS_ROLES
            for way in ("read", "write")
        ),
        RunColumn(label="jobs", path=("jobs_running",), form=format_ratio),
        RunColumn(label="on processors", path=("jobs_on_cpu",), form=format_ratio),
        RunColumn(label="waiting for processors", path=("jobs_in_run_queue",), form=format_ratio),
        RunColumn(label="processors busy", path=("cpu_busy_ratio",), form=format_ratio),
    ),
    formats=HTML | CSV,
    fold="The same in figures: {rows} windows",
    folded=HTML,
)
