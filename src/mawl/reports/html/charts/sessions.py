"""The sessions as a Gantt chart: a row per session, a bar per job in the colour of what it mostly did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bokeh.models import FixedTicker, PlainText, Range1d
from bokeh.models.annotations import BoxAnnotation
from bokeh.models.glyphs import Text
from bokeh.transform import factor_cmap

from mawl.records.spec.program_options import ROLES
from mawl.reports.html.charts.frame import Chart, Key, Sources, hover, time_figure
from mawl.reports.html.colours import CLEAR, light

ROW_PIXELS = 22
LEAST_PIXELS, MOST_PIXELS = 180, 1400
MOST_NAMES = 80
"""Names at the axis: further apart where there are more rows."""
LONGEST_NAME = 18
"""Characters of a name at the axis; a bar under the pointer says the whole."""

STATES: Mapping[str, tuple[str, str]] = {
    "on_cpu_seconds": ("on a processor", "on-cpu"),
    "run_queue_seconds": ("waiting for a processor", "cpu-wait"),
    **{f"blocked_{role}_seconds": (f"blocked in {role}", role) for role in ROLES},
    "blocked_other_seconds": ("blocked elsewhere", "other"),
}
"""Wait of a job to its words and the meaning of its colour."""
NOT_KNOWN = "not known"
MEANINGS = {**dict(STATES.values()), NOT_KNOWN: "quiet"}
WELL, BADLY = "well", "badly"

HOVER = [
    ("job", "@job"),
    ("program", "@program (@program_class)"),
    ("session", "@session"),
    ("node", "@node"),
    ("start, end", "@left{00:00:00}, @right{00:00:00}"),
    ("real time", "@real_time"),
    *((words, f"@{field}") for field, (words, _) in STATES.items()),
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
        plot = time_figure("sessions", time, "session", "plain", y_range=from_top, height=height)
        plot.ygrid.visible = False
        step = -(-len(rows) // MOST_NAMES)
        named = [at for at in range(0, len(rows), step) if at == 0 or rows[at] != rows[at - 1]]
        plot.yaxis.ticker = FixedTicker(ticks=named)
        plot.yaxis.major_label_overrides = {at: PlainText(text=_short(rows[at])) for at in named}
        paints = [light(meaning) for meaning in MEANINGS.values()]
        bars = plot.quad(
            left="left",
            right="right",
            top="top",
            bottom="bottom",
            source=sources["sessions"],
            fill_color=factor_cmap("mostly", paints, list(MEANINGS)),
            line_color=factor_cmap("ended", [CLEAR, light("bad")], [WELL, BADLY]),
            line_width="edge_width",
        )
        hover(plot, bars, HOVER)
        if len(rows) * ROW_PIXELS <= MOST_PIXELS:  # below that a name would cover the bar of another row
            names = Text(x="left", y="top", text="name", text_color=light("ink"), text_font_size="10px")
            plot.add_glyph(sources["sessions"], names)
        if tail is not None:
            plot.add_layout(
                BoxAnnotation(
                    left=tail[0], right=tail[1], fill_color=light("quiet"), fill_alpha=0.18, level="underlay"
                )
            )
    data = sources["sessions"].data
    keys = [Key(f"mostly {words}", MEANINGS[words]) for words in MEANINGS if words in set(data["mostly"])]
    if BADLY in data["ended"]:
        keys.append(Key("failed or stopped (frame)", "bad", "mark"))
    if tail is not None:
        keys.append(Key("tail (grey ground)", "quiet", "pale"))
    return Chart(
        "sessions",
        "Sessions",
        "A row per session (several where jobs ran side by side), a bar per job in the colour of what most "
        "of its time went into, its program's name above it. Point at a bar to see all of its time.",
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
