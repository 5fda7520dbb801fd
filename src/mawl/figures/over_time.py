"""A run over time, as columns for charts; NaN where nothing was measured.

A row is the time between two looks at the node that was looked at most often: what one node's counters
gained in it is exact, other nodes' grow evenly between their own looks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from mawl.figures.host_parts import NETWORK_WAYS, network_series
from mawl.figures.network import bonds
from mawl.figures.series import Floats, RunSamples, averaged, gained, wrap_of
from mawl.figures.sessions import Rates, gauges
from mawl.figures.throughput import APPLICATION, device_counters
from mawl.figures.view import RunView
from mawl.figures.waits import states, unseen_jobs
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.spec.program_options import ROLES

LONGEST_STEP_SECONDS = 10.0
LONGEST_STEP_RATIO = 3.0
"""Looks further apart than this, and than three usual steps (imported recordings look once a minute),
leave a gap in a chart, no straight line."""

SHORTEST_STEP_SECONDS = 0.2
"""The looks at start and end of a run may lie next to a regular one."""

PLACES = (*ROLES, "other")
WAYS = {"read": ("read_bytes", "read"), "write": ("written_bytes", "written")}
"""Direction to the counter of its bytes and to its word in names of series."""


class OverTime(msgspec.Struct, frozen=True, kw_only=True):
    """``columns`` by name, all as long as ``seconds`` (middle of a step, since the first start of a job).

    Rates are sums over nodes, shares of time means over nodes.  A column of which a run has no
    series is not there.
    """

    started_at: float
    seconds: Floats
    columns: dict[str, Floats]

    def having(self, names: Iterable[str]) -> list[str]:
        """Those of ``names`` that are there and hold at least one figure."""
        return [name for name in names if name in self.columns and not np.isnan(self.columns[name]).all()]


def over_time(
    facts: RunFacts,
    samples: RunSamples | None,
    span: tuple[float, float],
    jobs: Sequence[JobRecord] = (),
) -> OverTime:
    """A run between two points in time (seconds since the epoch): first start and last end.

    Columns: ``{application,device}_{read,write}_bytes_per_second``, ``device_latency_seconds`` (time of
    requests at the devices over their number, queues included) and for each role
    ``{role}_{read,write}_bytes_per_second`` and ``{role}_{read,write}_latency_seconds`` (mean of the
    calls of the step); ``cpu_{user,system,iowait,steal}_ratio``; ``jobs_running``, ``jobs_on_cpu``,
    ``jobs_in_run_queue``, ``jobs_blocked_{data,work,util,other,unknown}`` (mean numbers of ``jobs``);
    ``jobs_resident_bytes``, ``memory_{available,cached,dirty}_bytes``, ``memory_limit_bytes``;
    ``network_{received,sent}_bytes_per_second``; ``pressure_{cpu,io,memory}_some_ratio``.
    """
    edges = _edges(samples, span)
    if samples is None or len(edges) < 2:
        return OverTime(started_at=span[0], seconds=np.empty(0), columns={})
    steps = _Steps(samples, edges)
    device = device_counters(facts, samples)
    found: dict[str, Floats | None] = {
        "application_read_bytes_per_second": steps.rate(["application_read_bytes"]),
        "application_write_bytes_per_second": steps.rate(["application_written_bytes"]),
        "device_read_bytes_per_second": steps.rate(device.read),
        "device_write_bytes_per_second": steps.rate(device.write),
        "device_latency_seconds": _device_latency(steps, samples, device.read or []),
        **_roles(steps),
        **_cpu(steps),
        **_jobs(steps, jobs),
        **_memory(steps),
        "memory_limit_bytes": _limit(facts, len(edges) - 1),
        **_network(steps, samples, facts),
        **{
            f"pressure_{kind}_some_ratio": steps.rate([f"host.pressure_{kind}_some_seconds"], mean=True)
            for kind in ("cpu", "io", "memory")
        },
    }
    columns = {name: column for name, column in found.items() if column is not None}
    return OverTime(started_at=span[0], seconds=(edges[:-1] + edges[1:]) / 2 - span[0], columns=columns)


class _Steps:
    """Figures of each step, over all nodes."""

    def __init__(self, samples: RunSamples, edges: Floats) -> None:
        self._samples, self.edges = samples, edges
        self.lengths: list[float] = np.diff(edges).tolist()
        steps = np.diff(edges)
        self._gap = steps > max(LONGEST_STEP_SECONDS, LONGEST_STEP_RATIO * float(np.median(steps)))

    def rate(self, names: Sequence[str], *, mean: bool = False) -> Floats | None:
        """What counters gained per second, in sum (or as the mean over nodes); None where no node has one."""
        found = []
        for node in self._samples.nodes:
            for name in names:
                series = self._samples.series(node, name)
                if series is not None:
                    amounts, seconds = gained(series, self.edges, wrap_of(name))
                    found.append(amounts / np.where(seconds > 0, seconds, np.nan))
        return self._together(found, mean)

    def gauge(self, name: str) -> Floats | None:
        every = [self._samples.series(node, name) for node in self._samples.nodes]
        return self._together([averaged(series, self.edges) for series in every if series is not None], False)

    def _together(self, found: Sequence[Floats], mean: bool) -> Floats | None:
        if not found:
            return None
        whole: Floats = np.sum(found, axis=0)
        return np.where(self._gap, np.nan, whole / len(found) if mean else whole)


def _edges(samples: RunSamples | None, span: tuple[float, float]) -> Floats:
    """The looks at the node with most of them, from just before the span to just after it."""
    if samples is None or not samples.nodes:
        return np.empty(0)
    looks = []
    for node in samples.nodes:
        every = samples.names(node)
        names = [name for name in LOOKED_AT if name in every] or every
        found = [times for name in names if (times := samples.times(node, name)) is not None]
        looks.append(np.unique(np.concatenate(found)))
    times = max(looks, key=len)
    first = max(int(np.searchsorted(times, span[0], side="right")) - 1, 0)
    last = int(np.searchsorted(times, span[1], side="left")) + 1
    times = times[first:last]
    far = np.concatenate(([True], np.diff(times) >= SHORTEST_STEP_SECONDS))
    return np.asarray(times[far])


LOOKED_AT = ("jobs_running", "host.cpu_user_seconds")
"""Series with a value at every look at the jobs and at the host.  A recording of devices alone has neither:
there all series are read."""


def _roles(steps: _Steps) -> dict[str, Floats | None]:
    found: dict[str, Floats | None] = {}
    for role in ROLES:
        for way, (counter, _) in WAYS.items():
            calls, seconds = steps.rate([f"role.{role}.{way}s"]), steps.rate([f"role.{role}.{way}_seconds"])
            found[f"{role}_{way}_bytes_per_second"] = steps.rate([f"role.{role}.{counter}"])
            if calls is not None and seconds is not None:
                mean = seconds / np.where(calls > 0, calls, np.nan)
                found[f"{role}_{way}_latency_seconds"] = mean
    return found


def _device_latency(steps: _Steps, samples: RunSamples, read_bytes: Sequence[str]) -> Floats | None:
    devices = [name.removesuffix(".read_bytes") for name in read_bytes]
    there = {name for node in samples.nodes for name in samples.names(node)}
    for requests, seconds in (
        (("requests",), ("request_seconds",)),
        (("reads", "writes"), ("read_seconds", "write_seconds")),
    ):
        names = [
            [f"{device}.{figure}" for device in devices for figure in some] for some in (requests, seconds)
        ]
        if devices and there.issuperset([*names[0], *names[1]]):
            number, time = (steps.rate(some) for some in names)
            return None if number is None or time is None else time / np.where(number > 0, number, np.nan)
    return None


def _cpu(steps: _Steps) -> dict[str, Floats | None]:
    """Shares of all processors' time; interrupts are the system's."""
    kinds = ("user", "system", "interrupt", "iowait", "idle", "steal")
    parts = {kind: steps.rate([f"host.cpu_{kind}_seconds"]) for kind in kinds}
    known = {kind: part for kind, part in parts.items() if part is not None}
    if "user" not in known or "idle" not in known:
        return {}
    whole: Floats = np.sum(list(known.values()), axis=0)
    whole = np.where(whole > 0, whole, np.nan)
    if "interrupt" in known and "system" in known:
        known["system"] = known["system"] + known["interrupt"]
    return {
        f"cpu_{kind}_ratio": known[kind] / whole
        for kind in ("user", "system", "iowait", "steal")
        if kind in known
    }


def _jobs(steps: _Steps, jobs: Sequence[JobRecord]) -> dict[str, Floats | None]:
    running = steps.gauge("jobs_running")
    if running is None:
        return {"jobs_running": None}

    def rate(name: str) -> Rates:
        found = steps.rate([name])
        return [None] * len(running) if found is None else _known(found)

    unseen = unseen_jobs(jobs, steps.edges)
    found = states(_known(running), rate, steps.lengths, unseen)
    if not any(found):
        return {"jobs_running": running}
    return {
        "jobs_running": running,
        "jobs_on_cpu": _column([None if one is None else one.on_cpu for one in found]),
        "jobs_in_run_queue": _column([None if one is None else one.run_queue for one in found]),
        **{
            f"jobs_blocked_{place}": _column([None if one is None else one.blocked[place] for one in found])
            for place in PLACES
            if place != "unknown" or any(unseen)
        },
    }


def _known(values: Floats) -> Rates:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _column(values: Rates) -> Floats:
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _memory(steps: _Steps) -> dict[str, Floats | None]:
    names = {f"memory_{name}_bytes": f"host.memory_{name}_bytes" for name in ("available", "cached", "dirty")}
    names["jobs_resident_bytes"] = "jobs_resident_bytes"
    return {name: steps.gauge(series) for name, series in names.items()}


def _limit(facts: RunFacts, steps: int) -> Floats | None:
    limits = [node.memory_limit_bytes for node in facts.machines()]
    if not limits or None in limits:
        return None
    return np.full(steps, float(sum(limit or 0 for limit in limits)))


def _network(steps: _Steps, samples: RunSamples, facts: RunFacts) -> dict[str, Floats | None]:
    return {
        f"network_{way}_bytes_per_second": steps.rate(network_series(samples, bonds(facts), [way]))
        for way in NETWORK_WAYS
    }


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
