"""What a run did in each of its windows: throughput, reach, waits of its jobs and load of the host.

The states of jobs are mean numbers of jobs, which add up to those that ran: a job that waited half of a
window for a CPU adds 0.5 to ``jobs_in_run_queue`` (``figures.waits``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from mawl.figures.host_parts import CPU_KINDS, NETWORK_WAYS, busy_ratio, network_series
from mawl.figures.network import LinkWindow, bonds, link_windows, port_windows
from mawl.figures.series import RunSamples
from mawl.figures.sessions import Rates, Windows, gauges, rates
from mawl.figures.throughput import APPLICATION, Counters, Flow
from mawl.figures.waits import states, unseen_jobs
from mawl.records.model.node import PortKind
from mawl.records.model.records import JobRecord
from mawl.records.model.run import RunFacts
from mawl.records.model.summary.time import (
    JobsBlocked,
    Pressure,
    WindowFigures,
    WindowLatency,
    WindowReach,
    WindowRoleLatency,
)
from mawl.records.spec.program_options import ROLES

PLACES = (*ROLES, "other", "unknown")
"""Where jobs may be blocked: in I/O of a role, elsewhere, or in jobs whose calls were not all timed."""

PRESSURES = ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One window; a figure is None where no sample covers it or the run did not measure it.

    ``jobs_blocked`` is by ``PLACES``; ``latency`` by role and direction, the mean of the calls
    of the window in seconds; pressures are shares of the window's time, by name.  ``reading`` is by
    role the share of the time inside reads and writes that was inside reads; what was evicted left the
    page cache for want of memory, what was reread had left it so before.  ``bounds`` are the least and the
    most jobs in the run queue and in I/O of the roles, where threads side by side leave it open.
    """

    start_seconds: float
    seconds: float
    active: bool
    jobs_running: float | None
    jobs_on_cpu: float | None
    jobs_in_run_queue: float | None
    jobs_blocked: dict[str, float] | None
    latency: dict[str, dict[str, float | None]]
    application: dict[str, float | None]
    device: dict[str, float | None]
    cpu_busy_ratio: float | None
    pressure: dict[str, float | None]
    swap_bytes_per_second: float | None
    reading: dict[str, float | None]
    reread_bytes_per_second: float | None
    evicted_bytes_per_second: float | None
    network_bytes_per_second: float | None
    throttled_cpus: float | None
    """Processors, on average, on which the CPU quota of the control group let nothing of it run."""
    links: LinkWindow | None = None
    ports: dict[PortKind, float] = {}
    """The share that the fullest port of each kind carried of its speed."""
    bounds: dict[str, tuple[float, float]] | None = None

    def share(self, jobs: float | None) -> float | None:
        return jobs / self.jobs_running if jobs is not None and self.jobs_running else None

    @property
    def unseen_share(self) -> float:
        """The share of the jobs' time for which jobs slept whose I/O mawl did not see."""
        return self.share((self.jobs_blocked or {}).get("unknown")) or 0.0

    def reach(self, direction: str) -> float | None:
        """Device over application bytes of ``read`` or ``write``; None where nothing was asked for."""
        asked, reached = self.application[direction], self.device[direction]
        return reached / asked if asked and reached is not None else None


def moments(
    samples: RunSamples,
    windows: Windows,
    device: Counters,
    facts: RunFacts | None = None,
    jobs: Sequence[JobRecord] = (),
) -> list[Moment]:
    """The windows of a run, in order; without ``facts`` nothing is known of its links."""
    edges = windows.edges
    application, at_device = (counters.flow(samples, edges) for counters in (APPLICATION, device))
    running = gauges(samples, "jobs_running", edges)
    seconds = [end - start for start, end in pairwise(edges)]
    found = states(running, lambda name: rates(samples, [name], edges), seconds, unseen_jobs(jobs, edges))
    links = link_windows(facts, samples, edges) if facts is not None else [None] * (len(edges) - 1)
    full = port_windows(facts, samples, edges)
    latency = {role: _latency(samples, role, edges) for role in ROLES}
    pressure = {name: _pressure(samples, name, edges) for name in PRESSURES}
    reading: Flow = {role: _reading(samples, role, edges) for role in ROLES}
    reread, evicted = (rates(samples, [f"host.cache_{name}_bytes"], edges) for name in ("reread", "evicted"))
    busy, swap, network, throttled = (
        _busy(samples, edges),
        rates(samples, ["host.swap_read_bytes", "host.swap_written_bytes"], edges),
        rates(samples, network_series(samples, bonds(facts) if facts else (), NETWORK_WAYS), edges),
        rates(samples, ["group.cpu_throttled_seconds"], edges),
    )
    return [
        Moment(
            start_seconds=edges[at] - edges[0],
            seconds=edges[at + 1] - edges[at],
            active=at < windows.active,
            jobs_running=running[at],
            jobs_on_cpu=None if (here := found[at]) is None else here.on_cpu,
            jobs_in_run_queue=None if here is None else here.run_queue,
            jobs_blocked=None if here is None else here.blocked,
            bounds=None if here is None else here.bounds,
            latency={role: _at(latency[role], at) for role in ROLES},
            application=_at(application, at),
            device=_at(at_device, at),
            cpu_busy_ratio=busy[at],
            pressure={name: values[at] for name, values in pressure.items()},
            swap_bytes_per_second=swap[at],
            reading=_at(reading, at),
            reread_bytes_per_second=reread[at],
            evicted_bytes_per_second=evicted[at],
            network_bytes_per_second=network[at],
            throttled_cpus=throttled[at],
            links=links[at],
            ports=full[at],
        )
        for at in range(len(edges) - 1)
    ]


