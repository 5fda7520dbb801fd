"""The course of both sides, laid over each other: throughput over time since the first start."""

from __future__ import annotations

import msgspec

from mawl.analysis.series import Samples
from mawl.analysis.throughput import APPLICATION, device_counters
from mawl.analysis.timeline import Timeline
from mawl.analysis.windows import Rates
from mawl.model.run import RunFacts

MOST_POINTS = 300
"""Points of a run; more do not show beside those of another run."""

SHORTEST_STEP_SECONDS = 1.0


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One run: lists of the same length, a mean for each step (at its middle, from the first start on);
    None where no sample covers it.  ``active_seconds`` is where the active phase ends."""

    run_id: str
    seconds: list[float]
    application_bytes_per_second: Rates
    device_bytes_per_second: Rates
    active_seconds: float
    elapsed_seconds: float


def course_of(facts: RunFacts, line: Timeline | None, samples: Samples | None) -> Course | None:
    """The course of a run in equal steps of a second or a 300th of it; None without samples or times."""
    if line is None or samples is None or line.elapsed_seconds <= 0:
        return None
    steps = max(min(int(line.elapsed_seconds / SHORTEST_STEP_SECONDS), MOST_POINTS), 1)
    step = line.elapsed_seconds / steps
    edges = [line.started_at + number * step for number in range(steps + 1)]
    return Course(
        run_id=facts.run_id,
        seconds=[(number + 0.5) * step for number in range(steps)],
        application_bytes_per_second=APPLICATION.flow(samples, edges)["total"],
        device_bytes_per_second=device_counters(facts, samples).flow(samples, edges)["total"],
        active_seconds=line.active_seconds,
        elapsed_seconds=line.elapsed_seconds,
    )
