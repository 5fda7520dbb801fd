"""A row per program: times, slowdown, and where its time went."""

from __future__ import annotations

from markupsafe import Markup

from mawl.reporters.figure import Form, format_count
from mawl.reporters.html.figures import ShownFigures, paragraph, section, table
from mawl.units import format_bytes, format_memory, format_ratio, format_seconds

COLUMNS: dict[str, tuple[tuple[str, ...], Form]] = {
    "jobs": (("jobs",), format_count),
    "counted": (("counted",), format_count),
    "real median": (("real_time_seconds", "median"), format_seconds),
    "min": (("real_time_seconds", "min"), format_seconds),
    "max": (("real_time_seconds", "max"), format_seconds),
    "slowdown": (("slowdown",), format_ratio),
    "CPU": (("cpu_seconds",), format_seconds),
    "user CPU": (("user_cpu_seconds",), format_seconds),
    "system CPU": (("system_cpu_seconds",), format_seconds),
    "read": (("application_read_bytes",), format_bytes),
    "written": (("application_written_bytes",), format_bytes),
    "memory": (("memory_bytes",), format_memory),
}
WAITS = {
    "on CPU": "on_cpu_seconds",
    "run queue": "run_queue_seconds",
    "blocked in data": "blocked_data_seconds",
    "in work": "blocked_work_seconds",
    "in util": "blocked_util_seconds",
    "elsewhere": "blocked_other_seconds",
}


def programs(figures: ShownFigures, distribution: Markup) -> Markup:
    """Two tables, then how CPU over real time spreads over the jobs."""
    names = list(figures.summary.programs)
    if not names:
        why = "No job was imported." if figures.imported else "No job has a record yet."
        return section("programs", "Programs", paragraph(why, "why"))
    columns, unknown = figures.told(
        COLUMNS, lambda named: [figures.value("programs", name, *named[0]) for name in names]
    )
    head = (
        "program",
        *(figures.term(label, "programs.*." + ".".join(path)) for label, (path, _) in columns.items()),
    )
    rows = [
        (name, *(figures.show(form, "programs", name, *path) for path, form in columns.values()))
        for name in names
    ]
    return section(
        "programs",
        "Programs",
        table(
            "Jobs by program; counted: finished, no answer known to be wrong; slowdown: real time in the mix "
            "over alone",
            head,
            rows,
        ),
        unknown,
        _waits(figures, names),
        distribution,
    )


def _waits(figures: ShownFigures, names: list[str]) -> Markup:
    """Where the time went; nothing where no file tells."""
    columns, unknown = figures.told(
        WAITS, lambda field: [figures.value("programs", name, "wait", field) for name in names]
    )
    if not columns:
        return Markup()
    head = (
        "program",
        *(figures.term(label, f"programs.*.wait.{field}") for label, field in columns.items()),
    )
    rows = [
        (name, *(figures.show(format_seconds, "programs", name, "wait", field) for field in columns.values()))
        for name in names
    ]
    return table("Where the time of each program's jobs went (sums)", head, rows) + unknown
