"""Runs with samples of known rates: what a summary over time must then say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mawl.analysis.series import Samples
from mawl.model.records import JobRecord, SampleRecord
from mawl.store.columns import to_table
from tests.fakes.stored_run import START, job

Rate = float | Callable[[float], float]
"""Growth of a counter per second, or the value of a gauge: constant, or by the second."""

GAUGES = ("jobs_running", "host.memory_available_bytes", "host.frequency_hertz")

IDLE: dict[str, Rate] = {
    "jobs_running": 4.0,
    "jobs.on_cpu_seconds": 4.0,
    "jobs.run_queue_seconds": 0.0,
    **{f"role.{role}.waited_seconds": 0.0 for role in ("data", "work", "util")},
    "host.cpu_user_seconds": 4.0,
    "host.cpu_idle_seconds": 4.0,
    "host.core_busy_seconds": 4.0,
    **{
        f"host.pressure_{name}_seconds": 0.0
        for name in ("cpu_some", "io_some", "io_full", "memory_some", "memory_full")
    },
    "host.swap_read_bytes": 0.0,
    "host.swap_written_bytes": 0.0,
    "application_read_bytes": 100e6,
    "application_written_bytes": 50e6,
    "device_read_bytes": 90e6,
    "device_written_bytes": 45e6,
}
"""Four jobs on eight processors that wait for nothing."""


def samples(
    seconds: int, rates: Mapping[str, Rate], *, node: str = "bench1", skip: Sequence[int] = ()
) -> Samples:
    """One row per second and series from the start to ``seconds``; no row in the seconds of ``skip``."""
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
    return Samples(to_table("samples", rows))


def four_jobs(seconds: float) -> list[JobRecord]:
    """Four jobs of the first stage that run side by side from the start to ``seconds``."""
    return [job(f"s{number}-1", 0.0, seconds) for number in range(1, 5)]
