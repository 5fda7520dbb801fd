"""The one chart of the first page: throughput, the lines that bound it, and what cost most in each window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from bokeh.core.properties import field
from bokeh.models import DataRange1d, Range1d
from bokeh.transform import factor_cmap

from mawl.base.units import counted_noun, format_rate, format_seconds
from mawl.figures.caps import cap_of
from mawl.figures.series import Floats
from mawl.records.model.summary.summary import Summary
from mawl.records.spec.program_options import ROLES
from mawl.reports.html.charts.frame import WAYS, Chart, Columns, Key, Sources, Swatch, time_figure
from mawl.reports.html.colours import light

LIMITS: Mapping[str, tuple[str, str]] = {
    "cpu": ("lost most to processors", "cpu-wait"),
    "storage": ("lost most to storage", "storage"),
    "memory": ("lost most to memory", "memory"),
    "network": ("lost most to the network", "network"),
    "none": ("little time lost", "grid"),
}
"""What cost the jobs of a window most, to its words and the meaning of its colour."""

NO_BYTES = "the samples hold no bytes of devices or applications"
FEWEST_LOOKS = 5
"""A finished run with fewer known values of its throughput has a sentence in place of the chart."""
STRIP = 0.955
"""Where the strip of limits begins, as a share of the chart's height."""
TINT_ALPHA = 0.1
TOUCHING_SECONDS = 1e-6
"""Windows with a smaller gap between them are neighbours."""
MOST_ABOVE = 2.5
"""A line at more than this many times the highest throughput is only named below the title: it would flatten
the chart."""


class Bound(NamedTuple):
    """A rate that throughput can be compared with."""

    words: str
    bytes_per_second: float
    colour: str
    swatch: Swatch


def bounds_of(summary: Summary, cores: float | None) -> list[Bound]:
    """What a probe found that all storage of the roles can do together, each way, caps, and the guideline.

    Roles that share storage share its capability: of these the highest counts, and once.  Without a
    capability of every role and direction there is no line of that direction.  ``cores`` are those that
    the jobs could use; without them there is no line of the guideline.
    """
    found = [
        Bound(f"storage can be {word} at", rate, word, "dashed")
        for way, word in WAYS.items()
        if (rate := _together(summary, way)) is not None
    ]
    for way, word in WAYS.items():
        cap = cap_of(summary.caps, "together", way).bytes_per_second
        if cap is not None:
            found.append(Bound(f"cap of a control group on bytes {word}:", cap, word, "dotted"))
    if summary.guideline is not None and cores is not None:
        guideline = summary.guideline
        per_core = guideline.warn_bytes_per_second_per_core
        each = f"{format_rate(per_core)} for each {guideline.core_basis}"
        found.append(Bound(f"guideline for both together, {each}:", per_core * cores, "ink", "dashed"))
    return found


def _together(summary: Summary, way: str) -> float | None:
    if summary.storage is None:
        return None
    highest: dict[frozenset[str], float] = {}
    for role in ROLES:
        block = summary.storage.by_role[role]
        able = getattr(block, way).capability_bytes_per_second
        if able is None:
            return None
        together = frozenset({role, *block.shared_with, *block.disks_shared_with})
        highest[together] = max(highest.get(together, 0.0), able)
    return sum(highest.values())


