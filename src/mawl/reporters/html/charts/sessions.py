"""The sessions as a Gantt chart: a row per session, a bar per job in the colour of its class."""

from __future__ import annotations

from collections.abc import Sequence

from bokeh.models import FixedTicker, PlainText, Range1d
from bokeh.models.annotations import BoxAnnotation
from bokeh.transform import factor_cmap

from mawl.reporters.html.charts.frame import (
    CLASS_COLOURS,
    FAILED_COLOUR,
    QUIET_COLOUR,
    Chart,
    Key,
    Sources,
    class_keys,
    hover,
    time_figure,
)
from mawl.spec.program_options import ROLES

ROW_PIXELS = 16
LEAST_PIXELS, MOST_PIXELS = 180, 1400
MOST_NAMES = 80
"""Names at the axis: further apart where there are more rows."""
LONGEST_NAME = 18
"""Characters of a name at the axis; a bar under the pointer says the whole."""

HOVER = [
    ("job", "@job"),
    ("program", "@program (@program_class)"),
    ("session", "@session"),
    ("node", "@node"),
    ("start, end", "@left{00:00:00}, @right{00:00:00}"),
    ("real time", "@real_time"),
    ("on CPU", "@on_cpu_seconds"),
    ("waiting for a CPU", "@run_queue_seconds"),
    *((f"blocked in {role}", f"@blocked_{role}_seconds") for role in ROLES),
    ("blocked elsewhere", "@blocked_other_seconds"),
    ("outcome", "@outcome"),
]


def sessions(
    sources: Sources, time: Range1d, reason: str, rows: Sequence[str], tail: tuple[float, float] | None
) -> Chart:
    """``rows`` are the names of the rows from the top, ``tail`` its begin and end in seconds."""
    plot = None
    if not reason:
        height = min(max(len(rows) * ROW_PIXELS, LEAST_PIXELS), MOST_PIXELS) + 60
        from_top = Range1d(start=len(rows) - 0.4, end=-0.6)
        plot = time_figure("sessions", time, "session", "0", y_range=from_top, height=height)
        plot.ygrid.visible = False
        step = -(-len(rows) // MOST_NAMES)
        named = [at for at in range(0, len(rows), step) if at == 0 or rows[at] != rows[at - 1]]
        plot.yaxis.ticker = FixedTicker(ticks=named)
        plot.yaxis.major_label_overrides = {at: PlainText(text=_short(rows[at])) for at in named}
        bars = plot.quad(
            left="left",
            right="right",
            top="top",
            bottom="bottom",
            source=sources["sessions"],
            fill_color=factor_cmap("program_class", list(CLASS_COLOURS.values()), list(CLASS_COLOURS)),
            fill_alpha=0.85,
            line_color="edge",
            line_width="edge_width",
        )
        hover(plot, bars, HOVER, line=False)
        if tail is not None:
            plot.add_layout(
                BoxAnnotation(
                    left=tail[0], right=tail[1], fill_color=QUIET_COLOUR, fill_alpha=0.18, level="underlay"
                )
            )
    keys = class_keys(set(sources["sessions"].data["program_class"]))
    keys.append(Key("failed or stopped (red frame)", FAILED_COLOUR, "mark"))
    if tail is not None:
        keys.append(Key("tail (grey ground)", QUIET_COLOUR, "pale"))
    return Chart(
        "sessions",
        "Sessions",
        "A row per session (several where jobs ran side by side), a bar per job in the colour of its "
        "program's class. Point at a bar to see what its time went into.",
        "Gantt chart of the jobs of each session over time; the tables of programs and of the slowest jobs "
        "hold their times.",
        keys,
        plot,
        reason,
    )


def _short(name: str) -> str:
    """A name without its middle where it is too long: names of a kind differ at their ends."""
    end = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - end - 1]}\u2026{name[-end:]}"
