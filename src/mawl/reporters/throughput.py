"""Throughput over windows in the long report."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.summary.summary import Summary
from mawl.reporters.columns import aligned
from mawl.reporters.figure import figure, figures
from mawl.units import format_rate, format_seconds

FIGURES = ("peak", "initial", "sustained", "active_mean")


def throughput(summary: Summary) -> list[str]:
    """Both sides in total, the device also by direction; nothing for a run without windows."""
    sides = summary.io
    device = sides.device
    if sides.application.peak.total_bytes_per_second is None:
        return []
    window = figure(device.window_seconds, format_seconds)
    rows: list[Sequence[str]] = [
        (f"windows of {window}", *(name.replace("_", " ") for name in FIGURES), "sustained per core")
    ]
    for side, direction, title in (
        ("application", "total", "application"),
        ("device", "total", "device"),
        ("device", "read", "  read"),
        ("device", "write", "  written"),
    ):
        block = getattr(sides, side)
        cells = [
            (getattr(getattr(block, name), f"{direction}_bytes_per_second"), format_rate) for name in FIGURES
        ]
        if direction == "total":
            cells.append((block.sustained_bytes_per_second_per_core, format_rate))
        rows.append((title, *figures(*cells), *([] if direction == "total" else [""])))
    return [*aligned(rows), f"device: {device.windows_source}"]