def lead(
    sources: Sources,
    columns: Mapping[str, Columns],
    time: Range1d,
    side: str | None,
    bounds: Sequence[Bound],
    others: str | None,
    few: str = "",
) -> Chart:
    """Throughput of one side (``device`` or ``application``; None where neither is known).  ``few`` says why
    the samples are too few for a chart.

    ``others`` says how much other programs moved at the devices, where that is why the side is the
    application's.
    """
    where = "the application" if side == "application" else "the storage"
    instead = f" The chart shows what the jobs asked for, since {others}." if others else ""
    keys: list[Key] = []
    above: list[str] = []
    named: list[str] = []
    plot = None
    if side is not None and not few:
        headroom = DataRange1d(start=0, range_padding=0.14)
        plot = time_figure("lead", time, "throughput", "rate", y_range=headroom)
        plot.extra_y_ranges = {"strip": Range1d(start=0, end=1)}
        named = sorted(set(columns["limits"]["limit"]), key=list(LIMITS).index)
        paints = [light(meaning) for _, meaning in LIMITS.values()]
        for bottom, alpha in ((STRIP, 1.0), (0.0, TINT_ALPHA)):
            plot.quad(
                left="left",
                right="right",
                top=1,
                bottom=bottom,
                source=sources["limits"],
                y_range_name="strip",
                fill_color=factor_cmap("limit", paints, list(LIMITS)),
                fill_alpha=alpha,
                line_color=None,
                level="underlay",
            )
        for way, word in WAYS.items():
            column = f"{side}_{way}_bytes_per_second"
            plot.line("seconds", column, name=column, source=sources[side], color=light(word), line_width=2.2)
            keys.append(Key(word, word, "line", column))
        drawn = set(columns["bounds"]["value"])
        shown = bounds if side == "device" else ()
        for bound in shown:
            words = f"{bound.words} {format_rate(bound.bytes_per_second)}"
            if bound.bytes_per_second in drawn:
                keys.append(Key(words, bound.colour, bound.swatch))
            else:
                above.append(words)
        if shown:
            bounding = sorted({bound.colour for bound in shown})
            plot.hspan(
                y="value",
                source=sources["bounds"],
                line_color=factor_cmap("meaning", [light(name) for name in bounding], bounding),
                line_dash=field("dash"),
                line_width=1.5,
            )
        keys += [Key(LIMITS[name][0], LIMITS[name][1]) for name in named]
        plot.renderers = sorted(plot.renderers, key=lambda renderer: renderer.level != "underlay")
    return Chart(
        "lead",
        f"Throughput at {where}, and what limited the run",
        f"Bytes per second read and written.{instead}{_strip(named)}{_above(above)}",
        "Line chart over time of bytes per second read and written, with what limited each window.",
        keys,
        plot,
        "" if plot else few or NO_BYTES,
        form="rate",
    )


def _strip(named: Sequence[str]) -> str:
    if not named:
        return ""
    return (
        " The strip at the top has the colour of what limited each window of the active phase, and a gap "
        "where that is not known."
    )


def _above(bounds: Sequence[str]) -> str:
    """The lines that would flatten the chart, in words."""
    return f" Not drawn, far above: {'; '.join(bounds)}." if bounds else ""


def too_few(rates: Floats, whole_seconds: float) -> str:
    """Why a finished run has no chart; empty if enough values are known."""
    looks = int(np.count_nonzero(~np.isnan(rates)))
    if not 0 < looks < FEWEST_LOOKS:
        return ""
    return (
        f"throughput was measured {counted_noun(looks, 'time')} in {format_seconds(whole_seconds)}, too few "
        "for a chart"
    )


def limit_columns(windows: Sequence[tuple[float, float, str]]) -> Columns:
    """The source ``limits``: begin and end in seconds of windows in a row with one limit, and its name."""
    joined: list[tuple[float, float, str]] = []
    for left, right, name in windows:
        if joined and joined[-1][2] == name and left - joined[-1][1] < TOUCHING_SECONDS:
            joined[-1] = (joined[-1][0], right, name)
        else:
            joined.append((left, right, name))
    return {
        "left": np.array([left for left, _, _ in joined], np.float32),
        "right": np.array([right for _, right, _ in joined], np.float32),
        "limit": [name for _, _, name in joined],
    }


def bound_columns(bounds: Sequence[Bound], device: Columns) -> Columns:
    """The source ``bounds``: the rates that the chart has room for, their meanings and dashes."""
    moved = [device[f"device_{way}_bytes_per_second"] for way in WAYS]
    highest = max(float(np.nanmax(column, initial=0.0)) for column in moved)
    shown = [bound for bound in bounds if bound.bytes_per_second <= MOST_ABOVE * highest]
    return {
        "value": [bound.bytes_per_second for bound in shown],
        "meaning": [bound.colour for bound in shown],
        "dash": [bound.swatch for bound in shown],
    }
