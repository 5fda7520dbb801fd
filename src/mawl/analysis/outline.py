"""A run over time in a few numbers: throughput and running jobs in equal parts, for one line of text."""

from __future__ import annotations

import msgspec

from mawl.analysis.throughput import APPLICATION
from mawl.analysis.view import RunView
from mawl.analysis.windows import Rates, gauges

MOST_PARTS = 2000
SHORTEST_PART_SECONDS = 1.0
"""Samples are a second apart: nothing is known of a shorter part."""


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """Means of equal parts of a run, first start to last end (of an import that recordings cover in part,
    of that part: then it is not ``whole``); None where no sample covers a part.

    ``application`` and ``device`` are bytes per second in total, ``jobs`` the jobs that ran.
    """

    part_seconds: float
    application: Rates
    device: Rates
    jobs: Rates
    whole: bool = True


def outline(view: RunView) -> Outline | None:
    """The outline of a run; None without samples or without a job that is known to have run."""
    line, samples = view.line, view.samples
    if samples is None or line is None or line.elapsed_seconds <= 0:
        return None
    start, end = line.span
    parts = min(max(int((end - start) / SHORTEST_PART_SECONDS), 1), MOST_PARTS)
    seconds = (end - start) / parts
    edges = [start + number * seconds for number in range(parts)] + [end]
    return Outline(
        part_seconds=seconds,
        application=APPLICATION.flow(samples, edges)["total"],
        device=view.device.flow(samples, edges)["total"],
        jobs=gauges(samples, "jobs_running", edges),
        whole=line.observed is None,
    )
