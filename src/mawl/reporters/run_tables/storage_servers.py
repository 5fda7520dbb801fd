"""A row per storage server that was watched beside the nodes of a run."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.table import EVERY, Row, RunColumn, RunTable
from mawl.units import format_bytes, format_latency, format_rate


def _rows(_: RunView, summary: Summary) -> list[Row]:
    servers = (summary.cluster.storage if summary.cluster else None) or {}
    return [Row(name, ("cluster", "storage", name)) for name in servers]


STORAGE_SERVERS = RunTable(
    name="storage_servers",
    caption="Storage servers",
    section="nodes",
    first="storage server",
    text_first="storage",
    block=("cluster", "storage", "*"),
    rows=_rows,
    columns=(
        RunColumn(label="watched", path=("outcome",), form=str, holds="words"),
        RunColumn(label="read", path=("device", "read_bytes"), form=format_bytes),
        RunColumn(label="written", path=("device", "written_bytes"), form=format_bytes),
        RunColumn(label="peak", path=("device", "peak", "total_bytes_per_second"), form=format_rate),
        RunColumn(
            label="sustained", path=("device", "sustained", "total_bytes_per_second"), form=format_rate
        ),
        RunColumn(label="await", path=("device", "await_seconds", "mean"), form=format_latency),
        RunColumn(label="await, peak", path=("device", "await_seconds", "peak"), form=format_latency),
        RunColumn(label="received", path=("received_bytes_per_second", "mean"), form=format_rate),
        RunColumn(label="sent", path=("sent_bytes_per_second", "mean"), form=format_rate),
    ),
    formats=EVERY,
)
