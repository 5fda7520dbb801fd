"""Throughput over windows of both sides, in total and by direction."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import figures
from mawl.reporters.table import HTML, MARKDOWN, SHOWN, TEXT, Note, Row, RunColumn, RunTable
from mawl.units import format_bytes, format_percent, format_rate, format_seconds

PER_CORE = "sustained per core"
OF_TOTALS = frozenset({PER_CORE, "read", "written"})
"""Figures that only the totals have."""


def _rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per side, then its directions; in text only of a run with windows, and directions of devices."""
    has_windows = summary.io.application.peak.total_bytes_per_second is not None
    rows = []
    for side, directions in (("application", HTML), ("device", HTML | TEXT)):
        for way, name, formats in (
            ("total", side, SHOWN),
            ("read", f"{side}, read", directions),
            ("write", f"{side}, written", directions),
        ):
            to = formats if has_windows else formats - TEXT
            rows.append(Row(name, ("io", side), to, way, frozenset() if way == "total" else OF_TOTALS))
    return rows


def _notes(_: RunView, summary: Summary) -> list[Note]:
    """What the windows are, and in Markdown how much of what programs moved reached a device."""
    device, reach, notes = summary.io.device, summary.io.reach, []
    ratios = (reach.read_ratio, reach.write_ratio)
    if any(ratio is not None for ratio in ratios):
        read, written = figures(*((ratio, format_percent) for ratio in ratios))
        text = f"reach (own/application): read {read}, written {written}"
        notes.append(Note(text, MARKDOWN))
    if device.window_seconds is not None:
        length = format_seconds(device.window_seconds)
        notes.append(Note(f"windows of {length}; device: {device.windows_source}"))
    return notes


THROUGHPUT = RunTable(
    name="throughput",
    caption="Throughput",
    section="summary",
    first="throughput",
    block=("io", "device"),
    way="total",
    rows=_rows,
    columns=(
        *(
            RunColumn(
                label=name.replace("_", " "),
                path=(name, "{way}_bytes_per_second"),
                form=format_rate,
                formats=HTML if name == "run_mean" else SHOWN,
            )
            for name in ("peak", "initial", "sustained", "lowest", "active_mean", "run_mean")
        ),
        RunColumn(label=PER_CORE, path=("sustained_bytes_per_second_per_core",), form=format_rate),
        RunColumn(label="read", path=("read_bytes",), form=format_bytes, formats=MARKDOWN),
        RunColumn(label="written", path=("written_bytes",), form=format_bytes, formats=MARKDOWN),
    ),
    notes=_notes,
)
