"""Sections of a run's report on storage, hosts and nodes, and the charts over time."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.base.units import format_memory, format_percent, format_ratio, format_seconds
from mawl.figures.view import RunView
from mawl.records.model.probe import Probe
from mawl.reports import probe
from mawl.reports.compressibility import notes_in_a_run, table_in_a_run
from mawl.reports.html.charts.frame import Chart
from mawl.reports.html.figures import ShownFigures, charts_of, paragraph, part, table, tables_in
from mawl.reports.html.page import fill
from mawl.reports.layout import Form, format_count


def storage(figures: ShownFigures, view: RunView) -> Markup:
    """A row per role and direction, and the tests of the probe; nothing where the run holds none."""
    title = "Demand on storage, and what it can do"
    if figures.value("storage") is None:
        return Markup()
    return part("storage", title, *tables_in("storage", figures, view), *_probe_tests(view.probe))


def _probe_tests(probed: Probe | str | None) -> list[Markup]:
    if not isinstance(probed, Probe):
        return []
    return [
        part
        for target in probed.targets
        for part in (
            *(
                [table(f"{probed.tool} in {probe.title_of(target)}", probe.HEAD, probe.rows_of(target))]
                if target.tests
                else []
            ),
            *(paragraph(sentence, "quiet") for sentence in probe.sentences_of(target)),
        )
    ]


def roles(figures: ShownFigures, view: RunView, distribution: Markup) -> Markup:
    """The tables of roles and volumes, then the distribution; nothing where none of it was measured."""
    tables = tables_in("roles", figures, view)
    if figures.summary.io.by_role is None:
        why = paragraph(f"Not measured: {figures.reason(('io', 'by_role'))}.", "why")
        return part("roles", "I/O by role", why, *tables) if tables else Markup()
    return part("roles", "I/O by role", *tables, _coverage(figures), distribution)


def _coverage(figures: ShownFigures) -> Markup:
    counted = Markup("{}: {}. ").format(
        figures.term("Bytes counted over bytes that the kernel saw", "io.coverage_ratio"),
        figures.show(format_percent, "io", "coverage_ratio"),
    )
    return paragraph(counted + "; ".join(figures.summary.io.unseen), "quiet")


COMPRESSION_TITLE = "What compression would save"


def compressibility(figures: ShownFigures) -> Markup:
    """A row per role; nothing where the run did not look."""
    if figures.value("compressibility") is None:
        return Markup()
    head, *rows = table_in_a_run(figures.summary)
    saving = "compressibility.role_estimates.*.saving_ratio"
    terms = [figures.term(cell, saving) if cell[-1] == "B" else cell for cell in head[2:]]
    notes = [paragraph(note, "quiet") for note in notes_in_a_run(figures.summary)]
    return part(
        "compressibility",
        COMPRESSION_TITLE,
        table("Estimated saving by role", ("role", head[1], *terms), rows),
        *notes,
    )


HOST_FIGURES: dict[str, tuple[tuple[str, ...], Form]] = {
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
    known, unknown = figures.told(HOST_FIGURES, lambda named: [figures.value("host", *named[0])])
    rows = [
        (figures.term(label, "host." + ".".join(path)), figures.show(form, "host", *path))
        for label, (path, form) in known.items()
    ]
    caption = "Processors, memory and pressure, all nodes"
    tables = [table(caption, ("figure", "value"), rows, narrow=True)] if rows else []
    return part("host", "Host", *tables, unknown, *tables_in("host", figures, view))


def nodes(figures: ShownFigures, view: RunView) -> Markup:
    """The tables of nodes and storage servers; nothing for a run on one node."""
    if figures.summary.cluster is None:
        return Markup()
    return part("nodes", "Nodes", *tables_in("nodes", figures, view))


def timeline(
    figures: ShownFigures, view: RunView, charts: Sequence[Chart], places: dict[str, Markup]
) -> Markup:
    """All charts over time, with buttons that zoom them together; of an import those that can be drawn."""
    shown = [chart for chart in charts if chart.name in places or not figures.imported]
    drawn = charts_of(shown, places)
    others = "; ".join(chart.title for chart in charts if chart not in shown)
    if others:
        drawn.append(paragraph(f"Not drawn, because no imported file contains it: {others}.", "quiet"))
    zoom = [fill("zoom.html")] if any(chart.name in places for chart in charts) else []
    return part("timeline", "Timeline", *zoom, *drawn, *tables_in("timeline", figures, view))
