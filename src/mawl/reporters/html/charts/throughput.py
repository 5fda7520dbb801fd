"""Throughput over time at the device and at the application, with initial, peak and sustained marked."""

from __future__ import annotations

from bokeh.models import Range1d
from bokeh.plotting import figure

from mawl.reporters.html.charts.frame import WAYS, Chart, Key, Sources
from mawl.reporters.html.charts.over_time import areas
from mawl.reporters.html.colours import light
from mawl.spec.program_options import ROLES

MARKS = Key("initial, peak and sustained: means of windows, in total", "ink", "mark", "marks")


def device(sources: Sources, time: Range1d, reason: str) -> Chart:
    """Bytes that reached the block devices, read and written on top of each other."""
    keys = _sides("device")
    return Chart(
        "device",
        "Throughput at the device",
        "Bytes per second that reached the devices, written on top of read. "
        "Compare this chart with published figures.",
        "Area chart over time of bytes per second read from and written to the devices.",
        [*keys.values(), _all("device"), MARKS],
        None if reason else _drawn("device", sources, time, keys),
        reason,
        form="rate",
    )


def application(sources: Sources, time: Range1d, reason: str, *, by_role: bool) -> Chart:
    """Bytes that programs asked for, by role and direction; without roles by direction."""
    keys = _sides("application")
    what = "written on top of read; I/O by role was not measured"
    if by_role:
        what = "by role, written hatched"
        keys = {
            column: Key(f"{role} {word}", role, "area" if way == "read" else "hatched", column)
            for role in ROLES
            for way, word in WAYS.items()
            for column in (f"{role}_{way}_bytes_per_second",)
        }
    return Chart(
        "application",
        "Throughput at the application",
        f"Bytes per second that programs asked for, cache hits included, {what}.",
        f"Area chart over time of bytes per second that programs read and wrote, {what}.",
        [*keys.values(), _all("application"), MARKS],
        None if reason else _drawn("application", sources, time, keys),
        reason,
        form="rate",
    )


def _sides(side: str) -> dict[str, Key]:
    columns = {f"{side}_{way}_bytes_per_second": word for way, word in WAYS.items()}
    return {column: Key(word, word, "area", column) for column, word in columns.items()}


def _all(side: str) -> Key:
    return Key("all" if side == "device" else "all, other files included", "ink", "line", _total(side))


def _total(side: str) -> str:
    return f"{side}_total_bytes_per_second"


def _drawn(side: str, sources: Sources, time: Range1d, keys: dict[str, Key]) -> figure:
    """The areas, the line of read and written together, and the marks."""
    plot = areas(side, sources, time, keys, list(keys), "throughput", "rate")
    total = _total(side)
    plot.line("seconds", total, name=total, source=sources[side], color=light("ink"), line_width=1)
    plot.segment(
        "left",
        "value",
        "right",
        "value",
        name=MARKS.series,
        source=sources[f"{side}_marks"],
        color=light("ink"),
        line_width=3,
    )
    return plot
