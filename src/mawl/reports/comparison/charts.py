"""The charts of a comparison that are not over time: programs, places, throughput per core, single runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import fmean

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    FactorRange,
    FixedTicker,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.models.annotations import BoxAnnotation, Span, Whisker
from bokeh.models.renderers import DataRenderer
from bokeh.plotting import figure
from bokeh.transform import dodge

from mawl.base.units import format_rate, format_seconds
from mawl.figures.campaign import FigureSpread
from mawl.figures.comparison.compare import Comparison, Matrix, MatrixRow
from mawl.figures.comparison.programs import ProgramChange, Statement
from mawl.figures.comparison.rows import FigureChange
from mawl.figures.comparison.waits import PlaceChange
from mawl.importers.formats.text import one_line
from mawl.reports.comparison.over_time import SIDES
from mawl.reports.comparison.papers import unit_of
from mawl.reports.comparison.sentences import change_of, margin_of, span_of
from mawl.reports.comparison.tables import changed, interval, value, verdict_words
from mawl.reports.html.charts.frame import Chart, Key, blank, from_zero, hover, ticks_of
from mawl.reports.html.colours import light
from mawl.reports.layout import ABSENT, figures

ROW_PIXELS = 24
PAIR_PIXELS = 44
AXIS_PIXELS = 64
LEAST_MARGIN_RATIO = 0.01
PAIRS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "pair_times": (
        "Real time and CPU",
        "sum over the jobs",
        {
            "time.real_time_seconds": "real time",
            "time.cpu_seconds": "CPU",
            "time.user_cpu_seconds": "user CPU",
            "time.system_cpu_seconds": "system CPU",
        },
    ),
    "pair_throughput": (
        "Throughput",
        "throughput",
        {
            "io.application.run_mean.total_bytes_per_second": "application",
            "io.device.run_mean.total_bytes_per_second": "device",
            "io.device.peak.total_bytes_per_second": "device, peak",
            "io.device.sustained.total_bytes_per_second": "device, sustained",
        },
    ),
}
"""Charts of pairs: title, words of the axis, and the figures with their names."""

EFFECTS = {"faster": "good", "slower": "bad"}
PER_CORE = {"peak": "quiet", "sustained": "ink"}


def effect_charts(comparison: Comparison) -> list[Chart]:
    """Programs and places, as far as there is something to draw."""
    charts = []
    if comparison.programs is not None and comparison.programs.changes:
        charts.append(_programs_chart(comparison.programs.changes))
    if comparison.places:
        charts.append(_places_chart(comparison.places))
    return charts


def pair_charts(comparison: Comparison) -> list[Chart]:
    """The papers' pairs of bars: times of the reference beside the candidate's, and throughput."""
    known = {row.name: row for row in comparison.figures}
    found = []
    for name, (title, axis, heads) in PAIRS.items():
        rows = {
            label: known[path]
            for path, label in heads.items()
            if path in known and None not in (known[path].reference, known[path].candidate)
        }
        if rows:
            found.append(_pairs_chart(name, title, axis, rows))
    return found


def _pairs_chart(name: str, title: str, axis: str, rows: Mapping[str, FigureChange]) -> Chart:
    shown = list(rows.values())
    factor, unit = unit_of(shown[0], shown)
    source = ColumnDataSource(
        {
            "figure": list(rows),
            **{side: _floats([getattr(row, side) for row in shown]) / factor for side in SIDES},
            **{f"{side}_said": [value(getattr(row, side), row.unit) for row in shown] for side in SIDES},
            "said": [changed(row.change_ratio) for row in shown],
        },
        name=name,
    )
    plot, bars = _bars(name, list(rows), "figure", {side: side for side in SIDES}, source)
    plot.xaxis.axis_label = f"{axis} ({unit})"
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=4)
    hover(plot, bars, [("", "@figure"), *((side, f"@{side}_said") for side in SIDES), ("change", "@said")])
    return Chart(
        name,
        title,
        "Reference beside candidate; means over the runs of a side.",
        f"Pairs of bars, reference beside candidate: {', '.join(rows)}.",
        [Key(side, side) for side in SIDES],
        plot,
    )


def matrix_charts(matrix: Matrix) -> list[Chart]:
    """Throughput per core of every side that has it."""
    rows = [row for row in matrix.rows if row.peak_bytes_per_second_per_core is not None]
    return [_per_core_chart(rows)] if rows else []


def _per_core_chart(rows: Sequence[MatrixRow]) -> Chart:
    labels = [f"{number}. {row.label} ({row.core_basis or 'core'})" for number, row in enumerate(rows, 1)]
    source = ColumnDataSource(
        {
            "label": labels,
            "peak": _floats([row.peak_bytes_per_second_per_core for row in rows]),
            "sustained": _floats([row.sustained_bytes_per_second_per_core for row in rows]),
            **{
                f"{name}_said": list(figures(*((getattr(row, field), format_rate) for row in rows)))
                for name in PER_CORE
                for field in (f"{name}_bytes_per_second_per_core",)
            },
        },
        name="per_core",
    )
    plot, bars = _bars("per_core", labels, "label", PER_CORE, source)
    plot.xaxis.axis_label = "throughput per core"
    plot.xaxis.formatter = ticks_of("rate")
    hover(
        plot,
        bars,
        [("", "@label"), *((name, f"@{name}_said") for name in PER_CORE)],
    )
    return Chart(
        "per_core",
        "Throughput per core",
        "Bytes per second at the device; unlike bases (physical core, vCPU) do not compare.",
        "Bar chart of peak and sustained device throughput per core of every side.",
        [Key(name, colour) for name, colour in PER_CORE.items()],
        plot,
    )


def _programs_chart(changes: Sequence[ProgramChange]) -> Chart:
    labels = [change.program for change in changes]
    source = ColumnDataSource(
        {
            "program": labels,
            "change": [change.change_ratio for change in changes],
            "low": [_end_or_change(change.low_ratio, change.change_ratio) for change in changes],
            "high": [_end_or_change(change.high_ratio, change.change_ratio) for change in changes],
            "said": [_change_words(change) for change in changes],
            "verdict": [verdict_words(change.verdict) for change in changes],
            "color": [light(EFFECTS.get(change.verdict, "quiet")) for change in changes],
        },
        name="programs",
    )
    plot = blank(
        "programs",
        height=AXIS_PIXELS + ROW_PIXELS * len(labels),
        x_range=_range_around([0.0, *source.data["low"], *source.data["high"]]),
        y_range=FactorRange(factors=labels[::-1]),
    )
    plot.add_layout(Span(location=0, dimension="height", line_color=light("quiet")))
    plot.add_layout(
        Whisker(
            base="program",
            lower="low",
            upper="high",
            dimension="width",
            source=source,
            line_color=light("quiet"),
        )
    )
    points = plot.scatter("change", "program", size=10, color="color", source=source)
    plot.xaxis.axis_label = "change of real time per job"
    plot.xaxis.formatter = NumeralTickFormatter(format="+0 %")
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=4)
    hover(plot, points, [("program", "@program"), ("change", "@said"), ("", "@verdict")])
    return Chart(
        "programs",
        "Programs by effect",
        "Real time per job against the reference, with the 95 % interval of each program by itself where "
        "there are runs enough; the verdict is of all programs together.",
        "Points with intervals: the change of real time per job of every program.",
        [
            Key("judged faster", "good"),
            Key("judged slower", "bad"),
            Key("no difference found, or not judged", "quiet"),
        ],
        plot,
    )


def _places_chart(places: Sequence[PlaceChange]) -> Chart:
    names = [place.place for place in places]
    source = ColumnDataSource(
        {
            "place": names,
            "reference": [place.reference_seconds for place in places],
            "candidate": [place.candidate_seconds for place in places],
        },
        name="places",
    )
    plot, bars = _bars("places", names, "place", {side: side for side in SIDES}, source)
    plot.xaxis.axis_label = "seconds of all jobs"
    rows = [("place", "@place"), *((side, f"@{side}{{0.00}} s") for side in SIDES)]
    hover(plot, bars, rows)
    return Chart(
        "places",
        "Time of all jobs",
        "Where the time of all jobs went, in seconds of their threads; means over the runs of a side.",
        "Bar chart of the seconds of all jobs on a processor, waiting for one, and blocked by role.",
        [Key(side, side) for side in SIDES],
        plot,
    )


def _bars(
    name: str, labels: Sequence[str], column: str, colours: dict[str, str], source: ColumnDataSource
) -> tuple[figure, list[DataRenderer]]:
    """Two bars a category, one below the other, by the meaning of their columns' colours."""
    plot = blank(
        name,
        height=AXIS_PIXELS + PAIR_PIXELS * len(labels),
        x_range=from_zero(),
        y_range=FactorRange(factors=list(labels)[::-1]),
    )
    plot.ygrid.visible = False
    drawn: list[DataRenderer] = [
        plot.hbar(
            y=dodge(column, offset, range=plot.y_range),
            right=values,
            height=0.34,
            color=light(colour),
            source=source,
        )
        for (values, colour), offset in zip(colours.items(), (0.19, -0.19), strict=True)
    ]
    return plot, drawn


