"""What is known of each period of an import that is not one run."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.figure import format_count
from mawl.reporters.table import Row, RunColumn, RunTable
from mawl.units import format_percent, format_rate, format_seconds


def _rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per period, by when it began (UTC); nothing for one run."""
    return [
        Row(period.started_at[:16].replace("T", " "), ("time", "periods", place))
        for place, period in enumerate(summary.time.periods)
    ]


PERIODS = RunTable(
    name="periods",
    caption="Periods of the imported files, which are not one run",
    section="summary",
    first="period from",
    block=("time", "periods", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="lasted", path=("length_seconds",), form=format_seconds),
        RunColumn(label="jobs", path=("jobs",), form=format_count),
        RunColumn(label="at once", path=("peak_concurrent",), form=format_count),
        RunColumn(label="real time", path=("real_time_seconds",), form=format_seconds),
        RunColumn(label="recorded", path=("recorded_seconds",), form=format_seconds),
        RunColumn(label="CPU busy", path=("cpu_busy_ratio",), form=format_percent),
        RunColumn(label="iowait", path=("cpu_iowait_ratio",), form=format_percent),
        RunColumn(label="read", path=("device_read_bytes_per_second",), form=format_rate),
        RunColumn(label="written", path=("device_write_bytes_per_second",), form=format_rate),
    ),
    spare=("iowait", "at once"),
)
