"""Latency of the calls of each role, by direction."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.run_tables.roles import role_rows
from mawl.reporters.table import HTML, Row, RunColumn, RunTable
from mawl.units import format_latency


def _rows(view: RunView, summary: Summary) -> list[Row]:
    return [
        Row(f"{row.name}, {way}s", (*row.path, f"{way}_latency_seconds"), row.formats)
        for row in role_rows(view, summary)
        for way in ("read", "write")
    ]


ROLE_LATENCY = RunTable(
    name="role_latency",
    caption="Latency of calls by role; peak is the highest window mean",
    section="roles",
    first="role, calls",
    block=("io", "by_role", "*", "read_latency_seconds"),
    rows=_rows,
    columns=tuple(
        RunColumn(label=part, path=(part,), form=format_latency)
        for part in ("mean", "p50", "p99", "max", "peak")
    ),
    formats=HTML,
)
