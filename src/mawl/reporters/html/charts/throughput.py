"""Throughput over time at the device and at the application, with initial, peak and sustained marked."""

from __future__ import annotations

from bokeh.models import Range1d
from bokeh.models.glyphs import Text
from bokeh.plotting import figure

from mawl.reporters.html.charts.frame import (
    MARK_COLOUR,
    MOMENT,
    QUIET_COLOUR,
    RATE,
    ROLE_COLOURS,
    SIDE_COLOURS,
    Chart,
    Key,
    Sources,
    hover,
    time_figure,
)
from mawl.spec.program_options import ROLES

AXIS = "bytes per second"
WAYS = {"read": "read", "write": "written"}
PALE = 0.45
MARKS = Key("initial, peak and sustained: means of windows, in total", MARK_COLOUR, "mark")


def device(sources: Sources, time: Range1d, reason: str) -> Chart:
    """Bytes that reached the block devices, read and written on top of each other."""
    keys = [Key(word, SIDE_COLOURS[way]) for way, word in WAYS.items()]
    return Chart(
        "device",
        "Throughput at the device",
        "Bytes per second that reached the devices, written on top of read. "
        "Compare this chart with published figures.",
        "Area chart over time of bytes per second read from and written to the devices.",
        [*keys, MARKS],
        None if reason else _sides("device", sources, time),
        reason,
    )


def application(sources: Sources, time: Range1d, reason: str, *, by_role: bool) -> Chart:
    """Bytes that programs asked for, by role and direction; without roles by direction."""
    if by_role:
        keys = [
            Key(f"{role} {word}", ROLE_COLOURS[role], "area" if way == "read" else "pale")
            for role in ROLES
            for way, word in WAYS.items()
        ]
        keys.append(Key("all, other files included", QUIET_COLOUR, "line"))
        what = "by role, written paler than read"
    else:
        keys = [Key(word, SIDE_COLOURS[way]) for way, word in WAYS.items()]
        what = "written on top of read; I/O by role was not measured"
    plot = None
    if not reason:
        plot = _roles(sources, time) if by_role else _sides("application", sources, time)
    return Chart(
        "application",
        "Throughput at the application",
        f"Bytes per second that programs asked for, cache hits included, {what}.",
        f"Area chart over time of bytes per second that programs read and wrote, {what}.",
        [*keys, MARKS],
        plot,
        reason,
    )


def _sides(side: str, sources: Sources, time: Range1d) -> figure:
    plot = time_figure(side, time, AXIS, RATE)
    columns = [f"{side}_{way}_bytes_per_second" for way in WAYS]
    plot.varea_stack(
        columns, x="seconds", source=sources[side], color=list(SIDE_COLOURS.values()), alpha=0.75
    )
    _total(plot, side, sources, [(word, f"@{side}_{way}_bytes_per_second") for way, word in WAYS.items()])
    _marks(plot, side, sources)
    return plot


def _roles(sources: Sources, time: Range1d) -> figure:
    plot = time_figure("application", time, AXIS, RATE)
    every = [(role, way) for role in ROLES for way in WAYS]
    areas = plot.varea_stack(
        [f"{role}_{way}_bytes_per_second" for role, way in every],
        x="seconds",
        source=sources["application"],
        color=[ROLE_COLOURS[role] for role, _ in every],
    )
    for area, (_, way) in zip(areas, every, strict=True):
        area.glyph.fill_alpha = 0.85 if way == "read" else PALE
    rows = [(f"{role} {WAYS[way]}", f"@{role}_{way}_bytes_per_second") for role, way in every]
    _total(plot, "application", sources, rows)
    _marks(plot, "application", sources)
    return plot


def _total(plot: figure, side: str, sources: Sources, rows: list[tuple[str, str]]) -> None:
    """The line of read and written together, which carries the figures under the pointer."""
    line = plot.line(
        "seconds", f"{side}_total_bytes_per_second", source=sources[side], color=QUIET_COLOUR, line_width=1
    )
    every = [*rows, ("all", f"@{side}_total_bytes_per_second")]
    hover(plot, line, [MOMENT, *((name, f"{column}{{0.00 d}}/s") for name, column in every)])


def _marks(plot: figure, side: str, sources: Sources) -> None:
    source = sources[f"{side}_marks"]
    plot.segment("left", "value", "right", "value", source=source, color=MARK_COLOUR, line_width=2.5)
    words = Text(
        x="label_at",
        y="value",
        text="label",
        text_color=MARK_COLOUR,
        text_font_size="12px",
        text_align={"field": "align"},
        text_baseline={"field": "baseline"},
        background_fill_color="#ffffff",
        background_fill_alpha=0.8,
    )
    plot.add_glyph(source, words)
