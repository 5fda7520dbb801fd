"""The limit of an import: logs say how long jobs were on a CPU, recordings what was full meanwhile.

No file tells what a job waited for, so a window is named by exclusion (docs/design/verdict.md, Imports).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from mawl.advice.limit.evidence import LEAST_LOSS_RATIO
from mawl.base.units import format_percent
from mawl.figures.host_parts import CPU_KINDS, whole_seconds
from mawl.figures.layers import NO_JOBS, disks
from mawl.figures.missing import NO_TIMES
from mawl.figures.network import IN_USE_RATIO
from mawl.figures.sessions import rates
from mawl.figures.threads import is_aix
from mawl.figures.throughput import role_places, why_no_devices
from mawl.figures.view import RunView, weighted_mean
from mawl.figures.window_states import Moment
from mawl.records.model.summary.judgement import EvidenceLine
from mawl.records.model.thresholds import value_of

FULL_RATIO = value_of("imported.limit.full_processors_ratio")
MOST_SWAPPED_RATIO = value_of("imported.limit.most_swapped_ratio")

NO_PLACE = "an import does not say which role or device its jobs waited for"
NOT_ASKED = "logs and recordings do not say how long jobs waited for it"

Name = Literal["cpu", "storage", "none"]


class _Jobs(NamedTuple):
    """Mean numbers of jobs in a window: that ran, of these whose CPU time is known, of these on a CPU."""

    running: float
    known: float
    on_cpu: float


class RecordedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """One window: ``waited`` is the share of its jobs' time that was not on a CPU, ``full`` that of the
    processors' time that was neither idle nor iowait; None where the files do not tell."""

    seconds: float
    waited: float | None
    full: float | None
    iowait_ratio: float | None
    """Processors in iowait over jobs: as many jobs at least waited for a device."""
    device: float | None
    """The share of the time in which the busiest device had a request in flight."""
    swapping: bool

    @property
    def name(self) -> Name | None:
        """What limited the window; None where that is not known."""
        if self.waited is None or self.full is None:
            return None
        if self.waited < LEAST_LOSS_RATIO:
            return "none"
        at_top = self.device is not None and self.device >= IN_USE_RATIO
        if self.full >= FULL_RATIO:
            return None if at_top else "cpu"
        waits = self.iowait_ratio is not None and self.iowait_ratio >= LEAST_LOSS_RATIO
        return "storage" if (at_top or waits) and not self.swapping else None


def why_limit_unknown(reading: RunView) -> str | None:
    """Why logs and recordings of an import cannot tell its limit, and what would; None where they may."""
    if not reading.jobs:
        return f"{NO_JOBS}; import the logs of the jobs, too"
    if reading.line is not None and not reading.line.active_seconds:
        return "the run has no active phase"
    if reading.line is not None and reading.line.periods:
        return (
            "the files cover several periods; run mawl import on the logs of one with a recording of its "
            "host (nmon, sar)"
        )
    if reading.windows is None:
        return f"{NO_TIMES}; import logs with the times of the jobs"
    if reading.samples is None or not reading.samples.nodes:
        return "no recording of the host was imported; add one of the same time (nmon, sar)"
    if any(is_aix(reading.facts, node) for node in reading.facts.nodes):
        return "CPU times of AIX are scaled, so logs do not say how long jobs waited; run the jobs with mawl"
    nodes = set(reading.samples.nodes)
    if len(nodes) > 1 or any(job.node not in nodes for job in reading.jobs):
        return "the jobs are not all of the one host that was recorded; import each host with its jobs"
    return None


def windows_of_import(reading: RunView) -> list[RecordedWindow]:
    """The windows of the active phase."""
    if reading.over_time is None:
        return []
    samples, windows = reading.over_time
    edges = windows.active_edges
    spent = {kind: rates(samples, [f"host.cpu_{kind}_seconds"], edges) for kind in CPU_KINDS}
    busy = [rates(samples, [f"device.{name}.busy_seconds"], edges) for name in _devices_of_roles(reading)]
    jobs = _jobs_by_window(reading, edges)
    return [
        _recorded_window(
            moment,
            {kind: column[at] for kind, column in spent.items()},
            [column[at] for column in busy],
            jobs[at],
        )
        for at, moment in enumerate(reading.active)
    ]