def busy_cores(samples: RunSamples, windows: Windows) -> float | None:
    """Mean of busy cores in the active phase: a core is busy when any of its threads is."""
    edges = (windows.active_edges[0], windows.active_edges[-1])
    return rates(samples, ["host.core_busy_seconds"], edges)[0]


def window_figures(moment: Moment) -> WindowFigures:
    """A window of the summary (``windows.*``)."""
    asked, reached = moment.application, moment.device
    return WindowFigures(
        start_seconds=moment.start_seconds,
        length_seconds=moment.seconds,
        phase="active" if moment.active else "tail",
        jobs_running=moment.jobs_running,
        jobs_on_cpu=moment.jobs_on_cpu,
        jobs_in_run_queue=moment.jobs_in_run_queue,
        jobs_blocked=JobsBlocked(**(moment.jobs_blocked or dict.fromkeys(PLACES))),
        application_read_bytes_per_second=asked["read"],
        application_write_bytes_per_second=asked["write"],
        device_read_bytes_per_second=reached["read"],
        device_write_bytes_per_second=reached["write"],
        latency=WindowLatency(
            **{
                role: WindowRoleLatency(read_seconds=ways["read"], write_seconds=ways["write"])
                for role, ways in moment.latency.items()
            }
        ),
        reach=WindowReach(read_ratio=moment.reach("read"), write_ratio=moment.reach("write")),
        cpu_busy_ratio=moment.cpu_busy_ratio,
        pressure=Pressure(**{f"{name}_ratio": value for name, value in moment.pressure.items()}),
    )


def peak_latencies(some: Sequence[Moment]) -> dict[str, dict[str, float | None]]:
    """The highest window mean of the latency, by role and direction: not the longest call."""
    return {
        role: {
            direction: max(
                (value for moment in some if (value := moment.latency[role][direction]) is not None),
                default=None,
            )
            for direction in ("read", "write")
        }
        for role in ROLES
    }


def _latency(samples: RunSamples, role: str, edges: Sequence[float]) -> Flow:
    """Mean seconds of a role's calls in each window: time inside them over their number."""
    return {
        direction: [
            seconds / calls if seconds is not None and calls else None
            for seconds, calls in zip(
                rates(samples, [f"role.{role}.{direction}_seconds"], edges),
                rates(samples, [f"role.{role}.{direction}s"], edges),
                strict=True,
            )
        ]
        for direction in ("read", "write")
    }


def _reading(samples: RunSamples, role: str, edges: Sequence[float]) -> Rates:
    """Share of the time inside a role's calls, syncs among them, that was inside reads; None without any."""
    read = rates(samples, [f"role.{role}.read_seconds"], edges)
    write = rates(samples, [f"role.{role}.{kind}_seconds" for kind in ("write", "sync")], edges)
    return [
        None if here is None or there is None or here + there <= 0 else here / (here + there)
        for here, there in zip(read, write, strict=True)
    ]


def _at(flow: Flow, place: int) -> dict[str, float | None]:
    return {direction: values[place] for direction, values in flow.items()}


def _pressure(samples: RunSamples, name: str, edges: Sequence[float]) -> Rates:
    """Share of the time under a pressure; of several nodes the mean."""
    found = rates(samples, [f"host.pressure_{name}_seconds"], edges)
    nodes = sum(f"host.pressure_{name}_seconds" in samples.names(node) for node in samples.nodes)
    return [None if value is None else min(value / nodes, 1.0) for value in found]


def _busy(samples: RunSamples, edges: Sequence[float]) -> Rates:
    parts = {kind: rates(samples, [f"host.cpu_{kind}_seconds"], edges) for kind in CPU_KINDS}
    return [busy_ratio(_at(parts, at)) for at in range(len(edges) - 1)]
