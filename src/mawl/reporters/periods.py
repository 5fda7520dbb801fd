"""The periods of an import that is not one run: a sentence, and a table of what is known of each."""

from __future__ import annotations

from collections.abc import Sequence

from mawl.model.summary.summary import Summary
from mawl.reporters.figure import Form, figure, format_count
from mawl.units import format_percent, format_rate, format_seconds

COLUMNS: tuple[tuple[str, str, Form], ...] = (
    ("lasted", "length_seconds", format_seconds),
    ("jobs", "jobs", format_count),
    ("at once", "peak_concurrent", format_count),
    ("real time", "real_time_seconds", format_seconds),
    ("recorded", "recorded_seconds", format_seconds),
    ("CPU busy", "cpu_busy_ratio", format_percent),
    ("iowait", "cpu_iowait_ratio", format_percent),
    ("read", "device_read_bytes_per_second", format_rate),
    ("written", "device_write_bytes_per_second", format_rate),
)
"""Label, figure and form of a column; the first column is when the period began (UTC).  What was read and
written is of devices."""


def periods_text(summary: Summary) -> str | None:
    """Why there is no elapsed time, in one sentence; None for one run."""
    if not summary.time.periods:
        return None
    return str(summary.missing["time.elapsed_seconds"])


def period_rows(summary: Summary, most: int | None = None) -> list[Sequence[str]]:
    """A head and a row per period, the first ``most`` of them; nothing for one run."""
    periods = summary.time.periods
    if not periods:
        return []
    head = ("period from", *(label for label, _, _ in COLUMNS))
    rows = [
        (
            period.started_at[:16].replace("T", " "),
            *(figure(getattr(period, name), form) for _, name, form in COLUMNS),
        )
        for period in periods[:most]
    ]
    return [head, *rows]
