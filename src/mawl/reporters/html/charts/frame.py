"""What all charts share: palette, axes with units, the one time axis, hover, and what a chart is."""

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

from mawl.units import format_latency

Columns = dict[str, NDArray[Any] | list[Any]]
"""The data of a source: columns of one length."""

Sources = Mapping[str, ColumnDataSource]

ROLE_COLOURS = {"data": "#3f87cc", "work": "#d97f26", "util": "#2f9e74", "other": "#8b939e"}
CLASS_COLOURS = {"compute": "#7d70d6", "memory": "#cf5f93", "io": "#3a9cb5", "unknown": "#8b939e"}
SIDE_COLOURS = {"read": "#3f87cc", "write": "#d97f26"}
MARK_COLOUR = "#b4453c"
QUIET_COLOUR = "#8b939e"
FAILED_COLOUR = "#d0342c"
"""Mid tones: each stands out from white and from near black."""

HEIGHT = 240
LEFT_PIXELS = 104
"""Room for the widest names at an axis, so that the time axes of all charts lie below each other."""
TIME_RANGE = "time"

BYTES = "0.[0] d"
RATE = "0.[0] d"
MEMORY = "0.[0] b"
SHARE = "0 %"
COUNT = "0.[0]"

Swatch = Literal["area", "pale", "line", "dashed", "mark"]


class Key(NamedTuple):
    """A line of a legend, which is HTML: it wraps on a phone and follows the page's colours."""

    name: str
    colour: str
    swatch: Swatch = "area"


class Chart(NamedTuple):
    """A figure with its words: ``title``, ``caption`` (what it shows, with units) and legend.

    ``alternative`` is what a reader of the screen hears; ``figure`` is None with ``reason`` where
    there is nothing to draw, ``not_yet`` where there will be as the run goes on.
    """

    name: str
    title: str
    caption: str
    alternative: str
    keys: Sequence[Key]
    figure: figure | None
    reason: str = ""
    not_yet: bool = False


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
    form: str,
    *,
    y_range: Range1d | DataRange1d | None = None,
    **more: Any,
) -> figure:
    """A figure over the shared time axis whose values, from 0 up unless ``y_range`` says otherwise, are
    written in the numeral format ``form``."""
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
    plot.xaxis.axis_label = "time since the first start (h:mm:ss)"
    plot.yaxis.axis_label = axis
    plot.yaxis.formatter = NumeralTickFormatter(format=form)
    return plot


def from_zero() -> DataRange1d:
    """A range from 0 to what the data need."""
    return DataRange1d(start=0)


def blank(name: str, *, tools: str, height: int = HEIGHT, **more: Any) -> figure:
    """A figure without a ground of its own, as wide as the page."""
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


def hover(
    plot: figure,
    drawn: DataRenderer | list[DataRenderer],
    rows: Sequence[tuple[str, str]],
    *,
    line: bool = True,
    beside: Literal["left", "right", "horizontal"] = "horizontal",
) -> None:
    """Show figures under the pointer: of the moment (``line``), or of the one thing it is on.

    ``beside`` keeps the words of one line clear of those of another; else they go where there is room.
    """
    plot.add_tools(
        HoverTool(
            renderers=drawn if isinstance(drawn, list) else [drawn],
            tooltips=list(rows),
            formatters={"@seconds": "numeral"},
            mode="vline" if line else "mouse",
            point_policy="snap_to_data" if line else "follow_mouse",
            line_policy="nearest",
            attachment=beside,
        )
    )


MOMENT = ("time", "@seconds{00:00:00}")


def latency_ticks(axis: Any) -> None:
    """Powers of ten from a microsecond to a thousand seconds, with their units."""
    decades = [10.0**power for power in range(-7, 4)]
    axis.ticker = FixedTicker(ticks=decades)
    axis.major_label_overrides = {at: PlainText(text=_latency(at)) for at in decades}


def _latency(seconds: float) -> str:
    return "0.1 us" if seconds < 0.9e-6 else format_latency(seconds).replace(".00", "").replace(".0 ", " ")