def _floats(values: Sequence[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, np.float64)


def _range_around(values: Sequence[float]) -> Range1d:
    """A range that shows all of the values; whiskers alone would not widen an automatic one."""
    least, most = min(values), max(values)
    margin = max((most - least) * 0.05, LEAST_MARGIN_RATIO)
    return Range1d(start=least - margin, end=most + margin)


def _change_words(change: ProgramChange) -> str:
    between = interval(change.low_ratio, change.high_ratio)
    return changed(change.change_ratio) + ("" if between == ABSENT else f" ({between})")


def _end_or_change(end: float | None, otherwise: float) -> float:
    return otherwise if end is None else end


DOT_ROW_PIXELS = 64
STRIP_PIXELS = 40
DOT_AXIS_PIXELS = 60
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
    "answer.slowdown": "slowdown",
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
    plot = _row_figure("runs", rows, [0.0, *source.data["change"], *ends, *reach], DOT_ROW_PIXELS)
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
    plot = _row_figure("strip", rows, [0.0, *source.data["change"]], STRIP_PIXELS)
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


def _row_figure(name: str, rows: dict[str, float], reach: Sequence[float], pixels: int) -> figure:
    least, most = min(reach), max(reach)
    margin = max((most - least) * MARGIN_RATIO, LEAST_MARGIN)
    plot = blank(
        name,
        height=DOT_AXIS_PIXELS + pixels * len(rows),
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
    ends = (
        (some.narrow_low_ratio, some.narrow_high_ratio) if some.alike else (some.low_ratio, some.high_ratio)
    )
    return [end for end in ends if end is not None]
