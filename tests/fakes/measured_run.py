"""Runs with samples of known rates: what a summary over time must then say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from mawl.figures.series import RunSamples
from mawl.figures.throughput import role_places
from mawl.figures.view import RunView
from mawl.records.model.records import JobRecord, SampleRecord
from mawl.records.model.role_io import Waits
from mawl.records.model.run import RunFacts, WorkloadFacts
from mawl.records.store.columns import to_table
from tests.fakes.stored_run import START, facts, job, planned

WORKLOAD = WorkloadFacts(name="four", title="", sessions=4, jobs=4, scale=0.05, scale_name="standard")

Rate = float | Callable[[float], float]
"""Growth of a counter per second, or the value of a gauge: constant, or by the second."""

GAUGES = (
    *("jobs_running", "jobs_resident_bytes", "host.runnable", "host.memory_available_bytes"),
    *("host.frequency_hertz", "host.memory_free_bytes", "group.memory_bytes"),
)

IDLE: dict[str, Rate] = {
    "jobs_running": 4.0,
    "jobs.on_cpu_seconds": 4.0,
    "jobs.run_queue_seconds": 0.0,
    **{f"role.{role}.waited_seconds": 0.0 for role in ("data", "work", "util")},
    "host.cpu_user_seconds": 4.0,
    "host.cpu_system_seconds": 0.0,
    "host.cpu_interrupt_seconds": 0.0,
    "host.cpu_idle_seconds": 4.0,
    "host.core_busy_seconds": 4.0,
    **{
        f"host.pressure_{name}_seconds": 0.0
        for name in ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")
    },
    "mawl_cpu_seconds": 0.01,
    "host.cpu_iowait_seconds": 0.0,
    "host.cpu_steal_seconds": 0.0,
    "host.frequency_hertz": 2.5e9,
    "host.swap_read_bytes": 0.0,
    "host.swap_written_bytes": 0.0,
    "application_read_bytes": 100e6,
    "application_written_bytes": 50e6,
    "own_read_bytes": 90e6,
    "charged_written_bytes": 45e6,
    "device.sda.read_bytes": 90e6,
    "device.sda.written_bytes": 45e6,
}
"""Four jobs on eight processors that wait for nothing."""


def samples(
    seconds: int, rates: Mapping[str, Rate], *, node: str = "bench1", skip: Sequence[int] = ()
) -> RunSamples:
    """One row per second and series from the start to ``seconds``; no row in the seconds of ``skip``."""
    return RunSamples(to_table("samples", sample_rows(seconds, rates, node=node, skip=skip)))


def sample_rows(
    seconds: int, rates: Mapping[str, Rate], *, node: str = "bench1", skip: Sequence[int] = ()
) -> list[SampleRecord]:
    """The rows of ``samples``."""
    rows = []
    for name, rate in rates.items():
        value = 0.0
        for second in range(seconds + 1):
            now = rate(float(second)) if callable(rate) else rate
            if name in GAUGES:
                value = now
            if second not in skip:
                rows.append(SampleRecord(node=node, sampled_at=START + second, series=name, value=value))
            if name not in GAUGES:
                value += now
    return rows


def four_jobs(seconds: float) -> list[JobRecord]:
    """Four jobs of the first stage that run side by side from the start to ``seconds``."""
    return [job(f"s{number}-1", 0.0, seconds) for number in range(1, 5)]


AT_REFERENCE = [replace(planned(f"s{number}-1"), reference_seconds=60.0) for number in range(1, 5)]
"""The four jobs where each needs its minute."""

SERIES_OF_WAITS = {
    "on_cpu_seconds": "jobs.on_cpu_seconds",
    "run_queue_seconds": "jobs.run_queue_seconds",
    **{f"blocked_{role}_seconds": f"role.{role}.waited_seconds" for role in ("data", "work", "util")},
}


def waiting(jobs: list[JobRecord], *rates: Mapping[str, Rate], seconds: int = 60) -> list[JobRecord]:
    """The jobs, each with its part of what the nodes' samples say that all did."""

    def whole(series: str) -> float:
        every = [node.get(series, 0.0) for node in rates]
        return sum(rate(float(at)) if callable(rate) else rate for rate in every for at in range(seconds))

    running = whole("jobs_running")
    parts = {field: whole(series) / running for field, series in SERIES_OF_WAITS.items()} if running else {}
    return [
        replace(
            one,
            waits=Waits(
                **{name: part * (one.usage.real_time_seconds or 0.0) for name, part in parts.items()}
            ),
        )
        for one in jobs
    ]


def charged(jobs: list[JobRecord], of: RunFacts, some: RunSamples) -> list[JobRecord]:
    """The jobs, charged in equal parts with all that the devices of the roles moved."""
    every = [
        [
            float(series.values[-1] - series.values[0])
            for device in sorted({d for _, d in role_places(of)})
            if (series := some.series(node, f"device.{device}.{way}_bytes")) is not None
        ]
        for way in ("read", "written")
        for node in some.nodes[:1]
    ]
    read, written = (sum(one) / len(jobs) for one in every)
    return [
        replace(
            record,
            usage=replace(
                record.usage,
                own_read_bytes=round(read),
                charged_written_bytes=round(written),
                cancelled_written_bytes=0,
            ),
        )
        for record in jobs
    ]


def reading_of(
    changes: Mapping[str, Rate] | None = None,
    *,
    seconds: int = 60,
    of: RunFacts | None = None,
    jobs: list[JobRecord] | None = None,
    skip: Sequence[int] = (),
    without: str = " ",
    alone: bool = True,
) -> RunView:
    """What the rules read: four jobs of ``seconds`` with the samples of ``IDLE``, with ``changes``.

    Series that begin with ``without`` are left out.  Unless not ``alone``, the jobs that finished are charged
    with all that the devices moved: nobody else was there.
    """
    every = {**IDLE, **(changes or {})}
    rates = {name: rate for name, rate in every.items() if not name.startswith(without)}
    some = samples(seconds, rates, skip=skip)
    of = of or facts(outcome="completed", workload=WORKLOAD, planned_jobs=AT_REFERENCE)
    if jobs is None:
        jobs = four_jobs(float(seconds))
        jobs = waiting(jobs, rates, seconds=seconds) if "jobs.on_cpu_seconds" in rates else jobs
    if alone:
        jobs = charged(jobs, of, some)
    return RunView(of, jobs, some)
