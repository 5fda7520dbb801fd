"""Each role at the storage array and at the host, side by side."""

from __future__ import annotations

from mawl.analysis.view import RunView
from mawl.model.summary.summary import Summary
from mawl.reporters.table import EVERY, HTML, SHOWN, Formats, Note, Row, RunColumn, RunTable
from mawl.units import format_latency, format_rate

DIFFERENCE = (
    "Beyond the array is the host's mean latency less the array's: queues of the host, adapters, fabric and "
    "multipath, which these figures do not tell apart."
)


def _rows(_: RunView, summary: Summary) -> list[Row]:
    by_role = summary.arrays.by_role if summary.arrays is not None else {}
    return [Row(role, ("arrays", "by_role", role)) for role in by_role]


def _note(_: RunView, summary: Summary) -> list[Note]:
    """What the difference is, and which arrays are behind the figures."""
    if summary.arrays is None:
        return []
    names = dict.fromkeys(name for one in summary.arrays.by_role.values() for name in one.arrays)
    return [Note(f"Statistics of {', '.join(names)}. {DIFFERENCE}")]


def _column(label: str, side: str, figure: str, formats: Formats = SHOWN) -> RunColumn:
    form = format_latency if "latency" in figure else format_rate
    return RunColumn(label=label, path=(side, figure), form=form, formats=formats)


ARRAYS = RunTable(
    name="arrays",
    caption="Throughput and latency at the array and at the host",
    section="roles",
    first="role",
    block=("arrays", "by_role", "*"),
    rows=_rows,
    columns=(
        _column("array", "array", "mean_bytes_per_second"),
        _column("array peak", "array", "peak_bytes_per_second"),
        _column("host", "host", "mean_bytes_per_second"),
        _column("host peak", "host", "peak_bytes_per_second"),
        _column("array peak, read", "array", "peak_read_bytes_per_second", HTML),
        _column("array peak, written", "array", "peak_written_bytes_per_second", HTML),
        _column("array latency", "array", "mean_latency_seconds"),
        _column("array peak latency", "array", "peak_latency_seconds"),
        _column("host latency", "host", "mean_latency_seconds"),
        _column("host peak latency", "host", "peak_latency_seconds"),
        RunColumn(label="beyond the array", path=("beyond_array_seconds",), form=format_latency),
    ),
    formats=EVERY,
    notes=_note,
)
"""CSV has every figure of a role, cache hits and savings too."""
