"""The summary table of the published studies, and throughput side by side."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.reporters.figure import Form, format_count
from mawl.reporters.html.figures import Figures, beside, section, table
from mawl.units import format_bytes, format_latency, format_memory, format_rate, format_ratio, format_seconds

WINDOW_FIGURES = ("initial", "peak", "sustained", "active_mean", "run_mean")
DIRECTIONS = {"read": "read", "write": "written", "total": "total"}
MOST_DEVICES = 3
"""Devices whose awaits stand in the summary; the section on the host has all."""

Row = tuple[str, str, Form]
"""A label, the registry's name, which is the path in the summary, too, and the form."""

TIMES: tuple[Row, ...] = (
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
    ("its standard deviation", "cpu_real_ratio.stddev", format_ratio),
    ("its range", "cpu_real_ratio.range", format_ratio),
    ("CPU/real without waiting for a CPU", "cpu_real_ratio.without_run_queue", format_ratio),
)
FLOWS: tuple[Row, ...] = (
    ("peak throughput, device", "io.device.peak.total_bytes_per_second", format_rate),
    ("sustained throughput, device", "io.device.sustained.total_bytes_per_second", format_rate),
    ("sustained per core, device", "io.device.sustained_bytes_per_second_per_core", format_rate),
    ("sustained throughput, application", "io.application.sustained.total_bytes_per_second", format_rate),
    ("bytes read from devices", "io.device.read_bytes", format_bytes),
    ("bytes written to devices", "io.device.written_bytes", format_bytes),
    ("reach, read: device over application", "io.reach.read_ratio", format_ratio),
    ("reach, written", "io.reach.write_ratio", format_ratio),
)
HOST: tuple[Row, ...] = (
    ("processors busy (share of time)", "host.cpu_busy_ratio", format_ratio),
    ("processors in I/O wait (share of time)", "host.cpu_iowait_ratio", format_ratio),
    ("memory of jobs (sum)", "time.memory_bytes", format_memory),
)


def performance(figures: Figures) -> Markup:
    """Sessions, jobs, times, throughput and latency as the published tables have them."""
    head = ("figure", "value")
    flows = [*_rows(figures, FLOWS), *_awaits(figures), *_rows(figures, HOST)]
    return section(
        "summary",
        "Performance summary",
        beside(
            table("Jobs and times", head, _rows(figures, TIMES), narrow=True),
            table("Throughput, latency and processors", head, flows, narrow=True),
        ),
        _throughput(figures),
    )


def _rows(figures: Figures, rows: Sequence[Row]) -> list[tuple[Markup, Markup]]:
    return [(figures.term(label, name), figures.show(form, *name.split("."))) for label, name, form in rows]


def _awaits(figures: Figures) -> list[tuple[Markup, Markup]]:
    """Await of the devices that hold roles, as the published tables give disk service times."""
    devices = figures.value("host", "device") or {}
    holding = [name for name, device in devices.items() if device["roles"]][:MOST_DEVICES]
    return [
        (
            figures.term(
                f"{direction} await of {name}, {kind}", f"host.device.*.{direction}_await_seconds.{kind}"
            ),
            figures.show(format_latency, "host", "device", name, f"{direction}_await_seconds", kind),
        )
        for name in holding
        for direction in ("read", "write")
        for kind in ("mean", "peak")
    ]


def _throughput(figures: Figures) -> Markup:
    """Both sides by direction, over windows; a name leads to the definition of that side's total."""
    head = ("side", *(name.replace("_", " ") for name in WINDOW_FIGURES))
    rows = [
        (
            figures.term(f"{side}, {word}", f"io.{side}.sustained.{direction}_bytes_per_second"),
            *(
                figures.show(format_rate, "io", side, name, f"{direction}_bytes_per_second")
                for name in WINDOW_FIGURES
            ),
        )
        for side in ("application", "device")
        for direction, word in DIRECTIONS.items()
    ]
    window = figures.value("io", "device", "window_seconds")
    length = "" if window is None else f" in windows of {format_seconds(window)}"
    return table(f"Throughput{length}; device: {figures.value('io', 'device', 'windows_source')}", head, rows)
