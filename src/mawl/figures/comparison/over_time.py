"""Each run of a comparison over time, to be laid over those of the other side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from mawl.figures.downsampling import kept_rows
from mawl.figures.over_time import OverTime, over_time
from mawl.figures.series import Floats
from mawl.figures.view import RunView
from mawl.figures.windows import Rates

SUMS = {
    "device_bytes_per_second": ("device_read_bytes_per_second", "device_write_bytes_per_second"),
    "application_bytes_per_second": (
        "application_read_bytes_per_second",
        "application_write_bytes_per_second",
    ),
    "device_latency_seconds": ("device_latency_seconds",),
    "jobs_running": ("jobs_running",),
    "cpu_busy_ratio": ("cpu_user_ratio", "cpu_system_ratio"),
}
"""What is compared over time, and the columns of ``over_time`` that it sums."""

LEAST_POINTS = 2


class RunOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """One run: lists of one length, a row from one look to the next (``seconds`` is its middle, from the
    first start on), fewer where there are too many for a chart, every peak of each list among them.

    A list holds None where nothing was measured, and is None where the run has no such figure.
    ``active_seconds`` is where the active phase ends.
    """

    run_id: str
    seconds: list[float]
    device_bytes_per_second: Rates | None
    application_bytes_per_second: Rates | None
    jobs_running: Rates | None
    cpu_busy_ratio: Rates | None
    active_seconds: float
    elapsed_seconds: float
    device_latency_seconds: Rates | None = None


def run_over_time(view: RunView) -> RunOverTime | None:
    """A run over time; None without samples or times, or where two looks saw all of it."""
    line = view.line
    if line is None or line.elapsed_seconds <= 0:
        return None
    found = over_time(view.facts, view.samples, (line.started_at, line.ended_at))
    sums = {name: column for name, parts in SUMS.items() if (column := _sum(found, parts)) is not None}
    if len(found.seconds) < LEAST_POINTS or not sums:
        return None
    kept = kept_rows(list(sums.values()))
    return RunOverTime(
        run_id=view.facts.run_id,
        seconds=found.seconds[kept].tolist(),
        **{name: _listed(sums[name][kept]) if name in sums else None for name in SUMS},
        active_seconds=line.active_seconds,
        elapsed_seconds=line.elapsed_seconds,
    )


def middle(runs: Sequence[RunOverTime]) -> RunOverTime | None:
    """The run that stands for its side: the one whose elapsed time is the side's median, of two such the
    shorter; None without any."""
    ordered = sorted(runs, key=lambda one: (one.elapsed_seconds, one.run_id))
    return ordered[(len(ordered) - 1) // 2] if ordered else None


def _sum(found: OverTime, parts: Sequence[str]) -> Floats | None:
    if not all(part in found.columns for part in parts):
        return None
    whole: Floats = np.sum([found.columns[part] for part in parts], axis=0)
    return None if np.isnan(whole).all() else whole


def _listed(column: Floats) -> Rates:
    return [None if math.isnan(value) else value for value in column.tolist()]
