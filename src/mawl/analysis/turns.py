"""Counters of jobs that the runner read in turns, evened out to what they were at each look.

Beside more than :data:`~mawl.model.looks.MOST_JOBS_READ_AT_ONCE` jobs the runner reads CPU and run-queue
time of one half of them at one look and of the other at the next, so a stored sum holds one half as of now
and the other as of the look before: second by second it zigzags about the true sum.  Out of turn it reads
the jobs whose trees it walks (:mod:`mawl.model.looks`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mawl.analysis.series import Floats, Samples, Series
from mawl.model.looks import LOOKS_BETWEEN_WALKS, MOST_JOBS_READ_AT_ONCE, NEW_LOOKS
from mawl.model.records import JobRecord

READ_IN_TURNS = ("jobs.on_cpu_seconds", "jobs.run_queue_seconds")


def evened(samples: Samples, jobs: Sequence[JobRecord]) -> Samples:
    """``samples`` with the counters that were read in turns evened out; every other series as it is.

    ``jobs`` say which were walked when; one without a record counts as read in its turns only.
    """
    found = {}
    for node in samples.nodes:
        running = samples.series(node, "jobs_running")
        if running is None or not (running.values > MOST_JOBS_READ_AT_ONCE).any():
            continue
        fresh = _read_out_of_turn(running, [job for job in jobs if job.node == node])
        for name in READ_IN_TURNS:
            series = samples.series(node, name)
            if series is not None and np.array_equal(series.times, running.times):
                found[node, name] = _evened(series, fresh)
    return samples.replaced(found) if found else samples


def _evened(series: Series, fresh: Floats) -> Series:
    """The counter at its own times (seconds); its first and its last value stand.

    At look i half A has its turn; B is of look i - 1 but for the share ``fresh[i]`` that is read as well.
    At i + 1 B has its turn, and of A ``fresh[i + 1]`` is read.  What look i lacks is B's first step, and
    the gain to i + 1 holds that, B's second step and the fresh part of A's; a step counts by its seconds,
    and A as much as B.  With nothing out of turn the result is exact however unlike the halves: the mean
    of two neighbours where steps are alike.  It lies between a stored value and the next: it never falls.
    """
    if len(series.times) < 3:
        return series
    steps = np.diff(series.times)
    before, after = steps[:-1], steps[1:]
    lacking = (1.0 - fresh[1:-1]) * before
    whole = lacking + after * (1.0 + fresh[2:])
    share = lacking / np.where(whole > 0.0, whole, 1.0)
    gains = np.maximum(np.diff(series.values)[1:], 0.0)
    return Series(series.times, series.values + np.concatenate(([0.0], share * gains, [0.0])))


def _read_out_of_turn(running: Series, jobs: Sequence[JobRecord]) -> Floats:
    """By look the share of jobs that are read whether or not it is their turn; 1 where there are no turns."""
    times = running.times
    # The look at the opening of the gate leaves no row: it is the first of all, before that of times[0].
    read = np.zeros(len(times) + 1)
    gate = min((job.started_at for job in jobs if job.started_at is not None), default=times[0])
    for job in jobs:
        if job.ready_at is None:
            continue
        first = 0 if job.ready_at <= gate else int(np.searchsorted(times, job.ready_at)) + 1
        last = len(read) if job.ended_at is None else int(np.searchsorted(times, job.ended_at)) + 1
        read[first : min(first + NEW_LOOKS, last)] += 1.0
        read[first + LOOKS_BETWEEN_WALKS : last : LOOKS_BETWEEN_WALKS] += 1.0
    share = np.minimum(read[1:] / np.maximum(running.values, 1.0), 1.0)
    return np.where(running.values > MOST_JOBS_READ_AT_ONCE, share, 1.0)
