"""The charts of a comparison; figures and their sources carry names, the courses share one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource, FactorRange, HoverTool, NumeralTickFormatter, Range1d
from bokeh.models.annotations import Span, Whisker
from bokeh.plotting import figure
from bokeh.transform import dodge

from mawl.analysis.comparison.compare import Comparison, Matrix, SideFacts
from mawl.analysis.comparison.timelines import Course

REFERENCE, CANDIDATE = "#5b8db8", "#d9822b"
"""Mid tones that stand on light and dark alike, and differ for those who see few colours."""

MIDDLE = "#888888"
COLOURS = {"reference": REFERENCE, "candidate": CANDIDATE}
MEGABYTE = 1e6
HEIGHT = 260

Figures = dict[str, Any]


def comparison_charts(comparison: Comparison) -> Figures:
    """Charts by name; only those that have something to draw."""
    charts: Figures = {}
    sides = {"reference": comparison.reference, "candidate": comparison.candidate}
    longest = max((end for side in sides.values() for end in _ends(side)), default=0.0)
    axis = Range1d(start=0.0, end=longest, name="time", bounds="auto")
    for counted in ("application", "device"):
        if any(_known(course, counted) for side in sides.values() for course in side.courses):
            charts[counted] = _courses(counted, sides, axis)
    if comparison.programs is not None and comparison.programs.changes:
        charts["programs"] = _programs(comparison)
    if comparison.places:
        charts["places"] = _places(comparison)
    return charts


def matrix_charts(matrix: Matrix) -> Figures:
    """Throughput per core of every side that has it."""
    rows = [row for row in matrix.rows if row.peak_bytes_per_second_per_core is not None]
    if not rows:
        return {}
    labels = [f"{row.label} ({row.core_basis or 'core'})" for row in rows]
    source = ColumnDataSource(
        {
            "label": labels,
            "peak": [_megabytes(row.peak_bytes_per_second_per_core) for row in rows],
            "sustained": [_megabytes(row.sustained_bytes_per_second_per_core) for row in rows],
        },
        name="per-core",
    )
    plot = _plain("per-core", 80 + 44 * len(rows), y_range=FactorRange(factors=labels[::-1]))
    _bars(plot, "label", {"peak": CANDIDATE, "sustained": REFERENCE}, source)
    plot.xaxis.axis_label = "MB/s per core"
    plot.add_tools(
        HoverTool(tooltips=[("", "@label"), ("", "peak @peak{0.0}, sustained @sustained{0.0} MB/s per core")])
    )
    return {"per-core": plot}


def _bars(plot: Any, name: str, columns: dict[str, str], source: ColumnDataSource) -> None:
    """Two bars a category, one below the other, by the colour of their column."""
    for (column, colour), offset in zip(columns.items(), (0.19, -0.19), strict=True):
        plot.hbar(
            y=dodge(name, offset, range=plot.y_range),
            right=column,
            height=0.34,
            color=colour,
            legend_label=column,
            source=source,
        )
    plot.x_range.start = 0
    _clear(plot)


def _megabytes(rate: float | None) -> float:
    return float("nan") if rate is None else rate / MEGABYTE


def _courses(counted: str, sides: dict[str, SideFacts], axis: Range1d) -> Any:
    """A line a run, both sides over each other."""
    plot = _plain(counted, HEIGHT, x_range=axis)
    for name, side in sides.items():
        for number, course in enumerate(side.courses):
            rates: Sequence[float | None] = getattr(course, f"{counted}_bytes_per_second")
            source = ColumnDataSource(
                {
                    "seconds": course.seconds,
                    "rate": [_megabytes(rate) for rate in rates],
                    "run": [course.run_id] * len(rates),
                },
                name=f"{counted}-{name}-{number}",
            )
            shared = {"color": COLOURS[name], "legend_label": name, "source": source}
            plot.line("seconds", "rate", line_width=2, alpha=0.7, **shared)
            plot.scatter("seconds", "rate", size=4, alpha=0.7, **shared)
        for end in _active_ends(side)[:1]:
            plot.add_layout(
                Span(location=end, dimension="height", line_color=COLOURS[name], line_dash="dashed")
            )
    plot.xaxis.axis_label, plot.yaxis.axis_label = "seconds since the first start", "MB/s"
    plot.y_range.start = 0
    plot.add_tools(HoverTool(tooltips=[("run", "@run"), ("at", "@seconds{0.0} s"), ("", "@rate{0.0} MB/s")]))
    _clear(plot)
    return plot


def _programs(comparison: Comparison) -> Any:
    """Changes with their intervals, the most slowed at the top."""
    assert comparison.programs is not None, "asked for with programs only"
    changes = comparison.programs.changes
    labels = [change.program for change in changes]
    source = ColumnDataSource(
        {
            "program": labels,
            "change": [change.change_ratio for change in changes],
            "low": [
                change.change_ratio if change.low_ratio is None else change.low_ratio for change in changes
            ],
            "high": [
                change.change_ratio if change.high_ratio is None else change.high_ratio for change in changes
            ],
            "verdict": [change.verdict for change in changes],
            "color": [
                CANDIDATE if change.verdict in ("slower", "faster") else REFERENCE for change in changes
            ],
        },
        name="programs",
    )
    plot = _plain("programs", 80 + 24 * len(labels), y_range=FactorRange(factors=labels[::-1]))
    plot.add_layout(Span(location=0, dimension="height", line_color=MIDDLE))
    plot.add_layout(
        Whisker(
            base="program", lower="low", upper="high", dimension="width", source=source, line_color=MIDDLE
        )
    )
    plot.scatter("change", "program", size=10, color="color", source=source)
    plot.xaxis.axis_label = "change of real time per job"
    plot.xaxis.formatter = NumeralTickFormatter(format="+0 %")
    plot.xaxis.ticker.desired_num_ticks = 4
    plot.add_tools(
        HoverTool(
            tooltips=[
                ("", "@program"),
                ("", "@change{+0.0 %} (@low{+0.0 %} to @high{+0.0 %})"),
                ("", "@verdict"),
            ]
        )
    )
    return plot


def _places(comparison: Comparison) -> Any:
    """Both sides' seconds beside each other, place by place."""
    names = [place.place for place in comparison.places]
    source = ColumnDataSource(
        {
            "place": names,
            "reference": [place.reference_seconds for place in comparison.places],
            "candidate": [place.candidate_seconds for place in comparison.places],
        },
        name="places",
    )
    plot = _plain("places", 60 + 44 * len(names), y_range=FactorRange(factors=names[::-1]))
    _bars(plot, "place", COLOURS, source)
    plot.xaxis.axis_label = "seconds of all jobs"
    plot.add_tools(HoverTool(tooltips=[("", "@place"), ("", "@reference{0.00} s -> @candidate{0.00} s")]))
    return plot


def _clear(plot: Any) -> None:
    """A legend in the colours of the page, out of the way of what is drawn."""
    plot.legend.background_fill_alpha = 0.0
    plot.legend.border_line_alpha = 0.0
    plot.legend.label_text_color = MIDDLE
    plot.legend.orientation = "horizontal"
    plot.add_layout(plot.legend[0], "above")


def _plain(name: str, height: int, **ranges: Any) -> Any:
    """A figure in the colours of the page."""
    plot = figure(
        name=name,
        height=height,
        sizing_mode="stretch_width",
        tools="xpan,xwheel_zoom,box_zoom,reset",
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        outline_line_color=None,
        **ranges,
    )
    plot.toolbar.logo = None
    return plot


def _known(course: Course, counted: str) -> bool:
    return any(rate is not None for rate in getattr(course, f"{counted}_bytes_per_second"))


def _ends(side: SideFacts) -> list[float]:
    return [course.elapsed_seconds for course in side.courses]


def _active_ends(side: SideFacts) -> list[float]:
    """Where the active phase of each run ended, the middle run's first."""
    ends = sorted(course.active_seconds for course in side.courses)
    return ends[len(ends) // 2 :]
