"""What the hosts did: processors, memory, pressure, and each device."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.figure import ABSENT, Form, format_count
from mawl.reporters.html.figures import ShownFigures, paragraph, section, table
from mawl.reporters.html.tables import tables_in
from mawl.reporters.threads import adjusted_cpu, busy_cores, findings
from mawl.units import (
    format_memory,
    format_percent,
    format_ratio,
    format_seconds,
)

HOST: dict[str, tuple[tuple[str, ...], Form]] = {
    "processors busy (share of time)": (("cpu_busy_ratio",), format_percent),
    "in user mode": (("cpu_user_ratio",), format_percent),
    "in the system": (("cpu_system_ratio",), format_percent),
    "idle, waiting for I/O": (("cpu_iowait_ratio",), format_percent),
    "stolen by the hypervisor": (("cpu_steal_ratio",), format_percent),
    "cores busy (share of time)": (("core_busy_ratio",), format_percent),
    "busy core-seconds": (("core_busy_seconds",), format_seconds),
    "the least they can be": (("core_busy_least_seconds",), format_seconds),
    "the most they can be": (("core_busy_most_seconds",), format_seconds),
    "runnable tasks, mean": (("runnable", "mean"), format_ratio),
    "runnable tasks, peak": (("runnable", "peak"), format_ratio),
    "least memory available": (("least_memory_available_bytes",), format_memory),
    "most memory dirty": (("most_memory_dirty_bytes",), format_memory),
    "read from swap": (("swap_read_bytes",), format_memory),
    "written to swap": (("swap_written_bytes",), format_memory),
    "major page faults": (("major_faults",), format_count),
    "context switches": (("context_switches",), format_count),
    **{
        f"pressure, {name.replace('_', ' ')} (share of time)": (("pressure", f"{name}_ratio"), format_percent)
        for name in ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")
    },
}
THREADS: tuple[tuple[str, str, Form], ...] = (
    ("threads a core", "threads_per_core", format_count),
    ("hardware threads", "hardware_threads", format_count),
    ("busy", "busy_ratio", format_percent),
    ("runnable", "runnable", format_ratio),
)


def host(figures: ShownFigures, view: RunView) -> Markup:
    """Figures over the run; the reason where the run holds no samples of the host."""
    if figures.summary.host is None:
        return section("host", "Host", paragraph(f"Not measured: {figures.reason(('host',))}.", "why"))
    known, unknown = figures.told(HOST, lambda named: [figures.value("host", *named[0])])
    rows = [
        (figures.term(label, "host." + ".".join(path)), figures.show(form, "host", *path))
        for label, (path, form) in known.items()
    ]
    caption = "Processors, memory and pressure, all nodes"
    tables = [table(caption, ("figure", "value"), rows, narrow=True)] if rows else []
    return section("host", "Host", *tables, unknown, *_threads(figures), *tables_in("host", figures, view))


def _threads(figures: ShownFigures) -> list[Markup]:
    """The mode of each node, what its busy cores are, times without AIX's scaling, and the next mode."""
    nodes = figures.value("smt", "nodes") or {}
    rows = [
        (
            name,
            node["mode"] or ABSENT,
            *(figures.show(form, "smt", "nodes", name, field) for _, field, form in THREADS),
        )
        for name, node in nodes.items()
    ]
    head = ("node", "SMT", *(figures.term(label, f"smt.nodes.*.{field}") for label, field, _ in THREADS))
    busy, adjusted = busy_cores(figures.summary), adjusted_cpu(figures.summary)
    told = [f"Busy core-seconds: {busy}."] if busy else []
    told += [f"CPU time adjusted for AIX's scaled accounting: {adjusted}."] if adjusted else []
    told += [f"SMT: {text}." for text in findings(figures.summary)]
    tables = [table("Hardware threads, in the active phase", head, rows, texts=(1,))] if rows else []
    return [*tables, *map(paragraph, told)]
