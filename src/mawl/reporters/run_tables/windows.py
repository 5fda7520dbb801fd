"""Every window of the run: throughput, mean latency of calls by role, jobs and processors."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.table import CSV, HTML, Row, RunColumn, RunTable
from mawl.spec.program_options import ROLES
from mawl.units import format_latency, format_rate, format_ratio, format_seconds


def _rows(_: RunView, summary: Summary) -> list[Row]:
    """A row per window, numbered from 1."""
    return [Row(str(place + 1), ("windows", place)) for place in range(len(summary.windows))]


WINDOWS = RunTable(
    name="windows",
    alike=True,
    caption="Throughput, mean latency of calls by role, jobs and processors, window by window",
    section="timeline",
    first="window",
    named=CSV,
    block=("windows", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="start", path=("start_seconds",), form=format_seconds),
        RunColumn(label="length", path=("length_seconds",), form=format_seconds),
        RunColumn(label="phase", path=("phase",), form=str, holds="words"),
        *(
            RunColumn(label=side.replace("_", " "), path=(f"{side}_bytes_per_second",), form=format_rate)
            for side in ("application_read", "application_write", "device_read", "device_write")
        ),
        *(
            RunColumn(label=f"{role} {way}", path=("latency", role, f"{way}_seconds"), form=format_latency)
            for role in ROLES
            for way in ("read", "write")
        ),
        RunColumn(label="jobs", path=("jobs_running",), form=format_ratio),
        RunColumn(label="on CPU", path=("jobs_on_cpu",), form=format_ratio),
        RunColumn(label="in run queue", path=("jobs_in_run_queue",), form=format_ratio),
        RunColumn(label="CPU busy", path=("cpu_busy_ratio",), form=format_ratio),
    ),
    formats=HTML | CSV,
    fold="The same in figures: {rows} windows",
    folded=HTML,
)
