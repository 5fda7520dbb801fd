"""What all charts share: axes with units, the one time axis, hover, and what a chart is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from bokeh.models import (
    AdaptiveTicker,
    BoxZoomTool,
    ColumnDataSource,
    DataRange1d,
    FixedTicker,
    HoverTool,
    NumeralTickFormatter,
    PlainText,
    Range1d,
)
from bokeh.models.renderers import DataRenderer
from bokeh.plotting import figure
from numpy.typing import NDArray

from mawl.base.units import format_latency
from mawl.reports.html.colours import light

Columns = dict[str, NDArray[Any] | list[Any]]
"""The data of a source: columns of one length."""

Sources = Mapping[str, ColumnDataSource]

CLASS_COLOURS = {"compute": "compute-class", "memory": "memory-class", "io": "io-class", "unknown": "other"}
"""Class of a program to the meaning of its colour."""

WAYS = {"read": "read", "write": "written"}
"""Direction of bytes to its word, which is also the meaning of its colour."""

HEIGHT = 240
LEFT_PIXELS = 104
"""Room for the widest names at an axis, so that the time axes of all charts lie below each other."""
TIME_RANGE = "time"

Form = Literal["rate", "memory", "share", "count", "latency", "plain"]
"""How figures are written at an axis and at the crosshair (``forms`` of ``charts.js``)."""

Swatch = Literal[
    "area", "hatched", "pale", "thin", "line", "dashed", "dotted", "mark", "dot", "diamond", "triangle"
]


class Key(NamedTuple):
    """A line of a legend, which is HTML: it wraps on a phone and follows the page's colours.

    ``colour`` is the meaning of ``reports.html.colours``.  ``series`` is the name of
    the drawn line or area whose value at the crosshair it shows, and which it switches on and off; empty
    where it only explains.
    """

    name: str
    colour: str
    swatch: Swatch = "area"
    series: str = ""

    @property
    def paint(self) -> str:
        return light(self.colour)


class Chart(NamedTuple):
    """A figure with its words: ``title``, ``caption`` (what it shows, with units) and legend.

    ``alternative`` is what a reader of the screen hears; ``figure`` is None with ``reason`` where
    there is nothing to draw, ``not_yet`` where there will be as the run goes on.  ``form`` says how the
    figures at the crosshair are written.
    """

    name: str
    title: str
    caption: str
    alternative: str
    keys: Sequence[Key]
    figure: figure | None
    reason: str = ""
    not_yet: bool = False
    form: Form = "plain"


def class_keys(classes: Collection[str]) -> list[Key]:
    """The legend of those classes of programs that a chart shows."""
    return [
        Key("class not known" if name == "unknown" else name, colour)
        for name, colour in CLASS_COLOURS.items()
        if name in classes
    ]


def time_range(end_seconds: float) -> Range1d:
    """The one time axis of all charts: from the first start to the end, zoomed together."""
    end = max(end_seconds, 1.0)
    return Range1d(start=0.0, end=end, bounds=(-0.02 * end, 1.02 * end), name=TIME_RANGE)


def time_figure(
    name: str,
    time: Range1d,
    axis: str,
    form: Form,
    *,
    y_range: Range1d | DataRange1d | None = None,
    **more: Any,
) -> figure:
    """A figure over the shared time axis whose values start at 0 unless ``y_range`` says otherwise."""
    plot = blank(
        name,
        x_range=time,
        y_range=y_range or from_zero(),
        tools="xpan,xbox_zoom,xwheel_zoom,reset,save",
        **more,
    )
    plot.toolbar.active_drag = next(tool for tool in plot.tools if isinstance(tool, BoxZoomTool))
    plot.xaxis.ticker = AdaptiveTicker(base=60, mantissas=[1, 2, 5, 10, 15, 30], min_interval=1)
    plot.xaxis.formatter = NumeralTickFormatter(format="00:00:00")
    plot.xaxis.axis_label = "since the first start (h:mm:ss)"
    plot.yaxis.axis_label = axis
    plot.yaxis.formatter = ticks_of(form)
    return plot


def ticks_of(form: Form) -> NumeralTickFormatter:
    """The formatter of an axis, by whose name ``charts.js`` writes its figures with their units."""
    return NumeralTickFormatter(name=form)


def from_zero() -> DataRange1d:
    """A range from 0 to what the data need."""
    return DataRange1d(start=0)


def blank(name: str, *, tools: str = "save", height: int = HEIGHT, **more: Any) -> figure:
    """A figure with a transparent background, as wide as the page; ``tools`` are its buttons."""
    plot = figure(
        name=name, height=height, sizing_mode="stretch_width", tools=tools, toolbar_location="right", **more
    )
    plot.title = None
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.background_fill_alpha = plot.border_fill_alpha = 0.0
    plot.outline_line_color = None
    plot.min_border_left = LEFT_PIXELS
    plot.min_border_right = 12
    for axis in plot.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_font_size = axis.major_label_text_font_size = "12px"
    return plot


def hover(plot: figure, drawn: DataRenderer | list[DataRenderer], rows: Sequence[tuple[str, str]]) -> None:
    """Show figures of the one thing that the pointer is on; those of a moment are at the crosshair."""
    plot.add_tools(
        HoverTool(
            renderers=drawn if isinstance(drawn, list) else [drawn],
            tooltips=list(rows),
            mode="mouse",
            point_policy="follow_mouse",
            attachment="horizontal",
        )
    )


def latency_ticks(axis: Any) -> None:
    """Powers of ten from a microsecond to a thousand seconds, with their units."""
    decades = [10.0**power for power in range(-7, 4)]
    axis.ticker = FixedTicker(ticks=decades)
    axis.major_label_overrides = {at: PlainText(text=_latency(at)) for at in decades}


def _latency(seconds: float) -> str:
    return "0.1 us" if seconds < 0.9e-6 else format_latency(seconds).replace(".00", "").replace(".0 ", " ")
