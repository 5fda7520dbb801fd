"""Charts over time, and the same figures window by window as a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mawl.analysis.view import RunView
from mawl.reporters.html.charts.frame import Chart
from mawl.reporters.html.figures import ShownFigures, paragraph, part
from mawl.reporters.html.tables import tables_in
from mawl.reporters.html.templating import fill


def chart_of(chart: Chart, places: dict[str, Markup]) -> Markup:
    """A chart with its words and legend, or why it is not drawn."""
    return fill("chart.html", chart=chart, place=places.get(chart.name))


def timeline(
    figures: ShownFigures, view: RunView, charts: Sequence[Chart], places: dict[str, Markup]
) -> Markup:
    """All charts over time, with buttons that zoom them together; of an import those that can be drawn."""
    shown = [chart for chart in charts if chart.name in places or not figures.imported]
    drawn = [chart_of(chart, places) for chart in shown]
    others = "; ".join(chart.title for chart in charts if chart not in shown)
    if others:
        drawn.append(paragraph(f"Not drawn, because no imported file contains it: {others}.", "quiet"))
    zoom = [fill("zoom.html")] if any(chart.name in places for chart in charts) else []
    return part("timeline", "Timeline", *zoom, *drawn, *tables_in("timeline", figures, view))
