"""What the hosts did: processors, memory, pressure, and each device."""

from __future__ import annotations

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.figure import Form, format_count
from mawl.reporters.html.figures import ShownFigures, part, table
from mawl.reporters.html.tables import tables_in
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


def host(figures: ShownFigures, view: RunView) -> Markup:
    """Figures over the run; nothing where the run holds no samples of the host."""
    if figures.summary.host is None:
        return Markup()
    known, unknown = figures.told(HOST, lambda named: [figures.value("host", *named[0])])
    rows = [
        (figures.term(label, "host." + ".".join(path)), figures.show(form, "host", *path))
        for label, (path, form) in known.items()
    ]
    caption = "Processors, memory and pressure, all nodes"
    tables = [table(caption, ("figure", "value"), rows, narrow=True)] if rows else []
    return part("host", "Host", *tables, unknown, *tables_in("host", figures, view))
