"""Counters of jobs that the runner read in turns, evened out to what they were at each look.

With more than :data:`~mawl.model.job_sampling.MOST_JOBS_READ_AT_ONCE` jobs the runner reads CPU and
run-queue time of one half of them at one look and of the other at the next, so a stored sum holds one half as
of now and the other as of the look before: second by second it zigzags about the true sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mawl.analysis.series import NodeSeries, RunSamples
from mawl.model.followed import BOUNDED, STATES
from mawl.model.job_sampling import MOST_JOBS_READ_AT_ONCE

READ_IN_TURNS = (
    *(f"jobs.{kind}{state}_seconds" for kind in ("followed.", "joined.") for state in STATES),
    *(f"jobs.joined.{name}_{end}_seconds" for name in BOUNDED for end in ("least", "most")),
    "jobs.on_cpu_seconds",
    "jobs.run_queue_seconds",
)


def evened(samples: RunSamples) -> RunSamples:
    """``samples`` with the counters that were read in turns evened out; every other series as it is."""
    found = {}
    for node in samples.nodes:
        running = samples.series(node, "jobs_running")
        if running is None or not (in_turns := running.values > MOST_JOBS_READ_AT_ONCE).any():
            continue
        for name in READ_IN_TURNS:
            series = samples.series(node, name)
            if series is not None and np.array_equal(series.times, running.times):
                found[node, name] = _evened(series, in_turns)
    return samples.replaced(found) if found else samples


def _evened(series: NodeSeries, in_turns: NDArray[np.bool_]) -> NodeSeries:
    """The counter at its own times (seconds); its first and its last value stand.

    At look i half A has its turn; B is of look i - 1.  What look i lacks is B's step to it, and the gain
    to look i + 1 is that and B's next step (and A's, too, where all are read again); a step counts by its
    seconds, and A as much as B.  The result is exact however unlike the halves: the mean of two neighbours
    where steps are alike.  It lies between a stored value and the next: it never falls.
    """
    if len(series.times) < 3:
        return series
    steps = np.diff(series.times)
    before, after = steps[:-1], steps[1:]
    lacking = np.where(in_turns[1:-1], before, 0.0)
    whole = lacking + np.where(in_turns[2:], after, 2.0 * after)
    share = lacking / np.where(whole > 0.0, whole, 1.0)
    gains = np.maximum(np.diff(series.values)[1:], 0.0)
    return NodeSeries(series.times, series.values + np.concatenate(([0.0], share * gains, [0.0])))
