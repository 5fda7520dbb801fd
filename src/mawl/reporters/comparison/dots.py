"""Charts with a dot for each run: both sides of a comparison, and repeats of one run figure by figure."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import fmean

from bokeh.models import BasicTicker, ColumnDataSource, FixedTicker, NumeralTickFormatter, Range1d
from bokeh.models.annotations import BoxAnnotation, Span, Whisker
from bokeh.plotting import figure

from mawl.analysis.campaign.results import FigureSpread
from mawl.analysis.comparison.compare import Comparison
from mawl.analysis.comparison.programs import Statement
from mawl.formats.lines import one_line
from mawl.reporters.comparison.cells import changed, value
from mawl.reporters.comparison.finding import change_of, margin_of, span_of
from mawl.reporters.html.charts.frame import Chart, Key, blank, hover
from mawl.reporters.html.colours import light
from mawl.units import format_seconds

ROW_PIXELS = 64
STRIP_PIXELS = 40
AXIS_PIXELS = 60
SPREAD = 0.22
"""Dots of one row lie this far above and below its middle, in the order of the runs from above."""

MARGIN_RATIO = 0.08
LEAST_MARGIN = 0.01
STRIP = {
    "time.elapsed_seconds": "elapsed",
    "time.real_time_seconds": "real time",
    "time.user_cpu_seconds": "user CPU",
    "time.system_cpu_seconds": "system CPU",
    "io.application.run_mean.total_bytes_per_second": "application",
    "io.device.run_mean.total_bytes_per_second": "device",
    "capacity.slowdown.median": "slowdown",
}
"""Figures of the strip to their short names."""


def runs_chart(comparison: Comparison) -> Chart | None:
    """A dot for each run of both sides, against the mean of the reference; None where no job is in common."""
    some = comparison.statement
    if some is None or some.change_ratio is None:
        return None
    sides = (some.reference_run_seconds, some.candidate_run_seconds)
    base = exp(fmean(map(log, sides[0])))
    rows = {"reference": 1.0, "candidate": 0.0}
    source = ColumnDataSource(_dots(list(zip(rows, rows.values(), sides, strict=True)), base), name="runs")
    ends = _interval(some)
    margin = some.margin_ratio if some.alike else None
    reach = [-margin, margin] if margin is not None else []
    plot = _rows("runs", rows, [0.0, *source.data["change"], *ends, *reach], ROW_PIXELS)
    keys = [
        Key(f"{side}: {one_line(facts.label)}", side, "dot")
        for side, facts in (("reference", comparison.reference), ("candidate", comparison.candidate))
    ]
    if margin is not None:
        plot.add_layout(BoxAnnotation(left=-margin, right=margin, fill_color=light("quiet"), fill_alpha=0.15))
        keys.append(Key(f"no change larger than {margin_of(some)}", "quiet", "pale"))
    plot.add_layout(Span(location=0, dimension="height", line_color=light("ink"), line_dash="dashed"))
    keys.append(Key("mean of the reference", "ink", "dashed"))
    if ends and ends[0] < ends[1]:
        _whiskers(plot, "interval", [0.0], [ends[0]], [ends[1]])
        keys.append(Key(f"{change_of(some)} ({span_of(some)})", "ink", "line"))
    if len(sides[1]) > 1:
        mark = plot.scatter([some.change_ratio], [0.0], marker="diamond", size=15, color=light("ink"))
        mark.level = "overlay"
        keys.append(Key("mean of the candidate", "ink", "diamond"))
    points = plot.scatter("change", "row", size=11, alpha=0.8, color="color", source=source)
    plot.xaxis.axis_label = "real time per job against the reference"
    hover(plot, points, [("run", "@run"), ("real time per job", "@said"), ("against the reference", "@part")])
    return Chart(
        "runs",
        "Every run, and the interval of the change" if ends and ends[0] < ends[1] else "Every run",
        "A dot for each run: geometric mean of real time over its jobs. Further left is less time.",
        "Dots: real time per job of each run of both sides, with the interval of the change.",
        keys,
        plot,
    )


def strip_chart(figures: Sequence[FigureSpread]) -> Chart | None:
    """A dot for each run, a row for each main figure, against the median; None where no figure is known."""
    known = [one for one in figures if one.name in STRIP and one.median > 0]
    if not known:
        return None
    rows = {STRIP[one.name]: float(len(known) - place) for place, one in enumerate(known, 1)}
    columns: dict[str, list[object]] = {}
    for one in known:
        name = STRIP[one.name]
        dots = _dots([(name, rows[name], one.values)], one.median, "ink")
        dots["said"] = [value(amount, one.unit) for amount in one.values]
        columns = {column: [*columns.get(column, []), *cells] for column, cells in dots.items()}
    source = ColumnDataSource(columns, name="strip")
    plot = _rows("strip", rows, [0.0, *source.data["change"]], STRIP_PIXELS)
    plot.add_layout(Span(location=0, dimension="height", line_color=light("quiet"), line_dash="dashed"))
    keys = [Key("run", "ink", "dot"), Key("median of the runs", "quiet", "dashed")]
    points = plot.scatter("change", "row", size=9, alpha=0.7, color="color", source=source)
    plot.xaxis.axis_label = "against the median of the runs"
    hover(
        plot, points, [("figure", "@side"), ("run", "@run"), ("", "@said"), ("against the median", "@part")]
    )
    return Chart(
        "strip",
        "How far the runs scatter",
        "A dot for each run, in a row for each figure, as a change against the median of the runs.",
        "Dots in rows: the main figures of each run against the median of all runs.",
        keys,
        plot,
    )


def _dots(
    rows: Sequence[tuple[str, float, Sequence[float]]], base: float, colour: str = ""
) -> dict[str, list[object]]:
    """The columns of a source: a dot for each run of each row (name, height and values)."""
    found: dict[str, list[object]] = {
        name: [] for name in ("side", "run", "row", "change", "part", "said", "color")
    }
    for side, row, values in rows:
        for place, amount in enumerate(values):
            share = 0.5 if len(values) == 1 else place / (len(values) - 1)
            found["side"].append(side)
            found["run"].append(place + 1)
            found["row"].append(row + SPREAD * (1.0 - 2.0 * share))
            found["change"].append(amount / base - 1.0)
            found["part"].append(changed(amount / base - 1.0))
            found["said"].append(format_seconds(amount))
            found["color"].append(light(colour or side))
    return found


def _rows(name: str, rows: dict[str, float], reach: Sequence[float], pixels: int) -> figure:
    """An empty figure with named rows, as wide as what it will show."""
    least, most = min(reach), max(reach)
    margin = max((most - least) * MARGIN_RATIO, LEAST_MARGIN)
    plot = blank(
        name,
        height=AXIS_PIXELS + pixels * len(rows),
        x_range=Range1d(start=least - margin, end=most + margin),
        y_range=Range1d(start=min(rows.values()) - 0.6, end=max(rows.values()) + 0.6),
    )
    plot.yaxis.ticker = FixedTicker(ticks=list(rows.values()))
    plot.yaxis.major_label_overrides = {row: label for label, row in rows.items()}
    plot.ygrid.visible = False
    plot.xaxis.formatter = NumeralTickFormatter(format="+0.[0] %")
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=4)
    return plot


def _whiskers(
    plot: figure, name: str, rows: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> None:
    source = ColumnDataSource({"row": list(rows), "low": list(low), "high": list(high)}, name=name)
    plot.add_layout(
        Whisker(
            base="row",
            lower="low",
            upper="high",
            dimension="width",
            source=source,
            line_color=light("ink"),
            line_width=2,
        )
    )


def _interval(some: Statement) -> list[float]:
    """The interval that the finding names; empty where there is none."""
    ends = (
        (some.narrow_low_ratio, some.narrow_high_ratio) if some.alike else (some.low_ratio, some.high_ratio)
    )
    return [end for end in ends if end is not None]
