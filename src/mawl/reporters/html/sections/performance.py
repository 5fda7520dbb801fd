"""The summary table of the published studies, and throughput side by side."""

from __future__ import annotations

from markupsafe import Markup

from mawl.reporters.figure import format_count
from mawl.reporters.html.figures import Figures, section, table
from mawl.units import format_bytes, format_latency, format_memory, format_rate, format_ratio, format_seconds

WINDOW_FIGURES = ("initial", "peak", "sustained", "active_mean", "run_mean")
DIRECTIONS = {"read": "read", "write": "written", "total": "total"}


def performance(figures: Figures) -> Markup:
    """Sessions, jobs, times, throughput and latency in the order of the published tables."""
    return section("summary", "Performance summary", _published_shape(figures), _throughput(figures))


def _published_shape(figures: Figures) -> Markup:
    show, term = figures.show, figures.term
    rows = [
        (term("sessions", "workload.sessions"), show(format_count, "workload", "sessions")),
        (term("jobs", "jobs.total"), show(format_count, "jobs", "total")),
        (term("jobs at once, peak", "jobs.peak_concurrent"), show(format_count, "jobs", "peak_concurrent")),
        (term("jobs at once, mean", "jobs.mean_concurrent"), show(format_ratio, "jobs", "mean_concurrent")),
        *(
            (term(label, f"time.{name}"), show(format_seconds, "time", name))
            for label, name in (
                ("workload response time (sum of real time)", "real_time_seconds"),
                ("user CPU time", "user_cpu_seconds"),
                ("system CPU time", "system_cpu_seconds"),
                ("elapsed: first start to last end", "elapsed_seconds"),
            )
        ),
        *(
            (term(label, f"cpu_real_ratio.{name}"), show(format_ratio, "cpu_real_ratio", name))
            for label, name in (
                ("CPU/real of the sums", "of_sums"),
                ("CPU/real, mean of the jobs", "mean"),
                ("its standard deviation", "stddev"),
                ("its range", "range"),
                ("CPU/real without waiting for a CPU", "without_run_queue"),
            )
        ),
        *(
            (
                term(f"device throughput, {name}", f"io.device.{name}.total_bytes_per_second"),
                show(format_rate, "io", "device", name, "total_bytes_per_second"),
            )
            for name in ("peak", "sustained")
        ),
        (
            term("device throughput per core, sustained", "io.device.sustained_bytes_per_second_per_core"),
            show(format_rate, "io", "device", "sustained_bytes_per_second_per_core"),
        ),
        *(
            (
                term(f"device bytes {word}", f"io.device.{word}_bytes"),
                show(format_bytes, "io", "device", f"{word}_bytes"),
            )
            for word in ("read", "written")
        ),
        *_latencies(figures),
        (term("processors busy", "host.cpu_busy_ratio"), show(format_ratio, "host", "cpu_busy_ratio")),
        (
            term("processors in I/O wait", "host.cpu_iowait_ratio"),
            show(format_ratio, "host", "cpu_iowait_ratio"),
        ),
        (term("memory of jobs (sum)", "time.memory_bytes"), show(format_memory, "time", "memory_bytes")),
    ]
    return table(
        "Performance summary, in the shape of the published ones", ("figure", "value"), rows, narrow=True
    )


def _latencies(figures: Figures) -> list[tuple[Markup, Markup]]:
    """Await of the devices that hold roles, as the published tables give disk service times."""
    devices = figures.value("host", "device") or {}
    return [
        (
            figures.term(
                f"{direction} await of {name}, {kind}", f"host.device.*.{direction}_await_seconds.{kind}"
            ),
            figures.show(format_latency, "host", "device", name, f"{direction}_await_seconds", kind),
        )
        for name, device in devices.items()
        if device["roles"]
        for direction in ("read", "write")
        for kind in ("mean", "peak")
    ]


def _throughput(figures: Figures) -> Markup:
    """Both sides by direction, over windows."""
    names = [name.replace("_", " ") for name in WINDOW_FIGURES]
    head = (
        "side",
        *(
            figures.term(label, f"io.device.{name}.total_bytes_per_second")
            for label, name in zip(names, WINDOW_FIGURES, strict=True)
        ),
    )
    rows = [
        (
            f"{side}, {word}",
            *(
                figures.show(format_rate, "io", side, name, f"{direction}_bytes_per_second")
                for name in WINDOW_FIGURES
            ),
        )
        for side in ("application", "device")
        for direction, word in DIRECTIONS.items()
    ]
    reach = figures.summary["io"]["reach"]
    rows.append(
        (
            figures.term("reach: device over application, read and written", "io.reach.read_ratio"),
            *(figures.show(format_ratio, "io", "reach", name) for name in reach),
            *[""] * (len(WINDOW_FIGURES) - len(reach)),
        )
    )
    window = figures.value("io", "device", "window_seconds")
    length = "" if window is None else f" in windows of {format_seconds(window)}"
    return table(f"Throughput{length}; device: {figures.value('io', 'device', 'windows_source')}", head, rows)
