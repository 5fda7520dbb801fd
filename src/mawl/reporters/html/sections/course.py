"""Charts over time, and the same figures window by window as a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.reporters.html.charts.frame import Chart
from mawl.reporters.html.figures import ShownFigures, folded, paragraph, section, table
from mawl.reporters.html.templating import fill
from mawl.units import format_latency, format_rate, format_ratio, format_seconds


def chart_of(chart: Chart, places: dict[str, Markup]) -> Markup:
    """A chart with its words and legend, or why it is not drawn."""
    return fill("chart.html", chart=chart, place=places.get(chart.name))


def course(figures: ShownFigures, charts: Sequence[Chart], places: dict[str, Markup]) -> Markup:
    """All charts over time, with buttons that zoom them together; of an import those that can be drawn."""
    shown = [chart for chart in charts if chart.name in places or not figures.imported]
    drawn = [chart_of(chart, places) for chart in shown]
    others = "; ".join(chart.title for chart in charts if chart not in shown)
    if others:
        drawn.append(paragraph(f"Not drawn, because no imported file contains it: {others}.", "quiet"))
    zoom = [fill("zoom.html")] if any(chart.name in places for chart in charts) else []
    return section("course", "Timeline", *zoom, *drawn, _windows(figures))


def _windows(figures: ShownFigures) -> Markup:
    """Every window of the run."""
    sides = ("application_read", "application_write", "device_read", "device_write")
    calls = [(role, way) for role in ("data", "work", "util") for way in ("read", "write")]
    term = figures.term
    head = (
        term("start", "windows.*.start_seconds"),
        term("length", "windows.*.length_seconds"),
        term("phase", "windows.*.phase"),
        *(term(side.replace("_", " "), f"windows.*.{side}_bytes_per_second") for side in sides),
        *(term(f"{role} {way}", f"windows.*.latency.{role}.{way}_seconds") for role, way in calls),
        term("jobs", "windows.*.jobs_running"),
        term("on CPU", "windows.*.jobs_on_cpu"),
        term("in run queue", "windows.*.jobs_in_run_queue"),
        term("CPU busy", "windows.*.cpu_busy_ratio"),
    )
    rows = [
        (
            figures.show(format_seconds, "windows", number, "start_seconds"),
            figures.show(format_seconds, "windows", number, "length_seconds"),
            window.phase,
            *(figures.show(format_rate, "windows", number, f"{side}_bytes_per_second") for side in sides),
            *(
                figures.show(format_latency, "windows", number, "latency", role, f"{way}_seconds")
                for role, way in calls
            ),
            *(
                figures.show(format_ratio, "windows", number, name)
                for name in ("jobs_running", "jobs_on_cpu", "jobs_in_run_queue", "cpu_busy_ratio")
            ),
        )
        for number, window in enumerate(figures.summary.windows)
    ]
    if not rows:
        return Markup()
    return folded(
        f"The same in figures: {len(rows)} windows",
        table("Throughput, mean latency of calls by role, jobs and processors, window by window", head, rows),
    )