def evidence_of(windows: Sequence[RecordedWindow], verdict: str) -> list[EvidenceLine]:
    """The figures that named windows, and those that only agree."""
    cpu = weighted_mean([(window.waited, window.seconds) for window in windows])
    full = [window.full for window in windows if window.full is not None]
    devices = [window.device for window in windows if window.device is not None]
    mean = weighted_mean([(window.full, window.seconds) for window in windows])
    lines = (
        []
        if cpu is None
        else [f"by their logs the jobs were on processors {format_percent(1.0 - cpu)} of the time"]
    )
    if mean is not None:
        filled = sum(share >= FULL_RATIO for share in full)
        lines.append(
            f"processors were {format_percent(mean)} busy, and at least {format_percent(FULL_RATIO)} in "
            f"{filled} of {len(full)} windows"
        )
    if devices:
        filled = sum(share >= IN_USE_RATIO for share in devices)
        lines.append(
            f"the busiest device had requests {format_percent(max(devices))} of the time in its highest "
            f"window, and at least {format_percent(IN_USE_RATIO)} in {filled} of {len(devices)}"
        )
    elif verdict == "cpu":
        lines.append("no recording says how busy the devices were: storage is not excluded by a figure")
    return [EvidenceLine(kind="evidence", sentence=sentence) for sentence in lines]


def why_undecided(reading: RunView, windows: Sequence[RecordedWindow], told_ratio: float) -> str:
    """Why too little of the run is named, and what to do about it."""
    samples, unrecorded = reading.samples, all(window.full is None for window in windows)
    known = samples and any("host.cpu_idle_seconds" in samples.names(node) for node in samples.nodes)
    if not windows or (known and unrecorded):
        return "the recordings cover none of the active phase; record the host throughout"
    if all(window.waited is None for window in windows):
        return "the logs lack the CPU times of the jobs; import logs with FULLSTIMER"
    if unrecorded:
        return "the recordings contain no processor time; add sar -u, mpstat or nmon of the same time"
    figures = "; ".join(line.sentence for line in evidence_of(windows, ""))
    return (
        f"logs and recordings name the limit of only {format_percent(told_ratio)} of the active time "
        f"({figures}); run the jobs with mawl measure, which sees what each waits for"
    )


def _recorded_window(
    moment: Moment,
    spent: dict[str, float | None],
    busy: Sequence[float | None],
    jobs: _Jobs,
) -> RecordedWindow:
    whole, idle, iowait = whole_seconds(spent), spent["idle"], spent["iowait"]
    known = [share for share in busy if share is not None]
    moved, swapped = moment.device["total"], moment.swap_bytes_per_second
    return RecordedWindow(
        seconds=moment.seconds,
        waited=1.0 - jobs.on_cpu / jobs.known if jobs.known > 0 else None,
        full=None if idle is None or whole <= 0 else 1.0 - (idle + (iowait or 0.0)) / whole,
        iowait_ratio=None if iowait is None or jobs.running <= 0 else iowait / jobs.running,
        device=max(known, default=None),
        swapping=bool(swapped) and moved is not None and (swapped or 0.0) > MOST_SWAPPED_RATIO * moved,
    )


def _devices_of_roles(reading: RunView) -> list[str]:
    """The devices of the roles where the import names them, else all, each byte once."""
    if reading.samples is None:
        return []
    if reading.facts.volumes:
        return (
            [] if why_no_devices(reading.facts) else sorted({name for _, name in role_places(reading.facts)})
        )
    return list(disks(reading.samples).devices)


def _jobs_by_window(reading: RunView, edges: Sequence[float]) -> list[_Jobs]:
    """The jobs of each window.

    A job's CPU time is spread evenly over its time: its log tells no more.  A job counts with one CPU at
    most: it waits while none of its threads is on one.
    """
    timed = [
        (job.started_at, job.ended_at, job.usage.cpu_seconds)
        for job in reading.jobs
        if job.started_at is not None and job.ended_at is not None and job.ended_at > job.started_at
    ]
    starts, ends = np.array([job[0] for job in timed]), np.array([job[1] for job in timed])
    used = np.array([np.nan if job[2] is None else job[2] for job in timed])
    shares = np.minimum(used / (ends - starts), 1.0)
    found = []
    for start, end in pairwise(edges):
        inside = np.clip(np.minimum(ends, end) - np.maximum(starts, start), 0.0, None) / (end - start)
        known = inside[~np.isnan(shares)]
        found.append(_Jobs(float(inside.sum()), float(known.sum()), float(np.nansum(inside * shares))))
    return found
