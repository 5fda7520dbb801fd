"""The summary table of the published studies, and throughput side by side."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.figure import Form, format_count
from mawl.reporters.html.figures import ShownFigures, beside, part, table
from mawl.reporters.html.sections.verdict import keys
from mawl.reporters.html.tables import tables_in
from mawl.reporters.run_tables.devices import active_devices
from mawl.units import (
    format_bytes,
    format_latency,
    format_memory,
    format_percent,
    format_rate,
    format_ratio,
    format_seconds,
)

MOST_DEVICES = 3
"""Devices whose awaits stand in the summary; the section on the host has all."""

Row = tuple[str, str, Sequence[str], Form]
"""A label, the registry's name, the path in the summary, and the form."""


def _named(*rows: tuple[str, str, Form]) -> tuple[Row, ...]:
    """Rows whose registry name is their path in the summary, too."""
    return tuple((label, name, name.split("."), form) for label, name, form in rows)


TIMES = _named(
    ("sessions", "workload.sessions", format_count),
    ("jobs", "jobs.total", format_count),
    ("jobs at once, peak", "jobs.peak_concurrent", format_count),
    ("jobs at once, mean", "jobs.mean_concurrent", format_ratio),
    ("workload response time (sum of real time)", "time.real_time_seconds", format_seconds),
    ("CPU time", "time.cpu_seconds", format_seconds),
    ("user CPU time", "time.user_cpu_seconds", format_seconds),
    ("system CPU time", "time.system_cpu_seconds", format_seconds),
    ("elapsed: first start to last end", "time.elapsed_seconds", format_seconds),
    ("active phase", "time.active_seconds", format_seconds),
    ("tail", "time.tail_seconds", format_seconds),
    ("CPU/real of the sums", "cpu_real_ratio.of_sums", format_ratio),
    ("CPU/real, mean of the jobs", "cpu_real_ratio.mean", format_ratio),
    ("CPU/real, standard deviation", "cpu_real_ratio.stddev", format_ratio),
    ("CPU/real, range", "cpu_real_ratio.range", format_ratio),
    ("CPU/real without waiting for a CPU", "cpu_real_ratio.without_run_queue", format_ratio),
)
FLOWS = _named(
    ("peak throughput, device", "io.device.peak.total_bytes_per_second", format_rate),
    ("sustained throughput, device", "io.device.sustained.total_bytes_per_second", format_rate),
    ("sustained per core, device", "io.device.sustained_bytes_per_second_per_core", format_rate),
    ("sustained throughput, application", "io.application.sustained.total_bytes_per_second", format_rate),
    ("device bytes read, all programs", "io.device.read_bytes", format_bytes),
    ("device bytes written, all programs", "io.device.written_bytes", format_bytes),
    ("own bytes read at devices", "io.own.read_bytes", format_bytes),
    ("own bytes written at devices", "io.own.written_bytes", format_bytes),
    ("bytes dirtied in memory", "io.dirtied.written_bytes", format_bytes),
    ("of these still in memory at the end", "io.dirtied.still_dirty_bytes", format_bytes),
    ("reach, read: own over application", "io.reach.read_ratio", format_percent),
    ("reach, written", "io.reach.write_ratio", format_percent),
)
HOST = _named(
    ("processors busy (share of time)", "host.cpu_busy_ratio", format_percent),
    ("processors in I/O wait (share of time)", "host.cpu_iowait_ratio", format_percent),
    ("memory of jobs (sum)", "time.memory_bytes", format_memory),
)


def performance(figures: ShownFigures, view: RunView) -> Markup:
    """Sessions, jobs, times, throughput and latency as the published tables have them."""
    rows = {row[0]: row for row in (*FLOWS, *_awaits(figures), *HOST)}
    return part(
        "summary",
        "Performance summary",
        keys(figures),
        beside(
            _table(figures, "Jobs and times", {row[0]: row for row in TIMES}),
            _table(figures, "Throughput, latency and processors", rows),
        ),
        *tables_in("summary", figures, view),
    )


def _table(figures: ShownFigures, caption: str, rows: dict[str, Row]) -> Markup:
    """A row per figure; of an import those that its files tell, the others named below."""
    known, unknown = figures.told(rows, lambda row: [figures.value(*figures.known(*row[2]))])
    cells = [
        (figures.term(label, name), figures.show(form, *path)) for label, name, path, form in known.values()
    ]
    return (table(caption, ("figure", "value"), cells, narrow=True) if cells else Markup()) + unknown


def _awaits(figures: ShownFigures) -> list[Row]:
    """Await of the devices that hold roles, as the published tables give disk service times.

    Of an import without roles, of those that moved most; and the awaits that its files tell.
    """
    host = figures.summary.host
    devices = (host.device if host else None) or {}
    names = active_devices(devices)
    holding = [name for name in names if devices[name].roles] or (names if figures.imported else [])
    return [
        (
            f"{direction} await of {name}, {kind}",
            f"host.device.*.{direction}_await_seconds.{kind}",
            ("host", "device", name, f"{direction}_await_seconds", kind),
            format_latency,
        )
        for name in holding[:MOST_DEVICES]
        for direction in ("read", "write")
        for kind in ("mean", "peak")
        if not figures.imported
        or getattr(getattr(devices[name], f"{direction}_await_seconds"), kind) is not None
    ]
