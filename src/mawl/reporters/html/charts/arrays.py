"""Throughput and latency over time at the storage arrays, by role."""

from __future__ import annotations

from collections.abc import Collection

from bokeh.models import Range1d

from mawl.reporters.html.charts.frame import Chart, Key, Sources
from mawl.reporters.html.charts.over_time import keyed, lines
from mawl.spec.program_options import ROLES

THROUGHPUT = keyed({f"{role}_array_bytes_per_second": Key(role, role, "line") for role in ROLES})
LATENCY = keyed({f"{role}_array_latency_seconds": Key(role, role, "line") for role in ROLES})


def throughput(sources: Sources, time: Range1d, having: Collection[str]) -> Chart:
    """Bytes that the array read and wrote, by role."""
    plot = lines("array", sources, time, THROUGHPUT, list(having), "rate")
    plot.yaxis.axis_label = "throughput"
    return Chart(
        "array",
        "Throughput at the array",
        "Bytes per second that the storage array read and wrote for each role, by its own statistics; "
        "means of the windows of the active phase.",
        "Line chart over time of bytes per second at the storage array by role.",
        [key for name, key in THROUGHPUT.items() if name in having],
        plot,
        form="rate",
    )


def latency(sources: Sources, time: Range1d, having: Collection[str]) -> Chart:
    """Mean time of a request at the array, by role."""
    plot = lines("array", sources, time, LATENCY, list(having), "latency")
    plot.name = "array_latency"
    plot.yaxis.axis_label = "mean time of a request"
    return Chart(
        "array_latency",
        "Latency at the array",
        "Mean time of a request at the storage array for each role, by its own statistics.",
        "Line chart over time of the mean latency of requests at the storage array by role.",
        [key for name, key in LATENCY.items() if name in having],
        plot,
        form="latency",
    )
