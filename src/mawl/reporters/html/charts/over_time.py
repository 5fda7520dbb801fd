"""What jobs, processors, memory and networks did over time, and how long requests took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import AdaptiveTicker, DataRange1d, Range1d
from bokeh.plotting import figure

from mawl.reporters.html.charts.frame import (
    COUNT,
    MEMORY,
    MOMENT,
    QUIET_COLOUR,
    RATE,
    ROLE_COLOURS,
    SHARE,
    SIDE_COLOURS,
    Chart,
    Key,
    Sources,
    hover,
    latency_ticks,
    time_figure,
)
from mawl.spec.program_options import ROLES

CPU = {
    "cpu_user_ratio": Key("user", "#3f87cc"),
    "cpu_system_ratio": Key("system and interrupts", "#d97f26"),
    "cpu_steal_ratio": Key("stolen by the hypervisor", "#b4453c"),
    "cpu_iowait_ratio": Key("idle, a task waiting for I/O", QUIET_COLOUR, "pale"),
}
JOBS = {
    "jobs_on_cpu": Key("on a processor", "#5b8f3a"),
    "jobs_in_run_queue": Key("waiting for a processor", "#c9a227"),
    **{f"jobs_blocked_{role}": Key(f"blocked in {role}", ROLE_COLOURS[role]) for role in ROLES},
    "jobs_blocked_other": Key("blocked elsewhere", ROLE_COLOURS["other"]),
}
MEMORIES = {
    "jobs_resident_bytes": Key("resident in jobs, shared pages in each", "#cf5f93", "line"),
    "memory_cached_bytes": Key("page cache", "#3f87cc", "line"),
    "memory_available_bytes": Key("available", "#2f9e74", "line"),
    "memory_dirty_bytes": Key("dirty, not written yet", "#d97f26", "dashed"),
    "memory_limit_bytes": Key("memory limit of the jobs", "#b23a48", "dashed"),
}
NETWORK = {
    "network_received_bytes_per_second": Key("received", SIDE_COLOURS["read"], "line"),
    "network_sent_bytes_per_second": Key("sent", SIDE_COLOURS["write"], "dashed"),
}
LATENCY = {
    f"{role}_{way}_latency_seconds": Key(
        f"{role} {way}s", ROLE_COLOURS[role], "line" if way == "read" else "dashed"
    )
    for role in ROLES
    for way in ("read", "write")
}


def words_of(column: str) -> str:
    """The column that holds the figures of another one in words."""
    return f"{column}_in_words"


def latency(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Mean time inside a call, by role and direction, on a logarithmic axis."""
    plot = None
    if not reason:
        plot = _lines("latency", sources, time, LATENCY, having, None, "0", log=True)
        plot.yaxis.axis_label = "mean time of a call"
        latency_ticks(plot.yaxis)
    return Chart(
        "latency",
        "Latency of calls by role",
        "Mean time inside read and write calls of each second; the axis is logarithmic. "
        "A call on cached data counts, too.",
        "Line chart over time of the mean latency of reads and writes by role.",
        [key for name, key in LATENCY.items() if name in having],
        plot,
        reason,
    )


def jobs(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Mean numbers of jobs by what they did or waited for."""
    names = [name for name in JOBS if name in having]
    plot = None
    if not reason:
        plot = _areas("jobs", sources, time, JOBS, names, "jobs", COUNT, "{0.0}")
    return Chart(
        "jobs",
        "What the jobs did and waited for",
        "Mean number of jobs (of threads) in each state.",
        "Area chart over time of the number of jobs on a processor, waiting for one, and blocked by role.",
        [JOBS[name] for name in names],
        plot,
        reason,
    )


def cpu(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Shares of the time of all processors."""
    names = [name for name in CPU if name in having]
    plot = None
    if not reason:
        plot = _areas(
            "cpu",
            sources,
            time,
            CPU,
            names,
            "share of processor time",
            SHARE,
            "{0.0 %}",
            Range1d(start=0, end=1),
        )
    return Chart(
        "cpu",
        "Processors",
        "Share of the time of all processors (logical ones as the kernel counts them); what is left is idle.",
        "Area chart over time of the shares of processor time in user mode, system, steal and I/O wait.",
        [CPU[name] for name in names],
        plot,
        reason,
    )


def memory(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Memory of the jobs and of the page cache."""
    plot = None
    if not reason:
        plot = _lines("memory", sources, time, MEMORIES, having, "{0.00 b}", MEMORY)
        plot.yaxis.axis_label = "memory, all nodes"
        plot.yaxis.ticker = AdaptiveTicker(base=1024, mantissas=[2.0**power for power in range(10)])
    return Chart(
        "memory",
        "Memory",
        "Memory of the jobs' processes, of the page cache, and what is left (powers of 1024).",
        "Line chart over time of memory resident in jobs, cached, available and dirty.",
        [key for name, key in MEMORIES.items() if name in having],
        plot,
        reason,
    )


def network(sources: Sources, time: Range1d, reason: str, having: Sequence[str]) -> Chart:
    """Bytes of all networks and fabrics."""
    plot = None
    if not reason:
        plot = _lines("network", sources, time, NETWORK, having, "{0.00 d}/s", RATE)
        plot.yaxis.axis_label = "bytes per second"
    return Chart(
        "network",
        "Networks",
        "Bytes per second of all networks but the loopback one, and of fabrics.",
        "Line chart over time of bytes per second received and sent.",
        [key for name, key in NETWORK.items() if name in having],
        plot,
        reason,
    )


def _areas(
    name: str,
    sources: Sources,
    time: Range1d,
    keys: dict[str, Key],
    having: Sequence[str],
    axis: str,
    form: str,
    pointer: str,
    y_range: Range1d | None = None,
) -> figure:
    """Areas on top of each other; an invisible line carries the figures under the pointer."""
    plot = time_figure(name, time, axis, form, y_range=y_range)
    shown = [keys[column] for column in having]
    areas = plot.varea_stack(
        list(having), x="seconds", source=sources[name], color=[key.colour for key in shown]
    )
    for area, key in zip(areas, shown, strict=True):
        area.glyph.fill_alpha = 0.4 if key.swatch == "pale" else 0.8
    line = plot.line("seconds", having[0], source=sources[name], alpha=0)
    rows = [(keys[column].name, f"@{column}{pointer}") for column in having]
    hover(plot, line, [MOMENT, *rows])
    return plot


def _lines(
    name: str,
    sources: Sources,
    time: Range1d,
    keys: dict[str, Key],
    having: Sequence[str],
    pointer: str | None,
    form: str,
    *,
    log: bool = False,
) -> figure:
    """Lines of figures that ``pointer`` formats under the pointer; None where they stand there in words."""
    if log:
        plot = time_figure(name, time, "", form, y_range=DataRange1d(), y_axis_type="log")
    else:
        plot = time_figure(name, time, "", form)
    shown = [column for column in keys if column in having]
    lines = [
        plot.line(
            "seconds",
            column,
            source=sources[name],
            color=keys[column].colour,
            line_width=1.6,
            line_dash="solid" if keys[column].swatch == "line" else "dashed",
        )
        for column in shown
    ]
    rows = [
        (keys[column].name, f"@{column}{pointer}" if pointer else f"@{words_of(column)}") for column in shown
    ]
    known = [int(np.isfinite(sources[name].data[column]).sum()) for column in shown]
    hover(plot, lines[known.index(max(known))], [MOMENT, *rows])
    return plot
